// Misuse of batches, waiting streams and peers that must not compile, each beside a use that does.

#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/memory_operation_node.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/copy_batch.hpp>
#include <gpu/memory/peer.hpp>
#include <gpu/memory/prefetch_batch.hpp>
#include <gpu/memory/stream_memory_operation.hpp>
#include <gpu/texture/copy_array_batch.hpp>

#include <vector>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

inline gpu::result<> misuse(gpu::stream_ref stream, gpu::device device) {
  auto buffer = GPU_TRY(gpu::device_buffer<unsigned>::create(device, 4));
  auto shorts = GPU_TRY(gpu::device_buffer<short>::create(device, 4));
  auto array = GPU_TRY(gpu::cuda_array<unsigned>::create(device, {.width = 4}));
  auto managed = GPU_TRY(gpu::managed_buffer<unsigned>::create(device, 4));
  const gpu::device_span<const unsigned> constant = managed;
  std::vector<unsigned> host(4);
  using op = gpu::memory_operation;
  using words = gpu::pinned_vector<unsigned>;

#if GPU_REJECTED == 1
  // expect 1: range_copy::read_now, which reads any host memory before the call returns
  GPU_TRY(gpu::copy(stream, {gpu::range_copy(host, buffer)}));
#elif GPU_REJECTED == 2
  // expect 2: a copy of a batch needs page-locked host memory
  GPU_TRY(gpu::copy(stream, {gpu::range_copy::read_now(buffer, host)}));
#elif GPU_REJECTED == 3
  // expect 3: the source's elements are of another type than the destination's
  GPU_TRY(gpu::copy(stream, {gpu::range_copy(shorts, buffer)}));
#elif GPU_REJECTED == 4
  const auto box = gpu::pitched_host_span<unsigned>::from_native(host.data(), {2, 2});
  // expect 4: a copy of a batch needs page-locked host memory
  GPU_TRY(gpu::copy(stream, {gpu::box_copy(box, box)}));
#elif GPU_REJECTED == 5
  // expect 5: integers of 4 or 8 bytes
  GPU_TRY(gpu::perform(stream, op::write(shorts, short{1})));
#elif GPU_REJECTED == 6
  // expect 6: no matching function
  GPU_TRY(gpu::perform(stream, op::wait(host, 1u)));
#elif GPU_REJECTED == 7
  const gpu::device_span<const unsigned> reading = buffer;
  // expect 7: the word is const
  GPU_TRY(gpu::perform(stream, op::write(reading, 1u)));
#elif GPU_REJECTED == 8
  // expect 8: no matching function
  GPU_TRY(gpu::peer(device, host));
#elif GPU_REJECTED == 9
  // expect 9: array_copy::read_now, which reads any host memory before the call returns
  GPU_TRY(gpu::copy(stream, {gpu::array_copy(host, array)}));
#elif GPU_REJECTED == 10
  // expect 10: a copy of a batch needs page-locked host memory
  GPU_TRY(gpu::copy(stream, {gpu::array_copy::read_now(array, host)}));
#elif GPU_REJECTED == 11
  // expect 11: the elements must be texels of the array's format
  GPU_TRY(gpu::copy(stream, {gpu::array_copy(shorts, array)}));
#elif GPU_REJECTED == 12
  const auto box = gpu::pitched_host_span<unsigned>::from_native(host.data(), {2, 2});
  // expect 12: a copy of a batch needs page-locked host memory
  GPU_TRY(gpu::copy(stream, {gpu::box_copy::read_now(box, box)}));
#elif GPU_REJECTED == 13
  // expect 13: the range's elements are const, and discarding changes them
  GPU_TRY(gpu::discard(stream, {managed, constant}));
#elif GPU_REJECTED == 14
  // expect 14: not a temporary one
  GPU_TRY(gpu::copy(stream, {gpu::range_copy(GPU_TRY(words::create(device, 4)), buffer)}));
#elif GPU_REJECTED == 15
  // expect 15: not a temporary one
  GPU_TRY(gpu::copy(stream, {gpu::range_copy(buffer, GPU_TRY(words::create(device, 4)))}));
#else
  auto pinned = GPU_TRY(words::create(device, 4));
  GPU_TRY(gpu::copy(stream, {gpu::range_copy(pinned, buffer), gpu::range_copy(buffer, pinned)}));
  GPU_TRY(gpu::copy(stream, {gpu::range_copy::read_now(host, buffer)}));
  GPU_TRY(gpu::copy(stream, {gpu::array_copy::read_now(host, array)}));
  GPU_TRY(gpu::perform(stream, {op::wait(buffer.span(), 1u), op::write(buffer, 2u)}));
  GPU_TRY(gpu::peer(device, buffer.span()));
  GPU_TRY(gpu::prefetch(stream, {{managed, device}, {constant, device}}));
  GPU_TRY(gpu::discard(stream, {managed, managed.span().first(2)}));
#endif
  return {};
}
