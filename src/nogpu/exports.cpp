// The exported functions, and cuGetProcAddress, which finds them by name and version.

#include "driver.hpp"
#include "legacy_contexts.hpp"
#include "legacy_graphs.hpp"
#include "legacy_launches.hpp"
#include "legacy_memory.hpp"
#include "signatures.hpp"
#include "ways.hpp"

#include <gpu/core/version.hpp>

#include <cstdlib>
#include <cstring>

#include <cuda.h>

#define NOGPU_EXPORT extern "C" __attribute__((visibility("default")))

/// By this symbol, `gpu` and others know that this library is not NVIDIA's.
NOGPU_EXPORT const int nogpu_version;
const int nogpu_version = gpu::library_version.major * 1'000'000 +
                          gpu::library_version.minor * 1'000 + gpu::library_version.patch;

namespace nogpu::libcuda {

CUresult get_proc_address(const char* name, void** found, int version, cuuint64_t flags) noexcept;
CUresult get_proc_address_v2(const char* name, void** found, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) noexcept;

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
#define NOGPU_FUNCTION(exported, name, version, arity, ...) \
  {#name, #version, reinterpret_cast<void*>(&nogpu_##exported)},
#define NOGPU_MISSING(exported, name, version) \
  {#name, #version, reinterpret_cast<void*>(&nogpu_##exported)},
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

CUresult get_proc_address_v2(const char* name, void** found, int version, cuuint64_t flags,
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
CUresult get_proc_address(const char* name, void** found, int version, cuuint64_t flags) noexcept {
  const CUresult answer = get_proc_address_v2(name, found, version, flags, nullptr);
  if (answer != CUDA_SUCCESS) return answer;
  return *found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // namespace nogpu::libcuda
