// The oracle of these tests is NVIDIA's assembler: assembler_accepted.hpp, assembler_refused.hpp,
// assembler_images.hpp, assembler_matrices.hpp and assembler_async.hpp have what it said.
#include <nogpu/ptx/instruction_table.hpp>

#include <algorithm>
#include <set>
#include <string>

#include <nogpu/ptx/mnemonics.hpp>
#include "assembler_accepted.hpp"
#include "assembler_async.hpp"
#include "assembler_images.hpp"
#include "assembler_matrices.hpp"
#include "assembler_refused.hpp"
#include "sample.hpp"
#include "support/catch.hpp"

namespace instruction_table_test {

namespace ptx = nogpu::ptx;

TEST_CASE("every row of the instruction table names suffixes and types that exist", "[ptx]") {
  for (const ptx::detail::form& row : ptx::detail::instruction_table) {
    CAPTURE(row.name, row.suffixes, row.types);
    const ptx::detail::compiled_form compiled = ptx::detail::compile_form(row);
    for (const auto& group : compiled.groups) CHECK(group.first < group.last);
    CHECK(compiled.groups.size() <= 32);
    for (std::size_t i = 0; i < compiled.type_count; ++i) {
      CHECK(compiled.types[i] != 0);
      CHECK((compiled.types[i] & 1u) == 0);
    }
    CHECK(row.operands.find_first_not_of("BCDEWKVPQSXabcdkruvwilfIpAmyzhMUTxRtjgoFGHJNnqes") ==
          std::string_view::npos);
  }
}

TEST_CASE("every group of suffixes is used by an instruction and stands together", "[ptx]") {
  std::set<std::string> used;
  for (const ptx::detail::form& row : ptx::detail::instruction_table) {
    for (std::string_view name : ptx::detail::split(row.suffixes, ' ')) {
      if (name.back() == '!') name.remove_suffix(1);
      used.emplace(name);
    }
  }
  std::set<std::string> closed;
  std::string current;
  for (const ptx::detail::suffix& row : ptx::detail::suffixes) {
    CAPTURE(row.group, row.word);
    CHECK(used.count(std::string(row.group)) == 1);
    if (row.group == current) continue;
    CHECK(closed.insert(std::string(row.group)).second);
    current = row.group;
  }
}

namespace {

ptx::parse_result parse_for(const std::string& target, const char* statement) {
  std::string text = ptx_test::kernel(statement);
  return ptx::parse(text.replace(text.find("sm_90"), 5, target));
}

template <std::size_t N>
void check_taken(const char* const (&statements)[N], const std::string& target = "sm_90") {
  for (const char* statement : statements) {
    CAPTURE(statement);
    CHECK(ptx_test::refusal_of(parse_for(target, statement)) == "");
  }
}

template <std::size_t N>
void check_refused(const char* const (&statements)[N], const std::string& target = "sm_90") {
  for (const char* statement : statements) {
    CAPTURE(statement);
    const ptx::parse_result result = parse_for(target, statement);
    REQUIRE_FALSE(result);
    CHECK(result.error->line >= 6);
    CHECK(result.error->column >= 1);
    CHECK(result.error->text.size() > 8);
  }
}

}  // namespace

TEST_CASE("statements that the assembler takes are taken", "[ptx]") {
  check_taken(ptx_test::accepted_statements);
  check_taken(ptx_test::accepted_image_statements);
  check_taken(ptx_test::accepted_matrix_statements);
  check_taken(ptx_test::accepted_sparse_statements);
  check_taken(ptx_test::accepted_group_statements, "sm_90a");
  check_taken(ptx_test::accepted_bulk_statements);
  check_taken(ptx_test::accepted_tensor_statements);
  check_taken(ptx_test::accepted_async_statements);
  check_taken(ptx_test::accepted_map_statements, "sm_90a");
}

TEST_CASE("statements that the assembler refuses are refused", "[ptx]") {
  check_refused(ptx_test::refused_statements);
  check_refused(ptx_test::refused_image_statements);
  check_refused(ptx_test::refused_matrix_statements);
  check_refused(ptx_test::refused_sparse_statements);
  check_refused(ptx_test::refused_group_statements, "sm_90a");
  check_refused(ptx_test::refused_tensor_statements);
  check_refused(ptx_test::refused_async_statements);
  check_refused(ptx_test::refused_map_statements, "sm_90a");
}

TEST_CASE("reductions exist for the operations and types of the assembler alone", "[ptx]") {
  for (const ptx_test::combining_instruction& i : ptx_test::combining_instructions) {
    const auto taken = ptx::detail::split(i.taken, ' ');
    std::size_t count = 0;
    for (const std::string_view operation : ptx_test::all_operations) {
      for (const char* const noftz : {"", ".noftz"}) {
        for (const std::string_view type : ptx_test::all_types) {
          const std::string form = std::string(operation) + noftz + '.' + std::string(type);
          // %value is a register of any type of that size.
          const bool exists = std::ranges::find(taken, form) != taken.end();
          const std::string bits = type.ends_with("128")  ? "b128"
                                   : type.ends_with("64") ? "b64"
                                   : type.ends_with("16") ? "b16"
                                                          : "b32";
          const std::string statement = "{ .reg ." + bits + " %value; " + std::string(i.name) +
                                        form + std::string(i.operands) + " }";
          CAPTURE(statement);
          const ptx::parse_result result = ptx_test::parse_kernel(statement);
          CHECK(result.error.has_value() == !exists);
          CHECK_FALSE((result && result.value.functions[0].refused));
          count += exists;
        }
      }
    }
    CHECK(count == taken.size());
  }
}

TEST_CASE("texture instructions that are not executed are refused as such", "[ptx]") {
  for (const char* statement : ptx_test::unsupported_image_statements) {
    CAPTURE(statement);
    const ptx::parse_result result = ptx_test::parse_kernel(statement);
    REQUIRE(result);
    const auto& refused = result.value.functions[0].refused;
    REQUIRE(refused);
    CHECK(refused->reason == ptx::refusal::unsupported_instruction);
    const std::string text = statement;
    CHECK(refused->text.find(text.substr(0, text.find(' '))) == 0);
  }
}

TEST_CASE("declarations that the assembler takes are taken", "[ptx]") {
  for (const char* declaration : ptx_test::accepted_declarations) {
    CAPTURE(declaration);
    CHECK(ptx_test::refusal_of(ptx_test::parse_kernel("", declaration)) == "");
  }
}

TEST_CASE("declarations that the assembler refuses are refused", "[ptx]") {
  for (const char* declaration : ptx_test::refused_declarations) {
    CAPTURE(declaration);
    CHECK_FALSE(ptx_test::parse_kernel("", declaration));
  }
}

TEST_CASE("legal PTX that is not executed is refused by its name", "[ptx]") {
  const char* const statements[] = {"st.bulk.weak.shared::cta [%rd1], 16, 0;",
                                    ("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4"
                                     ".mbarrier::complete_tx::bytes [%r1], [%rd1];"),
                                    "tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2}];",
                                    "multimem.red.global.add.f32 [%rd1];"};
  for (const std::string statement : statements) {
    CAPTURE(statement);
    // Twice, and a statement behind that is executed.
    const ptx::parse_result result =
        ptx_test::parse_kernel(statement + "\n" + statement + "\nmov.u32 %r1, 1;");
    REQUIRE(result);
    const ptx::function& f = result.value.functions[0];
    CHECK(f.instructions.size() == 2);
    REQUIRE(f.refused);
    CHECK(f.refused->reason == ptx::refusal::unsupported_instruction);
    CHECK(f.refused->line == 6);
    const std::string name = statement.substr(0, statement.find_first_of("; "));
    CHECK(f.refused->text.find(name) == 0);
  }
  const ptx::parse_result interleaved =
      parse_for("sm_90a", "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1], 1;");
  REQUIRE(interleaved);
  CHECK(interleaved.value.functions[0].refused);
  const ptx::parse_result red = ptx_test::parse_kernel("multimem.red.global.add.f32 [%rd1];");
  REQUIRE(red);
  REQUIRE(red.value.functions[0].refused);
  CHECK(red.value.functions[0].refused->text ==
        "multimem.red.global.add.f32: accesses to multicast memory are not executed on the CPU");
}

TEST_CASE("references to textures and surfaces are refused as such", "[ptx]") {
  for (const char* declaration : {".global .texref t;", ".global .surfref t;"}) {
    CAPTURE(declaration);
    const ptx::parse_result result = ptx_test::parse_kernel("", declaration);
    REQUIRE_FALSE(result);
    CHECK(result.error->reason == ptx::refusal::unsupported_instruction);
  }
}

TEST_CASE("an instruction that the .target lacks is refused with the target it needs", "[ptx]") {
  std::string text = ptx_test::kernel("redux.sync.add.s32 %r1, %r2, -1;");
  CHECK(ptx::parse(text));
  text.replace(text.find("sm_90"), 5, "sm_75");
  const ptx::parse_result result = ptx::parse(text);
  REQUIRE_FALSE(result);
  CHECK(result.error->text.find("sm_80") != std::string::npos);
  const ptx::parse_result change =
      ptx_test::parse_kernel("tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;");
  REQUIRE_FALSE(change);
  CHECK(change.error->text == "tensormap.replace needs .target sm_90a, this module has sm_90");
}

}  // namespace instruction_table_test
