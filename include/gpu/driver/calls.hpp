#pragma once
/// \file
/// Checked driver calls: the one place where a `CUresult` becomes a `result`.

#include <gpu/core/result.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>

#include <gpu/core/source_location.hpp>

namespace gpu::inline v0::driver {

namespace detail {

[[gnu::cold, gnu::noinline]] inline cuda_error unavailable_error(const entry_points& table,
                                                                 std::size_t index,
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

/// The error that a code of the driver stands for. The fault of a kernel names the launches that
/// may be behind it; `stream`, where one was involved, narrows them to its device.
[[gnu::cold, gnu::noinline]] inline cuda_error error_of(CUresult code, std::size_t index,
                                                        source_location where,
                                                        CUstream stream = nullptr) noexcept {
  return gpu::detail::explain_fault(
      cuda_error(error_domain::driver, static_cast<int>(code), entry_point_list[index].name, where),
      stream);
}

namespace detail {

/// Returns one function of the table in force, and sets `process` to the state of the process.
/// Returns null if the table has no such function, or if the driver has not been loaded yet.
template <auto Member>
[[gnu::always_inline]] inline auto find_function(gpu::detail::process_front*& process) noexcept {
  process = __atomic_load_n(&gpu::detail::known_process, __ATOMIC_ACQUIRE);
  const entry_points* table = __atomic_load_n(&process->table, __ATOMIC_ACQUIRE);
  return table->*Member;
}

inline void keep_stream(CUstream& found, CUstream stream) noexcept { found = stream; }
template <class Argument> void keep_stream(CUstream&, const Argument&) noexcept {}

/// Returns the stream among the arguments of a call, or null.
template <class... Arguments> CUstream stream_among(Arguments... arguments) noexcept {
  CUstream found = nullptr;
  (keep_stream(found, arguments), ...);
  return found;
}

/// True for the functions whose success means that work launched earlier has finished.
template <auto Member> inline constexpr bool is_synchronization = false;
template <> inline constexpr bool is_synchronization<&entry_points::stream_synchronize> = true;
template <> inline constexpr bool is_synchronization<&entry_points::stream_query> = true;
template <> inline constexpr bool is_synchronization<&entry_points::ctx_synchronize> = true;

/// Rules out the launches before `finished` as the origin of later faults.
[[gnu::noinline]] inline void record_synchronization(gpu::detail::launch_ring& ring,
                                                     std::uint64_t finished, bool all_streams,
                                                     CUstream stream) noexcept {
  CUdevice device = -1;
  // The default streams have the same handles in all contexts; 1 and 2 are the explicit ones. The
  // ring knows only devices, so nothing is recorded while there are contexts besides the primary
  // ones.
  if (all_streams || reinterpret_cast<std::uintptr_t>(stream) <= 2) [[unlikely]] {
    const auto get_device = current_entry_points().ctx_get_device;
    if (__atomic_load_n(&gpu::detail::state_of_process().own_contexts, __ATOMIC_RELAXED) != 0 ||
        get_device == nullptr || get_device(&device) != CUDA_SUCCESS) {
      return;
    }
  }
  gpu::detail::note_synchronization(ring, finished, gpu::detail::recorded_stream(stream), device,
                                    all_streams);
}

/// Reports that a function which destroys has failed, unless nothing is wrong with the program.
[[gnu::cold, gnu::noinline]] inline void destroy_failed(CUresult code, std::size_t index) noexcept {
  if (code == CUDA_ERROR_DEINITIALIZED) return;
  const cuda_error error = error_of(code, index, source_location{});
  if (!error.is_sticky()) gpu::detail::report(error);
}

/// Returns the table in force. Before the driver is loaded all its members are null.
[[gnu::always_inline]] inline const entry_points* table_in_force() noexcept {
  const auto* process = __atomic_load_n(&gpu::detail::known_process, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&process->table, __ATOMIC_ACQUIRE);
}

/// Returns the table in force, for a function that was not found in it: loads the driver if that
/// has not been done yet.
[[gnu::cold, gnu::noinline]] inline const entry_points& table_after_load() noexcept {
  return current_entry_points();
}

/// The ways to call one function of the table. The parameters are those of the driver's function,
/// so arguments convert to them as in a direct call.
template <auto Member, class Type = decltype(Member)> struct entry_point;

template <auto Member, class... Parameters>
struct entry_point<Member, CUresult (CUDAAPI* entry_points::*)(Parameters...)> {
  [[gnu::always_inline]] static result<> call(source_location where,
                                              Parameters... arguments) noexcept {
    const entry_points* table = table_in_force();
    if (table->*Member == nullptr) [[unlikely]] {
      table = &table_after_load();
      if (table->*Member == nullptr) {
        return gpu::detail::fail(unavailable_error(*table, entry_point_index(Member), where));
      }
    }
    [[maybe_unused]] std::uint64_t finished = 0;
    if constexpr (is_synchronization<Member>)
      finished = gpu::detail::launches_so_far(gpu::detail::launches());
    const CUresult code = (table->*Member)(arguments...);
    if (code != CUDA_SUCCESS) [[unlikely]] {
      return gpu::detail::fail(
          error_of(code, entry_point_index(Member), where, stream_among(arguments...)));
    }
    if constexpr (is_synchronization<Member>) {
      record_synchronization(gpu::detail::launches(), finished, sizeof...(arguments) == 0,
                             stream_among(arguments...));
    }
    return {};
  }

  [[gnu::always_inline]] static result<bool> query(CUresult negative, source_location where,
                                                   Parameters... arguments) noexcept {
    const entry_points* table = table_in_force();
    if (table->*Member == nullptr) [[unlikely]] {
      table = &table_after_load();
      if (table->*Member == nullptr) {
        return gpu::detail::fail(unavailable_error(*table, entry_point_index(Member), where));
      }
    }
    [[maybe_unused]] std::uint64_t finished = 0;
    if constexpr (is_synchronization<Member>)
      finished = gpu::detail::launches_so_far(gpu::detail::launches());
    const CUresult code = (table->*Member)(arguments...);
    if (code != CUDA_SUCCESS && code != negative) [[unlikely]] {
      return gpu::detail::fail(
          error_of(code, entry_point_index(Member), where, stream_among(arguments...)));
    }
    if constexpr (is_synchronization<Member>) {
      if (code == CUDA_SUCCESS) {
        record_synchronization(gpu::detail::launches(), finished, false,
                               stream_among(arguments...));
      }
    }
    return code == CUDA_SUCCESS;
  }

  [[gnu::always_inline]] static void destroy(Parameters... arguments) noexcept {
    const entry_points* table = table_in_force();
    if (table->*Member == nullptr) [[unlikely]] {
      table = &table_after_load();
      if (table->*Member == nullptr) return;
    }
    const CUresult code = (table->*Member)(arguments...);
    if (code != CUDA_SUCCESS) [[unlikely]]
      destroy_failed(code, entry_point_index(Member));
  }
};

}  // namespace detail

/// Calls one function of the table in force and turns its code into a `result`:
///
///     GPU_TRY(driver::call<&entry_points::stream_synchronize>(where, stream));
///
/// Arguments convert implicitly to the parameter types of the driver's function.
/// **Errors**: the driver's code with the call's name; if the table has no such function, the
/// reason.
template <auto Member> inline constexpr auto& call = detail::entry_point<Member>::call;

/// Calls a function that has one more code which is an answer, not an error:
/// `query<&...::stream_query>(CUDA_ERROR_NOT_READY, where, stream)` returns false for that code and
/// true for success.
template <auto Member> inline constexpr auto& query = detail::entry_point<Member>::query;

/// Calls a function that destroys, from a destructor: failures go to the error reporter. Reports
/// nothing if the process is ending or was forked, or if the context is lost, and the object with
/// it.
template <auto Member> inline constexpr auto& destroy = detail::entry_point<Member>::destroy;

}  // namespace gpu::inline v0::driver
