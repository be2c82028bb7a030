// The headers of random numbers for device code, which are offered by including them on the host.

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/compiler/nvrtc/given_headers.hpp>
#include <gpu/random/detail/device_headers.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <ios>
#include <string>

namespace random_device_headers_test { namespace {

const bool offered_before_main = !gpu::detail::offered_headers::find("gpu/random.hpp").empty();

TEST_CASE("the headers of random numbers are offered before main", "[random][headers]") {
  CHECK(offered_before_main);
  const std::string all(gpu::detail::offered_headers::find("gpu/random.hpp").c_str());
  for (const char* each : {"distributions", "mrg32k3a", "philox", "poisson", "sobol", "xorwow"}) {
    CAPTURE(each);
    const std::string name = "gpu/device/" + std::string(each) + ".cuh";
    CHECK(all.find("#include <" + name + ">\n") != std::string::npos);
    CHECK_FALSE(gpu::detail::offered_headers::find(name.c_str()).empty());
  }
  CHECK(gpu::detail::offered_headers::find("gpu/device/none.cuh").empty());
}

TEST_CASE("the cache's key changes with the headers of random numbers", "[random][headers]") {
  std::uint64_t hash = gpu::detail::start_of_hash;
  for (const gpu::detail::device_code_header& each : gpu::detail::random_headers) {
    hash = gpu::detail::hash_text(hash, each.source);
  }
  INFO("hash_of_random_headers in gpu/compiler/nvrtc/given_headers.hpp has to be 0x" << std::hex
                                                                                     << hash);
  CHECK(hash == gpu::detail::hash_of_random_headers);
}

}}  // namespace random_device_headers_test
