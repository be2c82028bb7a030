#pragma once
/// \file
/// A file in memory that stands for what another interface has allocated: memory, or a semaphore of
/// the CPU driver, which is the first word of a file.

#include "support/catch.hpp"

#include <gpu/memory/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace test {

class foreign_file {
 public:
  explicit foreign_file(std::size_t bytes = sizeof(std::uint64_t))
      : bytes_{bytes}, file_{gpu::file_descriptor::adopt(::memfd_create("gpu-test", MFD_CLOEXEC))} {
    REQUIRE(file_);
    REQUIRE(::ftruncate(file_.native(), static_cast<::off_t>(bytes)) == 0);
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.native(), 0);
    REQUIRE(memory_ != MAP_FAILED);
  }
  foreign_file(const foreign_file&) = delete;
  foreign_file& operator=(const foreign_file&) = delete;
  ~foreign_file() { ::munmap(memory_, bytes_); }

  /// Exports it, as a descriptor of its own each time.
  gpu::file_descriptor descriptor() const {
    return gpu::file_descriptor::adopt(::fcntl(file_.native(), F_DUPFD_CLOEXEC, 0));
  }
  /// What the other side sees.
  template <class T> std::span<T> as() const {
    return {static_cast<T*>(memory_), bytes_ / sizeof(T)};
  }
  /// The state of a semaphore.
  std::uint64_t value() const { return word().load(); }
  void set_value(std::uint64_t value) const { word().store(value); }

 private:
  std::atomic_ref<std::uint64_t> word() const {
    return std::atomic_ref<std::uint64_t>(*static_cast<std::uint64_t*>(memory_));
  }

  std::size_t bytes_;
  gpu::file_descriptor file_;
  void* memory_ = nullptr;
};

/// Whether a number is that of an open file.
inline bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

}  // namespace test
