// Faults of running kernels, and their descriptions.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <nogpu/machine/memory_layout.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// The kinds of faults. Each comment names the CUDA error that a driver reports, or what hardware
/// does.
enum class fault_kind : std::uint8_t {
  none,
  out_of_bounds,         // CUDA_ERROR_ILLEGAL_ADDRESS
  use_after_free,        // CUDA_ERROR_ILLEGAL_ADDRESS
  null_access,           // CUDA_ERROR_ILLEGAL_ADDRESS
  foreign_context,       // CUDA_ERROR_ILLEGAL_ADDRESS
  read_only,             // CUDA_ERROR_ILLEGAL_ADDRESS: a store to constant memory
  misaligned,            // CUDA_ERROR_MISALIGNED_ADDRESS
  wrong_space,           // CUDA_ERROR_INVALID_ADDRESS_SPACE: say, an atomic on local memory
  shared_out_of_bounds,  // CUDA_ERROR_ILLEGAL_ADDRESS
  local_out_of_bounds,   // CUDA_ERROR_ILLEGAL_ADDRESS
  param_out_of_bounds,   // CUDA_ERROR_ILLEGAL_ADDRESS
  stack_overflow,  // CUDA_ERROR_ILLEGAL_ADDRESS (hardware stack: CUDA_ERROR_HARDWARE_STACK_ERROR)
  invalid_call_target,  // CUDA_ERROR_INVALID_PC: an indirect call to an address that is not a
                        // function's
  illegal_instruction,  // CUDA_ERROR_ILLEGAL_INSTRUCTION: a member mask without the caller, ...
  trap,                 // CUDA_ERROR_LAUNCH_FAILED (trap instruction: CUDA_ERROR_LAUNCH_FAILED)
  assertion,            // CUDA_ERROR_ASSERT
  instruction_budget,   // CUDA_ERROR_LAUNCH_TIMEOUT: most likely an infinite loop
  barrier_divergence,   // CUDA_ERROR_LAUNCH_TIMEOUT: hardware hangs, unless the others exited
  shared_race,          // hardware continues with an undefined value
  uninitialized_read,   // hardware continues with the previous contents of the memory
  mask_misuse,          // hardware continues with the lanes that take part, and zeros for others
  no_such_image,        // CUDA_ERROR_ILLEGAL_ADDRESS: a handle of no object, or of a destroyed one
  wrong_image_shape,    // CUDA_ERROR_ILLEGAL_ADDRESS: hardware continues with undefined values
  surface_out_of_bounds,  // CUDA_ERROR_ILLEGAL_ADDRESS: .trap
  still_running,          // the kernel continues
};

/// One line of English for a kind, without the particulars.
constexpr const char* describe(fault_kind kind) noexcept {
  switch (kind) {
    case fault_kind::none: return "no fault";
    case fault_kind::out_of_bounds: return "access out of bounds";
    case fault_kind::use_after_free: return "access to freed memory";
    case fault_kind::null_access: return "access through a null pointer";
    case fault_kind::foreign_context: return "access to memory of another context";
    case fault_kind::read_only: return "store to read-only memory";
    case fault_kind::misaligned: return "misaligned access";
    case fault_kind::wrong_space: return "operation on an address of the wrong state space";
    case fault_kind::shared_out_of_bounds: return "shared memory access out of bounds";
    case fault_kind::local_out_of_bounds: return "local memory access out of bounds";
    case fault_kind::param_out_of_bounds: return "parameter access out of bounds";
    case fault_kind::stack_overflow: return "stack overflow";
    case fault_kind::invalid_call_target:
      return "indirect call to an address that is not a function";
    case fault_kind::illegal_instruction: return "illegal use of an instruction";
    case fault_kind::trap: return "trap";
    case fault_kind::assertion: return "assertion failed";
    case fault_kind::instruction_budget: return "instruction budget exhausted";
    case fault_kind::barrier_divergence: return "barrier that not all threads reach";
    case fault_kind::shared_race: return "race on shared memory";
    case fault_kind::uninitialized_read: return "read of memory that was never written";
    case fault_kind::mask_misuse: return "lane outside of the member mask";
    case fault_kind::no_such_image:
      return "use of a handle that is not a texture or surface object";
    case fault_kind::wrong_image_shape:
      return "use of a texture or surface object of another shape";
    case fault_kind::surface_out_of_bounds: return "surface access out of bounds";
    case fault_kind::still_running: return "still running";
  }
  return "unknown fault";
}

/// The kinds of accesses.
enum class access_kind : std::uint8_t { read, write, atomic };

/// A fault with everything known about it. `text` is the whole report, ready to print.
struct fault {
  fault_kind kind = fault_kind::none;
  std::string kernel;       // the entry function that was launched
  std::string function;     // the function in which the fault arose
  unsigned ptx_line = 0;    // line in the PTX text, 0 = unknown
  std::string instruction;  // the text of the instruction
  std::string source_file;  // CUDA source, empty without line information
  unsigned source_line = 0;
  std::string inlined_at;                 // the calls that were inlined, innermost first
  std::array<std::uint32_t, 3> block{};   // blockIdx
  std::array<std::uint32_t, 3> thread{};  // threadIdx
  address where = 0;                      // the address of the access, if there is one
  std::uint32_t access_size = 0;          // bytes; 0 if the fault is not one of an access
  access_kind access = access_kind::read;
  std::string detail;  // particulars: nearest allocation, other thread, ...
  std::string text;    // all of it in a few lines
};

}}}  // namespace nogpu::v1::machine
