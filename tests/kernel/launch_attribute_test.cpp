// Attributes of launches: that each reaches the driver as the value that it stands for, and what is
// refused; cooperative launches, clusters and programmatic dependent launches on what can run them.

#include <gpu/compiler/compile.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/kernel.hpp>
#include <gpu/kernel/launch_attribute.hpp>

#include "kernel/recorded_launch.hpp"
#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/driver/stream_attribute.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace launch_attribute_test { namespace {

using attribute = gpu::launch_attribute;
using test::error_of;
using test::says;
using test::value_of;

static_assert(std::is_convertible_v<gpu::launch_attributes&, gpu::launch_attributes_ref>);
static_assert(!std::is_convertible_v<gpu::launch_attributes, gpu::launch_attributes_ref>);

/// The attributes that the driver gets with a launch.
std::vector<CUlaunchAttribute> passed(const gpu::launch_attributes& attributes) {
  const gpu::module module = value_of(gpu::module::load(".version 8.0"));
  const auto kernel = value_of(module.kernel<>("recorded"));
  value_of(gpu::launch(test::recording_driver::stream(),
                       {.grid = 1, .block = 32, .attributes = attributes}, kernel));
  return test::recording().launches.back().attributes;
}

TEST_CASE("each launch attribute reaches the driver in its place", "[kernel][launch]") {
  const test::recording_driver driver;
  const auto native = reinterpret_cast<CUevent>(std::uintptr_t{0x4000});
  const auto event = gpu::event_ref::from_native(native, test::recording_driver::stream().context(),
                                                 {.timing = false});
  gpu::launch_attributes all;
  CHECK(gpu::launch_attributes_ref(all).size() == 0);
  value_of(all.set<attribute::access_policy_window>({.base = 0x700000,
                                                     .bytes = 512,
                                                     .hit_ratio = 0.5f,
                                                     .hit = gpu::access_property::persisting}));
  value_of(all.set<attribute::cooperative>(true));
  value_of(all.set<attribute::cluster_scheduling>(gpu::cluster_scheduling::spread));
  value_of(all.set<attribute::programmatic_stream_serialization>(true));
  value_of(all.set<attribute::programmatic_event>({event, true}));
  value_of(all.set<attribute::priority>(7));
  value_of(all.set<attribute::memory_sync_domain_map>({1, 0}));
  value_of(all.set<attribute::memory_sync_domain>(gpu::memory_sync_domain::remote));
  value_of(all.set<attribute::preferred_cluster>({4, 2, 1}));
  value_of(all.set<attribute::launch_completion_event>(event));
  const auto node = reinterpret_cast<CUgraphDeviceNode>(std::uintptr_t{0x5000});
  value_of(all.set<attribute::device_updatable_node>({true, node}));
  value_of(all.set<attribute::shared_carveout>(40));
  value_of(all.set<attribute::nvlink_util_centric_scheduling>(true));
  value_of(all.set<attribute::priority>(-3));  // in place of the one before
  const std::vector<CUlaunchAttribute> told = passed(all);
  REQUIRE(told.size() == 13);
  const auto value = [&](CUlaunchAttributeID id) {
    for (const CUlaunchAttribute& each : told)
      if (each.id == id) return each.value;
    FAIL("no attribute " << id);
    return CUlaunchAttributeValue{};
  };
  const auto window = value(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow;
  CHECK(reinterpret_cast<std::uintptr_t>(window.base_ptr) == 0x700000);
  CHECK(window.num_bytes == 512);
  CHECK(window.hitProp == CU_ACCESS_PROPERTY_PERSISTING);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative == 1);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
            .clusterSchedulingPolicyPreference == CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            .programmaticStreamSerializationAllowed == 1);
  const auto programmatic = value(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT).programmaticEvent;
  CHECK(programmatic.event == native);
  CHECK(programmatic.flags == 0);
  CHECK(programmatic.triggerAtBlockStart == 1);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority == -3);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap.default_ == 1);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap.remote == 0);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain ==
        CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  const auto preferred = value(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION).preferredClusterDim;
  CHECK(std::vector{preferred.x, preferred.y, preferred.z} == std::vector{4u, 2u, 1u});
  CHECK(value(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT).launchCompletionEvent.event == native);
  const auto updatable =
      value(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE).deviceUpdatableKernelNode;
  CHECK(updatable.deviceUpdatable == 1);
  CHECK(updatable.devNode == node);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout == 40);
  CHECK(value(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING).nvlinkUtilCentricScheduling == 1);
  CHECK(gpu::name_of(static_cast<attribute>(15)) == nullptr);
}

template <attribute Attribute>
gpu::cuda_error refused(const gpu::launch_attribute_t<Attribute>& value, const char* words,
                        const char* cure) {
  gpu::launch_attributes attributes;
  const gpu::cuda_error error = error_of(attributes.set<Attribute>(value));
  CHECK(says(error, "gpu::launch_attributes::set", words, cure, "launch_attribute_test.cpp"));
  CHECK(attributes.size() == 0);
  return error;
}

TEST_CASE("values that no launch can have are refused", "[kernel][launch]") {
  const auto timed = gpu::event_ref::from_native(reinterpret_cast<CUevent>(std::uintptr_t{0x4000}),
                                                 gpu::context_ref{}, {.timing = true});
  constexpr auto invalid = gpu::errc::invalid_argument, empty = gpu::errc::empty_handle;
  CHECK(refused<attribute::access_policy_window>({.hit_ratio = 1.5f}, "hit ratio",
                                                 "is 1.5, not between 0 and 1") == invalid);
  CHECK(refused<attribute::cluster_scheduling>(gpu::cluster_scheduling{9},
                                               "9 is not a valid gpu::cluster_scheduling",
                                               "pass one of its enumerators") == invalid);
  CHECK(refused<attribute::programmatic_event>({}, "the event is empty", "Use the object") ==
        empty);
  CHECK(refused<attribute::programmatic_event>({timed}, "must not have timing",
                                               ".timing = false") == invalid);
  CHECK(refused<attribute::launch_completion_event>({}, "the event is empty", "Use the object") ==
        empty);
  CHECK(refused<attribute::launch_completion_event>(timed, "must not have timing",
                                                    ".timing = false") == invalid);
  CHECK(refused<attribute::memory_sync_domain>(gpu::memory_sync_domain{5},
                                               "5 is not a valid gpu::memory_sync_domain",
                                               "pass one of its enumerators") == invalid);
  CHECK(refused<attribute::preferred_cluster>({2, 0, 1}, "cluster of {2, 0, 1} has no blocks",
                                              "each extent must be at least 1") == invalid);
  const gpu::cuda_error much = refused<attribute::shared_carveout>(
      101, "101 is not a valid shared memory carve-out", "leave the attribute out");
  CHECK(much == invalid);
  CHECK((much.asked() == 101 && much.limit() == 100));
  CHECK(refused<attribute::shared_carveout>(-1, "-1 is not a valid shared memory carve-out",
                                            "leave the attribute out") == invalid);
  gpu::launch_attributes attributes;
  for (const int percent : {0, 100})
    CHECK(attributes.set<attribute::shared_carveout>(percent).has_value());
}

/// arrive(p): adds 1 to *p, waits until all blocks have, writes what it then is to p[1 + block].
/// rank(p): writes its place in the cluster to p[block], as the block after it in the cluster sees
/// it, through distributed shared memory. first(p), second(p): a programmatic dependent launch;
/// second copies what first writes after it lets it go.
constexpr const char* source = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry arrive(.param .u64 p) {
  .reg .b64 %a, %o; .reg .b32 %x, %n, %b; .reg .pred %again;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  mov.u32 %n, %nctaid.x; mov.u32 %b, %ctaid.x;
  red.global.add.u32 [%a], 1;
more:
  ld.acquire.gpu.global.u32 %x, [%a];
  setp.lt.u32 %again, %x, %n;
  @%again bra more;
  mul.wide.u32 %o, %b, 4; add.u64 %a, %a, %o; st.global.u32 [%a+4], %x;
  ret;
}
.visible .entry rank(.param .u64 p) {
  .reg .b64 %a, %o; .reg .b32 %r, %n, %b, %here, %there, %x;
  .shared .align 4 .b32 mine;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  mov.u32 %r, %cluster_ctarank; mov.u32 %n, %cluster_nctarank; mov.u32 %b, %ctaid.x;
  st.shared.u32 [mine], %r;
  barrier.cluster.arrive; barrier.cluster.wait;
  add.u32 %there, %r, 1; rem.u32 %there, %there, %n;
  mov.u32 %here, mine;
  mapa.shared::cluster.u32 %here, %here, %there;
  ld.shared::cluster.u32 %x, [%here];
  barrier.cluster.arrive; barrier.cluster.wait;
  mul.wide.u32 %o, %b, 4; add.u64 %a, %a, %o; st.global.u32 [%a], %x;
  ret;
}
.visible .entry first(.param .u64 p) {
  .reg .b64 %a;
  griddepcontrol.launch_dependents;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; st.global.u32 [%a], 42; ret;
}
.visible .entry second(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %x;
  griddepcontrol.wait;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  ld.global.u32 %x, [%a]; st.global.u32 [%a+4], %x; ret;
}
)";

struct fixture {
  gpu::device device = test::first_device();
  gpu::module module = value_of(gpu::module::load(source));
  gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::device_buffer<unsigned> out = value_of(gpu::device_buffer<unsigned>::create(device, 1024));

  fixture() { value_of(gpu::fill(stream, out, 0u)); }
  gpu::kernel<unsigned*> kernel(const char* name) const {
    return value_of(module.kernel<unsigned*>(name));
  }
  std::vector<unsigned> results(std::size_t count) {
    value_of(stream.synchronize());
    std::vector<unsigned> host(count);
    value_of(gpu::copy(out.span().first(count), host));
    return host;
  }
};

TEST_CASE("what the driver minds of a launch attribute is told", "[kernel][launch]") {
  const test::recording_driver driver;
  const auto module = value_of(gpu::module::load(".version 8.0"));
  const auto kernel = value_of(module.kernel<>("recorded"));
  const auto refused = [&](const gpu::launch_attributes& attributes, CUresult code) {
    const gpu::stream_ref stream = test::recording_driver::stream();
    // Its limits are known to the launch that is refused, so that it takes the short way.
    value_of(gpu::launch(stream, {1, 32}, kernel));
    test::recording().answer = code;
    // Of a shape that is known when this is compiled, of one that is not, and of clusters.
    volatile unsigned threads = 32;
    std::vector<gpu::cuda_error> errors;
    errors.push_back(
        error_of(gpu::launch(stream, {.grid = 1, .block = 32, .attributes = attributes}, kernel)));
    errors.push_back(error_of(
        gpu::launch(stream, {.grid = 1, .block = threads, .attributes = attributes}, kernel)));
    errors.push_back(error_of(gpu::launch(
        stream, {.grid = 2, .block = 32, .cluster = 2, .attributes = attributes}, kernel)));
    errors.push_back(error_of(gpu::take_last_error()));
    test::recording().answer = CUDA_SUCCESS;
    return errors;
  };
  gpu::launch_attributes window, domains, fitting;
  value_of(window.set<attribute::access_policy_window>({.bytes = 1025}));
  value_of(domains.set<attribute::memory_sync_domain_map>({0, 5}));
  value_of(domains.set<attribute::access_policy_window>({.bytes = 1024}));
  value_of(fitting.set<attribute::access_policy_window>({.bytes = 1024}));
  value_of(fitting.set<attribute::memory_sync_domain_map>({3, 0}));
  for (const gpu::cuda_error& error : refused(window, CUDA_ERROR_INVALID_VALUE)) {
    CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
    CHECK(says(error, "cuLaunchKernelEx", "window of 1025 bytes is more than the 1024 of device",
               "Use no more"));
    CHECK(error.asked() == 1025);
    CHECK(error.limit() == 1024);
  }
  for (const gpu::cuda_error& error : refused(domains, CUDA_ERROR_INVALID_VALUE)) {
    CHECK(says(error, "domain 5 of a memory_sync_domain_map, which takes 6 domains, is more than",
               "the 4 of device", "Use no more"));
  }
  // Another reason is none of these, and the limit may fail to be found out.
  for (const gpu::cuda_error& error : refused(fitting, CUDA_ERROR_INVALID_VALUE))
    CHECK_FALSE(error.message().contains("is more than"));
  for (const gpu::cuda_error& error : refused(window, CUDA_ERROR_INVALID_CLUSTER_SIZE))
    CHECK_FALSE(error.message().contains("is more than"));
  test::recording().domain_answer = CUDA_ERROR_UNKNOWN;
  for (const gpu::cuda_error& error : refused(domains, CUDA_ERROR_INVALID_VALUE)) {
    CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
    CHECK_FALSE(error.message().contains("is more than"));
  }
}

TEST_CASE("the blocks of a cooperative launch wait for each other", "[kernel][launch]") {
  fixture f;
  const gpu::launch_config config{.grid = 4, .block = 1, .cooperative = true};
  value_of(gpu::launch(f.stream, config, f.kernel("arrive"), f.out));
  CHECK(f.results(5) == std::vector<unsigned>(5, 4));
  const gpu::launch_config many{.grid = 1u << 20, .block = 1, .cooperative = true};
  const gpu::cuda_error error = error_of(gpu::launch(f.stream, many, f.kernel("arrive"), f.out));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(error.asked() == 1u << 20);
  CHECK(says(error, "gpu::launch", "kernel arrive", "cooperative grid", "Launch fewer blocks"));
  // The limit is the driver's: so many blocks it takes, and one more it does not.
  const auto most = static_cast<unsigned>(error.limit());
  CHECK(value_of(gpu::max_cooperative_blocks(f.kernel("arrive"), f.device, 1)) ==
        static_cast<int>(most));
  CUlaunchAttribute raw{};
  raw.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  raw.value.cooperative = 1;
  value_of(f.stream.synchronize());
  value_of(gpu::fill(f.stream, f.out, 0u));
  CUdeviceptr p = f.out.span().native();
  void* arguments[] = {&p};
  CUlaunchConfig shape{most + 1, 1, 1, 1, 1, 1, 0, f.stream.native(), &raw, 1};
  CHECK(test::driver().launch_kernel_ex(
            &shape, reinterpret_cast<CUfunction>(f.kernel("first").native()), arguments, nullptr) ==
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  value_of(gpu::launch(f.stream, {.grid = most, .block = 1, .cooperative = true}, f.kernel("first"),
                       f.out));
  CHECK(f.results(1)[0] == 42);
}

/// sync(p): adds 1 to *p, waits for the grid, writes what *p then is to p[1 + block].
/// test(p): as sync if the launch is cooperative, else writes 7 to p[1 + block].
constexpr const char* barriers = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sync(unsigned* p) {
  atomicAdd(p, 1u);
  cg::this_grid().sync();
  p[1 + blockIdx.x] = *(volatile unsigned*)p;
}
extern "C" __global__ void test(unsigned* p) {
  const auto grid = cg::this_grid();
  atomicAdd(p, 1u);
  if (grid.is_valid()) grid.sync();
  p[1 + blockIdx.x] = grid.is_valid() ? *(volatile unsigned*)p : 7;
}
)";

TEST_CASE("a kernel that synchronizes its grid is launched cooperatively, or refused",
          "[kernel][launch]") {
  fixture f;
  const gpu::module module = value_of(gpu::module::load(value_of(gpu::compile(barriers))));
  const auto sync = value_of(module.kernel<unsigned*>("sync"));
  gpu::launch_attributes urgent, together;
  value_of(urgent.set<attribute::priority>(0));
  value_of(together.set<attribute::cooperative>(true));
  for (int round = 0; round < 2; ++round) {  // before and after its limits are known
    for (const gpu::launch_config& alone :
         {gpu::launch_config{.grid = 3, .block = 1}, gpu::launch_config{.grid = 1, .block = 1},
          gpu::launch_config{.grid = 3, .block = 1, .attributes = urgent}}) {
      const gpu::cuda_error error = error_of(gpu::launch(f.stream, alone, sync, f.out));
      CHECK(error == gpu::errc::invalid_launch);
      CHECK(says(error, "gpu::launch", "kernel sync synchronizes its grid", "not cooperative",
                 "Add .cooperative = true", "gpu::max_cooperative_blocks"));
    }
  }
  for (const gpu::launch_config& config :
       {gpu::launch_config{.grid = 3, .block = 1, .cooperative = true},
        gpu::launch_config{.grid = 3, .block = 1, .cooperative = true, .attributes = urgent},
        gpu::launch_config{.grid = 3, .block = 1, .cooperative = true, .attributes = together},
        gpu::launch_config{.grid = 3, .block = 1, .attributes = together}}) {
    value_of(gpu::fill(f.stream, f.out, 0u));
    value_of(gpu::launch(f.stream, config, sync, f.out));
    CHECK(f.results(4) == std::vector<unsigned>(4, 3));
  }
  // One that tests the grid runs either way.
  const auto tests = value_of(module.kernel<unsigned*>("test"));
  for (const bool cooperative : {false, true}) {
    value_of(gpu::fill(f.stream, f.out, 0u));
    value_of(
        gpu::launch(f.stream, {.grid = 2, .block = 1, .cooperative = cooperative}, tests, f.out));
    const std::vector<unsigned> valid{2, 2, 2}, alone{2, 7, 7}, found = f.results(3);
    // The driver of a GPU can make the grid valid in a launch that is not cooperative, too.
    CHECK((found == (cooperative ? valid : alone) || (test::on_hardware() && found == valid)));
  }
  // From PTX alone, too, and with options for the driver's compiler.
  const auto ptx = value_of(gpu::compile(barriers)).ptx();
  for (const gpu::module& other :
       {value_of(gpu::module::load(ptx)), value_of(gpu::module::load(ptx, gpu::jit_options{}))}) {
    const auto kernel = value_of(other.kernel("sync"));
    CHECK(says(error_of(gpu::launch(f.stream, {1, 1}, kernel, f.out)), "synchronizes its grid"));
  }
}

TEST_CASE("the attributes of a cooperative launch reach the driver once each", "[kernel][launch]") {
  const test::recording_driver driver;
  const gpu::module module = value_of(gpu::module::load(".version 8.0"));
  const auto kernel = value_of(module.kernel<>("recorded"));
  gpu::launch_attributes attributes;
  value_of(attributes.set<attribute::cooperative>(false));
  value_of(attributes.set<attribute::priority>(-1));
  const auto told = [&](const gpu::launch_config& config) {
    value_of(gpu::launch(test::recording_driver::stream(), config, kernel));
    std::vector<CUlaunchAttributeID> ids;
    for (const CUlaunchAttribute& each : test::recording().launches.back().attributes) {
      ids.push_back(each.id);
      if (each.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) CHECK(each.value.cooperative == 1);
    }
    return ids;
  };
  for (int round = 0; round < 2; ++round) {
    CHECK(told({.grid = 2, .block = 32, .cooperative = true}) ==
          std::vector{CU_LAUNCH_ATTRIBUTE_COOPERATIVE});
    CHECK(told({.grid = 2, .block = 32, .cluster = 2, .cooperative = true}) ==
          std::vector{CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION});
    CHECK(told({.grid = 2, .block = 32, .cooperative = true, .attributes = attributes}) ==
          std::vector{CU_LAUNCH_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_COOPERATIVE});
  }
}

TEST_CASE("a capture goes on while attributes are set, and takes the launch that has them",
          "[kernel][launch][capture]") {
  fixture f;
  const test::captured made = test::capture(f.stream, [&] {
    gpu::launch_attributes urgent;
    value_of(urgent.set<attribute::priority>(-1));
    value_of(urgent.set<attribute::shared_carveout>(50));
    value_of(gpu::launch(f.stream, {.grid = 1, .block = 1, .attributes = urgent}, f.kernel("first"),
                         f.out));
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 1);
}

TEST_CASE("a kernel may begin before the one that it depends on has ended", "[kernel][launch]") {
  fixture f;
  gpu::launch_attributes early;
  value_of(early.set<attribute::programmatic_stream_serialization>(true));
  const gpu::launch_config config{.grid = 1, .block = 1, .attributes = early};
  for (int round = 0; round < 20; ++round) {
    value_of(gpu::fill(f.stream, f.out, 0u));
    value_of(gpu::launch(f.stream, {1, 1}, f.kernel("first"), f.out));
    value_of(gpu::launch(f.stream, config, f.kernel("second"), f.out));
    REQUIRE(f.results(2) == std::vector<unsigned>{42, 42});
  }
}

TEST_CASE("an event tells that all blocks of a launch have begun", "[kernel][launch]") {
  fixture f;
  const gpu::event begun = value_of(gpu::event::create(f.device, {.timing = false}));
  gpu::launch_attributes noted;
  value_of(noted.set<attribute::launch_completion_event>(begun));
  const gpu::launch_config config{.grid = 1, .block = 1, .attributes = noted};
  value_of(gpu::launch(f.stream, config, f.kernel("first"), f.out));
  value_of(begun.synchronize());
  CHECK(f.results(1)[0] == 42);
}

TEST_CASE("the blocks of a cluster share memory", "[kernel][launch]") {
  fixture f;
  for (const unsigned blocks : {2u, 4u, 8u}) {
    const gpu::launch_config config{.grid = 16, .block = 32, .cluster = blocks};
    value_of(gpu::launch(f.stream, config, f.kernel("rank"), f.out));
    const std::vector<unsigned> seen = f.results(16);
    for (unsigned block = 0; block < 16; ++block) CHECK(seen[block] == (block + 1) % blocks);
  }
}

TEST_CASE("each driver call behind a launch with attributes may fail", "[kernel][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::module module = GPU_TRY(gpu::module::load(source));
              const auto first = GPU_TRY(module.kernel<unsigned*>("first"));
              auto out = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
              gpu::launch_attributes together;
              GPU_TRY(together.set<attribute::cooperative>(true));
              // Also the opt-in to more shared memory.
              GPU_TRY(gpu::launch(
                  stream, {.grid = 1, .block = 1, .shared_bytes = 100'000, .attributes = together},
                  first, out));
              GPU_TRY(
                  gpu::launch(stream, {.grid = 1, .block = 1, .attributes = together}, first, out));
              return stream.synchronize();
            },
            {"cuCtxGetDevice"}) == "");
}

}}  // namespace launch_attribute_test
