// What the lines of C++ on the pages from-pycuda.md and from-cuda-runtime.md take for granted:
// tests/structure/documents puts this before them and compiles all.
#pragma once

#include "docs/snippets.hpp"

#include <gpu/core/last_error.hpp>
#include <gpu/memory/ipc.hpp>
#include <gpu/memory/memory_range_attribute.hpp>
#include <gpu/memory/peer.hpp>
#include <gpu/memory/shared_pool.hpp>
#include <gpu/texture.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

extern gpu::device other_device;
extern gpu::context own_context;
extern gpu::event start, stop, shared_event;
extern gpu::device_properties properties;
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
extern gpu::allocation_handle shared_allocation;

extern gpu::cuda_array<float> plane, other_plane, sparse, deferred, writable;
extern gpu::cuda_array<gpu::channels<std::uint8_t, 4>> colors;
extern gpu::mipmapped_array<float> mipmapped;
extern gpu::texture<float> sampling;
extern gpu::surface<float> writing;

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
