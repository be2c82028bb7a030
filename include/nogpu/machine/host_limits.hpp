// Recovers if the host runs out of memory or of threads.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>
#include <new>
#include <utility>

namespace nogpu { inline namespace v1 { namespace machine {

/// Does `work`. Returns whether the host had the memory for it; without exceptions, a host that has
/// not ends the program.
template <class Work> bool within_memory(const Work& work) {
#if defined(__cpp_exceptions)
  try {
    work();
  } catch (const std::bad_alloc&) {
    return false;
  }
#else
  work();
#endif
  return true;
}

/// A thread that may fail to start, unlike `std::thread`, which throws then. Movable; it is joined
/// before it is destroyed.
class host_thread {
 public:
  host_thread() noexcept = default;
  host_thread(host_thread&& other) noexcept
      : native_{other.native_}, started_{std::exchange(other.started_, false)} {}
  host_thread& operator=(host_thread&& other) noexcept {
    native_ = other.native_;
    started_ = std::exchange(other.started_, false);
    return *this;
  }

  /// Begins `work` in a new thread; returns false if the system has no more threads.
  bool start(std::function<void()> work) {
    auto kept = std::make_unique<std::function<void()>>(std::move(work));
    started_ = ::pthread_create(&native_, nullptr, &run, kept.get()) == 0;
    if (started_) static_cast<void>(kept.release());
    return started_;
  }
  void join() {
    if (std::exchange(started_, false)) ::pthread_join(native_, nullptr);
  }

 private:
  static void* run(void* work) {
    const std::unique_ptr<std::function<void()>> kept(static_cast<std::function<void()>*>(work));
    (*kept)();
    return nullptr;
  }

  pthread_t native_{};
  bool started_ = false;
};

}}}  // namespace nogpu::v1::machine
