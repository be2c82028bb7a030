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
  return gpu::detail::with_launch_origins(
      cuda_error(error_domain::driver, static_cast<int>(code), entry_point_list[index].name, where),
      stream);
}

namespace detail {

/// Returns the error of a call that failed. A function of its own that makes the whole result, so
/// that a call that succeeds is little code and can be inlined.
template <class Result>
[[gnu::cold, gnu::noinline]] Result failed(CUresult code, std::size_t index, source_location where,
                                           CUstream stream) noexcept {
  return gpu::detail::fail(error_of(code, index, where, stream));
}

/// Returns one function of the table in force, and sets `process` to the state of the process.
/// Returns null if the table has no such function, or if the driver has not been loaded yet.
template <auto Member>
[[gnu::always_inline]] inline auto find_function(gpu::detail::process_front*& process) noexcept {
  process = __atomic_load_n(&gpu::detail::known_process, __ATOMIC_ACQUIRE);
  const entry_points* table = __atomic_load_n(&process->table, __ATOMIC_ACQUIRE);
  return table->*Member;
}

/// Returns the first stream among the arguments of a call, or null.
constexpr CUstream stream_among() noexcept { return nullptr; }
template <class First, class... Rest>
constexpr CUstream stream_among([[maybe_unused]] First first, Rest... rest) noexcept {
  if constexpr (__is_same(First, CUstream)) {
    return first;
  } else {
    return stream_among(rest...);
  }
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

/// The ways to call one function of the table. The parameters are those of the driver's function,
/// so arguments convert to them as in a direct call.
template <auto Member, class Type = decltype(Member)> struct entry_point;

template <auto Member, class... Parameters>
struct entry_point<Member, CUresult (CUDAAPI* entry_points::*)(Parameters...)> {
  using function = CUresult(CUDAAPI*)(Parameters...);

  [[gnu::always_inline]] static result<> call(source_location where,
                                              Parameters... arguments) noexcept {
    gpu::detail::process_front* process = nullptr;
    const function f = find_function<Member>(process);
    if (f == nullptr) [[unlikely]]
      return call_after_load(where, arguments...);
    const CUresult code = run(f, process, arguments...);
    if (code != CUDA_SUCCESS) [[unlikely]] {
      return failed<result<>>(code, entry_point_index(Member), where, stream_among(arguments...));
    }
    return {};
  }

  [[gnu::always_inline]] static result<bool> query(CUresult negative, source_location where,
                                                   Parameters... arguments) noexcept {
    gpu::detail::process_front* process = nullptr;
    const function f = find_function<Member>(process);
    if (f == nullptr) [[unlikely]]
      return query_after_load(negative, where, arguments...);
    const CUresult code = run(f, process, arguments...);
    if (code != CUDA_SUCCESS && code != negative) [[unlikely]] {
      return failed<result<bool>>(code, entry_point_index(Member), where,
                                  stream_among(arguments...));
    }
    return code == CUDA_SUCCESS;
  }

  [[gnu::always_inline]] static void destroy(Parameters... arguments) noexcept {
    gpu::detail::process_front* process = nullptr;
    const function f = find_function<Member>(process);
    if (f == nullptr) [[unlikely]]
      return destroy_after_load(arguments...);
    const CUresult code = f(arguments...);
    if (code != CUDA_SUCCESS) [[unlikely]]
      destroy_failed(code, entry_point_index(Member));
  }

 private:
  [[gnu::always_inline]] static CUresult run(function f, gpu::detail::process_front* process,
                                             Parameters... arguments) noexcept {
    if constexpr (is_synchronization<Member>) {
      gpu::detail::launch_ring& ring = gpu::detail::launches(process);
      const std::uint64_t finished = gpu::detail::launches_so_far(ring);
      const CUresult code = f(arguments...);
      if (code == CUDA_SUCCESS) {
        record_synchronization(ring, finished, sizeof...(arguments) == 0,
                               stream_among(arguments...));
      }
      return code;
    } else {
      static_cast<void>(process);
      return f(arguments...);
    }
  }

  // What the three do if the table in force has no such function: they load the driver, if that
  // has not been done yet, and try again.

  [[gnu::cold, gnu::noinline]] static result<> call_after_load(source_location where,
                                                               Parameters... arguments) noexcept {
    const entry_points& table = current_entry_points();
    if (table.*Member != nullptr) return call(where, arguments...);
    return gpu::detail::fail(unavailable_error(table, entry_point_index(Member), where));
  }

  [[gnu::cold, gnu::noinline]] static result<bool> query_after_load(
      CUresult negative, source_location where, Parameters... arguments) noexcept {
    const entry_points& table = current_entry_points();
    if (table.*Member != nullptr) return query(negative, where, arguments...);
    return gpu::detail::fail(unavailable_error(table, entry_point_index(Member), where));
  }

  [[gnu::cold, gnu::noinline]] static void destroy_after_load(Parameters... arguments) noexcept {
    if (current_entry_points().*Member != nullptr) destroy(arguments...);
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
