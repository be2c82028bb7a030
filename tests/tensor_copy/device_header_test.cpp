// The header for device code, as programs that are compiled at run time get it.

#include "support/catch.hpp"

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/compiler/nvrtc/given_headers.hpp>
#include <gpu/tensor_copy/tensor_map.hpp>

#include <cstdint>
#include <ios>

namespace tensor_copy_device_header_test { namespace {

TEST_CASE("the cache's key changes with the header of tensor copies", "[tensor][headers]") {
  std::uint64_t hash = gpu::detail::start_of_hash;
  for (const gpu::detail::device_code_header& each : gpu::detail::tensor_copy_headers) {
    hash = gpu::detail::hash_text(hash, each.source);
  }
  INFO("hash_of_tensor_copy_headers in gpu/compiler/nvrtc/given_headers.hpp has to be 0x"
       << std::hex << hash);
  CHECK(hash == gpu::detail::hash_of_tensor_copy_headers);
}

}}  // namespace tensor_copy_device_header_test
