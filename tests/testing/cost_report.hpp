#pragma once
/// \file
/// A report of costs with known numbers, for the tests of its table and its picture.

#include <gpu/testing/kernel_costs.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace test {

inline gpu::testing::cost_report known_costs() {
  using gpu::testing::cost_counts;
  using kind = gpu::testing::instruction_kind;
  const auto counts = [](std::initializer_list<std::pair<kind, std::uint64_t>> kinds,
                         std::uint64_t lanes) {
    cost_counts made;
    for (const auto& [each, count] : kinds) made.by_kind[static_cast<std::size_t>(each)] = count;
    made.thread_instructions = lanes * made.instructions();
    return made;
  };
  cost_counts memory = counts({{kind::integer, 400}, {kind::global_load, 100}}, 32);
  memory.global_accesses = 100;
  memory.uncoalesced = 50;
  memory.sectors = 600;
  memory.least_sectors = 400;
  cost_counts tile = counts({{kind::shared_load, 100}, {kind::move, 100}}, 32);
  tile.shared_accesses = 100;
  tile.wavefronts = 3200;
  tile.least_wavefronts = 100;
  cost_counts jump = counts({{kind::control, 50}, {kind::integer, 50}}, 16);
  jump.branches = 50;
  jump.divergent_branches = 25;
  return {
      {{"transpose<float>", 2, {{"/home/me/a.cu", 7, "", memory}, {"/home/me/a.cu", 9, "", tile}}},
       {"a & \"b\"", 1, {{"", 44, "@%p bra L;", jump}}}}};
}

}  // namespace test
