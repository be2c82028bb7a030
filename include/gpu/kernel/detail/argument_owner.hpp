#pragma once
/// \file
/// Arguments of a launch that know the context of their memory, and views. Rejects memory that was
/// moved away, memory of a device that the kernel's device cannot reach, faulty views, views with
/// strides for a pointer, and values that their type refuses.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/kernel/detail/prepared_launch.hpp>
#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Satisfied by views, which may be faulty.
template <class A>
concept has_first_stride =
    requires(const A& argument) { kernel_argument_of<A>::first_stride(argument); };

/// Returns whether a pointer does not say where the elements of a view are.
template <class View> bool is_strided(const View& view) noexcept {
  return view.size() > 1 && !view.is_contiguous();
}

/// Returns whether a kernel in `context` can certainly use the argument, which is passed for a
/// pointer or not. Asks the driver nothing.
template <class A>
inline bool belongs_to([[maybe_unused]] const A& argument, [[maybe_unused]] bool as_pointer,
                       [[maybe_unused]] context_ref context) noexcept {
  if constexpr (has_first_stride<A>) {
    return !is_fault_address(argument.native()) && !(as_pointer && is_strided(argument));
  } else if constexpr (has_kernel_refusal<A>) {
    return kernel_argument_of<A>::refusal(argument).empty();
  } else if constexpr (!has_kernel_context<A>) {
    return true;
  } else if constexpr (reached_from_any_context<A>) {
    return kernel_argument_of<A>::context(argument).native() != nullptr;
  } else {
    return kernel_argument_of<A>::context(argument).native() == context.native();
  }
}

/// Lists the arguments that know their context, the views, and those that are refused; `Count` is
/// the number of all arguments, and `as_pointers` says which are passed for pointers.
template <std::size_t Count> struct argument_owners {
  argument_owner list[Count == 0 ? 1 : Count];
  std::size_t count = 0;
  text refusal;  ///< of the first argument that is refused

  template <class... A>
  explicit argument_owners([[maybe_unused]] const bool* as_pointers,
                           const A&... arguments) noexcept {
    unsigned position = 0;
    (add(++position, as_pointers, arguments), ...);
  }

 private:
  template <class A>
  void add(unsigned position, [[maybe_unused]] const bool* as_pointers,
           const A& argument) noexcept {
    if constexpr (has_first_stride<A>) {
      list[count++] = {context_ref(),
                       argument.native(),
                       kernel_argument_of<A>::first_stride(argument),
                       position,
                       true,
                       as_pointers[position - 1] && is_strided(argument),
                       false};
    } else if constexpr (has_kernel_refusal<A>) {
      text reason = kernel_argument_of<A>::refusal(argument);
      if (reason.empty()) return;
      list[count++] = {context_ref(), 0, 0, position, false, false, true};
      if (refusal.empty()) refusal = std::move(reason);
    } else if constexpr (has_kernel_context<A>) {
      argument_owner& next = list[count++];
      next = {kernel_argument_of<A>::context(argument), 0, 0, position, false, false, false};
      if constexpr (!reached_from_any_context<A>)
        next.address = reinterpret_cast<CUdeviceptr>(kernel_argument_of<A>::pointer(argument));
    }
  }
};

/// Rejects, on behalf of `function`, arguments that a kernel on the stream could not use. All
/// contexts of one device reach its memory, so only memory of another device is looked up. Memory
/// that the driver does not know passes: it may be allocated by a graph. (cuPointerGetAttributes)
inline result<> check_owners(const prepared_launch& launch, const char* function) noexcept {
  const argument_owner* const end = launch.owners + launch.owner_count;
  for (const argument_owner* each = launch.owners; each != end; ++each) {
    if (each->context) continue;
    text_builder out;
    if (each->is_refused) {
      out << "kernel " << launch.kernel->label << ": argument " << each->position << ": "
          << *launch.refusal;
      return fail(refusal(errc::invalid_argument, function, out.finish(), launch.where));
    }
    if (each->is_view) {
      const view_fault fault = fault_at(each->address, each->limit);
      if (!fault && !each->is_strided) continue;
      out << "kernel " << launch.kernel->label << ": argument " << each->position;
      if (!fault) {
        out << " is a view whose elements are not contiguous, but the parameter is a pointer, "
               "which "
               "has no strides. Pass a contiguous copy, which gpu::evaluate(stream, view) makes, "
               "or "
               "declare the parameter as a gpu::array_view.";
        return fail(refusal(errc::invalid_argument, function, out.finish(), launch.where));
      }
      return fail(fault_error(fault, function, out.finish().c_str(), launch.where));
    }
    out << "owner that is argument " << each->position << " of kernel " << launch.kernel->label;
    return fail(empty_handle_error(function, out.finish().c_str(), launch.where));
  }
  const int here = launch.stream.device().native();
  for (const argument_owner* each = launch.owners; each != end; ++each) {
    if (each->address == 0 || each->is_view || each->context.device().native() == here) continue;
    CUdeviceptr reached = 0;
    int there = 0;
    CUmemorytype type{};
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                        CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void* values[] = {&reached, &there, &type};
    GPU_TRY(driver::call_in<&driver::entry_points::pointer_get_attributes>(
        launch.stream.context().native(), launch.where, 3u, &attributes[0], &values[0],
        each->address));
    if (reached != 0 || type == CUmemorytype{}) continue;
    text_builder out;
    out << "kernel " << launch.kernel->label << ": argument " << each->position
        << " is memory of device " << there << ", which kernels on device " << here
        << " cannot reach. Enable access with gpu::peer_access::enable or with set_access of the "
           "memory's pool (gpu::library_pool_of, for memory of a stream), or copy the memory to "
           "device "
        << here << " first.";
    return fail(refusal(errc::wrong_context, function, out.finish(), launch.where,
                        static_cast<std::uint64_t>(there), static_cast<std::uint64_t>(here)));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
