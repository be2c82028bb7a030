// Kernels whose blocks take several tiles, and try a quick way for the elements of a group first.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/compiler.hpp>
#include <gpu/device/embedded/boolean.hpp>
#include <gpu/device/embedded/loops.hpp>
#include <gpu/kernel.hpp>

#include <vector>

namespace tiles_in_turns_test { namespace {

using algorithm_test::fixture;

// The quick way gives up at every 19th element; what it then leaves must not remain.
constexpr char source[] = R"(
#include <gpu/device/boolean.cuh>
#include <gpu/device/loops.cuh>
template <int width> struct group { unsigned y[width]; };
extern "C" __global__ void turns(unsigned* out, int n) {
  const auto load = [&](auto& g, int from) {};
  const auto store = [&](auto& g, int from) {
    for (int k = 0; k < int(sizeof g / 4); ++k) out[from + k] += g.y[k];
  };
  bool undecided = false;
  const auto run = [&](auto& g, int k, int i) { g.y[k] = 2 * i; };
  const auto quick = [&](auto& g, int k, int i) {
    undecided |= i % 19 == 0;
    g.y[k] = i % 19 == 0 ? 12345 : 2 * i;
  };
  gpu::loops::run_tiles<group, 4, 2>(n, load, quick, undecided, run, store);
})";

TEST_CASE("blocks that take tiles in turns run each element once", "[algorithm]") {
  const fixture f;
  gpu::compile_options options;
  options.default_device = true;
  const auto code = test::value_of(gpu::module::load(test::value_of(
      gpu::compile(gpu::program(source)
                       .header(gpu::detail::boolean_header_name, gpu::detail::boolean_header)
                       .header(gpu::detail::loops_header_name, gpu::detail::loops_header),
                   options))));
  const auto kernel = test::value_of(code.kernel<void*, int>("turns"));
  constexpr unsigned threads = 32, tile = threads * 4 * 2;
  for (const unsigned n : {1u, 3u, tile / 2, tile - 1, tile, tile + 1, 6 * tile, 7 * tile + 130}) {
    for (const unsigned blocks : {1u, 2u, 3u, 8u}) {
      CAPTURE(n, blocks);
      auto out = f.upload(std::vector<unsigned>(n + 1, 1));
      test::value_of(gpu::launch(f.stream, {blocks, threads}, kernel, out, static_cast<int>(n)));
      test::value_of(f.stream.synchronize());
      std::vector<unsigned> expected(n + 1, 1);
      for (unsigned i = 0; i < n; ++i) expected[i] += 2 * i;
      CHECK((f.download(out) == expected));
    }
  }
}

}}  // namespace tiles_in_turns_test
