// st.async and red.async: values that arrive in the shared memory of another block of the cluster.
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nogpu/machine/kernel_harness.hpp"

namespace async_stores_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

const std::string synchronize = "barrier.cluster.arrive; barrier.cluster.wait;\n";
const std::string store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes";
const std::string reduce =
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.";
const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0; @!%p1 bra W;\n";

/// Runs a cluster of two blocks. Each has its rank in %r1, its room and mbarrier at %r2 and %r3,
/// and those of the other block at %r5 and %r6, the thread in %r9. The mbarrier expects `bytes`.
/// Words are stored at %rd1, which differs by block; %rd2 is the same for both.
struct pair_of_blocks : workbench {
  pair_of_blocks(const std::string& instructions, u32 bytes, u32 threads = 1,
                 const std::string& before = "", bool report_only = false)
      : workbench(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 8 .b8 object[8]; .shared .align 128 .b8 room[256];
  .reg .b64 %rd<9>; .reg .b32 %r<30>; .reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .pred %p<4>;
  ld.param.u64 %rd2, [out]; mov.u32 %r9, %tid.x;
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, room; mov.u32 %r3, object;
  mul.wide.u32 %rd1, %r1, 128; add.u64 %rd1, %rd1, %rd2;
  xor.b32 %r4, %r1, 1;
  mapa.shared::cluster.u32 %r5, %r2, %r4; mapa.shared::cluster.u32 %r6, %r3, %r4;
  setp.ne.u32 %p3, %r9, 0; @%p3 bra ready;
)" + before + "mbarrier.init.shared.b64 [%r3], 1;\n" +
                  "mbarrier.arrive.expect_tx.shared.b64 _, [%r3], " + std::to_string(bytes) +
                  ";\nready:\n" + synchronize + instructions + synchronize + " ret; }") {
    what.cluster = {2, 1, 1};
    what.explicit_cluster = true;
    what.check.shared_races_are_faults = !report_only;
    what.check.uninitialized_reads_are_faults = !report_only;
    out = upload(std::vector<u32>(64, 0));
    done = run("k", {2, 1, 1}, {threads, 1, 1}, out);
  }

  /// Words of a block, which must not have failed.
  template <class T = u32> std::vector<T> words_of(u32 block, std::size_t count) {
    INFO((done.error ? done.error->text : std::string()));
    REQUIRE(!done.error);
    CHECK(done.reports.empty());
    return download<T>(out + 128 * block, count);
  }

  address out = 0;
  outcome done;
};

/// The detail of the fault that the instructions end with.
std::string fault_of(const std::string& instructions, fault_kind kind,
                     const std::string& before = "") {
  pair_of_blocks pair(instructions, 4, 1, before);
  REQUIRE(pair.done.error);
  INFO(pair.done.error->text);
  CHECK(pair.done.error->kind == kind);
  return pair.done.error->detail;
}

bool contains(const std::string& text, const char* part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("stored values of every type arrive in another block", "[machine]") {
  pair_of_blocks pair(
      "add.u32 %r10, %r1, 10; cvt.rn.f32.u32 %f1, %r10; cvt.rn.f64.u32 %fd1, %r10;\n"
      "mul.wide.u32 %rd3, %r10, 0x80000001;\n" +
          store + ".b32 [%r5], %r10, [%r6];\n" + store + ".f32 [%r5+4], %f1, [%r6];\n" + store +
          ".v2.s32 [%r5+8], {%r10, -1}, [%r6];\n" + store +
          ".v4.u32 [%r5+16], {1, %r10, 3, 4}, [%r6];\n" + store + ".u64 [%r5+32], %rd3, [%r6];\n" +
          store + ".f64 [%r5+40], %fd1, [%r6];\n" + store +
          ".v2.b64 [%r5+48], {%rd3, 7}, [%r6];\n" + store +
          ".v4.f32 [%r5+64], {%f1, 0f3f800000, %f1, %f1}, [%r6];\n" + wait +
          "mov.u32 %r11, 0;\n"
          "L: add.u32 %r12, %r2, %r11; ld.shared.u32 %r13, [%r12]; cvt.u64.u32 %rd4, %r11;\n"
          "add.u64 %rd4, %rd4, %rd1; st.global.u32 [%rd4], %r13; add.u32 %r11, %r11, 4;\n"
          "setp.lt.u32 %p2, %r11, 80; @%p2 bra L;\n",
      80);
  for (u32 block = 0; block < 2; ++block) {
    const u32 value = 11 - block;
    const u32 as_float = std::bit_cast<u32>(static_cast<float>(value));
    const auto as_double = std::bit_cast<u64>(static_cast<double>(value));
    const u64 wide = u64{value} * 0x80000001u;
    CHECK(pair.words_of(block, 20) == std::vector<u32>{value,
                                                       as_float,
                                                       value,
                                                       ~0u,
                                                       1,
                                                       value,
                                                       3,
                                                       4,
                                                       static_cast<u32>(wide),
                                                       static_cast<u32>(wide >> 32),
                                                       static_cast<u32>(as_double),
                                                       static_cast<u32>(as_double >> 32),
                                                       static_cast<u32>(wide),
                                                       static_cast<u32>(wide >> 32),
                                                       7,
                                                       0,
                                                       as_float,
                                                       0x3f800000,
                                                       as_float,
                                                       as_float});
  }
}

TEST_CASE("a phase ends when the bytes of all stores have arrived", "[machine]") {
  const std::string test =
      "mbarrier.test_wait.parity.shared.b64 %p1, [%r3], 0; selp.u32 %r10, 1, 0, %p1;\n"
      "st.global.u32 [%rd1], %r10;\n";
  const auto ended = [&](u32 bytes) {
    pair_of_blocks pair(store + ".v2.u32 [%r5], {1, 2}, [%r6];\n" + synchronize + test, bytes);
    return pair.words_of(0, 1)[0];
  };
  CHECK(ended(8) == 1);
  CHECK(ended(12) == 0);
}

TEST_CASE("stored values are not there before somebody waits", "[machine]") {
  const std::string early = store + ".u32 [%r5], 1, [%r6];\n" + synchronize +
                            "ld.shared.u32 %r10, [%r2]; st.global.u32 [%rd1], %r10;\n";
  CHECK(contains(fault_of(early, fault_kind::uninitialized_read),
                 "byte 0 of room, which a copy that another block asked for brings"));
  // The value from before is read, although it was written.
  pair_of_blocks pair(early, 4, 1, "st.shared.u32 [%r2], 5;\n", true);
  CHECK(!pair.done.error);
  REQUIRE(pair.done.reports.size() == 1);
  CHECK(pair.done.reports[0].kind == fault_kind::uninitialized_read);
  CHECK(pair.download<u32>(pair.out, 1)[0] == 5);
}

TEST_CASE("generic addresses, and the block itself, are targets as well", "[machine]") {
  pair_of_blocks pair(
      "cvt.u64.u32 %rd3, %r5; cvta.shared.u64 %rd3, %rd3;\n"
      "cvt.u64.u32 %rd4, %r6; cvta.shared.u64 %rd4, %rd4;\n"
      "st.async.mbarrier::complete_tx::bytes.u32 [%rd3+4], %r1, [%rd4];\n"
      "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%rd3], %r4, [%rd4];\n" +
          store + ".u32 [%r2+8], 9, [%r3];\n" + wait +
          "ld.shared.v2.u32 {%r10, %r11}, [%r2]; ld.shared.u32 %r12, [%r2+8];\n"
          "st.global.v2.u32 [%rd1], {%r10, %r11}; st.global.u32 [%rd1+8], %r12;\n",
      12, 1, "st.shared.u32 [%r2], 100;\n");
  CHECK(pair.words_of(0, 3) == std::vector<u32>{100, 1, 9});
  CHECK(pair.words_of(1, 3) == std::vector<u32>{101, 0, 9});
}

namespace {

template <class T> using combine = std::function<T(T, T)>;

/// Checks what each of 8 threads makes of 8 words with the operation.
template <class T> void check_reduction(const std::string& form, const combine<T>& expected) {
  INFO(form);
  const std::string size = std::to_string(sizeof(T)), bits = "b" + std::to_string(8 * sizeof(T));
  const std::string prefix = sizeof(T) == 8 ? "%rd" : "%r";
  // The value and what it meets differ by thread: v = t * 0x1fffffff..., m = 3 << 8 * t % 30 | t.
  const std::string values =
      "mul.lo.u32 %r10, %r9, 0x3fffffff; shl.b32 %r11, 3, %r9; "
      "or.b32 %r11, %r11, 0x80000000; " +
      std::string(sizeof(T) == 8 ? "mul.wide.u32 %rd5, %r10, %r11; "
                                   "cvt.u64.u32 %rd6, %r11;\n"
                                 : "mov.u32 %r15, %r10; "
                                   "mov.u32 %r16, %r11;\n");
  const std::string value = sizeof(T) == 8 ? "%rd5" : "%r15";
  const std::string met = sizeof(T) == 8 ? "%rd6" : "%r16";
  const std::string result = sizeof(T) == 8 ? "%rd7" : "%r17";
  pair_of_blocks pair(values + "mad.lo.u32 %r12, %r9, " + size + ", %r2; mad.lo.u32 %r13, %r9, " +
                          size + ", %r5;\n" + "st.shared." + bits + " [%r12], " + met + ";\n" +
                          synchronize + reduce + form + " [%r13], " + value + ", [%r6];\n" + wait +
                          "ld.shared." + bits + " " + result + ", [%r12];\n" +
                          "mad.wide.u32 %rd4, %r9, " + size + ", %rd1; st.global." + bits +
                          " [%rd4], " + result + ";\n",
                      8 * static_cast<u32>(sizeof(T)), 8);
  const std::vector<T> words = pair.words_of<T>(1, 8);
  for (u32 t = 0; t < 8; ++t) {
    const u32 v = t * 0x3fffffffu, m = 3u << t | 0x80000000u;
    const T given = sizeof(T) == 8 ? static_cast<T>(u64{v} * m) : static_cast<T>(v);
    CHECK(words[t] == expected(static_cast<T>(m), given));
  }
}

}  // namespace

TEST_CASE("every asynchronous reduction combines a value with what is there", "[machine]") {
  using s32 = std::int32_t;
  check_reduction<u32>("add.u32", [](u32 m, u32 v) { return m + v; });
  check_reduction<u32>("add.s32", [](u32 m, u32 v) { return m + v; });
  check_reduction<u64>("add.u64", [](u64 m, u64 v) { return m + v; });
  check_reduction<u64>("add.s64", [](u64 m, u64 v) { return m + v; });
  check_reduction<u32>("min.u32", [](u32 m, u32 v) { return m < v ? m : v; });
  check_reduction<u32>("max.u32", [](u32 m, u32 v) { return m < v ? v : m; });
  check_reduction<s32>("min.s32", [](s32 m, s32 v) { return m < v ? m : v; });
  check_reduction<s32>("max.s32", [](s32 m, s32 v) { return m < v ? v : m; });
  check_reduction<u32>("inc.u32", [](u32 m, u32 v) { return m >= v ? 0 : m + 1; });
  check_reduction<u32>("dec.u32", [](u32 m, u32 v) { return m == 0 || m > v ? v : m - 1; });
  check_reduction<u32>("and.b32", [](u32 m, u32 v) { return m & v; });
  check_reduction<u32>("or.b32", [](u32 m, u32 v) { return m | v; });
  check_reduction<u32>("xor.b32", [](u32 m, u32 v) { return m ^ v; });
}

TEST_CASE("reductions of many threads meet in a word, and are no races", "[machine]") {
  // Both blocks add to both words of block 0, each thread its number and one.
  pair_of_blocks pair(
      "mapa.shared::cluster.u32 %r5, %r2, 0; mapa.shared::cluster.u32 %r6, %r3, 0;\n" + reduce +
          "add.u32 [%r5], %r9, [%r6];\n" + reduce + "add.u32 [%r5+4], 1, [%r6];\n" +
          "setp.ne.u32 %p2, %r1, 0; @%p2 bra end;\n" + wait +
          "ld.shared.v2.u32 {%r10, %r11}, [%r2];\n"
          "@!%p3 st.global.v2.u32 [%rd1], {%r10, %r11};\nend:\n",
      2 * 64 * 8, 64, "st.shared.v2.u32 [%r2], {1000, 0};\n");
  CHECK(pair.words_of(0, 2) == std::vector<u32>{1000 + 2 * (63 * 64 / 2), 128});
}

TEST_CASE("wrong asynchronous stores and reductions are faults that say why", "[machine]") {
  fault_of(store + ".v2.u32 [%r5+4], {1, 2}, [%r6];", fault_kind::misaligned);
  fault_of(store + ".v4.u32 [%r5+8], {1, 2, 3, 4}, [%r6];", fault_kind::misaligned);
  fault_of(store + ".u64 [%r5+4], 1, [%r6];", fault_kind::misaligned);
  fault_of(store + ".u32 [%r5], 1, [%r6+4];", fault_kind::misaligned);
  fault_of(store + ".u32 [%r5+4096], 1, [%r6];", fault_kind::shared_out_of_bounds);
  CHECK(contains(fault_of(store + ".u32 [%r5], 1, [%r3];", fault_kind::illegal_instruction),
                 "the mbarrier of an asynchronous copy is not in the block to which it copies"));
  CHECK(contains(fault_of("st.async.mbarrier::complete_tx::bytes.u32 [%rd2], 1, [%rd2];",
                          fault_kind::wrong_space),
                 "are in shared memory"));
  // There has to be something to combine a value with, and not something that is on its way.
  const std::string add = reduce + "add.u32 [%r5], 1, [%r6];";
  CHECK(contains(fault_of(add, fault_kind::uninitialized_read), "byte 0 of room, of block"));
  CHECK(contains(fault_of(store + ".u32 [%r5], 1, [%r6];\n" + add, fault_kind::uninitialized_read),
                 "for which nobody has waited"));
  CHECK(contains(fault_of("setp.eq.u32 %p1, %r1, 0; @%p1 exit; mov.u32 %r10, 0;\n"
                          "L: add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 20000; @%p2 bra L;\n" +
                              store + ".u32 [%r5], 1, [%r6];\n",
                          fault_kind::shared_out_of_bounds),
                 "block 0 of the cluster has ended"));
}

}  // namespace async_stores_test
