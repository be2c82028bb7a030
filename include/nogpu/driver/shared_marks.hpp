#pragma once
/// \file
/// The state of an event that processes share: its latest record, and the latest record that
/// completed.

#include <nogpu/driver/shared_file.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// Records have numbers from 1 on, in whatever process they are made. The numbers lie in a file.
/// Threads: any thread of any process may call any member.
class shared_marks {
 public:
  /// Creates the state of a new event; null if the system has no more files.
  static std::shared_ptr<shared_marks> create(int device) {
    shared_header header;
    header.content = shared_content::event;
    header.device = device;
    header.number = shared_number();
    header.bytes = shared_file::page;
    return open(shared_file::create(header));
  }
  /// Opens the state of an event of another process; null for a file of another kind.
  static std::shared_ptr<shared_marks> open(shared_file_ptr file) {
    if (!file || file->header().content != shared_content::event) return nullptr;
    auto memory = file->map(0, shared_file::page);
    if (!memory) return nullptr;
    return std::make_shared<shared_marks>(std::move(file), std::move(memory));
  }

  shared_marks(shared_file_ptr file, std::shared_ptr<machine::storage> memory) noexcept
      : file_{std::move(file)}, memory_{std::move(memory)} {}

  const shared_file& file() const noexcept { return *file_; }

  /// The number of a new record, which is the latest now.
  std::uint64_t add() noexcept {
    return __atomic_add_fetch(latest_place(), std::uint64_t{1}, __ATOMIC_ACQ_REL);
  }
  std::uint64_t latest() const noexcept {
    return __atomic_load_n(latest_place(), __ATOMIC_ACQUIRE);
  }
  /// Marks a record as completed, and the earlier ones too.
  void reach(std::uint64_t mark) noexcept {
    std::uint64_t reached = __atomic_load_n(reached_place(), __ATOMIC_ACQUIRE);
    while (reached < mark && !__atomic_compare_exchange_n(reached_place(), &reached, mark, false,
                                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
  }
  bool has_reached(std::uint64_t mark) const noexcept {
    return __atomic_load_n(reached_place(), __ATOMIC_ACQUIRE) >= mark;
  }

 private:
  std::uint64_t* latest_place() const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_->bytes());
  }
  std::uint64_t* reached_place() const noexcept { return latest_place() + 1; }

  shared_file_ptr file_;
  std::shared_ptr<machine::storage> memory_;
};

}}}  // namespace nogpu::v1::driver
