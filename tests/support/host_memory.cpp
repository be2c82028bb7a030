#include "support/host_memory.hpp"

#include <new>

namespace test {
namespace {

constexpr std::size_t never = ~std::size_t{0};
thread_local std::size_t left_until_failure = never;
thread_local bool failed = false;

bool fails_now() noexcept {
  if (left_until_failure == never) return false;
  failed = left_until_failure == 0;
  left_until_failure = failed ? never : left_until_failure - 1;
  return failed;
}

}  // namespace

failing_allocation::failing_allocation(std::size_t nth) {
  failed = false;
  left_until_failure = nth;
}
failing_allocation::~failing_allocation() { left_until_failure = never; }
bool failing_allocation::happened() const { return failed; }
bool failing_allocation::possible() {
  const failing_allocation first(0);
  void* const memory = ::operator new(1, std::nothrow);
  ::operator delete(memory);
  return first.happened();
}

}  // namespace test

// They come down to the operators that throw, as the standard library's own do: those stay the
// library's, or a sanitizer's. Weak, since a sanitizer may bring all of them in one piece.
[[gnu::weak]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return test::fails_now() ? nullptr : ::operator new(size);
}
[[gnu::weak]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return test::fails_now() ? nullptr : ::operator new[](size);
}
[[gnu::weak]] void* operator new(std::size_t size, std::align_val_t alignment,
                                 const std::nothrow_t&) noexcept {
  return test::fails_now() ? nullptr : ::operator new(size, alignment);
}
[[gnu::weak]] void* operator new[](std::size_t size, std::align_val_t alignment,
                                   const std::nothrow_t&) noexcept {
  return test::fails_now() ? nullptr : ::operator new[](size, alignment);
}
