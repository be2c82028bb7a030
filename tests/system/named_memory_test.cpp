// Memory that is found by its name.

#include <gpu/system/named_memory.hpp>

#include "support/catch.hpp"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace named_memory_test {

TEST_CASE("memory is found by its name, wherever it is", "[driver][system]") {
  // Pages that follow each other, so that their addresses have every digit.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::size_t pages = 16;
  void* const all = ::mmap(nullptr, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(all != MAP_FAILED);
  CHECK(gpu::detail::find_mapping("/memfd:named_memory_test-") == nullptr);
  for (std::size_t i = 0; i < pages; ++i) {
    const std::string name = "named_memory_test-" + std::to_string(i);
    const int file = ::memfd_create(name.c_str(), MFD_CLOEXEC);
    REQUIRE(file >= 0);
    REQUIRE(::ftruncate(file, static_cast<off_t>(page)) == 0);
    void* const there = static_cast<char*>(all) + i * page;
    REQUIRE(::mmap(there, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == there);
    ::close(file);
    INFO(name);
    CHECK(gpu::detail::find_mapping(("/memfd:" + name + ' ').c_str()) == there);
  }
  CHECK(::munmap(all, pages * page) == 0);
}

}  // namespace named_memory_test
