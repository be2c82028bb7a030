// What kernels cost, counted by hand, and accesses to memory against sets of banks and sectors.
#include <algorithm>
#include <map>
#include <set>

#include <nogpu/machine/cost_table.hpp>
#include "nogpu/machine/kernel_harness.hpp"

namespace cost_counting_test {

using namespace machine_test;
using namespace nogpu;
using kind = instruction_kind;

namespace {

using u32 = std::uint32_t;

/// What a kernel, run once, costs.
template <class... Arguments>
cost_counts costs_of(workbench& bench, const char* kernel, extent grid, extent block,
                     const Arguments&... arguments) {
  cost_table table;
  bench.what.costs = &table;
  bench.run_well(kernel, grid, block, arguments...);
  bench.what.costs = nullptr;
  const cost_report report = table.report();
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].name == kernel);
  CHECK(report.kernels[0].launches == 1);
  return report.total();
}

/// A kernel in which each thread makes an access at an address from a table of offsets.
std::string access_text(const std::string& access) {
  return R"(
.visible .entry k(.param .u64 offsets, .param .u64 data) {
  .shared .align 16 .b8 room[32768];
  .reg .b64 %a, %o, %g; .reg .b32 %r, %s, %x; .reg .pred %p;
  ld.param.u64 %o, [offsets]; ld.param.u64 %g, [data];
  mov.u32 %r, %tid.x; mov.u32 %x, 7;
  mad.wide.u32 %a, %r, 4, %o; ld.global.u32 %r, [%a];
  cvt.u64.u32 %a, %r; add.u64 %g, %g, %a;
  mov.u32 %s, room; add.u32 %s, %s, %r; setp.ne.u32 %p, %r, 99999;
  )" + access +
         "\n  ret; }";
}

/// The costs of the access alone, by lanes at these offsets; 99999: a lane that makes none.
cost_counts access_costs(const std::string& access, const std::vector<u32>& offsets) {
  workbench bench(access_text(access)), without(access_text(""));
  const auto run = [&](workbench& b) {
    const address table = b.upload(offsets);
    const address data = b.upload(std::vector<u32>(25001));
    return costs_of(b, "k", {}, {static_cast<u32>(offsets.size()), 1, 1}, table, data);
  };
  cost_counts all = run(bench);
  const cost_counts rest = run(without);
  CHECK(all.instructions() == rest.instructions() + 1);
  all.sectors -= rest.sectors;
  all.least_sectors -= rest.least_sectors;
  all.global_accesses -= rest.global_accesses;
  return all;
}

std::vector<u32> every(u32 stride, u32 first = 0, u32 lanes = 32) {
  std::vector<u32> offsets;
  for (u32 i = 0; i < lanes; ++i) offsets.push_back(first + i * stride);
  return offsets;
}

/// Wavefronts of shared memory by the rule: each bank one word at a time.
std::uint64_t wavefronts_of(const std::vector<u32>& offsets, u32 size) {
  const u32 together = size <= 4 ? 32 : 128 / size;
  std::uint64_t sum = 0;
  for (u32 begin = 0; begin < 32; begin += together) {
    std::map<u32, std::set<u32>> words_of_bank;
    for (u32 lane = begin; lane < begin + together; ++lane)
      for (u32 byte = 0; byte < size; ++byte)
        words_of_bank[(offsets[lane] + byte) / 4 % 32].insert((offsets[lane] + byte) / 4);
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    sum += most;
  }
  return sum;
}

}  // namespace

TEST_CASE("bank conflicts are counted as one does it by hand", "[cpu][costs]") {
  const struct {
    const char* access;
    std::vector<u32> offsets;
    std::uint64_t wavefronts, least;
  } cases[] = {{"st.shared.u32 [%s], %x;", every(4), 1, 1},           // a row
               {"st.shared.u32 [%s], %x;", every(0), 1, 1},           // one word for all
               {"st.shared.u32 [%s], %x;", every(8), 2, 1},           // every second word
               {"st.shared.u32 [%s], %x;", every(12), 1, 1},          // an odd stride
               {"st.shared.u32 [%s], %x;", every(32 * 4), 32, 1},     // a column of 32 words
               {"st.shared.u32 [%s], %x;", every(33 * 4), 1, 1},      // of a padded array
               {"st.shared.u8 [%s], %x;", every(1), 1, 1},            // bytes of the same words
               {"st.shared.u8 [%s], %x;", every(128), 32, 1},         // bytes of one bank
               {"st.shared.v2.u32 [%s], {%x, %x};", every(8), 2, 2},  // by half warps
               {"st.shared.v2.u32 [%s], {%x, %x};", every(16), 4, 2},
               {"st.shared.v4.u32 [%s], {%x, %x, %x, %x};", every(16), 4, 4},  // by quarters
               {"st.shared.v4.u32 [%s], {%x, %x, %x, %x};", every(32), 8, 4},
               {"st.shared.v4.u32 [%s], {%x, %x, %x, %x};", every(0), 4, 4},
               {"st.shared.v4.u32 [%s], {%x, %x, %x, %x};", every(16, 0, 8), 1, 1},
               {"red.shared.add.u32 [%s], %x;", every(4), 1, 1},
               {"red.shared.add.u32 [%s], %x;", every(0), 32, 1},  // one word, one after the other
               {"red.shared.add.u64 [%s], %a;", every(0), 32, 2}};
  for (const auto& each : cases) {
    CAPTURE(each.access, each.offsets[1]);
    const cost_counts found = access_costs(each.access, each.offsets);
    CHECK(found.shared_accesses == 1);
    CHECK(found.wavefronts == each.wavefronts);
    CHECK(found.least_wavefronts == each.least);
    CHECK(found.bank_conflicts() == each.wavefronts - each.least);
    CHECK(found.global_accesses == 0);
  }
}

TEST_CASE("sectors of global memory are counted as one does it by hand", "[cpu][costs]") {
  const struct {
    const char* access;
    std::vector<u32> offsets;
    std::uint64_t sectors, least;
  } cases[] = {{"ld.global.u32 %x, [%g];", every(4), 4, 4},
               {"ld.global.u32 %x, [%g];", every(8), 8, 4},     // every second: half of it
               {"ld.global.u32 %x, [%g];", every(128), 32, 4},  // a column
               {"ld.global.u32 %x, [%g];", every(0), 1, 1},     // the same for all
               {"ld.global.u32 %x, [%g];", every(4, 4), 5, 4},  // not aligned to a sector
               {"ld.global.u8 %x, [%g];", every(1), 1, 1},
               {"ld.global.v4.u32 {%r, %x, %s, _}, [%g];", every(16), 16, 16},  // float4
               {"st.global.u32 [%g], %x;", every(8), 8, 4},
               {"st.global.u32 [%g], %x;", every(4, 0, 8), 1, 1},
               {"red.global.add.u32 [%g], %x;", every(0), 1, 1},
               {"ld.global.u64 %g, [%g];", every(8), 8, 8}};  // overwrites its address
  for (const auto& each : cases) {
    CAPTURE(each.access, each.offsets[1]);
    const cost_counts found = access_costs(each.access, each.offsets);
    CHECK(found.global_accesses == 1);
    CHECK(found.sectors == each.sectors);
    CHECK(found.least_sectors == each.least);
    CHECK(found.uncoalesced == (each.sectors > each.least ? 1 : 0));
    CHECK(found.shared_accesses == 0);
  }
}

TEST_CASE("accesses anywhere cost what sets of banks and sectors say", "[cpu][costs]") {
  const struct {
    u32 size;
    const char *shared, *global;
  } forms[] = {
      {2, "st.shared.u16 [%s], %x;", "ld.global.u16 %x, [%g];"},
      {4, "st.shared.u32 [%s], %x;", "ld.global.u32 %x, [%g];"},
      {8, "st.shared.v2.u32 [%s], {%x, %x};", "ld.global.v2.u32 {%x, %r}, [%g];"},
      {16, "st.shared.v4.u32 [%s], {%x, %x, %x, %x};", "ld.global.v4.u32 {%x, %r, %s, _}, [%g];"}};
  u32 seed = 0;
  for (const auto& form : forms)
    for (const u32 range : {16u, 64u, 2000u}) {
      std::vector<u32> offsets = random_words(32, ++seed);
      for (u32& each : offsets) each = each % range * form.size;
      CAPTURE(form.size, range);
      CHECK(access_costs(form.shared, offsets).wavefronts == wavefronts_of(offsets, form.size));
      std::set<u32> sectors, bytes;
      for (const u32 each : offsets)
        for (u32 i = 0; i < form.size; ++i) {
          sectors.insert((each + i) / 32);
          bytes.insert(each + i);
        }
      const cost_counts found = access_costs(form.global, offsets);
      CHECK(found.sectors == sectors.size());
      CHECK(found.least_sectors == (bytes.size() + 31) / 32);
    }
}

TEST_CASE("generic addresses count as the memory that they lead to", "[cpu][costs]") {
  workbench bench(R"(
.visible .entry k(.param .u64 data) {
  .shared .align 4 .b8 room[4096];
  .local .align 4 .b8 own[8];
  .reg .b64 %s, %l, %g, %o; .reg .b32 %r;
  mov.u32 %r, %tid.x;
  mov.u64 %s, room; cvta.shared.u64 %s, %s; mad.wide.u32 %s, %r, 128, %s; st.u32 [%s], %r;
  mov.u64 %l, own; cvta.local.u64 %l, %l; st.u32 [%l], %r; ld.u32 %r, [%l];
  ld.param.u64 %g, [data]; mov.u32 %r, %tid.x; mad.wide.u32 %g, %r, 8, %g; st.u32 [%g], %r;
  ld.u32 %r, [%g]; ret; })");
  const cost_counts found = costs_of(bench, "k", {}, {32, 1, 1}, bench.allocate(256));
  CHECK(found.count_of(kind::shared_store) == 1);
  CHECK(found.count_of(kind::local_store) == 1);
  CHECK(found.count_of(kind::local_load) == 1);
  CHECK(found.count_of(kind::global_store) == 1);
  CHECK(found.count_of(kind::global_load) == 1);
  CHECK(found.count_of(kind::constant_load) == 1);
  CHECK(found.count_of(kind::integer) == 2);
  CHECK(found.wavefronts == 32);
  CHECK(found.global_accesses == 2);
  CHECK(found.sectors == 16);
  CHECK(found.least_sectors == 8);
}

TEST_CASE("cp.async costs sectors where it reads and wavefronts where it writes", "[cpu][costs]") {
  const cost_counts found = access_costs("cp.async.cg.shared.global [%s], [%g], 16;", every(16));
  CHECK(found.count_of(kind::copy) == 1);
  CHECK(found.global_accesses == 1);
  CHECK(found.sectors == 16);
  CHECK(found.wavefronts == 4);
  CHECK(found.least_wavefronts == 4);
  // Of 0 bytes, nothing is read.
  const cost_counts none = access_costs(
      "{ .reg .b32 %n; .reg .b64 %z; cp.async.ca.shared.global [%s], [%g], 4, 0; }", every(128));
  CHECK(none.global_accesses == 0);
  CHECK(none.wavefronts == 32);
}

TEST_CASE("asynchronous stores and bulk reductions are copies, reductions of a value atomics",
          "[cpu][costs]") {
  workbench bench(R"(.visible .entry k(.param .u64 data) {
  .reg .b32 %s, %b; .reg .b64 %g; .shared .align 16 .b8 room[16]; .shared .align 8 .b8 object[8];
  ld.param.u64 %g, [data]; mov.u32 %s, room; mov.u32 %b, object;
  st.shared.v4.u32 [%s], {1, 2, 3, 4}; mbarrier.init.shared.b64 [%b], 1;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%g], [%s], 16;
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%s], 1, [%b];
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%s], 1, [%b];
  ret; })");
  const cost_counts found =
      costs_of(bench, "k", {}, {1, 1, 1}, bench.upload(std::vector<std::uint32_t>(4, 0)));
  CHECK(found.count_of(kind::copy) == 2);
  CHECK(found.count_of(kind::atomic) == 1);
  CHECK(found.count_of(kind::shared_store) == 1);
}

TEST_CASE("rows of matrices cost wavefronts as 16 bytes a lane", "[cpu][costs]") {
  const std::string load = R"({ .reg .b32 %m<4>;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%m0, %m1, %m2, %m3}, [%s]; })";
  CHECK(access_costs(load, every(16)).wavefronts == 4);
  CHECK(access_costs(load, every(128)).wavefronts == 32);  // rows of 64 halves
  CHECK(access_costs(load, every(144)).wavefronts == 4);   // padded by 8
  const cost_counts one = access_costs(
      "{ .reg .b32 %m; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%m}, [%s]; }", every(128));
  CHECK(one.wavefronts == 8);
  CHECK(one.least_wavefronts == 1);
  CHECK(one.count_of(kind::matrix) == 1);
}

TEST_CASE("products of warp groups and of sparse matrices count as matrices", "[cpu][costs]") {
  workbench bench(R"(.visible .entry k() {
  .reg .b32 %t, %s, %z; .reg .b64 %d; .reg .f32 %f<4>; .reg .b16 %h; .reg .pred %p;
  .shared .align 128 .b8 columns[256];
  mov.u32 %t, %tid.x; mov.u32 %s, columns; mad.lo.u32 %t, %t, 2, %s;
  mov.b16 %h, 0; st.shared.b16 [%t], %h; bar.sync 0; mov.b32 %z, 0; setp.ne.u32 %p, %z, 0;
  shr.u32 %s, %s, 4; cvt.u64.u32 %d, %s; add.u64 %d, %d, 0x800080000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%z, %z, %z, %z}, %d, %p, 1, 1, 0;
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  mov.f32 %f0, 0f00000000; mov.b32 %z, 0x44444444;
  mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%z, %z}, {%z, %z},
    {%f0, %f0, %f0, %f0}, %z, 0;
  ret; })",
                  1, "sm_90a");
  const cost_counts found = costs_of(bench, "k", {}, {128, 1, 1});
  CHECK(found.count_of(kind::matrix) == 4 * 2);
  CHECK(found.count_of(kind::synchronization) == 4 * (1 + 3));
  CHECK(found.count_of(kind::half_precision) == 0);
  CHECK(found.count_of(kind::single_precision) == 0);
}

TEST_CASE("a branch is divergent where the lanes of a warp go different ways", "[cpu][costs]") {
  const std::string text = R"(
.visible .entry k(.param .u32 bits, .param .u32 least) {
  .reg .b32 %r, %b, %l; .reg .pred %p;
  ld.param.u32 %b, [bits]; ld.param.u32 %l, [least]; mov.u32 %r, %tid.x; and.b32 %r, %r, %b;
  setp.lt.u32 %p, %r, %l; @%p bra ELSE;
  add.u32 %r, %r, 1; add.u32 %r, %r, 2; bra END;
ELSE: add.u32 %r, %r, 3;
END: ret; })";
  workbench bench(text);
  // Odd lanes: 6 instructions of all, 3 of one half, 1 of the other, 1 of all.
  const cost_counts odd = costs_of(bench, "k", {}, {32, 1, 1}, u32{1}, u32{1});
  CHECK(odd.branches == 1);
  CHECK(odd.divergent_branches == 1);
  CHECK(odd.instructions() == 11);
  CHECK(odd.thread_instructions == 7 * 32 + 4 * 16);
  CHECK(odd.mean_lanes() == (7 * 32 + 4 * 16) / 11.0);
  // One warp this way, one that way.
  const cost_counts apart = costs_of(bench, "k", {}, {64, 1, 1}, u32{63}, u32{32});
  CHECK(apart.branches == 2);
  CHECK(apart.divergent_branches == 0);
  CHECK(apart.instructions() == (7 + 1) + (7 + 3));
  CHECK(apart.mean_lanes() == 32);
  // A warp of 5 lanes.
  const cost_counts few = costs_of(bench, "k", {}, {5, 1, 1}, u32{0}, u32{1});
  CHECK(few.mean_lanes() == 5);
}

TEST_CASE("a loop diverges in each round in which some lanes leave it", "[cpu][costs]") {
  workbench bench(R"(
.visible .entry k() {
  .reg .b32 %r, %i; .reg .pred %p;
  mov.u32 %r, %tid.x; and.b32 %r, %r, 3; mov.u32 %i, 0;
AGAIN: add.u32 %i, %i, 1; setp.le.u32 %p, %i, %r; @%p bra AGAIN;
  ret; })");
  const cost_counts found = costs_of(bench, "k", {}, {32, 1, 1});
  CHECK(found.branches == 4);
  CHECK(found.divergent_branches == 3);
  CHECK(found.instructions() == 3 + 4 * 3 + 1);
  CHECK(found.thread_instructions == 4 * 32 + 3 * (32 + 24 + 16 + 8));
}

TEST_CASE("a jump by a table is divergent where lanes take different ones", "[cpu][costs]") {
  workbench bench(R"(
.visible .entry k(.param .u32 bits) {
  .reg .b32 %r, %b;
  ld.param.u32 %b, [bits]; mov.u32 %r, %tid.x; and.b32 %r, %r, %b;
  TABLE: .branchtargets A, B;
  brx.idx %r, TABLE;
A: add.u32 %r, %r, 1;
B: ret; })");
  const cost_counts apart = costs_of(bench, "k", {}, {32, 1, 1}, u32{1});
  CHECK(apart.branches == 1);
  CHECK(apart.divergent_branches == 1);
  const cost_counts together = costs_of(bench, "k", {}, {32, 1, 1}, u32{0});
  CHECK(together.branches == 1);
  CHECK(together.divergent_branches == 0);
}

TEST_CASE("instructions count by their kind, those that are left out by a guard as well",
          "[cpu][costs]") {
  workbench bench(R"(
.visible .const .align 4 .u32 c = 5;
.visible .func (.reg .b32 %d) twice(.reg .b32 %a) { add.u32 %d, %a, %a; ret; }
.visible .entry k(.param .u64 data) {
  .shared .align 4 .b8 room[4];
  .reg .b32 %r<4>; .reg .f32 %f; .reg .f64 %d; .reg .b16 %h; .reg .b64 %p; .reg .pred %q;
  mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 3; xor.b32 %r2, %r2, %r1; mov.u32 %r3, %laneid;
  cvt.rn.f32.u32 %f, %r1; fma.rn.f32 %f, %f, %f, %f; sqrt.rn.f32 %f, %f; mov.b16 %h, 0;
  cvt.f64.f32 %d, %f; add.f64 %d, %d, %d; mul.f64 %d, %d, %d; add.f16 %h, %h, %h;
  setp.lt.f32 %q, %f, 0fBF800000; @%q add.u32 %r2, %r2, 1;
  ld.const.u32 %r2, [c]; shfl.sync.idx.b32 %r2, %r2, 0, 31, -1; bar.sync 0;
  call.uni (%r2), twice, (%r2);
  ld.param.u64 %p, [data]; atom.global.add.u32 %r2, [%p], %r2;
  ret; })");
  const address data = bench.upload(std::vector<u32>{0});
  const cost_counts found = costs_of(bench, "k", {2, 1, 1}, {32, 1, 1}, data);
  const std::map<kind, std::uint64_t> expected{{kind::move, 3},
                                               {kind::integer, 4},
                                               {kind::conversion, 2},
                                               {kind::half_precision, 1},
                                               {kind::single_precision, 2},
                                               {kind::double_precision, 2},
                                               {kind::special_function, 1},
                                               {kind::constant_load, 2},
                                               {kind::warp_exchange, 1},
                                               {kind::synchronization, 1},
                                               {kind::control, 3},
                                               {kind::atomic, 1}};
  for (std::size_t i = 0; i < instruction_kinds; ++i) {
    const auto each = static_cast<kind>(i);
    CAPTURE(name_of(each));
    const auto wanted = expected.find(each);
    CHECK(found.count_of(each) == (wanted == expected.end() ? 0 : 2 * wanted->second));
  }
  CHECK(found.mean_lanes() == 32);
}

TEST_CASE("costs go by the line of the source, and by that of the PTX without", "[cpu][costs]") {
  const std::string body = R"(
.visible .entry k() {
  .reg .b32 %r;
  .loc 1 7 3
  mov.u32 %r, 1;
  add.u32 %r, %r, 1;
  .loc 2 7 3
  add.u32 %r, %r, 2;
  .loc 1 0 0
  add.u32	%r, %r, 3; add.u32 %r, %r, 4;
  .loc 1 9 1
  ret; })";
  workbench bench("\n.file 1 \"folder/some.cu\"\n.file 2 \"some.cuh\"" + body);
  cost_table table;
  bench.what.costs = &table;
  bench.run_well("k", {}, {32, 1, 1});
  bench.run_well("k", {3, 1, 1}, {32, 1, 1});
  const cost_report report = table.report();
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].launches == 2);
  std::map<std::string, std::uint64_t> found;
  for (const line_costs& line : report.kernels[0].lines)
    found[line.file + '|' + line.place()] = line.counts.instructions();
  CHECK(found == std::map<std::string, std::uint64_t>{{"folder/some.cu|some.cu:7", 8},
                                                      {"some.cuh|some.cuh:7", 4},
                                                      {"|PTX line 15: add.u32 %r, %r, 3;", 8},
                                                      {"folder/some.cu|some.cu:9", 4}});
  CHECK(std::is_sorted(report.kernels[0].lines.begin(), report.kernels[0].lines.end(),
                       [](const line_costs& a, const line_costs& b) {
                         return a.counts.instructions() > b.counts.instructions();
                       }));
}

TEST_CASE("costs are the same whatever the number of threads of the host",
          "[cpu][costs][threads]") {
  const char* text = R"(
.visible .entry k(.param .u64 data) {
  .reg .b64 %p; .reg .b32 %r, %c, %i; .reg .pred %q;
  ld.param.u64 %p, [data]; mov.u32 %r, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %r, %c, 96, %r;
  mad.wide.u32 %p, %r, 4, %p; and.b32 %c, %r, 7; mov.u32 %i, 0;
AGAIN: ld.global.u32 %r, [%p]; add.u32 %r, %r, 1; st.global.u32 [%p], %r; add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, %c; @%q bra AGAIN;
  ret; })";
  const auto counts = [&](unsigned threads) {
    workbench bench(text, threads);
    return costs_of(bench, "k", {64, 1, 1}, {96, 1, 1}, bench.upload(std::vector<u32>(64 * 96)));
  };
  const cost_counts one = counts(1);
  CHECK(one == counts(4));
  CHECK(one.branches == 64 * 3 * 7);
  CHECK(one.divergent_branches == 64 * 3 * 6);
}

TEST_CASE("a kernel that ends with a fault is counted as far as it came", "[cpu][costs]") {
  workbench bench(R"(
.visible .entry k() {
  .reg .b32 %r; .reg .b64 %p;
  mov.u32 %r, 1; add.u32 %r, %r, 1; mov.u64 %p, 0; st.global.u32 [%p], %r; add.u32 %r, %r, 1; ret; })");
  cost_table table;
  bench.what.costs = &table;
  const outcome result = bench.run("k", {}, {32, 1, 1});
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::null_access);
  CHECK(table.report().total().instructions() == 4);
  CHECK(table.report().kernels[0].launches == 1);
}

}  // namespace cost_counting_test
