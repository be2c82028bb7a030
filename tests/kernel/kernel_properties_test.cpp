// Properties of a kernel, against the raw driver calls, and those that can be set.

#include <gpu/compiler.hpp>
#include <gpu/core/dims.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/cache_preference.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/kernel/kernel_attribute.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernel_properties_test { namespace {

using attribute = gpu::kernel_attribute;

constexpr const char* source = R"(
extern "C" __constant__ float table[10] = {1};
extern "C" __global__ void f(float* x) {
  __shared__ float tile[100];
  tile[threadIdx.x] = x[threadIdx.x] + table[threadIdx.x % 10];
  __syncthreads();
  x[threadIdx.x] = tile[99 - threadIdx.x];
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float* x) { *x = 1; }
)";

int raw(CUkernel kernel, CUfunction_attribute which) {
  int value = -7;
  const auto& table = gpu::driver::current_entry_points();
  CHECK(table.kernel_get_attribute(&value, which, kernel, 0) == CUDA_SUCCESS);
  return value;
}

gpu::module loaded() {
  return test::value_of(gpu::module::load(test::value_of(gpu::compile(source))));
}

TEST_CASE("attributes are those of the driver", "[kernel][attributes]") {
  const gpu::device device = test::first_device();
  const gpu::module module = loaded();
  const auto f = test::value_of(module.kernel<float*>("f"));
  const gpu::kernel_properties has = test::value_of(f.properties(device));
  CHECK(has.static_shared_bytes == 400);
  CHECK(has.constant_bytes == 40);
  CHECK(has.registers == static_cast<unsigned>(raw(f.native(), CU_FUNC_ATTRIBUTE_NUM_REGS)));
  CHECK(has.registers >= 8);
  CHECK(has.max_threads_per_block ==
        static_cast<unsigned>(raw(f.native(), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)));
  CHECK(has.local_bytes ==
        static_cast<unsigned>(raw(f.native(), CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)));
  CHECK(has.ptx_version.sm() == raw(f.native(), CU_FUNC_ATTRIBUTE_PTX_VERSION));
  CHECK(has.binary_version.sm() == raw(f.native(), CU_FUNC_ATTRIBUTE_BINARY_VERSION));
  CHECK(has.binary_version == test::value_of(device.compute_capability()));
  CHECK_FALSE(has.caches_globals_in_l1);
  CHECK(has.max_dynamic_shared_bytes ==
        static_cast<unsigned>(raw(f.native(), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)));
  CHECK(has.shared_carveout == -1);
  CHECK_FALSE(has.needs_cluster);
  CHECK(has.required_cluster == gpu::dims{0, 0, 0});
  CHECK_FALSE(has.allows_nonportable_cluster);
  CHECK(has.cluster_scheduling == gpu::cluster_scheduling::unspecified);

  // Each of them alone.
  const auto same = [&]<attribute Which>() {
    const auto is = test::value_of(gpu::attribute<Which>(f, device));
    const int should = raw(f.native(), static_cast<CUfunction_attribute>(Which));
    CAPTURE(gpu::name_of(Which));
    if constexpr (std::is_same_v<decltype(is), const gpu::compute_capability>) {
      CHECK(is.sm() == should);
    } else {
      CHECK(static_cast<long long>(is) == should);
    }
  };
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (same.operator()<static_cast<attribute>(I)>(), ...);
  }(std::make_integer_sequence<int, CU_FUNC_ATTRIBUTE_MAX>());
  CHECK(gpu::name_of(static_cast<attribute>(CU_FUNC_ATTRIBUTE_MAX)) == nullptr);

  const auto untyped = test::value_of(module.kernel("clustered"));
  if (test::value_of(device.compute_capability()).sm() >= 90) {
    CHECK(test::value_of(untyped.properties(device)).required_cluster == gpu::dims{2, 1, 1});
  }
}

TEST_CASE("each attribute is told in its place", "[kernel][attributes]") {
  const gpu::device device = test::first_device();
  const gpu::module module = loaded();
  const auto f = test::value_of(module.kernel<float*>("f"));
  static int only;  // the attribute that is 1, where the others are 0
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  table.kernel_get_attribute = [](int* value, CUfunction_attribute which, CUkernel, CUdevice) {
    *value = which == only ? 1 : 0;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  for (only = 0; only < CU_FUNC_ATTRIBUTE_MAX; ++only) {
    const gpu::kernel_properties has = test::value_of(f.properties(device));
    const std::vector<std::size_t> told = {has.max_threads_per_block,
                                           has.static_shared_bytes,
                                           has.constant_bytes,
                                           has.local_bytes,
                                           has.registers,
                                           static_cast<std::size_t>(has.ptx_version.sm()),
                                           static_cast<std::size_t>(has.binary_version.sm()),
                                           has.caches_globals_in_l1,
                                           has.max_dynamic_shared_bytes,
                                           static_cast<std::size_t>(has.shared_carveout),
                                           has.needs_cluster,
                                           has.required_cluster.x,
                                           has.required_cluster.y,
                                           has.required_cluster.z,
                                           has.allows_nonportable_cluster,
                                           static_cast<std::size_t>(has.cluster_scheduling)};
    std::vector<std::size_t> expected(CU_FUNC_ATTRIBUTE_MAX);
    expected[static_cast<std::size_t>(only)] = 1;
    CHECK(told == expected);
  }
}

TEST_CASE("choices about a kernel are kept", "[kernel][attributes]") {
  const gpu::device device = test::first_device();
  const gpu::module module = loaded();
  const auto f = test::value_of(module.kernel<float*>("f"));
  test::value_of(gpu::set_attribute<attribute::shared_carveout>(f, 50, device));
  test::value_of(gpu::set_attribute<attribute::allows_nonportable_cluster>(f, true, device));
  test::value_of(gpu::set_attribute<attribute::cluster_scheduling>(
      f, gpu::cluster_scheduling::load_balancing, device));
  const gpu::kernel_properties has = test::value_of(f.properties(device));
  CHECK(has.shared_carveout == 50);
  CHECK(has.allows_nonportable_cluster);
  CHECK(has.cluster_scheduling == gpu::cluster_scheduling::load_balancing);
  CHECK(raw(f.native(), CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) == 50);
  CHECK(raw(f.native(), CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) == 1);
  for (const int percent : {-2, 101}) {
    const gpu::cuda_error error =
        test::error_of(gpu::set_attribute<attribute::shared_carveout>(f, percent, device));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(error.limit() == 100);
    CHECK(test::says(error, std::to_string(percent).c_str(), "0 to 100"));
  }
  CHECK(f.set_cache_preference(gpu::cache_preference::l1, gpu::device::from_native(99))
            .error()
            .code() == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("a choice that is no enumerator is refused", "[kernel][attributes]") {
  const gpu::device device = test::first_device();
  const gpu::module module = loaded();
  const auto f = test::value_of(module.kernel<float*>("f"));
  gpu::cuda_error error = test::error_of(f.set_cache_preference(gpu::cache_preference{77}, device));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(error.asked() == 77);
  CHECK(test::says(error, "gpu::kernel::set_cache_preference",
                   "77 is not a valid gpu::cache_preference"));
  error = test::error_of(
      gpu::set_attribute<attribute::cluster_scheduling>(f, gpu::cluster_scheduling{77}, device));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(error.asked() == 77);
  CHECK(test::says(error, "gpu::set_attribute", "77 is not a valid gpu::cluster_scheduling"));
}

TEST_CASE("what a kernel asks of its clusters reaches the driver", "[kernel][attributes]") {
  const gpu::device device = test::first_device();
  const gpu::module module = loaded();
  const auto f = test::value_of(module.kernel<float*>("f"));
  static std::vector<std::pair<CUfunction_attribute, int>> told;
  told.clear();
  gpu::driver::entry_points noting = gpu::driver::current_entry_points();
  noting.kernel_set_attribute = [](CUfunction_attribute which, int value, CUkernel, CUdevice) {
    told.emplace_back(which, value);
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(noting);
  test::value_of(gpu::set_attribute<attribute::needs_cluster>(f, true, device));
  test::value_of(gpu::set_attribute<attribute::required_cluster_width>(f, 4, device));
  test::value_of(gpu::set_attribute<attribute::required_cluster_height>(f, 2, device));
  test::value_of(gpu::set_attribute<attribute::required_cluster_depth>(f, 1, device));
  CHECK(told == std::vector<std::pair<CUfunction_attribute, int>>{
                    {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1},
                    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4},
                    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 2},
                    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1}});
}

TEST_CASE("a preference of caches reaches the driver", "[kernel][attributes]") {
  const gpu::device device = test::first_device();
  const gpu::module module = loaded();
  const auto f = test::value_of(module.kernel<float*>("f"));
  static std::vector<CUfunc_cache> asked;
  asked.clear();
  static const gpu::driver::entry_points* inner;
  inner = &gpu::driver::current_entry_points();
  gpu::driver::entry_points noting = *inner;
  noting.kernel_set_cache_config = [](CUkernel kernel, CUfunc_cache preference, CUdevice on) {
    asked.push_back(preference);
    return inner->kernel_set_cache_config(kernel, preference, on);
  };
  const gpu::driver::scoped_entry_points in_force(noting);
  for (const auto preference : {gpu::cache_preference::none, gpu::cache_preference::shared,
                                gpu::cache_preference::l1, gpu::cache_preference::equal}) {
    test::value_of(f.set_cache_preference(preference, device));
  }
  CHECK(asked == std::vector{CU_FUNC_CACHE_PREFER_NONE, CU_FUNC_CACHE_PREFER_SHARED,
                             CU_FUNC_CACHE_PREFER_L1, CU_FUNC_CACHE_PREFER_EQUAL});
}

TEST_CASE("a capture goes on while a kernel is asked and told", "[kernel][attributes][capture]") {
  const gpu::device device = test::first_device();
  const gpu::module module = loaded();
  const auto f = test::value_of(module.kernel<float*>("f"));
  const gpu::stream stream = test::value_of(gpu::stream::create(device));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  const auto all = f.properties(device);
  const auto one = gpu::attribute<attribute::registers>(f, device);
  const auto prefer = f.set_cache_preference(gpu::cache_preference::l1, device);
  const auto carve = gpu::set_attribute<attribute::shared_carveout>(f, 50, device);
  const auto found = module.kernel("clustered");
  CUgraph graph = nullptr;
  const CUresult ended = test::driver().stream_end_capture(stream.native(), &graph);
  if (ended == CUDA_SUCCESS) CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
  CHECK(ended == CUDA_SUCCESS);
  test::value_of(all);
  test::value_of(one);
  test::value_of(prefer);
  test::value_of(carve);
  test::value_of(found);
}

TEST_CASE("an empty kernel has no attributes", "[kernel][attributes]") {
  const gpu::device device = test::first_device();
  const gpu::kernel<float*> none;
  CHECK(none.properties(device).error() == gpu::errc::empty_handle);
  CHECK(gpu::attribute<attribute::registers>(none, device).error() == gpu::errc::empty_handle);
  CHECK(gpu::set_attribute<attribute::shared_carveout>(none, 5, device).error() ==
        gpu::errc::empty_handle);
  CHECK(none.set_cache_preference(gpu::cache_preference::l1, device).error() ==
        gpu::errc::empty_handle);
}

TEST_CASE("each driver call about attributes may fail", "[kernel][attributes]") {
  const gpu::compiled_program program =
      test::value_of(gpu::compile(source, {.architecture = gpu::architecture::compute(90)}));
  CHECK(test::sweep([&]() -> gpu::result<> {
          const gpu::device device = gpu::device::from_native(0);
          const gpu::module module = GPU_TRY(gpu::module::load(program));
          const auto f = GPU_TRY(module.kernel<float*>("f"));
          GPU_TRY(f.properties(device));
          GPU_TRY(gpu::attribute<attribute::registers>(f, device));
          GPU_TRY(f.set_cache_preference(gpu::cache_preference::shared, device));
          GPU_TRY(gpu::set_attribute<attribute::shared_carveout>(f, 25, device));
          return {};
        }) == "");
}

}}  // namespace kernel_properties_test
