#pragma once
/// \file
/// The types of the exported functions, PFN_name_vVERSION, and lists of their parameters.

#include <gpu/driver/detail/entry_point_table.hpp>

#include <cstddef>
#include <tuple>

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

namespace nogpu::libcuda {

// What cudaTypedefs.h lacks.
#define NOGPU_DECLARED(function, version) using PFN_##function##_v##version = decltype(&::function);
NOGPU_DECLARED(cuCtxFromGreenCtx, 12040)
NOGPU_DECLARED(cuCtxGetDevResource, 12040)
NOGPU_DECLARED(cuDevResourceGenerateDesc, 12040)
NOGPU_DECLARED(cuDevSmResourceSplitByCount, 12040)
NOGPU_DECLARED(cuDeviceGetDevResource, 12040)
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
#undef NOGPU_DECLARED

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

template <class Function> struct parameters_of;
template <class... Parameters> struct parameters_of<CUresult (*)(Parameters...)> {
  using types = std::tuple<Parameters...>;
};
template <class Function, std::size_t Index>
using parameter = std::tuple_element_t<Index, typename parameters_of<Function>::types>;

}  // namespace nogpu::libcuda

// The parameters of a function, p0 and so on, and the same as arguments.

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
