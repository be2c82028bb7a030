/// The behavior of `gpu::expected` at run time, the same for the standard library's and for the
/// stand-in: states, lifetimes, exceptions.

#include "core/expected_kinds.hpp"
#include "support/catch.hpp"

#include <gpu/core/detail/expected/expected.hpp>
#include <gpu/core/detail/expected/unexpected.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace expected_test {

using namespace test;

// Not inline and used nowhere else, so that their names stand in this unit.
gpu::fallback::expected<int, int> returns_value();
gpu::fallback::expected<int, int> returns_value() { return 1; }
gpu::fallback::unexpected<int> returns_error();
gpu::fallback::unexpected<int> returns_error() { return gpu::fallback::unexpected(1); }

extern "C" {
[[gnu::weak]] void tagged_value() asm("_ZN13expected_test13returns_valueB12gpu_fallbackEv");
[[gnu::weak]] void tagged_error() asm("_ZN13expected_test13returns_errorB12gpu_fallbackEv");
}

TEMPLATE_TEST_CASE("expected is built as a value or an error", "[expected]", stand_in, chosen) {
  using text_or_int = expected_of<TestType, std::string, int>;
  const text_or_int none;
  CHECK(none.has_value());
  CHECK(none->empty());

  const text_or_int value = "abc";
  REQUIRE(value);
  CHECK(*value == "abc");
  CHECK(value->size() == 3);

  const text_or_int error = failure<TestType>(7);
  REQUIRE_FALSE(error);
  CHECK(error.error() == 7);

  CHECK(*text_or_int(std::in_place, 3u, 'x') == "xxx");
  CHECK(*text_or_int(std::in_place, {'a', 'b'}) == "ab");
  using unexpect_t = typename TestType::unexpect_t;
  using int_or_list = expected_of<TestType, int, std::vector<int>>;
  CHECK(int_or_list(unexpect_t{}, 2u, 9).error() == std::vector<int>{9, 9});
  CHECK(int_or_list(unexpect_t{}, {1, 2, 3}).error() == std::vector<int>{1, 2, 3});
  CHECK(expected_of<TestType, void, std::string>(unexpect_t{}, "no").error() == "no");
  CHECK(expected_of<TestType, void, int>(std::in_place).has_value());
}

TEMPLATE_TEST_CASE("expected converts from an expected of other types", "[expected]", stand_in,
                   chosen) {
  using from = expected_of<TestType, const char*, short>;
  using to = expected_of<TestType, std::string, long>;
  const from value = "abc";
  const from error = failure<TestType>(short{3});
  CHECK(*to(value) == "abc");
  CHECK(*to(from("abc")) == "abc");
  CHECK(to(error).error() == 3);
  CHECK(to(from(error)).error() == 3);

  using owner = std::unique_ptr<int>;
  expected_of<TestType, void, owner> source = failure<TestType>(std::make_unique<int>(5));
  expected_of<TestType, void, std::shared_ptr<int>> target = std::move(source);
  REQUIRE_FALSE(target);
  CHECK(*target.error() == 5);
  CHECK(source.error() == nullptr);

  // Nothing of one kind is nothing of another, too.
  CHECK(expected_of<TestType, void, std::string>(expected_of<TestType, void, const char*>()));
}

TEMPLATE_TEST_CASE("an expected bool keeps its state when it is converted", "[expected]", stand_in,
                   chosen) {
  using narrow = expected_of<TestType, bool, short>;
  using wide = expected_of<TestType, bool, int>;
  CHECK(*wide(narrow(false)) == false);
  CHECK(wide(narrow(failure<TestType>(short{3}))).error() == 3);
  const wide from_int = expected_of<TestType, int, int>(0);
  REQUIRE(from_int);
  CHECK_FALSE(*from_int);
}

TEMPLATE_TEST_CASE("expected copies, moves and assigns in every pair of states", "[expected]",
                   stand_in, chosen) {
  using subject = expected_of<TestType, value_type, error_type>;
  const auto make = [](bool has_value, int number) {
    return has_value ? subject(std::in_place, number)
                     : subject(typename TestType::unexpect_t{}, number);
  };
  const auto holds = [](const subject& s, bool has_value, int number) {
    if (s.has_value() != has_value) return false;
    return (has_value ? s->value : s.error().value) == number;
  };
  for (const bool source_has : {true, false}) {
    {
      subject source = make(source_has, 1);
      subject copy = source;
      CHECK(holds(copy, source_has, 1));
      CHECK(holds(source, source_has, 1));
      subject moved = std::move(source);
      CHECK(holds(moved, source_has, 1));
      CHECK(holds(source, source_has, -1));  // moved from, still in the same state
      CHECK(value_type::alive + error_type::alive == 3);
    }
    for (const bool target_has : {true, false}) {
      subject source = make(source_has, 1);
      subject target = make(target_has, 2);
      target = source;
      CHECK(holds(target, source_has, 1));
      CHECK(value_type::alive == (source_has ? 2 : 0));
      CHECK(error_type::alive == (source_has ? 0 : 2));
      target = make(target_has, 3);
      CHECK(holds(target, target_has, 3));
      swap(source, target);
      CHECK(holds(source, target_has, 3));
      CHECK(holds(target, source_has, 1));
      target.swap(source);
      CHECK(holds(source, source_has, 1));
      subject& itself = target;
      target = itself;
      CHECK(holds(target, target_has, 3));
      target = value_type(4);
      CHECK(holds(target, true, 4));
      target = failure<TestType>(error_type(5));
      CHECK(holds(target, false, 5));
      CHECK(target.emplace(6).value == 6);
      CHECK(holds(target, true, 6));
      CHECK(target.emplace(7).value == 7);
      CHECK(value_type::alive + error_type::alive == 2);
    }
    CHECK(value_type::alive == 0);
    CHECK(error_type::alive == 0);
  }
}

TEMPLATE_TEST_CASE("an expected void changes state without leaks", "[expected]", stand_in, chosen) {
  using subject = expected_of<TestType, void, error_type>;
  {
    subject a;
    subject b = failure<TestType>(error_type(1));
    CHECK(error_type::alive == 1);
    a = b;
    CHECK(a.error().value == 1);
    b = subject();
    CHECK(b);
    swap(a, b);
    CHECK(a);
    CHECK(b.error().value == 1);
    swap(a, b);
    b = std::move(a);
    CHECK(b.error().value == 1);
    b.emplace();
    CHECK(b);
    *b;
    b.emplace();
    b = failure<TestType>(error_type(2));
    {
      const auto failed = failure<TestType>(error_type(3));
      b = failed;
      CHECK(failed.error().value == 3);
    }
    CHECK(b.error().value == 3);
    a = b;
    CHECK(a == b);
    subject c = std::move(b);
    swap(c, a);
    CHECK(error_type::alive == 3);
  }
  CHECK(error_type::alive == 0);
}

TEMPLATE_TEST_CASE("expected holds what can only be moved, or not even that", "[expected]",
                   stand_in, chosen) {
  using subject = expected_of<TestType, std::unique_ptr<int>, std::unique_ptr<std::string>>;
  subject a = std::make_unique<int>(3);
  subject b = std::move(a);
  CHECK(**b == 3);
  a = failure<TestType>(std::make_unique<std::string>("no"));
  swap(a, b);
  CHECK(*b.error() == "no");
  CHECK(*std::move(a).value_or(nullptr) == 3);
  CHECK(*std::move(b).error_or(nullptr) == "no");

  expected_of<TestType, pinned, int> fixed(std::in_place, 4);
  CHECK(fixed->value == 4);
  CHECK(expected_of<TestType, int, int>(3)
            .transform([](int i) { return pinned(i); })  // built in place, never moved
            ->value == 3);
  CHECK(expected_of<TestType, int, int>(failure<TestType>(4))
            .transform_error([](int i) { return pinned(i); })
            .error()
            .value == 4);
}

TEMPLATE_TEST_CASE("expected swaps what std::swap swaps", "[expected]", stand_in, chosen) {
  struct assigns_void {
    int value;
    assigns_void(int from) : value(from) {}
    assigns_void(const assigns_void&) = default;
    void operator=(const assigns_void& other) { value = other.value; }
  };
  expected_of<TestType, assigns_void, assigns_void> a(1), b(2);
  swap(a, b);
  CHECK((a->value == 2 && b->value == 1));
  a = failure<TestType>(assigns_void(3)), b = failure<TestType>(assigns_void(4));
  swap(a, b);
  CHECK((a.error().value == 4 && b.error().value == 3));
}

TEMPLATE_TEST_CASE("expected hands out what it holds with its own value category", "[expected]",
                   stand_in, chosen) {
  using subject = expected_of<TestType, std::string, std::string>;
  subject s = "a long enough string to be on the heap";
  s.value() += '!';
  *s += '!';
  const std::string taken = std::move(s).value();
  CHECK(taken == "a long enough string to be on the heap!!");
  CHECK(s->empty());

  subject e = failure<TestType>(std::string("the error, also on the heap by its length"));
  CHECK(e.value_or("other") == "other");
  CHECK(std::as_const(e).error_or("none") == "the error, also on the heap by its length");
  CHECK(std::move(e).error_or("none") == "the error, also on the heap by its length");
  CHECK(e.error().empty());
  CHECK(subject("v").value_or("other") == "v");
  CHECK(subject("v").error_or("none") == "none");
  const subject kept = "v";
  CHECK(kept.error_or("none") == "none");
  CHECK(std::move(kept).value() == "v");
  static_assert(std::is_same_v<decltype(std::move(kept).value()), const std::string&&>);

  using nothing = expected_of<TestType, void, std::string>;
  const nothing done;
  done.value();
  CHECK(done.error_or("none") == "none");
  CHECK(nothing().error_or("none") == "none");
  nothing failed = failure<TestType>(std::string("the error, also on the heap by its length"));
  CHECK(std::as_const(failed).error_or("none") == "the error, also on the heap by its length");
  CHECK(std::move(failed).error_or("none") == "the error, also on the heap by its length");
  CHECK(failed.error().empty());
}

TEMPLATE_TEST_CASE("expected compares state first, then content", "[expected]", stand_in, chosen) {
  using ints = expected_of<TestType, int, int>;
  using longs = expected_of<TestType, long, long>;
  CHECK(ints(3) == longs(3));
  CHECK(ints(3) != longs(4));
  CHECK(ints(3) != longs(failure<TestType>(3L)));
  CHECK(ints(failure<TestType>(3)) == longs(failure<TestType>(3L)));
  CHECK(ints(3) == 3L);
  CHECK(4 != ints(3));
  CHECK(ints(3) != failure<TestType>(3));
  CHECK(failure<TestType>(3) == ints(failure<TestType>(3)));
  CHECK(failure<TestType>(3) != failure<TestType>(4));
  using nothing_or_int = expected_of<TestType, void, int>;
  CHECK(nothing_or_int() == nothing_or_int());
  CHECK(nothing_or_int() != nothing_or_int(failure<TestType>(0)));
  CHECK(nothing_or_int(failure<TestType>(3)) != nothing_or_int(failure<TestType>(4)));
  CHECK(nothing_or_int(failure<TestType>(3)) == failure<TestType>(3L));
}

TEMPLATE_TEST_CASE("the operations of expected chain", "[expected]", stand_in, chosen) {
  using subject = expected_of<TestType, int, std::string>;
  using nothing = expected_of<TestType, void, std::string>;
  const auto half = [](int i) {
    return i % 2 == 0 ? subject(i / 2) : subject(failure<TestType>(std::string("odd")));
  };
  CHECK(subject(12).and_then(half).and_then(half) == 3);
  CHECK(subject(6).and_then(half).and_then(half).error() == "odd");
  CHECK(subject(6).transform([](int i) { return i * 0.5; }) == 3.0);
  CHECK(subject(6).transform([](int) {}).has_value());
  CHECK(subject(5).and_then(half).transform([](int) { return 1; }).error() == "odd");
  CHECK(subject(5).and_then(half).or_else([](const std::string& e) {
    return expected_of<TestType, int, std::size_t>(failure<TestType>(e.size()));
  }) == failure<TestType>(std::size_t{3}));
  CHECK(subject(4).or_else([](const std::string&) { return subject(0); }) == 4);
  CHECK(subject(5).and_then(half).transform_error(&std::string::size).error() == 3);
  CHECK(subject(4).transform_error(&std::string::size) == 4);

  CHECK(nothing().and_then([] { return subject(3); }) == 3);
  CHECK(nothing().transform([] { return 4; }) == 4);
  CHECK(nothing().transform([] {}).has_value());
  const nothing error = failure<TestType>(std::string("no"));
  CHECK(error.and_then([] { return subject(3); }).error() == "no");
  CHECK(error.transform([] { return 3; }).error() == "no");
  CHECK(error.transform_error(&std::string::size).error() == 2);
  CHECK(error.or_else([](const std::string&) { return nothing(); }).has_value());
  CHECK(nothing().or_else([&](const std::string&) { return error; }).has_value());
  CHECK(nothing().transform_error(&std::string::size).has_value());
}

TEMPLATE_TEST_CASE("the operations of expected call whatever std::invoke calls", "[expected]",
                   stand_in, chosen) {
  using inner = expected_of<TestType, int, int>;
  struct point {
    inner x;
    int twice() const { return 2 * *x; }
  };
  point here{4};
  using value = expected_of<TestType, point, int>;
  using pointer = expected_of<TestType, point*, int>;
  using reference = expected_of<TestType, std::reference_wrapper<point>, int>;
  CHECK(value(here).transform(&point::twice) == 8);
  CHECK(pointer(&here).transform(&point::twice) == 8);
  CHECK(reference(here).transform(&point::twice) == 8);
  CHECK(value(here).and_then(&point::x) == 4);
  CHECK(pointer(&here).and_then(&point::x) == 4);
  CHECK(reference(here).and_then(&point::x) == 4);
  const std::function<int(int)> next = [](int i) { return i + 1; };
  CHECK(expected_of<TestType, int, int>(1).transform(next) == 2);
}

TEMPLATE_TEST_CASE("the operations of expected pass on its value category", "[expected]", stand_in,
                   chosen) {
  struct category {
    int operator()(int&) { return 1; }
    int operator()(const int&) { return 2; }
    int operator()(int&&) { return 3; }
    int operator()(const int&&) { return 4; }
  };
  using subject = expected_of<TestType, int, int>;
  subject value = 0;
  const subject fixed = 0;
  CHECK(*value.transform(category{}) == 1);
  CHECK(*fixed.transform(category{}) == 2);
  CHECK(*std::move(value).transform(category{}) == 3);
  CHECK(*std::move(fixed).transform(category{}) == 4);
  subject error = failure<TestType>(0);
  const subject fixed_error = error;
  CHECK(error.transform_error(category{}).error() == 1);
  CHECK(fixed_error.transform_error(category{}).error() == 2);
  CHECK(std::move(error).transform_error(category{}).error() == 3);
  CHECK(std::move(fixed_error).transform_error(category{}).error() == 4);
  const auto wrap = [](auto&& x) { return subject(category{}(std::forward<decltype(x)>(x))); };
  CHECK(*value.and_then(wrap) == 1);
  CHECK(*fixed.and_then(wrap) == 2);
  CHECK(*std::move(value).and_then(wrap) == 3);
  CHECK(*std::move(fixed).and_then(wrap) == 4);
  CHECK(*error.or_else(wrap) == 1);
  CHECK(*fixed_error.or_else(wrap) == 2);
  CHECK(*std::move(error).or_else(wrap) == 3);
  CHECK(*std::move(fixed_error).or_else(wrap) == 4);
}

TEST_CASE("a function that returns the stand-in has it in its name", "[expected]") {
  // Hence units that use std::expected and units that use the stand-in can be linked.
  CHECK(reinterpret_cast<void*>(tagged_value) == reinterpret_cast<void*>(returns_value));
  CHECK(reinterpret_cast<void*>(tagged_error) == reinterpret_cast<void*>(returns_error));
}

}  // namespace expected_test
