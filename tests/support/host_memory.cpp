#include "support/host_memory.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/testing/interposed_table.hpp>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>

#if defined(__has_feature)
#  define GPU_TEST_HAS(feature) __has_feature(feature)
#else
#  define GPU_TEST_HAS(feature) 0
#endif
// The thread sanitizer's operator new ends the program when memory runs out. GCC's can be replaced;
// Clang's is linked in one piece with the operators that do not throw.
#if defined(__cpp_exceptions) && !defined(__SANITIZE_ADDRESS__) && \
    !GPU_TEST_HAS(address_sanitizer) && !(defined(__clang__) && GPU_TEST_HAS(thread_sanitizer))
#  define GPU_TEST_THROWING_NEW 1
#else
#  define GPU_TEST_THROWING_NEW 0
#endif

namespace test {
namespace {

constexpr std::size_t never = ~std::size_t{0};
thread_local std::size_t left_until_failure = never;
thread_local memory_failures chosen;
thread_local bool failed = false;
thread_local int spared = 0;

bool fails_now() noexcept {
  if (left_until_failure == never || spared != 0) return false;
  if (left_until_failure != 0) {
    --left_until_failure;
    return false;
  }
  failed = true;
  if (!chosen.lasting) left_until_failure = never;
  return true;
}

enum class anywhere { none, one, all };
std::atomic<anywhere> fails_in_threads{anywhere::none};
std::atomic<std::size_t> next_in_threads{0}, first_in_threads{0};

bool fails_in_any_thread() noexcept {
  const anywhere which = fails_in_threads.load();
  if (which == anywhere::none || spared != 0) return false;
  const std::size_t number = next_in_threads.fetch_add(1);
  return number == first_in_threads || (which == anywhere::all && number > first_in_threads);
}

}  // namespace

failing_anywhere::failing_anywhere(std::size_t nth, bool lasting) {
  next_in_threads = 0;
  first_in_threads = nth;
  fails_in_threads = lasting ? anywhere::all : anywhere::one;
}
failing_anywhere::~failing_anywhere() { fails_in_threads = anywhere::none; }
bool failing_anywhere::happened() const { return next_in_threads > first_in_threads; }

failing_allocation::failing_allocation(std::size_t nth, memory_failures which) {
  failed = false;
  chosen = which;
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
bool failing_allocation::possible_for_throwing() {
  return GPU_TEST_THROWING_NEW != 0 && possible();
}

spared_allocations::spared_allocations() { ++spared; }
spared_allocations::~spared_allocations() { --spared; }

namespace {

struct sparing_hook {
  template <std::size_t, class Function, class... Arguments>
  CUresult intercept(Function original, Arguments... arguments) {
    const spared_allocations in_driver;
    return original(arguments...);
  }
};

}  // namespace

struct sparing_table::state {
  sparing_hook hook;
  gpu::testing::interposed_table<sparing_hook> table;

  explicit state(const gpu::driver::entry_points& inner) : table{inner, hook} {}
};
sparing_table::sparing_table(const gpu::driver::entry_points& inner)
    : state_{std::make_unique<state>(inner)} {}
sparing_table::~sparing_table() = default;
const gpu::driver::entry_points& sparing_table::entry_points() const {
  return state_->table.entry_points();
}

gpu::result<> run_contained(const std::function<gpu::result<>()>& operation) {
#if defined(__cpp_exceptions)
  try {
    return operation();
  } catch (const std::bad_alloc&) {
    return gpu::detail::fail(
        gpu::detail::refusal(gpu::errc::out_of_host_memory, "test", {}, gpu::source_location{}));
  }
#else
  return operation();
#endif
}

std::string sweep_all_allocations(const std::function<gpu::result<>()>& operation,
                                  const std::function<std::size_t()>& held) {
  std::string wrong;
  if (!failing_allocation::possible()) return wrong;
  if (!operation().has_value() || !operation().has_value()) return "it fails with memory left";
  const std::size_t before = held();
  for (const bool lasting : {false, true}) {
    bool happened = true;
    for (std::size_t n = 0; happened; ++n) {
      const auto say = [&](const std::string& what) {
        wrong +=
            "allocation " + std::to_string(n) + (lasting ? " and later: " : ": ") + what + '\n';
      };
      {
        const failing_allocation failing(
            n, {.lasting = lasting, .throwing = failing_allocation::possible_for_throwing()});
        const gpu::result<> outcome = run_contained(operation);
        happened = failing.happened();
        const spared_allocations by_test;
        if (!outcome.has_value() && !(outcome.error() == gpu::errc::out_of_host_memory)) {
          say(std::string("gives another error: ") + outcome.error().message().c_str());
        }
      }
      if (const gpu::result<> next = run_contained(operation); !next.has_value()) {
        say(std::string("the next attempt fails: ") + next.error().message().c_str());
      }
      if (held() != before) {
        say("other objects are left alive");
        return wrong;
      }
    }
  }
  return wrong;
}

}  // namespace test

#if GPU_TEST_THROWING_NEW
// As the standard library's own, which frees with free.
void* operator new(std::size_t size) {
  if (test::fails_in_any_thread()) throw std::bad_alloc();
  if (test::chosen.throwing && test::fails_now()) throw std::bad_alloc();
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return ::operator new(size); }
#endif

namespace {

/// What an operator new gives that does not throw; null where the one that throws would.
template <class Allocate> void* or_null(Allocate allocate) noexcept {
#if defined(__cpp_exceptions)
  try {
    return allocate();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
#else
  return allocate();
#endif
}

}  // namespace

// They come down to the operators that throw, as the standard library's own do: those stay the
// library's, or a sanitizer's. Weak, since a sanitizer may bring all of them in one piece.
[[gnu::weak]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (test::fails_now() || test::fails_in_any_thread()) return nullptr;
  const test::spared_allocations counted;
  return or_null([&] { return ::operator new(size); });
}
[[gnu::weak]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  if (test::fails_now() || test::fails_in_any_thread()) return nullptr;
  const test::spared_allocations counted;
  return or_null([&] { return ::operator new[](size); });
}
[[gnu::weak]] void* operator new(std::size_t size, std::align_val_t alignment,
                                 const std::nothrow_t&) noexcept {
  if (test::fails_now() || test::fails_in_any_thread()) return nullptr;
  return or_null([&] { return ::operator new(size, alignment); });
}
[[gnu::weak]] void* operator new[](std::size_t size, std::align_val_t alignment,
                                   const std::nothrow_t&) noexcept {
  if (test::fails_now() || test::fails_in_any_thread()) return nullptr;
  return or_null([&] { return ::operator new[](size, alignment); });
}
