// Blocks that are kept for later launches, and begin anew there.
#include "kernel_harness.hpp"

#include <nogpu/machine/host_processors.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace host_processors_test {

using namespace nogpu::machine;
using machine_test::outcome;
using machine_test::workbench;

namespace {

// `fill` leaves ones in registers, local and shared memory; `look` reads what it never wrote.
constexpr const char* kernels = R"(
.visible .entry fill() {
  .local .align 4 .b8 room[64]; .shared .align 4 .b8 tile[128];
  .reg .b32 %r<40>; .reg .pred %p<8>;
  mov.u32 %r1, -1; mov.u32 %r2, -1; mov.u32 %r30, -1; setp.eq.u32 %p1, %r1, %r2;
  st.local.u32 [room], %r1; st.local.u32 [room+60], %r1; st.shared.u32 [tile+64], %r1;
  bar.sync 0; ret; }
.visible .entry look(.param .u64 out) {
  .local .align 4 .b8 room[64]; .shared .align 4 .b8 tile[128];
  .reg .b32 %r<40>; .reg .pred %p<8>; .reg .b64 %rd<4>;
  mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r0, 8, %rd1;
  or.b32 %r3, %r2, %r30; @%p1 mov.u32 %r3, 1; st.global.u32 [%rd1], %r3;
  ld.shared.u32 %r4, [tile+64]; st.global.u32 [%rd1+4], %r4; ret; }
.visible .entry look_at_room(.param .u64 out) {
  .local .align 4 .b8 room[64];
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out]; ld.local.u32 %r1, [room+60]; st.global.u32 [%rd1], %r1; ret; })";

std::size_t kept_in(workbench& bench) {
  std::vector<std::unique_ptr<cluster_state>> taken;
  while (std::unique_ptr<cluster_state> next = bench.processors.spare.take())
    taken.push_back(std::move(next));
  const std::size_t count = taken.size();
  for (auto& each : taken) bench.processors.spare.keep(std::move(each));
  return count;
}

}  // namespace

TEST_CASE("a launch takes a block of an earlier one, which begins anew", "[cpu][machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(64 * 8);
  bench.run_well("fill", {1, 1, 1}, {64, 1, 1});
  REQUIRE(kept_in(bench) == 1);
  std::unique_ptr<cluster_state> first = bench.processors.spare.take();
  const cluster_state* const same = first.get();
  bench.processors.spare.keep(std::move(first));
  bench.run_well("look", {1, 1, 1}, {64, 1, 1}, out);
  CHECK(kept_in(bench) == 1);
  CHECK(bench.processors.spare.take().get() == same);
  CHECK(bench.download<std::uint32_t>(out, 128) == std::vector<std::uint32_t>(128, 0));
}

TEST_CASE("reads of what an earlier launch wrote are reads of unwritten memory", "[cpu][machine]") {
  workbench bench(kernels);
  bench.what.check.uninitialized_reads = true;
  const address out = bench.allocate(64 * 8);
  bench.run_well("fill", {1, 1, 1}, {64, 1, 1});
  const outcome shared = bench.run("look", {1, 1, 1}, {64, 1, 1}, out);
  CHECK(shared.reports.size() + (shared.error ? 1 : 0) != 0);
  bench.run_well("fill", {1, 1, 1}, {64, 1, 1});
  const outcome local = bench.run("look_at_room", {1, 1, 1}, {1, 1, 1}, out);
  CHECK(local.reports.size() + (local.error ? 1 : 0) != 0);
}

TEST_CASE("as many blocks are kept as there are threads, and no clusters of several",
          "[cpu][machine]") {
  workbench bench(kernels, 2);
  bench.run_well("fill", {100, 1, 1}, {32, 1, 1});
  const std::size_t kept = kept_in(bench);
  CHECK(kept >= 1);
  CHECK(kept <= 2);

  workbench of_clusters(kernels, 2);
  of_clusters.what.cluster = {4, 1, 1};
  of_clusters.run_well("fill", {8, 1, 1}, {32, 1, 1});
  CHECK(kept_in(of_clusters) == 0);
}

TEST_CASE("a launch that faults leaves later ones as they are", "[cpu][machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(64 * 8);
  bench.run_well("fill", {1, 1, 1}, {64, 1, 1});
  CHECK(bench.run("look", {1, 1, 1}, {64, 1, 1}, address{8}).error);
  bench.run_well("look", {1, 1, 1}, {64, 1, 1}, out);
  CHECK(bench.download<std::uint32_t>(out, 128) == std::vector<std::uint32_t>(128, 0));
}

}  // namespace host_processors_test
