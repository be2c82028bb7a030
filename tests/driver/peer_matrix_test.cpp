#include <gpu/core/result.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/peer_matrix.hpp>
#include <gpu/driver/stream.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <type_traits>
#include <utility>

namespace peer_matrix_test {

using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::peer_matrix>);
static_assert(std::is_nothrow_move_constructible_v<gpu::peer_matrix>);

TEST_CASE("peer_matrix: is what the driver says of each pair", "[driver][peer]") {
  const gpu::driver::entry_points& raw = test::driver();
  int count = 0;
  REQUIRE(raw.device_get_count(&count) == CUDA_SUCCESS);
  const gpu::peer_matrix reaches = value_of(gpu::peer_matrix::get());
  REQUIRE(reaches.device_count() == count);
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      int can = 0;
      CUdevice of = 0, its = 0;
      REQUIRE(raw.device_get(&of, from) == CUDA_SUCCESS);
      REQUIRE(raw.device_get(&its, to) == CUDA_SUCCESS);
      REQUIRE(raw.device_can_access_peer(&can, of, its) == CUDA_SUCCESS);
      CHECK(reaches(from, to) == (can != 0));
    }
    CHECK_FALSE(reaches(from, from));
    CHECK_FALSE(reaches(from, count));
    CHECK_FALSE(reaches(from, -1));
    CHECK_FALSE(reaches(count, from));
    CHECK_FALSE(reaches(-1, from));
  }
}

TEST_CASE("peer_matrix: a row is who reaches, a column who is reached", "[driver][peer][cpu]") {
  test::own_cpu_driver driver({.devices = 3});
  gpu::driver::entry_points table = driver.table();
  table.device_can_access_peer = [](int* can, CUdevice from, CUdevice to) {
    *can = from == 0 && to == 2;  // the one arrow, so that no other reading of it will do
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  gpu::peer_matrix reaches = value_of(gpu::peer_matrix::get());
  CHECK(reaches.device_count() == 3);
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) CHECK(reaches(from, to) == (from == 0 && to == 2));
  }
  gpu::peer_matrix moved = std::move(reaches);
  CHECK(moved(0, 2));
  CHECK(reaches.device_count() == 0);
  CHECK_FALSE(reaches(0, 2));
  reaches = std::move(moved);
  CHECK(reaches(0, 2));
  CHECK_FALSE(moved(0, 2));
}

TEST_CASE("peer_matrix: may be asked for during a capture", "[driver][peer][capture]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const test::captured made =
      test::capture(stream, [] { CHECK(gpu::peer_matrix::get().has_value()); });
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("peer_matrix: every call that fails is told", "[driver][peer][faults]") {
  test::cpu_driver_options cpu;
  cpu.devices = 2;
  const auto ask = []() -> gpu::result<> {
    const gpu::peer_matrix reaches = GPU_TRY(gpu::peer_matrix::get());
    return {};
  };
  CHECK(test::sweep(ask, {}, cpu) == "");
}

TEST_CASE("peer_matrix: says that the host has no memory", "[driver][peer][faults][cpu]") {
  test::cpu_driver_options cpu;
  cpu.devices = 2;
  const auto ask = []() -> gpu::result<> {
    const gpu::peer_matrix reaches = GPU_TRY(gpu::peer_matrix::get());
    return {};
  };
  CHECK(test::sweep_host_memory(ask, cpu) == "");
}

}  // namespace peer_matrix_test
