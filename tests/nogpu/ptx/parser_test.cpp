#include <nogpu/ptx/parser.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "sample.hpp"
#include "support/catch.hpp"

namespace parser_test {

namespace ptx = nogpu::ptx;
using ptx_test::module_head;
using ptx_test::parse_kernel;
using ptx_test::refusal_of;

namespace {

ptx::parse_result parse_declarations(const std::string& declarations) {
  return ptx::parse(std::string(module_head) + declarations);
}

const ptx::instruction& first_instruction(const ptx::parse_result& result) {
  return result.value.functions.back().instructions.front();
}

}  // namespace

TEST_CASE("a module has its target", "[ptx]") {
  const ptx::parse_result result =
      ptx::parse(".version 7.8\n.target sm_80, debug\n.address_size 64\n");
  REQUIRE(refusal_of(result) == "");
  CHECK(result.value.target == 80);
}

TEST_CASE("the newest version is an option", "[ptx]") {
  ptx::parse_options options;
  options.max_version_major = 8;
  options.max_version_minor = 3;
  const auto taken = [&](const char* version) {
    const std::string text = std::string(".version ") + version + "\n.target sm_90\n";
    return static_cast<bool>(ptx::parse(text, options));
  };
  CHECK(taken("7.8"));
  CHECK(taken("8.3"));
  CHECK_FALSE(taken("8.4"));
  CHECK_FALSE(taken("9.0"));
}

TEST_CASE("what the device cannot run is refused by version and target", "[ptx]") {
  const auto reason = [](const char* text) {
    const ptx::parse_result result = ptx::parse(text);
    REQUIRE_FALSE(result);
    return result.error->reason;
  };
  CHECK(reason(".version 10.0\n.target sm_90") == ptx::refusal::unsupported_version);
  CHECK(reason(".version 9.0\n.target sm_100") == ptx::refusal::unsupported_target);
  CHECK(reason(".version 9.0\n.target sm_80a") == ptx::refusal::unsupported_target);
  CHECK(reason(".version 9.0\n.target sm_90\n.address_size 32") ==
        ptx::refusal::unsupported_target);
  CHECK(reason("") == ptx::refusal::malformed);
  CHECK(reason(".version 9\n.target sm_90") == ptx::refusal::malformed);
  CHECK(reason(".version 9.0\n.target gfx90") == ptx::refusal::malformed);
}

TEST_CASE("a target needs the version of PTX that first had it", "[ptx]") {
  const auto outcome = [](const std::string& version, const std::string& target) {
    return ptx::parse(".version " + version + "\n.target " + target + "\n");
  };
  // What NVIDIA's assembler answers for each.
  const std::pair<const char*, const char*> good[] = {
      {"7.8", "sm_90"}, {"8.0", "sm_90a"}, {"7.1", "sm_86"}, {"6.3", "sm_75"},
      {"5.1", "sm_70"}, {"7.0", "sm_80"},  {"7.3", "sm_88"}, {"1.0", "sm_10, map_f64_to_f32"},
      {"4.0", "sm_50"}, {"9.0", "sm_52"},  {"9.1", "sm_90"}};
  for (const auto& [version, target] : good) {
    CAPTURE(version, target);
    CHECK(refusal_of(outcome(version, target)) == "");
  }
  const std::pair<const char*, const char*> bad[] = {
      {"7.7", "sm_90"},  {"7.8", "sm_90a"}, {"7.0", "sm_86"},
      {"6.0", "sm_75"},  {"5.0", "sm_70"},  {"6.3", "sm_80"},
      {"9.0", "sm_90f"}, {"9.0", "sm_65"},  {"9.0", "sm_90, map_f64_to_f32"}};
  for (const auto& [version, target] : bad) {
    CAPTURE(version, target);
    const ptx::parse_result result = outcome(version, target);
    REQUIRE_FALSE(result);
    CHECK(result.error->reason == ptx::refusal::unsupported_target);
  }
  CHECK(refusal_of(outcome("7.7", "sm_90")) == "sm_90 needs PTX 7.8 or newer, this is 7.7");
  for (const char* version : {"8.9", "7.9", "2.4", "0.5", "10.0", "20.0"}) {
    CAPTURE(version);
    const ptx::parse_result result = outcome(version, "sm_90");
    REQUIRE_FALSE(result);
    CHECK(result.error->reason == ptx::refusal::unsupported_version);
  }
}

TEST_CASE("registers are set for sm_90a alone", "[ptx]") {
  const auto refusal = [](const std::string& count) {
    return refusal_of(
        ptx::parse(".version 8.0\n.target sm_90a\n.entry k() { "
                   "setmaxnreg.inc.sync.aligned.u32 " +
                   count + "; ret; }"));
  };
  for (const char* count : {"24", "40", "256"}) CHECK(refusal(count) == "");
  for (const char* count : {"16", "41", "264"}) CHECK(refusal(count) != "");
  CHECK(refusal_of(parse_kernel("setmaxnreg.dec.sync.aligned.u32 40;")) ==
        "setmaxnreg needs .target sm_90a, this module has sm_90");
}

TEST_CASE("parameters are laid out as the driver lays them out", "[ptx]") {
  // The offsets are those of the C structure {char; double; short[3]; aligned(16) char[20]; int}.
  struct layout {
    char a;
    double b;
    short c[3];
    alignas(16) char d[20];
    int e;
  };
  const ptx::parse_result result = parse_declarations(
      ".entry k(.param .u8 a, .param .f64 b, .param .align 2 .b8 c[6], .param .align 16 .b8 d[20],"
      " .param .u64 .ptr .global .align 4 e) { ret; }");
  REQUIRE(refusal_of(result) == "");
  const ptx::function& f = result.value.functions[0];
  REQUIRE(f.parameters.size() == 5);
  CHECK(f.parameters[0].offset == offsetof(layout, a));
  CHECK(f.parameters[1].offset == offsetof(layout, b));
  CHECK(f.parameters[2].offset == offsetof(layout, c));
  CHECK(f.parameters[3].offset == offsetof(layout, d));
  CHECK(f.parameters[3].size == 20);
  CHECK(f.parameters[4].offset == 56);
  CHECK(f.parameter_bytes == 64);
  CHECK(f.entry);
  CHECK(f.defined);
}

TEST_CASE("an instruction keeps its suffixes, types, operands and place", "[ptx]") {
  const ptx::parse_result result =
      parse_kernel("@!%p1 ld.acquire.gpu.global.v2.u32 {%r1, _}, [%rd2+-8];");
  REQUIRE(refusal_of(result) == "");
  const ptx::function& f = result.value.functions[0];
  const ptx::instruction& i = f.instructions[0];
  CHECK(i.op == ptx::opcode::ld);
  CHECK(i.with.order == ptx::memory_order::acquire);
  CHECK(i.with.scope == ptx::memory_scope::gpu);
  CHECK(i.with.space == ptx::state_space::global);
  CHECK(i.with.vector == 2);
  CHECK(i.types[0] == ptx::type::u32);
  CHECK(i.when.negated);
  CHECK(f.register_names[i.when.reg] == "%p1");
  CHECK(i.line == 6);
  CHECK(result.value.text_of(i) == "@!%p1 ld.acquire.gpu.global.v2.u32 {%r1, _}, [%rd2+-8];");
  const auto operands = f.operands_of(i);
  REQUIRE(operands.size() == 2);
  REQUIRE(operands[0].kind == ptx::operand_kind::vector);
  CHECK(f.register_names[f.elements_of(operands[0])[0].index] == "%r1");
  CHECK(f.elements_of(operands[0])[1].kind == ptx::operand_kind::sink);
  CHECK(operands[1].kind == ptx::operand_kind::address);
  CHECK(operands[1].offset() == -8);
}

TEST_CASE("suffixes with two meanings mean what the instruction says", "[ptx]") {
  CHECK(first_instruction(parse_kernel("mul.lo.s32 %r1,%r2,%r3;")).with.part == ptx::product::lo);
  CHECK(first_instruction(parse_kernel("setp.lo.u32 %p1,%r2,%r3;")).with.compare ==
        ptx::comparison::lo);
  const ptx::parse_result set = parse_kernel("setp.lt.and.s32 %p1|%p2,%r2,%r3,!%p3;");
  CHECK(first_instruction(set).with.op == ptx::operation::and_);
  CHECK(first_instruction(set).with.compare == ptx::comparison::lt);
  CHECK(first_instruction(parse_kernel("atom.global.and.b32 %r1,[%rd1],%r2;")).with.op ==
        ptx::operation::and_);
  const ptx::instruction convert = first_instruction(parse_kernel("cvt.rzi.sat.s32.f32 %r1,%f1;"));
  CHECK(convert.with.round == ptx::rounding::toward_zero);
  CHECK(convert.with.round_to_integer);
  CHECK(convert.with.sat);
  CHECK(convert.types[0] == ptx::type::s32);
  CHECK(convert.types[1] == ptx::type::f32);
}

TEST_CASE("mov is a copy, a pack, an unpack or an address", "[ptx]") {
  const auto opcode_of = [](const char* text) { return first_instruction(parse_kernel(text)).op; };
  CHECK(opcode_of("mov.u32 %r1, 5;") == ptx::opcode::mov);
  CHECK(opcode_of("mov.b64 %rd1, {%r1,%r2};") == ptx::opcode::mov_pack);
  CHECK(opcode_of("mov.b64 {%r1,%r2}, %rd1;") == ptx::opcode::mov_unpack);
  CHECK(opcode_of("mov.u64 %rd1, sh+8;") == ptx::opcode::mov_address);
}

TEST_CASE("only registers that are named exist", "[ptx]") {
  const ptx::parse_result result =
      parse_declarations(".entry k { .reg .b32 %r<1000000>; mov.b32 %r999999, %r7; ret; }");
  REQUIRE(refusal_of(result) == "");
  CHECK(result.value.functions[0].registers.size() == 2);
  CHECK_FALSE(parse_declarations(".entry k { .reg .b32 %r<10>; mov.b32 %r10, 1; ret; }"));
}

TEST_CASE("inner blocks shadow registers and labels of outer ones", "[ptx]") {
  const ptx::parse_result result = parse_kernel(
      "L: mov.u32 u, 1; { .reg .f32 u; mov.f32 u, 0f3F800000; bra L; bra N; L: } bra L; N:");
  REQUIRE(refusal_of(result) == "");
  const ptx::function& f = result.value.functions[0];
  const auto register_of = [&](std::size_t i) { return f.operands_of(f.instructions[i])[0].index; };
  CHECK(f.registers[register_of(0)] == ptx::type::u32);
  CHECK(f.registers[register_of(1)] == ptx::type::f32);
  const auto target_of = [&](std::size_t i) { return f.labels[register_of(i)].instruction; };
  CHECK(target_of(2) == 4);
  CHECK(target_of(3) == 5);
  CHECK(target_of(4) == 0);
}

TEST_CASE("branch tables, prototypes and calls are resolved", "[ptx]") {
  const ptx::parse_result result = parse_kernel(
      "ts: .branchtargets A, B; brx.idx %r1, ts; A: B:\n"
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), f, (a); }\n"
      "{ .param .b32 a; pr: .callprototype (.param .b32 _) _ (.param .b32 _);"
      "call (%r1), %rd1, (5), pr; }",
      ".func (.param .b32 r) f(.param .b32 a);");
  REQUIRE(refusal_of(result) == "");
  const ptx::function& f = result.value.functions[1];
  REQUIRE(f.branch_tables.size() == 1);
  CHECK(f.branch_tables[0].size() == 2);
  REQUIRE(f.calls.size() == 2);
  CHECK(f.calls[0].function == 0);
  CHECK(f.calls[0].arguments[0].target.kind == ptx::symbol_kind::variable);
  CHECK(f.calls[1].function == ptx::no_index);
  CHECK(f.calls[1].prototype == 0);
  CHECK(f.calls[1].arguments[0].value == 5);
  CHECK_FALSE(result.value.functions[0].defined);
}

TEST_CASE("a declaration and its definition are one function", "[ptx]") {
  const ptx::parse_result result = parse_declarations(
      ".func f(.param .b32 a); .func g { call f, (1); ret; } .func f(.param .b32 a) { ret; }");
  REQUIRE(refusal_of(result) == "");
  REQUIRE(result.value.functions.size() == 2);
  CHECK(result.value.functions[0].defined);
  CHECK(result.value.functions[1].calls[0].function == 0);
}

TEST_CASE("a definition keeps what its declarations said, before or after it", "[ptx]") {
  const ptx::parse_result functions =
      parse_declarations(".visible .func f; .func f { ret; } .weak .func g; .func g { ret; }");
  REQUIRE(refusal_of(functions) == "");
  CHECK(functions.value.functions[0].link == ptx::linkage::visible);
  CHECK(functions.value.functions[1].link == ptx::linkage::weak);
  for (const char* const order : {".extern .global .u32 a[]; .visible .global .u32 a[2] = {5, 6};",
                                  ".visible .global .u32 a[2] = {5, 6}; .extern .global .u32 a[];",
                                  ".extern .global .u32 a[2]; .extern .global .u32 a[2];"
                                  ".visible .global .u32 a[2] = {5, 6};"}) {
    CAPTURE(order);
    const ptx::parse_result result = parse_declarations(order);
    REQUIRE(refusal_of(result) == "");
    REQUIRE(result.value.variables.size() == 1);
    const ptx::variable& a = result.value.variables[0];
    CHECK(a.link == ptx::linkage::visible);
    CHECK(a.size == 8);
    CHECK_FALSE(a.unsized);
    REQUIRE(a.initial.size() == 8);
    CHECK(a.initial[0] == std::byte{5});
  }
}

TEST_CASE("initializers give bytes and relocations", "[ptx]") {
  const ptx::parse_result result = parse_declarations(
      ".global .align 8 .u16 a[2][3] = {{1, 2}, {3}};\n"
      ".global .u64 b[2] = {generic(a)+4, 7};\n"
      ".global .b8 c[2] = {0xFF00(a), 9};\n.const .f32 d = -1.5;\n.extern .shared .b8 dyn[];");
  REQUIRE(refusal_of(result) == "");
  const auto& v = result.value.variables;
  REQUIRE(v.size() == 5);
  CHECK(v[0].size == 12);
  REQUIRE(v[0].initial.size() == 8);
  CHECK(v[0].initial[2] == std::byte{2});
  CHECK(v[0].initial[6] == std::byte{3});
  REQUIRE(v[1].relocations.size() == 1);
  CHECK(v[1].relocations[0].generic);
  CHECK(v[1].relocations[0].addend == 4);
  CHECK(v[1].relocations[0].target.index == 0);
  CHECK(v[1].initial[8] == std::byte{7});
  CHECK(v[2].relocations[0].mask == 0xff00);
  CHECK(v[2].relocations[0].size == 1);
  CHECK(v[3].initial[3] == std::byte{0xbf});
  CHECK(v[3].initial[2] == std::byte{0xc0});
  CHECK(v[4].unsized);
}

TEST_CASE("directives of a kernel are kept", "[ptx]") {
  const ptx::parse_result result = parse_declarations(
      ".visible .entry k() .maxntid 128, 2 .minnctapersm 3 .maxnreg 40 { ret; }");
  REQUIRE(refusal_of(result) == "");
  const ptx::function& f = result.value.functions[0];
  CHECK(f.max_threads.x == 128);
  CHECK(f.max_threads.y == 2);
  CHECK(f.max_threads.z == 1);
  CHECK(f.min_blocks_per_multiprocessor == 3);
  CHECK(f.max_registers == 40);
  CHECK(f.link == ptx::linkage::visible);
}

TEST_CASE("source lines and inlined functions are kept", "[ptx]") {
  const ptx::parse_result result = parse_declarations(
      ".entry k { .loc 1 10 3\n trap; .loc 1 4 5, function_name $L__info_string0, inlined_at 1 11 "
      "7\n exit; ret; }\n.file 1 \"a.cu\"\n.section .debug_str { $L__info_string0:\n.b8 102,111\n"
      ".b8 111,0\n }\n.section .debug_info { .b32 .debug_abbrev }");
  REQUIRE(refusal_of(result) == "");
  const ptx::function& f = result.value.functions[0];
  REQUIRE(f.locations.size() == 2);
  CHECK(f.locations[f.instructions[0].location].line == 10);
  CHECK(f.locations[f.instructions[0].location].inlined_file == ptx::no_index);
  const ptx::location& inlined = f.locations[f.instructions[2].location];
  CHECK(inlined.function_name == "foo");
  CHECK(inlined.inlined_line == 11);
  REQUIRE(result.value.files.size() == 1);
  CHECK(result.value.files[0].name == "a.cu");
}

TEST_CASE("a refusal names the line, the column and the culprit", "[ptx]") {
  const ptx::parse_result result = parse_kernel("mov.u32 %r1, 1;\n  add.u32 %r1, %f1, %r2;");
  REQUIRE_FALSE(result);
  CHECK(result.error->line == 7);
  CHECK(result.error->column == 16);
  CHECK(result.error->text.find("'%f1' is .f32") != std::string::npos);
}

TEST_CASE("limits turn huge input into a sentence", "[ptx]") {
  const auto reason = [](const ptx::parse_result& result) {
    REQUIRE_FALSE(result);
    return result.error->reason;
  };
  CHECK(reason(parse_kernel(std::string(100'000, '{'))) == ptx::refusal::too_large);
  CHECK(reason(parse_declarations(".global .b8 a[1099511627776];")) == ptx::refusal::too_large);
  CHECK(reason(parse_declarations(".global .b8 a[4][1073741824] = {{1},{1}};")) ==
        ptx::refusal::too_large);
  CHECK(parse_declarations(".entry k(.param .b8 a[32764]) { ret; }"));
  CHECK(reason(parse_declarations(".entry k(.param .b8 a[32765]) { ret; }")) ==
        ptx::refusal::too_large);
  CHECK(parse_declarations(".entry k(.param .b8 a, .param .b8 b[32763]) { ret; }"));
  CHECK(reason(parse_declarations(".entry k(.param .b8 a, .param .b8 b[32764]) { ret; }")) ==
        ptx::refusal::too_large);
}

TEST_CASE("every prefix of a module and every damaged byte is survived", "[ptx]") {
  const std::string whole = ptx_test::kernel(
      "ts: .branchtargets A, B; @%p1 brx.idx %r1, ts; A: B: { .reg .f32 x; }\n"
      "atom.shared.cas.b32 %r1, [sh+4], %r2, (1+2)*3; setp.lt.and.s32 %p1|_, %r1, 5, !%p2;",
      ".global .u32 a[2] = {1, 0x2}; .global .u64 b = generic(a)+4; .func (.param .b32 r) f(.param "
      ".b32 x) { .loc 1 2 3\n st.param.f32 [r], 0f3F800000; ret; }\n.section .debug_str { x: .b8 1 "
      "}");
  REQUIRE(refusal_of(ptx::parse(whole)) == "");
  std::size_t refused = 0;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    refused += ptx::parse(whole.substr(0, n)) ? 0u : 1u;
  }
  CHECK(refused > whole.size() / 2);
  std::uint32_t state = 12345;
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) {
      state = state * 1664525u + 1013904223u;
      const std::size_t place = (state >> 8) % damaged.size();
      state = state * 1664525u + 1013904223u;
      damaged[place] = static_cast<char>(state >> 24);
    }
    const ptx::parse_result result = ptx::parse(damaged);
    if (!result) CHECK_FALSE(result.error->text.empty());
  }
}

}  // namespace parser_test
