#pragma once
/// \file
/// What both forms of the stand-in for `std::expected` are built on: the union of value and error,
/// and the lifetimes in it.

#include <gpu/core/unexpected_fallback.hpp>

#include <gpu/core/utility.hpp>
#include <new>
#include <type_traits>

namespace gpu::fallback::inline abi {

/// The value of an `expected<void, E>`, so that one storage serves both forms.
struct nothing {};

struct value_t {};      ///< Selects the value, to be built from a second tag and its arguments.
struct error_t {};      ///< Selects the error, likewise.
struct result_of_t {};  ///< Second tag: from the result of a call. The other is std::in_place_t.
struct converted_t {};  ///< From another storage or `expected`.

/// Both alternatives are copied as bytes, so that assigning the union whole starts the lifetime of
/// the other one, in constant evaluation too.
template <class... X>
concept assigned_whole = (std::is_trivially_move_constructible_v<X> && ...) &&
                         (std::is_trivially_move_assignable_v<X> && ...) &&
                         (std::is_trivially_destructible_v<X> && ...);

template <class... X>
concept trivially_destructible = (std::is_trivially_destructible_v<X> && ...);

/// One member of the union.
template <class T> struct slot {
  T object;

  template <class... Args>
  constexpr explicit slot(std::in_place_t, Args&&... args) : object(std::forward<Args>(args)...) {}
  template <class F>
  constexpr explicit slot(result_of_t, F&& call) : object(std::forward<F>(call)()) {}
};

/// Starts the lifetime of the object in a slot. Constant evaluation admits nothing but
/// `std::construct_at` for that, and <memory> costs eleven times what cuda.h does: so it is found
/// through its `std::in_place_t` argument if the program has included <memory>, and only then can
/// a type that is not trivially copyable take part. Either way the code generated is the same.
template <class T, class... Args> constexpr void start_lifetime(slot<T>& place, Args&&... args) {
  if (std::is_constant_evaluated()) {
    if constexpr (requires { construct_at(&place, std::in_place, std::forward<Args>(args)...); }) {
      construct_at(&place, std::in_place, std::forward<Args>(args)...);
      return;
    }
  }
  ::new (static_cast<void*>(&place)) slot<T>(std::in_place, std::forward<Args>(args)...);
}

/// A value or an error, and which of the two. Whoever changes it keeps one of them alive.
template <class T, class E, bool = trivially_destructible<T, E>> struct payload {
  union {
    slot<T> value;
    slot<E> error;
  };
  bool has_value;

  template <class Tag, class... Args>
  constexpr explicit payload(value_t, Tag tag, Args&&... args)
      : value(tag, std::forward<Args>(args)...), has_value(true) {}
  template <class Tag, class... Args>
  constexpr explicit payload(error_t, Tag tag, Args&&... args)
      : error(tag, std::forward<Args>(args)...), has_value(false) {}
};

template <class T, class E> struct payload<T, E, false> {
  union {
    slot<T> value;
    slot<E> error;
  };
  bool has_value;

  template <class Tag, class... Args>
  constexpr explicit payload(value_t, Tag tag, Args&&... args)
      : value(tag, std::forward<Args>(args)...), has_value(true) {}
  template <class Tag, class... Args>
  constexpr explicit payload(error_t, Tag tag, Args&&... args)
      : error(tag, std::forward<Args>(args)...), has_value(false) {}

  payload(const payload&) = delete;
  payload& operator=(const payload&) = delete;
  constexpr ~payload() {
    if (has_value) {
      value.~slot<T>();
    } else {
      error.~slot<E>();
    }
  }
};

/// Observers and changes of state; copying and moving are in the classes below.
template <class T, class E> class storage {
 public:
  template <class Tag, class... Args>
  constexpr explicit storage(value_t which, Tag tag, Args&&... args)
      : held_(which, tag, std::forward<Args>(args)...) {}
  template <class Tag, class... Args>
  constexpr explicit storage(error_t which, Tag tag, Args&&... args)
      : held_(which, tag, std::forward<Args>(args)...) {}
  template <class Source>
  constexpr explicit storage(converted_t, Source&& source)
      : held_(payload_from(std::forward<Source>(source))) {}

  /// Whether there is a value.
  constexpr bool has_value() const noexcept { return held_.has_value; }
  constexpr explicit operator bool() const noexcept { return held_.has_value; }

  /// The value. Undefined without one.
  constexpr const T& operator*() const& noexcept { return held_.value.object; }
  constexpr T& operator*() & noexcept { return held_.value.object; }
  constexpr const T&& operator*() const&& noexcept { return std::move(held_.value.object); }
  constexpr T&& operator*() && noexcept { return std::move(held_.value.object); }
  constexpr const T* operator->() const noexcept { return __builtin_addressof(held_.value.object); }
  constexpr T* operator->() noexcept { return __builtin_addressof(held_.value.object); }

  /// The error. Undefined where there is a value.
  constexpr const E& error() const& noexcept { return held_.error.object; }
  constexpr E& error() & noexcept { return held_.error.object; }
  constexpr const E&& error() const&& noexcept { return std::move(held_.error.object); }
  constexpr E&& error() && noexcept { return std::move(held_.error.object); }

 protected:
  /// Takes over the state of `source`, moving from it if it is an rvalue.
  template <class Source> constexpr void assign(Source&& source) {
    if (source.has_value()) {
      if constexpr (std::is_same_v<T, nothing>) {
        if (!has_value()) become_value();
      } else {
        assign_value(*std::forward<Source>(source));
      }
    } else {
      assign_error(std::forward<Source>(source).error());
    }
  }

  template <class U> constexpr void assign_value(U&& value) {
    if (has_value()) {
      held_.value.object = std::forward<U>(value);
    } else {
      become_value(std::forward<U>(value));
    }
  }

  template <class G> constexpr void assign_error(G&& error) {
    if (has_value()) {
      become_error(std::forward<G>(error));
    } else {
      held_.error.object = std::forward<G>(error);
    }
  }

  /// Ends what is held and builds a value, which must not throw.
  template <class... Args> constexpr void replace_by_value(Args&&... args) noexcept {
    end();
    start_value(std::forward<Args>(args)...);
  }

  constexpr void swap_with(storage& other) {
    if (has_value() && other.has_value()) {
      using std::swap;
      if constexpr (!std::is_same_v<T, nothing>) swap(held_.value.object, other.held_.value.object);
    } else if (!has_value() && !other.has_value()) {
      using std::swap;
      swap(held_.error.object, other.held_.error.object);
    } else if (has_value()) {
      exchange(other);
    } else {
      other.exchange(*this);
    }
  }

 private:
  /// Puts `kept` back if the construction it guards throws.
  template <bool restores_value, class Kept> struct restoration {
    storage& target;
    Kept& kept;
    bool armed = true;

    constexpr ~restoration() {
      if (!armed) return;
      if constexpr (restores_value) {
        target.start_value(std::move(kept));
      } else {
        target.start_error(std::move(kept));
      }
    }
  };

  template <class Source> static constexpr payload<T, E> payload_from(Source&& source) {
    if (!source.has_value()) {
      return payload<T, E>(error_t{}, std::in_place, std::forward<Source>(source).error());
    }
    if constexpr (std::is_same_v<T, nothing>) {
      return payload<T, E>(value_t{}, std::in_place);
    } else {
      return payload<T, E>(value_t{}, std::in_place, *std::forward<Source>(source));
    }
  }

  /// Ends the lifetime of what is held; one of the next two follows.
  constexpr void end() noexcept {
    if (held_.has_value) {
      if constexpr (!std::is_trivially_destructible_v<T>) held_.value.~slot<T>();
    } else {
      if constexpr (!std::is_trivially_destructible_v<E>) held_.error.~slot<E>();
    }
  }

  template <class... Args> constexpr void start_value(Args&&... args) {
    if constexpr (assigned_whole<T, E>) {
      held_ = payload<T, E>(value_t{}, std::in_place, std::forward<Args>(args)...);
    } else {
      start_lifetime(held_.value, std::forward<Args>(args)...);
      held_.has_value = true;
    }
  }

  template <class... Args> constexpr void start_error(Args&&... args) {
    if constexpr (assigned_whole<T, E>) {
      held_ = payload<T, E>(error_t{}, std::in_place, std::forward<Args>(args)...);
    } else {
      start_lifetime(held_.error, std::forward<Args>(args)...);
      held_.has_value = false;
    }
  }

  /// From error to value. Where that throws, the error is as it was.
  template <class... Args> constexpr void become_value(Args&&... args) {
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
      end();
      start_value(std::forward<Args>(args)...);
    } else if constexpr (std::is_nothrow_move_constructible_v<T>) {
      T made(std::forward<Args>(args)...);
      end();
      start_value(std::move(made));
    } else {
      E kept(std::move(held_.error.object));
      end();
      restoration<false, E> guard{*this, kept};
      start_value(std::forward<Args>(args)...);
      guard.armed = false;
    }
  }

  /// From value to error. Where that throws, the value is as it was.
  template <class... Args> constexpr void become_error(Args&&... args) {
    if constexpr (std::is_nothrow_constructible_v<E, Args...>) {
      end();
      start_error(std::forward<Args>(args)...);
    } else if constexpr (std::is_nothrow_move_constructible_v<E>) {
      E made(std::forward<Args>(args)...);
      end();
      start_error(std::move(made));
    } else {
      T kept(std::move(held_.value.object));
      end();
      restoration<true, T> guard{*this, kept};
      start_error(std::forward<Args>(args)...);
      guard.armed = false;
    }
  }

  /// Swaps the value here with the error there.
  constexpr void exchange(storage& other) {
    if constexpr (std::is_nothrow_move_constructible_v<E>) {
      E kept(std::move(other.held_.error.object));
      other.end();
      restoration<false, E> guard{other, kept};
      other.start_value(std::move(held_.value.object));
      guard.armed = false;
      end();
      start_error(std::move(kept));
    } else {
      T kept(std::move(held_.value.object));
      end();
      restoration<true, T> guard{*this, kept};
      start_error(std::move(other.held_.error.object));
      guard.armed = false;
      other.end();
      other.start_value(std::move(kept));
    }
  }

  payload<T, E> held_;
};

}  // namespace gpu::fallback::inline abi
