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
    return gpu::detail::noted_error(cuda_error(error_domain::driver,
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

/// What becomes of a call that failed, or of which the driver has no function. Calls of their own,
/// which make the whole result: so that a call that succeeds is little code, and can be inlined.
template <class Result>
[[gnu::cold, gnu::noinline]] Result failed(CUresult code, std::size_t index, source_location where,
                                           CUstream stream) noexcept {
  return gpu::detail::fail(error_of(code, index, where, stream));
}

/// One function of the table in force, and the state of the process; null where there is none, and
/// `call_otherwise` knows what then.
template <auto Member>
[[gnu::always_inline]] inline auto find_function(gpu::detail::process_front*& process) noexcept {
  process = __atomic_load_n(&gpu::detail::known_process, __ATOMIC_ACQUIRE);
  const entry_points* table = __atomic_load_n(&process->table, __ATOMIC_ACQUIRE);
  return table->*Member;
}

/// Does `again()` where the driver had not been loaded, else says why there is no such function.
template <auto Member, class Call>
[[gnu::cold, gnu::noinline]] auto call_otherwise(source_location where, Call again) noexcept
    -> decltype(again()) {
  const entry_points& table = current_entry_points();
  const auto function = table.*Member;
  if (function != nullptr) return again();
  return gpu::detail::fail(unavailable_error(table, entry_point_index(Member), where));
}

/// The first stream among the arguments of a call, or null.
constexpr CUstream stream_among() noexcept { return nullptr; }
template <class First, class... Rest>
constexpr CUstream stream_among([[maybe_unused]] First first, Rest... rest) noexcept {
  if constexpr (__is_same(First, CUstream)) {
    return first;
  } else {
    return stream_among(rest...);
  }
}

/// Whether success of a call means that work launched earlier has finished.
template <auto Member> inline constexpr bool is_synchronization = false;
template <> inline constexpr bool is_synchronization<&entry_points::stream_synchronize> = true;
template <> inline constexpr bool is_synchronization<&entry_points::stream_query> = true;
template <> inline constexpr bool is_synchronization<&entry_points::ctx_synchronize> = true;

/// Rules out the launches before `finished` as the origin of later faults.
template <class Ring>
[[gnu::noinline]] void note_success(Ring& ring, std::uint64_t finished, bool all_streams,
                                    CUstream stream) noexcept {
  CUdevice device = -1;
  // The default streams have one name for all contexts; 1 and 2 are their explicit names. The ring
  // knows devices alone, so it is told nothing while there are contexts besides the primary ones.
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

}  // namespace detail

/// Calls one function of the table in force and turns what it says into a `result`:
///
///     GPU_TRY(driver::call<&entry_points::stream_synchronize>(where, stream));
///
/// Errors: the driver's code with the call's name; or why there is no such function.
template <auto Member, class... Arguments>
[[gnu::always_inline]] inline result<> call(source_location where,
                                            Arguments... arguments) noexcept {
  gpu::detail::process_front* process = nullptr;
  const auto function = detail::find_function<Member>(process);
  if (function == nullptr) [[unlikely]] {
    return detail::call_otherwise<Member>(where, [=] { return call<Member>(where, arguments...); });
  }
  std::uint64_t finished = 0;
  if constexpr (detail::is_synchronization<Member>) {
    finished = gpu::detail::launches_so_far(gpu::detail::launches(process));
  }
  const CUresult code = function(arguments...);
  if (code != CUDA_SUCCESS) [[unlikely]] {
    return detail::failed<result<>>(code, entry_point_index(Member), where,
                                    detail::stream_among(arguments...));
  }
  if constexpr (detail::is_synchronization<Member>) {
    detail::note_success(gpu::detail::launches(process), finished, sizeof...(arguments) == 0,
                         detail::stream_among(arguments...));
  }
  return {};
}

/// The same where one more code is an answer, not an error: `query<&...::stream_query>(
/// CUDA_ERROR_NOT_READY, where, stream)` yields false for that code and true for success.
template <auto Member, class... Arguments>
[[gnu::always_inline]] inline result<bool> query(CUresult negative, source_location where,
                                                 Arguments... arguments) noexcept {
  gpu::detail::process_front* process = nullptr;
  const auto function = detail::find_function<Member>(process);
  if (function == nullptr) [[unlikely]] {
    return detail::call_otherwise<Member>(
        where, [=] { return query<Member>(negative, where, arguments...); });
  }
  std::uint64_t finished = 0;
  if constexpr (detail::is_synchronization<Member>) {
    finished = gpu::detail::launches_so_far(gpu::detail::launches(process));
  }
  const CUresult code = function(arguments...);
  if (code != CUDA_SUCCESS && code != negative) [[unlikely]] {
    return detail::failed<result<bool>>(code, entry_point_index(Member), where,
                                        detail::stream_among(arguments...));
  }
  if constexpr (detail::is_synchronization<Member>) {
    if (code == CUDA_SUCCESS)
      detail::note_success(gpu::detail::launches(process), finished, false,
                           detail::stream_among(arguments...));
  }
  return code == CUDA_SUCCESS;
}

namespace detail {

template <class Code>
[[gnu::cold, gnu::noinline]] void destroy_failed(Code code, std::size_t index) noexcept {
  if (code == CUDA_ERROR_DEINITIALIZED) return;
  const cuda_error error = error_of(code, index, source_location{});
  if (!error.is_sticky()) gpu::detail::report(error);
}

/// `destroy`, once the driver has been loaded.
template <auto Member, class... Arguments>
[[gnu::cold, gnu::noinline]] void destroy_otherwise(Arguments... arguments) noexcept {
  const auto function = current_entry_points().*Member;
  if (function == nullptr) return;
  const CUresult code = function(arguments...);
  if (code != CUDA_SUCCESS) destroy_failed(code, entry_point_index(Member));
}

}  // namespace detail

/// Calls a function that destroys, from a destructor: failures go to the error reporter. Silent
/// where nothing can be wrong: the process is ending or was forked, or the context is gone or lost,
/// and the object with it.
template <auto Member, class... Arguments>
[[gnu::always_inline]] inline void destroy(Arguments... arguments) noexcept {
  gpu::detail::process_front* process = nullptr;
  const auto function = detail::find_function<Member>(process);
  if (function == nullptr) [[unlikely]]
    return detail::destroy_otherwise<Member>(arguments...);
  const CUresult code = function(arguments...);
  if (code != CUDA_SUCCESS) [[unlikely]]
    detail::destroy_failed(code, entry_point_index(Member));
}

}  // namespace gpu::inline v0::driver
