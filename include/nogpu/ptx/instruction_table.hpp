#pragma once
/// The table of all instructions, with a row for each form. To add an instruction, add a row to the
/// part of its class; instruction_form.hpp explains the columns.

#include <array>
#include <cstddef>

#include <nogpu/ptx/forms/arithmetic.hpp>
#include <nogpu/ptx/forms/control.hpp>
#include <nogpu/ptx/forms/matrix.hpp>
#include <nogpu/ptx/forms/matrix_group.hpp>
#include <nogpu/ptx/forms/memory.hpp>
#include <nogpu/ptx/forms/values.hpp>
#include <nogpu/ptx/instruction_form.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

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
inline constexpr auto instruction_table = join_forms(
    arithmetic_forms, value_forms, memory_forms, control_forms, matrix_forms, matrix_group_forms);

}}}  // namespace nogpu::v1::ptx::detail
