/// Compile-time checks of `gpu::expected`: constant evaluation, triviality, constraints,
/// sizes. Most of it passes by compiling.

#include "core/expected_kinds.hpp"
#include "support/catch.hpp"

#include <string>
#include <type_traits>
#include <utility>

namespace expected_static_test {

using namespace test;

namespace {

// Clang before 16 cannot select a special member by its constraints, so the stand-in has no trivial
// ones there.
#if defined(__clang__) && __clang_major__ < 16
constexpr bool trivial_special_members = false;
#else
constexpr bool trivial_special_members = true;
#endif

/// Copied as bytes, but not made from nothing.
struct plain {
  int value;
  constexpr plain(int v) noexcept : value(v) {}
  friend constexpr bool operator==(const plain&, const plain&) = default;
};

template <class Kind, class T, class E> constexpr bool changes_state() {
  using subject = expected_of<Kind, T, E>;
  subject s(std::in_place, 1);
  if (!(*s == T(1))) return false;
  s = failure<Kind>(E(2));
  if (s || !(s.error() == E(2))) return false;
  s = failure<Kind>(E(3));
  s = T(4);
  if (!(*s == T(4))) return false;
  s.emplace(5);
  subject other = failure<Kind>(E(6));
  s.swap(other);
  if (!(s.error() == E(6)) || !(*other == T(5))) return false;
  swap(s, other);
  s = std::move(other);
  if (!(s.error() == E(6))) return false;
  other = subject(std::in_place, 7);
  const subject last = std::move(other);
  return last.has_value() && !s.has_value();
}

template <class Kind> constexpr bool void_changes_state() {
  using subject = expected_of<Kind, void, move_only>;
  subject s;
  s = failure<Kind>(move_only(2));
  if (s || s.error().value != 2) return false;
  subject t = std::move(s);
  t.emplace();
  swap(s, t);
  s = std::move(t);
  s.emplace();
  *s;
  return s.has_value();
}

template <class Kind> constexpr bool chains() {
  using subject = expected_of<Kind, int, move_only>;
  return subject(3)
                 .transform([](int i) { return plain(i); })
                 .and_then([](plain p) { return subject(p.value + 1); })
                 .or_else([](move_only&&) { return subject(0); })
                 .transform_error([](move_only&& e) { return e.value; }) == 4 &&
         subject(failure<Kind>(move_only(5))).value_or(6) == 6 &&
         subject(failure<Kind>(move_only(5))).error_or(move_only(6)).value == 5;
}

template <class Kind> constexpr bool converts_without_surprise() {
  using of_bool = expected_of<Kind, bool, int>;
  const of_bool kept = expected_of<Kind, bool, short>(failure<Kind>(short{0}));
  return !kept.has_value() && !*of_bool(expected_of<Kind, bool, short>(false));
}

struct copy_deleted {
  copy_deleted(const copy_deleted&) = delete;
  copy_deleted& operator=(const copy_deleted&) = default;
};
struct assignment_deleted {
  assignment_deleted(const assignment_deleted&) = default;
  assignment_deleted& operator=(const assignment_deleted&) = delete;
};
struct explicitly_from_int {
  explicit explicitly_from_int(int);
};
using throwing = counted<throws::on_copy_and_move, 9>;

template <class X>
concept has_arrow = requires(X x) { x.operator->(); };
template <class X>
concept has_value_or = requires(X x) { x.value_or(1); };

template <class Kind> constexpr bool obeys_the_standard() {
  if constexpr (Kind::is_std || trivial_special_members) {
    static_assert(changes_state<Kind, int, long>());
    static_assert(changes_state<Kind, plain, plain>());
  }
  // Without std::construct_at the stand-in cannot do this in constant evaluation.
  if constexpr (Kind::is_std) {
    static_assert(changes_state<Kind, move_only, int>());
    static_assert(changes_state<Kind, plain, move_only>());
    static_assert(void_changes_state<Kind>());
  }
  static_assert(chains<Kind>());
  if constexpr (Kind::is_std || trivial_special_members) {
    static_assert(converts_without_surprise<Kind>());
  }

  using ints = expected_of<Kind, int, int>;
  using moves = expected_of<Kind, move_only, int>;
  static_assert(sizeof(ints) == 2 * sizeof(int));
  static_assert(sizeof(expected_of<Kind, void, int>) == 2 * sizeof(int));
  if constexpr (Kind::is_std || trivial_special_members) {
    static_assert(std::is_trivially_copy_constructible_v<ints>);
    static_assert(std::is_trivially_move_constructible_v<ints>);
    static_assert(std::is_trivially_destructible_v<ints>);
  }
  static_assert(!std::is_trivially_destructible_v<moves>);
  static_assert(std::is_nothrow_move_constructible_v<moves>);
  static_assert(std::is_nothrow_swappable_v<ints> &&
                !std::is_nothrow_swappable_v<expected_of<Kind, throwing, int>>);

  static_assert(!std::is_copy_constructible_v<moves> && !std::is_copy_assignable_v<moves>);
  static_assert(std::is_move_constructible_v<moves> && std::is_move_assignable_v<moves>);
  static_assert(!std::is_move_constructible_v<expected_of<Kind, pinned, int>>);
  static_assert(!std::is_move_assignable_v<expected_of<Kind, int, pinned>>);
  static_assert(!std::is_swappable_v<expected_of<Kind, pinned, int>>);
  static_assert(!std::is_copy_assignable_v<expected_of<Kind, copy_deleted, int>>);
  static_assert(!std::is_copy_assignable_v<expected_of<Kind, assignment_deleted, int>>);
  static_assert(!std::is_copy_assignable_v<expected_of<Kind, throwing, throwing>>);
  static_assert(std::is_copy_assignable_v<expected_of<Kind, throwing, int>>);
  static_assert(!std::is_default_constructible_v<moves>);
  static_assert(std::is_default_constructible_v<expected_of<Kind, void, move_only>>);

  using strict = expected_of<Kind, explicitly_from_int, int>;
  static_assert(std::is_constructible_v<strict, int> && !std::is_convertible_v<int, strict>);
  static_assert(std::is_constructible_v<strict, ints> && !std::is_convertible_v<ints, strict>);
  static_assert(std::is_convertible_v<ints, expected_of<Kind, long, long>>);
  static_assert(!std::is_constructible_v<ints, expected_of<Kind, std::string, int>>);
  static_assert(!std::is_constructible_v<ints, expected_of<Kind, void, int>>);
  static_assert(!std::is_constructible_v<expected_of<Kind, void, int>, ints>);
  static_assert(std::is_convertible_v<expected_of<Kind, void, int>, expected_of<Kind, void, long>>);
  static_assert(
      !std::is_constructible_v<expected_of<Kind, bool, int>, expected_of<Kind, std::string, int>>);
  static_assert(!std::is_constructible_v<ints, std::string>);
  static_assert(!std::is_assignable_v<ints&, std::string>);
  static_assert(!std::is_convertible_v<ints, bool>);
  static_assert(!std::is_constructible_v<int, ints>);

  static_assert(std::is_same_v<decltype(std::declval<ints&>().value()), int&>);
  static_assert(std::is_same_v<decltype(std::declval<const ints&>().value()), const int&>);
  static_assert(std::is_same_v<decltype(std::declval<ints>().value()), int&&>);
  static_assert(std::is_same_v<decltype(std::declval<const ints>().value()), const int&&>);
  static_assert(std::is_same_v<decltype(*std::declval<ints>()), int&&>);
  static_assert(std::is_same_v<decltype(std::declval<ints>().error()), int&&>);
  using nothing = expected_of<Kind, void, int>;
  static_assert(std::is_void_v<decltype(*std::declval<const nothing&>())>);
  static_assert(std::is_void_v<decltype(std::declval<nothing>().value())>);
  static_assert(std::is_void_v<decltype(std::declval<nothing&>().emplace())>);
  static_assert(std::is_nothrow_default_constructible_v<nothing>);
  static_assert(!has_arrow<nothing> && has_arrow<ints>);
  static_assert(!has_value_or<nothing> && has_value_or<ints>);
  static_assert(std::is_same_v<typename ints::template rebind<void>, expected_of<Kind, void, int>>);
  static_assert(
      std::is_same_v<typename ints::unexpected_type, typename Kind::template unexpected<int>>);
  return true;
}

static_assert(obeys_the_standard<stand_in>());
static_assert(obeys_the_standard<chosen>());

// The stand-in goes further than C++23 here: assignment is trivial too, so that results of plain
// types are passed in registers and copied as bytes.
#if !defined(__clang__) || __clang_major__ >= 16
static_assert(std::is_trivially_copyable_v<stand_in::expected<int, int>>);
static_assert(std::is_trivially_copyable_v<stand_in::expected<void, int>>);
static_assert(std::is_trivially_copyable_v<stand_in::expected<plain, plain>>);
#endif
static_assert(!std::is_trivially_copyable_v<stand_in::expected<move_only, int>>);

}  // namespace

TEMPLATE_TEST_CASE("expected changes its state for types of every kind", "[expected]", stand_in,
                   chosen) {
  CHECK(changes_state<TestType, int, long>());
  CHECK(changes_state<TestType, plain, plain>());
  CHECK(changes_state<TestType, move_only, int>());
  CHECK(changes_state<TestType, plain, move_only>());
  CHECK(void_changes_state<TestType>());
  CHECK(chains<TestType>());
  CHECK(converts_without_surprise<TestType>());
}

}  // namespace expected_static_test
