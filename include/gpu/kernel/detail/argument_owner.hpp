#pragma once
/// \file
/// Arguments of a launch that know whose memory they stand for, and what is refused of them: memory
/// that was moved away, and memory of a device that the kernel's cannot reach.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/driver/stream.hpp>

namespace gpu::inline v0::detail {

/// Such an argument, for those who look at it more closely.
struct argument_owner {
  context_ref context;  ///< empty where the memory was moved away
  CUdeviceptr address;  ///< 0 where there are no elements, or any device reaches them
  unsigned position;    ///< among the arguments, from 1
};

template <class... A> inline constexpr bool have_owners = (has_kernel_context<A> || ...);

/// Whether it is known without a question that a kernel in this context can be given the argument.
template <class A>
[[gnu::always_inline]] inline bool is_at_home([[maybe_unused]] const A& argument,
                                              [[maybe_unused]] CUcontext context) noexcept {
  if constexpr (!has_kernel_context<A>) {
    return true;
  } else if constexpr (reached_from_any_context<A>) {
    return kernel_argument_of<A>::context(argument).native() != nullptr;
  } else {
    return kernel_argument_of<A>::context(argument).native() == context;
  }
}

/// What stands for an argument that is no owner where owners alone are passed on.
struct no_owner {};

/// The argument where it is an owner. Others are not asked for their addresses: they would have to
/// have one on the launch path too.
template <class A>
[[gnu::always_inline]] inline decltype(auto) owner_only(const A& argument) noexcept {
  if constexpr (has_kernel_context<A>) {
    return static_cast<const A&>(argument);
  } else {
    return no_owner{};
  }
}

/// Writes down those among so many arguments, and keeps what was written.
template <std::size_t Count, class Owner = argument_owner> struct noted_owners {
  Owner list[Count == 0 ? 1 : Count];
  std::size_t count = 0;

  template <class... A> explicit noted_owners(const A&... arguments) noexcept {
    unsigned position = 0;
    (note(++position, arguments), ...);
  }
  template <class A> void note(unsigned position, const A& argument) noexcept {
    if constexpr (has_kernel_context<A>) {
      Owner& next = list[count++];
      next.context = kernel_argument_of<A>::context(argument);
      next.position = position;
      next.address = 0;
      if constexpr (!reached_from_any_context<A>)
        next.address = reinterpret_cast<CUdeviceptr>(kernel_argument_of<A>::pointer(argument));
    }
  }
};

/// Refuses what a kernel on its stream could not use, on behalf of `function`. Contexts of one
/// device reach each other's memory, so that another device is the reason to ask; what the driver
/// does not know passes, since it may be memory of a graph. (cuPointerGetAttributes)
template <class Launch>
[[gnu::cold, gnu::noinline]] inline result<> check_owners(const Launch& launch,
                                                          const char* function) noexcept {
  const auto* const end = launch.owners + launch.owner_count;
  for (auto* each = launch.owners; each != end; ++each) {
    if (each->context) continue;
    text_builder out;
    out << "owner that is argument " << each->position << " of kernel " << launch.kernel->name;
    return fail(empty_handle_error(function, out.finish().c_str(), launch.where));
  }
  const int here = launch.stream.device().native();
  for (auto* each = launch.owners; each != end; ++each) {
    if (each->address == 0 || each->context.device().native() == here) continue;
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
    out << "kernel " << launch.kernel->name << ": argument " << each->position
        << " is memory of device " << there << ", which kernels on device " << here
        << " cannot reach. Let them, with gpu::peer_access::enable or with set_access of the pool "
           "that it is from, or copy it to device "
        << here << " first.";
    return fail(refusal(errc::wrong_context, function, out.finish(), launch.where,
                        static_cast<std::uint64_t>(there), static_cast<std::uint64_t>(here)));
  }
  return {};
}

}  // namespace gpu::inline v0::detail
