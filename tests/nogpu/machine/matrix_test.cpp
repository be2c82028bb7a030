// Matrix instructions against arithmetic on the host, with numbers that are exact in every format.
#include "nogpu/machine/kernel_harness.hpp"
#include "nogpu/machine/matrix_numbers.hpp"

namespace matrix_test {

using namespace machine_test;
using namespace matrix_numbers;

namespace {

struct form {
  u32 m, n, k;
  std::string d, a, b, c;
  std::string more;  // suffixes
};

std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {
  .reg .b64 %rd<10>; .reg .b32 %l; .reg .b32 %a<8>; .reg .b32 %b<8>; .reg .b32 %c<8>;
  .reg .b32 %d<8>; .reg .b64 %wa<8>; .reg .b64 %wb<8>; .reg .b64 %wc<8>; .reg .b64 %wd<8>;
  .shared .align 16 .b8 sh[512];
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [d];
  mov.u32 %l, %laneid;
)" + body +
         "\n ret; }";
}

std::string shape_of(const form& f) {
  return ".m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" + std::to_string(f.k);
}

/// Runs an mma with fragments as the manual has them.
void check_mma(const form& f) {
  const std::string mnemonic = "mma.sync.aligned" + shape_of(f) + ".row.col" + f.more + "." + f.d +
                               "." + f.a + "." + f.b + "." + f.c;
  INFO(mnemonic);
  generator g;
  const format &fa = format_of(f.a), &fb = format_of(f.b), &fc = format_of(f.c);
  const matrix a = random_matrix(g, f.m, f.k, fa), b = random_matrix(g, f.k, f.n, fb),
               c = random_matrix(g, f.m, f.n, fc);
  const u32 na = f.m * f.k / 32, nb = f.k * f.n / 32, nc = f.m * f.n / 32;
  const bool wide = f.a == "f64";
  const u32 size = wide ? 8 : 4;
  const auto count = [size](u32 elements, const format& t) { return elements * t.bits / 8 / size; };
  const char *ra = wide ? "wa" : "a", *rb = wide ? "wb" : "b", *rc = wide ? "wc" : "c",
             *rd = wide ? "wd" : "d";
  workbench bench(kernel(move_registers(true, ra, count(na, fa), size, "%rd1") +
                         move_registers(true, rb, count(nb, fb), size, "%rd2") +
                         move_registers(true, rc, count(nc, fc), size, "%rd3") + mnemonic + " " +
                         registers(rd, count(nc, fc)) + "," + registers(ra, count(na, fa)) + "," +
                         registers(rb, count(nb, fb)) + "," + registers(rc, count(nc, fc)) + ";\n" +
                         move_registers(false, rd, count(nc, fc), size, "%rd4")));
  const auto in_a = [&](u32 lane, u32 i) { return place_of_a(f.m, fa, lane, i); };
  const auto in_b = [&](u32 lane, u32 i) { return place_of_b(fb, lane, i); };
  const auto expected =
      pack(multiply(a, b, c, f.k, f.more.find("xor") != std::string::npos ? "xor" : ""), fc, nc,
           place_of_c);
  const address out = bench.allocate(expected.size());
  bench.run_well("k", {}, {32, 1, 1}, bench.upload(pack(a, fa, na, in_a)),
                 bench.upload(pack(b, fb, nb, in_b)), bench.upload(pack(c, fc, nc, place_of_c)),
                 out);
  CHECK(bench.download<std::uint8_t>(out, expected.size()) == expected);
}

}  // namespace

TEST_CASE("mma multiplies in every shape and type", "[machine]") {
  for (const char* d : {"f16", "f32"}) {
    check_mma({16, 8, 8, d, "f16", "f16", d, ""});
    check_mma({16, 8, 16, d, "f16", "f16", d, ""});
    for (const char* a : {"e4m3", "e5m2"})
      for (const char* b : {"e4m3", "e5m2"})
        for (const u32 k : {16u, 32u}) check_mma({16, 8, k, d, a, b, d, ""});
  }
  for (const u32 k : {8u, 16u}) check_mma({16, 8, k, "f32", "bf16", "bf16", "f32", ""});
  for (const u32 k : {4u, 8u}) check_mma({16, 8, k, "f32", "tf32", "tf32", "f32", ""});
  check_mma({8, 8, 4, "f64", "f64", "f64", "f64", ""});
  for (const u32 k : {4u, 8u, 16u}) check_mma({16, 8, k, "f64", "f64", "f64", "f64", ".rz"});
  for (const char* a : {"s8", "u8"})
    for (const char* b : {"s8", "u8"}) {
      check_mma({8, 8, 16, "s32", a, b, "s32", ""});
      check_mma({16, 8, 16, "s32", a, b, "s32", ".satfinite"});
      check_mma({16, 8, 32, "s32", a, b, "s32", ""});
    }
  for (const char* a : {"s4", "u4"})
    for (const char* b : {"s4", "u4"}) {
      check_mma({8, 8, 32, "s32", a, b, "s32", ""});
      check_mma({16, 8, 32, "s32", a, b, "s32", ".satfinite"});
      check_mma({16, 8, 64, "s32", a, b, "s32", ""});
    }
  for (const char* operation : {".and.popc", ".xor.popc"}) {
    check_mma({8, 8, 128, "s32", "b1", "b1", "s32", operation});
    check_mma({16, 8, 128, "s32", "b1", "b1", "s32", operation});
    check_mma({16, 8, 256, "s32", "b1", "b1", "s32", operation});
  }
}

TEST_CASE("mma.m8n8k4 of f16 multiplies four pairs of matrices", "[machine]") {
  const format f = format_of("f16");
  for (const bool a_row : {true, false})
    for (const bool b_row : {true, false})
      for (const std::string d : {"f16", "f32"})
        for (const std::string c : {"f16", "f32"}) {
          if (d == "f16" && c == "f32") continue;
          generator g;
          // Matrix p has rows 8 p of A, columns 8 p of B.
          const matrix a = random_matrix(g, 32, 4, f), b = random_matrix(g, 4, 32, f),
                       c_in = random_matrix(g, 32, 8, f);
          const auto base = [](u32 lane) { return lane / 4 % 4 * 8 + (lane < 16 ? 0 : 4); };
          const auto in_a = [&](u32 lane, u32 i) -> place {
            return a_row ? place{base(lane) + lane % 4, i} : place{base(lane) + i, lane % 4};
          };
          const auto in_b = [&](u32 lane, u32 i) -> place {
            return b_row ? place{lane % 4, base(lane) + i} : place{i, base(lane) + lane % 4};
          };
          const auto in_half = [&](u32 lane, u32 i) -> place { return {base(lane) + lane % 4, i}; };
          const auto in_single = [&](u32 lane, u32 i) -> place {
            return {base(lane) + (lane & 1) + (i & 2), (i & 4) + (lane & 2) + (i & 1)};
          };
          const auto in_c = [&](u32 lane, u32 i) {
            return c == "f16" ? in_half(lane, i) : in_single(lane, i);
          };
          const auto in_d = [&](u32 lane, u32 i) {
            return d == "f16" ? in_half(lane, i) : in_single(lane, i);
          };
          matrix sum = c_in;
          for (auto& [at, v] : sum)
            for (u32 k = 0; k < 4; ++k)
              v += a.at({at.first, k}) * b.at({k, at.first / 8 * 8 + at.second});
          const u32 nc = c == "f16" ? 4 : 8, nd = d == "f16" ? 4 : 8;
          const std::string mnemonic = std::string("mma.sync.aligned.m8n8k4.") +
                                       (a_row ? "row." : "col.") + (b_row ? "row." : "col.") + d +
                                       ".f16.f16." + c;
          INFO(mnemonic);
          workbench bench(kernel(move_registers(true, "a", 2, 4, "%rd1") +
                                 move_registers(true, "b", 2, 4, "%rd2") +
                                 move_registers(true, "c", nc, 4, "%rd3") + mnemonic + " " +
                                 registers("d", nd) + ",{%a0,%a1},{%b0,%b1}," + registers("c", nc) +
                                 ";\n" + move_registers(false, "d", nd, 4, "%rd4")));
          const auto expected = pack(sum, format_of(d), 8, in_d);
          const address out = bench.allocate(expected.size());
          bench.run_well("k", {}, {32, 1, 1}, bench.upload(pack(a, f, 4, in_a)),
                         bench.upload(pack(b, f, 4, in_b)),
                         bench.upload(pack(c_in, format_of(c), 8, in_c)), out);
          CHECK(bench.download<std::uint8_t>(out, expected.size()) == expected);
        }
}

namespace {

/// A matrix in memory, with `extra` elements between its lines.
std::vector<std::uint8_t> lay_out(const matrix& m, u32 rows, u32 columns, const format& f,
                                  bool by_rows, u32 stride) {
  const u32 lines = by_rows ? rows : columns;
  std::vector<std::uint8_t> bytes(lines * stride * f.bits / 8);
  for (const auto& [at, value] : m) {
    const u32 line = by_rows ? at.first : at.second, within = by_rows ? at.second : at.first;
    const u32 bit = (line * stride + within) * f.bits;
    const std::uint64_t encoded = f.encode(value);
    for (u32 b = 0; b < f.bits; ++b)
      if (encoded >> b & 1) bytes[(bit + b) / 8] |= static_cast<std::uint8_t>(1u << (bit + b) % 8);
  }
  return bytes;
}

u32 wmma_registers(u32 elements, const format& f, bool factor) {
  if (factor && f.bits == 16 && std::string(f.name) == "f16") return 8;
  return f.bits == 64 ? elements / 32 : elements * f.bits / 1024;
}

/// Loads, multiplies and stores, with A and B by rows or columns and lines apart.
void check_wmma(const form& f, bool a_rows, bool b_rows, bool c_rows) {
  const format &fa = format_of(f.a), &fb = format_of(f.b), &fc = format_of(f.c),
               &fd = format_of(f.d);
  generator g;
  const matrix a = random_matrix(g, f.m, f.k, fa), b = random_matrix(g, f.k, f.n, fb),
               c = random_matrix(g, f.m, f.n, fc);
  const bool wide = f.a == "f64";
  const std::string shape = shape_of(f);
  const auto layout = [](bool rows) { return std::string(rows ? ".row" : ".col"); };
  // Lines of 16 bytes more than are needed.
  const auto stride = [](u32 length, const format& t) { return length + 128 / t.bits; };
  const u32 sa = stride(a_rows ? f.k : f.m, fa), sb = stride(b_rows ? f.n : f.k, fb),
            sc = stride(c_rows ? f.n : f.m, fc), sd = stride(c_rows ? f.n : f.m, fd);
  const std::string ra = registers(wide ? "wa" : "a", wmma_registers(f.m * f.k, fa, true)),
                    rb = registers(wide ? "wb" : "b", wmma_registers(f.k * f.n, fb, true)),
                    rc = registers(wide ? "wc" : "c", wmma_registers(f.m * f.n, fc, false)),
                    rd = registers(wide ? "wd" : "d", wmma_registers(f.m * f.n, fd, false));
  const std::string types =
      f.a == "f16" ? f.d + "." + f.c : f.d + "." + f.a + "." + f.b + "." + f.c;
  const std::string text =
      "wmma.load.a.sync.aligned" + layout(a_rows) + shape + ".global." + f.a + " " + ra +
      ", [%rd1], " + std::to_string(sa) + ";\nwmma.load.b.sync.aligned" + layout(b_rows) + shape +
      "." + f.b + " " + rb + ", [%rd2], " + std::to_string(sb) + ";\nwmma.load.c.sync.aligned" +
      layout(c_rows) + shape + ".global." + f.c + " " + rc + ", [%rd3], " + std::to_string(sc) +
      ";\nwmma.mma" + f.more + ".sync.aligned" + layout(a_rows) + layout(b_rows) + shape + "." +
      types + " " + rd + "," + ra + "," + rb + "," + rc + ";\nwmma.store.d.sync.aligned" +
      layout(c_rows) + shape + ".global." + f.d + " [%rd4], " + rd + ", " + std::to_string(sd) +
      ";";
  INFO(text);
  workbench bench(kernel(text));
  const auto expected =
      lay_out(multiply(a, b, c, f.k, f.more == ".xor.popc" ? "xor" : ""), f.m, f.n, fd, c_rows, sd);
  const address out = bench.upload(std::vector<std::uint8_t>(expected.size()));
  bench.run_well("k", {}, {32, 1, 1}, bench.upload(lay_out(a, f.m, f.k, fa, a_rows, sa)),
                 bench.upload(lay_out(b, f.k, f.n, fb, b_rows, sb)),
                 bench.upload(lay_out(c, f.m, f.n, fc, c_rows, sc)), out);
  CHECK(bench.download<std::uint8_t>(out, expected.size()) == expected);
}

constexpr u32 tiles[][2] = {{16, 16}, {32, 8}, {8, 32}};

}  // namespace

TEST_CASE("wmma loads, multiplies and stores in every shape, type and layout", "[machine]") {
  for (const auto& [m, n] : tiles)
    for (const bool rows : {true, false}) {
      for (const char* d : {"f16", "f32"})
        for (const char* c : {"f16", "f32"})
          check_wmma({m, n, 16, d, "f16", "f16", c, ""}, rows, !rows, rows);
      check_wmma({m, n, 16, "f32", "f16", "f16", "f32", ""}, rows, rows, !rows);
      check_wmma({m, n, 16, "f32", "bf16", "bf16", "f32", ""}, rows, rows, !rows);
      for (const char* a : {"s8", "u8"})
        check_wmma({m, n, 16, "s32", a, a, "s32", ""}, rows, rows, !rows);
    }
  for (const bool rows : {true, false}) {
    check_wmma({16, 16, 8, "f32", "tf32", "tf32", "f32", ""}, rows, !rows, rows);
    check_wmma({8, 8, 4, "f64", "f64", "f64", "f64", ""}, rows, rows, !rows);
    for (const char* a : {"s4", "u4"})
      check_wmma({8, 8, 32, "s32", a, a, "s32", ""}, true, false, rows);
    for (const char* operation : {".and.popc", ".xor.popc"})
      check_wmma({8, 8, 128, "s32", "b1", "b1", "s32", operation}, true, false, rows);
  }
}

}  // namespace matrix_test
