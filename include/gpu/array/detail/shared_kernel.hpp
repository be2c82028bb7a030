#pragma once
/// \file
/// Elementwise kernels that functions of arrays share.

#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/allocation.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// A kernel that functions of arrays share.
struct shared_kernel {
  const char* function;  ///< of the library, for messages
  const char* name;      ///< of the kernel
  const char* parameters;
  shared_key key{};
};

/// Runs the kernel of a family, whose parameters have the types `Parameters`. When it is first
/// needed, `operation()` returns the text for each element. `arguments` are as many as the
/// parameters.
template <class Family, class... Parameters, class Operation>
result<> run_shared(const shared_kernel& kernel, const stream_ref& stream, source_location where,
                    Operation operation, const loop_argument* arguments) {
  loop_state& state = *GPU_TRY((find_shared<Family, loop_state>(
      kernel.function, kernel.key, where, [&](loop_state& made) -> result<> {
        made.code.function = kernel.function;
        made.code.parameters = {describe_parameter<Parameters>()...};
        return describe_elementwise(made, kernel.parameters, required(operation()),
                                    {.name = kernel.name}, where);
      })));
  return run_elementwise({state, stream, where, arguments}, nullptr);
}

/// Describes a view of the elements of `a`, which may be an owner that knows its context.
template <class A, class T, int Rank>
loop_operand operand_of(const array_view<T, Rank>& view, const A& a) noexcept {
  loop_operand made = make_operand(view);
  made.memory.needs_context = knows_context<A>;
  if constexpr (knows_context<A>) made.memory.context = a.context();
  return made;
}

/// Returns whether elements that are written to `out` may be read as others from `x` afterwards.
inline bool overlap_in_disorder(const loop_operand& out, std::size_t out_bytes,
                                const loop_operand& x, std::size_t x_bytes) noexcept {
  if (out_bytes == x_bytes && out.memory.address == x.memory.address && same_elements(out, x))
    return false;
  return overlap(out, out_bytes, x, x_bytes);
}

}}}  // namespace gpu::v1::detail
