#include <nogpu/machine/address_space.hpp>

#include <thread>

#include <nogpu/machine/device_heap.hpp>
#include "support/catch.hpp"

namespace address_space_test {

using namespace nogpu::machine;

TEST_CASE("allocations are aligned, apart, and out of the host's reach", "[address_space]") {
  address_space space;
  address last_end = 0;
  for (const std::uint64_t size : {1u, 4096u, 7u, 1u << 20}) {
    const auto a = space.allocate({.size = size, .alignment = 1024});
    REQUIRE(a);
    CHECK(*a % 1024 == 0);
    CHECK(*a >= std::uint64_t{1} << 47);
    CHECK(*a >= last_end + address_space::red_zone);
    last_end = *a + size;
  }
  CHECK(!space.allocate({.size = 1, .alignment = 3}));
}

TEST_CASE("the capacity is a limit that frees give back", "[address_space]") {
  address_space space(1000);
  const auto a = space.allocate({.size = 600});
  REQUIRE(a);
  CHECK(space.used() == 600);
  CHECK(!space.allocate({.size = 401}));
  CHECK(space.allocate({.size = 400}));
  CHECK(space.free(*a) == free_status::freed);
  CHECK(space.used() == 400);
  CHECK(space.allocate({.size = 5000, .counts = false}));
  CHECK(!space.allocate({.size = ~std::uint64_t{0}, .counts = true}));
  char host[700];
  CHECK(!space.map_host(host, {.size = 601}));
  REQUIRE(space.map_host(host, {.size = 600}));
  CHECK(space.used() == 1000);
  REQUIRE(space.map_host(host + 600, {.size = 100, .counts = false}));
  CHECK(space.used() == 1000);
}

TEST_CASE("an allocation that the host has no memory for takes nothing of the capacity",
          "[address_space]") {
  address_space space(std::uint64_t{1} << 62);
  CHECK(!space.allocate({.size = std::uint64_t{1} << 62}));
  CHECK(space.used() == 0);
  CHECK(space.allocate({.size = 64}));
}

TEST_CASE("free tells what was wrong with the address", "[address_space]") {
  address_space space;
  const address a = *space.allocate({.size = 64});
  CHECK(space.free(a + 8) == free_status::not_the_base);
  CHECK(space.free(a + 64) == free_status::unknown_address);
  CHECK(space.free(a) == free_status::freed);
  CHECK(space.free(a) == free_status::already_freed);
  const address b = *space.allocate({.size = 64});
  CHECK(b != a);  // addresses are not used twice
}

TEST_CASE("reads and writes stay inside what may be accessed", "[address_space]") {
  address_space space;
  const address a = *space.allocate({.size = 16, .owner = 7, .site = "here.cpp:5"});
  const std::uint32_t in[4] = {1, 2, 3, 4};
  std::uint32_t out[4] = {};
  REQUIRE(space.write(a, in, 16, 7) == fault_kind::none);
  REQUIRE(space.read(out, a + 4, 8) == fault_kind::none);
  CHECK(out[0] == 2);
  CHECK(out[1] == 3);
  CHECK(space.read(out, a + 8, 16) == fault_kind::out_of_bounds);
  CHECK(space.write(a + 8, in, 16) == fault_kind::out_of_bounds);
  REQUIRE(space.read(out, a + 8, 8) == fault_kind::none);
  CHECK(out[0] == 3);  // what would have fitted was not written either
  CHECK(space.read(out, a - 1, 1) == fault_kind::out_of_bounds);
  CHECK(space.read(out, 8, 4) == fault_kind::null_access);
  CHECK(space.read(out, a, 4, 8) == fault_kind::foreign_context);
  space.allow(8, 7);
  CHECK(space.read(out, a, 4, 8) == fault_kind::none);
  space.allow(8, 7, false);
  CHECK(space.read(out, a, 4, 8) == fault_kind::foreign_context);
  CHECK(space.describe(a + 20) == "4 bytes past the end of the device allocation of 16 bytes at " +
                                      nogpu::machine::detail::hexadecimal(a) +
                                      " made by here.cpp:5");
  REQUIRE(space.free(a) == free_status::freed);
  CHECK(space.read(out, a, 4, 7) == fault_kind::use_after_free);
  CHECK(space.describe(a + 4).find("4 bytes into the freed device allocation") == 0);
}

TEST_CASE("the shadow knows which bytes were written", "[address_space]") {
  address_space space;
  const address a = *space.allocate({.size = 64}), b = *space.allocate({.size = 64});
  CHECK(space.first_unwritten(a, 64) == 0u);
  const char pattern[2] = {1, 2};
  REQUIRE(space.fill(a, pattern, 2, 5) == fault_kind::none);
  CHECK(!space.first_unwritten(a, 10));
  CHECK(space.first_unwritten(a, 11) == 10u);
  char out[10];
  REQUIRE(space.read(out, a, 10) == fault_kind::none);
  for (int i = 0; i < 10; ++i) CHECK(out[i] == (i % 2 == 0 ? 1 : 2));
  REQUIRE(space.copy(b + 10, a, 20) == fault_kind::none);
  CHECK(!space.first_unwritten(b + 10, 10));
  CHECK(space.first_unwritten(b + 10, 20) == 10u);
  // Overlapping ranges are copied as if through a buffer.
  const char text[] = "abcdefgh";
  REQUIRE(space.write(a, text, 8) == fault_kind::none);
  REQUIRE(space.copy(a + 2, a, 6) == fault_kind::none);
  REQUIRE(space.read(out, a, 8) == fault_kind::none);
  CHECK(std::string(out, 8) == "ababcdef");
  CHECK(space.fill(a, pattern, 2, ~std::uint64_t{0}) == fault_kind::out_of_bounds);
}

TEST_CASE("host memory is mapped at its own address", "[address_space]") {
  address_space space;
  std::vector<int> host(100, 5);
  const auto a = static_cast<address>(reinterpret_cast<std::uintptr_t>(host.data()));
  REQUIRE(space.map_host(host.data(), {.size = 400, .kind = memory_kind::pinned_host}));
  CHECK(!space.map_host(host.data() + 10, {.size = 8}));
  const int seven = 7;
  REQUIRE(space.write(a + 40, &seven, 4) == fault_kind::none);
  CHECK(host[10] == 7);
  CHECK(!space.first_unwritten(a, 400));
  CHECK(space.free(a) == free_status::freed);
}

TEST_CASE("one memory can be mapped at several addresses", "[address_space]") {
  address_space space;
  const auto memory = storage::create(8192, true);
  const address base = *space.reserve(8192, 4096);
  CHECK(space.find(base) == std::nullopt);
  // The halves, exchanged: an access across the seam meets both.
  REQUIRE(space.map(base, memory, 4096, {.size = 4096}));
  REQUIRE(space.map(base + 4096, memory, 0, {.size = 4096}));
  CHECK(!space.map(base + 100, memory, 0, {.size = 4}));
  CHECK(!space.map(base + 100000, memory, 4097, {.size = 4096}));
  const std::uint32_t words[2] = {0x11, 0x22};
  REQUIRE(space.write(base + 4092, words, 8) == fault_kind::none);
  std::uint32_t low = 0, high = 0;
  std::memcpy(&low, memory->bytes() + 8188, 4);
  std::memcpy(&high, memory->bytes(), 4);
  CHECK(low == 0x11);
  CHECK(high == 0x22);
  CHECK(space.used() == 0);
}

TEST_CASE("memory freed while a grid runs stays until it ends", "[address_space]") {
  address_space space;
  std::weak_ptr<storage> watched;
  {
    const address_space::in_use held(space);
    const address a = *space.allocate({.size = 64});
    watched = space.find(a)->memory;
    CHECK(space.free(a) == free_status::freed);
    CHECK(!watched.expired());
  }
  CHECK(watched.expired());
}

TEST_CASE("a space serves many threads at once", "[address_space]") {
  address_space space;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const auto a = space.allocate({.size = 64});
        const int value = t * 1000 + i;
        int back = 0;
        if (!a || space.write(*a, &value, 4) != fault_kind::none ||
            space.read(&back, *a, 4) != fault_kind::none || back != value ||
            space.free(*a) != free_status::freed)
          ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(space.used() == 0);
}

TEST_CASE("the device heap has a size and knows its blocks", "[address_space]") {
  address_space space;
  {
    device_heap heap(space, 3, 100);
    const address a = heap.allocate(60);
    REQUIRE(a != 0);
    CHECK(heap.allocate(60) == 0);
    CHECK(heap.allocate(0) == 0);
    CHECK(space.find(a)->owner == 3);
    CHECK(!heap.resize(50));
    CHECK(heap.resize(200));
    CHECK(heap.allocate(60) != 0);
    CHECK(heap.free(0));
    CHECK(heap.free(a));
    CHECK(!heap.free(a));
  }
  CHECK(space.live().empty());
}

}  // namespace address_space_test
