/* A program that is not written with gpu: it opens libcuda.so.1, calls functions of the present and of
   CUDA 2 and 3, and adds vectors. Each check prints a line if it fails. The argument names the checks to
   make. */

#define _GNU_SOURCE
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* library;
static int failures;

static void* find(const char* name) {
  void* function = dlsym(library, name);
  if (function == NULL) {
    printf("there is no %s\n", name);
    exit(1);
  }
  return function;
}

/* call(cuMemAlloc, v3020, cuMemAlloc_v2): the exported function, with the type of that version. */
#define call(name, version, exported) ((PFN_##name##_##version)find(#exported))

static void check(int right, const char* what, int line) {
  if (right) return;
  printf("line %d: not so: %s\n", line, what);
  ++failures;
}
#define CHECK(right) check((right) ? 1 : 0, #right, __LINE__)
#define OK(code) CHECK((code) == CUDA_SUCCESS)

static const char saxpy_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {\n"
    "  .reg .pred p; .reg .b32 t, b, d, count; .reg .b64 py, px, o; .reg .f32 fa, fx, fy;\n"
    "  mov.u32 t, %tid.x; mov.u32 b, %ctaid.x; mov.u32 d, %ntid.x; mad.lo.u32 t, b, d, t;\n"
    "  ld.param.u32 count, [n]; setp.ge.u32 p, t, count; @p ret;\n"
    "  ld.param.u64 py, [y]; ld.param.u64 px, [x]; ld.param.f32 fa, [a];\n"
    "  cvta.to.global.u64 py, py; cvta.to.global.u64 px, px;\n"
    "  mul.wide.u32 o, t, 4; add.u64 py, py, o; add.u64 px, px, o;\n"
    "  ld.global.f32 fx, [px]; ld.global.f32 fy, [py]; fma.rn.f32 fy, fa, fx, fy;\n"
    "  st.global.f32 [py], fy; ret;\n}\n"
    /* Reads memory of its own that nobody wrote: a mistake that does no harm. */
    ".visible .entry unwritten(.param .u64 y) {\n"
    "  .shared .align 4 .b8 s[4]; .reg .b32 v; .reg .b64 py;\n"
    "  ld.param.u64 py, [y]; ld.shared.u32 v, [s]; st.global.u32 [py], v; ret;\n}\n";

enum { count = 1000 };

static CUmodule module;
static CUfunction saxpy;
static CUdeviceptr x, y;

static void fill(void) {
  float host_x[count], host_y[count];
  for (int i = 0; i < count; ++i) host_x[i] = (float)i, host_y[i] = 1;
  OK(call(cuMemcpyHtoD, v3020, cuMemcpyHtoD_v2)(x, host_x, sizeof host_x));
  OK(call(cuMemcpyHtoD, v3020, cuMemcpyHtoD_v2)(y, host_y, sizeof host_y));
}

static int is_right(void) {
  float host[count];
  OK(call(cuMemcpyDtoH, v3020, cuMemcpyDtoH_v2)(host, y, sizeof host));
  for (int i = 0; i < count; ++i)
    if (host[i] != 2 * (float)i + 1) return 0;
  return 1;
}

/* Makes a context by a legacy function, and loads the kernels. */
static void begin(void) {
  CUcontext context = NULL;
  OK(call(cuInit, v2000, cuInit)(0));
  OK(call(cuCtxCreate, v3020, cuCtxCreate_v2)(&context, 0, 0));
  OK(call(cuModuleLoadData, v2000, cuModuleLoadData)(&module, saxpy_ptx));
  OK(call(cuModuleGetFunction, v2000, cuModuleGetFunction)(&saxpy, module, "saxpy"));
  OK(call(cuMemAlloc, v3020, cuMemAlloc_v2)(&x, count * sizeof(float)));
  OK(call(cuMemAlloc, v3020, cuMemAlloc_v2)(&y, count * sizeof(float)));
}

static void present_calls(void) {
  int devices = 0;
  CHECK(call(cuDeviceGetCount, v2000, cuDeviceGetCount)(&devices) == CUDA_ERROR_NOT_INITIALIZED);
  begin();
  OK(call(cuDeviceGetCount, v2000, cuDeviceGetCount)(&devices));
  printf("%d devices\n", devices);
  size_t total = 0;
  OK(call(cuDeviceTotalMem, v3020, cuDeviceTotalMem_v2)(&total, 0));
  printf("%zu MiB\n", total >> 20);
  float a = 2;
  unsigned n = count;
  void* arguments[] = {&y, &x, &a, &n};
  fill();
  OK(call(cuLaunchKernel, v4000, cuLaunchKernel)(saxpy, 4, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
  CHECK(is_right());
  fill();
  OK(call(cuLaunchKernel, v7000_ptsz, cuLaunchKernel_ptsz)(saxpy, 4, 1, 1, 256, 1, 1, 0, NULL, arguments,
                                                          NULL));
  OK(call(cuStreamSynchronize, v7000_ptsz, cuStreamSynchronize_ptsz)(NULL));
  CHECK(is_right());
  CUlaunchConfig config = {4, 1, 1, 256, 1, 1, 0, NULL, NULL, 0};
  fill();
  OK(call(cuLaunchKernelEx, v11060_ptsz, cuLaunchKernelEx_ptsz)(&config, saxpy, arguments, NULL));
  OK(call(cuStreamSynchronize, v7000_ptsz, cuStreamSynchronize_ptsz)(NULL));
  CHECK(is_right());
  /* A null stream is the thread's own in _ptsz functions, and the one for all in others. */
  unsigned long long own = 0, common = 0, named = 0;
  OK(call(cuStreamGetId, v12000_ptsz, cuStreamGetId_ptsz)(NULL, &own));
  OK(call(cuStreamGetId, v12000, cuStreamGetId)(NULL, &common));
  OK(call(cuStreamGetId, v12000, cuStreamGetId)(CU_STREAM_PER_THREAD, &named));
  CHECK(own == named && own != common);
  unsigned filled[2] = {0, 0};
  OK(call(cuMemsetD32, v7000_ptds, cuMemsetD32_v2_ptds)(y, 7, count));
  OK(call(cuMemcpyDtoH, v7000_ptds, cuMemcpyDtoH_v2_ptds)(filled, y, sizeof filled));
  CHECK(filled[0] == 7 && filled[1] == 7);
  CUdevice device = -1;
  OK(call(cuStreamGetDevice, v12080, cuStreamGetDevice)(NULL, &device));
  CHECK(device == 0);
  size_t parameters = 0;
  OK(((CUresult(*)(CUfunction, size_t*))find("cuFuncGetParamCount"))(saxpy, &parameters));
  CHECK(parameters == 4);
  const void* tables = "";
  CUuuid id = {{0}};
  CHECK(call(cuGetExportTable, v3000, cuGetExportTable)(&tables, &id) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(tables == NULL);
}

static void legacy_calls(void) {
  begin();
  int major = 0, minor = -1;
  OK(call(cuDeviceComputeCapability, v2000, cuDeviceComputeCapability)(&major, &minor, 0));
  CHECK(major >= 7 && minor >= 0);
  CUdevprop properties;
  OK(call(cuDeviceGetProperties, v2000, cuDeviceGetProperties)(&properties, 0));
  CHECK(properties.maxThreadsPerBlock == 1024 && properties.SIMDWidth == 32);
  fill();
  OK(call(cuFuncSetBlockShape, v2000, cuFuncSetBlockShape)(saxpy, 250, 1, 1));
  CHECK(call(cuFuncSetBlockShape, v2000, cuFuncSetBlockShape)(saxpy, 0, 1, 1) == CUDA_ERROR_INVALID_VALUE);
  OK(call(cuParamSetv, v2000, cuParamSetv)(saxpy, 0, &y, sizeof y));
  OK(call(cuParamSetv, v2000, cuParamSetv)(saxpy, 8, &x, sizeof x));
  OK(call(cuParamSetf, v2000, cuParamSetf)(saxpy, 16, 2.0f));
  OK(call(cuParamSeti, v2000, cuParamSeti)(saxpy, 20, count));
  OK(call(cuParamSetSize, v2000, cuParamSetSize)(saxpy, 24));
  OK(call(cuLaunchGrid, v2000, cuLaunchGrid)(saxpy, 4, 1));
  CHECK(is_right());
  /* A graph by the functions for each kind of node. */
  CUgraph graph = NULL;
  CUgraphNode nodes[3] = {NULL}, from[4], to[4];
  CUgraphExec exec = NULL;
  OK(call(cuGraphCreate, v10000, cuGraphCreate)(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS ones = {y, 0, 0x3f800000, 4, count, 1};
  CUcontext context = NULL;
  OK(call(cuCtxGetCurrent, v4000, cuCtxGetCurrent)(&context));
  OK(call(cuGraphAddMemsetNode, v10000, cuGraphAddMemsetNode)(&nodes[0], graph, NULL, 0, &ones, context));
  OK(call(cuGraphAddEmptyNode, v10000, cuGraphAddEmptyNode)(&nodes[1], graph, nodes, 1));
  float a = 2;
  unsigned n = count;
  void* arguments[] = {&y, &x, &a, &n};
  CUDA_KERNEL_NODE_PARAMS kernel = {saxpy, 4, 1, 1, 250, 1, 1, 0, arguments, NULL, NULL, NULL};
  OK(call(cuGraphAddKernelNode, v12000, cuGraphAddKernelNode_v2)(&nodes[2], graph, &nodes[1], 1, &kernel));
  size_t edges = 4;
  OK(call(cuGraphGetEdges, v10000, cuGraphGetEdges)(graph, from, to, &edges));
  CHECK(edges == 2);
  OK(call(cuGraphInstantiateWithFlags, v11040, cuGraphInstantiateWithFlags)(&exec, graph, 0));
  OK(call(cuGraphLaunch, v10000, cuGraphLaunch)(exec, NULL));
  CHECK(is_right());
  CUDA_MEMSET_NODE_PARAMS zeros = {y, 0, 0, 4, count, 1};
  OK(call(cuGraphExecMemsetNodeSetParams, v10020, cuGraphExecMemsetNodeSetParams)(exec, nodes[0], &zeros,
                                                                                 context));
  OK(call(cuGraphLaunch, v10000, cuGraphLaunch)(exec, NULL));
  CHECK(!is_right());
  /* Contexts are counted. */
  CUcontext attached = NULL;
  OK(call(cuCtxAttach, v2000, cuCtxAttach)(&attached, 0));
  CHECK(attached == context);
  OK(call(cuCtxDetach, v2000, cuCtxDetach)(context));
  CHECK(is_right() == 0);
  OK(call(cuCtxDetach, v2000, cuCtxDetach)(context));
  OK(call(cuCtxGetCurrent, v4000, cuCtxGetCurrent)(&context));
  CHECK(context == NULL);
}

static void versions(void) {
  PFN_cuGetProcAddress_v12000 get = (PFN_cuGetProcAddress_v12000)find("cuGetProcAddress_v2");
  static const struct {
    const char* name;
    int version;
    cuuint64_t flags;
    const char* exported; /* or null */
    CUdriverProcAddressQueryResult status;
  } all[] = {
      {"cuCtxCreate", 2000, 0, "cuCtxCreate", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuCtxCreate", 3020, 0, "cuCtxCreate_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuCtxCreate", 11030, 0, "cuCtxCreate_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuCtxCreate", 11040, 0, "cuCtxCreate_v3", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuCtxCreate", 13000, 0, "cuCtxCreate_v4", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuGraphInstantiate", 10000, 0, "cuGraphInstantiate", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuGraphInstantiate", 11000, 0, "cuGraphInstantiate_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuGraphInstantiate", 12000, 0, "cuGraphInstantiateWithFlags", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuStreamGetCaptureInfo", 10010, 0, "cuStreamGetCaptureInfo", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuStreamGetCaptureInfo", 12000, 0, "cuStreamGetCaptureInfo_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuStreamGetCaptureInfo", 12000, 2, "cuStreamGetCaptureInfo_v2_ptsz", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuStreamGetCaptureInfo", 13000, 1, "cuStreamGetCaptureInfo_v3", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuMemcpyHtoD", 13000, 2, "cuMemcpyHtoD_v2_ptds", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuMemcpyHtoD", 13000, 0, "cuMemcpyHtoD_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuMemcpyHtoD", 6050, 2, "cuMemcpyHtoD_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuMemAlloc", 13000, 2, "cuMemAlloc_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuGetProcAddress", 11030, 0, "cuGetProcAddress", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuTexRefCreate", 13000, 0, "cuTexRefCreate", CU_GET_PROC_ADDRESS_SUCCESS},
      {"cuLaunchKernelEx", 11050, 0, NULL, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT},
      {"cuMemAlloc_v2", 13000, 0, NULL, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
      {"cuNoSuchFunction", 13000, 0, NULL, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    void* function = &failures;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)-1;
    OK(get(all[i].name, &function, all[i].version, all[i].flags, &status));
    void* expected = all[i].exported != NULL ? find(all[i].exported) : NULL;
    if (function == expected && status == all[i].status) continue;
    printf("%s for version %d and flags %d: not %s\n", all[i].name, all[i].version, (int)all[i].flags,
           all[i].exported != NULL ? all[i].exported : "null");
    ++failures;
  }
  void* function = &failures;
  CHECK(get("cuInit", &function, 14000, 0, NULL) == CUDA_ERROR_INVALID_VALUE);
  CHECK(get("cuInit", &function, 13000, 3, NULL) == CUDA_ERROR_INVALID_VALUE);
  CHECK(get(NULL, &function, 13000, 0, NULL) == CUDA_ERROR_INVALID_VALUE);
  OK(get("cuNoSuchFunction", &function, 13000, 0, NULL));
  CHECK(function == NULL);
  PFN_cuGetProcAddress_v11030 first = (PFN_cuGetProcAddress_v11030)find("cuGetProcAddress");
  CHECK(first("cuNoSuchFunction", &function, 13000, 0) == CUDA_ERROR_NOT_FOUND);
}

static void missing(void) {
  CUtexref reference;
  CHECK(call(cuTexRefCreate, v2000, cuTexRefCreate)(&reference) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(call(cuTexRefCreate, v2000, cuTexRefCreate)(&reference) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(((CUresult(*)(unsigned*, unsigned))find("cuMemAlloc"))(NULL, 4) == CUDA_ERROR_NOT_SUPPORTED);
}

/* Prints what becomes of a kernel that reads memory which nobody wrote. */
static void unwritten(void) {
  begin();
  CUfunction function = NULL;
  OK(call(cuModuleGetFunction, v2000, cuModuleGetFunction)(&function, module, "unwritten"));
  void* arguments[] = {&y};
  OK(call(cuLaunchKernel, v4000, cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  printf("the kernel ended with %d\n", (int)call(cuCtxSynchronize, v2000, cuCtxSynchronize)());
}

/* A child may use the driver unless its parent had; it is told what the error means. */
static void in_child(int expected) {
  fflush(stdout);
  if (fork() == 0) {
    alarm(20);
    const char* text = NULL;
    const CUresult answer = call(cuInit, v2000, cuInit)(0);
    CHECK((int)answer == expected);
    OK(call(cuGetErrorName, v6000, cuGetErrorName)(answer, &text));
    int devices = -1;
    CHECK((int)call(cuDeviceGetCount, v2000, cuDeviceGetCount)(&devices) == expected);
    fflush(stdout);
    _exit(failures != 0);
  }
  int status = 1;
  wait(&status);
  CHECK(status == 0);
}
static void forks(void) {
  int version = 0;
  in_child(CUDA_SUCCESS);
  OK(call(cuDriverGetVersion, v2020, cuDriverGetVersion)(&version));
  in_child(CUDA_SUCCESS);
  begin();
  in_child(CUDA_ERROR_NOT_INITIALIZED);
  fill();
}

/* The process ends while a kernel waits for what never comes, a thread waits for the kernel, and
   handlers still call the driver. */
static void* wait_for_all(void* context) {
  (void)call(cuCtxSetCurrent, v4000, cuCtxSetCurrent)((CUcontext)context);
  (void)call(cuCtxSynchronize, v2000, cuCtxSynchronize)();
  return NULL;
}
static void free_late(void) {
  int devices = 0;
  if (call(cuDeviceGetCount, v2000, cuDeviceGetCount)(&devices) == CUDA_SUCCESS) puts("freed late");
}
static void ends(void) {
  static const char endless[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry endless(.param .u64 p) {\n"
      "  .reg .b64 a; .reg .b32 v; .reg .pred q; ld.param.u64 a, [p];\n"
      "again: ld.volatile.global.u32 v, [a]; setp.eq.u32 q, v, 0; @q bra again; ret;\n}\n";
  atexit(&free_late);
  begin();
  CUfunction function = NULL;
  CUcontext context = NULL;
  pthread_t thread;
  OK(call(cuModuleLoadData, v2000, cuModuleLoadData)(&module, endless));
  OK(call(cuModuleGetFunction, v2000, cuModuleGetFunction)(&function, module, "endless"));
  OK(call(cuMemsetD32, v3020, cuMemsetD32_v2)(y, 0, 1));
  void* arguments[] = {&y};
  OK(call(cuLaunchKernel, v4000, cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  OK(call(cuCtxGetCurrent, v4000, cuCtxGetCurrent)(&context));
  pthread_create(&thread, NULL, &wait_for_all, context);
  usleep(100000);
}

/* Calls each of the functions that are named on standard input, with null arguments: none crashes. */
static void every(void) {
  char name[128];
  begin();
  while (scanf("%127s", name) == 1) {
    if (strcmp(name, "nogpu_version") == 0 || strstr(name, "cuLogs") == name) continue;
    void* function = find(name);
    ((CUresult(*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                  void*, void*, void*, void*))function)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"present", &present_calls}, {"legacy", &legacy_calls}, {"versions", &versions},
             {"missing", &missing},       {"unwritten", &unwritten}, {"forks", &forks},
             {"ends", &ends},             {"every", &every}};
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (argc == 2 && strcmp(argv[1], all[i].name) == 0) {
      all[i].run();
      puts(failures == 0 ? "all right" : "not all right");
      return failures != 0;
    }
  printf("which checks?\n");
  return 1;
}
