#pragma once
/// \file
/// Advice on errors of the driver, NVRTC, nvJitLink, cuBLAS and NCCL: one text for each code.
/// Errors of `gpu` itself are not listed: their text is composed with its values where they occur.

#include <gpu/core/detail/known_codes.hpp>
#include <gpu/core/error_code.hpp>

namespace gpu { inline namespace v1 { namespace detail {

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

inline const char* nvrtc_advice(int code) noexcept {
  switch (static_cast<nvrtc_code>(code)) {
    case nvrtc_code::out_of_memory: return "The host ran out of memory while compiling.";
    case nvrtc_code::invalid_option:
      return "NVRTC does not support one of the options; the log names it.";
    case nvrtc_code::compilation: return "See the log above.";
    case nvrtc_code::builtin_operation_failure:
      return "libnvrtc-builtins was not found in the folder of libnvrtc; install both.";
    case nvrtc_code::name_expression_not_valid:
      return "The name expression does not name a function or variable of the program.";
    case nvrtc_code::internal_error: return "NVRTC had an internal error; try a newer version.";
    default: return nullptr;
  }
}

inline const char* nvjitlink_advice(int code) noexcept {
  switch (static_cast<nvjitlink_code>(code)) {
    case nvjitlink_code::unrecognized_option:
      return "nvJitLink does not support one of the options; the log names it.";
    case nvjitlink_code::invalid_input:
    case nvjitlink_code::unrecognized_input:
    case nvjitlink_code::incorrect_input_type:
      return "Pass a complete, unmodified cubin, fatbin, PTX, LTO-IR or host object.";
    case nvjitlink_code::internal: return "nvJitLink had an internal error; try a newer version.";
    case nvjitlink_code::arch_mismatch:
      return "Compile the inputs for the architecture of the link, or for an older one.";
    case nvjitlink_code::lto_not_enabled: return "Set link_time_optimization in the link_options.";
    case nvjitlink_code::outdated_library:
      return "The LTO-IR comes from a newer toolkit; use an nvJitLink that is at least as new as "
             "NVRTC.";
    case nvjitlink_code::unrecognized_arch:
    case nvjitlink_code::unsupported_arch:
      return "This nvJitLink does not support the architecture; install a newer toolkit.";
    default: return nullptr;
  }
}

// Errors that cuBLAS, cuSOLVER and cuSPARSE share. The error names the function, and so the
// library.
inline constexpr char library_not_initialized[] =
    "Create the handle while the driver and a context work, and outside of captures.";
inline constexpr char library_alloc_failed[] = "Free device buffers that are no longer needed.";
inline constexpr char library_invalid_value[] = "Check extents, strides and alignment.";
inline constexpr char library_arch_mismatch[] =
    "Install a version of the library that is as new as the device.";
inline constexpr char library_execution_failed[] = "An earlier kernel may have lost the context.";

inline const char* cublas_advice(int code) noexcept {
  switch (static_cast<cublas_code>(code)) {
    case cublas_code::not_initialized: return library_not_initialized;
    case cublas_code::alloc_failed: return library_alloc_failed;
    case cublas_code::invalid_value: return library_invalid_value;
    case cublas_code::arch_mismatch: return library_arch_mismatch;
    case cublas_code::execution_failed: return library_execution_failed;
    case cublas_code::not_supported:
      return "This cuBLAS does not have the operation for these types and layouts; gpu::matmul "
             "does.";
    default: return nullptr;
  }
}

inline const char* cufft_advice(int code) noexcept {
  switch (static_cast<cufft_code>(code)) {
    case cufft_code::alloc_failed:
      return "cuFFT had no memory for its workspace; free buffers that are no longer needed, or "
             "transform fewer signals at a time.";
    case cufft_code::invalid_size: return "cuFFT does not transform signals of this length.";
    default: return nullptr;
  }
}

inline const char* cusolver_advice(int code) noexcept {
  switch (static_cast<cusolver_code>(code)) {
    case cusolver_code::not_initialized: return library_not_initialized;
    case cusolver_code::alloc_failed: return library_alloc_failed;
    case cusolver_code::invalid_value: return library_invalid_value;
    case cusolver_code::arch_mismatch: return library_arch_mismatch;
    case cusolver_code::execution_failed: return library_execution_failed;
    default: return nullptr;
  }
}

inline const char* cusparse_advice(int code) noexcept {
  switch (static_cast<cusparse_code>(code)) {
    case cusparse_code::not_initialized: return library_not_initialized;
    case cusparse_code::alloc_failed: return library_alloc_failed;
    case cusparse_code::invalid_value: return library_invalid_value;
    case cusparse_code::arch_mismatch: return library_arch_mismatch;
    case cusparse_code::execution_failed: return library_execution_failed;
    case cusparse_code::not_supported:
      return "cuSPARSE does not have this operation for these types and layouts.";
    case cusparse_code::insufficient_resources:
      return "The device has too little memory or shared memory.";
    default: return nullptr;
  }
}

inline const char* nccl_advice(int code) noexcept {
  switch (static_cast<nccl_code>(code)) {
    case nccl_code::unhandled_cuda_error:
      return "A CUDA call in NCCL failed; set NCCL_DEBUG=WARN to see which.";
    case nccl_code::system_error:
      return "A system call in NCCL failed; set NCCL_DEBUG=WARN to see which, and check the "
             "network and the size of /dev/shm.";
    case nccl_code::invalid_argument: return "NCCL rejects one of the arguments.";
    case nccl_code::invalid_usage:
      return "The calls of the ranks do not fit together, such as two ranks on one device; set "
             "NCCL_DEBUG=WARN to see the reason.";
    case nccl_code::remote_error:
      return "Another rank has failed or ended; abort the communicator, and create one of the "
             "ranks that are left.";
    case nccl_code::in_progress:
      return "The communicator has not finished its last call; ask check() again.";
    default: return nullptr;
  }
}

/// Returns what to do about an error, or null without advice for its code.
inline const char* error_advice(error_domain domain, int code) noexcept {
  switch (domain) {
    case error_domain::driver: return driver_advice(code);
    case error_domain::nvrtc: return nvrtc_advice(code);
    case error_domain::nvjitlink: return nvjitlink_advice(code);
    case error_domain::cublas: return cublas_advice(code);
    case error_domain::nccl: return nccl_advice(code);
    case error_domain::cufft: return cufft_advice(code);
    case error_domain::cusolver: return cusolver_advice(code);
    case error_domain::cusparse: return cusparse_advice(code);
    case error_domain::gpu:
    case error_domain::curand: break;
  }
  return nullptr;
}

}}}  // namespace gpu::v1::detail
