#pragma once
/// \file
/// A stream, numbers on the device and kernels that change them, for the tests of graphs.

#include "support/results.hpp"  // IWYU pragma: export

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <utility>
#include <vector>

namespace test {

/// add(p, v): *p += v, also where others add at the same time. twice(p): *p *= 2. set(c, p): sets
/// the condition to --*p. fault(): writes to where nothing is.
inline constexpr const char* graph_kernels = R"(.version 8.0
.target sm_90
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry add(.param .u64 p, .param .u32 v) {
  .reg .b64 %a; .reg .b32 %y;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; ld.param.u32 %y, [v];
  red.global.add.u32 [%a], %y; ret;
}
.visible .entry twice(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %x;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  ld.global.u32 %x, [%a]; add.u32 %x, %x, %x; st.global.u32 [%a], %x; ret;
}
.visible .entry count_down(.param .u64 c, .param .u64 p) {
  .reg .b64 %a, %c; .reg .b32 %x;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; ld.param.u64 %c, [c];
  ld.global.u32 %x, [%a]; sub.u32 %x, %x, 1; st.global.u32 [%a], %x;
  {
    .param .b64 handle; .param .b32 value;
    st.param.b64 [handle], %c; st.param.b32 [value], %x;
    call.uni cudaGraphSetConditional, (handle, value);
  }
  ret;
}
.visible .entry decide(.param .u64 c, .param .u32 v) {
  .reg .b64 %c; .reg .b32 %x;
  ld.param.u64 %c, [c]; ld.param.u32 %x, [v];
  {
    .param .b64 handle; .param .b32 value;
    st.param.b64 [handle], %c; st.param.b32 [value], %x;
    call.uni cudaGraphSetConditional, (handle, value);
  }
  ret;
}
.visible .entry fault() {
  .reg .b64 %a; .reg .b32 %x;
  mov.u64 %a, 16; mov.u32 %x, 1; st.global.u32 [%a], %x; ret;
}
)";

struct graph_fixture {
  gpu::device device = first_device();
  gpu::module code = value_of(gpu::module::load(graph_kernels));
  gpu::kernel<unsigned*, unsigned> add = value_of(code.kernel<unsigned*, unsigned>("add"));
  gpu::kernel<unsigned*> twice = value_of(code.kernel<unsigned*>("twice"));
  gpu::kernel<unsigned long long, unsigned*> count_down =
      value_of(code.kernel<unsigned long long, unsigned*>("count_down"));
  gpu::kernel<unsigned long long, unsigned> decide =
      value_of(code.kernel<unsigned long long, unsigned>("decide"));
  gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::device_buffer<unsigned> x = value_of(gpu::device_buffer<unsigned>::create(device, 16));
  gpu::graph graph = value_of(gpu::graph::create(device));

  graph_fixture() { set(0); }

  /// Every number on the device, from now on.
  void set(unsigned value) {
    value_of(gpu::fill(stream, x, value));
    value_of(stream.synchronize());
  }
  unsigned first() {
    std::vector<unsigned> host(16);
    value_of(gpu::copy(x, host));
    return host[0];
  }
  gpu::kernel_node<unsigned*, unsigned> adds(unsigned value) { return {{1, 1}, add, x, value}; }
  gpu::kernel_node<unsigned*> doubles() { return {{1, 1}, twice, x}; }
  unsigned run(const gpu::graph_exec& exec) {
    value_of(gpu::launch(stream, exec));
    value_of(stream.synchronize());
    return first();
  }
};

/// Whether a refusal is about an empty handle, and names the function and what is empty.
template <class T> bool is_empty(gpu::result<T> outcome, const char* function, const char* what) {
  const gpu::cuda_error error = error_of(std::move(outcome));
  return error == gpu::errc::empty_handle && says(error, function, what, "is empty");
}

}  // namespace test
