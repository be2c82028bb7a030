#pragma once
/// \file
/// The log messages of a driver, and the callbacks that receive them.

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// **Threads**: any. Callbacks are called under the lock, one at a time, so none runs any more once
/// it was unregistered; they may use the log themselves.
class message_log {
 public:
  /// The number of bytes that are kept; the oldest messages are dropped for new ones.
  static constexpr std::size_t capacity = 25600;

  void add(CUlogLevel level, std::string_view message) {
    const std::lock_guard guard(mutex_);
    messages_.push_back(std::string(message) + '\n');
    bytes_ += messages_.back().size();
    while (bytes_ > capacity && messages_.size() > 1) {
      bytes_ -= messages_.front().size();
      messages_.pop_front();
      ++first_;
    }
    std::string copy(message);
    const std::vector<listener> now = listeners_;  // one may remove itself
    for (const listener& each : now) {
      if (!is_listening(each.handle)) continue;
      each.function(each.data, level, copy.data(), copy.size());
    }
  }

  CUlogsCallbackHandle listen(CUlogsCallback function, void* data, CUlogsCallbackHandle handle) {
    const std::lock_guard guard(mutex_);
    listeners_.push_back({function, data, handle});
    return handle;
  }
  /// Removes a callback. Returns false if it does not exist.
  bool stop_listening(CUlogsCallbackHandle handle) {
    const std::lock_guard guard(mutex_);
    return std::erase_if(listeners_, [&](const listener& l) { return l.handle == handle; }) != 0;
  }
  std::vector<CUlogsCallbackHandle> callbacks() const {
    const std::lock_guard guard(mutex_);
    std::vector<CUlogsCallbackHandle> all;
    for (const listener& each : listeners_) all.push_back(each.handle);
    return all;
  }

  /// The number that the next message will have.
  CUlogIterator end() const {
    const std::lock_guard guard(mutex_);
    return first_ + static_cast<CUlogIterator>(messages_.size());
  }

  /// Returns the messages from `from` on, or all: the latest that fit in `room` bytes, after a line
  /// that says how many are left out. Empty if not even the latest fits. Moves `from` to the end.
  std::string text(CUlogIterator* from, std::size_t room) const {
    static constexpr std::string_view cut = "[older messages are omitted]\n";
    const std::lock_guard guard(mutex_);
    const CUlogIterator last = first_ + static_cast<CUlogIterator>(messages_.size());
    const CUlogIterator asked = from != nullptr ? *from : CUlogIterator{0};
    CUlogIterator next = asked < first_ ? first_ : asked;
    std::size_t size = 0;
    for (CUlogIterator i = next; i < last; ++i) size += messages_[i - first_].size();
    bool left_out = asked < next;
    while (next < last && size + (left_out ? cut.size() : 0) > room) {
      size -= messages_[next - first_].size();
      ++next;
      left_out = true;
    }
    std::string all;
    if (next < last) {
      if (left_out) all += cut;
      for (CUlogIterator i = next; i < last; ++i) all += messages_[i - first_];
    }
    if (from != nullptr && (next < last || asked >= last)) *from = last;
    return all;
  }

 private:
  struct listener {
    CUlogsCallback function;
    void* data;
    CUlogsCallbackHandle handle;
  };

  bool is_listening(CUlogsCallbackHandle handle) const {
    for (const listener& each : listeners_)
      if (each.handle == handle) return true;
    return false;
  }

  mutable std::recursive_mutex mutex_;
  std::deque<std::string> messages_;
  std::size_t bytes_ = 0;
  CUlogIterator first_ = 0;  // the number of the oldest message
  std::vector<listener> listeners_;
};

}}}  // namespace nogpu::v1::driver
