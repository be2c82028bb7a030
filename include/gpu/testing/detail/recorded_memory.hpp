#pragma once
/// \file
/// Collects the host memory that a driver call reads through its arguments, for recordings.

#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/detail/trace_format.hpp>
#include <nogpu/ptx/image_kind.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace testing::detail {

/// An argument that points to as many elements as another argument says.
struct counted_argument {
  std::string_view call;
  std::size_t pointer, count;
};
inline constexpr counted_argument counted_arguments[] = {
    {"cuMemcpyHtoD", 1, 2},
    {"cuMemcpyHtoDAsync", 1, 2},
    {"cuMemcpyHtoA", 2, 3},
    {"cuMemcpyHtoAAsync", 2, 3},
    {"cuMemcpyBatchAsync", 0, 3},
    {"cuMemcpyBatchAsync", 1, 3},
    {"cuMemcpyBatchAsync", 2, 3},
    {"cuMemcpyBatchAsync", 4, 6},
    {"cuMemcpyBatchAsync", 5, 6},
    {"cuMemcpy3DBatchAsync", 1, 0},
    {"cuMemPrefetchBatchAsync", 0, 2},
    {"cuMemPrefetchBatchAsync", 1, 2},
    {"cuMemPrefetchBatchAsync", 3, 5},
    {"cuMemPrefetchBatchAsync", 4, 5},
    {"cuMemDiscardBatchAsync", 0, 2},
    {"cuMemDiscardBatchAsync", 1, 2},
    {"cuMemDiscardAndPrefetchBatchAsync", 0, 2},
    {"cuMemDiscardAndPrefetchBatchAsync", 1, 2},
    {"cuMemDiscardAndPrefetchBatchAsync", 3, 5},
    {"cuMemDiscardAndPrefetchBatchAsync", 4, 5},
    {"cuMemMapArrayAsync", 0, 1},
    {"cuMemPoolSetAccess", 1, 2},
    {"cuMemSetAccess", 2, 3},
    {"cuStreamBatchMemOp", 2, 1},
    {"cuSignalExternalSemaphoresAsync", 0, 2},
    {"cuSignalExternalSemaphoresAsync", 1, 2},
    {"cuWaitExternalSemaphoresAsync", 0, 2},
    {"cuWaitExternalSemaphoresAsync", 1, 2},
    {"cuGraphicsMapResources", 1, 0},
    {"cuGraphicsUnmapResources", 1, 0},
    {"cuStreamBeginCaptureToGraph", 2, 4},
    {"cuStreamBeginCaptureToGraph", 3, 4},
    {"cuStreamUpdateCaptureDependencies", 1, 3},
    {"cuStreamUpdateCaptureDependencies", 2, 3},
    {"cuGraphAddNode", 2, 4},
    {"cuGraphAddNode", 3, 4},
    {"cuGraphAddDependencies", 1, 4},
    {"cuGraphAddDependencies", 2, 4},
    {"cuGraphAddDependencies", 3, 4},
    {"cuGraphRemoveDependencies", 1, 4},
    {"cuGraphRemoveDependencies", 2, 4},
    {"cuGraphRemoveDependencies", 3, 4},
    {"cuModuleLoadDataEx", 3, 2},
    {"cuModuleLoadDataEx", 4, 2},
    {"cuLibraryLoadData", 2, 4},
    {"cuLibraryLoadData", 3, 4},
    {"cuLibraryLoadData", 5, 7},
    {"cuLibraryLoadData", 6, 7},
    {"cuLibraryLoadFromFile", 1, 3},
    {"cuLibraryLoadFromFile", 2, 3},
    {"cuLibraryLoadFromFile", 4, 6},
    {"cuLibraryLoadFromFile", 5, 6},
    {"cuLinkCreate", 1, 0},
    {"cuLinkCreate", 2, 0},
    {"cuLinkAddData", 2, 3},
    {"cuLinkAddData", 6, 5},
    {"cuLinkAddData", 7, 5},
    {"cuLinkAddFile", 4, 3},
    {"cuLinkAddFile", 5, 3},
};

/// The indices of a launch's kernel, list of parameters and list of extras; 99 = there is none.
struct launch_arguments {
  std::string_view call;
  std::size_t kernel, parameters, extra;
};
inline constexpr launch_arguments launches[] = {{"cuLaunchKernel", 0, 9, 10},
                                                {"cuLaunchCooperativeKernel", 0, 9, 99},
                                                {"cuLaunchKernelEx", 1, 2, 3}};

/// True for structures that the driver reads although the parameter is not const.
template <class T>
inline constexpr bool is_read_all_the_same =
    std::is_same_v<T, CUgraphNodeParams> || std::is_same_v<T, CUDA_GRAPH_INSTANTIATE_PARAMS> ||
    std::is_same_v<T, CUctxCreateParams> || std::is_same_v<T, CUmemPoolPtrExportData> ||
    std::is_same_v<T, CUmemLocation>;

/// Collects ranges of host memory as JSON: ["0x7ffe01", "Zm9v"], ...
class recorded_memory {
 public:
  explicit recorded_memory(const driver::entry_points& inner) : inner_{inner} {}

  /// Adds everything that the call `name` reads through its arguments.
  template <class... Arguments> void add_call(std::string_view name, Arguments... arguments) {
    if constexpr (sizeof...(Arguments) != 0) {
      const argument all[] = {describe(arguments)...};
      add_arguments(name, all);
    }
  }

  const std::string& json() const noexcept { return json_; }

 private:
  /// An argument without its type: code that depends on types would be compiled for every function
  /// of the driver.
  struct argument {
    const void* pointer = nullptr;
    std::size_t element = 0;  // size in bytes of the pointer's target
    std::uint64_t number = 0;
    bool read = false;  // one element, if no other argument is a count
    void (recorded_memory::*follow)(const void* element) = nullptr;
  };

  template <class T> static argument describe(T value) {
    argument made;
    if constexpr (std::is_pointer_v<T>) {
      using target = std::remove_cv_t<std::remove_pointer_t<T>>;
      if constexpr (!std::is_function_v<target>) made.pointer = value;
      if constexpr (std::is_void_v<target>) {
        made.element = 1;
      } else if constexpr (std::is_object_v<target> && requires { sizeof(target); }) {
        made.element = sizeof(target);
        made.read = (std::is_const_v<std::remove_pointer_t<T>> && !std::is_same_v<target, char>) ||
                    is_read_all_the_same<target>;
        if constexpr (requires(recorded_memory& m, const target& t) { m.follow(t); })
          made.follow = &recorded_memory::follow_element<target>;
      }
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      made.number = static_cast<std::uint64_t>(value);
    }
    return made;
  }
  template <class T> void follow_element(const void* element) {
    follow(*static_cast<const T*>(element));
  }

  void add_arguments(std::string_view name, std::span<const argument> all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::uint64_t count = all[i].read ? 1 : 0;
      for (const counted_argument& each : counted_arguments)
        if (each.call == name && each.pointer == i) count = all[each.count].number;
      add_elements(all[i], count);
    }
    for (const launch_arguments& each : launches) {
      if (each.call != name) continue;
      CUstream stream = nullptr;
      if (each.kernel == 0) {
        stream = static_cast<CUstream>(const_cast<void*>(all[8].pointer));
      } else if (all[0].pointer != nullptr) {
        stream = static_cast<const CUlaunchConfig*>(all[0].pointer)->hStream;
      }
      add_parameters(static_cast<CUfunction>(const_cast<void*>(all[each.kernel].pointer)),
                     static_cast<void* const*>(all[each.parameters].pointer), context_of(stream));
      if (each.extra < all.size()) add_extra(static_cast<void* const*>(all[each.extra].pointer));
    }
    if (name == "cuModuleLoadData" || name == "cuModuleLoadDataEx" ||
        name == "cuModuleLoadFatBinary" || name == "cuLibraryLoadData")
      add_image(all[1].pointer);
    if (name == "cuMemcpy" || name == "cuMemcpyAsync") add_if_host(all[1].number, all[2].number);
    if (name == "cuMemcpyBatchAsync") {
      const auto* from = static_cast<const CUdeviceptr*>(all[1].pointer);
      const auto* sizes = static_cast<const std::size_t*>(all[2].pointer);
      for (std::uint64_t i = 0; from != nullptr && sizes != nullptr && i < all[3].number; ++i)
        add_if_host(from[i], sizes[i]);
    }
    if (name == "cuPointerSetAttribute") add(all[0].pointer, sizeof(unsigned));
    // The flags of a pool are ints; its other attributes have 64 bits.
    if (name == "cuMemPoolSetAttribute")
      add(all[2].pointer,
          all[1].number <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? 4 : 8);
  }

  void add(const void* bytes, std::uint64_t size) {
    if (bytes == nullptr || size == 0) return;
    json_ += json_.empty() ? "[" : ", [";
    json_ += written(bytes) + ", \"" + base64(bytes, size) + "\"]";
  }
  void add_elements(const argument& from, std::uint64_t count) {
    add(from.pointer, count * from.element);
    if (from.pointer == nullptr || from.follow == nullptr) return;
    for (std::uint64_t i = 0; i < count; ++i)
      (this->*from.follow)(static_cast<const char*>(from.pointer) + i * from.element);
  }

  /// The parameters of a kernel from a library can be queried only if a context is current.
  void add_parameters(CUfunction function, void* const* parameters, CUcontext context) {
    if (parameters == nullptr) return;
    const bool current = context != nullptr && inner_.ctx_push_current != nullptr &&
                         inner_.ctx_push_current(context) == CUDA_SUCCESS;
    std::size_t count = 0, offset = 0, size = 0;
    for (; parameter(function, count, offset, size); ++count) add(parameters[count], size);
    add(parameters, count * sizeof(void*));
    if (current) (void)inner_.ctx_pop_current(&context);
  }
  CUcontext context_of(CUstream stream) const {
    CUcontext context = nullptr;
    if (stream != nullptr && inner_.stream_get_ctx != nullptr)
      (void)inner_.stream_get_ctx(stream, &context);
    return context;
  }
  void add_extra(void* const* extra) {
    if (extra == nullptr) return;
    const void* buffer = nullptr;
    const std::size_t* size = nullptr;
    std::size_t i = 0;
    for (; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[i + 1];
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        size = static_cast<const std::size_t*>(extra[i + 1]);
    }
    add(extra, (i + 1) * sizeof(void*));
    if (size == nullptr) return;
    add(size, sizeof *size);
    add(buffer, *size);
  }
  /// Queries a parameter. A launch accepts a CUkernel as a CUfunction, but this query does not.
  bool parameter(CUfunction function, std::size_t index, std::size_t& offset, std::size_t& size) {
    if (inner_.func_get_param_info != nullptr &&
        inner_.func_get_param_info(function, index, &offset, &size) == CUDA_SUCCESS)
      return true;
    return inner_.kernel_get_param_info != nullptr &&
           inner_.kernel_get_param_info(reinterpret_cast<CUkernel>(function), index, &offset,
                                        &size) == CUDA_SUCCESS;
  }

  void add_image(const void* image) {
    if (image == nullptr) return;
    add(image, nogpu::ptx::image_size(image));
    if (nogpu::ptx::identify(image) == nogpu::ptx::image_kind::wrapper) {
      const auto* container =
          nogpu::ptx::detail::read_at<const void*>(static_cast<const std::byte*>(image), 8);
      if (container != nullptr) add(container, nogpu::ptx::image_size(container));
    }
  }

  /// Adds memory at a unified address if it is host memory.
  void add_if_host(CUdeviceptr from, std::size_t size) {
    unsigned type = 0;
    const bool known =
        inner_.pointer_get_attribute != nullptr &&
        inner_.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, from) == CUDA_SUCCESS;
    if (!known || type == CU_MEMORYTYPE_HOST)
      add(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from)), size);
  }

  // These add the memory that a structure points to.
  void follow(const CUlaunchConfig& config) {
    add(config.attrs, config.numAttrs * sizeof *config.attrs);
  }
  void follow(const CUDA_MEMCPY2D& copy) { follow_region(copy, 1, 0, 0); }
  void follow(const CUDA_MEMCPY3D& copy) {
    follow_region(copy, copy.Depth, copy.srcZ, copy.srcHeight);
  }
  void follow(const CUDA_MEMCPY3D_PEER& copy) {
    follow_region(copy, copy.Depth, copy.srcZ, copy.srcHeight);
  }
  template <class Region>
  void follow_region(const Region& copy, std::size_t depth, std::size_t z, std::size_t plane_rows) {
    if (copy.WidthInBytes == 0 || copy.Height == 0 || depth == 0) return;
    const std::size_t pitch =
        copy.srcPitch != 0 ? copy.srcPitch : copy.srcXInBytes + copy.WidthInBytes;
    const std::size_t rows = (z + depth - 1) * plane_rows + copy.srcY + copy.Height - 1;
    const std::size_t size = rows * pitch + copy.srcXInBytes + copy.WidthInBytes;
    if (copy.srcMemoryType == CU_MEMORYTYPE_HOST) add(copy.srcHost, size);
    if (copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED) add_if_host(copy.srcDevice, size);
  }
  void follow(const CUDA_MEMCPY3D_BATCH_OP& copy) {
    // The operation does not have the size of an array's texels.
    if (copy.src.type != CU_MEMCPY_OPERAND_TYPE_POINTER ||
        copy.dst.type != CU_MEMCPY_OPERAND_TYPE_POINTER)
      return;
    const auto& from = copy.src.op.ptr;
    const std::size_t row = from.rowLength != 0 ? from.rowLength : copy.extent.width;
    const std::size_t rows = from.layerHeight != 0 ? from.layerHeight : copy.extent.height;
    add_if_host(from.ptr, ((copy.extent.depth - 1) * rows + copy.extent.height - 1) * row +
                              copy.extent.width);
  }
  template <class Semaphores> void follow_semaphores(const Semaphores& all) {
    add(all.extSemArray, all.numExtSems * sizeof *all.extSemArray);
    add(all.paramsArray, all.numExtSems * sizeof *all.paramsArray);
  }
  void follow(const CUgraphNodeParams& node) {
    if (node.type == CU_GRAPH_NODE_TYPE_MEMCPY) follow(node.memcpy.copyParams);
    if (node.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
      add(node.memOp.paramArray, node.memOp.count * sizeof *node.memOp.paramArray);
    if (node.type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL) follow_semaphores(node.extSemSignal);
    if (node.type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT) follow_semaphores(node.extSemWait);
    if (node.type != CU_GRAPH_NODE_TYPE_KERNEL) return;
    add_parameters(node.kernel.func != nullptr ? node.kernel.func
                                               : reinterpret_cast<CUfunction>(node.kernel.kern),
                   node.kernel.kernelParams, node.kernel.ctx);
    add_extra(node.kernel.extra);
  }

  const driver::entry_points& inner_;
  std::string json_;
};

}}}  // namespace gpu::v1::testing::detail
