#include <nogpu/ptx/link.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "sample.hpp"
#include "support/catch.hpp"

namespace link_test {

namespace ptx = nogpu::ptx;

namespace {

ptx::module linked(const std::string& first, const std::string& second) {
  ptx::linker linker;
  for (const std::string& text : {first, second}) {
    ptx::parse_result unit = ptx::parse(std::string(ptx_test::module_head) + text);
    REQUIRE(ptx_test::refusal_of(unit) == "");
    CHECK(linker.add(std::move(unit.value), "unit").empty());
  }
  CHECK(linker.undefined().empty());
  return linker.take();
}

/// The text of a line, counted from one.
std::string line_of(const std::string& text, std::uint32_t line) {
  std::size_t begin = 0;
  while (--line != 0) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("what is linked is found in the text of all units", "[ptx]") {
  // The first unit ends with its line, or without.
  for (const char* const end : {"", "\n"}) {
    const ptx::module code = linked(std::string(".entry a() {\n trap;\n ret; }") + end,
                                    ".global .u32 v;\n.entry b() {\n ret;\n exit; }\n");
    REQUIRE(code.functions.size() == 2);
    CHECK(line_of(code.source, code.functions[0].line) == ".entry a() {");
    CHECK(line_of(code.source, code.functions[1].line) == ".entry b() {");
    CHECK(line_of(code.source, code.variables[0].line) == ".global .u32 v;");
    CHECK(std::count(code.source.begin(), code.source.end(), '\n') == 3 + 3 + 3 + 4);
    const auto& last = code.functions[1].instructions;
    CHECK(code.text_of(last[0]) == "ret;");
    CHECK(line_of(code.source, last[0].line) == " ret;");
    CHECK(code.text_of(last[1]) == "exit;");
    CHECK(code.text_of(code.functions[0].instructions[0]) == "trap;");
  }
}

TEST_CASE("source files stay apart when units number them alike", "[ptx]") {
  const auto unit = [](const std::string& name) {
    return ".entry " + name + "() { .loc 1 10 3\n trap; .loc 2 4 5, function_name $L, inlined_at " +
           "1 11 7\n exit; ret; }\n.file 1 \"" + name + ".cu\"\n.file 2 \"" + name +
           ".hpp\"\n.section .debug_str { $L:\n.b8 102,0\n }\n";
  };
  const ptx::module code = linked(unit("a"), unit("b"));
  const auto name_of = [&](std::uint32_t number) {
    for (const ptx::source_file& each : code.files) {
      if (each.number == number) return each.name;
    }
    return std::string();
  };
  REQUIRE(code.functions.size() == 2);
  for (const ptx::function& f : code.functions) {
    const ptx::location& outer = f.locations[f.instructions[0].location];
    CHECK(name_of(outer.file) == f.name + ".cu");
    CHECK(outer.inlined_file == ptx::no_index);
    const ptx::location& inlined = f.locations[f.instructions[1].location];
    CHECK(name_of(inlined.file) == f.name + ".hpp");
    CHECK(name_of(inlined.inlined_file) == f.name + ".cu");
  }
}

}  // namespace link_test
