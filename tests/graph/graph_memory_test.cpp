// A device's memory that graphs hold: reported, trimmed, freed.

#include "graph/graph_fixture.hpp"
#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_memory.hpp>
#include <gpu/graph/memory_node.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace graph_memory_test {

using attribute = gpu::graph_memory_attribute;
using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

namespace {

struct holding {
  std::uint64_t used = value_of(gpu::attribute<attribute::used_mem_current>(test::first_device()));
  std::uint64_t used_high =
      value_of(gpu::attribute<attribute::used_mem_high>(test::first_device()));
  std::uint64_t reserved =
      value_of(gpu::attribute<attribute::reserved_mem_current>(test::first_device()));
  std::uint64_t reserved_high =
      value_of(gpu::attribute<attribute::reserved_mem_high>(test::first_device()));
};

/// More than what is left of the steps in which devices hand it out.
constexpr std::uint64_t scratch_bytes = std::uint64_t{72} << 20;

/// A graph that allocates, and frees what it allocates.
gpu::graph_exec allocating(const graph_fixture& f) {
  gpu::allocation_node<unsigned char> scratch(scratch_bytes);
  const auto made = value_of(f.graph.add({}, scratch));
  const auto used = value_of(f.graph.add(made, gpu::fill_node(scratch.span(), 1)));
  value_of(f.graph.add(used, gpu::free_node(scratch.span())));
  return value_of(gpu::graph_exec::instantiate(f.graph));
}

}  // namespace

TEST_CASE("graph memory: is taken at the first launch, and given back", "[graph][memory]") {
  graph_fixture f;
  value_of(gpu::trim_graph_memory(f.device));
  value_of(gpu::set_attribute<attribute::used_mem_high>(f.device, 0));
  value_of(gpu::set_attribute<attribute::reserved_mem_high>(f.device, 0));
  const holding before;
  const gpu::graph_exec exec = allocating(f);
  CHECK(holding().used == before.used);
  CHECK(holding().reserved == before.reserved);
  f.run(exec);
  const holding after;
  CHECK(after.used_high >= before.used + scratch_bytes);
  CHECK(after.reserved > before.reserved);
  CHECK(after.reserved >= before.used + scratch_bytes);
  CHECK(after.reserved_high >= after.reserved);
  value_of(gpu::trim_graph_memory(f.device));
  CHECK(holding().reserved == before.reserved);
  CHECK(holding().reserved_high == after.reserved_high);
  value_of(gpu::set_attribute<attribute::used_mem_high>(f.device, 0));
  value_of(gpu::set_attribute<attribute::reserved_mem_high>(f.device, 0));
  CHECK(holding().used_high < after.used_high);
  CHECK(holding().reserved_high < after.reserved_high);
  f.run(exec);  // takes it again
  CHECK(holding().reserved == after.reserved);
  value_of(gpu::trim_graph_memory(f.device));
}

TEST_CASE("graph memory: each attribute is the driver's", "[graph][memory]") {
  static std::vector<CUgraphMem_attribute> asked;
  asked.clear();
  gpu::driver::entry_points table = test::driver();
  table.device_get_graph_mem_attribute = [](CUdevice device, CUgraphMem_attribute which,
                                            void* value) {
    CHECK(device == 0);
    asked.push_back(which);
    *static_cast<cuuint64_t*>(value) = 0x100000000ull + static_cast<cuuint64_t>(which);
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const holding told;
  CHECK(asked == std::vector{CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
                             CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                             CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH});
  CHECK(told.used == 0x100000000ull + CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  CHECK(told.reserved_high == 0x100000000ull + CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
}

TEST_CASE("graph memory: a mark of the most can be reset alone", "[graph][memory]") {
  const gpu::device device = test::first_device();
  const test::noted_calls<&gpu::driver::entry_points::device_set_graph_mem_attribute> asked;
  const auto refuses = [](const gpu::cuda_error& error, const char* name) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(error.asked() == 7);
    CHECK(says(error, "gpu::set_attribute", name, "can only be reset, not set to 7", "Set it to 0",
               "graph_memory_test.cpp"));
  };
  refuses(error_of(gpu::set_attribute<attribute::used_mem_high>(device, 7)), "used_mem_high");
  refuses(error_of(gpu::set_attribute<attribute::reserved_mem_high>(device, 7)),
          "reserved_mem_high");
  CHECK(asked.count() == 0);
  value_of(gpu::set_attribute<attribute::used_mem_high>(device, 0));
  CHECK(asked.last<1>() == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH);
  value_of(gpu::set_attribute<attribute::reserved_mem_high>(device, 0));
  CHECK(asked.last<0>() == 0);
  CHECK(asked.last<1>() == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
  // As the driver has it.
  cuuint64_t value = 7;
  CHECK(test::driver().device_set_graph_mem_attribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value) ==
        CUDA_ERROR_INVALID_VALUE);
  value = 0;
  CHECK(test::driver().device_set_graph_mem_attribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
                                                      &value) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("graph memory: is told, reset and trimmed during captures", "[graph][memory][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                          CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const test::captured made = test::capture(
        stream,
        [&] {
          value_of(gpu::attribute<attribute::used_mem_current>(device));
          value_of(gpu::set_attribute<attribute::used_mem_high>(device, 0));
          value_of(gpu::trim_graph_memory(device));
        },
        mode);
    CHECK(made.unharmed());
    CHECK(made.nodes == 0);
  }
}

TEST_CASE("graph memory: every value has a name", "[graph][memory]") {
  const auto name = [](CUgraphMem_attribute native) {
    return std::string(gpu::name_of(attribute{static_cast<int>(native)}));
  };
  CHECK(name(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == "used_mem_current");
  CHECK(name(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == "used_mem_high");
  CHECK(name(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == "reserved_mem_current");
  CHECK(name(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) == "reserved_mem_high");
  CHECK(gpu::name_of(attribute{4}) == nullptr);
}

TEST_CASE("graph memory: each driver call may fail", "[graph][memory][faults][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          GPU_TRY(gpu::attribute<attribute::used_mem_current>(device));
          GPU_TRY(gpu::set_attribute<attribute::used_mem_high>(device, 0));
          return gpu::trim_graph_memory(device);
        }) == "");
}

}  // namespace graph_memory_test
