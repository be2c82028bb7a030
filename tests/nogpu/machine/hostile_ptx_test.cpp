// PTX that nobody would write in good faith, and launches that do not fit: every one ends with a
// diagnostic or a fault that says what is wrong, and none takes long.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <nogpu/machine/printf_format.hpp>
#include "nogpu/machine/kernel_harness.hpp"

namespace hostile_ptx_test {

using namespace machine_test;

namespace {

/// Why a module is not loaded; nothing of it stays in the memory.
std::string refusal_of(const std::string& body) {
  address_space memory;
  const load_result result = load_text(module_text(body), memory);
  if (result) return "";
  CHECK(memory.used() == 0);
  CHECK(result.diagnostic.line > 3);
  return result.diagnostic.text;
}

bool contains(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

std::string repeated(std::size_t count, const std::string& part) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += part;
  return all;
}

/// `count` functions f0, f1 ..., each with `calls` calls of the one before, and a kernel that calls
/// the last.
std::string chain(std::size_t count, std::size_t calls, const std::string& declarations) {
  std::string text = ".func f0() { ret; }\n";
  for (std::size_t i = 1; i < count; ++i) {
    text += ".func f" + std::to_string(i) + "() { " + declarations +
            repeated(calls, "call f" + std::to_string(i - 1) + "; ") + "ret; }\n";
  }
  return text + ".entry k() { call f" + std::to_string(count - 1) + "; ret; }\n";
}

}  // namespace

TEST_CASE("a long kernel runs as it stands", "[machine]") {
  constexpr std::uint32_t count = 30'000;
  workbench bench(
      ".entry k(.param .u64 p) { .reg .u32 %r<9>; .reg .u64 %rd<3>;\n"
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;\n" +
      repeated(count, "add.u32 %r1, %r1, 1;\n") + "st.global.u32 [%rd1], %r1; ret; }");
  const address p = bench.allocate(4);
  bench.run_well("k", {}, {}, p);
  CHECK(bench.download<std::uint32_t>(p, 1)[0] == count);
}

TEST_CASE("a branch table of many labels leads to each", "[machine]") {
  constexpr std::uint32_t count = 3000;
  std::string labels, blocks;
  for (std::uint32_t i = 0; i < count; ++i) {
    labels += (i == 0 ? "L" : ", L") + std::to_string(i);
    blocks += "L" + std::to_string(i) + ": mov.u32 %r2, " + std::to_string(i * 7) + "; bra END;\n";
  }
  workbench bench(
      ".entry k(.param .u64 p, .param .u32 n) { .reg .u32 %r<9>; .reg .u64 %rd<3>;\n"
      "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ts: .branchtargets " +
      labels + "; brx.idx %r1, ts;\n" + blocks + "END: st.global.u32 [%rd1], %r2; ret; }");
  const address p = bench.allocate(4);
  for (const std::uint32_t n : {0u, count / 2, count - 1}) {
    bench.run_well("k", {}, {}, p, n);
    CHECK(bench.download<std::uint32_t>(p, 1)[0] == n * 7);
  }
  const outcome beyond = bench.run("k", {}, {}, p, count);
  REQUIRE(beyond.error);
  CHECK(beyond.error->kind == fault_kind::illegal_instruction);
}

TEST_CASE("variables that no device has room for are refused", "[machine]") {
  const auto variable = [](const std::string& declaration) {
    return refusal_of(".entry k() { " + declaration +
                      " .reg .b64 %rd1; mov.u64 %rd1, v; st.b32 [%rd1], 1; ret; }");
  };
  CHECK(variable(".local .b8 v[524288];") == "");
  CHECK(contains(variable(".local .b8 v[524304];"), "at most 524288"));
  CHECK(contains(variable(".local .b8 v[4294967312];"), "4294967312 bytes of local memory"));
  CHECK(
      contains(variable(".local .b8 v[4294967040]; .local .b8 w[4294967040];"), "at most 524288"));
  CHECK(variable(".shared .b8 v[49152];") == "");
  CHECK(contains(variable(".shared .b8 v[49153];"), "at most 49152"));
  CHECK(contains(variable(".shared .b8 v[4294967312];"), "4294967312 bytes of static shared"));
  // Each function may have its memory, the chain of them not.
  const std::string room = ".local .b8 v[65536]; .reg .b64 %rd1; mov.u64 %rd1, v; ";
  CHECK(refusal_of(chain(8, 1, room)) == "");
  CHECK(contains(refusal_of(chain(12, 1, room)), "k declares 720896 bytes of local memory"));
  address_space small(1 << 20);
  const load_result global = load_text(module_text(".global .b8 v[1073741824];"), small);
  REQUIRE_FALSE(global);
  CHECK(global.why == load_result::failure::out_of_memory);
  CHECK(small.used() == 0);
}

TEST_CASE("more constants than a module can have are refused", "[machine]") {
  CHECK(refusal_of(".const .b8 v[65536];") == "");
  CHECK(contains(refusal_of(".const .b8 v[65537];"), "declares 65537 bytes of constant memory"));
  CHECK(contains(refusal_of(".const .b8 v[80000]; .entry k() { ret; }"), "at most 65536"));
  CHECK(contains(refusal_of(".const .b8 v[40000]; .const .b8 w[40000];"), "80000 bytes"));
  // In the order of the text, with the alignment of each.
  CHECK(refusal_of(".const .b8 a[1]; .const .align 256 .b8 b[65280];") == "");
  CHECK(contains(refusal_of(".const .b8 a[1]; .const .align 256 .b8 b[65281];"), "65537 bytes"));
  CHECK(refusal_of(".const .align 256 .b8 b[65535]; .const .b8 a[1];") == "");
  CHECK(contains(refusal_of(".const .b8 a[1]; .const .u32 b[16383]; .const .b8 c[3];"), "65539"));
  address_space memory(1 << 20);
  const load_result result = load_text(module_text(".const .b8 v[80000];"), memory);
  REQUIRE_FALSE(result);
  CHECK(result.why == load_result::failure::unsupported);
  CHECK(result.diagnostic.line == 4);
  CHECK(memory.used() == 0);
}

TEST_CASE("call graphs of any shape are walked once", "[machine]") {
  // 2^60 paths lead through the second, and the first is deeper than the host's stack.
  CHECK(refusal_of(chain(20'000, 1, "")) == "");
  CHECK(refusal_of(chain(60, 2, "")) == "");
  std::string indirect = ".func f0() { ret; }\n";
  for (int i = 1; i < 1500; ++i) {
    indirect +=
        ".func f" + std::to_string(i) +
        "() { .reg .b64 %rd1; mov.u64 %rd1, f0; p: .callprototype _ (); call %rd1, p; ret; }\n";
  }
  CHECK(refusal_of(indirect + ".entry k() { call f1499; ret; }") == "");
}

TEST_CASE("nesting has a limit in every place that nests", "[machine]") {
  const auto kernel = [](const std::string& body) {
    return refusal_of(".entry k() { .reg .u32 %r1; " + body + " ret; }");
  };
  CHECK(kernel(repeated(200, "{ ") + "mov.u32 %r1, 1; " + repeated(200, "} ")) == "");
  CHECK(kernel(repeated(100'000, "{ ")) != "");
  CHECK(kernel("mov.u32 %r1, " + repeated(20, "(") + "1" + repeated(20, ")") + ";") == "");
  CHECK(kernel("mov.u32 %r1, " + repeated(100'000, "(") + "1;") != "");
  CHECK(kernel("mov.u32 %r1, " + repeated(100'000, "-") + "1;") != "");
  CHECK(kernel("mov.u32 %r1, " + repeated(100'000, "1 ? ") + "1;") != "");
  CHECK(kernel("mov.b64 " + repeated(100'000, "{") + ";") != "");
  CHECK(refusal_of(".global .u32 v" + repeated(100'000, "[1]") + ";") != "");
  CHECK(refusal_of(".global .u32 v[1] = " + repeated(100'000, "{") + ";") != "");
}

TEST_CASE("PTX of a newer version is told from malformed PTX", "[machine]") {
  const auto refusal = [](const std::string& text) {
    address_space memory;
    return load_text(text, memory).diagnostic;
  };
  using nogpu::ptx::refusal;
  const std::string rest = "\n.target sm_90\n.address_size 64\n.entry k() { ret; }";
  CHECK(refusal(".version 10.0" + rest).reason == refusal::unsupported_version);
  CHECK(refusal(".version 99.9" + rest).reason == refusal::unsupported_version);
  CHECK(refusal(".version 999999999999.0" + rest).reason == refusal::malformed);
  CHECK(refusal(".version -1.0" + rest).reason == refusal::malformed);
  CHECK(refusal(".version 8.0\n.target sm_100\n.address_size 64\n").reason ==
        refusal::unsupported_target);
  CHECK(refusal(".version 8.0\n.target sm_90\n.address_size 32\n.entry k() { ret; }").line == 3);
  CHECK(refusal("").text != "");
}

TEST_CASE("symbols that are nowhere defined are named", "[machine]") {
  CHECK(contains(refusal_of(".extern .func f(); .entry k() { call f; ret; }"), "f"));
  CHECK(contains(refusal_of(".extern .global .u32 v; .entry k() { ret; }"), "v"));
  CHECK(contains(refusal_of(".entry k() { call f; ret; }"), "'f'"));
  CHECK(contains(refusal_of(".entry k() { .reg .u64 %rd1; mov.u64 %rd1, v; ret; }"), "'v'"));
  CHECK(contains(refusal_of(".entry k() { bra L; ret; }"), "'L'"));
  CHECK(contains(refusal_of(".global .u64 a = b;"), "'b'"));
  // What the device runtime provides has to be declared as it is.
  CHECK(
      refusal_of(".extern .func (.param .b64 r) malloc(.param .b64 a); .entry k() { .param .b64 a; "
                 ".param .b64 r; st.param.b64 [a], 8; call (r), malloc, (a); ret; }") == "");
  CHECK(
      contains(refusal_of(".extern .func (.param .b8 r) malloc(.param .b8 a); .entry k() { .param "
                          ".b8 a; .param .b8 r; call (r), malloc, (a); ret; }"),
               "malloc"));
  CHECK(contains(refusal_of(".extern .func (.param .b32 r) vprintf(.param .b64 a); .entry k() { "
                            ".param .b64 a; .param .b32 r; call (r), vprintf, (a); ret; }"),
                 "vprintf"));
}

TEST_CASE("calls pass what the assembler lets them pass", "[machine]") {
  const auto call = [](const std::string& parameters, const std::string& body) {
    return refusal_of(".global .b64 g; .func f(" + parameters +
                      ") { ret; } .entry k(.param .b64 p) "
                      "{ .reg .b64 %rd1; .reg .pred %p1; .shared .b8 sh[64]; .local .b8 lo[64]; "
                      ".param .b64 pp; " +
                      body + " ret; }");
  };
  CHECK(call(".param .b64 a", "call f, (pp);") == "");
  CHECK(call(".param .b64 a", "call f, (5);") == "");
  CHECK(call(".reg .b64 a", "call f, (%rd1);") == "");
  CHECK(call(".param .b64 a", "call f, (g);") != "");
  CHECK(call(".param .b64 a", "call f, (p);") != "");
  CHECK(call(".param .b64 a", "call f, (pp+8);") != "");
  CHECK(call(".param .b64 a", "call f, (_);") != "");
  CHECK(call(".param .b8 a[64]", "call f, (sh);") != "");
  CHECK(call(".param .b8 a[64]", "call f, (lo);") != "");
  CHECK(call(".param .b8 a[8]", "call f, (5);") != "");
  CHECK(call(".param .b8 a", "call f, (%p1);") != "");
  CHECK(call(".reg .pred a", "") != "");
  CHECK(call(".reg .b32 a[4]", "") != "");
  CHECK(refusal_of(".entry k(.reg .b32 a) { ret; }") != "");
}

TEST_CASE("a parameter block of the wrong size is a fault at the load", "[machine]") {
  workbench bench(
      ".entry k(.param .u64 p, .param .u32 n, .param .align 16 .b8 s[48]) { .reg .u64 %rd<3>; .reg "
      ".u32 %r<3>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [s+40]; st.global.u32 [%rd1], %r1; "
      "ret; }");
  const address p = bench.allocate(4);
  std::vector<std::byte> block(64);
  std::memcpy(block.data(), &p, sizeof p);
  launch what = bench.what;
  what.kernel = bench.module->find_kernel("k");
  REQUIRE(what.kernel != nullptr);
  for (std::size_t size = 0; size <= block.size(); ++size) {
    const std::vector<std::byte> cut(block.begin(),
                                     block.begin() + static_cast<std::ptrdiff_t>(size));
    what.parameters = cut;
    const std::optional<fault> error = run_launch(what, bench.memory, bench.processors);
    CHECK(error.has_value() == (size < 16 + 44));
    if (error) CHECK(error->kind == fault_kind::param_out_of_bounds);
  }
}

TEST_CASE("addresses wrap without harm", "[machine]") {
  workbench bench(
      ".global .u32 g; .entry k(.param .u64 p) { .reg .u32 %r<3>; .reg .u64 %rd<3>; ld.global.u32 "
      "%r1, [g+9223372036854775804]; ret; }\n"
      ".entry below(.param .u64 p) { .reg .u32 %r<3>; .reg .u64 %rd<3>; mov.u64 %rd1, 0; "
      "ld.u32 %r1, [%rd1+-4]; ret; }\n"
      ".entry own(.param .u64 p) { .reg .u32 %r<3>; .local .b8 l[16]; ld.local.u32 %r1, "
      "[l+9223372036854775800]; ret; }\n"
      ".entry block(.param .u64 p) { .reg .u32 %r<3>; .shared .b8 s[16]; ld.shared.u32 %r1, "
      "[s+-2147483648]; ret; }");
  for (const char* kernel : {"k", "below", "own", "block"}) {
    const outcome result = bench.run(kernel, {}, {}, std::uint64_t{0});
    INFO(kernel);
    REQUIRE(result.error);
    CHECK_FALSE(result.error->text.empty());
  }
}

TEST_CASE("no format of printf takes more than its share of memory", "[machine]") {
  // Every argument is `word`; every string is long.
  const auto formatted = [](const std::string& format, std::int32_t word) {
    const std::string text(1 << 20, 'x');
    const auto arguments = [&](void* to, std::uint32_t size) {
      std::memset(to, 0, size);
      std::memcpy(to, &word, sizeof word);
      return true;
    };
    const auto string = [&](address) { return text; };
    std::string out;
    int count = 0;
    CHECK(format_device(format, arguments, string, out, count));
    return out;
  };
  constexpr std::int32_t most = 2147483647;
  CHECK(formatted("%*d", most).size() == 4096);
  CHECK(formatted("%99999999999999999999d", 1).size() <= 4096);
  CHECK(formatted("%**d", most).size() == 4096);
  CHECK(formatted("%*4096d", most).size() == 4096);
  CHECK(formatted("%5*d", most).size() == 10);
  CHECK(formatted("%.*d", -5) == "-5");
  CHECK(formatted("%*.*d", 3) == "003");
  CHECK(formatted("%hhhd %Ld %zzu", 7) == "7 7 7");
  CHECK(formatted(repeated(1000, "%s"), 1).size() == std::size_t{1} << 20);
  CHECK(formatted("%", 1) == "%");
  CHECK(formatted("%5.5.5%%", 1) == "%%");
}

TEST_CASE("a module of thousands of kernels loads", "[machine]") {
  std::string text = ".func shared_by_all() { ret; }\n";
  for (int i = 0; i < 3000; ++i)
    text += ".entry k" + std::to_string(i) + "() { call shared_by_all; ret; }\n";
  workbench bench(text);
  const std::vector<const executable*> kernels = bench.module->kernels();
  REQUIRE(kernels.size() == 3000);
  // What a kernel takes does not grow with the functions of the module.
  for (const executable* each : kernels) {
    CHECK(each->own.size() == 1);
    CHECK(each->common == kernels[0]->common);
  }
  bench.run_well("k2999", {}, {});
}

}  // namespace hostile_ptx_test
