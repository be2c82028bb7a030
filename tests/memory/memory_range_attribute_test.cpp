#include <gpu/memory/memory_range_attribute.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/prefetch.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace memory_range_attribute_test {

using gpu::managed_buffer;
using gpu::memory_advice;
using gpu::memory_location;
using gpu::memory_location_type;
using gpu::memory_range_attribute;
using gpu::memory_range_attributes;
using test::error_of;
using test::says;
using test::value_of;

static_assert(
    std::is_same_v<gpu::memory_range_attribute_t<memory_range_attribute::read_mostly>, bool>);
static_assert(
    std::is_same_v<gpu::memory_range_attribute_t<memory_range_attribute::preferred_location>,
                   memory_location>);
static_assert(
    std::is_same_v<gpu::memory_range_attribute_t<memory_range_attribute::preferred_location_type>,
                   memory_location_type>);

namespace {
constexpr std::size_t page = 1 << 21;
}

TEST_CASE("memory range attributes: nothing is set at first", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const auto buffer = value_of(managed_buffer<int>::create(device, page));
  CHECK(!value_of(gpu::attribute<memory_range_attribute::read_mostly>(buffer)));
  CHECK(!value_of(gpu::attribute<memory_range_attribute::preferred_location>(buffer)));
  CHECK(!value_of(gpu::attribute<memory_range_attribute::last_prefetch_location>(buffer)));
  CHECK(value_of(gpu::attribute<memory_range_attribute::accessed_by>(buffer)).empty());
  CHECK(value_of(gpu::attribute<memory_range_attribute::preferred_location_type>(buffer)) ==
        memory_location_type::none);
  const auto all = value_of(memory_range_attributes::of(buffer));
  CHECK(!all.read_mostly);
  CHECK(!all.preferred_location);
  CHECK(!all.last_prefetch_location);
  CHECK(all.accessed_by.empty());
}

TEST_CASE("memory range attributes: are what was advised and prefetched", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(managed_buffer<char>::create(device, 2 * page));
  REQUIRE(advise(buffer, memory_advice::set_read_mostly).has_value());
  REQUIRE(
      advise(buffer, memory_advice::set_preferred_location, memory_location::host()).has_value());
  REQUIRE(advise(buffer, memory_advice::set_accessed_by, device).has_value());
  REQUIRE(advise(buffer, memory_advice::set_accessed_by, memory_location::host()).has_value());
  REQUIRE(prefetch(stream, buffer, device).has_value());
  REQUIRE(stream.synchronize().has_value());
  CHECK(value_of(gpu::attribute<memory_range_attribute::read_mostly>(buffer)));
  CHECK(value_of(gpu::attribute<memory_range_attribute::preferred_location>(buffer)) ==
        memory_location::host());
  CHECK(value_of(gpu::attribute<memory_range_attribute::last_prefetch_location>(buffer)) ==
        memory_location(device));
  CHECK(value_of(gpu::attribute<memory_range_attribute::last_prefetch_location_type>(buffer)) ==
        memory_location_type::device);
  CHECK(value_of(gpu::attribute<memory_range_attribute::last_prefetch_location_id>(buffer)) ==
        device.native());
  const auto users = value_of(gpu::attribute<memory_range_attribute::accessed_by>(buffer));
  CHECK(users.size() == 2);
  CHECK(users.contains(device));
  CHECK(users.contains(memory_location::host()));
  CHECK(!users.contains(memory_location::host_numa(0)));
  const auto all = value_of(memory_range_attributes::of(buffer.span()));
  CHECK(all.read_mostly);
  CHECK(all.preferred_location == memory_location::host());
  CHECK(all.last_prefetch_location == memory_location(device));
  CHECK(all.accessed_by.size() == 2);
}

TEST_CASE("memory range attributes: what differs between pages is none", "[memory][managed]") {
  const gpu::device device = test::first_device();
  auto buffer = value_of(managed_buffer<char>::create(device, 2 * page));
  const auto half = buffer.span().first(page);
  REQUIRE(advise(half, memory_advice::set_read_mostly).has_value());
  REQUIRE(advise(half, memory_advice::set_preferred_location, device).has_value());
  CHECK(value_of(memory_range_attributes::of(half)).read_mostly);
  const auto mixed = value_of(memory_range_attributes::of(buffer));
  CHECK(!mixed.read_mostly);
  CHECK(!mixed.preferred_location);
  CHECK(!value_of(memory_range_attributes::of(buffer.span().last(page))).read_mostly);
}

TEST_CASE("memory range attributes: ask about managed memory, and some of it",
          "[memory][managed]") {
  const gpu::device device = test::first_device();
  const auto none = value_of(managed_buffer<int>::create(device, 0));
  CHECK(says(error_of(gpu::attribute<memory_range_attribute::read_mostly>(none)), "empty"));
  CHECK(error_of(memory_range_attributes::of(none)) == gpu::errc::invalid_argument);
  const auto plain = value_of(gpu::device_buffer<int>::create(device, 10));
  CHECK(error_of(memory_range_attributes::of(plain)).code() == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory range attributes: tell one device from another", "[memory][managed][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const gpu::device second = value_of(gpu::device::get(1));
  auto buffer = value_of(managed_buffer<char>::create(test::first_device(), page));
  REQUIRE(advise(buffer, memory_advice::set_preferred_location, second).has_value());
  CHECK(value_of(memory_range_attributes::of(buffer)).preferred_location == second);
  CHECK(value_of(gpu::attribute<memory_range_attribute::preferred_location>(buffer)) == second);
}

TEST_CASE("memory range attributes: a list of locations ends where the driver's numbers do",
          "[memory][managed]") {
  const int ids[] = {1, CU_DEVICE_CPU, 0, 2, CU_DEVICE_INVALID, 3};
  const auto list = gpu::memory_location_list::from_native(ids, 3);
  CHECK(list.size() == 3);
  CHECK(list.contains(gpu::device::from_native(0)));
  CHECK(list.contains(memory_location::host()));
  CHECK_FALSE(list.contains(gpu::device::from_native(2)));
  CHECK(gpu::memory_location_list::from_native(ids, 6).size() == 4);
  const std::vector<int> many(100);
  CHECK(gpu::memory_location_list::from_native(many.data(), many.size()).size() ==
        gpu::memory_location_list::capacity);
}

TEST_CASE("memory range attributes: survive every failing call", "[memory][managed][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto buffer = GPU_TRY(managed_buffer<int>::create(device, 100));
              GPU_TRY(gpu::attribute<memory_range_attribute::accessed_by>(buffer));
              GPU_TRY(memory_range_attributes::of(buffer));
              return {};
            },
            {"cuCtxGetCurrent"}) == "");
}

TEST_CASE("memory_range_attribute: every value has a name", "[memory][managed]") {
  const char* names[] = {"read_mostly",
                         "preferred_location",
                         "accessed_by",
                         "last_prefetch_location",
                         "preferred_location_type",
                         "preferred_location_id",
                         "last_prefetch_location_type",
                         "last_prefetch_location_id"};
  for (int value = 1; value <= 8; ++value)
    CHECK(gpu::name_of(memory_range_attribute{value}) == std::string(names[value - 1]));
  CHECK(gpu::name_of(memory_range_attribute{0}) == nullptr);
  CHECK(gpu::name_of(memory_range_attribute{9}) == nullptr);
}

}  // namespace memory_range_attribute_test
