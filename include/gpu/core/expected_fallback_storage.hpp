#pragma once
/// \file
/// What both forms of the stand-in for `std::expected` are built on: the union of value and error,
/// its lifetime, and its special members, which are trivial where those of both types are.

#include <gpu/core/unexpected_fallback.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace gpu::fallback {

/// The value of an `expected<void, E>`, so that one storage serves both forms.
struct nothing {};

struct value_of_call {};  ///< Selects construction of the value from the result of a call.
struct error_of_call {};  ///< The same for the error.
struct converted {};      ///< Selects construction from another storage or `expected`.

/// Both alternatives can be copied as bytes, so that assigning the union whole starts the lifetime
/// of the other one. Constant evaluation allows no placement new.
template <class T, class E>
inline constexpr bool is_assigned_whole =
    std::is_trivially_move_constructible_v<T>&& std::is_trivially_move_assignable_v<T>&&
        std::is_trivially_destructible_v<T>&& std::is_trivially_move_constructible_v<E>&&
            std::is_trivially_move_assignable_v<E>&& std::is_trivially_destructible_v<E>;

/// A value or an error, and which of the two. Whoever changes it keeps one of them alive.
template <class T, class E,
          bool = std::is_trivially_destructible_v<T>&& std::is_trivially_destructible_v<E>>
struct payload {
  union {
    T value;
    E error;
  };
  bool has_value;

  template <class... Args>
  constexpr explicit payload(std::in_place_t, Args&&... args)
      : value(std::forward<Args>(args)...), has_value(true) {}
  template <class... Args>
  constexpr explicit payload(unexpect_t, Args&&... args)
      : error(std::forward<Args>(args)...), has_value(false) {}
  template <class F>
  constexpr explicit payload(value_of_call, F&& call)
      : value(std::forward<F>(call)()), has_value(true) {}
  template <class F>
  constexpr explicit payload(error_of_call, F&& call)
      : error(std::forward<F>(call)()), has_value(false) {}
};

template <class T, class E> struct payload<T, E, false> {
  union {
    T value;
    E error;
  };
  bool has_value;

  template <class... Args>
  constexpr explicit payload(std::in_place_t, Args&&... args)
      : value(std::forward<Args>(args)...), has_value(true) {}
  template <class... Args>
  constexpr explicit payload(unexpect_t, Args&&... args)
      : error(std::forward<Args>(args)...), has_value(false) {}
  template <class F>
  constexpr explicit payload(value_of_call, F&& call)
      : value(std::forward<F>(call)()), has_value(true) {}
  template <class F>
  constexpr explicit payload(error_of_call, F&& call)
      : error(std::forward<F>(call)()), has_value(false) {}

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

/// Observers and changes of state; copying and moving are in the classes below.
template <class T, class E> class storage {
 public:
  template <class... Args>
  constexpr explicit storage(std::in_place_t tag, Args&&... args)
      : held_(tag, std::forward<Args>(args)...) {}
  template <class... Args>
  constexpr explicit storage(unexpect_t tag, Args&&... args)
      : held_(tag, std::forward<Args>(args)...) {}
  template <class F>
  constexpr explicit storage(value_of_call tag, F&& call) : held_(tag, std::forward<F>(call)) {}
  template <class F>
  constexpr explicit storage(error_of_call tag, F&& call) : held_(tag, std::forward<F>(call)) {}
  template <class Source>
  constexpr explicit storage(converted, Source&& source)
      : held_(payload_from(std::forward<Source>(source))) {}

  /// Whether there is a value.
  constexpr bool has_value() const noexcept { return held_.has_value; }
  constexpr explicit operator bool() const noexcept { return held_.has_value; }

  /// The value. Undefined without one.
  constexpr const T& operator*() const& noexcept { return held_.value; }
  constexpr T& operator*() & noexcept { return held_.value; }
  constexpr const T&& operator*() const&& noexcept { return std::move(held_.value); }
  constexpr T&& operator*() && noexcept { return std::move(held_.value); }
  constexpr const T* operator->() const noexcept { return __builtin_addressof(held_.value); }
  constexpr T* operator->() noexcept { return __builtin_addressof(held_.value); }

  /// The error. Undefined where there is a value.
  constexpr const E& error() const& noexcept { return held_.error; }
  constexpr E& error() & noexcept { return held_.error; }
  constexpr const E&& error() const&& noexcept { return std::move(held_.error); }
  constexpr E&& error() && noexcept { return std::move(held_.error); }

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
      held_.value = std::forward<U>(value);
    } else {
      become_value(std::forward<U>(value));
    }
  }

  template <class G> constexpr void assign_error(G&& error) {
    if (has_value()) {
      become_error(std::forward<G>(error));
    } else {
      held_.error = std::forward<G>(error);
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
      if constexpr (!std::is_same_v<T, nothing>) swap(held_.value, other.held_.value);
    } else if (!has_value() && !other.has_value()) {
      using std::swap;
      swap(held_.error, other.held_.error);
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
    if (!source.has_value()) return payload<T, E>(unexpect, std::forward<Source>(source).error());
    if constexpr (std::is_same_v<T, nothing>) {
      return payload<T, E>(std::in_place);
    } else {
      return payload<T, E>(std::in_place, *std::forward<Source>(source));
    }
  }

  constexpr void end() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      if (held_.has_value) held_.value.~T();
    }
    if constexpr (!std::is_trivially_destructible_v<E>) {
      if (!held_.has_value) held_.error.~E();
    }
  }

  template <class... Args> constexpr void start_value(Args&&... args) {
    if constexpr (is_assigned_whole<T, E>) {
      held_ = payload<T, E>(std::in_place, std::forward<Args>(args)...);
    } else {
      ::new (address(held_.value)) T(std::forward<Args>(args)...);
      held_.has_value = true;
    }
  }

  template <class... Args> constexpr void start_error(Args&&... args) {
    if constexpr (is_assigned_whole<T, E>) {
      held_ = payload<T, E>(unexpect, std::forward<Args>(args)...);
    } else {
      ::new (address(held_.error)) E(std::forward<Args>(args)...);
      held_.has_value = false;
    }
  }

  template <class U> static constexpr void* address(U& object) {
    return const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(object)));
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
      E kept(std::move(held_.error));
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
      T kept(std::move(held_.value));
      end();
      restoration<true, T> guard{*this, kept};
      start_error(std::forward<Args>(args)...);
      guard.armed = false;
    }
  }

  /// Swaps the value here with the error there.
  constexpr void exchange(storage& other) {
    if constexpr (std::is_nothrow_move_constructible_v<E>) {
      E kept(std::move(other.held_.error));
      other.end();
      restoration<false, E> guard{other, kept};
      other.start_value(std::move(held_.value));
      guard.armed = false;
      end();
      start_error(std::move(kept));
    } else {
      T kept(std::move(held_.value));
      end();
      restoration<true, T> guard{*this, kept};
      start_error(std::move(other.held_.error));
      guard.armed = false;
      other.end();
      other.start_value(std::move(kept));
    }
  }

  payload<T, E> held_;
};

/// How a special member comes about.
enum class special { defaulted, provided, absent };

constexpr special special_member(bool possible, bool trivial) {
  return !possible ? special::absent : trivial ? special::defaulted : special::provided;
}

template <class T>
inline constexpr bool is_trivially_copied =
    std::is_trivially_copy_constructible_v<T>&& std::is_trivially_copy_assignable_v<T>;
template <class T>
inline constexpr bool is_trivially_moved =
    std::is_trivially_move_constructible_v<T>&& std::is_trivially_move_assignable_v<T>;
template <class T, class E>
inline constexpr bool one_moves_without_throwing =
    std::is_nothrow_move_constructible_v<T> || std::is_nothrow_move_constructible_v<E>;
template <class T, class E>
inline constexpr bool is_swappable_held =
    std::is_swappable_v<T>&& std::is_swappable_v<E>&& std::is_move_constructible_v<T>&&
        std::is_move_constructible_v<E>&& one_moves_without_throwing<T, E>;

template <class T, class E>
inline constexpr special copy_construction = special_member(
    std::is_copy_constructible_v<T>&& std::is_copy_constructible_v<E>,
    std::is_trivially_copy_constructible_v<T>&& std::is_trivially_copy_constructible_v<E>);
template <class T, class E>
inline constexpr special move_construction = special_member(
    std::is_move_constructible_v<T>&& std::is_move_constructible_v<E>,
    std::is_trivially_move_constructible_v<T>&& std::is_trivially_move_constructible_v<E>);
template <class T, class E>
inline constexpr special copy_assignment = special_member(
    std::is_copy_constructible_v<T>&& std::is_copy_assignable_v<T>&& std::is_copy_constructible_v<
        E>&& std::is_copy_assignable_v<E>&& one_moves_without_throwing<T, E>,
    is_trivially_copied<T>&& is_trivially_copied<E>);
template <class T, class E>
inline constexpr special move_assignment = special_member(
    std::is_move_constructible_v<T>&& std::is_move_assignable_v<T>&& std::is_move_constructible_v<
        E>&& std::is_move_assignable_v<E>&& one_moves_without_throwing<T, E>,
    is_trivially_moved<T>&& is_trivially_moved<E>);

// One class for each special member that may have to be written. Members of the union that cannot
// be copied or moved make the defaulted ones deleted. (Constraints on special members would be
// shorter; Clang 14 does not compute triviality from them.)

template <class T, class E, special = copy_construction<T, E>>
struct copy_constructed : storage<T, E> {
  using storage<T, E>::storage;
};
template <class T, class E> struct copy_constructed<T, E, special::provided> : storage<T, E> {
  using storage<T, E>::storage;
  constexpr copy_constructed(const copy_constructed& other) noexcept(
      std::is_nothrow_copy_constructible_v<T>&& std::is_nothrow_copy_constructible_v<E>)
      : storage<T, E>(converted{}, other) {}
  constexpr copy_constructed(copy_constructed&&) = default;
  constexpr copy_constructed& operator=(const copy_constructed&) = default;
  constexpr copy_constructed& operator=(copy_constructed&&) = default;
};

template <class T, class E, special = move_construction<T, E>>
struct move_constructed : copy_constructed<T, E> {
  using copy_constructed<T, E>::copy_constructed;
};
template <class T, class E>
struct move_constructed<T, E, special::provided> : copy_constructed<T, E> {
  using copy_constructed<T, E>::copy_constructed;
  constexpr move_constructed(const move_constructed&) = default;
  constexpr move_constructed(move_constructed&& other) noexcept(
      std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_constructible_v<E>)
      : copy_constructed<T, E>(converted{}, std::move(other)) {}
  constexpr move_constructed& operator=(const move_constructed&) = default;
  constexpr move_constructed& operator=(move_constructed&&) = default;
};

template <class T, class E, special = copy_assignment<T, E>>
struct copy_assigned : move_constructed<T, E> {
  using move_constructed<T, E>::move_constructed;
};
template <class T, class E> struct copy_assigned<T, E, special::provided> : move_constructed<T, E> {
  using move_constructed<T, E>::move_constructed;
  constexpr copy_assigned(const copy_assigned&) = default;
  constexpr copy_assigned(copy_assigned&&) = default;
  constexpr copy_assigned& operator=(const copy_assigned& other) noexcept(
      std::is_nothrow_copy_constructible_v<T>&& std::is_nothrow_copy_assignable_v<T>&&
          std::is_nothrow_copy_constructible_v<E>&& std::is_nothrow_copy_assignable_v<E>) {
    this->assign(other);
    return *this;
  }
  constexpr copy_assigned& operator=(copy_assigned&&) = default;
};
template <class T, class E> struct copy_assigned<T, E, special::absent> : move_constructed<T, E> {
  using move_constructed<T, E>::move_constructed;
  constexpr copy_assigned(const copy_assigned&) = default;
  constexpr copy_assigned(copy_assigned&&) = default;
  copy_assigned& operator=(const copy_assigned&) = delete;
  constexpr copy_assigned& operator=(copy_assigned&&) = default;
};

template <class T, class E, special = move_assignment<T, E>>
struct move_assigned : copy_assigned<T, E> {
  using copy_assigned<T, E>::copy_assigned;
};
template <class T, class E> struct move_assigned<T, E, special::provided> : copy_assigned<T, E> {
  using copy_assigned<T, E>::copy_assigned;
  constexpr move_assigned(const move_assigned&) = default;
  constexpr move_assigned(move_assigned&&) = default;
  constexpr move_assigned& operator=(const move_assigned&) = default;
  constexpr move_assigned& operator=(move_assigned&& other) noexcept(
      std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T>&&
          std::is_nothrow_move_constructible_v<E>&& std::is_nothrow_move_assignable_v<E>) {
    this->assign(std::move(other));
    return *this;
  }
};
template <class T, class E> struct move_assigned<T, E, special::absent> : copy_assigned<T, E> {
  using copy_assigned<T, E>::copy_assigned;
  constexpr move_assigned(const move_assigned&) = default;
  constexpr move_assigned(move_assigned&&) = default;
  constexpr move_assigned& operator=(const move_assigned&) = default;
};

}  // namespace gpu::fallback
