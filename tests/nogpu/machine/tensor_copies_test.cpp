// Bulk copies of tensors, instruction by instruction: what they refuse, and when they are done.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <nogpu/machine/tensor_map.hpp>

#include "nogpu/machine/kernel_harness.hpp"

namespace machine_tensor_copies_test {

using namespace machine_test;
namespace ptx = nogpu::ptx;

namespace {

using u32 = std::uint32_t;

/// A tensor of 8 rows of 16 words, and a map of tiles of 4 rows of 8.
struct steps {
  /// Runs one thread that has the map's address in %rd1, the tensor's in %rd2, 1024 aligned bytes
  /// of shared memory in %r2, an mbarrier for one arrival in %r1, and puts results into %r10 to
  /// %r13.
  explicit steps(const std::string& instructions, tensor_map map = {}, bool encoded = true)
      : bench(R"(
.visible .entry k(.param .u64 out, .param .align 64 .b8 parameter[128], .param .u64 maps,
                  .param .u64 in) {
  .shared .align 8 .b8 object[8]; .shared .align 1024 .b8 room[1024];
  .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .b16 %rs<4>; .reg .pred %p<4>;
  .local .align 64 .b8 own[128];
  ld.param.u64 %rd3, [out]; ld.param.u64 %rd1, [maps]; ld.param.u64 %rd2, [in];
  mov.u64 %rd4, parameter; cvta.param.u64 %rd4, %rd4;
  mov.u64 %rd5, own; cvta.local.u64 %rd5, %rd5;
  mov.u32 %r1, object; mov.u32 %r2, room;
  mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
  mbarrier.init.shared.b64 [%r1], 1;
)" + instructions +
              R"(
  st.global.v4.u32 [%rd3], {%r10, %r11, %r12, %r13}; ret; })") {
    std::vector<u32> words;
    for (u32 i = 0; i < 128; ++i) words.push_back(100 + i);
    const address in = bench.upload(words);
    if (encoded) {
      map.mark = tensor_map::mark_of_map;
      if (map.rank == 0) map.rank = 2;
      if (map.element == ptx::type::none) map.element = ptx::type::u32;
      map.base = in;
      if (map.last[0] == 0) map.last = {15, 7};
      map.strides = {64, 512};
      if (map.box[0] == 0) map.box = {8, 4};
      map.steps = {1, 1, 1, 1, 1};
    }
    struct alignas(64) bytes_of_map {
      unsigned char bytes[128] = {};
    } bytes;
    std::memcpy(bytes.bytes, &map, sizeof map);
    const address maps = bench.upload(std::vector<bytes_of_map>{bytes});
    const address out = bench.upload(std::vector<u32>(4, 0xdead));
    done = bench.run("k", {}, {}, out, bytes, maps, in);
    results = bench.download<u32>(out, 4);
    tensor = bench.download<u32>(in, 128);
  }

  workbench bench;
  outcome done;
  std::vector<u32> results, tensor;
};

std::vector<u32> results_of(const std::string& instructions, const tensor_map& map = {}) {
  const steps all(instructions, map);
  INFO((all.done.error ? all.done.error->text : std::string()));
  CHECK(!all.done.error);
  return all.results;
}

/// The detail of the fault that the instructions end with.
std::string fault_of(const std::string& instructions, fault_kind kind, const tensor_map& map = {},
                     bool encoded = true) {
  const steps all(instructions, map, encoded);
  REQUIRE(all.done.error);
  INFO(all.done.error->text);
  CHECK(all.done.error->kind == kind);
  return all.done.error->detail;
}

bool contains(const std::string& text, const char* part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

const std::string mnemonic =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes ";
const std::string load = mnemonic + "[%r2], [%rd1, {4, 2}], [%r1];\n";
const std::string wait =
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;\n"
    "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra W;\n";
const std::string read = "ld.shared.u32 %r10, [%r2]; ld.shared.u32 %r11, [%r2+124];";

}  // namespace

TEST_CASE("a tile has arrived when its mbarrier was waited for, and not before", "[machine]") {
  // Row 2, column 4 of the tensor is its word 36; the tile ends at row 5, column 11.
  CHECK(results_of(load + wait + read) == std::vector<u32>{136, 191, 0, 0});
  const steps early(load + "ld.shared.u32 %r10, [%r2];");
  REQUIRE(early.done.reports.size() == 1);
  CHECK(early.done.reports[0].kind == fault_kind::uninitialized_read);
  // A map among the parameters of the kernel.
  CHECK(results_of(mnemonic + "[%r2], [%rd4, {4, 2}], [%r1];" + wait + read)[0] == 136);
  // Coordinates in registers, and bytes outside of the tensor that count too.
  CHECK(results_of("mov.u32 %r5, 12; mov.u32 %r6, -3;" + mnemonic +
                   "[%r2], [%rd1, {%r5, %r6}], [%r1];" + wait +
                   "ld.shared.u32 %r10, [%r2]; ld.shared.u32 %r11, [%r2+96];"
                   "ld.shared.u32 %r12, [%r2+108]; ld.shared.u32 %r13, [%r2+112];") ==
        std::vector<u32>{0, 112, 115, 0});
}

TEST_CASE("a tile is written when its group was waited for, and read late", "[machine]") {
  const std::string fill =
      "mov.u32 %r5, 0;\n"
      "F: add.u32 %r6, %r2, %r5; st.shared.u32 [%r6], %r5; add.u32 %r5, %r5, 4;\n"
      "setp.lt.u32 %p1, %r5, 128; @%p1 bra F;\n";
  const std::string store =
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {12, 6}], [%r2];\n"
      "cp.async.bulk.commit_group;\n";
  const steps done(fill + store +
                   "ld.global.u32 %r10, [%rd2+432];\n"  // row 6, column 12
                   "cp.async.bulk.wait_group 0; ld.global.u32 %r11, [%rd2+432];");
  REQUIRE(!done.done.error);
  CHECK(done.results == std::vector<u32>{208, 0, 0, 0});
  for (u32 row = 0; row < 8; ++row) {
    for (u32 column = 0; column < 16; ++column) {
      const bool inside = row >= 6 && column >= 12;
      const u32 expected = inside ? 32 * (row - 6) + 4 * (column - 12) : 100 + 16 * row + column;
      CHECK(done.tensor[16 * row + column] == expected);
    }
  }
  // At the end of the thread, too.
  CHECK(steps(fill + store).tensor[16 * 6 + 13] == 4);
}

TEST_CASE("reductions combine a tile with the tensor", "[machine]") {
  const std::string reduce =
      "st.shared.v4.u32 [%r2], {7, 300, 0, 0xffffffff};\n"
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.";
  const std::string end =
      ".tile.bulk_group [%rd1, {0, 0}], [%r2];\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  tensor_map map;
  map.box = {4, 1};
  const auto result = [&](const char* op) {
    const std::vector<u32> all = steps(reduce + op + end, map).tensor;
    return std::vector<u32>(all.begin(), all.begin() + 4);
  };
  CHECK(result("add") == std::vector<u32>{107, 401, 102, 102});
  CHECK(result("min") == std::vector<u32>{7, 101, 0, 103});
  CHECK(result("max") == std::vector<u32>{100, 300, 102, 0xffffffff});
  CHECK(result("inc") == std::vector<u32>{0, 102, 0, 104});
  CHECK(result("dec") == std::vector<u32>{7, 100, 0, 102});
  CHECK(result("and") == std::vector<u32>{100 & 7, 101 & 300, 0, 103});
  CHECK(result("or") == std::vector<u32>{100 | 7, 101 | 300, 102, 0xffffffff});
  CHECK(result("xor") == std::vector<u32>{100 ^ 7, 101 ^ 300, 102, ~103u});
  map.element = ptx::type::s32;
  CHECK(result("max") == std::vector<u32>{100, 300, 102, 103});
  CHECK(result("min") == std::vector<u32>{7, 101, 0, 0xffffffff});
  CHECK(contains(fault_of(reduce + "inc" + end, fault_kind::illegal_instruction, map),
                 "tensors of .s32 do not have this reduction"));
}

TEST_CASE("what is no tensor map, or another one, is a fault", "[machine]") {
  CHECK(contains(fault_of(load, fault_kind::illegal_instruction, {}, false),
                 "not a tensor map that the driver encoded"));
  CHECK(contains(fault_of("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::"
                          "bytes [%r2], [%rd1, {0, 0, 0}], [%r1];",
                          fault_kind::illegal_instruction),
                 "a tensor map of 2 dimensions; the instruction is for 3"));
  tensor_map images;
  images.rank = 3;
  images.box = {8, 4, 1};
  CHECK(contains(fault_of("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::"
                          "complete_tx::bytes [%r2], [%rd1, {0, 0, 0}], [%r1], {0};",
                          fault_kind::illegal_instruction, images),
                 "the tensor map is for tiles, the instruction for im2col"));
  fault_of("add.u64 %rd1, %rd1, 32;" + load, fault_kind::misaligned);
  fault_of("add.u64 %rd1, %rd1, 64;" + load, fault_kind::out_of_bounds);
  CHECK(contains(fault_of(mnemonic + "[%r2], [%rd5, {0, 0}], [%r1];", fault_kind::wrong_space),
                 "__grid_constant__"));
  fault_of("prefetch.tensormap [%rd5];", fault_kind::wrong_space);
  CHECK(results_of("prefetch.tensormap [%rd4]; prefetch.tensormap [%rd1];"
                   "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {0, 0}];"
                   "cp.async.bulk.prefetch.L2.global [%rd2], 64;")[0] == 0);
}

// The manual of PTX has neither limit; an H100 ends such a kernel with an illegal instruction.
TEST_CASE("copies of tensors begin at 16 bytes, and those to a tensor not before it", "[machine]") {
  CHECK(contains(
      fault_of(mnemonic + "[%r2], [%rd1, {3, 2}], [%r1];", fault_kind::illegal_instruction),
      "the first coordinate of a tensor copy is 3, 12 bytes: these have to be a "
      "multiple of 16"));
  fault_of(mnemonic + "[%r2], [%rd1, {-1, 0}], [%r1];", fault_kind::illegal_instruction);
  const auto store = [](const char* place) {
    return std::string("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, ") +
           place + "], [%r2];";
  };
  CHECK(contains(fault_of(store("{2, 0}"), fault_kind::illegal_instruction), "2, 8 bytes"));
  CHECK(contains(fault_of(store("{-4, 0}"), fault_kind::illegal_instruction),
                 "coordinate 0 of a copy to a tensor is -4: it must not be negative there"));
  CHECK(contains(fault_of(store("{0, -2}"), fault_kind::illegal_instruction),
                 "coordinate 1 of a copy to a tensor is -2"));
  tensor_map images;
  images.rank = 3;
  images.mode = nogpu::machine::tensor_mode::im2col;
  images.last = {3, 3, 7};
  images.box = {4};
  images.pixels = 2;
  images.lower = {-1};
  const std::string to_images =
      "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
      "[%rd1, {0, 0, 0}], [%r2];";
  CHECK(contains(fault_of(to_images, fault_kind::illegal_instruction, images),
                 "whose map has corners -1 and 0"));
  images.lower = {0};
  images.upper = {1};
  CHECK(contains(fault_of(to_images, fault_kind::illegal_instruction, images),
                 "whose map has corners 0 and 1"));
}

TEST_CASE("tiles are aligned to 128 bytes, and within bounds", "[machine]") {
  fault_of(mnemonic + "[%r2+64], [%rd1, {4, 2}], [%r1];", fault_kind::misaligned);
  fault_of(mnemonic + "[%r2+1024], [%rd1, {4, 2}], [%r1];", fault_kind::shared_out_of_bounds);
  tensor_map wide;
  wide.box = {8, 33};
  fault_of(load, fault_kind::shared_out_of_bounds, wide);
  // The map speaks of more than was allocated.
  tensor_map long_map;
  long_map.last = {15, 8};
  fault_of(mnemonic + "[%r2], [%rd1, {0, 6}], [%r1];", fault_kind::out_of_bounds, long_map);
}

}  // namespace machine_tensor_copies_test
