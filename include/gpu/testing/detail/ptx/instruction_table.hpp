#pragma once
/// Which instructions exist: one row for each form of one. Adding an instruction is adding a row to
/// the part of its class; instruction_form.hpp says what the columns mean.

#include <array>
#include <cstddef>

#include <gpu/testing/detail/ptx/forms/arithmetic.hpp>
#include <gpu/testing/detail/ptx/forms/control.hpp>
#include <gpu/testing/detail/ptx/forms/memory.hpp>
#include <gpu/testing/detail/ptx/forms/values.hpp>
#include <gpu/testing/detail/ptx/instruction_form.hpp>

namespace gpu::inline v0::testing::ptx::detail {

template <std::size_t... Sizes> constexpr auto join_forms(const form (&... parts)[Sizes]) {
  std::array<form, (Sizes + ...)> all{};
  std::size_t count = 0;
  const auto append = [&](const auto& part) {
    for (const form& row : part) all[count++] = row;
  };
  (append(parts), ...);
  return all;
}

// Forms of one name stand in one part. They are tried in order; the first that takes every suffix
// and type wins, then the count of operands decides.
inline constexpr auto instruction_table =
    join_forms(arithmetic_forms, value_forms, memory_forms, control_forms);

}  // namespace gpu::inline v0::testing::ptx::detail
