#pragma once
/// \file
/// The headers that programs can include without an include folder: `<gpu/device.hpp>` and those of
/// the C++ standard library; `<gpu/random.hpp>` and `<gpu/tensor_copy.hpp>` if the host program
/// includes them.

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/compiler/nvrtc/include_scan.hpp>
#include <gpu/compiler/nvrtc/standard_headers.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/device.hpp>

#include <string.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the text of the library's header `name`, or an empty text if it is unknown.
inline text library_header(string_ref name) {
  if (name == "gpu/device.hpp") return required(text(device_header));
  const text offered = offered_headers::find(name);
  return offered.empty() ? standard_header(name) : offered;
}

/// The hashes of the texts that are offered, those of each folder in turn by `hash_text`. They are
/// a part of the cache's key in all programs, also in those that do not have the texts: so they
/// find each other's results. The tests of device headers say what they have to be.
inline constexpr std::uint64_t hash_of_random_headers = 0x0106'3730'6811'cc0e;
inline constexpr std::uint64_t hash_of_tensor_copy_headers = 0x5aa7'6204'eeaf'3796;
inline constexpr std::uint64_t start_of_hash = 0xcbf2'9ce4'8422'2325;

/// Goes on with a hash (FNV-1a) by a text. Not constexpr: compilers would compute it, slowly, where
/// the text is a constant.
inline std::uint64_t hash_text(std::uint64_t hash, string_ref header) noexcept {
  for (const char c : header) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
  return hash;
}

/// Returns a hash of the library's headers, which differs between versions of the library.
inline std::uint64_t mark_of_library_headers() {
  static std::uint64_t mark = 0;  // each thread that finds 0 computes the same
  if (const std::uint64_t known = atomic_load<memory_order::relaxed>(mark)) return known;
  std::uint64_t hash =
      hash_text(hash_of_random_headers ^ hash_of_tensor_copy_headers, device_header);
  for (const plain_header& header : plain_headers) hash = hash_text(hash, header.source);
  for (const char* header : {"cstddef", "cmath", "stdint.h"}) {
    hash = hash_text(hash, libcuxx_header(header));
  }
  atomic_store<memory_order::relaxed>(mark, hash);
  return hash;
}

/// The headers that one compilation gets as texts: the program's, and those of the library that it
/// includes. NVRTC prefers a header given as text to all others of its name, even to one beside the
/// file that includes it in quotes. So a header of the library is added only if it is included with
/// `<>` and is not in a folder of the user's, or if NVRTC did not find it.
class given_headers {
 public:
  given_headers(const program& source, const sequence<text>& folders) : folders_{folders} {
    for (const program_header& header : source.headers()) add(header.name, header.source);
    add_wanted(source.source());
    for (const program_header& header : source.headers()) add_wanted(header.source);
  }

  int count() const noexcept { return static_cast<int>(names_.size()); }
  const char* const* names() const noexcept { return name_pointers_.data(); }
  const char* const* sources() const noexcept { return source_pointers_.data(); }

  /// Adds the header of the library that a compilation did not find, according to its log. Returns
  /// whether there is one; then the compilation should be tried again.
  bool add_missing(string_ref log) {
    // NVRTC 13: could not open source file "cstdint" (...); before: cannot open source file "...".
    constexpr string_ref words = "open source file \"";
    const auto* found =
        static_cast<const char*>(::memmem(log.data(), log.size(), words.data(), words.size()));
    if (found == nullptr) return false;
    const char* first = found + words.size();
    const auto left = static_cast<std::size_t>(log.end() - first);
    const auto* last = static_cast<const char*>(__builtin_memchr(first, '"', left));
    return last != nullptr && add_own({first, static_cast<std::size_t>(last - first)});
  }

 private:
  void add(const text& name, const text& source) {
    names_.push_back(name);
    sources_.push_back(source);
    name_pointers_.push_back(name.c_str());
    source_pointers_.push_back(source.c_str());
  }

  /// Adds the library's header of that name and those that it includes. Returns false if there is
  /// no such header, or if one of that name was added before.
  bool add_own(string_ref name) {
    for (const text& known : names_) {
      if (string_ref(known) == name) return false;
    }
    const text source = library_header(name);
    if (source.empty()) return false;
    add(required(name.to_text()), source);
    add_wanted(source);
    return true;
  }

  void add_wanted(const text& source) {
    include_scan(source).for_each([&](include_name include) {
      if (!include.quoted && !in_folders(include.name)) add_own(include.name);
    });
  }

  bool in_folders(string_ref name) const {
    for (const text& folder : folders_) {
      text_builder path;
      path << folder << '/' << name;
      if (::access(required(path.finish()).c_str(), F_OK) == 0) return true;
    }
    return false;
  }

  const sequence<text>& folders_;
  sequence<text> names_, sources_;
  sequence<const char*> name_pointers_, source_pointers_;
};

}}}  // namespace gpu::v1::detail
