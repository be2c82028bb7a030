// Products of warp groups (wgmma) against arithmetic on the host. The layouts of matrices in shared
// memory are those of the manual of PTX: core matrices of 8 times 16 bytes, and rows whose pieces a
// swizzle exchanges.
#include <algorithm>

#include "nogpu/machine/kernel_harness.hpp"
#include "nogpu/machine/matrix_numbers.hpp"

namespace matrix_group_test {

using namespace machine_test;
using namespace matrix_numbers;

namespace {

constexpr u32 start_of_b = 8192, shared_bytes = 40960;

/// How a matrix lies in shared memory.
struct layout {
  u32 row_bytes = 16;  // 32, 64 or 128: with that swizzle
  bool transposed = false;
};

/// The piece of 16 bytes that a swizzle moves this one to, in a row of the pattern.
u32 swizzled(u32 row_bytes, u32 row, u32 piece) {
  switch (row_bytes) {
    case 128: return piece ^ row % 8;
    case 64: return piece ^ row / 2 % 4;
    case 32: return piece ^ row / 4 % 2;
    default: return piece;
  }
}

/// The offsets in a descriptor, for lines of `line_bytes` along k.
struct offsets {
  u32 leading, stride;
};
offsets offsets_of(const layout& l, u32 line_bytes) {
  const u32 groups = line_bytes / 16;  // of 8 elements along k, of a transposed matrix of 16 bits
  if (l.row_bytes == 16) return {128, 128 * groups + 16};
  if (l.transposed) return {groups * 8 * l.row_bytes, 8 * l.row_bytes};
  return {16, 1024};
}

/// The place of a byte of a line along k.
u32 offset_of(const layout& l, u32 line_bytes, u32 line, u32 byte) {
  const auto [leading, stride] = offsets_of(l, line_bytes);
  if (!l.transposed) {
    if (l.row_bytes == 16)
      return line / 8 * stride + byte / 16 * leading + line % 8 * 16 + byte % 16;
    return line / 8 * stride + line % 8 * l.row_bytes +
           swizzled(l.row_bytes, line % 8, byte / 16) * 16 + byte % 16;
  }
  const u32 k = byte / 2, within = line % 8 * 2 + byte % 2;
  if (l.row_bytes == 16) return line / 8 * stride + k / 8 * leading + k % 8 * 16 + within;
  const u32 lines = l.row_bytes / 2;  // in a row
  return line / lines * leading + k / 8 * stride + k % 8 * l.row_bytes +
         swizzled(l.row_bytes, k % 8, line % lines / 8) * 16 + within;
}

std::uint64_t descriptor(const layout& l, u32 line_bytes) {
  const auto [leading, stride] = offsets_of(l, line_bytes);
  const std::uint64_t mode = l.row_bytes == 128  ? 1
                             : l.row_bytes == 64 ? 2
                             : l.row_bytes == 32 ? 3
                                                 : 0;
  return std::uint64_t{leading / 16} << 16 | std::uint64_t{stride / 16} << 32 | mode << 62;
}

/// Lays rows of A, or columns of B, out in shared memory.
template <class Element>
void lay_out(std::vector<std::uint8_t>& shared, u32 start, const layout& l, u32 lines, u32 length,
             const format& f, Element element) {
  const u32 line_bytes = length * f.bits / 8;
  for (u32 line = 0; line < lines; ++line)
    for (u32 i = 0; i < length; ++i) {
      const std::uint64_t value = f.encode(element(line, i));
      for (u32 bit = 0; bit < f.bits; ++bit) {
        const u32 at = i * f.bits + bit;
        if ((value >> bit & 1) != 0)
          shared[start + offset_of(l, line_bytes, line, at / 8)] |=
              static_cast<std::uint8_t>(1u << at % 8);
      }
    }
}

struct product {
  u32 n, k;
  std::string d, a, b;
  layout in_a, in_b;
  bool registers = false;  // A is in registers
  bool sparse = false;
  std::string more = {};
  bool adds = true;
  int sign_a = 1, sign_b = 1;
  u32 selector = 0;
};

/// A kernel of 128 threads: fills shared memory, loads D and, in registers, A, then `body`.
std::string kernel(const std::string& body, u32 registers_of_d) {
  return R"(.visible .entry k(.param .u64 shared, .param .u64 a, .param .u64 d, .param .u64 e,
    .param .u64 da, .param .u64 db) {
  .reg .b64 %rd<12>; .reg .b32 %l, %t, %s, %e; .reg .b32 %a<4>; .reg .b32 %d<128>; .reg .pred %p, %q;
  .shared .align 1024 .b8 sh[40960];
  ld.param.u64 %rd1, [shared]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [d]; ld.param.u64 %rd4, [e];
  ld.param.u64 %rd5, [da]; ld.param.u64 %rd6, [db]; mov.u32 %l, %tid.x; mov.u32 %t, %l;
copy: mul.wide.u32 %rd7, %t, 4; add.u64 %rd7, %rd1, %rd7; ld.global.b32 %s, [%rd7];
  mov.u32 %e, sh; mad.lo.u32 %e, %t, 4, %e; st.shared.b32 [%e], %s;
  add.u32 %t, %t, 128; setp.lt.u32 %p, %t, 10240; @%p bra copy;
  bar.sync 0; fence.proxy.async;
  mov.u32 %e, sh; shr.u32 %e, %e, 4; cvt.u64.u32 %rd7, %e;
  add.u64 %rd5, %rd5, %rd7; add.u64 %rd6, %rd6, %rd7; add.u64 %rd6, %rd6, 512;
  mad.wide.u32 %rd7, %l, 4, %rd4; ld.global.b32 %e, [%rd7];
)" + move_registers(true, "a", 4, 4, "%rd2") +
         move_registers(true, "d", registers_of_d, 4, "%rd3") + "wgmma.fence.sync.aligned;\n" +
         body + "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" +
         move_registers(false, "d", registers_of_d, 4, "%rd3") + "ret; }";
}

void check_product(const product& f) {
  generator g;
  const format &fa = format_of(f.a), &fb = format_of(f.b), &fd = format_of(f.d);
  const bool scales = f.d != "s32", turns = fa.bits == 16;
  std::string mnemonic = std::string("wgmma.mma_async") + (f.sparse ? ".sp" : "") +
                         ".sync.aligned.m64n" + std::to_string(f.n) + "k" + std::to_string(f.k) +
                         f.more + "." + f.d + "." + f.a + "." + f.b;
  INFO(mnemonic << (f.registers ? ", A in registers, B " : ", A ")
                << (f.registers ? 0 : f.in_a.row_bytes) << (f.in_a.transposed ? " turned" : "")
                << ", B " << f.in_b.row_bytes << (f.in_b.transposed ? " turned" : ""));
  matrix a, packed;
  std::vector<u32> metadata;
  for (u32 warp = 0; warp < 4; ++warp) {
    const sparse_matrix part = f.sparse ? random_sparse(g, f.k, fa, f.selector)
                                        : sparse_matrix{random_matrix(g, 16, f.k, fa), {}};
    for (const auto& [at, v] : part.whole) a[{at.first + 16 * warp, at.second}] = v;
    for (const auto& [at, v] : f.sparse ? part.packed : part.whole)
      packed[{at.first + 16 * warp, at.second}] = v;
    metadata.insert(metadata.end(), part.metadata.begin(), part.metadata.end());
  }
  const matrix b = random_matrix(g, f.k, f.n, fb), c = random_matrix(g, 64, f.n, fd);
  std::vector<std::uint8_t> shared(shared_bytes), in_a, before, expected;
  const u32 length = f.sparse ? f.k / 2 : f.k;
  if (!f.registers)
    lay_out(shared, 0, f.in_a, 64, length, fa, [&](u32 m, u32 k) { return packed.at({m, k}); });
  lay_out(shared, start_of_b, f.in_b, f.n, f.k, fb, [&](u32 n, u32 k) { return b.at({k, n}); });
  matrix sum;
  for (const auto& [at, v] : c) {
    int products = 0;
    for (u32 k = 0; k < f.k; ++k) products += a.at({at.first, k}) * b.at({k, at.second});
    sum[at] = (f.adds ? v : 0) + products * f.sign_a * f.sign_b;
  }
  for (u32 warp = 0; warp < 4; ++warp) {
    const auto append = [](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& more) {
      to.insert(to.end(), more.begin(), more.end());
    };
    append(in_a, pack(packed, fa, 128 / fa.bits, [&](u32 lane, u32 i) {
             const place p = place_of_a(16, fa, lane, i);
             return place{p.row + 16 * warp, p.column};
           }));
    const auto in_d = [&](u32 lane, u32 i) {
      const place p = place_of_c(lane, i % 4);
      return place{p.row + 16 * warp, p.column + i / 4 * 8};
    };
    append(before, pack(c, fd, f.n / 2, in_d));
    append(expected, pack(sum, fd, f.n / 2, in_d));
  }
  const u32 count = f.n / 2 * fd.bits / 32;
  std::string body = std::string("setp.eq.u32 %q, 0, ") + (f.adds ? "0" : "1") + ";\n" + mnemonic +
                     " " + registers("d", count) + ", " +
                     (f.registers ? "{%a0,%a1,%a2,%a3}" : "%rd5") + ", %rd6, " +
                     (f.sparse ? "%e, " + std::to_string(f.selector) + ", " : "") + "%q";
  if (scales) body += ", " + std::to_string(f.sign_a) + ", " + std::to_string(f.sign_b);
  if (turns && !f.registers) body += f.in_a.transposed ? ", 1" : ", 0";
  if (turns) body += f.in_b.transposed ? ", 1" : ", 0";
  workbench bench(kernel(body + ";\n", count), 1, "sm_90a");
  const address out = bench.upload(before);
  bench.run_well("k", {}, {128, 1, 1}, bench.upload(shared), bench.upload(in_a), out,
                 bench.upload(metadata), descriptor(f.in_a, length * fa.bits / 8),
                 descriptor(f.in_b, f.k * fb.bits / 8));
  CHECK(bench.download<std::uint8_t>(out, expected.size()) == expected);
}

const layout plain{16, false};

/// Faults of a kernel of `threads` whose body is `text`, with empty shared memory.
outcome run_body(const std::string& text, u32 threads, std::uint64_t a, std::uint64_t b) {
  workbench bench(R"(.visible .entry k(.param .u64 a, .param .u64 b) {
  .reg .b64 %rd<4>; .reg .b32 %l, %w, %e; .reg .b32 %d<4>; .reg .pred %p, %q;
  .shared .align 1024 .b8 sh[4096];
  ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; mov.u32 %l, %tid.x; shr.u32 %w, %l, 5;
  mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0; setp.eq.u32 %q, 0, 0;
  mov.u32 %e, sh; mov.b32 %e, 0x44444444;
)" + text + "\nret; }",
                  1, "sm_90a");
  bench.what.check = checks{};
  bench.what.check.uninitialized_reads = false;
  return bench.run("k", {}, {threads, 1, 1}, a, b);
}

void says(const outcome& o, const std::string& text) {
  INFO((o.error ? o.error->text : std::string("no fault")));
  CHECK((o.error && o.error->text.find(text) != std::string::npos));
}

}  // namespace

TEST_CASE("wgmma multiplies every type, with A in shared memory and in registers", "[machine]") {
  for (const bool in_registers : {false, true})
    for (const u32 n : {8u, 24u}) {
      const auto check = [&](u32 k, const char* d, const char* a, const char* b,
                             const char* more = "") {
        check_product({n, k, d, a, b, plain, plain, in_registers, false, more});
      };
      check(16, "f16", "f16", "f16");
      check(16, "f32", "f16", "f16");
      check(16, "f32", "bf16", "bf16");
      check(8, "f32", "tf32", "tf32");
      check(256, "s32", "b1", "b1", ".and.popc");
      for (const char* a : {"e4m3", "e5m2"})
        for (const char* b : {"e4m3", "e5m2"})
          for (const char* d : {"f16", "f32"}) check(32, d, a, b);
      for (const char* a : {"s8", "u8"})
        for (const char* b : {"s8", "u8"}) check(32, "s32", a, b, n == 8 ? ".satfinite" : "");
    }
}

TEST_CASE("wgmma reads every layout of matrices in shared memory", "[machine]") {
  for (const u32 row : {16u, 32u, 64u, 128u}) {
    for (const bool turned : {false, true}) {
      check_product({40, 16, "f32", "f16", "f16", {row, turned}, plain});
      check_product({80, 16, "f32", "bf16", "bf16", plain, {row, turned}});
      check_product({72, 16, "f32", "f16", "f16", {row, turned}, {row, !turned}});
      check_product({16, 16, "f32", "f16", "f16", plain, {row, turned}, true});
    }
    check_product({16, 8, "f32", "tf32", "tf32", {row, false}, {row, false}});
    check_product({32, 32, "s32", "s8", "u8", {row, false}, {row, false}});
    check_product({32, 32, "f32", "e4m3", "e4m3", {row, false}, {row, false}});
    check_product(
        {16, 256, "s32", "b1", "b1", {row, false}, {row, false}, false, false, ".and.popc"});
  }
}

TEST_CASE("wgmma has up to 256 columns", "[machine]") {
  check_product({256, 16, "f32", "f16", "f16", {128, false}, {128, false}});
  check_product({256, 32, "s32", "s8", "s8", {64, false}, {64, false}});
  check_product({248, 16, "f16", "f16", "f16", {128, true}, {128, true}});
}

TEST_CASE("wgmma leaves D out, and negates A or B", "[machine]") {
  for (const int sign_a : {1, -1})
    for (const int sign_b : {1, -1}) {
      check_product(
          {8, 16, "f32", "f16", "f16", plain, plain, false, false, "", true, sign_a, sign_b});
      check_product(
          {8, 8, "f32", "tf32", "tf32", plain, plain, true, false, "", false, sign_a, sign_b});
      check_product(
          {8, 32, "f16", "e5m2", "e4m3", plain, plain, false, false, "", false, sign_a, sign_b});
    }
  check_product({8, 32, "s32", "u8", "u8", plain, plain, false, false, "", false});
}

TEST_CASE("wgmma multiplies sparse matrices", "[machine]") {
  for (const bool in_registers : {false, true}) {
    for (const u32 selector : {0u, 1u}) {
      const auto check = [&](u32 k, const char* d, const char* type, layout in_b) {
        check_product(
            {16, k, d, type, type, plain, in_b, in_registers, true, "", true, 1, -1, selector});
      };
      check(32, "f32", "f16", plain);
      check(32, "f16", "f16", {32, true});
      check(32, "f32", "bf16", {64, false});
      check(16, "f32", "tf32", {128, false});
    }
    check_product({16, 64, "s32", "s8", "u8", plain, {64, false}, in_registers, true});
    check_product({16, 64, "f32", "e4m3", "e5m2", {128, false}, plain, in_registers, true});
  }
}

TEST_CASE("a warp group executes its products together", "[machine]") {
  const std::string product = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0,%d1,%d2,%d3}, ";
  const std::string whole = product + "%rd0, %rd1, %q;\n";
  const std::uint64_t good = 64 | 8ull << 16 | 16ull << 32;  // from 1024 on
  CHECK_FALSE(run_body(whole, 128, good, good).error);
  CHECK_FALSE(run_body(whole + whole, 256, good, good).error);
  says(run_body(whole, 96, good, good),
       "a warp group has four warps: of those from 0 on, the block has 3");
  says(run_body(whole, 192, good, good),
       "a warp group has four warps: of those from 4 on, the block has 2");
  for (const char* relation : {"eq", "ne"})
    says(run_body(std::string("setp.") + relation + ".u32 %p, %w, 2; @%p ret;\n" + whole, 128, good,
                  good),
         ": all four warps");
  says(run_body("setp.eq.u32 %p, %w, 1; @%p bra other;\n" + whole + "ret; other: " + whole, 128,
                good, good),
       "another warp of the warp group executes the product of PTX line ");
  says(run_body("setp.lt.u32 %p, %l, 16; @%p ret; bar.warp.sync 0xffff0000;\n" + whole, 128, good,
                good),
       "of the warp do not execute it: a matrix instruction needs all 32");
  says(run_body("setp.lt.u32 %q, %l, 8;\n" + whole, 128, good, good),
       "lanes 0xff add to D, the others do not: the predicate is the same in all lanes");
}

TEST_CASE("a matrix descriptor that means nothing is a fault", "[machine]") {
  const std::string whole =
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0,%d1,%d2,%d3}, %rd0, %rd1, %q;\n";
  const std::uint64_t good = 64 | 8ull << 16 | 16ull << 32;
  says(run_body(whole, 128, 0x7f00'0000'0400, good),
       "the matrix descriptor of A, 0x7f0000000400, has bits outside of its fields, "
       "0x400000000000: it is made from an address in shared memory, and offsets, in 16 bytes");
  says(run_body(whole, 128, good, good | 1ull << 14), "the matrix descriptor of B, 0x");
  says(run_body("setp.eq.u32 %p, %l, 5; @%p add.u64 %rd1, %rd1, 1;\n" + whole, 128, good, good),
       "the matrix descriptor of B is not the same in all lanes");
  says(run_body(whole, 128, good, good + 320), "16 bytes at 0x1800: the block has 4096 bytes");
  says(run_body("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%d0,%d1,%d2,%d3}, %rd0, %rd1, "
                "%e, 0, %q;\n",
                128, good, good | 3ull << 62),
       "the matrix descriptor of B has a swizzle of 32 bytes, but B has 64 bytes along k");
}

TEST_CASE("wgmma needs a target with its features", "[machine]") {
  address_space memory;
  const std::string text = ".visible .entry k() { wgmma.fence.sync.aligned; ret; }";
  const load_result loaded = load_text(module_text(text), memory);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.diagnostic.text == "wgmma needs .target sm_90a, this module has sm_90");
}

}  // namespace matrix_group_test
