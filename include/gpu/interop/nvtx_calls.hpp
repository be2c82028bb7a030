#pragma once
/// \file
/// `nvtx_calls`: ranges of NVTX for the library's own calls that compile, load, launch, copy, fill
/// and wait.

#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/interop/nvtx.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <cuda.h>
#include <concepts>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns the domain of the ranges. A tool that starts later does not matter: tools attach once.
inline nvtx_domain nvtx_domain_of_calls() noexcept {
  static const nvtx_domain domain("gpu");
  return domain;
}

/// The driver table whose calls are marked, for the names of kernels.
inline constinit const driver::entry_points* nvtx_marked_driver = nullptr;

/// Returns the name of a kernel, or what else is launched.
inline const char* nvtx_kernel_name(CUfunction kernel, const char* otherwise) noexcept {
  const auto get_name =
      nvtx_marked_driver != nullptr ? nvtx_marked_driver->kernel_get_name : nullptr;
  const char* name = nullptr;
  // The library launches a CUkernel, cast to a CUfunction.
  if (get_name == nullptr || get_name(&name, reinterpret_cast<CUkernel>(kernel)) != CUDA_SUCCESS)
    return otherwise;
  return name;
}

/// Returns the name of the kernel if there is one among the arguments.
template <class... Arguments>
const char* nvtx_call_name(const char* name, Arguments... arguments) noexcept {
  [[maybe_unused]] const auto look_at = [&](auto argument) {
    if constexpr (std::same_as<decltype(argument), CUfunction>)
      name = nvtx_kernel_name(argument, name);
  };
  (look_at(arguments), ...);
  return name;
}

/// Stands for one function of a table, and calls the original in a range.
template <auto Member> struct nvtx_marked;
template <class Table, class Result, class... Arguments, Result (*Table::*Member)(Arguments...)>
struct nvtx_marked<Member> {
  inline static Result (*original)(Arguments...) = nullptr;
  inline static const char* name = nullptr;

  static Result call(Arguments... arguments) {
    const nvtx_range range(nvtx_call_name(name, arguments...), {.domain = nvtx_domain_of_calls()});
    return original(arguments...);
  }
  static void mark(Table& table, const char* as) noexcept {
    if (table.*Member == nullptr) return;
    original = table.*Member;
    name = as;
    table.*Member = &call;
  }
};

template <auto... Members> void nvtx_mark_driver(driver::entry_points& table) noexcept {
  (nvtx_marked<Members>::mark(table,
                              driver::entry_point_list[driver::entry_point_index(Members)].name),
   ...);
}

}  // namespace detail

/// Marks the library's calls as ranges of the domain "gpu", from construction to destruction, for
/// the whole process: compilations and links, loading of code, launches (under the names of their
/// kernels), copies, fills and waits. If no tool listens it changes nothing, and calls cost what
/// they cost without it. Only one object at a time has an effect; further ones do nothing.
///
///     const gpu::nvtx_calls marks;  // at the start of main
///
/// **Threads**: create and destroy it while no other thread uses the library.
class [[nodiscard]] nvtx_calls {
 public:
  nvtx_calls() {
    if (!nvtx_is_listening() || detail::nvtx_marked_driver != nullptr) return;
    using driver::entry_points;
    inner_ = &driver::current_entry_points();
    table_ = *inner_;
    detail::nvtx_marked_driver = inner_;
    detail::nvtx_mark_driver<
        &entry_points::launch_kernel, &entry_points::launch_kernel_ex, &entry_points::graph_launch,
        &entry_points::launch_host_func, &entry_points::library_load_data,
        &entry_points::library_load_from_file, &entry_points::graph_instantiate_with_params,
        &entry_points::stream_synchronize, &entry_points::event_synchronize,
        &entry_points::ctx_synchronize>(table_);
    detail::nvtx_mark_driver<
        &entry_points::memcpy, &entry_points::memcpy_async, &entry_points::memcpy_htod,
        &entry_points::memcpy_htod_async, &entry_points::memcpy_dtoh,
        &entry_points::memcpy_dtoh_async, &entry_points::memcpy_dtod,
        &entry_points::memcpy_dtod_async, &entry_points::memcpy_peer,
        &entry_points::memcpy_peer_async, &entry_points::memcpy_batch_async,
        &entry_points::memcpy_3d_batch_async, &entry_points::memcpy_2d,
        &entry_points::memcpy_2d_async, &entry_points::memcpy_3d, &entry_points::memcpy_3d_async,
        &entry_points::memcpy_3d_peer, &entry_points::memcpy_3d_peer_async>(table_);
    detail::nvtx_mark_driver<&entry_points::memset_d8, &entry_points::memset_d16,
                             &entry_points::memset_d32, &entry_points::memset_d8_async,
                             &entry_points::memset_d16_async, &entry_points::memset_d32_async,
                             &entry_points::memset_2d_d8_async, &entry_points::memset_2d_d16_async,
                             &entry_points::memset_2d_d32_async>(table_);
    driver::use_entry_points(&table_);
    compiler_ = &nvrtc::current_entry_points();
    compiler_table_ = *compiler_;
    detail::nvtx_marked<&nvrtc::entry_points::compile_program>::mark(compiler_table_,
                                                                     "nvrtcCompileProgram");
    nvrtc::use_entry_points(&compiler_table_);
    linker_ = &nvjitlink::current_entry_points();
    linker_table_ = *linker_;
    detail::nvtx_marked<&nvjitlink::entry_points::complete>::mark(linker_table_,
                                                                  "nvJitLinkComplete");
    nvjitlink::use_entry_points(&linker_table_);
  }
  nvtx_calls(const nvtx_calls&) = delete;
  nvtx_calls& operator=(const nvtx_calls&) = delete;
  ~nvtx_calls() {
    if (inner_ == nullptr) return;
    driver::use_entry_points(inner_);
    nvrtc::use_entry_points(compiler_);
    nvjitlink::use_entry_points(linker_);
    detail::nvtx_marked_driver = nullptr;
  }

  /// Returns whether calls are marked.
  bool is_marking() const noexcept { return inner_ != nullptr; }

 private:
  const driver::entry_points* inner_ = nullptr;
  driver::entry_points table_{};
  const nvrtc::entry_points* compiler_ = nullptr;
  nvrtc::entry_points compiler_table_{};
  const nvjitlink::entry_points* linker_ = nullptr;
  nvjitlink::entry_points linker_table_{};
};

}}  // namespace gpu::v1
