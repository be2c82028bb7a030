// The tool that knows lines is the system's, whatever PATH says.

#include "driver_fixture.hpp"

#include "support/subprocess.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace cpu_addr2line_test {

TEST_CASE("child: lists what is left over with its places", "[.child]") {
  const test::driver_fixture f(test::with_places());
  CUdeviceptr memory = 0;
  REQUIRE(f.cu.mem_alloc(&memory, 16) == CUDA_SUCCESS);
  CHECK(f.live().size() == 1);
  CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
}

TEST_CASE("a tool of the name addr2line in a folder of PATH is not run", "[cpu][places]") {
  char folder[] = "/tmp/gpu_addr2line_XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string tool = std::string(folder) + "/addr2line", mark = std::string(folder) + "/ran";
  {
    std::ofstream file(tool);
    file << "#!/bin/sh\n: > " << mark << "\n";
  }
  REQUIRE(::chmod(tool.c_str(), 0755) == 0);
  const auto child = test::run_child("child: lists what is left over with its places",
                                     {{"PATH", std::string(folder) + ":" + std::getenv("PATH")}});
  INFO(child.output);
  CHECK(child.succeeded());
  CHECK(::access(mark.c_str(), F_OK) != 0);
  std::remove(mark.c_str());
  std::remove(tool.c_str());
  ::rmdir(folder);
}

}  // namespace cpu_addr2line_test
