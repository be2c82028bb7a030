#pragma once
/// \file
/// The errors of the CUDA driver: names of its codes, advice, kinds, and which lose the context.
/// They do not depend on the driver that is found.

#include <gpu/core/error_code.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

/// Values of `CUresult`. They are repeated here because errors need no `cuda.h`, and because
/// the driver may be newer than that header.
enum class driver_code : int {
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  stub_library = 34,
  call_requires_newer_driver = 36,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  ecc_uncorrectable = 214,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  nvlink_uncorrectable = 220,
  jit_compiler_not_found = 221,
  unsupported_ptx_version = 222,
  contained = 226,
  invalid_source = 300,
  file_not_found = 301,
  shared_object_init_failed = 303,
  operating_system = 304,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  launch_incompatible_texturing = 703,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  primary_context_active = 708,
  context_is_destroyed = 709,
  assertion = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  tensor_memory_leak = 721,
  not_permitted = 800,
  not_supported = 801,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compat_not_supported_on_device = 804,
  mps_connection_failed = 805,
  mps_rpc_failure = 806,
  mps_server_not_ready = 807,
  mps_max_clients_reached = 808,
  mps_max_connections_reached = 809,
  mps_client_terminated = 810,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_merge = 902,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  stream_capture_implicit = 906,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
  invalid_cluster_size = 912,
  unknown = 999,
};

inline constexpr char driver_code_names[] =
    "0 CUDA_SUCCESS\0"
    "1 CUDA_ERROR_INVALID_VALUE\0"
    "2 CUDA_ERROR_OUT_OF_MEMORY\0"
    "3 CUDA_ERROR_NOT_INITIALIZED\0"
    "4 CUDA_ERROR_DEINITIALIZED\0"
    "5 CUDA_ERROR_PROFILER_DISABLED\0"
    "6 CUDA_ERROR_PROFILER_NOT_INITIALIZED\0"
    "7 CUDA_ERROR_PROFILER_ALREADY_STARTED\0"
    "8 CUDA_ERROR_PROFILER_ALREADY_STOPPED\0"
    "34 CUDA_ERROR_STUB_LIBRARY\0"
    "36 CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER\0"
    "46 CUDA_ERROR_DEVICE_UNAVAILABLE\0"
    "100 CUDA_ERROR_NO_DEVICE\0"
    "101 CUDA_ERROR_INVALID_DEVICE\0"
    "102 CUDA_ERROR_DEVICE_NOT_LICENSED\0"
    "200 CUDA_ERROR_INVALID_IMAGE\0"
    "201 CUDA_ERROR_INVALID_CONTEXT\0"
    "202 CUDA_ERROR_CONTEXT_ALREADY_CURRENT\0"
    "205 CUDA_ERROR_MAP_FAILED\0"
    "206 CUDA_ERROR_UNMAP_FAILED\0"
    "207 CUDA_ERROR_ARRAY_IS_MAPPED\0"
    "208 CUDA_ERROR_ALREADY_MAPPED\0"
    "209 CUDA_ERROR_NO_BINARY_FOR_GPU\0"
    "210 CUDA_ERROR_ALREADY_ACQUIRED\0"
    "211 CUDA_ERROR_NOT_MAPPED\0"
    "212 CUDA_ERROR_NOT_MAPPED_AS_ARRAY\0"
    "213 CUDA_ERROR_NOT_MAPPED_AS_POINTER\0"
    "214 CUDA_ERROR_ECC_UNCORRECTABLE\0"
    "215 CUDA_ERROR_UNSUPPORTED_LIMIT\0"
    "216 CUDA_ERROR_CONTEXT_ALREADY_IN_USE\0"
    "217 CUDA_ERROR_PEER_ACCESS_UNSUPPORTED\0"
    "218 CUDA_ERROR_INVALID_PTX\0"
    "219 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT\0"
    "220 CUDA_ERROR_NVLINK_UNCORRECTABLE\0"
    "221 CUDA_ERROR_JIT_COMPILER_NOT_FOUND\0"
    "222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION\0"
    "223 CUDA_ERROR_JIT_COMPILATION_DISABLED\0"
    "224 CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY\0"
    "225 CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC\0"
    "226 CUDA_ERROR_CONTAINED\0"
    "300 CUDA_ERROR_INVALID_SOURCE\0"
    "301 CUDA_ERROR_FILE_NOT_FOUND\0"
    "302 CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND\0"
    "303 CUDA_ERROR_SHARED_OBJECT_INIT_FAILED\0"
    "304 CUDA_ERROR_OPERATING_SYSTEM\0"
    "400 CUDA_ERROR_INVALID_HANDLE\0"
    "401 CUDA_ERROR_ILLEGAL_STATE\0"
    "402 CUDA_ERROR_LOSSY_QUERY\0"
    "500 CUDA_ERROR_NOT_FOUND\0"
    "600 CUDA_ERROR_NOT_READY\0"
    "700 CUDA_ERROR_ILLEGAL_ADDRESS\0"
    "701 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\0"
    "702 CUDA_ERROR_LAUNCH_TIMEOUT\0"
    "703 CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING\0"
    "704 CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED\0"
    "705 CUDA_ERROR_PEER_ACCESS_NOT_ENABLED\0"
    "708 CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE\0"
    "709 CUDA_ERROR_CONTEXT_IS_DESTROYED\0"
    "710 CUDA_ERROR_ASSERT\0"
    "711 CUDA_ERROR_TOO_MANY_PEERS\0"
    "712 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED\0"
    "713 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED\0"
    "714 CUDA_ERROR_HARDWARE_STACK_ERROR\0"
    "715 CUDA_ERROR_ILLEGAL_INSTRUCTION\0"
    "716 CUDA_ERROR_MISALIGNED_ADDRESS\0"
    "717 CUDA_ERROR_INVALID_ADDRESS_SPACE\0"
    "718 CUDA_ERROR_INVALID_PC\0"
    "719 CUDA_ERROR_LAUNCH_FAILED\0"
    "720 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE\0"
    "721 CUDA_ERROR_TENSOR_MEMORY_LEAK\0"
    "800 CUDA_ERROR_NOT_PERMITTED\0"
    "801 CUDA_ERROR_NOT_SUPPORTED\0"
    "802 CUDA_ERROR_SYSTEM_NOT_READY\0"
    "803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\0"
    "804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE\0"
    "805 CUDA_ERROR_MPS_CONNECTION_FAILED\0"
    "806 CUDA_ERROR_MPS_RPC_FAILURE\0"
    "807 CUDA_ERROR_MPS_SERVER_NOT_READY\0"
    "808 CUDA_ERROR_MPS_MAX_CLIENTS_REACHED\0"
    "809 CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED\0"
    "810 CUDA_ERROR_MPS_CLIENT_TERMINATED\0"
    "811 CUDA_ERROR_CDP_NOT_SUPPORTED\0"
    "812 CUDA_ERROR_CDP_VERSION_MISMATCH\0"
    "900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED\0"
    "901 CUDA_ERROR_STREAM_CAPTURE_INVALIDATED\0"
    "902 CUDA_ERROR_STREAM_CAPTURE_MERGE\0"
    "903 CUDA_ERROR_STREAM_CAPTURE_UNMATCHED\0"
    "904 CUDA_ERROR_STREAM_CAPTURE_UNJOINED\0"
    "905 CUDA_ERROR_STREAM_CAPTURE_ISOLATION\0"
    "906 CUDA_ERROR_STREAM_CAPTURE_IMPLICIT\0"
    "907 CUDA_ERROR_CAPTURED_EVENT\0"
    "908 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD\0"
    "909 CUDA_ERROR_TIMEOUT\0"
    "910 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE\0"
    "911 CUDA_ERROR_EXTERNAL_DEVICE\0"
    "912 CUDA_ERROR_INVALID_CLUSTER_SIZE\0"
    "913 CUDA_ERROR_FUNCTION_NOT_LOADED\0"
    "914 CUDA_ERROR_INVALID_RESOURCE_TYPE\0"
    "915 CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION\0"
    "916 CUDA_ERROR_KEY_ROTATION\0"
    "999 CUDA_ERROR_UNKNOWN\0";

inline const char* driver_advice(int code) noexcept {
  switch (static_cast<driver_code>(code)) {
    case driver_code::invalid_value:
      return "The driver rejects one of the arguments; check their ranges in the documentation of "
             "the call.";
    case driver_code::out_of_memory:
      return "Free buffers that are no longer needed, trim pools, or process the data in parts.";
    case driver_code::not_initialized:
      return "Call the driver through gpu, which initializes it, or call cuInit(0) first.";
    case driver_code::deinitialized:
      return "The process is exiting; release GPU objects before main returns.";
    case driver_code::stub_library:
      return "The stub libcuda of the toolkit was loaded; put the driver's own library first in "
             "the library path.";
    case driver_code::call_requires_newer_driver: return "Update the NVIDIA driver.";
    case driver_code::device_unavailable:
      return "Another process uses the device in exclusive mode; wait for it to end, or use "
             "another device.";
    case driver_code::no_device:
      return "Check that nvidia-smi lists a device and that CUDA_VISIBLE_DEVICES is not empty.";
    case driver_code::invalid_device: return "Pass a device index below gpu::device::count().";
    case driver_code::invalid_image:
      return "Pass a complete, unmodified cubin or fatbin, or null-terminated PTX.";
    case driver_code::invalid_context:
      return "Make a context current, or use a function that takes a stream or a context.";
    case driver_code::no_binary_for_gpu:
      return "Compile for the architecture of this device, or include PTX in the image.";
    case driver_code::ecc_uncorrectable:
      return "The device found an uncorrectable ECC error; restart the process, and stop using the "
             "device if the error returns.";
    case driver_code::peer_access_unsupported:
      return "The two devices cannot access each other's memory; copy through host memory.";
    case driver_code::invalid_ptx: return "The PTX has an error; the log names the line.";
    case driver_code::jit_compiler_not_found:
      return "Install libnvidia-ptxjitcompiler, a part of the driver.";
    case driver_code::unsupported_ptx_version:
      return "The PTX version is newer than the driver; update the driver, compile with an older "
             "toolkit, or compile to a cubin.";
    case driver_code::contained:
      return "An invalid access to peer memory or a hardware fault was contained to this process, "
             "which can no longer use CUDA; see dmesg, and restart the process.";
    case driver_code::file_not_found: return "The file does not exist; check the path.";
    case driver_code::operating_system:
      return "An operating system call failed; check its limits (locked memory, open files).";
    case driver_code::invalid_handle:
      return "The handle was destroyed or belongs to another context, or the event was never "
             "recorded.";
    case driver_code::illegal_state: return "The object is not in a state that this call accepts.";
    case driver_code::not_found:
      return "There is no object with this name or at this address. Declare kernels extern \"C\", "
             "or use their mangled names.";
    case driver_code::not_ready: return "The work is not finished; query again, or synchronize.";
    case driver_code::illegal_address:
      return "A kernel accessed memory that is not allocated. The context is lost; "
             "compute-sanitizer, and the CPU driver of gpu/testing, report the access.";
    case driver_code::launch_out_of_resources:
      return "Use fewer threads, registers or less shared memory in each block, or pass the "
             "arguments that the kernel expects.";
    case driver_code::launch_timeout:
      return "A kernel exceeded the time limit of the display watchdog. The context is lost; split "
             "the work into shorter kernels.";
    case driver_code::peer_access_already_enabled:
      return "Peer access is already enabled; ignore this error.";
    case driver_code::peer_access_not_enabled:
      return "Enable peer access between the devices first.";
    case driver_code::primary_context_active:
      return "Set the flags before the primary context becomes active.";
    case driver_code::context_is_destroyed: return "The context was destroyed; create a new one.";
    case driver_code::assertion:
      return "An assert in a kernel failed. The context is lost; the message is on stderr.";
    case driver_code::host_memory_already_registered:
      return "The memory is already page-locked; do not register it twice.";
    case driver_code::host_memory_not_registered: return "Register the host memory first.";
    case driver_code::hardware_stack_error:
      return "The call stack of a kernel is corrupt or has overflowed. The context is lost; raise "
             "the stack size limit.";
    case driver_code::illegal_instruction:
      return "A kernel executed an illegal instruction or a trap. The context is lost; compile for "
             "the architecture of this device. A kernel also traps if it synchronizes its grid in "
             "a launch without .cooperative = true.";
    case driver_code::misaligned_address:
      return "A kernel accessed an address that is not a multiple of the access size. The context "
             "is lost; check the alignment of vector types and casts.";
    case driver_code::invalid_address_space:
      return "A kernel used an address outside the memory space of the instruction. The context is "
             "lost.";
    case driver_code::invalid_pc:
      return "A kernel jumped to an address without code. The context is lost; check function "
             "pointers.";
    case driver_code::launch_failed:
      return "A kernel failed or executed a trap. The context is lost; compute-sanitizer, and the "
             "CPU driver of gpu/testing, report the cause. A kernel traps, for example, if it "
             "synchronizes its grid in a launch without .cooperative = true.";
    case driver_code::cooperative_launch_too_large:
      return "All blocks of a cooperative launch must be resident on the device at once; launch "
             "fewer blocks.";
    case driver_code::tensor_memory_leak:
      return "A kernel ended without freeing its tensor memory (tcgen05.dealloc). The context is "
             "lost.";
    case driver_code::not_permitted:
      return "The process is not permitted to do this; check its privileges and those of its "
             "container.";
    case driver_code::not_supported:
      return "The device, the driver or the system does not support this.";
    case driver_code::system_not_ready:
      return "The devices are not ready: on a machine with NVSwitch start nvidia-fabricmanager; "
             "otherwise wait, and see nvidia-smi -q.";
    case driver_code::system_driver_mismatch:
      return "libcuda and the NVIDIA kernel module have different versions; reboot, or reinstall "
             "the driver.";
    case driver_code::compat_not_supported_on_device:
      return "This device does not support a libcuda newer than the kernel module; remove the "
             "forward compatibility package from the library path, or update the driver.";
    case driver_code::mps_connection_failed:
      return "Start the MPS control daemon (nvidia-cuda-mps-control -d), or unset "
             "CUDA_MPS_PIPE_DIRECTORY.";
    case driver_code::stream_capture_unsupported: return "Move this call out of the capture.";
    case driver_code::stream_capture_invalidated:
      return "An earlier error invalidated the capture; end it, and capture again.";
    case driver_code::stream_capture_merge:
    case driver_code::stream_capture_unmatched:
      return "The stream belongs to another capture. End each capture on the stream that began it, "
             "and do not wait for events of another capture.";
    case driver_code::stream_capture_unjoined:
      return "A forked stream was not joined: after its last work, record an event on it, and make "
             "the stream that began the capture wait for that event.";
    case driver_code::stream_capture_isolation:
      return "Captured work depends on work outside of the capture: wait only for events that were "
             "recorded in the capture, or use gpu::wait_external.";
    case driver_code::stream_capture_implicit:
      return "The legacy default stream cannot be captured; use another stream.";
    case driver_code::captured_event:
      return "The event was recorded in a capture; only an event recorded outside of a capture can "
             "be synchronized, queried or timed.";
    case driver_code::stream_capture_wrong_thread:
      return "End the capture on the thread that began it.";
    case driver_code::invalid_cluster_size:
      return "Use a smaller cluster; its dimensions must divide those of the grid, and match those "
             "that the kernel was compiled with, if any.";
    case driver_code::unknown:
      return "The driver gives no reason; see dmesg. If all programs fail, reload the NVIDIA "
             "kernel modules or reboot.";
    default: return nullptr;
  }
}

inline bool is_sticky_driver_code(int code) noexcept {
  switch (static_cast<driver_code>(code)) {
    case driver_code::ecc_uncorrectable:
    case driver_code::nvlink_uncorrectable:
    case driver_code::contained:
    case driver_code::illegal_address:
    case driver_code::launch_timeout:
    case driver_code::context_is_destroyed:
    case driver_code::assertion:
    case driver_code::hardware_stack_error:
    case driver_code::illegal_instruction:
    case driver_code::misaligned_address:
    case driver_code::invalid_address_space:
    case driver_code::invalid_pc:
    case driver_code::launch_failed:
    case driver_code::tensor_memory_leak:
    case driver_code::mps_client_terminated: return true;
    default: return false;
  }
}

inline error_kind driver_kind(int code) noexcept {
  switch (static_cast<driver_code>(code)) {
    case driver_code::out_of_memory: return error_kind::memory;
    case driver_code::launch_out_of_resources:
    case driver_code::launch_incompatible_texturing: return error_kind::launch;
    case driver_code::stub_library:
    case driver_code::call_requires_newer_driver:
    case driver_code::device_unavailable:
    case driver_code::no_device:
    case driver_code::no_binary_for_gpu:
    case driver_code::jit_compiler_not_found:
    case driver_code::unsupported_ptx_version:
    case driver_code::file_not_found:
    case driver_code::shared_object_init_failed:
    case driver_code::operating_system:
    case driver_code::not_ready:
    case driver_code::not_supported:
    case driver_code::system_not_ready:
    case driver_code::system_driver_mismatch:
    case driver_code::compat_not_supported_on_device:
    case driver_code::mps_connection_failed:
    case driver_code::mps_rpc_failure:
    case driver_code::mps_server_not_ready:
    case driver_code::mps_max_clients_reached:
    case driver_code::mps_max_connections_reached:
    case driver_code::unknown:
    case driver_code::ecc_uncorrectable:
    case driver_code::nvlink_uncorrectable: return error_kind::runtime;
    case driver_code::context_is_destroyed: return error_kind::logic;
    case driver_code::invalid_image:
    case driver_code::invalid_ptx:
    case driver_code::invalid_source: return error_kind::compile;
    default: return is_sticky_driver_code(code) ? error_kind::launch : error_kind::logic;
  }
}

inline constexpr error_codes driver_errors{.number = 1,
                                           .name = "cuda",
                                           .names = driver_code_names,
                                           .kind = &driver_kind,
                                           .advice = &driver_advice,
                                           .is_sticky = &is_sticky_driver_code};

}  // namespace detail

inline constexpr error_domain error_domain::driver{detail::driver_errors};

}}  // namespace gpu::v1
