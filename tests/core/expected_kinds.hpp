#pragma once
/// \file
/// Shared by the tests of `expected`: the implementations that they run over, and value types
/// that count their lives.

#include <gpu/core/detail/expected/expected.hpp>
#include <gpu/core/detail/expected/operators.hpp>  // IWYU pragma: keep
#include <gpu/core/detail/expected/unexpected.hpp>
#include <gpu/core/expected.hpp>

#include <type_traits>
#include <utility>

namespace test {

/// The library's stand-in, which is there to be tested even where the library does not use it.
struct stand_in {
  template <class T, class E> using expected = gpu::fallback::expected<T, E>;
  template <class E> using unexpected = gpu::fallback::unexpected<E>;
  template <class E> using bad_access = gpu::fallback::bad_expected_access<E>;
  using unexpect_t = gpu::fallback::unexpect_t;
  static constexpr bool is_std = false;
};

/// The implementation of `gpu::expected` in this build.
struct chosen {
  template <class T, class E> using expected = gpu::expected<T, E>;
  template <class E> using unexpected = gpu::unexpected<E>;
  template <class E> using bad_access = gpu::bad_expected_access<E>;
  using unexpect_t = gpu::unexpect_t;
  static constexpr bool is_std =
      !std::is_same_v<gpu::expected<int, int>, gpu::fallback::expected<int, int>>;
};

template <class Kind, class T, class E> using expected_of = typename Kind::template expected<T, E>;

template <class Kind, class E> constexpr auto failure(E error) {
  return typename Kind::template unexpected<E>(std::move(error));
}

/// When a `counted` operation throws.
enum class throws { never, on_copy, on_copy_and_move };

#if defined(__cpp_exceptions)
struct told_to {};
#endif

/// Counts the objects alive; throws when it is armed, at the operations that `when` names.
template <throws when, int tag = 0> struct counted {
  static inline int alive = 0;
  static inline bool armed = false;

  int value;

  counted(int v) noexcept(when == throws::never) : value(v) {
    fail_if(when != throws::never);
    ++alive;
  }
  counted(const counted& other) noexcept(when == throws::never) : value(other.value) {
    fail_if(when != throws::never);
    ++alive;
  }
  counted(counted&& other) noexcept(when != throws::on_copy_and_move) : value(other.value) {
    fail_if(when == throws::on_copy_and_move);
    other.value = -1;
    ++alive;
  }
  counted& operator=(const counted& other) noexcept(when == throws::never) {
    fail_if(when != throws::never);
    value = other.value;
    return *this;
  }
  counted& operator=(counted&& other) noexcept(when != throws::on_copy_and_move) {
    fail_if(when == throws::on_copy_and_move);
    value = other.value;
    if (&other != this) other.value = -1;
    return *this;
  }
  ~counted() {
    value = -2;
    --alive;
  }
  friend bool operator==(const counted&, const counted&) = default;

 private:
  static void fail_if([[maybe_unused]] bool may) noexcept(when == throws::never) {
#if defined(__cpp_exceptions)
    if constexpr (when != throws::never) {
      if (may && armed) throw told_to{};
    }
#endif
  }
};

using value_type = counted<throws::never, 1>;
using error_type = counted<throws::never, 2>;

/// Can be moved, not copied; usable in constant evaluation, and not trivial in anything.
struct move_only {
  int value;

  constexpr move_only(int v) noexcept : value(v) {}
  constexpr move_only(move_only&& other) noexcept : value(std::exchange(other.value, -1)) {}
  constexpr move_only& operator=(move_only&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  constexpr ~move_only() { value = -2; }
  friend constexpr bool operator==(const move_only&, const move_only&) = default;
};

/// Neither copied nor moved.
struct pinned {
  int value;
  constexpr explicit pinned(int v) : value(v) {}
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
};

}  // namespace test
