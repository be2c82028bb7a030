// The exit status of a result, and the message on stderr.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver.hpp>

#include "support/catch.hpp"
#include "support/subprocess.hpp"

#include <cstdlib>
#include <string>

namespace exit_status_test {
namespace {

gpu::result<int> failed() {
  return gpu::detail::fail(gpu::detail::refusal(gpu::errc::invalid_argument, "half",
                                                gpu::text("3 is odd; pass an even number."),
                                                gpu::source_location::current()));
}

}  // namespace

TEST_CASE("exit_status: child that fails", "[.child]") { std::_Exit(gpu::exit_status(failed())); }
TEST_CASE("exit_status: child that succeeds", "[.child]") {
  std::_Exit(gpu::exit_status(gpu::result<>()));
}

TEST_CASE("a failed result is exit status 1, with its message on stderr", "[core]") {
  const auto outcome = test::run_child("exit_status: child that fails");
  INFO(outcome.output);
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.output.find(std::string(failed().error().details().c_str())) != std::string::npos);
  CHECK(outcome.output.find("half: invalid_argument (8): 3 is odd") != std::string::npos);
  CHECK(test::run_child("exit_status: child that succeeds").exit_code == 0);
}

}  // namespace exit_status_test
