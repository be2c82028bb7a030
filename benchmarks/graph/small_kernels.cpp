// Time of 100 small kernels: launched one by one, and as a graph that was captured, through gpu
// and through the raw driver, in turns; medians, with the synchronization that follows. Exit code 1
// where the graph through gpu costs more than 1 % and more than 20 ns beyond the raw one, on a GPU,
// and where the kernels did not count as often as they should.

#include <gpu/gpu.hpp>
#include <gpu/graph.hpp>

#include "interleaved.hpp"

#include <cstdio>
#include <vector>

namespace {

using benchmark::need;

constexpr const char* source = R"(
extern "C" __global__ void count(unsigned* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++x[i];
})";

constexpr int kernels = 100;
constexpr int n = 256;
constexpr gpu::launch_config shape{1, n};

/// The raw driver's way from a stream to an executable graph.
template <class Work>
CUgraphExec raw_graph(const gpu::driver::entry_points& cu, CUstream stream, Work launch_all) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  need(cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch_all();
  need(cu.stream_end_capture(stream, &graph));
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  need(cu.graph_instantiate_with_params(&exec, graph, &parameters));
  need(cu.graph_destroy(graph));
  return exec;
}

}  // namespace

int main() {
  const benchmark::machine machine;
  const gpu::stream stream = need(gpu::stream::create(machine.device));
  const gpu::module code = need(gpu::module::load(need(gpu::compile(source))));
  const auto kernel = need(code.kernel<unsigned*, int>("count"));
  auto x = need(gpu::device_buffer<unsigned>::create(stream, n));
  need(gpu::fill(stream, x, 0u));
  need(stream.synchronize());

  // The raw side has a current context, as its programs do.
  const gpu::context_scope scope = need(gpu::context_scope::enter(stream.context()));
  const gpu::driver::entry_points cu = gpu::driver::current_entry_points();
  const auto function = reinterpret_cast<CUfunction>(kernel.native());
  const CUstream native = stream.native();
  bool good = true;
  const auto raw_launches = [&] {
    for (int i = 0; i < kernels; ++i) {
      CUdeviceptr address = x.native();
      int count = n;
      void* arguments[] = {&address, &count};
      good &= cu.launch_kernel(function, 1, 1, 1, n, 1, 1, 0, native, arguments, nullptr) ==
              CUDA_SUCCESS;
    }
  };
  const auto our_launches = [&] {
    for (int i = 0; i < kernels; ++i) {
      good &= gpu::launch(stream, shape, kernel, x, n).has_value();
    }
  };

  const CUgraphExec raw = raw_graph(cu, native, raw_launches);
  auto capture = need(gpu::stream_capture::begin(stream));
  our_launches();
  const gpu::graph graph = need(capture.end());
  gpu::graph_exec ours = need(gpu::graph_exec::instantiate(graph));

  unsigned runs = 0;
  const auto counted = [&](auto work) {
    return [&runs, work] {
      work();
      ++runs;
    };
  };
  const int pairs = machine.has_gpu ? 2000 : 20;
  const auto idle = [] {};
  const auto on_stream = benchmark::interleaved(pairs, 1, counted([&] {
                                                  raw_launches();
                                                  need(cu.stream_synchronize(native));
                                                }),
                                                counted([&] {
                                                  our_launches();
                                                  need(stream.synchronize());
                                                }),
                                                idle);
  const auto as_graph = benchmark::interleaved(pairs, 1, counted([&] {
                                                 need(cu.graph_launch(raw, native));
                                                 need(cu.stream_synchronize(native));
                                               }),
                                               counted([&] {
                                                 need(gpu::launch(stream, ours));
                                                 need(stream.synchronize());
                                               }),
                                               idle);
  need(cu.graph_exec_destroy(raw));

  (void)benchmark::within_limit("100 launches and a wait", on_stream);
  const bool within = benchmark::within_limit("a graph of 100 and a wait", as_graph);
  std::printf("per kernel through gpu: %.1f ns on a stream, %.1f ns in a graph, %.2f times fewer\n",
              on_stream.ours / kernels, as_graph.ours / kernels, on_stream.ours / as_graph.ours);

  std::vector<unsigned> host(n);
  need(gpu::copy(x, host));
  if (!good) std::printf("a call failed\n");
  bool right = true;
  for (const unsigned value : host) right = right && value == runs * kernels;
  if (!right) std::printf("the kernels counted to %u, not to %u\n", host[0], runs * kernels);
  return good && right && (within || !machine.has_gpu) ? 0 : 1;
}
