#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "support/catch.hpp"

#include <string>

namespace library_facts_test {

TEST_CASE("a library is identified by its build, or else by its file", "[compiler][library]") {
  const int local = 0;
  CHECK(gpu::detail::library_identity("imagined", 1, 2, &local) == "imagined 1.2, build unknown");
  const gpu::text identity = gpu::detail::library_identity(
      "NVRTC", 13, 0, reinterpret_cast<const void*>(gpu::nvrtc::current_entry_points().version));
  const std::string build(identity.c_str() + sizeof "NVRTC 13.0, build " - 1);
  // NVRTC 12.0 has no build identifier in it: then it is the file, with its size and time.
  const bool hexadecimal = build.find_first_not_of("0123456789abcdef") == std::string::npos;
  CHECK((hexadecimal ? build.size() == 16 : build[0] == '/'));
}

}  // namespace library_facts_test
