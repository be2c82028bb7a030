#pragma once
/// \file
/// The functions of cuFFT, opened on first use, and a plan's handle.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/library_handle.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>

#include <cuda.h>
#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

struct cufft_library;

/// Pointers to functions of cuFFT; all null without it.
struct cufft_functions {
  using library = cufft_library;

  int (*create)(int* plan);
  int (*destroy)(int plan);
  int (*set_stream)(int plan, void* stream);
  int (*make_plan)(int plan, int rank, long long* lengths, long long* in_embed, long long in_stride,
                   long long in_distance, long long* out_embed, long long out_stride,
                   long long out_distance, int type, long long batch, std::size_t* workspace);
  int (*get_property)(int property, int* value);
  int (*complex_float)(int plan, void* in, void* out, int direction);
  int (*real_float)(int plan, void* in, void* out);
  int (*to_real_float)(int plan, void* in, void* out);
  int (*complex_double)(int plan, void* in, void* out, int direction);
  int (*real_double)(int plan, void* in, void* out);
  int (*to_real_double)(int plan, void* in, void* out);

  errc unavailable;  ///< why all members are null, or 0
  const char* unavailable_detail;
};

struct cufft_library : run_time_library<cufft_library> {
  using table = cufft_functions;
  static constexpr library_function functions[] = {
      {"cufftCreate", offsetof(table, create)},
      {"cufftDestroy", offsetof(table, destroy)},
      {"cufftSetStream", offsetof(table, set_stream)},
      {"cufftMakePlanMany64", offsetof(table, make_plan)},
      {"cufftGetProperty", offsetof(table, get_property)},
      {"cufftExecC2C", offsetof(table, complex_float)},
      {"cufftExecR2C", offsetof(table, real_float)},
      {"cufftExecC2R", offsetof(table, to_real_float)},
      {"cufftExecZ2Z", offsetof(table, complex_double)},
      {"cufftExecD2Z", offsetof(table, real_double)},
      {"cufftExecZ2D", offsetof(table, to_real_double)},
  };
  static constexpr const char* name = "cuFFT";
  static constexpr const char* wheel = "nvidia-cufft";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "11.0 (of CUDA 12)";
  static constexpr error_domain domain = error_domain::cufft;
  static constexpr toolkit_library files{
      "GPU_CUFFT", {"libcufft.so.12", "libcufft.so.11", "libcufft.so"}, "nvidia/cufft/lib"};

  static bool accept(const table& found, text_builder& reason) noexcept {
    return has_version(found.get_property, name, 11, 0, reason);
  }
};

/// A plan of cuFFT, and the stream that it works on.
using cufft_object = library_object<cufft_library, int, -1>;
using cufft_plan_handle = library_handle<cufft_library, int, -1>;

/// Makes a plan for signals that lie one after the other.
inline result<> make_cufft(cufft_plan_handle& made, const stream_ref& stream,
                           const long long* lengths, int rank, int type, std::size_t batch,
                           source_location where) noexcept {
  return driver::in_context(stream.context().native(), where, [&]() -> result<> {
    int plan = -1;
    GPU_TRY(library_call<&cufft_functions::create>(where, &plan));
    made.reset({plan, stream});
    std::size_t workspace = 0;
    long long* const none = nullptr;
    long long copies[3] = {};
    for (int axis = 0; axis < rank; ++axis) copies[axis] = lengths[axis];
    GPU_TRY(library_call<&cufft_functions::make_plan>(
        where, plan, rank, static_cast<long long*>(copies), none, 1LL, 0LL, none, 1LL, 0LL, type,
        static_cast<long long>(batch), &workspace));
    return library_call<&cufft_functions::set_stream>(where, plan,
                                                      static_cast<void*>(stream.native()));
  });
}

inline result<> run_cufft(const cufft_object& plan, int type, CUdeviceptr from, CUdeviceptr to,
                          int direction, source_location where) noexcept {
  void* const in = to_pointer(from);
  void* const out = to_pointer(to);
  const int native = plan.native;
  return driver::in_context(plan.stream.context().native(), where, [&]() -> result<> {
    switch (type) {
      case 0x29:
        return library_call<&cufft_functions::complex_float>(where, native, in, out, direction);
      case 0x69:
        return library_call<&cufft_functions::complex_double>(where, native, in, out, direction);
      case 0x2a: return library_call<&cufft_functions::real_float>(where, native, in, out);
      case 0x6a: return library_call<&cufft_functions::real_double>(where, native, in, out);
      case 0x2c: return library_call<&cufft_functions::to_real_float>(where, native, in, out);
      default: return library_call<&cufft_functions::to_real_double>(where, native, in, out);
    }
  });
}

}}}  // namespace gpu::v1::detail
