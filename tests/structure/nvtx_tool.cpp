// A tool for NVTX, as profilers have one: a library that NVTX_INJECTION64_PATH names. It prints
// what it hears. It is compiled with NVIDIA's headers, whose types the library does not use.

#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>

namespace {

void print(const char* what, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  std::printf("%s%s%s", what, domain != nullptr ? " in " : "",
              domain != nullptr ? reinterpret_cast<const char*>(domain) : "");
  if (event != nullptr && event->size == sizeof *event && event->version == NVTX_VERSION) {
    if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) std::printf(": %s", event->message.ascii);
    if (event->colorType == NVTX_COLOR_ARGB) std::printf(", color %08x", event->color);
    if (event->category != 0) std::printf(", category %u", event->category);
    if (event->payloadType == NVTX_PAYLOAD_TYPE_INT64)
      std::printf(", number %lld", static_cast<long long>(event->payload.llValue));
    if (event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE)
      std::printf(", number %g", event->payload.dValue);
  }
  std::printf("\n");
}

template <class Function> void set(NvtxFunctionTable table, unsigned number, Function function) {
  *table[number] = reinterpret_cast<NvtxFunctionPointer>(+function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* version =
      static_cast<const NvtxExportTableVersionInfo*>(get_table(NVTX_ETID_VERSIONINFO));
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (version == nullptr || version->version != NVTX_VERSION || callbacks == nullptr ||
      callbacks->struct_size != sizeof *callbacks) {
    return 0;
  }
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
      size != NVTX_CBID_CORE2_SIZE) {
    return 0;
  }
  set(table, NVTX_CBID_CORE2_DomainMarkEx,
      [](nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
        print("mark", domain, event);
      });
  set(table, NVTX_CBID_CORE2_DomainRangePushEx,
      [](nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
        print("push", domain, event);
        return 0;
      });
  set(table, NVTX_CBID_CORE2_DomainRangePop, [](nvtxDomainHandle_t domain) {
    print("pop", domain, nullptr);
    return 0;
  });
  set(table, NVTX_CBID_CORE2_DomainRangeStartEx,
      [](nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) -> nvtxRangeId_t {
        print("start", domain, event);
        return 5;
      });
  set(table, NVTX_CBID_CORE2_DomainRangeEnd, [](nvtxDomainHandle_t domain, nvtxRangeId_t id) {
    print(id == 5 ? "end" : "end of another", domain, nullptr);
  });
  set(table, NVTX_CBID_CORE2_DomainCreateA, [](const char* name) {
    return reinterpret_cast<nvtxDomainHandle_t>(const_cast<char*>(name));
  });
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 ||
      size != NVTX_CBID_CORE_SIZE) {
    return 0;
  }
  set(table, NVTX_CBID_CORE_NameOsThreadA,
      [](uint32_t, const char* name) { std::printf("thread: %s\n", name); });
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &table, &size) == 0 ||
      size != NVTX_CBID_CUDA_SIZE) {
    return 0;
  }
  set(table, NVTX_CBID_CUDA_NameCuStreamA,
      [](void* stream, const char* name) { std::printf("stream %p: %s\n", stream, name); });
  return 1;
}
