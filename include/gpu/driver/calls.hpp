#pragma once
/// \file
/// Checked driver calls: the one place where a `CUresult` becomes a `result`.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>

#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/driver_errors.hpp>  // IWYU pragma: keep
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/process_state.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace driver {

namespace detail {

inline cuda_error unavailable_error(const entry_points& table, std::size_t index,
                                    source_location where) noexcept {
  if (table.start_failure != CUDA_SUCCESS) {
    return gpu::detail::record_error(cuda_error(error_domain::driver,
                                                static_cast<int>(table.start_failure),
                                                table.unavailable_detail, where));
  }
  const char* call = entry_point_list[index].name;
  gpu::detail::text_builder out;
  std::uint64_t asked = 0;
  errc code = table.unavailable;
  switch (code) {
    case errc::no_driver:
      out << "libcuda.so.1 cannot be used (" << table.unavailable_detail
          << "). Install the NVIDIA driver, or run without a GPU on the CPU driver: see "
             "gpu/testing/cpu_driver.hpp.";
      break;
    case errc::driver_too_old:
      asked = 12000;
      out << "gpu needs a driver for CUDA 12.0 or newer, but " << table.unavailable_detail
          << ". Update the NVIDIA driver to version 525 or later.";
      break;
    case errc::process_forked:
      out << "the driver was in use before fork(), and a child process cannot go on with it. Fork "
             "before the first use of the GPU, or exec in the child.";
      break;
    case errc::process_exiting:
      out << "process exit has begun, and the driver is left alone. Release GPU objects before "
             "main "
             "returns.";
      break;
    default:
      code = errc::not_supported;
      asked = static_cast<std::uint64_t>(entry_point_list[index].version);
      out << "this driver does not have the function, which came with CUDA "
          << entry_point_list[index].version / 1000 << '.'
          << entry_point_list[index].version % 1000 / 10
          << ". Update the NVIDIA driver, or do without this feature.";
  }
  return gpu::detail::refusal(code, call, out.finish(), where, asked);
}

}  // namespace detail

/// Returns the error for a code of the driver. The fault of a kernel names the launches that may be
/// behind it; a `stream`, if one was involved, narrows them to its device.
inline cuda_error error_of(CUresult code, std::size_t index, source_location where,
                           CUstream stream = nullptr) noexcept {
  return gpu::detail::explain_fault(
      cuda_error(error_domain::driver, static_cast<int>(code), entry_point_list[index].name, where),
      stream);
}

namespace detail {

/// Returns one function of the table in force, and sets `process` to the state of the process.
/// Returns null if the table has no such function, or if the driver has not been loaded yet.
template <auto Member> inline auto find_function(gpu::detail::process_front*& process) noexcept {
  process =
      gpu::detail::atomic_load<gpu::detail::memory_order::acquire>(gpu::detail::known_process);
  const entry_points* table =
      gpu::detail::atomic_load<gpu::detail::memory_order::acquire>(process->table);
  return table->*Member;
}

/// Returns `argument` if it is a stream, else `otherwise`.
inline CUstream stream_or(CUstream argument, CUstream) noexcept { return argument; }
template <class Argument> CUstream stream_or(const Argument&, CUstream otherwise) noexcept {
  return otherwise;
}

/// Rules out the launches before `finished` as the origin of later faults.
inline void record_synchronization(std::uint64_t finished, bool all_streams,
                                   CUstream stream) noexcept {
  CUdevice device = -1;
  // The default streams have the same handles in all contexts; 1 and 2 are the explicit ones. The
  // ring knows only devices, so nothing is recorded while there are contexts besides the primary
  // ones.
  if (all_streams || reinterpret_cast<std::uintptr_t>(stream) <= 2) {
    const auto get_device = current_entry_points().ctx_get_device;
    if (gpu::detail::atomic_load<gpu::detail::memory_order::relaxed>(
            gpu::detail::state_of_process().own_contexts) != 0 ||
        get_device == nullptr || get_device(&device) != CUDA_SUCCESS) {
      return;
    }
  }
  gpu::detail::note_synchronization(gpu::detail::launches(), finished,
                                    gpu::detail::recorded_stream(stream), device, all_streams);
}

/// Fails because the table in force lacks a function.
inline result<> unavailable(std::size_t index, source_location where) noexcept {
  return gpu::detail::fail(unavailable_error(current_entry_points(), index, where));
}

/// Fails with a code of the driver.
inline result<> call_failed(CUresult code, std::size_t index, source_location where,
                            CUstream stream) noexcept {
  return gpu::detail::fail(error_of(code, index, where, stream));
}

/// Reports that a function which destroys has failed, unless nothing is wrong with the program.
inline void destroy_failed(CUresult code, std::size_t index) noexcept {
  if (code == CUDA_ERROR_DEINITIALIZED) return;
  const cuda_error error = error_of(code, index, source_location{});
  if (!error.is_sticky()) gpu::detail::report(error);
}

/// Returns the table in force. Before the driver is loaded all its members are null.
inline const entry_points* table_in_force() noexcept {
  const auto* process =
      gpu::detail::atomic_load<gpu::detail::memory_order::acquire>(gpu::detail::known_process);
  return gpu::detail::atomic_load<gpu::detail::memory_order::acquire>(process->table);
}

/// The ways to call one function of the table. The parameters are those of the driver's function,
/// so arguments convert to them as in a direct call. All that does not depend on the function is
/// outside the class, of which there is one for each function.
template <auto Member, class Type = decltype(Member)> struct entry_point;

template <auto Member, class... Parameters>
struct entry_point<Member, CUresult (CUDAAPI* entry_points::*)(Parameters...)> {
  static result<> call(source_location where, Parameters... arguments) noexcept {
    const entry_points* table = table_in_force();
    if (table->*Member == nullptr) table = &current_entry_points();
    if (table->*Member == nullptr) return unavailable(entry_point_index(Member), where);
    const CUresult code = (table->*Member)(arguments...);
    if (code == CUDA_SUCCESS) return {};
    CUstream stream = nullptr;
    if constexpr ((std::same_as<Parameters, CUstream> || ...)) {
      ((stream = stream_or(arguments, stream)), ...);
    }
    return call_failed(code, entry_point_index(Member), where, stream);
  }

  static result<bool> query(CUresult negative, source_location where,
                            Parameters... arguments) noexcept {
    const entry_points* table = table_in_force();
    if (table->*Member == nullptr) table = &current_entry_points();
    if (table->*Member == nullptr) {
      return gpu::detail::fail(unavailable_error(*table, entry_point_index(Member), where));
    }
    const CUresult code = (table->*Member)(arguments...);
    if (code == CUDA_SUCCESS || code == negative) return code == CUDA_SUCCESS;
    return gpu::detail::fail(error_of(code, entry_point_index(Member), where));
  }

  static void destroy(Parameters... arguments) noexcept {
    const entry_points* table = table_in_force();
    if (table->*Member == nullptr) table = &current_entry_points();
    if (table->*Member == nullptr) return;
    const CUresult code = (table->*Member)(arguments...);
    if (code != CUDA_SUCCESS) destroy_failed(code, entry_point_index(Member));
  }
};

/// Waits for `ctx_synchronize`, and rules out the launches before it.
inline result<> synchronize_context(source_location where) noexcept {
  const std::uint64_t finished = gpu::detail::launches_so_far(gpu::detail::launches());
  GPU_TRY(entry_point<&entry_points::ctx_synchronize>::call(where));
  record_synchronization(finished, true, nullptr);
  return {};
}

/// Waits for `stream_synchronize`, and rules out the launches before it.
inline result<> synchronize_stream(source_location where, CUstream stream) noexcept {
  const std::uint64_t finished = gpu::detail::launches_so_far(gpu::detail::launches());
  GPU_TRY(entry_point<&entry_points::stream_synchronize>::call(where, stream));
  record_synchronization(finished, false, stream);
  return {};
}

/// Asks `stream_query`, and rules out the launches before it if they have finished.
inline result<bool> query_stream(CUresult negative, source_location where,
                                 CUstream stream) noexcept {
  const std::uint64_t finished = gpu::detail::launches_so_far(gpu::detail::launches());
  auto done = entry_point<&entry_points::stream_query>::query(negative, where, stream);
  if (done.has_value() && *done) record_synchronization(finished, false, stream);
  return done;
}

}  // namespace detail

/// Calls one function of the table in force and turns its code into a `result`:
///
///     GPU_TRY(driver::call<&entry_points::stream_synchronize>(where, stream));
///
/// Arguments convert implicitly to the parameter types of the driver's function.
/// **Errors**: the driver's code with the call's name; if the table has no such function, the
/// reason.
template <auto Member> inline constexpr auto& call = detail::entry_point<Member>::call;
template <>
inline constexpr auto& call<&entry_points::ctx_synchronize> = detail::synchronize_context;
template <>
inline constexpr auto& call<&entry_points::stream_synchronize> = detail::synchronize_stream;

/// Calls a function that has one more code which is an answer, not an error:
/// `query<&...::stream_query>(CUDA_ERROR_NOT_READY, where, stream)` returns false for that code and
/// true for success.
template <auto Member> inline constexpr auto& query = detail::entry_point<Member>::query;
template <> inline constexpr auto& query<&entry_points::stream_query> = detail::query_stream;

/// Calls a function that destroys, from a destructor: failures go to the error reporter. Reports
/// nothing if the process is ending or was forked, or if the context is lost, and the object with
/// it.
template <auto Member> inline constexpr auto& destroy = detail::entry_point<Member>::destroy;

}}}  // namespace gpu::v1::driver
