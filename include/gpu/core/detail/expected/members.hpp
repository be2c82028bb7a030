#pragma once
/// \file
/// Conditions on the members of the stand-in for `std::expected`, and how an error replaces a value
/// or a value an error.

#include <gpu/core/detail/expected/unexpected.hpp>

#include <type_traits>
#include <utility>

#if !defined(__cpp_exceptions)
#  include <cstdio>
#endif

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

/// How an `expected` holds a value of type `T`, and what refers to it: nothing if `T` is void.
template <class T> struct value_types {
  using held = T;
  using lvalue = T&;
  using const_lvalue = const T&;
  using rvalue = T&&;
  using const_rvalue = const T&&;
};
template <class T>
  requires std::is_void_v<T>
struct value_types<T> {
  struct held {};
  using lvalue = void;
  using const_lvalue = void;
  using rvalue = void;
  using const_rvalue = void;
};

template <class X>
concept copy_constructible = std::is_constructible_v<X, const X&>;
template <class X>
concept move_constructible = std::is_constructible_v<X, X>;
template <class X>
concept copy_assignable = copy_constructible<X> && std::is_assignable_v<X&, const X&>;
template <class X>
concept move_assignable = move_constructible<X> && std::is_assignable_v<X&, X>;

/// Types that are copied and assigned as bytes. An `expected` of two such types is one, too.
template <class X>
#if defined(__clang__) && __clang_major__ < 16
concept plain = false;  // it cannot select a special member by its constraints
#else
concept plain = copy_assignable<X> && move_assignable<X> && __is_trivially_copyable(X);
#endif

template <class... X>
concept nothrow_copy_constructible = (std::is_nothrow_constructible_v<X, const X&> && ...);
template <class... X>
concept nothrow_move_constructible = (std::is_nothrow_constructible_v<X, X> && ...);
template <class... X>
concept nothrow_copyable =
    nothrow_copy_constructible<X...> && (__is_nothrow_assignable(X&, const X&) && ...);
template <class... X>
concept nothrow_movable =
    nothrow_move_constructible<X...> && (__is_nothrow_assignable(X&, X) && ...);

template <class X> void destroy(X& object) noexcept { object.~X(); }
template <class X, class... Args> void construct(X& storage, Args&&... args) {
  void* address =
      const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(storage)));
  ::new (address) X(static_cast<Args&&>(args)...);
}

/// Takes an object out of its storage, and puts it back unless `armed` is set to false.
template <class X> struct taken_out {
  X& storage;
  X object;
  bool armed = true;

  explicit taken_out(X& from) : storage(from), object(std::move(from)) { fallback::destroy(from); }
  taken_out(const taken_out&) = delete;
  taken_out& operator=(const taken_out&) = delete;
  ~taken_out() {
    if (armed) fallback::construct(storage, std::move(object));
  }
};

/// Destroys `before` and constructs `after` in the same storage. If that throws, `before` is as it
/// was.
template <class Before, class After, class... Args>
void replace(Before& before, After& after, Args&&... args) {
  if constexpr (std::is_nothrow_constructible_v<After, Args...>) {
    fallback::destroy(before);
    fallback::construct(after, static_cast<Args&&>(args)...);
  } else if constexpr (std::is_nothrow_constructible_v<After, After>) {
    After made(static_cast<Args&&>(args)...);
    fallback::destroy(before);
    fallback::construct(after, std::move(made));
  } else {
    taken_out<Before> old(before);
    fallback::construct(after, static_cast<Args&&>(args)...);
    old.armed = false;
  }
}

/// Moves `a1` to `b1`, and `b2` to `a2`. `a1` shares its storage with `a2`, and `b1` with `b2`. If
/// that throws, both are as they were; moving `a1` must not throw.
template <class X, class Y> void exchange(X& a1, Y& a2, X& b1, Y& b2) {
  taken_out<X> old(a1);
  fallback::construct(a2, std::move(b2));
  old.armed = false;
  fallback::destroy(b2);
  fallback::construct(b1, std::move(old.object));
}

// Units with and without exceptions can be linked into one program. So value() is always inlined:
// the functions below have different names in the two.
#if defined(__cpp_exceptions)
template <class E, class G> [[noreturn]] constexpr void throw_bad_access(G&& error) {
  throw bad_expected_access<E>(static_cast<G&&>(error));
}
template <class E, class G> [[gnu::always_inline]] inline constexpr void bad_access(G&& error) {
  fallback::throw_bad_access<E>(static_cast<G&&>(error));
}
#else
template <class E> [[noreturn]] inline void abort_on_bad_access(const E& error) {
  const char* reason =
      "gpu::expected::value(): the object holds an error, and the program is compiled without "
      "exceptions";
  if constexpr (requires { error.message().c_str(); }) {
    std::fprintf(stderr, "%s: %s\n", reason, error.message().c_str());
  } else {
    std::fprintf(stderr, "%s, in %s\n", reason, __PRETTY_FUNCTION__);
  }
  __builtin_trap();
}
template <class E, class G> [[gnu::always_inline]] inline constexpr void bad_access(G&& error) {
  fallback::abort_on_bad_access<E>(error);
}
#endif

}}}}  // namespace gpu::v1::fallback::abi
