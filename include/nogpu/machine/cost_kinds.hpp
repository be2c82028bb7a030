// What an instruction counts as, and which memory it accesses, for reports of costs.
#pragma once

#include <cstdint>

#include <nogpu/kernel_costs.hpp>
#include <nogpu/machine/code.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Returns the kind of arithmetic on a type.
inline instruction_kind arithmetic_kind(ptx::type t) {
  switch (t) {
    case ptx::type::f16:
    case ptx::type::bf16:
    case ptx::type::f16x2:
    case ptx::type::bf16x2: return instruction_kind::half_precision;
    case ptx::type::f32:
    case ptx::type::f32x2:
    case ptx::type::tf32: return instruction_kind::single_precision;
    case ptx::type::f64: return instruction_kind::double_precision;
    default: return instruction_kind::integer;
  }
}

/// Returns the kind of a load or a store, the first of which for global memory is `global`.
inline instruction_kind access_kind_of(ptx::state_space space, bool load, bool in_kernel) {
  using enum instruction_kind;
  switch (space) {
    case ptx::state_space::shared: return load ? shared_load : shared_store;
    case ptx::state_space::local: return load ? local_load : local_store;
    case ptx::state_space::constant: return constant_load;
    case ptx::state_space::param: return load && in_kernel ? constant_load : move;
    default: return load ? global_load : global_store;
  }
}

/// Returns the kind of an instruction of a function; of one with a generic address, as if that were
/// of global memory.
inline instruction_kind kind_of_instruction(const ptx::function& in, const ptx::instruction& i) {
  using enum ptx::opcode;
  switch (i.op) {
    case div:
    case rcp:
    case sqrt:
    case rsqrt:
    case sin:
    case cos:
    case lg2:
    case ex2:
    case tanh: {
      const instruction_kind kind = arithmetic_kind(i.types[0]);
      return kind == instruction_kind::integer ? kind : instruction_kind::special_function;
    }
    case set: return arithmetic_kind(i.types[1]);
    case cvt:
    case cvt_pack: return instruction_kind::conversion;
    case mov:
    case mov_pack:
    case mov_unpack:
    case mov_address:
    case selp:
    case slct:
    case prefetch:
    case prefetchu:
    case applypriority:
    case discard:
    case createpolicy:
    case isspacep:
    case cvta:
    case mapa:
    case getctarank:
    case activemask:
    case alloca_:
    case stacksave:
    case stackrestore:
    case pmevent:
    case tensormap_replace:
    case setmaxnreg: return instruction_kind::move;
    case ld:
    case ldu: {
      // A parameter of a kernel has no address in the frame, as one of a call has.
      const ptx::symbol_kind what = in.operands_of(i)[1].target.kind;
      return access_kind_of(i.with.space, true, in.entry && what != ptx::symbol_kind::variable);
    }
    case st: return access_kind_of(i.with.space, false, in.entry);
    case atom:
    case red:
    case red_async: return instruction_kind::atomic;
    case cp_async:
    case cp_async_bulk:
    case cp_async_bulk_prefetch:
    case cp_async_bulk_tensor:
    case cp_async_bulk_prefetch_tensor:
    case cp_reduce_async_bulk:
    case cp_reduce_async_bulk_tensor:
    case st_async:
    case tensormap_cp_fenceproxy:
    case prefetch_tensormap: return instruction_kind::copy;
    case tex:
    case tex_level:
    case tex_grad:
    case tld4:
    case txq:
    case txq_level:
    case istypep:
    case suld:
    case sust:
    case sured:
    case suq: return instruction_kind::texture;
    case shfl:
    case vote:
    case match:
    case redux:
    case elect: return instruction_kind::warp_exchange;
    case bar_sync:
    case bar_arrive:
    case bar_red:
    case bar_warp_sync:
    case barrier_cluster_arrive:
    case barrier_cluster_wait:
    case membar:
    case fence:
    case fence_proxy:
    case griddepcontrol:
    case nanosleep:
    case cp_async_commit_group:
    case cp_async_wait_group:
    case cp_async_wait_all:
    case cp_async_mbarrier_arrive:
    case cp_async_bulk_commit_group:
    case cp_async_bulk_wait_group:
    case mbarrier_init:
    case mbarrier_inval:
    case mbarrier_expect_tx:
    case mbarrier_complete_tx:
    case mbarrier_arrive:
    case mbarrier_arrive_drop:
    case mbarrier_test_wait:
    case mbarrier_try_wait:
    case mbarrier_pending_count:
    case wgmma_fence:
    case wgmma_commit_group:
    case wgmma_wait_group: return instruction_kind::synchronization;
    case bra:
    case brx_idx:
    case call:
    case ret:
    case exit:
    case brkpt:
    case trap: return instruction_kind::control;
    case mma:
    case mma_sp:
    case wgmma_mma:
    case wmma_mma:
    case wmma_load_a:
    case wmma_load_b:
    case wmma_load_c:
    case wmma_store:
    case ldmatrix:
    case stmatrix:
    case movmatrix: return instruction_kind::matrix;
    default: return arithmetic_kind(i.types[0]);
  }
}

/// Which memory an instruction accesses, as far as that is counted.
struct counted_access {
  enum class target : std::uint8_t { none, global, shared, generic };
  target where = target::none;
  bool rows = false;      // of matrices: the first `lanes` lanes have their addresses
  bool updates = false;   // an atomic operation
  bool copies = false;    // cp.async: from global memory as well
  std::uint8_t slot = 0;  // of the address
  std::uint8_t size = 0;  // bytes of a lane
  lane_mask lanes = all_lanes;
};

inline counted_access access_of(const decoded& d) {
  using enum ptx::opcode;
  const ptx::instruction& i = *d.source;
  counted_access a;
  switch (i.op) {
    case ld:
    case ldu:
    case atom:
    case red: a.slot = 1; break;
    case st:
    case cp_async:
    case ldmatrix:
    case stmatrix: break;
    default: return a;
  }
  a.updates = i.op == atom || i.op == red;
  a.size = static_cast<std::uint8_t>(ptx::size_of(i.types[0]) * d.count);
  switch (i.with.space) {
    case ptx::state_space::global: a.where = counted_access::target::global; break;
    case ptx::state_space::shared: a.where = counted_access::target::shared; break;
    case ptx::state_space::generic: a.where = counted_access::target::generic; break;
    default: break;
  }
  if (i.op == cp_async) {
    a.where = counted_access::target::shared;
    a.copies = true;
    a.size = d.count;
  } else if (i.op == ldmatrix || i.op == stmatrix) {
    a.rows = true;
    a.size = 16;
    a.lanes = d.count >= 4 ? all_lanes : (1u << 8 * d.count) - 1;
  }
  return a;
}

}}}  // namespace nogpu::v1::machine::detail
