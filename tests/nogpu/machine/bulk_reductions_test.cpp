// cp.reduce.async.bulk: bytes of shared memory that are combined with those of global memory or of
// the shared memory of a block of the cluster.
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "nogpu/machine/kernel_harness.hpp"

namespace bulk_reductions_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

const std::string to_global = "cp.reduce.async.bulk.global.shared::cta.bulk_group.";
const std::string to_shared =
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.";
const std::string commit_and_wait = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0; @!%p1 bra W;\n";

/// Runs a kernel with the address of 64 bytes in %rd1 and of as many in %rd2. Each thread has in
/// %r2 the address of 64 bytes of shared memory that have those at %rd2, and there is an mbarrier,
/// at %r3, that expects 64 bytes.
struct steps : workbench {
  steps(const std::string& instructions, const std::vector<u32>& there,
        const std::vector<u32>& given, u32 threads = 1)
      : workbench(R"(
.visible .entry k(.param .u64 there, .param .u64 given) {
  .shared .align 8 .b8 object[8]; .shared .align 128 .b8 room[2048];
  .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [there]; ld.param.u64 %rd2, [given];
  mov.u32 %r9, %tid.x; mov.u32 %r3, object; mov.u32 %r2, room; mad.lo.u32 %r2, %r9, 64, %r2;
  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd2];
  st.shared.v4.u32 [%r2], {%r10, %r11, %r12, %r13};
  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd2+16];
  st.shared.v4.u32 [%r2+16], {%r10, %r11, %r12, %r13};
  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd2+32];
  st.shared.v4.u32 [%r2+32], {%r10, %r11, %r12, %r13};
  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd2+48];
  st.shared.v4.u32 [%r2+48], {%r10, %r11, %r12, %r13};
  setp.ne.u32 %p3, %r9, 0; @%p3 bra ready;
  mbarrier.init.shared.b64 [%r3], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 64;
ready: bar.sync 0;
)" + instructions +
                  " ret; }") {
    what.check.uninitialized_reads_are_faults = true;
    what.check.shared_races_are_faults = true;
    out = upload(there);
    done = run("k", {}, {threads, 1, 1}, out, upload(given));
  }

  std::vector<u32> result() {
    INFO((done.error ? done.error->text : std::string()));
    REQUIRE(!done.error);
    return download<u32>(out, 16);
  }

  address out = 0;
  outcome done;
};

std::vector<u32> sixteen(u32 seed) { return random_words(16, seed); }

/// The detail of the fault that the instructions end with.
std::string fault_of(const std::string& instructions, fault_kind kind) {
  const steps all(instructions, sixteen(1), sixteen(2));
  REQUIRE(all.done.error);
  INFO(all.done.error->text);
  CHECK(all.done.error->kind == kind);
  return all.done.error->detail;
}

/// 64 bytes from the results of `combine` for each pair of elements.
template <class T, class F>
std::vector<u32> combined(const std::vector<u32>& there, const std::vector<u32>& given, F combine) {
  constexpr std::size_t count = 64 / sizeof(T);
  T a[count], b[count];
  std::memcpy(a, there.data(), sizeof a);
  std::memcpy(b, given.data(), sizeof b);
  for (std::size_t i = 0; i < count; ++i) a[i] = static_cast<T>(combine(a[i], b[i]));
  std::vector<u32> words(16);
  std::memcpy(words.data(), a, sizeof a);
  return words;
}

std::vector<u32> in_global(const std::string& form, const std::vector<u32>& there,
                           const std::vector<u32>& given) {
  return steps(to_global + form + " [%rd1], [%r2], 64;\n" + commit_and_wait, there, given).result();
}

/// Combines what is at `there`, in shared memory of the block, and stores it.
std::vector<u32> in_shared(const std::string& form, const std::vector<u32>& there,
                           const std::vector<u32>& given) {
  std::string copy, back;
  for (int i = 0; i < 64; i += 4) {
    const std::string at = std::to_string(i) + "]";
    copy += "ld.global.u32 %r10, [%rd1+" + at + "; st.shared.u32 [%r4+" + at + ", %r10;\n";
    back += "ld.shared.u32 %r10, [%r4+" + at + "; st.global.u32 [%rd1+" + at + ", %r10;\n";
  }
  return steps("add.u32 %r4, %r2, 1024;\n" + copy + to_shared + form +
                   " [%r4], [%r2], 64, [%r3];\n" + wait + back,
               there, given)
      .result();
}

/// Checks a reduction of each type of elements, in global memory and in shared memory if it is
/// there too.
template <class T, class F> void check(const std::string& form, bool shared_too, F combine) {
  INFO(form);
  std::vector<u32> there = sixteen(1), given = sixteen(2);
  there[1] = given[1];
  there[2] = 0;
  there[3] = given[3] = ~0u;
  const std::vector<u32> expected = combined<T>(there, given, combine);
  CHECK(in_global(form, there, given) == expected);
  if (shared_too) CHECK(in_shared(form, there, given) == expected);
}

}  // namespace

TEST_CASE("bulk reductions combine integers with those that are there", "[machine]") {
  const auto add = [](auto a, auto b) { return a + b; };
  const auto lower = [](auto a, auto b) { return a < b ? a : b; };
  const auto higher = [](auto a, auto b) { return a < b ? b : a; };
  check<u32>("add.u32", true, add);
  check<u32>("add.s32", true, add);
  check<u64>("add.u64", true, add);
  check<u32>("min.u32", true, lower);
  check<s32>("min.s32", true, lower);
  check<u64>("min.u64", false, lower);
  check<s64>("min.s64", false, lower);
  check<u32>("max.u32", true, higher);
  check<s32>("max.s32", true, higher);
  check<u64>("max.u64", false, higher);
  check<s64>("max.s64", false, higher);
  check<u32>("inc.u32", true, [](u32 a, u32 b) { return a >= b ? 0 : a + 1; });
  check<u32>("dec.u32", true, [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; });
  check<u32>("and.b32", true, [](u32 a, u32 b) { return a & b; });
  check<u64>("and.b64", false, [](u64 a, u64 b) { return a & b; });
  check<u32>("or.b32", true, [](u32 a, u32 b) { return a | b; });
  check<u64>("or.b64", false, [](u64 a, u64 b) { return a | b; });
  check<u32>("xor.b32", true, [](u32 a, u32 b) { return a ^ b; });
  check<u64>("xor.b64", false, [](u64 a, u64 b) { return a ^ b; });
}

TEST_CASE("bulk reductions combine floating-point numbers", "[machine]") {
  // Words that are 1, 2, 3, ... in f32 or, by two, in f64; what is added to them is 10.
  std::vector<u32> there(16), given(16), sum(16);
  for (u32 i = 0; i < 16; ++i) {
    there[i] = std::bit_cast<u32>(static_cast<float>(i + 1));
    given[i] = std::bit_cast<u32>(10.f);
    sum[i] = std::bit_cast<u32>(static_cast<float>(i + 11));
  }
  there[0] = given[0] = sum[0] = 0;
  given[0] = 0x00700000;  // subnormal: zero
  CHECK(in_global("add.f32", there, given) == sum);
  for (u32 i = 0; i < 8; ++i) {
    const double values[] = {i + 1 + 0x1p-40, i == 0 ? 0x1p-1070 : 10, 0};
    const double total = values[0] + values[1];
    std::memcpy(&there[2 * i], &values[0], 8);
    std::memcpy(&given[2 * i], &values[1], 8);
    std::memcpy(&sum[2 * i], &total, 8);
  }
  CHECK(in_global("add.f64", there, given) == sum);
  // f16: 1 and 2, 3 and -1, and the least subnormal numbers; then the same in bf16.
  const std::vector<u32> halves(16, 0x42003c00), others(16, 0xbc004000);
  CHECK(in_global("add.noftz.f16", halves, others) == std::vector<u32>(16, 0x40004200));
  CHECK(in_global("min.f16", halves, others) == std::vector<u32>(16, 0xbc003c00));
  CHECK(in_global("max.f16", halves, others) == std::vector<u32>(16, 0x42004000));
  const std::vector<u32> brains(16, 0x40403f80), more(16, 0xbf804000);
  CHECK(in_global("add.noftz.bf16", brains, more) == std::vector<u32>(16, 0x40004040));
  CHECK(in_global("min.bf16", brains, more) == std::vector<u32>(16, 0xbf803f80));
  CHECK(in_global("max.bf16", brains, more) == std::vector<u32>(16, 0x40404000));
  const std::vector<u32> least(16, 0x00010001);
  CHECK(in_global("add.noftz.f16", least, least) == std::vector<u32>(16, 0x00020002));
  CHECK(in_global("add.noftz.bf16", least, least) == std::vector<u32>(16, 0x00020002));
}

TEST_CASE("a bulk reduction is done when its group is waited for", "[machine]") {
  const std::string add = to_global + "add.u32 [%rd1], [%r2], 16; cp.async.bulk.commit_group;\n";
  const std::string load = "ld.global.u32 %r10, [%rd1]; st.global.u32 [%rd1+";
  const std::vector<u32> there(16, 5), given(16, 100);
  const auto words =
      steps(add + load + "32], %r10;\n" + add + "cp.async.bulk.wait_group 1;\n" + load +
                "36], %r10; cp.async.bulk.wait_group 0;\n" + load + "40], %r10;",
            there, given)
          .result();
  CHECK(words == std::vector<u32>{205, 205, 205, 205, 5, 5, 5, 5, 5, 105, 205, 5, 5, 5, 5, 5});
  // At the end of the thread, too.
  CHECK(steps(add, there, given).result()[3] == 105);
}

TEST_CASE("bulk reductions of many threads meet", "[machine]") {
  const std::string pair = " [%rd1], [%r2], 64;\n" + commit_and_wait;
  CHECK(steps(to_global + "add.u32" + pair, std::vector<u32>(16, 5), std::vector<u32>(16, 100), 32)
            .result() == std::vector<u32>(16, 5 + 3200));
  // In shared memory, all onto the bytes of thread 0 of which nobody else reads.
  const std::string onto_last =
      "mov.u32 %r4, room; add.u32 %r4, %r4, 1984; setp.eq.u32 %p2, %r9, 31; bar.sync 0;\n"
      "@!%p2 " +
      to_shared + "add.u32 [%r4], [%r2], 16, [%r3];\n" +
      "@%p3 exit; mbarrier.expect_tx.shared.b64 [%r3], 432;\n" + wait +
      "ld.shared.u32 %r10, [%r4+8]; st.global.u32 [%rd1], %r10;\n";
  CHECK(steps(onto_last, std::vector<u32>(16, 5), std::vector<u32>(16, 100), 32).result()[0] ==
        3200);
}

TEST_CASE("bulk reductions that are wrong are faults", "[machine]") {
  const auto contains = [](const std::string& text, const char* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(fault_of("mov.u32 %r5, 24; " + to_global + "add.u32 [%rd1], [%r2], %r5;",
                          fault_kind::illegal_instruction),
                 "a bulk reduction of 24 bytes: the size must be a multiple of 16"));
  fault_of(to_global + "add.u32 [%rd1+8], [%r2], 16;", fault_kind::misaligned);
  fault_of(to_global + "add.u64 [%rd1], [%r2+8], 16;", fault_kind::misaligned);
  fault_of(to_global + "add.u32 [%rd1+16], [%r2], 64;", fault_kind::out_of_bounds);
  fault_of(to_global + "add.u32 [%rd1], [%r2+2000], 64;", fault_kind::shared_out_of_bounds);
  fault_of(to_shared + "add.u32 [%r2+2032], [%r2], 32, [%r3];", fault_kind::shared_out_of_bounds);
  fault_of(to_shared + "add.u32 [%r2], [%r2], 16, [%r3+4];", fault_kind::misaligned);
  // Bytes that nobody wrote: the source, and what the elements are combined with.
  CHECK(contains(
      fault_of(to_global + "add.u32 [%rd1], [%r2+64], 16;", fault_kind::uninitialized_read),
      "byte 64 of room"));
  CHECK(contains(
      fault_of(to_shared + "add.u32 [%r2+64], [%r2], 16, [%r3];", fault_kind::uninitialized_read),
      "byte 64 of room"));
  // A result that nobody has waited for.
  CHECK(contains(fault_of(to_shared + "add.u32 [%r2], [%r2+32], 16, [%r3];\n"
                                      "ld.shared.u32 %r10, [%r2+4];",
                          fault_kind::uninitialized_read),
                 "byte 4 of room, which an asynchronous copy of thread (0,0,0) brings"));
}

}  // namespace bulk_reductions_test
