// The table of a kernel's parameters and of those that are stated, which differ.

#include <gpu/kernel.hpp>

#include "kernel/recorded_launch.hpp"
#include "support/catch.hpp"

#include <string>

namespace signature_test {
namespace {

TEST_CASE("the parameters of a kernel are listed with their sizes in one column",
          "[kernel][module]") {
  const test::recording_driver driver({1, 9, 10, 99, 100, 999, 1000, 4, 4, 4, 4},
                                      {0, 1, 10, 20, 119, 219, 1218, 2220, 2224, 2228, 2232});
  const gpu::module module = gpu::module::load(".version 8.0").value();
  const auto refused = module.kernel<signed char>("recorded");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == gpu::errc::argument_mismatch);
  CHECK(std::string(refused.error().details().c_str()) ==
        "kernel recorded has 11 parameters, and 1 are stated:\n"
        "   #  kernel                     stated\n"
        "   1     1 byte at offset 0      signed char     1 byte at offset 0\n"
        "   2     9 bytes at offset 1     nothing   <-- the first difference\n"
        "   3    10 bytes at offset 10    nothing\n"
        "   4    99 bytes at offset 20    nothing\n"
        "   5   100 bytes at offset 119   nothing\n"
        "   6   999 bytes at offset 219   nothing\n"
        "   7  1000 bytes at offset 1218  nothing\n"
        "   8     4 bytes at offset 2220  nothing\n"
        "   9     4 bytes at offset 2224  nothing\n"
        "  10     4 bytes at offset 2228  nothing\n"
        "  11     4 bytes at offset 2232  nothing\n"
        "State the parameter types of the __global__ function, in order.\n");
}

}  // namespace
}  // namespace signature_test
