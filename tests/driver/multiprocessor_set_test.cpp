#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/multiprocessor_set.hpp>

#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <type_traits>
#include <utility>

namespace multiprocessor_set_test {

using test::error_of;
using test::says;
using test::value_of;

static_assert(std::is_trivially_copyable_v<gpu::multiprocessor_set>);
static_assert(!std::is_copy_constructible_v<gpu::multiprocessor_split>);
static_assert(std::is_nothrow_move_constructible_v<gpu::multiprocessor_split>);

TEST_CASE("multiprocessor_set: is what the driver says of a device", "[driver][green]") {
  const gpu::device device = test::first_device();
  const gpu::multiprocessor_set all = value_of(gpu::multiprocessor_set::of(device));
  CUdevResource raw{};
  REQUIRE(test::driver().device_get_dev_resource(device.native(), &raw, CU_DEV_RESOURCE_TYPE_SM) ==
          CUDA_SUCCESS);
  CHECK(all.size() == raw.sm.smCount);
  CHECK(all.smallest_group() == raw.sm.minSmPartitionSize);
  CHECK(all.granularity() == raw.sm.smCoscheduledAlignment);
  CHECK(all.size() == value_of(device.limits()).multiprocessors);
  CHECK(all.device() == device);
  const gpu::context_ref primary = value_of(gpu::context::primary(device));
  CHECK(value_of(gpu::multiprocessor_set::of(primary)).size() == all.size());
  CHECK(error_of(gpu::multiprocessor_set::of(gpu::context_ref())) == gpu::errc::empty_handle);
  CHECK(says(error_of(gpu::multiprocessor_set::of(gpu::device::from_native(99))), "99"));
  CHECK_FALSE(gpu::multiprocessor_set());
}

TEST_CASE("multiprocessor_set: groups have the size asked for, and nothing is lost",
          "[driver][green]") {
  const gpu::multiprocessor_set all = value_of(gpu::multiprocessor_set::of(test::first_device()));
  const unsigned size = all.smallest_group();
  gpu::multiprocessor_split split = value_of(all.split({.groups = 2, .size = size}));
  REQUIRE(split.size() == 2);
  CHECK(split[0].size() == size);
  CHECK(split[1].size() == size);
  CHECK(split.rest().size() == all.size() - 2 * size);
  CHECK_FALSE(split[2]);
  CHECK(split[0].device() == all.device());

  const gpu::multiprocessor_split moved = std::move(split);
  CHECK(moved[1].size() == size);
  CHECK(split.size() == 0);
  CHECK_FALSE(split[0]);
  CHECK_FALSE(split.rest());

  // The driver rounds what it need not keep together.
  const auto fine = value_of(all.split({.groups = 1, .size = 1, .ignore_coscheduling = true}));
  CHECK(fine[0].size() >= 1);
  CHECK(fine[0].size() + fine.rest().size() == all.size());
}

TEST_CASE("multiprocessor_set: the options reach the driver", "[driver][green]") {
  const gpu::multiprocessor_set all = value_of(gpu::multiprocessor_set::of(test::first_device()));
  const test::noted_calls<&gpu::driver::entry_points::dev_sm_resource_split_by_count> calls;
  const unsigned size = all.smallest_group();
  const auto flags_of = [&](gpu::split_options options) {
    value_of(all.split(options));
    CHECK(calls.last<5>() == size);
    return calls.last<4>();
  };
  CHECK(flags_of({.size = size}) == 0);
  CHECK(flags_of({.size = size, .ignore_coscheduling = true}) ==
        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING);
  CHECK(flags_of({.size = size, .largest_clusters = true}) ==
        CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE);
}

TEST_CASE("multiprocessor_set: what cannot be split is refused before the driver is asked",
          "[driver][green][cpu]") {
  // 132 multiprocessors, in groups of at least 8 and multiples of 8.
  const gpu::multiprocessor_set all = value_of(gpu::multiprocessor_set::of(test::first_device()));
  const test::noted_calls<&gpu::driver::entry_points::dev_sm_resource_split_by_count> calls;
  const auto refused = [&](gpu::split_options options) { return error_of(all.split(options)); };
  CHECK(says(refused({.size = 10}), "10 multiprocessors", "multiple of 8", "Pass 16"));
  CHECK(says(refused({.size = 3}), "at least 8", "Pass 8"));
  CHECK(says(refused({.size = 132}), "multiple of 8", "Pass 128"));
  CHECK(says(refused({.size = 133}), "133 multiprocessors", "the 132", "smaller"));
  CHECK(says(refused({.groups = 4, .size = 40}), "4 groups of 40", "160", "132", "fewer groups"));
  CHECK(says(refused({.groups = 0, .size = 8}), "at least 1, got 0"));
  CHECK(says(refused({.groups = 2}), ".size"));
  CHECK(says(refused({.groups = 0xffffffffu, .size = 128}), "4294967295 groups"));
  CHECK(refused({.size = 10}) == gpu::errc::invalid_argument);
  CHECK(error_of(gpu::multiprocessor_set().split({.size = 8})) == gpu::errc::empty_handle);
  CHECK(calls.count() == 0);
  const auto split = value_of(all.split({.size = 16}));
  CHECK(says(error_of(split[0].split({.size = 8})), "part of a split", "green_context"));
  CHECK(says(error_of(split.rest().split({.size = 8})), "part of a split"));
  CHECK(calls.count() == 1);
}

TEST_CASE("multiprocessor_set: fewer groups than asked for is an error", "[driver][green][cpu]") {
  gpu::driver::entry_points table = test::driver();
  table.dev_sm_resource_split_by_count = [](CUdevResource*, unsigned* groups, const CUdevResource*,
                                            CUdevResource*, unsigned, unsigned) {
    *groups = 3;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const gpu::multiprocessor_set all = value_of(gpu::multiprocessor_set::of(test::first_device()));
  const gpu::cuda_error error = error_of(all.split({.groups = 4, .size = 8}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "only 3 groups of 8", "4 were asked for", "Pass fewer groups"));
}

TEST_CASE("multiprocessor_set: a split fails with each of its calls", "[driver][green][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const auto device = gpu::device::from_native(0);
          const auto all = GPU_TRY(gpu::multiprocessor_set::of(device));
          static_cast<void>(GPU_TRY(all.split({.groups = 2, .size = 16})));
          const auto primary = GPU_TRY(gpu::context::primary(device));
          static_cast<void>(GPU_TRY(gpu::multiprocessor_set::of(primary)));
          return {};
        }) == "");
}

}  // namespace multiprocessor_set_test
