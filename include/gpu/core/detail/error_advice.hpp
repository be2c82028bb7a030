#pragma once
/// \file
/// What to do about an error of the driver, NVRTC or nvJitLink: one sentence a code. The refusals
/// of `gpu` itself need no table, because they are written with their values where they are found.

#include <gpu/core/error_code.hpp>

namespace gpu::inline v0::detail {

template <class Code> const char* driver_advice(Code code) noexcept {
  switch (code) {
    case 1:
      return "One of the values passed is outside what the driver accepts here.";
    case 2:
      return "Free buffers that are no longer needed, trim pools, or process the data in parts.";
    case 3:
      return "Call the driver through gpu, which initialises it, or call cuInit(0) first.";
    case 4:
      return "The process is ending; release GPU objects before main returns.";
    case 34:
      return "A stub libcuda was loaded; put the driver's own library first on the path.";
    case 36:
      return "Update the NVIDIA driver.";
    case 46:
      return "Another process holds the device exclusively; wait for it or choose another.";
    case 100:
      return "Check that nvidia-smi lists a device and that CUDA_VISIBLE_DEVICES is not empty.";
    case 101:
      return "Choose an index below gpu::device::count().";
    case 200:
      return "Pass a cubin, a fatbin or zero-terminated PTX, whole and unmodified.";
    case 201:
      return "Make a context current, or use the calls that take a stream or a context.";
    case 209:
      return "Compile for this device's architecture, or keep PTX in the image.";
    case 214:
      return "The device's memory is damaged beyond correction; stop using the device.";
    case 217:
      return "The two devices cannot reach each other's memory; copy through the host.";
    case 218:
      return "The PTX is malformed; the log names the line.";
    case 221:
      return "Install libnvidia-ptxjitcompiler, which is part of the driver.";
    case 222:
      return "The PTX is newer than the driver; update the driver, or compile with an older "
             "toolkit or straight to a cubin.";
    case 226:
      return "An invalid access to a peer's memory, or a fault of the hardware, was contained to "
             "this process, which cannot use CUDA any more; see dmesg and start it anew.";
    case 301:
      return "Check the path.";
    case 304:
      return "The operating system refused; check its limits (locked memory, file handles).";
    case 400:
      return "The handle was destroyed already or belongs to another context, or the event was "
             "never recorded: record it first.";
    case 401:
      return "The object is not in the state that this call needs.";
    case 500:
      return "There is nothing of that name, or at that address. Kernels need extern \"C\", or to "
             "be asked for by their mangled name.";
    case 600:
      return "The work has not finished; query again or synchronize.";
    case 700:
      return "A kernel accessed memory that is not allocated. The context is lost; run under "
             "compute-sanitizer, or on the CPU driver, to see the access.";
    case 701:
      return "Use fewer threads, registers or shared memory in a block, or pass the arguments "
             "that the kernel expects.";
    case 702:
      return "A kernel ran longer than the watchdog allows. The context is lost; split the work.";
    case 704:
      return "Peer access is on already; nothing needs to be done.";
    case 705:
      return "Enable peer access first.";
    case 708:
      return "Set the flags before the primary context is in use.";
    case 709:
      return "The context was destroyed; make a new one.";
    case 710:
      return "A device-side assert failed. The context is lost; its message is on stderr.";
    case 712:
      return "The memory is page-locked already.";
    case 713:
      return "Register the memory first.";
    case 714:
      return "The device's call stack is damaged or overflowed. The context is lost; raise the "
             "stack size limit.";
    case 715:
      return "A kernel executed an illegal instruction or a trap. The context is lost.";
    case 716:
      return "A kernel accessed memory at an address that is not a multiple of the access size. "
             "The context is lost.";
    case 717:
      return "A kernel used an address in the wrong memory space. The context is lost.";
    case 718:
      return "A kernel jumped to an address that holds no code. The context is lost.";
    case 719:
      return "A kernel failed. The context is lost; run under compute-sanitizer, or on the CPU "
             "driver, to see why.";
    case 720:
      return "A cooperative grid has to fit on the device all at once; launch fewer blocks.";
    case 721:
      return "A kernel ended without giving its tensor memory back (tcgen05.dealloc). The context "
             "is lost.";
    case 800:
      return "The operation is not permitted here.";
    case 801:
      return "The device or the system does not support this.";
    case 802:
      return "The devices of this machine are still being set up: start nvidia-fabricmanager where "
             "they have NVSwitch, or wait, and see nvidia-smi -q.";
    case 803:
      return "The loaded libcuda and the kernel module are of different versions; reboot or "
             "reinstall the driver.";
    case 804:
      return "This device cannot use a libcuda newer than its kernel module; take the forward "
             "compatibility package off the library path, or update the driver.";
    case 805:
      return "Start the MPS control daemon (nvidia-cuda-mps-control -d), or unset "
             "CUDA_MPS_PIPE_DIRECTORY.";
    case 900:
      return "Move this call out of the capture.";
    case 901:
      return "An earlier error spoiled the capture; end it and capture again.";
    case 902:
    case 903:
      return "Another capture has this stream: end each on the stream where it was begun, and wait "
             "for no event of another.";
    case 904:
      return "Join the streams that were forked off: record an event on each when its work is "
             "queued, and have the stream where the capture began wait for it.";
    case 905:
      return "Captured work depends on work outside of the capture: wait only for events that were "
             "recorded inside, or use gpu::wait_external.";
    case 906:
      return "The legacy default stream cannot take part in a capture; use an explicit stream.";
    case 907:
      return "The event was recorded in a capture, and is no event of a stream's: synchronise "
             "with, ask or time one that was recorded outside.";
    case 908:
      return "End the capture in the thread that began it.";
    case 912:
      return "Use smaller clusters, whose extents divide the grid's and are those that the kernel "
             "states, if it does.";
    case 999:
      return "The driver does not say why; look into dmesg, and reload its kernel modules or "
             "reboot where no program can use it.";
    default:
      return nullptr;
  }
}

template <class Code> const char* nvrtc_advice(Code code) noexcept {
  switch (code) {
    case 1:
      return "The host ran out of memory while compiling.";
    case 5:
      return "NVRTC does not know one of the options; the log names it.";
    case 6:
      return "The log above says where the source is wrong.";
    case 7:
      return "libnvrtc-builtins was not found beside libnvrtc; install both.";
    case 10:
      return "The name expression does not name a function or variable of the program.";
    case 11:
      return "NVRTC failed internally; try a newer version.";
    default:
      return nullptr;
  }
}

template <class Code> const char* nvjitlink_advice(Code code) noexcept {
  switch (code) {
    case 1:
      return "nvJitLink does not know one of the options; the log names it.";
    case 3:
    case 8:
    case 12:
      return "Pass a cubin, a fatbin, PTX, LTO-IR or a host object, whole and unmodified.";
    case 6:
      return "nvJitLink failed internally; try a newer version.";
    case 13:
      return "Compile the inputs for the architecture that is linked for, or an older one.";
    case 18:
      return "Set link_time_optimization in the link_options.";
    case 14:
      return "The LTO-IR is of a newer toolkit; use an nvJitLink at least as new as NVRTC.";
    case 16:
    case 17:
      return "This nvJitLink does not know the architecture; install one of a newer toolkit.";
    default:
      return nullptr;
  }
}

/// A sentence that says what to do, or null where the code's name says all there is.
template <class Code> const char* error_advice(error_domain domain, Code code) noexcept {
  switch (domain) {
    case error_domain::driver:
      return driver_advice(code);
    case error_domain::nvrtc:
      return nvrtc_advice(code);
    case error_domain::nvjitlink:
      return nvjitlink_advice(code);
    case error_domain::gpu:
    case error_domain::curand:
      break;
  }
  return nullptr;
}

}  // namespace gpu::inline v0::detail
