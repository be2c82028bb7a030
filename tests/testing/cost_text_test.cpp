// The table of costs, word for word.

#include "support/catch.hpp"
#include "testing/cost_report.hpp"

#include <gpu/testing/cost_text.hpp>
#include <gpu/testing/kernel_costs.hpp>

#include <string>

namespace cost_text_test {

TEST_CASE("the table of costs is this", "[costs]") {
  CHECK(gpu::testing::to_table(test::known_costs()) ==
        R"(kernel transpose<float>, 2 launches: 700 instructions of warps, 32.0 lanes on average
  global memory: 50 of 100 accesses not coalesced, 66.7 % of the sectors needed
  shared memory: 3100 bank conflicts in 100 accesses
  instr.     %  lanes  sectors  least  wavefr.  least  branches  apart  line    instructions
     500  71.4   32.0      600    400                                   a.cu:7  400 integer, 100 global load
     200  28.6   32.0                     3200    100                   a.cu:9  100 move, 100 shared load

kernel a & "b", 1 launch: 100 instructions of warps, 16.0 lanes on average
  branches: 25 of 50 divergent
  instr.      %  lanes  sectors  least  wavefr.  least  branches  apart  line                     instructions
     100  100.0   16.0                                        50     25  PTX line 44: @%p bra L;  50 integer, 50 control

Lines of the CUDA source are known where it is compiled with compile_options::line_info (-lineinfo).
)");
}

TEST_CASE("the table of costs of no kernel says so", "[costs]") {
  CHECK(gpu::testing::to_table({}) == "no kernel ran\n");
}

TEST_CASE("a long line of PTX is cut in the table", "[costs]") {
  gpu::testing::cost_report report = test::known_costs();
  report.kernels[1].lines[0].instruction = std::string(100, 'x');
  const std::string table = gpu::testing::to_table(report);
  CHECK(table.find("PTX line 44: " + std::string(44, 'x') + "...  50 integer") != table.npos);
}

TEST_CASE("where no source is missing, the table does not ask for it", "[costs]") {
  gpu::testing::cost_report report = test::known_costs();
  report.kernels.pop_back();
  CHECK(gpu::testing::to_table(report).find("line_info") == std::string::npos);
}

}  // namespace cost_text_test
