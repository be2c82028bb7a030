#include <gpu/core/detail/atomic.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <thread>

namespace atomic_test {

using namespace gpu::detail;

TEST_CASE("atomic operations return the value before", "[atomic]") {
  int a = 1, b = 2;
  int* pointer = &a;
  CHECK(atomic_exchange<memory_order::acq_rel>(pointer, &b) == &a);
  CHECK(atomic_load<memory_order::acquire>(pointer) == &b);
  CHECK(atomic_fetch_add<memory_order::relaxed>(a, 4) == 1);
  CHECK(atomic_fetch_sub<memory_order::acq_rel>(a, 2) == 5);
  atomic_store<memory_order::release>(b, a);
  CHECK(b == 3);
}

TEST_CASE("an atomic comparison that fails stores the value that it found", "[atomic]") {
  unsigned object = 7, expected = 6;
  CHECK_FALSE(atomic_compare_exchange_strong<memory_order::acq_rel, memory_order::acquire>(
      object, expected, 9));
  CHECK((object == 7 && expected == 7));
  CHECK(atomic_compare_exchange_strong<memory_order::acq_rel, memory_order::acquire>(object,
                                                                                     expected, 9));
  CHECK((object == 9 && expected == 7));
}

TEST_CASE("no atomic increment of several threads is lost", "[atomic][threads]") {
  constexpr std::size_t rounds = 20'000;
  std::size_t added = 0, exchanged = 0;
  const auto count = [&] {
    for (std::size_t i = 0; i < rounds; ++i) {
      atomic_fetch_add<memory_order::relaxed>(added, 1);
      std::size_t seen = atomic_load<memory_order::relaxed>(exchanged);
      while (!atomic_compare_exchange_weak<memory_order::release, memory_order::relaxed>(
          exchanged, seen, seen + 1)) {
      }
    }
  };
  std::array<std::thread, 3> threads;
  for (std::thread& each : threads) each = std::thread(count);
  for (std::thread& each : threads) each.join();
  CHECK(added == 3 * rounds);
  CHECK(exchanged == 3 * rounds);
}

}  // namespace atomic_test
