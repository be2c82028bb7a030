#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_data.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/primary_context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/kernel/occupancy.hpp>
#include <gpu/memory/device_buffer.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace occupancy_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr const char* source = R"(
extern "C" __global__ void light(float* x) { x[threadIdx.x] = 1.0f; }
extern "C" __global__ void shared_heavy(float* x) {
  __shared__ float tile[8192];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void register_heavy(float* x) {
  float values[100];
#pragma unroll
  for (int i = 0; i < 100; ++i) values[i] = x[threadIdx.x + i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 100; ++i) x[threadIdx.x * 100 + i] = values[99 - i];
}
extern "C" __global__ void __launch_bounds__(128) narrow(float* x) { x[threadIdx.x] = 2.0f; }
)";

struct kernels {
  gpu::module module = value_of(gpu::module::load(value_of(gpu::compile(source))));
  gpu::untyped_kernel light = value_of(module.kernel("light"));
  gpu::untyped_kernel shared_heavy = value_of(module.kernel("shared_heavy"));
  gpu::untyped_kernel register_heavy = value_of(module.kernel("register_heavy"));
  gpu::untyped_kernel narrow = value_of(module.kernel("narrow"));
  gpu::device device = test::first_device();
  gpu::context_scope scope =
      value_of(gpu::context_scope::enter(value_of(gpu::context::primary(device))));

  int attribute(CUdevice_attribute which) const {
    int value = 0;
    REQUIRE(test::driver().device_get_attribute(&value, which, device.native()) == CUDA_SUCCESS);
    return value;
  }
  /// The dynamic shared memory that the kernel may have as things stand.
  int allowed(const gpu::untyped_kernel& kernel) const {
    int value = -1;
    REQUIRE(test::driver().kernel_get_attribute(&value,
                                                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                kernel.native(), device.native()) == CUDA_SUCCESS);
    return value;
  }
  int raw_blocks(const gpu::untyped_kernel& kernel, int size, std::size_t shared) const {
    int blocks = -1;
    REQUIRE(test::driver().occupancy_max_active_blocks_per_multiprocessor(
                &blocks, reinterpret_cast<CUfunction>(kernel.native()), size, shared) ==
            CUDA_SUCCESS);
    return blocks;
  }
};

}  // namespace

TEST_CASE("occupancy: a cooperative grid has the blocks that all multiprocessors hold",
          "[kernel][occupancy]") {
  const kernels k;
  for (const int size : {1, 33, 1024}) {
    for (const std::size_t shared : {0u, 40000u, 60000u}) {
      const int blocks =
          value_of(gpu::max_cooperative_blocks(k.shared_heavy, k.device, size, shared));
      CHECK(blocks == k.raw_blocks(k.shared_heavy, size, shared) *
                          k.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    }
  }
  CHECK(value_of(gpu::max_cooperative_blocks(k.light, k.device, 64, std::size_t{1} << 40)) == 0);
  CHECK(says(error_of(gpu::max_cooperative_blocks(k.light, k.device, 1025)),
             "gpu::max_cooperative_blocks", "1025 threads", "pass 1 to 1024"));
  CHECK(error_of(gpu::max_cooperative_blocks(gpu::untyped_kernel(), k.device, 64)) ==
        gpu::errc::empty_handle);
}

TEST_CASE("occupancy: resident blocks are the driver's", "[kernel][occupancy]") {
  const kernels k;
  for (const int size : {1, 32, 33, 256, 1024}) {
    for (const std::size_t shared : {0u, 1024u, 40000u}) {
      for (const gpu::untyped_kernel& kernel : {k.light, k.shared_heavy}) {
        // First, since it allows the kernel so much.
        const int blocks = value_of(gpu::max_active_blocks(kernel, k.device, size, shared));
        CHECK(blocks == k.raw_blocks(kernel, size, shared));
      }
    }
  }
}

TEST_CASE("occupancy: flags, limits and bytes reach the driver", "[kernel][occupancy]") {
  struct request {
    std::size_t shared;
    int largest;
    unsigned flags;
    bool has_callback;
    bool operator==(const request&) const = default;
  };
  static std::vector<request> asked;
  asked.clear();
  static const gpu::driver::entry_points* inner;
  const kernels k;
  inner = &gpu::driver::current_entry_points();
  gpu::driver::entry_points noting = *inner;
  noting.occupancy_max_active_blocks_per_multiprocessor_with_flags =
      [](int* blocks, CUfunction kernel, int size, std::size_t shared, unsigned flags) {
        asked.push_back({shared, size, flags, false});
        return inner->occupancy_max_active_blocks_per_multiprocessor_with_flags(
            blocks, kernel, size, shared, flags);
      };
  noting.occupancy_max_potential_block_size_with_flags =
      [](int* grid, int* block, CUfunction kernel, CUoccupancyB2DSize shared_of_size,
         std::size_t shared, int largest, unsigned flags) {
        asked.push_back({shared, largest, flags, shared_of_size != nullptr});
        return inner->occupancy_max_potential_block_size_with_flags(
            grid, block, kernel, shared_of_size, shared, largest, flags);
      };
  const gpu::driver::scoped_entry_points in_force(noting);
  constexpr auto no_caching = gpu::occupancy_flags::disable_caching_override;
  constexpr unsigned native = CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE;
  value_of(gpu::max_active_blocks(k.light, k.device, 64, 16));
  value_of(gpu::max_active_blocks(k.light, k.device, 96, 0, no_caching));
  value_of(gpu::suggest_block_size(k.light, k.device));
  value_of(gpu::suggest_block_size(k.light, k.device, {32, 128, no_caching}));
  value_of(gpu::suggest_block_size(k.light, k.device, [](int) { return 8; },
                                   {.largest = 256, .flags = no_caching}));
  CHECK(asked == std::vector<request>{{16, 64, 0, false},
                                      {0, 96, native, false},
                                      {0, 0, 0, false},
                                      {32, 128, native, false},
                                      {0, 256, native, true}});
}

TEST_CASE("occupancy: the picture says what the driver says, and why", "[kernel][occupancy]") {
  const kernels k;
  const int threads = k.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  for (const gpu::untyped_kernel& kernel : {k.light, k.shared_heavy, k.register_heavy}) {
    for (const int size : {32, 96, 256, 512, 1024}) {
      for (const std::size_t shared : {std::size_t{0}, std::size_t{4096}, std::size_t{12345}}) {
        INFO(kernel.name() << ' ' << size << ' ' << shared);
        const gpu::occupancy found = value_of(gpu::get_occupancy(kernel, k.device, size, shared));
        const int blocks = k.raw_blocks(kernel, size, shared);
        CHECK(found.blocks == blocks);
        CHECK(found.warps == blocks * ((size + 31) / 32));
        CHECK(found.fraction == Approx(found.warps * 32.0 / threads));
        // What was worked out apart from the driver agrees with it.
        CHECK(*std::min_element(std::begin(found.allowed_by), std::end(found.allowed_by)) ==
              blocks);
        CHECK(found.allowed_by[static_cast<int>(found.limited_by)] == blocks);
      }
    }
  }
}

TEST_CASE("occupancy: warps get their registers in quarters of a multiprocessor",
          "[kernel][occupancy]") {
  // So many warps find registers, for kernels of so many: from NVIDIA's cuda_occupancy.h, for all
  // devices with 65,536 of them in four parts.
  struct row {
    int registers, warps;
  };
  constexpr row published[] = {{40, 48},  {48, 40},  {56, 36},  {64, 32},  {72, 28},
                               {80, 24},  {88, 20},  {96, 20},  {104, 16}, {112, 16},
                               {120, 16}, {128, 16}, {136, 12}, {144, 12}, {168, 12}};
  std::string text;
  for (int count = 8; count <= 128; count += 4) {
    const std::string n = std::to_string(count);
    text += "extern \"C\" __global__ void heavy" + n + "(float* x) { float v[" + n +
            "];\n#pragma unroll\nfor (int i = 0; i < " + n + "; ++i) v[i] = x[i];\n" +
            "__syncthreads();\n#pragma unroll\nfor (int i = 0; i < " + n + "; ++i) x[" + n +
            " - i] = v[i]; }\n";
  }
  const kernels k;
  REQUIRE(k.attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) == 65536);
  const gpu::module module = value_of(gpu::module::load(value_of(gpu::compile(text))));
  int told_apart = 0;  // where to divide all the registers would give another answer
  for (int count = 8; count <= 128; count += 4) {
    const gpu::untyped_kernel kernel =
        value_of(module.kernel(("heavy" + std::to_string(count)).c_str()));
    int registers = 0;
    REQUIRE(test::driver().kernel_get_attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS,
                                                kernel.native(),
                                                k.device.native()) == CUDA_SUCCESS);
    const auto found = std::find_if(std::begin(published), std::end(published), [&](const row& r) {
      return r.registers == (registers + 7) / 8 * 8;
    });
    if (found == std::end(published)) continue;
    for (const int size : {64, 256, 544}) {
      INFO(registers << " registers, blocks of " << size);
      const gpu::occupancy picture = value_of(gpu::get_occupancy(kernel, k.device, size));
      const int warps = size / 32;
      CHECK(picture.allowed_by[static_cast<int>(gpu::occupancy_limit::registers)] ==
            found->warps / warps);
      CHECK(k.raw_blocks(kernel, size, 0) ==
            *std::min_element(std::begin(picture.allowed_by), std::end(picture.allowed_by)));
      if (found->warps / warps != 2048 / found->registers / warps) ++told_apart;
    }
  }
  CHECK(told_apart != 0);
}

TEST_CASE("occupancy: plain numbers give what the driver says", "[kernel][occupancy]") {
  const kernels k;
  const gpu::device_data data = value_of(gpu::device_data::of(k.device));
  for (const gpu::untyped_kernel& kernel : {k.light, k.shared_heavy, k.register_heavy}) {
    gpu::block_demands block;
    int shared = 0;
    const auto get = [&](int& value, CUfunction_attribute which) {
      REQUIRE(test::driver().kernel_get_attribute(&value, which, kernel.native(),
                                                  k.device.native()) == CUDA_SUCCESS);
    };
    get(block.registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
    get(shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    for (const int size : {32, 96, 256, 1024}) {
      block.threads = size;
      block.shared_memory = static_cast<std::size_t>(shared) + 4096;
      INFO(kernel.name() << ' ' << size);
      if (block.registers * size > data.registers_per_block) continue;
      const gpu::occupancy found = value_of(gpu::estimate_occupancy(data, block));
      CHECK(found.blocks == k.raw_blocks(kernel, size, 4096));
      const gpu::occupancy measured = value_of(gpu::get_occupancy(kernel, k.device, size, 4096));
      CHECK(found.warps == measured.warps);
      CHECK(found.fraction == measured.fraction);
      CHECK(found.limited_by == measured.limited_by);
    }
  }
}

TEST_CASE("occupancy: a block that cannot run has none", "[kernel][occupancy]") {
  // A device of compute capability 8.6, from the CUDA programming guide's tables.
  gpu::device_data data;
  data.threads_per_block = 1024;
  data.warp_size = 32;
  data.warps_per_multiprocessor = 48;
  data.blocks_per_multiprocessor = 16;
  data.registers_per_block = data.registers_per_multiprocessor = 65536;
  data.shared_memory_opt_in = 99 * 1024;
  data.shared_memory_per_multiprocessor = 100 * 1024;
  data.reserved_shared_memory = 1024;
  CHECK(value_of(gpu::estimate_occupancy(data, {.threads = 256, .registers = 32})).blocks == 6);
  const gpu::occupancy one =
      value_of(gpu::estimate_occupancy(data, {.threads = 64, .shared_memory = 60 * 1024}));
  CHECK(one.blocks == 1);
  CHECK(one.warps == 2);
  CHECK(one.fraction == Approx(2 / 48.0));
  CHECK(one.limited_by == gpu::occupancy_limit::shared_memory);

  const auto refused = [&](gpu::block_demands block, auto... words) {
    const gpu::cuda_error error = error_of(gpu::estimate_occupancy(data, block));
    return error == gpu::errc::invalid_launch && says(error, words...);
  };
  CHECK(refused({}, "0 threads, but must have from 1 to 1024"));
  CHECK(refused({.threads = -1}, "from 1 to 1024"));
  CHECK(refused({.threads = 1025}, "1025 threads"));
  CHECK(refused({.threads = 1024, .registers = 65}, "66560 registers", "at most 65536"));
  CHECK(refused({.threads = 32, .shared_memory = 100 * 1024}, "102400 bytes of shared memory",
                "at most 101376"));
  data.warp_size = 0;
  CHECK(error_of(gpu::estimate_occupancy(data, {.threads = 32})) == gpu::errc::invalid_launch);
}

TEST_CASE("occupancy: each resource can be the limit", "[kernel][occupancy]") {
  const kernels k;
  const auto limit = [&](const gpu::untyped_kernel& kernel, int size, std::size_t shared) {
    return value_of(gpu::get_occupancy(kernel, k.device, size, shared)).limited_by;
  };
  CHECK(limit(k.light, 32, 0) == gpu::occupancy_limit::blocks);
  CHECK(limit(k.light, 1024, 0) == gpu::occupancy_limit::warps);
  CHECK(limit(k.shared_heavy, 64, 0) == gpu::occupancy_limit::shared_memory);
  CHECK(limit(k.register_heavy, 256, 0) == gpu::occupancy_limit::registers);
  CHECK(std::string(gpu::name_of(gpu::occupancy_limit::blocks)) == "blocks");
  CHECK(std::string(gpu::name_of(gpu::occupancy_limit::warps)) == "warps");
  CHECK(std::string(gpu::name_of(gpu::occupancy_limit::registers)) == "registers");
  CHECK(std::string(gpu::name_of(gpu::occupancy_limit::shared_memory)) == "shared_memory");
  CHECK(gpu::name_of(static_cast<gpu::occupancy_limit>(9)) == nullptr);
}

TEST_CASE("occupancy: the suggested block size is the driver's", "[kernel][occupancy]") {
  const kernels k;
  int grid = 0, block = 0;
  REQUIRE(test::driver().occupancy_max_potential_block_size(
              &grid, &block, reinterpret_cast<CUfunction>(k.light.native()), nullptr, 0, 0) ==
          CUDA_SUCCESS);
  const gpu::block_size_suggestion free = value_of(gpu::suggest_block_size(k.light, k.device));
  CHECK(free.block_size == block);
  CHECK(free.grid_size == grid);
  CHECK(grid % k.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) == 0);

  CHECK(value_of(gpu::suggest_block_size(k.light, k.device, {.largest = 96})).block_size <= 96);
  CHECK(value_of(gpu::suggest_block_size(k.narrow, k.device)).block_size <= 128);
}

TEST_CASE("occupancy: shared memory may depend on the block size", "[kernel][occupancy]") {
  const kernels k;
  int asked = 0, smallest = 1 << 20, largest = 0;
  const gpu::block_size_suggestion found =
      value_of(gpu::suggest_block_size(k.light, k.device, [&](int threads) {
        ++asked;
        smallest = std::min(smallest, threads);
        largest = std::max(largest, threads);
        return static_cast<std::size_t>(threads) * 64;
      }));
  CHECK(asked > 0);
  CHECK(smallest >= 1);
  CHECK(largest <= 1024);
  CHECK(found.block_size >= 1);
  // No more than fits at that size.
  const int blocks =
      k.raw_blocks(k.light, found.block_size, static_cast<std::size_t>(found.block_size) * 64);
  CHECK(blocks >= 1);
  CHECK(found.grid_size == blocks * k.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

TEST_CASE("occupancy: while one asks for its shared memory, another may be asked",
          "[kernel][occupancy]") {
  const kernels k;
  gpu::driver::entry_points calling = gpu::driver::current_entry_points();
  calling.occupancy_max_potential_block_size_with_flags = [](int* grid, int* block, CUfunction,
                                                             CUoccupancyB2DSize shared_of_size,
                                                             std::size_t, int, unsigned) {
    *grid = static_cast<int>(shared_of_size(32));
    *block = static_cast<int>(shared_of_size(64));
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(calling);
  using bytes_of = std::function<std::size_t(int)>;
  const auto outer =
      value_of(gpu::suggest_block_size(k.light, k.device, bytes_of([&](int threads) {
                                         const auto inner = value_of(gpu::suggest_block_size(
                                             k.narrow, k.device, bytes_of([](int) { return 3; })));
                                         CHECK(inner.grid_size == 3);
                                         CHECK(inner.block_size == 3);
                                         return static_cast<std::size_t>(threads);
                                       })));
  CHECK(outer.grid_size == 32);
  CHECK(outer.block_size == 64);
}

TEST_CASE("occupancy: what shared memory is left for so many blocks", "[kernel][occupancy]") {
  const kernels k;
  for (const int blocks : {1, 2, 4}) {
    const std::size_t bytes =
        value_of(gpu::available_dynamic_shared(k.light, k.device, blocks, 128));
    std::size_t raw = 0;
    REQUIRE(test::driver().occupancy_available_dynamic_smem_per_block(
                &raw, reinterpret_cast<CUfunction>(k.light.native()), blocks, 128) == CUDA_SUCCESS);
    CHECK(bytes == raw);
    CHECK(bytes > 0);
  }
}

TEST_CASE("occupancy: each question allows the kernel the shared memory that it is about",
          "[kernel][occupancy]") {
  constexpr std::size_t much =
      100'000;  // as every device has that can be asked for more than 48 KiB
  using question = std::size_t (*)(const kernels&, const gpu::untyped_kernel&);
  const question questions[] = {
      [](const kernels& k, const gpu::untyped_kernel& kernel) {
        return static_cast<std::size_t>(
            value_of(gpu::max_active_blocks(kernel, k.device, 64, much)));
      },
      [](const kernels& k, const gpu::untyped_kernel& kernel) {
        const gpu::occupancy found = value_of(gpu::get_occupancy(kernel, k.device, 64, much));
        CHECK(found.limited_by == gpu::occupancy_limit::shared_memory);
        CHECK(found.allowed_by[static_cast<int>(found.limited_by)] == found.blocks);
        return static_cast<std::size_t>(found.blocks);
      },
      [](const kernels& k, const gpu::untyped_kernel& kernel) {
        return static_cast<std::size_t>(
            value_of(gpu::suggest_block_size(kernel, k.device, {.dynamic_shared = much}))
                .block_size);
      },
      [](const kernels& k, const gpu::untyped_kernel& kernel) {
        return static_cast<std::size_t>(value_of(gpu::suggest_block_size(kernel, k.device, [](int) {
                                          return much;
                                        })).block_size);
      },
      [](const kernels& k, const gpu::untyped_kernel& kernel) {
        return value_of(gpu::available_dynamic_shared(kernel, k.device, 1, 64)) / much;
      },
  };
  for (const question ask : questions) {
    const kernels k;
    const int most = k.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    CHECK(k.raw_blocks(k.light, 64, much) == 0);
    CHECK(ask(k, k.light) > 0);
    CHECK(k.raw_blocks(k.light, 64, much) > 0);
    CHECK(k.allowed(k.light) == most);
    // What the kernel declares itself is not to be had twice.
    CHECK(ask(k, k.shared_heavy) > 0);
    CHECK(k.allowed(k.shared_heavy) == most - 8192 * 4);
    // The answer can be launched.
    const gpu::stream stream = value_of(gpu::stream::create(k.device));
    const auto x = value_of(gpu::device_buffer<float>::create(k.device, 32));
    value_of(gpu::launch(stream, {1, 32, much}, k.light, x));
    value_of(stream.synchronize());
  }
}

TEST_CASE("occupancy: what needs no more shared memory than usual leaves the kernel as it is",
          "[kernel][occupancy]") {
  const kernels k;
  const int before = k.allowed(k.light);
  const int most = k.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  REQUIRE(before < most);
  value_of(gpu::max_active_blocks(k.light, k.device, 64, 48 << 10));
  value_of(gpu::get_occupancy(k.light, k.device, 64));
  value_of(gpu::suggest_block_size(k.light, k.device, {.dynamic_shared = 1024}));
  CHECK(k.allowed(k.light) == before);
  // Nor does what no block can have.
  const auto more = static_cast<std::size_t>(most) + 1;
  CHECK(value_of(gpu::max_active_blocks(k.light, k.device, 64, more)) == 0);
  CHECK(value_of(gpu::get_occupancy(k.light, k.device, 64, more)).blocks == 0);
  for (const std::size_t huge : {~std::size_t{0}, ~std::size_t{0} / 2, std::size_t{1} << 32}) {
    CHECK(value_of(gpu::max_active_blocks(k.light, k.device, 64, huge)) == 0);
    const gpu::occupancy none = value_of(gpu::get_occupancy(k.light, k.device, 64, huge));
    CHECK(none.blocks == 0);
    CHECK(none.limited_by == gpu::occupancy_limit::shared_memory);
    const auto suggested = gpu::suggest_block_size(k.light, k.device, {.dynamic_shared = huge});
    CHECK((!suggested.has_value() || suggested->block_size == 0));
  }
  CHECK(k.allowed(k.light) == before);
  const auto suggested =
      gpu::suggest_block_size(k.narrow, k.device, [](int) { return ~std::size_t{0}; });
  CHECK((!suggested.has_value() || suggested->block_size == 0));
}

TEST_CASE("occupancy: a capture goes on", "[kernel][occupancy][capture]") {
  const kernels k;
  const gpu::stream stream = value_of(gpu::stream::create(k.device));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  const auto blocks = gpu::max_active_blocks(k.light, k.device, 64, 100'000);
  const auto picture = gpu::get_occupancy(k.narrow, k.device, 64, 100'000);
  const auto suggested = gpu::suggest_block_size(k.light, k.device);
  const auto left = gpu::available_dynamic_shared(k.shared_heavy, k.device, 1, 64);
  CUgraph graph = nullptr;
  const CUresult ended = test::driver().stream_end_capture(stream.native(), &graph);
  std::size_t nodes = 1;
  if (ended == CUDA_SUCCESS) {
    CHECK(test::driver().graph_get_nodes(graph, nullptr, &nodes) == CUDA_SUCCESS);
    CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
  }
  CHECK(ended == CUDA_SUCCESS);
  CHECK(nodes == 0);
  CHECK(value_of(blocks) > 0);
  CHECK(value_of(picture).blocks > 0);
  CHECK(value_of(suggested).block_size > 0);
  CHECK(value_of(left) > 0);
}

TEST_CASE("occupancy: bad sizes and empty kernels are refused", "[kernel][occupancy]") {
  const kernels k;
  for (const int size : {0, -1, 1025}) {
    const gpu::cuda_error error = error_of(gpu::max_active_blocks(k.light, k.device, size));
    CHECK(error == gpu::errc::invalid_launch);
    CHECK(says(error, std::to_string(size).c_str(), "1 to 1024", "light", "occupancy_test.cpp"));
    CHECK(says(error_of(gpu::get_occupancy(k.light, k.device, size)), "gpu::get_occupancy"));
    CHECK(error_of(gpu::available_dynamic_shared(k.light, k.device, 1, size)) ==
          gpu::errc::invalid_launch);
  }
  CHECK(error_of(gpu::suggest_block_size(k.light, k.device, {.largest = 2000})) ==
        gpu::errc::invalid_launch);
  for (const int blocks : {0, -7}) {
    const gpu::cuda_error error =
        error_of(gpu::available_dynamic_shared(k.light, k.device, blocks, 32));
    CHECK(error == gpu::errc::invalid_launch);
    CHECK(says(error, std::to_string(blocks).c_str(), "at least 1"));
  }
  const auto flags =
      gpu::occupancy_flags::disable_caching_override | static_cast<gpu::occupancy_flags>(8);
  for (const gpu::cuda_error& error :
       {error_of(gpu::max_active_blocks(k.light, k.device, 32, 0, flags)),
        error_of(gpu::suggest_block_size(k.light, k.device, {.flags = flags})),
        error_of(
            gpu::suggest_block_size(k.light, k.device, [](int) { return 0; }, {.flags = flags}))}) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, "9 has bits outside of gpu::occupancy_flags", "combine its enumerators"));
  }
  const gpu::untyped_kernel none;
  CHECK(error_of(gpu::max_active_blocks(none, k.device, 32)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::get_occupancy(none, k.device, 32)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::suggest_block_size(none, k.device)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::available_dynamic_shared(none, k.device, 1, 32)) == gpu::errc::empty_handle);
}

TEST_CASE("occupancy: every call that fails is told", "[kernel][occupancy]") {
  const gpu::compiled_program compiled = value_of(gpu::compile(source));
  const auto ask = [&](gpu::device device) -> gpu::result<> {
    const gpu::module module = GPU_TRY(gpu::module::load(compiled));
    const gpu::untyped_kernel light = GPU_TRY(module.kernel("light"));
    GPU_TRY(gpu::get_occupancy(light, device, 64));
    GPU_TRY(gpu::suggest_block_size(light, device));
    GPU_TRY(gpu::max_active_blocks(light, device, 64, 60'000));
    const gpu::untyped_kernel narrow = GPU_TRY(module.kernel("narrow"));
    GPU_TRY(gpu::suggest_block_size(narrow, device, [](int) { return 60'000; }));
    const gpu::untyped_kernel heavy = GPU_TRY(module.kernel("shared_heavy"));
    GPU_TRY(gpu::available_dynamic_shared(heavy, device, 1, 64));
    return {};
  };
  CHECK(test::sweep(
            [&]() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::result<> asked = ask(device);
              // The next round finds things as this one did.
              GPU_TRY(gpu::reset_primary_context(device));
              return asked;
            },
            // Where machine code was refused, the pop after it may fail: PTX is loaded next.
            {"cuCtxPopCurrent"}) == "");
}

}  // namespace occupancy_test
