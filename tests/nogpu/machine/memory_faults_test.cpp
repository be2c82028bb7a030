// The reports of invalid accesses.
#include "nogpu/machine/kernel_harness.hpp"

namespace memory_faults_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

constexpr const char* kernels = R"(
.file 1 "/home/me/kernel.cu"
.const .align 4 .b8 constants[16] = {1, 2, 3, 4};
.visible .entry load(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p;
  ld.param.u64 %rd1, [p];
  .loc 1 42 7
  ld.global.u32 %r1, [%rd1+8];
  setp.eq.u32 %p, %r1, 0;
  @%p ret;
  ret; }
.visible .entry dropped(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+8]; ret; }
.visible .entry store(.param .u64 p) {
  .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; st.u32 [%rd1], 5; ret; }
.visible .entry add(.param .u64 p) {
  .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; red.add.u32 [%rd1], 5; ret; }
.visible .entry vector(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p]; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]; ret; }
.visible .entry shared(.param .u64 offset) {
  .shared .align 4 .b8 room[64];
  .reg .b64 %rd<3>; ld.param.u64 %rd1, [offset]; st.shared.u32 [%rd1], 5; ret; }
.visible .entry shared_unwritten() {
  .shared .align 4 .b8 room[64];
  .reg .b64 %rd<3>; .reg .b32 %r<3>; cvta.shared.u64 %rd1, room; st.u32 [%rd1], 1;
  ld.u32 %r1, [%rd1]; ld.u32 %r2, [%rd1+8];
  red.shared.add.u32 [room], %r2; ret; }
.visible .entry local(.param .u64 offset) {
  .local .align 4 .b8 room[64];
  .reg .b64 %rd<3>; ld.param.u64 %rd1, [offset]; st.local.u32 [%rd1], 5; ret; }
.visible .entry own_atomic() {
  .local .align 4 .b8 room[64]; .reg .b64 %rd<3>;
  mov.u64 %rd1, room; cvta.local.u64 %rd2, %rd1; red.add.u32 [%rd2], 5; ret; }
.file 2 "tile.h"
.visible .entry inlined(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  .loc 1 50 3
  ld.param.u64 %rd1, [p];
  .loc 2 7 5, function_name names, inlined_at 1 50 3
  .loc 2 3 9, function_name names, inlined_at 2 7 5
  ld.global.u32 %r1, [%rd1+8];
  ret; }
.visible .entry constant() {
  .reg .b64 %rd<3>; mov.u64 %rd1, constants; st.u32 [%rd1], 5; ret; })";

fault_kind kind_of(const outcome& o) { return o.error ? o.error->kind : fault_kind::none; }

}  // namespace

TEST_CASE("an access out of bounds is reported with all that is known", "[machine]") {
  workbench bench(kernels);
  const address a = bench.allocate(12);
  REQUIRE(bench.memory.write(a, "abcdefghijkl", 12) == fault_kind::none);
  CHECK(kind_of(bench.run("load", {}, {}, a)) == fault_kind::none);
  const auto result = bench.run("load", {}, {}, a + 4);
  REQUIRE(result.error);
  const fault& f = *result.error;
  CHECK(f.kind == fault_kind::out_of_bounds);
  CHECK(f.kernel == "load");
  CHECK(f.where == a + 12);
  CHECK(f.access_size == 4);
  CHECK(f.access == access_kind::read);
  CHECK(f.instruction == "ld.global.u32 %r1, [%rd1+8];");
  CHECK(f.source_file == "/home/me/kernel.cu");
  CHECK(f.source_line == 42);
  CHECK(f.detail.find("0 bytes past the end of the device allocation of 12 bytes") == 0);
  CHECK(f.detail.find("made by the test") != std::string::npos);
  CHECK(f.text.find("PTX line") != std::string::npos);
  CHECK(f.text.ends_with("\n  source /home/me/kernel.cu:42"));
}

TEST_CASE("an access in inlined functions is reported with the calls", "[machine]") {
  workbench bench(kernels);
  const address a = bench.allocate(8);
  REQUIRE(bench.memory.write(a, "abcdefgh", 8) == fault_kind::none);
  const auto result = bench.run("inlined", {}, {}, a);
  REQUIRE(result.error);
  CHECK(result.error->source_file == "tile.h");
  CHECK(result.error->source_line == 3);
  CHECK(result.error->text.ends_with(
      "\n  source tile.h:3\n  inlined at tile.h:7\n  inlined at /home/me/kernel.cu:50"));
}

TEST_CASE("every kind of bad address is told from the others", "[machine]") {
  workbench bench(kernels);
  const address a = bench.upload(std::vector<u32>(8, 1));
  CHECK(kind_of(bench.run("store", {}, {}, a)) == fault_kind::none);
  CHECK(kind_of(bench.run("store", {}, {}, address{0})) == fault_kind::null_access);
  const outcome skewed = bench.run("store", {}, {}, a + 2);
  REQUIRE(kind_of(skewed) == fault_kind::misaligned);
  CHECK(skewed.error->detail.find("the address must be a multiple of 4; it is 2 bytes into the "
                                  "device allocation of 32 bytes") == 0);
  CHECK(skewed.error->detail.find("made by the test") != std::string::npos);
  CHECK(skewed.error->text.find("\n  source ") == std::string::npos);  // its line is not known
  const outcome offset = bench.run("shared", {}, {}, address{1024 + 2});
  REQUIRE(kind_of(offset) == fault_kind::misaligned);
  CHECK(offset.error->detail == "the address must be a multiple of 4");
  CHECK(kind_of(bench.run("vector", {}, {}, a + 4)) == fault_kind::misaligned);
  CHECK(kind_of(bench.run("vector", {}, {}, a + 16)) == fault_kind::none);
  CHECK(kind_of(bench.run("store", {}, {}, a + 30)) == fault_kind::misaligned);
  CHECK(kind_of(bench.run("store", {}, {}, a + 32)) == fault_kind::out_of_bounds);
  CHECK(kind_of(bench.run("store", {}, {}, a - 4)) == fault_kind::out_of_bounds);
  CHECK(kind_of(bench.run("constant", {}, {})) == fault_kind::read_only);
  const outcome local = bench.run("own_atomic", {}, {});
  REQUIRE(kind_of(local) == fault_kind::wrong_space);
  CHECK(local.error->detail == "atomic operations work on global and shared memory");
  REQUIRE(bench.memory.free(a) == free_status::freed);
  CHECK(kind_of(bench.run("store", {}, {}, a)) == fault_kind::use_after_free);
  CHECK(kind_of(bench.run("add", {}, {}, local_window)) == fault_kind::local_out_of_bounds);
  CHECK(kind_of(bench.run("load", {}, {}, shared_window - 8)) == fault_kind::out_of_bounds);
}

TEST_CASE("the address of host memory is said to be one", "[machine]") {
  workbench bench(kernels);
  u32 on_host = 7;
  const outcome stored = bench.run("store", {}, {}, reinterpret_cast<address>(&on_host));
  REQUIRE(kind_of(stored) == fault_kind::out_of_bounds);
  INFO(stored.error->text);
  CHECK(stored.error->detail ==
        "this is host memory; copy it to a device_buffer, or pass gpu::in, out or inout");
  CHECK(on_host == 7);
  const outcome nowhere = bench.run("store", {}, {}, address{0x3f80'0000});
  CHECK(nowhere.error->detail == "no allocation is near");
}

TEST_CASE("memory of another context is out of reach until peers are allowed", "[machine]") {
  workbench bench(kernels);
  const address a = bench.allocate(16, 2);
  bench.what.context = 1;
  CHECK(kind_of(bench.run("store", {}, {}, a)) == fault_kind::foreign_context);
  bench.memory.allow(1, 2);
  CHECK(kind_of(bench.run("store", {}, {}, a)) == fault_kind::none);
  bench.memory.allow(1, 2, false);
  CHECK(kind_of(bench.run("store", {}, {}, a)) == fault_kind::foreign_context);
}

TEST_CASE("shared and local memory have ends", "[machine]") {
  workbench bench(kernels);
  CHECK(kind_of(bench.run("shared", {}, {}, address{1024 + 60})) == fault_kind::none);
  const outcome just_beyond = bench.run("shared", {}, {}, address{1024 + 64});
  REQUIRE(kind_of(just_beyond) == fault_kind::shared_out_of_bounds);
  CHECK(just_beyond.error->detail ==
        "the block has 64 bytes of shared memory, and this is 0 bytes past the end of room");
  const outcome beyond = bench.run("shared", {}, {}, address{1024 + 68});
  CHECK(kind_of(beyond) == fault_kind::shared_out_of_bounds);
  CHECK(beyond.error->detail ==
        "the block has 64 bytes of shared memory, and this is 4 bytes past the end of room");
  bench.what.dynamic_shared_bytes = 4;
  CHECK(kind_of(bench.run("shared", {}, {}, address{1024 + 64})) == fault_kind::none);
  CHECK(kind_of(bench.run("local", {}, {}, address{60})) == fault_kind::none);
  CHECK(kind_of(bench.run("local", {}, {}, address{64})) == fault_kind::local_out_of_bounds);
  CHECK(kind_of(bench.run("local", {}, {}, ~address{3})) == fault_kind::local_out_of_bounds);
}

TEST_CASE("shared memory has whole units of 128 bytes where its bounds are only reported",
          "[machine]") {
  workbench bench(R"(
.extern .shared .align 16 .b8 room[];
.visible .entry sums(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<9>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
  mov.u32 %r3, room; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r1; bar.sync 0;
  ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3+16];
  add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7;
  st.global.u32 [%rd1], %r5; ret; }
.visible .entry effect(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [out]; ld.shared.u32 %r1, [room+28]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry write(.param .u64 offset) {
  .reg .b64 %rd<3>; ld.param.u64 %rd1, [offset]; st.shared.u32 [%rd1], 5; ret; }
.visible .entry remote() {
  .reg .b32 %r<5>; mov.u32 %r1, room; mapa.shared::cluster.u32 %r2, %r1, 1;
  st.shared::cluster.u32 [%r2+28], 5; st.shared::cluster.u32 [%r2+28], 5;
  barrier.cluster.arrive; barrier.cluster.wait; ret; })");
  const address out = bench.upload(std::vector<u32>(1));
  bench.what.dynamic_shared_bytes = 28;
  CHECK(kind_of(bench.run("sums", {}, {7, 1, 1}, out)) == fault_kind::shared_out_of_bounds);
  bench.what.check.shared_bounds_are_faults = false;
  const outcome widened = bench.run("sums", {}, {7, 1, 1}, out);
  CHECK(!widened.error);
  CHECK(bench.download<u32>(out, 1)[0] == 4 + 5 + 6);
  REQUIRE(widened.reports.size() == 1);  // nothing becomes of the last word
  CHECK(widened.reports[0].kind == fault_kind::shared_out_of_bounds);
  CHECK(widened.reports[0].detail ==
        "the block has 28 bytes of shared memory, and this is byte 16 "
        "of room");
  const outcome used = bench.run("effect", {}, {}, out);
  CHECK(!used.error);
  REQUIRE(used.reports.size() == 2);
  CHECK(used.reports[1].kind == fault_kind::uninitialized_read);
  for (const address last : {address{1024 + 28}, address{1024 + 124}}) {
    const outcome written = bench.run("write", {}, {}, last);
    CHECK(!written.error);
    CHECK(written.reports.size() == 1);
  }
  CHECK(kind_of(bench.run("write", {}, {}, address{1024 + 128})) ==
        fault_kind::shared_out_of_bounds);
  CHECK(kind_of(bench.run("write", {}, {}, address{1020})) == fault_kind::shared_out_of_bounds);
  bench.what.cluster = {2, 1, 1};
  const outcome remote = bench.run("remote", {2, 1, 1}, {});
  CHECK(!remote.error);
  CHECK(remote.reports.size() == 2);  // once for each instruction
  bench.what.cluster = {1, 1, 1};
  bench.what.check.shared_bounds = false;
  CHECK(bench.run("sums", {}, {7, 1, 1}, out).reports.empty());
  bench.what.dynamic_shared_bytes = 0;
  CHECK(kind_of(bench.run("write", {}, {}, address{1024})) == fault_kind::shared_out_of_bounds);
}

TEST_CASE("reads of memory never written are reported once, or are faults", "[machine]") {
  workbench bench(kernels);
  const address a = bench.allocate(64);
  CHECK(bench.run("dropped", {2, 1, 1}, {64, 1, 1}, a).reports.empty());
  auto result = bench.run("load", {2, 1, 1}, {64, 1, 1}, a);
  CHECK(!result.error);
  REQUIRE(result.reports.size() == 1);
  CHECK(result.reports[0].kind == fault_kind::uninitialized_read);
  CHECK(result.reports[0].where == a + 8);
  CHECK(kind_of(bench.run("store", {}, {}, a + 8)) == fault_kind::none);
  CHECK(bench.run("load", {}, {}, a).reports.empty());
  const outcome generic = bench.run("shared_unwritten", {}, {});
  REQUIRE(generic.reports.size() == 1);
  CHECK(generic.reports[0].where == 1024 + 8);
  CHECK(generic.reports[0].detail == "byte 8 of room");
  bench.what.check.uninitialized_reads_are_faults = true;
  CHECK(kind_of(bench.run("load", {}, {}, a)) == fault_kind::none);
  CHECK(kind_of(bench.run("load", {}, {}, a + 4)) == fault_kind::uninitialized_read);
  bench.what.check.uninitialized_reads_are_faults = false;
  bench.what.check.uninitialized_reads = false;
  CHECK(bench.run("load", {}, {}, a + 4).reports.empty());
}

}  // namespace memory_faults_test
