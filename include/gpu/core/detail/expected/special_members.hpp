#pragma once
/// \file
/// The special members of the stand-in for `std::expected`: trivial where those of value and error
/// are, absent where they cannot be.

#include <gpu/core/detail/expected/storage.hpp>

namespace gpu::inline v0::fallback::inline abi {

/// How a special member comes about.
enum class special { defaulted, provided, absent };

constexpr special special_member(bool possible, bool trivial) {
  return !possible ? special::absent : trivial ? special::defaulted : special::provided;
}

template <class... X>
concept copy_constructible = (constructible<X, const X&> && ...);
template <class... X>
concept copy_assignable = (assignable<X&, const X&> && ...);
template <class... X>
concept move_constructible = (constructible<X, X> && ...);
template <class... X>
concept move_assignable = (assignable<X&, X> && ...);
template <class... X>
concept swappable = (swapping::swappable<X> && ...);

template <class... X>
concept trivially_copy_constructible = (__is_trivially_constructible(X, const X&) && ...);
template <class... X>
concept trivially_copy_assignable = (__is_trivially_assignable(X&, const X&) && ...);
template <class... X>
concept trivially_move_constructible = (__is_trivially_constructible(X, X) && ...);
template <class... X>
concept trivially_move_assignable = (__is_trivially_assignable(X&, X) && ...);

template <class... X>
concept nothrow_copy_constructible = (nothrow_constructible<X, const X&> && ...);
template <class... X>
concept nothrow_copyable =
    nothrow_copy_constructible<X...> && (__is_nothrow_assignable(X&, const X&) && ...);
template <class... X>
concept nothrow_move_constructible = (nothrow_constructible<X, X> && ...);
template <class... X>
concept nothrow_movable =
    nothrow_move_constructible<X...> && (__is_nothrow_assignable(X&, X) && ...);
template <class... X>
concept nothrow_swappable =
    nothrow_move_constructible<X...> && (swapping::nothrow_swappable<X> && ...);

template <class T, class E>
concept one_moves_without_throwing = nothrow_move_constructible<T> || nothrow_move_constructible<E>;
template <class T, class E>
concept swappable_when_held =
    swappable<T, E> && move_constructible<T, E> && one_moves_without_throwing<T, E>;
template <class T, class E>
concept copy_assignable_when_held =
    copy_constructible<T, E> && copy_assignable<T, E> && one_moves_without_throwing<T, E>;
template <class T, class E>
concept move_assignable_when_held =
    move_constructible<T, E> && move_assignable<T, E> && one_moves_without_throwing<T, E>;
template <class... X>
concept trivially_copied = trivially_copy_constructible<X...> && trivially_copy_assignable<X...>;
template <class... X>
concept trivially_moved = trivially_move_constructible<X...> && trivially_move_assignable<X...>;

template <class T, class E>
inline constexpr special copy_construction =
    special_member(copy_constructible<T, E>, trivially_copy_constructible<T, E>);
template <class T, class E>
inline constexpr special move_construction =
    special_member(move_constructible<T, E>, trivially_move_constructible<T, E>);
template <class T, class E>
inline constexpr special copy_assignment =
    special_member(copy_assignable_when_held<T, E>, trivially_copied<T, E>);
template <class T, class E>
inline constexpr special move_assignment =
    special_member(move_assignable_when_held<T, E>, trivially_moved<T, E>);

/// Payload and special members where a destructor has to run, and hence nothing is trivial: the
/// form that every `result` of the library has.
template <class T, class E, bool = trivially_destructible<T, E>> struct storage {
  payload<T, E> held;

  template <class... Args>
  constexpr explicit storage(built_t, Args&&... args) : held(static_cast<Args&&>(args)...) {}
  template <class Source>
  constexpr explicit storage(converted_t, Source&& source)
      : held(payload_from<T, E>(static_cast<Source&&>(source))) {}

  constexpr storage(const storage& other) noexcept(nothrow_copy_constructible<T, E>)
    requires copy_constructible<T, E>
      : held(payload_like<payload<T, E>>(other.held)) {}
  constexpr storage(storage&& other) noexcept(nothrow_move_constructible<T, E>)
    requires move_constructible<T, E>
      : held(payload_like<payload<T, E>>(detail::move(other.held))) {}
  constexpr storage& operator=(const storage& other) noexcept(nothrow_copyable<T, E>)
    requires copy_assignable_when_held<T, E>
  {
    fallback::assign(held, other.held);
    return *this;
  }
  constexpr storage& operator=(storage&& other) noexcept(nothrow_movable<T, E>)
    requires move_assignable_when_held<T, E>
  {
    fallback::assign(held, detail::move(other.held));
    return *this;
  }
};

struct copied_t {};  ///< From a storage of the same type.

/// Payload of what needs no destructor. The classes below it add the special members.
template <class T, class E> struct bare_storage {
  payload<T, E> held;

  template <class... Args>
  constexpr explicit bare_storage(built_t, Args&&... args) : held(static_cast<Args&&>(args)...) {}
  template <class Source>
  constexpr explicit bare_storage(converted_t, Source&& source)
      : held(payload_from<T, E>(static_cast<Source&&>(source))) {}
  template <class Other>
  constexpr explicit bare_storage(copied_t, Other&& other)
      : held(payload_like<payload<T, E>>(static_cast<Other&&>(other).held)) {}
};

// One class for each special member that may have to be written. Members of the union that cannot
// be copied or moved make the defaulted ones deleted. (Constraints on special members would be
// shorter; Clang 14 does not compute triviality from them.)

template <class T, class E, special = copy_construction<T, E>>
struct copy_constructed : bare_storage<T, E> {
  using bare_storage<T, E>::bare_storage;
};
template <class T, class E> struct copy_constructed<T, E, special::provided> : bare_storage<T, E> {
  using bare_storage<T, E>::bare_storage;
  constexpr copy_constructed(const copy_constructed& other) noexcept(
      nothrow_copy_constructible<T, E>)
      : bare_storage<T, E>(copied_t{}, other) {}
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
  constexpr move_constructed(move_constructed&& other) noexcept(nothrow_move_constructible<T, E>)
      : copy_constructed<T, E>(copied_t{}, detail::move(other)) {}
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
  constexpr copy_assigned& operator=(const copy_assigned& other) noexcept(nothrow_copyable<T, E>) {
    fallback::assign(this->held, other.held);
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
  constexpr move_assigned& operator=(move_assigned&& other) noexcept(nothrow_movable<T, E>) {
    fallback::assign(this->held, detail::move(other.held));
    return *this;
  }
};
template <class T, class E> struct move_assigned<T, E, special::absent> : copy_assigned<T, E> {
  using copy_assigned<T, E>::copy_assigned;
  constexpr move_assigned(const move_assigned&) = default;
  constexpr move_assigned(move_assigned&&) = default;
  constexpr move_assigned& operator=(const move_assigned&) = default;
};

template <class T, class E> struct storage<T, E, true> : move_assigned<T, E> {
  using move_assigned<T, E>::move_assigned;
};

}  // namespace gpu::inline v0::fallback::inline abi
