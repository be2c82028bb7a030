// The host memory behind an allocation, and the shadow that records which bytes were written.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

namespace nogpu { inline namespace v1 { namespace machine {

/// Bytes on the host that back device memory. Shared by every mapping of the same memory, so that
/// two device addresses may name it (virtual memory management, inter-process handles).
class storage {
 public:
  /// Zero-filled memory of its own, committed lazily by the operating system; null when the host
  /// has too little. With `tracked` it carries a shadow of one byte per byte: 0 = never written.
  static std::shared_ptr<storage> create(std::size_t size, bool tracked) {
    const std::size_t n = size == 0 ? 1 : size;
    buffer bytes{static_cast<std::byte*>(std::calloc(n, 1))};
    if (!bytes) return nullptr;
    buffer shadow;
    if (tracked) {
      shadow.reset(static_cast<std::byte*>(std::calloc(n, 1)));
      if (!shadow) return nullptr;
    }
    std::byte* const first = bytes.get();  // arguments may be moved from in any order
    return std::shared_ptr<storage>(new storage(first, size, std::move(bytes), std::move(shadow)));
  }

  /// Host memory of another owner, which outlives the mapping. It has no shadow, since the host
  /// writes to it unnoticed.
  static std::shared_ptr<storage> wrap(void* host, std::size_t size) {
    return std::shared_ptr<storage>(
        new storage(static_cast<std::byte*>(host), size, buffer{}, buffer{}));
  }

  /// A part of a file, which other processes may map as well; null if mapping fails. It has no
  /// shadow, since other processes write to it unnoticed. `offset` is a multiple of a page.
  static std::shared_ptr<storage> map_file(int file, std::uint64_t offset, std::size_t size) {
    void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                          static_cast<::off_t>(offset));
    if (mapped == MAP_FAILED) return nullptr;
    auto* const first = static_cast<std::byte*>(mapped);
    return std::shared_ptr<storage>(
        new storage(first, size, buffer{first, release(size)}, buffer{}));
  }

  std::byte* bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return size_; }
  /// One byte per byte, 0 = never written; null when the memory is not tracked.
  std::uint8_t* shadow() const noexcept { return reinterpret_cast<std::uint8_t*>(shadow_.get()); }

 private:
  struct release {
    std::size_t mapped;  // bytes of a file; 0: of the heap
    release() noexcept : mapped{0} {}
    explicit release(std::size_t bytes_of_file) noexcept : mapped{bytes_of_file} {}
    void operator()(std::byte* p) const noexcept {
      if (mapped == 0) {
        std::free(p);
      } else {
        ::munmap(p, mapped);
      }
    }
  };
  using buffer = std::unique_ptr<std::byte, release>;

  storage(std::byte* bytes, std::size_t size, buffer own, buffer shadow) noexcept
      : bytes_{bytes}, size_{size}, own_{std::move(own)}, shadow_{std::move(shadow)} {}

  std::byte* bytes_;
  std::size_t size_;
  buffer own_;
  buffer shadow_;
};

}}}  // namespace nogpu::v1::machine
