#pragma once
/// \file
/// Memory that CPU drivers of several processes share: a file without a name, passed on as a
/// descriptor, whose first page describes its contents.

#include <gpu/system/write_bytes.hpp>
#include <nogpu/driver/handles.hpp>
#include <nogpu/machine/storage.hpp>

#include <cuda.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace nogpu { inline namespace v1 { namespace driver {

/// The content of a shared file.
enum class shared_content : std::uint32_t { physical_memory = 1, pool, allocation, event };

/// The first bytes of a shared file.
struct shared_header {
  char format[16] = "gpu-cpu-driver1";
  shared_content content{};
  std::int32_t device = 0;
  std::uint64_t number = 0;  // distinguishes files of this process and of others
  std::uint64_t bytes = 0;   // of physical memory
};

/// The name by which another process of the machine finds a shared file without receiving a
/// descriptor.
struct shared_name {
  char format[16] = "gpu-shared-file";
  std::int32_t process = 0;
  std::int32_t descriptor = 0;  // of that process, which has to keep it open until then
  std::uint64_t number = 0;     // in the file's header
};

/// Owns an open file that other processes may have open too.
class shared_file {
 public:
  static constexpr std::uint64_t page = 4096;  // the header's; memory follows it

  /// Creates a file; null if the system has no more.
  static std::shared_ptr<shared_file> create(const shared_header& header) {
    const gpu::detail::file_size_signal_blocked blocked;
    auto made = std::make_shared<shared_file>(::memfd_create("gpu-memory", MFD_CLOEXEC), header);
    if (made->descriptor_ < 0 || !made->grow(header.bytes)) return nullptr;
    if (::pwrite(made->descriptor_, &header, sizeof header, 0) != sizeof header) return nullptr;
    return made;
  }

  /// The file behind a descriptor, which stays the caller's; null for any but a shared file.
  static std::shared_ptr<shared_file> open(int descriptor) {
    shared_header header;
    const shared_header expected;
    if (::pread(descriptor, &header, sizeof header, 0) != sizeof header) return nullptr;
    if (std::memcmp(header.format, expected.format, sizeof header.format) != 0) return nullptr;
    auto made = std::make_shared<shared_file>(duplicate(descriptor), header);
    return made->descriptor_ < 0 ? nullptr : made;
  }

  /// Opens the file of a name; null if it does not exist any more.
  static std::shared_ptr<shared_file> open(const shared_name& name) {
    const std::string path =
        "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    auto made = open(descriptor);
    ::close(descriptor);
    return made && made->header().number == name.number ? made : nullptr;
  }

  shared_file(int descriptor, const shared_header& header) noexcept
      : descriptor_{descriptor}, header_{header} {}
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;
  ~shared_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  const shared_header& header() const noexcept { return header_; }
  shared_name name() const noexcept {
    shared_name made;
    made.process = ::getpid();
    made.descriptor = descriptor_;
    made.number = header_.number;
    return made;
  }

  /// Returns whether it has memory of that kind of place and size.
  bool holds(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    struct ::stat info{};
    if (bytes == 0 || offset % page != 0 || ::fstat(descriptor_, &info) != 0) return false;
    const std::uint64_t size = static_cast<std::uint64_t>(info.st_size) - page;
    return offset < size && bytes <= size - offset;
  }
  /// Makes room for `bytes` of memory, which costs nothing until it is accessed.
  bool grow(std::uint64_t bytes) noexcept {
    const gpu::detail::file_size_signal_blocked blocked;
    return ::ftruncate(descriptor_, static_cast<::off_t>(page + bytes)) == 0;
  }
  std::shared_ptr<machine::storage> map(std::uint64_t offset, std::uint64_t bytes) const {
    return machine::storage::map_file(descriptor_, page + offset, bytes);
  }
  /// Returns memory to the system that is not used any more.
  void discard(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    static_cast<void>(::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                  static_cast<::off_t>(page + offset),
                                  static_cast<::off_t>(bytes)));
  }
  /// Returns another descriptor of the file, for the program to close; -1 if there are too many.
  int hand_out() const noexcept { return duplicate(descriptor_); }

 private:
  static int duplicate(int descriptor) noexcept { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

  int descriptor_;
  shared_header header_;
};
using shared_file_ptr = std::shared_ptr<shared_file>;

/// Returns a number that no other shared file on the machine has.
inline std::uint64_t shared_number() noexcept {
  return (static_cast<std::uint64_t>(::getpid()) << 32) + next_handle_number();
}

/// Bytes of a file, which is mapped in pages.
constexpr std::uint64_t in_pages(std::uint64_t bytes) noexcept {
  return (bytes + shared_file::page - 1) / shared_file::page * shared_file::page;
}

/// Gives the program the descriptor of an exported file.
inline CUresult give_descriptor(const shared_file& file, void* handle) {
  const int descriptor = file.hand_out();
  if (descriptor < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  std::memcpy(handle, &descriptor, sizeof descriptor);
  return CUDA_SUCCESS;
}

/// Opens the file of a descriptor that the program passes as a pointer.
inline CUresult open_shared(void* handle, shared_content wanted, std::size_t devices,
                            shared_file_ptr& file) {
  file = shared_file::open(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)));
  if (!file) return CUDA_ERROR_UNKNOWN;
  if (file->header().content != wanted) return CUDA_ERROR_NOT_SUPPORTED;
  const auto device = static_cast<std::size_t>(file->header().device);
  return device < devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}}}  // namespace nogpu::v1::driver
