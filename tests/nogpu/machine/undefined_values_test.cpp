// Values that were read from memory which nobody wrote: which uses of them are reported.

#include "kernel_harness.hpp"

#include <nogpu/machine/machine.hpp>

#include <string>
#include <vector>

namespace undefined_values_test { namespace {

using namespace machine_test;

/// A kernel with 32 words in shared memory, of which nobody writes the upper half: %a is the word
/// of the thread, undefined in lanes 16 to 31, %d the address of the word, %p that of a word in
/// global memory for the thread, %r its index.
std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 to) {
  .shared .align 16 .b8 room[128];
  .local .align 8 .b8 own[8];
  .reg .b64 %p, %s, %w, %v; .reg .b32 %a, %b, %c, %d, %e, %r; .reg .b16 %h; .reg .pred %q, %low, %o;
  .reg .f32 %f;
  ld.param.u64 %p, [to];
  mov.u32 %r, %tid.x;
  mad.wide.u32 %p, %r, 8, %p;
  mov.u32 %d, room;
  mad.lo.u32 %d, %r, 4, %d;
  setp.lt.u32 %low, %r, 16;
  @%low st.shared.u32 [%d], %r;
  bar.sync 0;
  ld.shared.u32 %a, [%d];
)" + body +
         "\n ret; }\n";
}

/// How many mistakes are reported.
std::size_t reports(const std::string& body) {
  INFO(body);
  workbench bench(kernel(body));
  const address to = bench.upload(std::vector<std::uint64_t>(32));
  const outcome result = bench.run("k", {}, {32, 1, 1}, to);
  INFO((result.error ? result.error->text : std::string()));
  CHECK_FALSE(result.error);
  for (const fault& f : result.reports) {
    CHECK(f.kind == fault_kind::uninitialized_read);
    CHECK(f.detail == "byte 64 of room");
    CHECK(f.thread[0] == 16);
  }
  return result.reports.size();
}

TEST_CASE("a value that nobody wrote and that has no effect is no mistake", "[machine]") {
  for (const char* body : {
           // Not used in these lanes, selected away, or masked.
           "@%low st.global.u32 [%p], %a;",
           "selp.b32 %b, %a, 7, %low; st.global.u32 [%p], %b;",
           "mov.u32 %b, 7; @%low mov.u32 %b, %a; st.global.u32 [%p], %b;",
           "setp.lt.s32 %q, %a, 5; and.pred %o, %q, %low; selp.b32 %b, 1, 2, %o;"
           "@%o add.u32 %b, %b, 1; st.global.u32 [%p], %b;",
           "setp.lt.s32 %q, %a, 5; not.pred %o, %low; or.pred %o, %o, %q; @%o bra L;"
           "st.global.u32 [%p], 1; L:",
           "setp.lt.and.s32 %q, %a, 5, %low; @%q st.global.u32 [%p], 3;",
           "mul.lo.u32 %b, %a, 0; add.u32 %b, %b, 1; st.global.u32 [%p], %b;",
           "and.b32 %b, %a, 0; st.global.u32 [%p], %b;",
           "xor.b32 %b, %a, %a; st.global.u32 [%p], %b;",
           "shl.b32 %b, %a, 8; and.b32 %b, %b, 255; st.global.u32 [%p], %b;",
           "mov.b64 %w, {%a, %r}; mov.b64 {%b, %c}, %w; st.global.u32 [%p], %c;",
           "mov.b64 %w, {%a, %r}; shr.u64 %w, %w, 32; st.global.u64 [%p], %w;",
           "add.s32 %a, %a, 1; mov.u32 %a, 5; st.global.u32 [%p], %a;",
           // Through shared and local memory, and other lanes.
           "st.shared.u32 [%d], %a; bar.sync 0; ld.shared.u32 %b, [%d]; selp.b32 %b, %b, 7, %low;"
           "st.global.u32 [%p], %b;",
           "st.local.u32 [own], %a; ld.local.u32 %b, [own]; selp.b32 %b, %b, 7, %low;"
           "st.global.u32 [%p], %b;",
           "st.shared.u32 [%d], %a; st.shared.u32 [%d], 3; ld.shared.u32 %b, [%d];"
           "st.global.u32 [%p], %b;",
           "shfl.sync.bfly.b32 %b, %a, 16, 31, -1; selp.b32 %b, 7, %b, %low;"
           "st.global.u32 [%p], %b;",
           // A part of a structure that is copied.
           "mov.b64 %w, {%r, %a}; st.global.u64 [%p], %w;",
           "st.global.v2.u32 [%p], {%r, %a};",
       })
    CHECK(reports(body) == 0);
}

TEST_CASE("a value that nobody wrote is reported where it has an effect", "[machine]") {
  for (const char* body : {
           "st.global.u32 [%p], %a;",
           "st.global.u8 [%p], %a;",
           "st.global.v2.u32 [%p], {%a, %a};",
           "add.s32 %b, %a, 1; st.global.u32 [%p], %b;",
           "cvt.rn.f32.u32 %f, %a; fma.rn.f32 %f, %f, %f, %f; st.global.f32 [%p], %f;",
           "selp.b32 %b, 7, %a, %low; st.global.u32 [%p], %b;",
           "setp.lt.s32 %q, %a, 5; @%q bra L; st.global.u32 [%p], 1; L:",
           "setp.eq.u32 %q, %a, 99; @%q bra L; st.global.u32 [%p], 1; L:",
           "setp.ne.u32 %q, %a, 0; @%q st.global.u32 [%p], 1;",
           "setp.gt.u32 %q, %a, 3; selp.b32 %b, 1, 2, %q; st.global.u32 [%p], %b;",
           "setp.gt.u32 %q, %a, 3; @%q ret; st.global.u32 [%p], 1;",
           "and.b32 %b, %a, 31; shl.b32 %b, %b, 2; mov.u32 %c, room; add.u32 %c, %c, %b;"
           "ld.shared.u32 %c, [%c]; st.shared.u32 [%d], %c;",
           "and.b32 %b, %a, 1; cvt.u64.u32 %w, %b; add.u64 %w, %w, %p; st.global.u8 [%w], 1;",
           "red.global.add.u32 [%p], %a;",
           "atom.shared.add.u32 %b, [%d], %a;",
           "mov.b64 %w, {%r, %a}; mov.b64 {%b, %c}, %w; st.global.u32 [%p], %c;",
           "shfl.sync.idx.b32 %b, %a, %r, 31, -1; st.global.u32 [%p], %b;",
       })
    CHECK(reports(body) == 1);
}

TEST_CASE("a fault names the load behind a value that has an effect", "[machine]") {
  workbench bench(
      kernel("add.s32 %b, %a, 1;\nsetp.lt.s32 %q, %b, 5;\n@%q bra L;\n"
             "st.global.u32 [%p], 1; L:"));
  bench.what.check.uninitialized_reads_are_faults = true;
  const outcome result = bench.run("k", {}, {32, 1, 1}, bench.allocate(256));
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::uninitialized_read);
  CHECK(result.error->instruction == "ld.shared.u32 %a, [%d];");
  CHECK(result.error->where == 1024 + 64);
}

}}  // namespace undefined_values_test
