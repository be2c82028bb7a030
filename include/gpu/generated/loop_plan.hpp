#pragma once
/// \file
/// Chooses the form of a generated kernel for the layouts of its arguments, and packs them.

#include <gpu/compiler/detail/device_in_use.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/snippet_access.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The layout that kernels with views take as a parameter: extents, then the strides of each view.
class layout_argument {
 public:
  layout_argument(const merged_axes& axes, bool wide) noexcept : number_bytes_{wide ? 8u : 4u} {
    for (int axis = 0; axis < axes.rank; ++axis)
      add(static_cast<std::ptrdiff_t>(axes.extents[axis]), wide);
    for (std::size_t view = 0; view < axes.view_count; ++view) {
      for (int axis = 0; axis < axes.rank; ++axis) add(axes.strides[view][axis], wide);
    }
  }
  void* address() noexcept { return numbers_; }
  std::size_t bytes() const noexcept { return used_ * number_bytes_; }

 private:
  void add(std::ptrdiff_t value, bool wide) noexcept {
    if (wide) {
      numbers_[used_++] = value;
    } else {
      const auto narrow = static_cast<std::int32_t>(value);
      __builtin_memcpy(reinterpret_cast<char*>(numbers_) + 4 * used_++, &narrow, sizeof narrow);
    }
  }
  std::ptrdiff_t numbers_[most_axes * (most_loop_parameters + 1)];
  std::size_t used_ = 0, number_bytes_;
};

/// Returns whether groups of `width` elements of an operand can be moved together.
inline bool allows_width(const loop_operand& operand, const std::ptrdiff_t* strides, int rank,
                         std::size_t inner_extent, std::size_t element_bytes,
                         std::size_t width) noexcept {
  const std::size_t bytes = element_bytes * width;
  if ((bytes & (bytes - 1)) == 0 && operand.memory.address % (bytes < 16 ? bytes : 16) != 0)
    return false;
  if (strides == nullptr) return true;
  const auto step = static_cast<std::ptrdiff_t>(width);
  if (inner_extent % width != 0 || strides[rank - 1] < 0 || strides[rank - 1] > 1) return false;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    if (strides[axis] % step != 0) return false;
  }
  return true;
}

/// Returns the form for contiguous, aligned arguments of fewer than 2^31 elements.
inline loop_form usual_form(const loop_state& state) noexcept {
  loop_form form;
  form.by_element = atomic_load<memory_order::relaxed>(state.by_element);
  form.width = form.aligned = state.code.full_width;
  return form;
}

/// Returns whether all operands are contiguous, and aligned to 16 bytes.
inline bool are_usual(const loop_call& call) noexcept {
  const std::size_t size = call.count();
  for (std::size_t p = 0; p < size; ++p) {
    const loop_operand* const operand = call.operand(p);
    if (operand != nullptr && (!operand->contiguous || operand->memory.address % 16 != 0))
      return false;
  }
  return true;
}

/// Adapts a form to the views among the operands and to their alignment, and sets `axes` to those
/// of the views.
inline void adapt_form(const loop_call& call, loop_form& form, merged_axes& axes) noexcept {
  const loop_operand* views[most_loop_parameters];
  std::size_t view_count = 0;
  for (std::size_t p = 0; p < call.count(); ++p) {
    const loop_operand* operand = call.operand(p);
    if (operand == nullptr || operand->contiguous) continue;
    const element_reach reach = reach_of(*operand);
    form.wide = form.wide || reach.high > 0x7fff'ffff || reach.low < -0x7fff'ffff;
    form.views |= 1u << p;
    views[view_count++] = operand;
  }
  merge_axes(axes, views, view_count);
  form.rank = axes.rank;
  const std::size_t inner = axes.rank == 0 ? 0 : axes.extents[axes.rank - 1];
  std::size_t view = 0;
  for (std::size_t p = 0; p < call.count(); ++p) {
    const loop_operand* operand = call.operand(p);
    if (operand == nullptr) continue;
    const std::ptrdiff_t* strides = operand->contiguous ? nullptr : axes.strides[view++];
    if (!form.by_element || call.state.uses[p].access == element_access::memory) continue;
    const std::size_t bytes = call.code().parameters[p].type.bytes;
    while (form.aligned > 1 &&
           !allows_width(*operand, strides, axes.rank, inner, bytes, form.aligned)) {
      form.aligned /= 2;
    }
  }
}

/// Returns the form of the kernel for these operands, which have `count` elements, and sets `axes`
/// to those of the views; they have none before. Groups have the full width; `aligned` says how
/// they can be loaded.
inline loop_form choose_form(const loop_call& call, std::size_t count, merged_axes& axes) noexcept {
  loop_form form = usual_form(call.state);
  form.wide = count > 0x7000'0000;  // indices of a whole last tile fit, too
  if (!are_usual(call)) adapt_form(call, form, axes);
  return form;
}

/// Compiles the kernel of a form for the device in use, so that mistakes are found when an object
/// is made.
inline result<> compile_first(loop_state& state, loop_form form, source_location where) {
  CUdevice on = 0;
  GPU_TRY(get_device_in_use(on, where));
  GPU_TRY(find_kernel(state, device::from_native(on), form, where));
  return {};
}

/// Returns the text of the kernel of a form.
inline text source_of(const loop_state& state, const loop_form& form) {
  generated_program made;
  state.write(state, form, made);
  return made.source.whole();
}

/// The arguments of a launch: those of the call, the layout of the views, and what `add` adds.
class loop_arguments {
 public:
  loop_arguments(const loop_call& call, const merged_axes& axes, const loop_form& form) noexcept
      : layout_(axes, form.wide) {
    const std::size_t size = call.count();
    for (std::size_t p = 0; p < size; ++p) {
      const loop_argument& argument = call.arguments[p];
      pointers_[p] = argument.operand != nullptr ? address_in(*argument.operand) : argument.value;
    }
    used_ = size;
    if (form.rank != 0) add(layout_.address());
  }
  loop_arguments(const loop_arguments&) = delete;
  loop_arguments& operator=(const loop_arguments&) = delete;

  /// Adds the address of a further argument, which must live until the launch.
  void add(void* value) noexcept { pointers_[used_++] = value; }
  void** pointers() noexcept { return pointers_; }
  std::size_t size() const noexcept { return used_; }
  layout_argument& layout() noexcept { return layout_; }

 private:
  static constexpr std::size_t most_further = 16;
  /// Returns where the address of the elements is. A launch reads it as a CUdeviceptr.
  static void* address_in(const loop_operand& operand) noexcept {
    static_assert(sizeof(CUdeviceptr) == sizeof operand.memory.address);
    return const_cast<std::uintptr_t*>(&operand.memory.address);
  }
  void* pointers_[most_loop_parameters + 1 + most_further];
  layout_argument layout_;
  std::size_t used_ = 0;
};

/// The largest number of blocks of a grid along its first axis.
inline constexpr std::size_t most_grid_blocks = 0x7fff'ffff;

/// Returns the error for more blocks than a grid can have.
inline unexpected<cuda_error> refuse_grid(const char* function, std::size_t blocks,
                                          std::size_t elements, source_location where) noexcept {
  text_builder out;
  out << elements << " elements need " << blocks << " blocks, but a grid has at most "
      << most_grid_blocks << ". Process the elements in parts.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, blocks, most_grid_blocks));
}

/// Fails if a grid cannot have that many blocks. `elements` is the number of elements that they
/// process.
inline result<> require_grid(const char* function, std::size_t blocks, std::size_t elements,
                             source_location where) noexcept {
  if (blocks <= most_grid_blocks) return {};
  return refuse_grid(function, blocks, elements, where);
}

}}}  // namespace gpu::v1::detail
