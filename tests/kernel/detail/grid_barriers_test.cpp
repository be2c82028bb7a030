// Which kernels of a program synchronize their grid, as NVRTC's PTX shows it.

#include <gpu/compiler.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel/detail/grid_barriers.hpp>

#include "support/results.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace grid_barriers_test { namespace {

using test::value_of;

/// The kernels that are found in PTX, sorted.
std::vector<std::string> found_in(const char* ptx, std::size_t size) {
  std::vector<std::string> names;
  for (const gpu::text& each : value_of(gpu::detail::find_grid_barriers(
           gpu::bytes_ref(ptx, size), gpu::source_location::current())))
    names.emplace_back(each.c_str());
  std::sort(names.begin(), names.end());
  return names;
}
std::vector<std::string> found_in(const std::string& ptx) {
  return found_in(ptx.data(), ptx.size());
}

constexpr const char* source = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ __noinline__ void wait() { cg::this_grid().sync(); }
__device__ __noinline__ void wait_there() { wait(); }
extern "C" __global__ void plain(int* x) { cg::this_grid().sync(); x[0] = 1; }
extern "C" __global__ void arrives(int* x) {
  auto grid = cg::this_grid();
  auto token = grid.barrier_arrive();
  x[0] = 1;
  grid.barrier_wait(static_cast<decltype(token)&&>(token));
}
extern "C" __global__ void in_loop(int* x) {
  for (int i = 0; i < x[1]; ++i) { x[2] += i; cg::this_grid().sync(); }
}
extern "C" __global__ void calls(int* x) { wait(); x[0] = 1; }
extern "C" __global__ void calls_calls(int* x) { wait_there(); x[0] = 1; }
template <class T> __global__ void of_type(T* x) { cg::this_grid().sync(); x[0] = 1; }
// These run without cooperation, too.
extern "C" __global__ void tests(int* x) {
  auto grid = cg::this_grid();
  if (grid.is_valid()) grid.sync();
  x[0] = 1;
}
extern "C" __global__ void asks(int* x) { x[0] = cg::this_grid().is_valid(); }
extern "C" __global__ void ranks(int* x) { x[cg::this_grid().thread_rank()] = 1; }
extern "C" __global__ void of_block(int* x) { cg::this_thread_block().sync(); x[0] = 1; }
extern "C" __global__ void traps(int* x) {
  x[1] = cg::this_grid().is_valid();
  if (x[0] == 7) __trap();
}
)";

TEST_CASE("kernels that synchronize their grid are found in their PTX", "[kernel]") {
  for (const gpu::architecture target :
       {gpu::architecture::compute(75), gpu::architecture::compute(90)}) {
    const auto program = value_of(
        gpu::compile(gpu::program(source).instance("of_type<float>"), {.architecture = target}));
    CHECK(found_in(program.ptx().c_str(), program.ptx().size()) ==
          std::vector<std::string>{"_Z7of_typeIfEvPT_", "arrives", "calls", "calls_calls",
                                   "in_loop", "plain"});
  }
}

TEST_CASE("a trap behind a test of the grid's workspace is found however it is reached",
          "[kernel]") {
  const auto kernel = [](const std::string& body) {
    return ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n" + body +
           "ret;\n}\n";
  };
  const std::string load = "mov.u32 %r1, %envreg1; // half\nsetp.ne.u32 %p1, %r1, 0;\n";
  const std::vector<std::string> k{"k"}, none;
  CHECK(found_in(kernel(load + "@!%p1 trap;\n")) == k);
  CHECK(found_in(kernel(load + "@%p1 bra L;\n.loc 1 2 3\ntrap;\nL:\n")) == k);
  CHECK(found_in(kernel(load + "@!%p1 bra.uni L;\nret;\nL: trap;\n")) == k);
  CHECK(found_in(kernel("{ " + load + "@!%p1 trap; }\n")) == k);
  CHECK(found_in(kernel(load + "trap;\n")) == none);
  CHECK(found_in(kernel(load + "@%p2 trap;\n")) == none);
  CHECK(found_in(kernel(load + "@%p1 bra L;\nmov.u32 %r2, 0;\ntrap;\nL:\n")) == none);
  CHECK(found_in(kernel("mov.u32 %r1, %envreg3;\nsetp.ne.u32 %p1, %r1, 0;\n@!%p1 trap;\n")) ==
        none);
  CHECK(found_in(kernel("// %envreg1\n")) == none);
  CHECK(found_in("") == none);
  CHECK(found_in("%envreg1") == none);
  CHECK(found_in("%envreg1;") == none);
  CHECK(found_in("}}{ %envreg1; (((: call (; .entry {") == none);
  CHECK(found_in(".entry { @%envreg1 bra; :::: trap; call (") == none);
}

}}  // namespace grid_barriers_test
