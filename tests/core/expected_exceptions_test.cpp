/// `gpu::expected` if something throws, or must not: the strong guarantee, and
/// `value()` of an error, with exceptions and without.

#include "core/expected_kinds.hpp"
#include "support/catch.hpp"

#include <exception>
#include <string>
#include <utility>

#if !defined(__cpp_exceptions)
#  include <signal.h>
#  include <sys/wait.h>
#  include <unistd.h>
#endif

namespace expected_exceptions_test {

using namespace test;

#if defined(__cpp_exceptions)

namespace {

/// Arms `Type` for one operation and tells whether it threw.
template <class Type, class Operation> bool throws_from(Operation operation) {
  Type::armed = true;
  bool thrown = false;
  try {
    operation();
  } catch (const told_to&) {
    thrown = true;
  }
  Type::armed = false;
  return thrown;
}

}  // namespace

TEMPLATE_TEST_CASE("a throwing assignment leaves an expected as it was", "[expected]", stand_in,
                   chosen) {
  using copies = counted<throws::on_copy, 3>;
  using moves = counted<throws::on_copy_and_move, 4>;
  SECTION("from error to value, through a temporary that is moved") {
    expected_of<TestType, copies, error_type> subject = failure<TestType>(error_type(1));
    const copies value(2);
    CHECK(throws_from<copies>([&] { subject = value; }));
    REQUIRE_FALSE(subject);
    CHECK(subject.error().value == 1);
    const expected_of<TestType, copies, error_type> source(std::in_place, 3);
    CHECK(throws_from<copies>([&] { subject = source; }));
    CHECK(subject.error().value == 1);
    subject = value;
    CHECK(subject->value == 2);
  }
  SECTION("from error to value, with the error kept aside") {
    expected_of<TestType, moves, error_type> subject = failure<TestType>(error_type(1));
    moves value(2);
    CHECK(throws_from<moves>([&] { subject = std::move(value); }));
    REQUIRE_FALSE(subject);
    CHECK(subject.error().value == 1);
    expected_of<TestType, moves, error_type> source(std::in_place, 3);
    CHECK(throws_from<moves>([&] { subject = std::move(source); }));
    CHECK(subject.error().value == 1);
    CHECK(source->value == 3);
    subject = std::move(source);
    CHECK(subject->value == 3);
  }
  SECTION("from value to error, through a temporary that is moved") {
    expected_of<TestType, value_type, copies> subject(1);
    const auto error = failure<TestType>(copies(2));
    CHECK(throws_from<copies>([&] { subject = error; }));
    REQUIRE(subject);
    CHECK(subject->value == 1);
    const expected_of<TestType, value_type, copies> source = error;
    CHECK(throws_from<copies>([&] { subject = source; }));
    CHECK(subject->value == 1);
    subject = error;
    CHECK(subject.error().value == 2);
  }
  SECTION("from value to error, with the value kept aside") {
    expected_of<TestType, value_type, moves> subject(1);
    auto error = failure<TestType>(moves(2));
    CHECK(throws_from<moves>([&] { subject = std::move(error); }));
    REQUIRE(subject);
    CHECK(subject->value == 1);
    subject = std::move(error);
    CHECK(subject.error().value == 2);
  }
  SECTION("swap, whichever of the two may throw") {
    expected_of<TestType, moves, error_type> a(std::in_place, 1);
    expected_of<TestType, moves, error_type> b = failure<TestType>(error_type(2));
    CHECK(throws_from<moves>([&] { swap(a, b); }));
    CHECK(throws_from<moves>([&] { swap(b, a); }));
    CHECK(a->value == 1);
    CHECK(b.error().value == 2);
    expected_of<TestType, value_type, moves> c(1);
    expected_of<TestType, value_type, moves> d = failure<TestType>(moves(2));
    CHECK(throws_from<moves>([&] { swap(c, d); }));
    CHECK(throws_from<moves>([&] { swap(d, c); }));
    CHECK(c->value == 1);
    CHECK(d.error().value == 2);
    swap(c, d);
    CHECK(c.error().value == 2);
    CHECK(d->value == 1);
  }
  SECTION("an expected void") {
    expected_of<TestType, void, moves> subject;
    auto error = failure<TestType>(moves(2));
    CHECK(throws_from<moves>([&] { subject = error; }));
    CHECK(subject.has_value());
    expected_of<TestType, void, moves> other = error;
    CHECK(throws_from<moves>([&] { swap(subject, other); }));
    CHECK(subject.has_value());
    CHECK(other.error().value == 2);
  }
  SECTION("a constructor") {
    CHECK(throws_from<copies>([&] { expected_of<TestType, copies, int> e(std::in_place, 1); }));
    const expected_of<TestType, copies, int> source(std::in_place, 1);
    CHECK(throws_from<copies>([&] { auto copy = source; }));
  }
  CHECK(value_type::alive == 0);
  CHECK(error_type::alive == 0);
  CHECK(copies::alive == 0);
  CHECK(moves::alive == 0);
}

TEMPLATE_TEST_CASE("value() of an error throws the error", "[expected]", stand_in, chosen) {
  using bad_access = typename TestType::template bad_access<std::string>;
  using subject = expected_of<TestType, int, std::string>;
  const subject error = failure<TestType>(std::string("a reason that is too long for the stack"));
  CHECK_THROWS_AS(error.value(), bad_access);
  CHECK_THROWS_AS(error.value(), typename TestType::template bad_access<void>);
  CHECK_THROWS_AS(subject(error).value(), std::exception);
  const auto caught = [](auto&& e) -> std::string {
    try {
      (void)std::forward<decltype(e)>(e).value();
    } catch (bad_access& access) {
      CHECK(access.what() != nullptr);
      return std::move(access).error();
    }
    return "nothing";
  };
  CHECK(caught(error) == error.error());
  subject moved = error;
  CHECK(caught(std::move(moved)) == error.error());
  CHECK(moved.error().empty());
  CHECK(caught(expected_of<TestType, void, std::string>(failure<TestType>(std::string("no")))) ==
        "no");
  CHECK(caught(expected_of<TestType, void, std::string>()) == "nothing");
  const expected_of<TestType, void, std::string> kept =
      failure<TestType>(std::string("the same reason"));
  CHECK(caught(kept) == "the same reason");
  CHECK(caught(std::move(error)) == error.error());
  CHECK(subject(3).value() == 3);
}

#else

TEMPLATE_TEST_CASE("without exceptions, value() of an error says so and ends the program",
                   "[expected]", stand_in) {
  struct reason {
    std::string message() const { return "the reason"; }
  };
  const auto said_by = [](auto&& e) -> std::string {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGILL, SIG_DFL);
      ::signal(SIGTRAP, SIG_DFL);
      ::dup2(ends[1], 2);
      (void)e.value();
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string said;
    char buffer[512];
    for (ssize_t size; (size = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      said.append(buffer, static_cast<std::size_t>(size));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    return said;
  };
  const expected_of<TestType, int, reason> with_message = failure<TestType>(reason{});
  CHECK(said_by(with_message).find("the reason") != std::string::npos);
  const expected_of<TestType, void, int> without = failure<TestType>(3);
  CHECK(said_by(without).find("gpu::expected::value()") != std::string::npos);
  CHECK(expected_of<TestType, int, int>(3).value() == 3);
}

#endif

}  // namespace expected_exceptions_test
