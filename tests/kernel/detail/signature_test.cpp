// The table of a kernel's parameters and of those that are stated, which differ.

#include <gpu/core/error_code.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>

#include "kernel/recorded_launch.hpp"
#include "support/catch.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace signature_test { namespace {

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

struct alignas(128) wide {
  unsigned words[32];
};

// A device has them at other offsets than a C++ structure would: see parameter_places.
TEST_CASE("parameters that are aligned to more than 16 bytes fit", "[kernel][module]") {
  const auto module = test::value_of(gpu::module::load(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry show(.param .u32 x, .param .align 128 .b8 m[128], .param .u64 p, .param .u32 y) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r1, [x]; ld.param.u32 %r2, [m+4]; ld.param.u32 %r3, [y];
  st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u32 [%rd2+8], %r3; ret; })"));
  const auto kernel = test::value_of(module.kernel<unsigned, wide, unsigned*, unsigned>("show"));
  const gpu::device device = test::first_device();
  auto stream = test::value_of(gpu::stream::create(device));
  auto shown = test::value_of(gpu::device_buffer<unsigned>::create(stream, 3));
  wide words{};
  words.words[1] = 1001;
  test::value_of(gpu::launch(stream, {.grid = 1, .block = 1}, kernel, 77u, words, shown, 99u));
  test::value_of(stream.synchronize());
  std::vector<unsigned> found(3);
  test::value_of(gpu::copy(shown, found));
  CHECK(found == std::vector<unsigned>{77, 1001, 99});

  const auto refused = module.kernel<unsigned, wide, unsigned*, short>("show");
  REQUIRE_FALSE(refused.has_value());
  const std::string details = refused.error().details().c_str();
  CHECK(details.find("   4     4 bytes") != std::string::npos);
  CHECK(details.find("<-- the first difference") > details.find("   4     4 bytes"));
}

TEST_CASE("a parameter that is aligned to more than 16 bytes is within its alignment",
          "[kernel][module]") {
  const auto is_found = [](std::size_t place, std::size_t next) {
    const test::recording_driver driver({4, 128, 4}, {0, place, next});
    const gpu::module module = gpu::module::load(".version 8.0").value();
    return module.kernel<int, wide, int>("recorded").has_value();
  };
  CHECK(is_found(128, 256));
  CHECK(is_found(112, 240));
  CHECK(is_found(4, 132));
  CHECK_FALSE(is_found(112, 256));
  CHECK_FALSE(is_found(132, 260));
  CHECK_FALSE(is_found(3, 131));
}

}}  // namespace signature_test
