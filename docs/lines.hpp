// What the lines of C++ on the pages from-pycuda.md and from-cuda-runtime.md take for granted:
// tests/structure/documents puts this before them and compiles all.
#pragma once

#include "docs/snippets.hpp"

#include <gpu/algorithm/count.hpp>
#include <gpu/algorithm/dot.hpp>
#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/inner_product.hpp>
#include <gpu/algorithm/min_max.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/algorithm/scan.hpp>
#include <gpu/algorithm/subset.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/array/array.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/interop/external_memory.hpp>
#include <gpu/interop/external_semaphore.hpp>
#include <gpu/interop/opengl.hpp>
#include <gpu/memory/ipc.hpp>
#include <gpu/memory/memory_range_attribute.hpp>
#include <gpu/memory/peer.hpp>
#include <gpu/memory/shared_pool.hpp>
#include <gpu/random.hpp>
#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/reordered_matrix.hpp>
#include <gpu/testing/call_trace.hpp>
#include <gpu/testing/test_context.hpp>
#include <gpu/texture.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <vector_types.h>

extern gpu::device other_device;
extern gpu::context own_context;
extern gpu::event start, stop, shared_event;
extern gpu::device_properties properties;
extern gpu::device_data device_data;
extern gpu::cuda_error error;
extern gpu::compiled_program program;
extern gpu::text cubin;
extern gpu::jit_report report;
extern gpu::peer_access peers;

extern const void* pointer;
extern gpu::pinned_vector<float> pinned, other_pinned;
extern gpu::pinned_buffer<float> staging;
extern gpu::aligned_buffer<float> aligned;
extern gpu::registered_memory<float> registered;
extern gpu::managed_buffer<float> managed;
extern gpu::device_buffer<std::uint8_t> bytes;
extern gpu::device_buffer<std::uint16_t> shorts;
extern gpu::pitched_buffer<float> image, tile, volume, other_volume;
extern gpu::pitched_buffer<std::uint8_t> byte_image;
extern gpu::pitched_buffer<std::uint16_t> short_image;
extern gpu::pitched_host_span<float> host_image;
extern gpu::memory_pool pool;
extern gpu::caching_allocator cache;
extern gpu::caching_pinned_allocator pinned_cache;
extern gpu::memory_handle exported;
extern gpu::event_handle event_handle;
extern gpu::imported_memory<float> imported;
extern gpu::file_descriptor descriptor;
extern gpu::imported_memory_pool imported_pool;
extern gpu::external_memory external_memory;
extern gpu::external_semaphore timeline;
extern void *windows_handle, *attribute_list;
extern unsigned gl_name;
extern gpu::registered_gl_buffer gl_buffer;
extern gpu::registered_gl_image gl_image;
extern gpu::graphics_mapping gl_mapping;
extern gpu::allocation_handle shared_allocation;

extern gpu::cuda_array<float> plane, other_plane, sparse, deferred, writable;
extern gpu::cuda_array<gpu::channels<std::uint8_t, 4>> colors;
extern gpu::mipmapped_array<float> mipmapped;
extern gpu::texture<float> sampling;
extern gpu::surface<float> writing;

struct particle {
  float x, y;
};
template <> struct gpu::device_name<particle> {
  static constexpr const char* value = "particle";
  static constexpr const char* definition = "struct particle { float x, y; };";
};
extern gpu::elementwise<float, const float*, float*> add_scaled;
extern gpu::reduction<float, const float*> squares;
extern gpu::scan<float, const float*, float*> running_sum, running_sum_before;
extern std::vector<int> rows_of, columns_of;
extern gpu::csr_matrix<float> equations;
extern gpu::reordered_matrix<float> ordered;
extern gpu::async_inner_product<float> product;
extern gpu::conjugate_gradient<gpu::csr_matrix<float>> solver;
extern gpu::device_buffer<float> total;
extern gpu::array<float, 2> a;
extern gpu::array<double, 2> b, c;
extern gpu::array<std::complex<float>, 2> complex_array;
extern gpu::device_buffer<std::int32_t> indices;

extern gpu::philox engine;
extern gpu::xorwow xorwow_engine;
extern gpu::mrg32k3a mrg_engine;
extern gpu::sobol32 sobol_engine, scrambled_engine;
extern gpu::sobol64 sobol64_engine, scrambled64_engine;
extern std::vector<gpu::xorwow> xorwow_engines;
extern std::vector<gpu::mrg32k3a> mrg_engines;
extern std::vector<gpu::sobol32> sobol_engines, scrambled_engines;
extern std::vector<gpu::sobol64> sobol64_engines, scrambled64_engines;
extern std::vector<std::size_t> counts;
extern std::vector<std::uint32_t> vectors32, shifts32;
extern std::vector<std::uint64_t> vectors64, shifts64;
extern gpu::array<float> numbers;
extern gpu::array<float, 2> points;
extern gpu::array<unsigned> counted_numbers;
extern gpu::array<unsigned, 2> counted_points;

extern gpu::stream_capture capture;
extern gpu::graph graph;
extern gpu::graph_node node;

extern CUstream native_stream;
struct destroy_native {
  void operator()(CUstream) const noexcept;
};

/// For tuning: makes a variant's kernel, and launches it.
gpu::result<gpu::module> prepare(int block);
gpu::result<> launch(const gpu::module& code, int block);
