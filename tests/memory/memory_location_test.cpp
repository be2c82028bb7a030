#include <gpu/driver/device.hpp>
#include <gpu/memory/memory_location.hpp>

#include "support/results.hpp"

#include <string>

namespace memory_location_test {

using gpu::memory_location;
using gpu::memory_location_type;

TEST_CASE("memory_location: is the driver's structure, both ways", "[memory][memory_location]") {
  const gpu::device device = test::first_device();
  const memory_location on = device;
  CHECK(on.native().type == CU_MEM_LOCATION_TYPE_DEVICE);
  CHECK(on.native().id == device.native());
  CHECK(on.is_device());
  CHECK(memory_location::host().native().type == CU_MEM_LOCATION_TYPE_HOST);
  CHECK(memory_location::host_numa(3).native().type == CU_MEM_LOCATION_TYPE_HOST_NUMA);
  CHECK(memory_location::host_numa(3).native().id == 3);
  CHECK(memory_location::host_numa_current().native().type ==
        CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
  CHECK(memory_location::from_native(on.native()) == on);
  CHECK(!(memory_location::host_numa(1) == memory_location::host_numa(2)));
  CHECK(!static_cast<bool>(memory_location{}));
  CHECK(static_cast<bool>(memory_location::host()));
}

TEST_CASE("memory_location: every type has a name", "[memory][memory_location]") {
  const char* names[] = {"none", "device", "host", "host_numa", "host_numa_current"};
  for (int value = 0; value <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT; ++value)
    CHECK(gpu::name_of(static_cast<memory_location_type>(value)) == std::string(names[value]));
  CHECK(gpu::name_of(memory_location_type{99}) == nullptr);
}

}  // namespace memory_location_test
