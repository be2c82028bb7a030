// Atomic operations of every type, from many blocks on many host threads.
#include <bit>
#include <limits>

#include "nogpu/machine/kernel_harness.hpp"

namespace atomics_test {

using namespace machine_test;

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 blocks = 12, threads = 96, total = blocks * threads;

/// The word at [p] after `instruction` was executed by every thread; %i is the thread's index in
/// the grid, %li the same in 64 bits.
template <class T> T after(const std::string& instruction, T start, bool shared = false) {
  const std::string text = R"(
.visible .entry k(.param .u64 p) {
  .shared .align 16 .b8 room[16];
  .reg .b64 %p, %g, %li, %ld, %le; .reg .b32 %i, %b, %d, %e; .reg .b16 %h; .reg .f32 %f; .reg .f64 %df;
  .reg .pred %q;
  ld.param.u64 %g, [p]; mov.u64 %p, %g;
  mov.u32 %b, %ctaid.x; mov.u32 %i, %ntid.x; mul.lo.u32 %b, %b, %i; mov.u32 %i, %tid.x;
  add.u32 %i, %i, %b; cvt.u64.u32 %li, %i;
)" +
                           std::string(shared ? R"(
  mov.u64 %p, room; cvta.shared.u64 %p, %p;
  setp.ne.u32 %q, %i, 0; @%q bra GO; ld.u64 %ld, [%g]; st.u64 [%p], %ld; GO: bar.sync 0;)"
                                              : "") +
                           instruction +
                           (shared ? R"(
  bar.sync 0; @%q bra END; ld.u64 %ld, [%p]; st.u64 [%g], %ld; END:)"
                                   : "") +
                           " ret; }";
  INFO(instruction);
  workbench bench(text, 3);
  std::vector<T> word(16 / sizeof(T), start);
  const address p = bench.upload(word);
  bench.run_well("k", {shared ? 1 : blocks, 1, 1}, {shared ? 1024 : threads, 1, 1}, p);
  return bench.download<T>(p, 1)[0];
}

}  // namespace

TEST_CASE("integer atomics", "[machine]") {
  CHECK(after<u32>("atom.global.add.u32 %d, [%p], 3;", 5) == 5 + 3 * total);
  CHECK(after<u64>("red.global.add.u64 [%p], %li;", 0) == u64{total} * (total - 1) / 2);
  CHECK(after<u32>("red.global.max.u32 [%p], %i;", 7) == total - 1);
  CHECK(after<u32>("sub.s32 %i, 10, %i; red.global.min.s32 [%p], %i;", 7) == 11 - total);
  CHECK(after<u64>("neg.s64 %li, %li; red.global.min.s64 [%p], %li;", 7) == u64{1} - total);
  CHECK(after<u32>("atom.global.inc.u32 %d, [%p], 99;", 0) == total % 100);
  CHECK(after<u32>("atom.global.dec.u32 %d, [%p], 99;", 99) == 99 - total % 100);
  CHECK(after<u32>("and.b32 %i, %i, 31; shl.b32 %b, 1, %i; red.global.or.b32 [%p], %b;", 0) == ~0u);
  CHECK(after<u32>("and.b32 %i, %i, 31; shl.b32 %b, 1, %i; not.b32 %b, %b; "
                   "red.global.and.b32 [%p], %b;",
                   ~0u) == 0);
  CHECK(after<u32>("red.global.xor.b32 [%p], 5;", 0) == 0);  // an even number of times
  CHECK(after<u32>("atom.global.exch.b32 %d, [%p], 42;", 0) == 42);
}

TEST_CASE("compare and swap builds what is missing", "[machine]") {
  CHECK(after<u32>("ld.global.u32 %d, [%p]; L: mov.u32 %e, %d; add.u32 %b, %e, 2; "
                   "atom.global.cas.b32 %d, [%p], %e, %b; setp.ne.u32 %q, %d, %e; @%q bra L;",
                   1) == 1 + 2 * total);
  CHECK(after<u64>("ld.global.u64 %ld, [%p]; L: mov.u64 %le, %ld; add.u64 %li, %le, 2; "
                   "atom.global.cas.b64 %ld, [%p], %le, %li; setp.ne.u64 %q, %ld, %le; @%q bra L;",
                   1) == 1 + 2 * total);
  CHECK(after<u16>("{ .reg .b16 %o, %n; ld.global.u16 %h, [%p]; L: mov.u16 %o, %h; "
                   "add.u16 %n, %o, 1; atom.global.cas.b16 %h, [%p], %o, %n; "
                   "setp.ne.u16 %q, %h, %o; @%q bra L; }",
                   1) == 1 + total);
  CHECK(after<u64>("{ .reg .b128 %o, %n, %r; L: ld.volatile.global.v2.u64 {%ld, %le}, [%p]; "
                   "mov.b128 %o, {%ld, %le}; add.u64 %ld, %ld, 1; mov.b128 %n, {%ld, %le}; "
                   "atom.global.cas.b128 %r, [%p], %o, %n; mov.b128 {%li, %le}, %r; "
                   "sub.u64 %ld, %ld, 1; setp.ne.u64 %q, %li, %ld; @%q bra L; }",
                   1) == 1 + total);
}

TEST_CASE("floating-point atomics", "[machine]") {
  CHECK(after<float>("red.global.add.f32 [%p], 0f3F000000;", 1.0f) == 1.0f + 0.5f * total);
  CHECK(after<double>("red.global.add.f64 [%p], 0d3FE0000000000000;", 1.0) == 1.0 + 0.5 * total);
  // f16 {1, 2}: 1,024 additions of 1 and 2 are exact.
  CHECK(after<u32>("setp.ge.u32 %q, %i, 1024; mov.b32 %b, 0x40003c00; "
                   "@!%q red.global.add.noftz.f16x2 [%p], %b;",
                   0) == 0x68006400u);
  // bf16 one: exact up to 256.
  CHECK(after<u16>("setp.ge.u32 %q, %i, 128; mov.b16 %h, 0x3f80; "
                   "@!%q red.global.add.noftz.bf16 [%p], %h;",
                   0) == 0x4300);
}

TEST_CASE("subnormal sums are flushed in global memory, not in shared", "[machine]") {
  const float tiny = std::numeric_limits<float>::denorm_min();
  CHECK(after<float>("atom.global.add.f32 %f, [%p], 0f00000001;", 0.0f) == 0.0f);
  CHECK(after<u64>("{ .reg .b32 %x; cvt.u32.u64 %x, %p; atom.add.f32 %f, [%p], 0f00000001; }", 0,
                   true) == std::bit_cast<u32>(tiny * 1024));
}

TEST_CASE("the f64 sum of NaNs is what an H200 leaves in each kind of memory", "[machine]") {
  const auto sum = [](const char* operand, u64 start, bool shared) {
    const std::string only_one = "setp.ne.u32 %q, %i, 0; @%q bra SKIP; ";
    return after<u64>(
        only_one + "mov.f64 %df, " + operand + "; red.add.f64 [%p], %df; SKIP: ", start, shared);
  };
  const char* const two = "0d4000000000000000";
  const char* const signaling = "0dFFF4000012345678";
  const char* const quiet = "0d7FF8000000000555";
  CHECK(sum(signaling, 0, false) == 0xfff4000012345678);
  CHECK(sum(signaling, 0, true) == 0xfffc000012345678);
  CHECK(sum(two, 0x7ff0000000000001, false) == 0x7ff0000000000001);
  CHECK(sum(two, 0x7ff0000000000001, true) == 0x7ff8000000000001);
  CHECK(sum(quiet, 0xfff8000000000001, false) == 0x7ff8000000000555);
  CHECK(sum(quiet, 0xfff8000000000001, true) == 0xfff8000000000001);
}

TEST_CASE("shared atomics and vector atomics", "[machine]") {
  CHECK(after<u64>("atom.add.u64 %ld, [%p], 2;", 5, true) == 5 + 2 * 1024);
  CHECK(after<u64>("atom.max.s32 %d, [%p], %i;", 5, true) == 1023);
  CHECK(after<float>("{ .reg .f32 %x<5>; mov.f32 %x1, 0f3F800000; "
                     "red.global.v4.f32.add [%p], {%x1, %x1, %x1, %x1}; }",
                     1.0f) == 1.0f + total);
  // What the vector held before, added up.
  CHECK(after<float>("{ .reg .f32 %x<3>; setp.ne.u32 %q, %i, 0; @%q bra SKIP; "
                     "atom.global.v2.f32.add {%x1, %x2}, [%p], {0f40000000, 0f40000000}; "
                     "add.f32 %f, %x1, %x2; st.global.f32 [%p], %f; SKIP: }",
                     1.5f) == 3.0f);
}

TEST_CASE("a message passes from block to block by release and acquire", "[machine]") {
  // Decoupled look-back in small: block n waits for block n - 1, in any order of execution.
  workbench bench(R"(
.visible .entry k(.param .u64 flags, .param .u64 sums) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd1, [flags]; ld.param.u64 %rd2, [sums];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r1, %r2, %r1; sub.u32 %r1, %r1, 1;
  mad.wide.u32 %rd3, %r1, 4, %rd1; mad.wide.u32 %rd4, %r1, 4, %rd2;
  mov.u32 %r3, 0;
  setp.eq.u32 %p, %r1, 0; @%p bra FIRST;
WAIT: ld.acquire.gpu.global.u32 %r4, [%rd3+-4]; setp.eq.u32 %p, %r4, 0; @%p bra WAIT;
  ld.global.u32 %r3, [%rd4+-4];
FIRST: add.u32 %r3, %r3, %r1;
  st.global.u32 [%rd4], %r3;
  st.release.gpu.global.u32 [%rd3], 1;
  ret; })",
                  3);
  const address flags = bench.upload(std::vector<u32>(20, 0)), sums = bench.allocate(80);
  // The blocks wait for later ones: they run all the same, as they would on hardware.
  bench.run_well("k", {20, 1, 1}, {}, flags, sums);
  const auto result = bench.download<u32>(sums, 20);
  for (u32 i = 0; i < 20; ++i) CHECK(result[i] == i * (i + 1) / 2);
}

TEST_CASE("an atomic on one side does not hide a race on shared memory", "[machine]") {
  const std::string atomic = "atom.shared.add.u32 %r2, [v], 1;", load = "ld.shared.u32 %r2, [v];",
                    store = "st.shared.u32 [v], 77;";
  const std::string watched = "ld.volatile.shared.u32 %r2, [v];",
                    relaxed = "st.relaxed.cta.shared.u32 [v], 77;";
  // Reports of a kernel in which one warp does `first` and the next one `second`.
  const auto races = [](const std::string& first, const std::string& second) {
    workbench bench(R"(
.visible .entry k() {
  .shared .align 4 .u32 v; .reg .b32 %r<3>; .reg .pred %p<3>;
  mov.u32 %r1, %tid.x; st.shared.u32 [v], 0; bar.sync 0;
  setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 33; @%p2 bra SECOND; @!%p1 bra END;
  )" + first +
                    " bra END;\nSECOND: " + second + "\nEND: ret; }");
    std::size_t found = 0;
    for (const fault& f : bench.run_well("k", {}, {64, 1, 1}).reports)
      found += f.kind == fault_kind::shared_race;
    return found;
  };
  for (const std::string& plain : {load, store}) {
    CAPTURE(plain);
    CHECK(races(atomic, plain) == 1);
    CHECK(races(plain, atomic) == 1);
  }
  CHECK(races(store, load) == 1);
  CHECK(races(atomic, atomic) == 0);
  // These pass unseen, as the documentation says.
  CHECK(races(store, watched) == 0);
  CHECK(races(relaxed, load) == 0);
}

}  // namespace atomics_test
