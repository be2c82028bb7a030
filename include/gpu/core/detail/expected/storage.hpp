#pragma once
/// \file
/// What both forms of the stand-in for `std::expected` are built on: a value or an error, and how
/// the one becomes the other. The changes are free functions, which cost nothing to compile until
/// they are used, where members would be declared anew for every type.

#include <gpu/core/detail/expected/unexpected.hpp>

#include <new>

namespace gpu::inline v0::fallback::inline abi {

/// The value of an `expected<void, E>`, so that one storage serves both forms.
struct nothing {};

// Which alternative a payload holds. Their base is in `std` for the sake of `restart` below.
struct value_t : std::nothrow_t {
  constexpr value_t() noexcept : std::nothrow_t() {}
};
struct error_t : std::nothrow_t {
  constexpr error_t() noexcept : std::nothrow_t() {}
};
struct built_t {};      ///< The payload is made of the arguments that follow.
struct value_of_t {};   ///< A value that a call returns.
struct error_of_t {};   ///< An error that a call returns.
struct converted_t {};  ///< What another `expected` holds.

template <class... X>
concept trivially_destructible = (detail::trivially_destructible<X> && ...);

/// Both alternatives are copied as bytes, so that assigning the payload whole starts the lifetime
/// of the other one, in constant evaluation too.
template <class... X>
concept assigned_whole =
    trivially_destructible<X...> &&
    ((__is_trivially_constructible(X, X) && __is_trivially_assignable(X&, X)) && ...);

/// A value or an error, and which of the two. Whoever changes it keeps one of them alive.
template <class T, class E, bool = trivially_destructible<T, E>> struct payload {
  union {
    T value;
    E error;
  };
  bool has_value;

  template <class... Args>
  constexpr explicit payload(value_t, Args&&... args)
      : value(static_cast<Args&&>(args)...), has_value(true) {}
  template <class... Args>
  constexpr explicit payload(error_t, Args&&... args)
      : error(static_cast<Args&&>(args)...), has_value(false) {}
  template <class F>
  constexpr explicit payload(value_of_t, F&& call)
      : value(static_cast<F&&>(call)()), has_value(true) {}
  template <class F>
  constexpr explicit payload(error_of_t, F&& call)
      : error(static_cast<F&&>(call)()), has_value(false) {}
};

template <class T, class E> struct payload<T, E, false> {
  union {
    T value;
    E error;
  };
  bool has_value;

  template <class... Args>
  constexpr explicit payload(value_t, Args&&... args)
      : value(static_cast<Args&&>(args)...), has_value(true) {}
  template <class... Args>
  constexpr explicit payload(error_t, Args&&... args)
      : error(static_cast<Args&&>(args)...), has_value(false) {}
  template <class F>
  constexpr explicit payload(value_of_t, F&& call)
      : value(static_cast<F&&>(call)()), has_value(true) {}
  template <class F>
  constexpr explicit payload(error_of_t, F&& call)
      : error(static_cast<F&&>(call)()), has_value(false) {}

  payload(const payload&) = delete;
  payload& operator=(const payload&) = delete;
  constexpr ~payload() {
    if (has_value) {
      value.~T();
    } else {
      error.~E();
    }
  }
};

/// What `other` holds, copied or moved into a payload of the same type.
template <class Payload, class Other> constexpr Payload payload_like(Other&& other) {
  if (other.has_value) return Payload(value_t{}, static_cast<Other&&>(other).value);
  return Payload(error_t{}, static_cast<Other&&>(other).error);
}

/// What the `expected` `source` holds, converted.
template <class T, class E, class Source> constexpr payload<T, E> payload_from(Source&& source) {
  if (!source.has_value()) return payload<T, E>(error_t{}, static_cast<Source&&>(source).error());
  if constexpr (same<T, nothing>) {
    return payload<T, E>(value_t{});
  } else {
    return payload<T, E>(value_t{}, *static_cast<Source&&>(source));
  }
}

/// Ends the lifetime of a payload; `restart` follows.
template <class T, class E> constexpr void end(payload<T, E>& held) noexcept {
  if constexpr (!trivially_destructible<T, E>) held.~payload<T, E>();
}

/// Begins the lifetime of a payload anew, with a value or an error. Constant evaluation admits
/// nothing but `std::construct_at` for that, and <memory> costs eleven times what cuda.h does: so
/// it is found through the base of `which` if the program has included <memory>, and only then can
/// a type that is not trivially copyable take part. Either way the code generated is the same.
template <class T, class E, class Which, class... Args>
constexpr void restart(payload<T, E>& held, Which which, Args&&... args) {
  if constexpr (assigned_whole<T, E>) {
    held = payload<T, E>(which, static_cast<Args&&>(args)...);
  } else {
    if (__builtin_is_constant_evaluated()) {
      if constexpr (requires { construct_at(&held, which, static_cast<Args&&>(args)...); }) {
        construct_at(&held, which, static_cast<Args&&>(args)...);
        return;
      }
    }
    ::new (static_cast<void*>(&held)) payload<T, E>(which, static_cast<Args&&>(args)...);
  }
}

/// Puts `kept` back into `target` if the construction it guards throws.
template <class Which, class Payload, class Kept> struct restoration {
  Payload& target;
  Kept& kept;
  bool armed = true;

  constexpr ~restoration() {
    if (armed) fallback::restart(target, Which{}, detail::move(kept));
  }
};

/// From error to value. Where that throws, the error is as it was.
template <class T, class E, class... Args>
constexpr void become_value(payload<T, E>& held, Args&&... args) {
  if constexpr (nothrow_constructible<T, Args...>) {
    fallback::end(held);
    fallback::restart(held, value_t{}, static_cast<Args&&>(args)...);
  } else if constexpr (nothrow_constructible<T, T>) {
    T made(static_cast<Args&&>(args)...);
    fallback::end(held);
    fallback::restart(held, value_t{}, detail::move(made));
  } else {
    E kept(detail::move(held.error));
    fallback::end(held);
    restoration<error_t, payload<T, E>, E> guard{held, kept};
    fallback::restart(held, value_t{}, static_cast<Args&&>(args)...);
    guard.armed = false;
  }
}

/// From value to error. Where that throws, the value is as it was.
template <class T, class E, class... Args>
constexpr void become_error(payload<T, E>& held, Args&&... args) {
  if constexpr (nothrow_constructible<E, Args...>) {
    fallback::end(held);
    fallback::restart(held, error_t{}, static_cast<Args&&>(args)...);
  } else if constexpr (nothrow_constructible<E, E>) {
    E made(static_cast<Args&&>(args)...);
    fallback::end(held);
    fallback::restart(held, error_t{}, detail::move(made));
  } else {
    T kept(detail::move(held.value));
    fallback::end(held);
    restoration<value_t, payload<T, E>, T> guard{held, kept};
    fallback::restart(held, error_t{}, static_cast<Args&&>(args)...);
    guard.armed = false;
  }
}

template <class T, class E, class U> constexpr void assign_value(payload<T, E>& held, U&& value) {
  if (held.has_value) {
    held.value = static_cast<U&&>(value);
  } else {
    fallback::become_value(held, static_cast<U&&>(value));
  }
}

template <class T, class E, class G> constexpr void assign_error(payload<T, E>& held, G&& error) {
  if (held.has_value) {
    fallback::become_error(held, static_cast<G&&>(error));
  } else {
    held.error = static_cast<G&&>(error);
  }
}

/// Takes over the state of `other`, moving from it if it is an rvalue.
template <class T, class E, class Other> constexpr void assign(payload<T, E>& held, Other&& other) {
  if (!other.has_value) {
    fallback::assign_error(held, static_cast<Other&&>(other).error);
  } else if constexpr (same<T, nothing>) {
    if (!held.has_value) fallback::become_value(held);
  } else {
    fallback::assign_value(held, static_cast<Other&&>(other).value);
  }
}

/// Ends what is held and builds a value, which must not throw.
template <class T, class E, class... Args>
constexpr void replace_by_value(payload<T, E>& held, Args&&... args) noexcept {
  fallback::end(held);
  fallback::restart(held, value_t{}, static_cast<Args&&>(args)...);
}

/// Swaps the value in `a` with the error in `b`.
template <class T, class E> constexpr void exchange(payload<T, E>& a, payload<T, E>& b) {
  if constexpr (nothrow_constructible<E, E>) {
    E kept(detail::move(b.error));
    fallback::end(b);
    restoration<error_t, payload<T, E>, E> guard{b, kept};
    fallback::restart(b, value_t{}, detail::move(a.value));
    guard.armed = false;
    fallback::end(a);
    fallback::restart(a, error_t{}, detail::move(kept));
  } else {
    T kept(detail::move(a.value));
    fallback::end(a);
    restoration<value_t, payload<T, E>, T> guard{a, kept};
    fallback::restart(a, error_t{}, detail::move(b.error));
    guard.armed = false;
    fallback::end(b);
    fallback::restart(b, value_t{}, detail::move(kept));
  }
}

template <class T, class E> constexpr void swap_payloads(payload<T, E>& a, payload<T, E>& b) {
  if (a.has_value && b.has_value) {
    if constexpr (!same<T, nothing>) swapping::swap_values(a.value, b.value);
  } else if (!a.has_value && !b.has_value) {
    swapping::swap_values(a.error, b.error);
  } else if (a.has_value) {
    fallback::exchange(a, b);
  } else {
    fallback::exchange(b, a);
  }
}

}  // namespace gpu::inline v0::fallback::inline abi
