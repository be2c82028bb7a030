// A kernel in the form in which it runs: arrays of decoded instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

struct warp;
struct decoded;
struct party;
struct matrix_plan;

/// One bit for each of the 32 lanes of a warp.
using lane_mask = std::uint32_t;
inline constexpr lane_mask all_lanes = 0xffff'ffffu;
inline constexpr unsigned warp_size = 32;

/// The scheduler's next step after an instruction.
enum class action : std::uint8_t {
  next,        // continue with the following instruction
  jump,        // the active lanes continue at `decoded::target`
  table_jump,  // the active lanes continue at the instructions in `warp::targets`
  collective,  // the active lanes wait for the members of their mask, then act together
  barrier,     // the active lanes wait at `warp::pending_barrier`
  call,        // the active lanes enter the function that `warp::callees` names
  leave,       // the active lanes return from the function
  exit,        // the active lanes end
  yield,       // next, after the other warps had their turn
  fault,       // `warp::failure` says why; the grid ends
  undefined,   // next, after a load that gave lanes bytes which nobody wrote
};

/// Executes one instruction for the lanes in the mask, which is never empty.
using handler = action (*)(warp&, const decoded&, lane_mask);
/// Executes one instruction of a collective for all groups of lanes that take part in it. False: a
/// fault.
using collective_handler = bool (*)(warp&, std::span<const party>, lane_mask);

inline constexpr std::uint32_t no_slot = 0xffff'ffffu;

/// A decoded instruction. Slots are byte offsets into the registers of the frame: 32 lanes side by
/// side for each register, one 32-bit mask for a predicate; immediates are registers that hold the
/// same value in every lane.
struct decoded {
  handler run = nullptr;
  collective_handler together = nullptr;
  std::uint32_t slots[6] = {no_slot, no_slot, no_slot, no_slot, no_slot, no_slot};
  std::uint32_t guard = no_slot;
  bool guard_negated = false;
  bool leader = false;           // a jump may arrive here
  std::uint8_t negated = 0;      // bit i: slot i is a predicate to be read negated
  std::uint8_t count = 1;        // elements of a vector access
  std::uint8_t wide_base = 1;    // the address register has 64 bits
  std::uint8_t result_size = 0;  // bytes of the destination register
  bool result_signed = false;
  std::uint8_t option = 0;                   // meaning depends on the instruction
  std::uint32_t list = 0;                    // first of a list in `lowered_function::lists`
  std::uint32_t target = 0;                  // instruction to jump to
  std::uint32_t origin = 0;                  // index of the instruction in the parsed function
  std::int64_t offset = 0;                   // added to the address
  const ptx::instruction* source = nullptr;  // as parsed
};

/// A call as it is executed: the origins and the destinations of the bytes.
struct lowered_call {
  struct transfer {
    bool in_register = false;  // `at` is a slot, else an offset in the caller's frame memory
    std::uint32_t at = 0;
    std::uint32_t size = 0;
  };
  std::uint32_t function = ptx::no_index;  // direct
  std::uint32_t target_slot = no_slot;     // indirect
  std::vector<transfer> arguments;
  std::vector<transfer> results;
};

/// One function, ready to run as part of an executable.
struct lowered_function {
  struct place {
    std::uint32_t slot = no_slot;  // of the register that holds it, or none
    std::uint32_t offset = 0;      // in the frame's memory
    std::uint32_t size = 0;
  };
  const ptx::function* source = nullptr;
  std::vector<decoded> code;
  std::deque<ptx::instruction> made;  // instructions that are not of the source
  std::vector<std::uint32_t> lists;
  std::vector<std::shared_ptr<const matrix_plan>> plans;  // of its matrix instructions
  std::vector<lowered_call> calls;
  std::vector<place> parameters;  // of a device function
  std::vector<place> returns;
  std::vector<std::uint32_t> slots;      // of all registers and constants, ascending
  std::uint32_t register_bytes = 0;      // of a frame, constants included
  std::uint32_t constant_begin = 0;      // the address to which `constants` is copied
  std::vector<std::byte> constants;      // already spread over the lanes
  std::uint32_t frame_bytes = 0;         // local memory of a frame, per lane
  std::uint32_t local_begin = 0;         // in it: parameters and results before, variables after
  std::uint32_t stack_bytes = 0;         // that a frame takes of a device's stack at least,
  std::uint32_t call_bytes = 0;          // and more during a call of another function
  std::vector<std::uint32_t> variables;  // offsets in it, by index in the source
};

/// The functions of a module that are the same in all of its kernels, by index; the others are
/// null.
using lowered_functions = std::vector<std::unique_ptr<const lowered_function>>;

/// A kernel with everything it may call. Immutable once loaded; shared by concurrent launches.
struct executable {
  const ptx::module* module = nullptr;  // alive as long as the executable
  const ptx::function* entry = nullptr;
  const lowered_function* start = nullptr;  // the lowered entry; null if `refused`
  std::string refused;  // the reason why the kernel cannot be launched, or empty
  std::shared_ptr<const lowered_functions> common;
  /// The entry, and the functions that name shared variables, whose addresses differ from kernel to
  /// kernel.
  std::map<std::uint64_t, std::unique_ptr<const lowered_function>> own;
  /// By offset; variables without a size come after the others.
  std::map<std::uint64_t, const ptx::variable*> shared_variables;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_begin = 0;  // behind the reserved and static bytes, aligned
  std::uint32_t local_bytes = 0;           // per thread, of the entry and the deepest direct chain
  bool depth_is_known = true;              // no call is recursive or indirect
  std::uint32_t constant_bytes = 0;        // of .const variables in the module
  std::uint32_t registers = 0;             // per thread, an estimate
  std::uint32_t max_threads_per_block = 1024;
  bool uses_heap = false;             // functions that it may call use malloc or free
  bool uses_printf = false;           // the same of vprintf
  bool uses_reserved_shared = false;  // it may touch the shared memory that the system reserves

  /// Returns the function with this index in the module; null if the kernel cannot reach it.
  const lowered_function* function(std::uint64_t index) const {
    if (index < common->size() && (*common)[index] != nullptr) return (*common)[index].get();
    const auto found = own.find(index);
    return found == own.end() ? nullptr : found->second.get();
  }
};

}}}  // namespace nogpu::v1::machine
