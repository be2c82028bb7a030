// The exported functions, and cuGetProcAddress, which finds them by name and version.

#include "driver.hpp"
#include "legacy_contexts.hpp"
#include "legacy_graphs.hpp"
#include "legacy_launches.hpp"
#include "legacy_memory.hpp"
#include "ways.hpp"

#include <gpu/core/version.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#define NOGPU_EXPORT extern "C" __attribute__((visibility("default")))

/// By this symbol, `gpu` and others know that this library is not NVIDIA's.
NOGPU_EXPORT const int nogpu_version;
const int nogpu_version = gpu::library_version.major * 1'000'000 +
                          gpu::library_version.minor * 1'000 + gpu::library_version.patch;

namespace nogpu {

// What cudaTypedefs.h lacks.
#define NOGPU_DECLARED(function, version) using PFN_##function##_v##version = decltype(&::function);
NOGPU_DECLARED(cuCoredumpGetAttribute, 12010)
NOGPU_DECLARED(cuCoredumpGetAttributeGlobal, 12010)
NOGPU_DECLARED(cuCoredumpSetAttribute, 12010)
NOGPU_DECLARED(cuCoredumpSetAttributeGlobal, 12010)
NOGPU_DECLARED(cuCtxFromGreenCtx, 12040)
NOGPU_DECLARED(cuCtxGetDevResource, 12040)
NOGPU_DECLARED(cuCtxRecordEvent, 12050)
NOGPU_DECLARED(cuCtxWaitEvent, 12050)
NOGPU_DECLARED(cuDevResourceGenerateDesc, 12040)
NOGPU_DECLARED(cuDevSmResourceSplitByCount, 12040)
NOGPU_DECLARED(cuDeviceGetDevResource, 12040)
NOGPU_DECLARED(cuDeviceRegisterAsyncNotification, 12040)
NOGPU_DECLARED(cuDeviceUnregisterAsyncNotification, 12040)
NOGPU_DECLARED(cuGreenCtxCreate, 12040)
NOGPU_DECLARED(cuGreenCtxDestroy, 12040)
NOGPU_DECLARED(cuGreenCtxGetDevResource, 12040)
NOGPU_DECLARED(cuGreenCtxGetId, 12090)
NOGPU_DECLARED(cuGreenCtxRecordEvent, 12040)
NOGPU_DECLARED(cuGreenCtxWaitEvent, 12040)
NOGPU_DECLARED(cuStreamGetGreenCtx, 12040)
NOGPU_DECLARED(cuGraphicsGLRegisterBuffer, 3000)
NOGPU_DECLARED(cuGraphicsGLRegisterImage, 3000)
NOGPU_DECLARED(cuGLGetDevices, 4010)
NOGPU_DECLARED(cuGLGetDevices, 6050)
// Older forms, in part with the parameters of newer ones.
using PFN_cuCtxCreate_v2000 = PFN_cuCtxCreate_v3020;
using PFN_cuCtxDestroy_v2000 = PFN_cuCtxDestroy_v4000;
using PFN_cuCtxPopCurrent_v2000 = PFN_cuCtxPopCurrent_v4000;
using PFN_cuCtxPushCurrent_v2000 = PFN_cuCtxPushCurrent_v4000;
using PFN_cuDevicePrimaryCtxRelease_v7000 = PFN_cuDevicePrimaryCtxRelease_v11000;
using PFN_cuDevicePrimaryCtxReset_v7000 = PFN_cuDevicePrimaryCtxReset_v11000;
using PFN_cuDevicePrimaryCtxSetFlags_v7000 = PFN_cuDevicePrimaryCtxSetFlags_v11000;
using PFN_cuEventDestroy_v2000 = PFN_cuEventDestroy_v4000;
using PFN_cuGraphicsResourceSetMapFlags_v3000 = PFN_cuGraphicsResourceSetMapFlags_v6050;
using PFN_cuIpcOpenMemHandle_v4010 = PFN_cuIpcOpenMemHandle_v11000;
using PFN_cuLinkAddData_v5050 = PFN_cuLinkAddData_v6050;
using PFN_cuLinkAddFile_v5050 = PFN_cuLinkAddFile_v6050;
using PFN_cuLinkCreate_v5050 = PFN_cuLinkCreate_v6050;
using PFN_cuMemHostRegister_v4000 = PFN_cuMemHostRegister_v6050;
using PFN_cuStreamDestroy_v2000 = PFN_cuStreamDestroy_v4000;
using PFN_cuMemAllocHost_v2000 = CUresult (*)(void**, unsigned);
using PFN_cuGraphInstantiate_v10000 = CUresult (*)(CUgraphExec*, CUgraph, CUgraphNode*, char*,
                                                   std::size_t);
using PFN_cuGraphInstantiate_v11000 = PFN_cuGraphInstantiate_v10000;
using PFN_cuStreamBeginCapture_v10000 = CUresult (*)(CUstream);
using PFN_cuStreamBeginCapture_v10000_ptsz = PFN_cuStreamBeginCapture_v10000;
// From newer versions of CUDA.
using PFN_cuFuncGetParamCount_v13000 = CUresult (*)(CUfunction, std::size_t*);
using PFN_cuKernelGetParamCount_v13000 = CUresult (*)(CUkernel, std::size_t*);
#undef NOGPU_DECLARED

namespace legacy {
CUresult get_proc_address(const char* name, void** found, int version, cuuint64_t flags) noexcept;
CUresult get_proc_address_v2(const char* name, void** found, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) noexcept;
}  // namespace legacy

template <class Function> struct parameters_of;
template <class... Parameters> struct parameters_of<CUresult (*)(Parameters...)> {
  using types = std::tuple<Parameters...>;
};
template <class Function, std::size_t Index>
using parameter = std::tuple_element_t<Index, typename parameters_of<Function>::types>;

#define NOGPU_PARAMETERS_0(type)
#define NOGPU_PARAMETERS_1(type) parameter<type, 0> p0
#define NOGPU_PARAMETERS_2(type) NOGPU_PARAMETERS_1(type), parameter<type, 1> p1
#define NOGPU_PARAMETERS_3(type) NOGPU_PARAMETERS_2(type), parameter<type, 2> p2
#define NOGPU_PARAMETERS_4(type) NOGPU_PARAMETERS_3(type), parameter<type, 3> p3
#define NOGPU_PARAMETERS_5(type) NOGPU_PARAMETERS_4(type), parameter<type, 4> p4
#define NOGPU_PARAMETERS_6(type) NOGPU_PARAMETERS_5(type), parameter<type, 5> p5
#define NOGPU_PARAMETERS_7(type) NOGPU_PARAMETERS_6(type), parameter<type, 6> p6
#define NOGPU_PARAMETERS_8(type) NOGPU_PARAMETERS_7(type), parameter<type, 7> p7
#define NOGPU_PARAMETERS_9(type) NOGPU_PARAMETERS_8(type), parameter<type, 8> p8
#define NOGPU_PARAMETERS_10(type) NOGPU_PARAMETERS_9(type), parameter<type, 9> p9
#define NOGPU_PARAMETERS_11(type) NOGPU_PARAMETERS_10(type), parameter<type, 10> p10
#define NOGPU_PARAMETERS_12(type) NOGPU_PARAMETERS_11(type), parameter<type, 11> p11
#define NOGPU_PARAMETERS_13(type) NOGPU_PARAMETERS_12(type), parameter<type, 12> p12
#define NOGPU_PARAMETERS_14(type) NOGPU_PARAMETERS_13(type), parameter<type, 13> p13
#define NOGPU_PARAMETERS_15(type) NOGPU_PARAMETERS_14(type), parameter<type, 14> p14
#define NOGPU_PARAMETERS_16(type) NOGPU_PARAMETERS_15(type), parameter<type, 15> p15

#define NOGPU_ARGUMENTS_0
#define NOGPU_ARGUMENTS_1 p0
#define NOGPU_ARGUMENTS_2 NOGPU_ARGUMENTS_1, p1
#define NOGPU_ARGUMENTS_3 NOGPU_ARGUMENTS_2, p2
#define NOGPU_ARGUMENTS_4 NOGPU_ARGUMENTS_3, p3
#define NOGPU_ARGUMENTS_5 NOGPU_ARGUMENTS_4, p4
#define NOGPU_ARGUMENTS_6 NOGPU_ARGUMENTS_5, p5
#define NOGPU_ARGUMENTS_7 NOGPU_ARGUMENTS_6, p6
#define NOGPU_ARGUMENTS_8 NOGPU_ARGUMENTS_7, p7
#define NOGPU_ARGUMENTS_9 NOGPU_ARGUMENTS_8, p8
#define NOGPU_ARGUMENTS_10 NOGPU_ARGUMENTS_9, p9
#define NOGPU_ARGUMENTS_11 NOGPU_ARGUMENTS_10, p10
#define NOGPU_ARGUMENTS_12 NOGPU_ARGUMENTS_11, p11
#define NOGPU_ARGUMENTS_13 NOGPU_ARGUMENTS_12, p12
#define NOGPU_ARGUMENTS_14 NOGPU_ARGUMENTS_13, p13
#define NOGPU_ARGUMENTS_15 NOGPU_ARGUMENTS_14, p14
#define NOGPU_ARGUMENTS_16 NOGPU_ARGUMENTS_15, p15

// Each exported function has a name of its own in this source: of the real names many are macros,
// or are declared in cuda.h for another form of the function.
#define NOGPU_FUNCTION(exported, name, version, arity, ...)                                      \
  NOGPU_EXPORT CUresult nogpu_##exported(NOGPU_PARAMETERS_##arity(PFN_##name##_v##version)) asm( \
      #exported);                                                                                \
  CUresult nogpu_##exported(NOGPU_PARAMETERS_##arity(PFN_##name##_v##version)) {                 \
    return __VA_ARGS__::run(NOGPU_ARGUMENTS_##arity);                                            \
  }
// One that is missing ignores its arguments, which the caller removes.
#define NOGPU_MISSING(exported, name, version)             \
  NOGPU_EXPORT CUresult nogpu_##exported() asm(#exported); \
  CUresult nogpu_##exported() { return refuse(#exported); }
#include "functions.inc"

namespace {

/// An exported function, as cuGetProcAddress finds it.
struct exported_function {
  const char* name;
  const char* version;  // the first with this form, and then _ptsz or _ptds
  void* function;
};

const exported_function exported_functions[] = {
#define NOGPU_MISSING(exported, name, version) \
  {#name, #version, reinterpret_cast<void*>(&nogpu_##exported)},
#define NOGPU_FUNCTION(exported, name, version, arity, ...) NOGPU_MISSING(exported, name, version)
#include "functions.inc"
    // cuda.h says so since CUDA 12.
    {"cuGraphInstantiate", "12000", reinterpret_cast<void*>(&nogpu_cuGraphInstantiateWithFlags)},
};

struct found_function {
  void* function = nullptr;
  int version = 0;
  bool name_exists = false;
};

/// Finds the newest form of a function that `version` has. Where a form for the thread's stream is
/// as new as the other, that one is found if it is wanted.
found_function find_function(const char* name, int version, bool per_thread) noexcept {
  found_function best;
  for (const exported_function& each : exported_functions) {
    if (std::strcmp(each.name, name) != 0) continue;
    best.name_exists = true;
    char* suffix = nullptr;
    const int first = static_cast<int>(std::strtol(each.version, &suffix, 10));
    const bool is_per_thread = *suffix != '\0';
    if (first > version || (is_per_thread && !per_thread) || first < best.version) continue;
    if (first == best.version && !is_per_thread) continue;
    best.function = each.function;
    best.version = first;
  }
  return best;
}

}  // namespace

CUresult legacy::get_proc_address_v2(const char* name, void** found, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult* status) noexcept {
  constexpr cuuint64_t known =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (name == nullptr || found == nullptr || (flags & ~known) != 0 || flags == known)
    return CUDA_ERROR_INVALID_VALUE;
  int newest = 0;
  if (const CUresult bad = ask<&table::driver_get_version>(&newest)) return bad;
  if (version > newest) return CUDA_ERROR_INVALID_VALUE;
  const found_function best =
      find_function(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
  *found = best.function;
  if (status != nullptr)
    *status = best.function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : best.name_exists       ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

/// The first form, which has no status: an error says that there is no such function.
CUresult legacy::get_proc_address(const char* name, void** found, int version,
                                  cuuint64_t flags) noexcept {
  const CUresult answer = get_proc_address_v2(name, found, version, flags, nullptr);
  if (answer != CUDA_SUCCESS) return answer;
  return *found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // namespace nogpu
