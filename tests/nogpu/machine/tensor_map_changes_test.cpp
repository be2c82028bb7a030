// tensormap.replace, field by field, and the copy of a changed map to global memory.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <nogpu/machine/tensor_map.hpp>

#include "nogpu/machine/kernel_harness.hpp"

namespace tensor_map_changes_test {

using namespace machine_test;
namespace ptx = nogpu::ptx;

namespace {

using u32 = std::uint32_t;

struct bytes_of_map {
  unsigned char bytes[128] = {};
};

bytes_of_map bytes_of(const tensor_map& map) {
  bytes_of_map all;
  std::memcpy(all.bytes, &map, sizeof map);
  return all;
}

tensor_map map_of(const bytes_of_map& all) {
  tensor_map map;
  std::memcpy(static_cast<void*>(&map), all.bytes, sizeof map);
  return map;
}

/// Tiles of 4 rows of 8 words, of a tensor of 8 rows of 16.
tensor_map small_map(address base) {
  tensor_map map;
  map.mark = tensor_map::mark_of_map;
  map.rank = 2;
  map.element = ptx::type::f32;
  map.base = base;
  map.last = {15, 7};
  map.strides = {64};
  map.box = {8, 4};
  map.steps = {1, 1};
  return map;
}

/// Runs a warp that has the map's address in %rd1 and, in shared memory, a copy of it at %r1; the
/// tensor's in %rd2; 128 bytes of global memory in %rd3; an mbarrier at %r2 that expects 128 bytes;
/// and 1024 bytes in %r3. Thread 0 has a false %p1.
struct steps {
  explicit steps(const std::string& instructions, bool encoded = true)
      : bench(R"(
.visible .entry k(.param .u64 maps, .param .u64 in, .param .u64 room) {
  .shared .align 128 .b8 map[128]; .shared .align 8 .b8 object[8]; .shared .align 128 .b8 tile[1024];
  .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<4>; .local .align 64 .b8 own[128];
  ld.param.u64 %rd1, [maps]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [room];
  mov.u64 %rd4, own; cvta.local.u64 %rd4, %rd4; mov.u64 %rd5, map; cvta.shared.u64 %rd5, %rd5;
  mov.u32 %r1, map; mov.u32 %r2, object; mov.u32 %r3, tile;
  mov.u32 %r4, %tid.x; shl.b32 %r5, %r4, 2; add.u32 %r6, %r1, %r5; cvt.u64.u32 %rd6, %r5;
  add.u64 %rd6, %rd1, %rd6; ld.global.u32 %r7, [%rd6]; st.shared.u32 [%r6], %r7;
  setp.ne.u32 %p1, %r4, 0; @%p1 bra ready;
  mbarrier.init.shared.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
ready: bar.sync 0;
)" + instructions +
                  " ret; }",
              1, "sm_90a") {
    bench.what.check.shared_races_are_faults = true;
    bench.what.check.uninitialized_reads_are_faults = true;
    std::vector<u32> words;
    for (u32 i = 0; i < 144; ++i) words.push_back(100 + i);
    in = bench.upload(words);
    const address maps =
        bench.upload(std::vector<bytes_of_map>{encoded ? bytes_of(small_map(in)) : bytes_of_map{}});
    room = bench.allocate(256);
    done = bench.run("k", {}, {32, 1, 1}, maps, in, room);
    changed = map_of(bench.download<bytes_of_map>(maps, 1)[0]);
  }

  /// The map that the instructions left at %rd1.
  tensor_map result() const {
    INFO((done.error ? done.error->text : std::string()));
    CHECK(!done.error);
    return changed;
  }

  workbench bench;
  address in = 0, room = 0;
  outcome done;
  tensor_map changed;
};

std::string replace(const std::string& field, const std::string& operands) {
  return "@!%p1 tensormap.replace.tile." + field + " " + operands + ";\n";
}

/// Checks that instructions change the map as `expect` does.
template <class Expect> void check_change(const std::string& instructions, Expect expect) {
  INFO(instructions);
  const steps all(instructions);
  tensor_map map = small_map(all.in);
  expect(map);
  const bytes_of_map wanted = bytes_of(map), found = bytes_of(all.result());
  CHECK(std::memcmp(&wanted, &found, sizeof wanted) == 0);
}

std::string fault_of(const std::string& instructions, fault_kind kind, bool encoded = true) {
  const steps all(instructions, encoded);
  REQUIRE(all.done.error);
  INFO(all.done.error->text);
  CHECK(all.done.error->kind == kind);
  return all.done.error->detail;
}

bool contains(const std::string& text, const char* part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("each field of a tensor map can be replaced, and no other changes", "[machine]") {
  check_change("", [](tensor_map&) {});
  check_change(replace("global_address.global.b1024.b64", "[%rd1], 0x7000"),
               [](tensor_map& map) { map.base = 0x7000; });
  check_change(replace("rank.global.b1024.b32", "[%rd1], 4"),
               [](tensor_map& map) { map.rank = 5; });
  check_change(replace("box_dim.global.b1024.b32", "[%rd1], 1, 256"),
               [](tensor_map& map) { map.box[1] = 256; });
  check_change("mov.u32 %r10, -1;\n" + replace("global_dim.b1024.b32", "[%rd1], 4, %r10"),
               [](tensor_map& map) { map.last[4] = 0xfffffffe; });
  check_change("mov.u64 %rd7, 0xfffffffff0;\n" +
                   replace("global_stride.global.b1024.b64", "[%rd1], 3, %rd7"),
               [](tensor_map& map) { map.strides[3] = 0xfffffffff0; });
  check_change(replace("element_stride.global.b1024.b32", "[%rd1], 0, 8"),
               [](tensor_map& map) { map.steps[0] = 8; });
  check_change(replace("swizzle_mode.global.b1024.b32", "[%rd1], 3"),
               [](tensor_map& map) { map.swizzle_bits = 3; });
  check_change(replace("fill_mode.global.b1024.b32", "[%rd1], 1"),
               [](tensor_map& map) { map.fills_with_nan = 1; });
  check_change(replace("interleave_layout.global.b1024.b32", "[%rd1], 0"), [](tensor_map&) {});
}

TEST_CASE("the numbers of element types are those of PTX", "[machine]") {
  using ptx::type;
  const struct {
    type element;
    tensor_change change = tensor_change::none;
  } elements[] = {{type::u8},
                  {type::u16},
                  {type::u32},
                  {type::s32},
                  {type::u64},
                  {type::s64},
                  {type::f16},
                  {type::f32},
                  {type::f32},
                  {type::f64},
                  {type::bf16},
                  {type::f32, tensor_change::round_to_tf32},
                  {type::f32, tensor_change::round_to_tf32}};
  for (int number = 0; const auto& each : elements) {
    check_change(replace("elemtype.global.b1024.b32", "[%rd1], " + std::to_string(number++)),
                 [&](tensor_map& map) {
                   map.element = each.element;
                   map.change = each.change;
                 });
  }
}

TEST_CASE("a map that was changed in shared memory and copied describes another tensor",
          "[machine]") {
  // The tensor begins one row later, and ends after 10 columns and 6 rows.
  steps all(
      "add.u64 %rd7, %rd2, 64;\n" + replace("global_address.shared::cta.b1024.b64", "[%r1], %rd7") +
      replace("global_dim.shared::cta.b1024.b32", "[map], 0, 10") +
      replace("global_dim.b1024.b32", "[%rd5], 1, 6") +
      "bar.warp.sync -1;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%rd3+128], [%r1], 128;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%rd3+128], 128;\n"
      "add.u64 %rd8, %rd3, 128; @%p1 bra end;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%r3], [%rd8, {4, 3}], [%r2];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;\n"
      "mov.u32 %r10, 0;\n"
      "L: add.u32 %r11, %r3, %r10; ld.shared.u32 %r12, [%r11]; cvt.u64.u32 %rd7, %r10;\n"
      "add.u64 %rd7, %rd7, %rd3; st.global.u32 [%rd7], %r12; add.u32 %r10, %r10, 4;\n"
      "setp.lt.u32 %p2, %r10, 128; @%p2 bra L;\nend:\n");
  CHECK(all.result().base == all.in);  // the first one is as it was
  const std::vector<u32> tile = all.bench.download<u32>(all.room, 32);
  for (u32 row = 0; row < 4; ++row)
    for (u32 column = 0; column < 8; ++column)
      CHECK(tile[8 * row + column] ==
            (row < 3 && column < 6 ? 100 + 16 * (row + 4) + column + 4 : 0));
}

TEST_CASE("values that a tensor map cannot have are faults", "[machine]") {
  const auto illegal = fault_kind::illegal_instruction;
  CHECK(contains(fault_of(replace("global_address.global.b1024.b64", "[%rd1], 8"), illegal),
                 "must be a multiple of 16"));
  CHECK(contains(fault_of(replace("rank.global.b1024.b32", "[%rd1], 5"), illegal), "0 to 4"));
  for (const char* const size : {"0", "257"})
    CHECK(contains(
        fault_of(replace("box_dim.global.b1024.b32", std::string("[%rd1], 0, ") + size), illegal),
        "1 to 256"));
  CHECK(contains(fault_of(replace("global_dim.global.b1024.b32", "[%rd1], 0, 0"), illegal),
                 "at least one element"));
  CHECK(contains(fault_of(replace("global_stride.global.b1024.b64", "[%rd1], 0, 24"), illegal),
                 "a multiple of 16 below 2^40"));
  CHECK(contains(
      fault_of(replace("global_stride.global.b1024.b64", "[%rd1], 0, 0x10000000000"), illegal),
      "a multiple of 16 below 2^40"));
  CHECK(contains(fault_of(replace("global_stride.global.b1024.b64", "[%rd1], 4, 16"), illegal),
                 "4 strides"));
  CHECK(contains(fault_of(replace("element_stride.global.b1024.b32", "[%rd1], 0, 9"), illegal),
                 "1 to 8"));
  CHECK(contains(fault_of(replace("rank.global.b1024.b32", "[%rd1], 1"), illegal, false),
                 "not a tensor map that the driver encoded"));
  // Fields that do not go together are found when the map is used.
  CHECK(contains(fault_of(replace("swizzle_mode.global.b1024.b32", "[%rd1], 1") +
                              replace("box_dim.global.b1024.b32", "[%rd1], 0, 16") +
                              "@!%p1 cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {0, 0}];\n",
                          illegal),
                 "changed beyond its limits"));
}

TEST_CASE("tensor maps that are changed are in global or shared memory", "[machine]") {
  fault_of(replace("rank.global.b1024.b32", "[%rd1+32], 1"), fault_kind::misaligned);
  fault_of(replace("rank.global.b1024.b32", "[%rd1+128], 1"), fault_kind::out_of_bounds);
  fault_of(replace("rank.shared::cta.b1024.b32", "[%r3+1024], 1"),
           fault_kind::shared_out_of_bounds);
  CHECK(contains(fault_of(replace("rank.b1024.b32", "[%rd4], 1"), fault_kind::wrong_space),
                 "in shared or global memory"));
  const std::string copy =
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned ";
  fault_of(copy + "[%rd3+32], [%r1], 128;", fault_kind::misaligned);
  fault_of(copy + "[%rd3+192], [%r1], 128;", fault_kind::out_of_bounds);
  CHECK(contains(fault_of(copy + "[%rd3], [%r3], 128;", fault_kind::uninitialized_read),
                 "byte 0 of tile"));
}

}  // namespace tensor_map_changes_test
