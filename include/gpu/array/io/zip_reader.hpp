#pragma once
/// \file
/// Finds a file in a ZIP archive, also one of more than 4 GiB.

#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/crc32.hpp>
#include <gpu/array/io/host_bytes.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/open_file.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

inline std::uint64_t read_little(const unsigned char* bytes, int count) noexcept {
  std::uint64_t value = 0;
  while (count-- > 0) value = value << 8 | bytes[count];
  return value;
}

/// The place of a file in an archive.
struct zip_member {
  std::uint64_t begin = 0, end = 0;  ///< of its bytes, as they are stored
  std::uint64_t size = 0;            ///< unpacked
  std::uint32_t crc = 0;
  bool deflated = false;
};

inline constexpr std::uint32_t zip_local_header = 0x04034b50;
inline constexpr std::uint32_t zip_directory_entry = 0x02014b50;
inline constexpr std::uint32_t zip_directory_end = 0x06054b50;
inline constexpr std::uint32_t zip64_directory_end = 0x06064b50;
inline constexpr std::uint32_t zip64_locator = 0x07064b50;

class zip_reader {
 public:
  zip_reader(const open_file& file, const named_file& name) noexcept : file_{file}, name_{name} {}

  /// Finds the file `name.npy`, or else `name`.
  /// **Errors**: `errc::unknown_name` with all names; `errc::file_error`, also if its bytes are
  /// those of another file, too; `errc::invalid_argument` for one that is encrypted or compressed
  /// by another method.
  result<zip_member> find(string_ref name) noexcept {
    GPU_TRY(find_directory());
    GPU_TRY(load(directory_, directory_bytes_));
    const unsigned char *exact = nullptr, *found = nullptr;
    GPU_TRY(for_each_entry([&](string_ref stored, const unsigned char* entry) {
      if (stored == name) exact = entry;
      if (stored != name && without_suffix(stored) == name) found = entry;
    }));
    if (found == nullptr) found = exact;
    if (found != nullptr) return read_member(found);
    text_builder out;
    if (directory_bytes_ == 0) {
      out << '"' << escaped{name_.path} << "\" has no arrays, and so none of the name "
          << escaped{name} << ". Pass the path of a file that has it.";
      return fail(refusal(errc::unknown_name, name_.function, out.finish(), name_.where));
    }
    out << '"' << escaped{name_.path} << "\" has no array of the name " << escaped{name}
        << ". Pass one of those that it has: ";
    message_list list(out);
    GPU_TRY(for_each_entry([&](string_ref stored, const unsigned char*) {
      if (list.add()) out << escaped{without_suffix(stored)};
    }));
    list.finish();
    out << '.';
    return fail(refusal(errc::unknown_name, name_.function, out.finish(), name_.where));
  }

 private:
  static string_ref without_suffix(string_ref name) noexcept {
    const bool has = name.size() > 4 && name.substring(name.size() - 4, 4) == ".npy";
    return has ? name.substring(0, name.size() - 4) : name;
  }

  /// Calls `visit(name, entry)` for each entry of the directory, which `bytes_` has.
  template <class Visit> result<> for_each_entry(Visit visit) noexcept {
    std::uint64_t at = 0;
    while (at < directory_bytes_) {
      const unsigned char* const entry = bytes_.data() + at;
      std::uint64_t length = 0, all = 46;
      if (directory_bytes_ - at >= all && read_little(entry, 4) == zip_directory_entry) {
        length = read_little(entry + 28, 2);
        all += length + read_little(entry + 30, 2) + read_little(entry + 32, 2);
      } else {
        all = ~std::uint64_t{0};
      }
      if (directory_bytes_ - at < all)
        return fail(name_.damaged(directory_ + at, "the directory of the archive ends here"));
      visit(string_ref(reinterpret_cast<const char*>(entry + 46), length), entry);
      at += all;
    }
    return {};
  }

  result<host_bytes> read(std::uint64_t offset, std::uint64_t count) noexcept {
    auto made = GPU_TRY(host_bytes::create(name_.function, count, name_.where));
    const std::size_t got = GPU_TRY(read_named(name_, file_, offset, made.data(), count));
    if (got < count) return fail(name_.damaged(offset + got, "the file ends here"));
    return made;
  }
  /// Replaces `bytes_` by bytes of the file.
  result<> load(std::uint64_t offset, std::uint64_t count) noexcept {
    bytes_ = GPU_TRY(read(offset, count));
    return {};
  }

  /// Sets where the directory is. It is named at the end, before a comment of up to 64 KiB.
  result<> find_directory() noexcept {
    constexpr std::uint64_t end_bytes = 22, locator_bytes = 20;
    const std::uint64_t tail = file_.size() < end_bytes + 65535 + locator_bytes
                                   ? file_.size()
                                   : end_bytes + 65535 + locator_bytes;
    const std::uint64_t begin = file_.size() - tail;
    GPU_TRY(load(begin, tail));
    std::uint64_t at = 0;
    const unsigned char* end = nullptr;
    for (std::uint64_t k = tail < end_bytes ? 0 : tail - end_bytes + 1; k-- > 0;) {
      const unsigned char* const there = bytes_.data() + k;
      if (read_little(there, 4) != zip_directory_end) continue;
      // Bytes may follow the archive; the last end record counts.
      const std::uint64_t behind = k + end_bytes + read_little(there + 20, 2);
      if (behind == tail || end == nullptr) {
        end = there;
        at = k;
      }
      if (behind == tail) break;
    }
    if (end == nullptr)
      return fail(
          name_.damaged(file_.size(), "it does not end as a .npz file (a ZIP archive) does"));
    directory_bytes_ = read_little(end + 12, 4);
    directory_ = read_little(end + 16, 4);
    std::uint64_t limit = begin + at;
    const bool large = read_little(end + 10, 2) == 0xffff || directory_bytes_ == 0xffffffff ||
                       directory_ == 0xffffffff;
    if (large && at >= locator_bytes && read_little(end - locator_bytes, 4) == zip64_locator) {
      const std::uint64_t large_end = read_little(end - locator_bytes + 8, 8);
      if (large_end > limit || limit - large_end < 56)
        return fail(name_.damaged(limit - locator_bytes, "the archive's directory is not there"));
      GPU_TRY(load(large_end, 56));
      if (read_little(bytes_.data(), 4) != zip64_directory_end)
        return fail(name_.damaged(large_end, "the archive's directory is not there"));
      directory_bytes_ = read_little(bytes_.data() + 40, 8);
      directory_ = read_little(bytes_.data() + 48, 8);
      limit = large_end;
    }
    if (directory_ > limit || limit - directory_ < directory_bytes_)
      return fail(name_.damaged(limit, "the archive's directory is not there"));
    return {};
  }

  /// A file's entry in the directory.
  struct entry_facts {
    std::uint64_t size, packed, local;  ///< unpacked, as it is stored, and where it begins
    string_ref name;
  };

  /// Reads an entry of the directory. Numbers of 64 bits are in its extra field.
  static entry_facts read_entry(const unsigned char* header) noexcept {
    const std::uint64_t length = read_little(header + 28, 2);
    entry_facts facts{read_little(header + 24, 4), read_little(header + 20, 4),
                      read_little(header + 42, 4),
                      string_ref(reinterpret_cast<const char*>(header + 46), length)};
    const unsigned char* extra = header + 46 + length;
    const unsigned char* const extra_end = extra + read_little(header + 30, 2);
    while (extra_end - extra >= 4) {
      const std::uint64_t kind = read_little(extra, 2), bytes = read_little(extra + 2, 2);
      extra += 4;
      if (static_cast<std::uint64_t>(extra_end - extra) < bytes) break;
      const unsigned char* next = extra;
      extra += bytes;
      if (kind != 1) continue;
      std::uint64_t* const values[] = {&facts.size, &facts.packed, &facts.local};
      for (std::uint64_t* value : values) {
        if (*value != 0xffffffff || extra - next < 8) continue;
        *value = read_little(next, 8);
        next += 8;
      }
    }
    return facts;
  }

  /// Fails if another file of the archive has some of the bytes from `begin` to `end`: in a small
  /// archive, any number of large files could share them.
  result<> require_own_bytes(const unsigned char* header, std::uint64_t begin,
                             std::uint64_t end) noexcept {
    const unsigned char* other = nullptr;
    GPU_TRY(for_each_entry([&](string_ref name, const unsigned char* entry) {
      const entry_facts facts = read_entry(entry);
      std::uint64_t other_end = 0;  // at the earliest: its header may be longer
      if (__builtin_add_overflow(facts.local, facts.packed, &other_end) ||
          __builtin_add_overflow(other_end, 30 + name.size(), &other_end))
        other_end = ~std::uint64_t{0};
      if (entry != header && facts.local < end && begin < other_end) other = entry;
    }));
    if (other == nullptr) return {};
    text_builder out;
    out << '"' << name_.path << "\" is damaged at byte " << begin << ": the array "
        << without_suffix(read_entry(header).name) << " overlaps "
        << without_suffix(read_entry(other).name) << " in the archive. Write the file again.";
    return fail(refusal(errc::file_error, name_.function, out.finish(), name_.where, begin));
  }

  /// Finds the bytes of the file that an entry of the directory describes.
  result<zip_member> read_member(const unsigned char* header) noexcept {
    const std::uint64_t at = directory_ + static_cast<std::uint64_t>(header - bytes_.data());
    const std::uint64_t flags = read_little(header + 8, 2), method = read_little(header + 10, 2);
    constexpr std::uint64_t encrypted = 1u | 1u << 6, patched = 1u << 5;
    if ((flags & encrypted) != 0)
      return fail(
          name_.unsupported(at + 8, "the array is encrypted", "Save it without a password."));
    if ((method != 0 && method != 8) || (flags & patched) != 0)
      return fail(name_.unsupported(at + 10, "the array is compressed, but not by deflate",
                                    "Save it by numpy.savez."));
    const entry_facts facts = read_entry(header);
    zip_member member;
    member.deflated = method == 8;
    member.crc = static_cast<std::uint32_t>(read_little(header + 16, 4));
    member.size = facts.size;
    if (!member.deflated && facts.packed != facts.size)
      return fail(name_.damaged(at + 20, "the two lengths of an array differ"));
    constexpr std::uint64_t most_ratio = 1032;  // 258 bytes of 2 bits
    if (member.deflated && facts.size / most_ratio > facts.packed)
      return fail(name_.damaged(at + 24, "the array is longer than its bytes can unpack to"));
    if (facts.local > directory_ || directory_ - facts.local < 30)
      return fail(name_.damaged(at + 42, "the array is not there"));
    const host_bytes local = GPU_TRY(read(facts.local, 30));
    if (read_little(local.data(), 4) != zip_local_header)
      return fail(name_.damaged(facts.local, "no array begins here"));
    const std::uint64_t length = read_little(local.data() + 26, 2);
    member.begin = facts.local + 30 + length + read_little(local.data() + 28, 2);
    if (member.begin > directory_ || directory_ - member.begin < facts.packed)
      return fail(name_.damaged(facts.local, "the array is longer than its file"));
    member.end = member.begin + facts.packed;
    const host_bytes name = GPU_TRY(read(facts.local + 30, length));
    if (!(string_ref(reinterpret_cast<const char*>(name.data()), length) == facts.name))
      return fail(
          name_.damaged(facts.local + 30, "the array has another name than in the directory"));
    GPU_TRY(require_own_bytes(header, facts.local, member.end));
    return member;
  }

  const open_file& file_;
  const named_file& name_;
  host_bytes bytes_;
  std::uint64_t directory_ = 0, directory_bytes_ = 0;
};

/// Bytes whose CRC is compared at their end.
class checked_source final : public byte_source {
 public:
  checked_source(byte_source& from, const named_file& name, std::uint32_t crc) noexcept
      : from_{from}, name_{name}, begin_{from.offset()}, crc_{crc} {}

  result<std::size_t> read(void* bytes, std::size_t count) noexcept override {
    const std::size_t got = GPU_TRY(from_.read(bytes, count));
    seen_ = crc32(seen_, bytes, got);
    return got;
  }
  std::uint64_t offset() const noexcept override { return from_.offset(); }
  std::uint64_t left() const noexcept override { return from_.left(); }
  /// Reads on to the end, because the checksum is that of all bytes.
  result<> finish() noexcept override {
    unsigned char rest[4096];
    while (left() > 0) {
      const std::size_t count = left() < sizeof rest ? left() : sizeof rest;
      if (GPU_TRY(read(rest, count)) < count)
        return fail(name_.damaged(offset(), "the file ends before the array that it should have"));
    }
    GPU_TRY(from_.finish());
    if (seen_ == crc_) return {};
    return fail(name_.damaged(begin_, "the checksum of the array that begins here is wrong"));
  }

 private:
  byte_source& from_;
  const named_file& name_;
  std::uint64_t begin_;
  std::uint32_t crc_, seen_ = 0;
};

}}}  // namespace gpu::v1::detail
