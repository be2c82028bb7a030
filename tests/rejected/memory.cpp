// Misuse of the memory types that must not compile, each beside a use that does.

#include <gpu/memory.hpp>
#include <gpu/memory/aligned_buffer.hpp>
#include <gpu/memory/growing_buffer.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/registered_memory.hpp>

#include <utility>
#include <vector>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

struct alignas(512) wide {
  char bytes[512];
};

inline gpu::result<> misuse(gpu::stream_ref stream, gpu::device device) {
  auto buffer = GPU_TRY(gpu::device_buffer<float>::create(stream, 4));
  auto doubles = GPU_TRY(gpu::device_buffer<double>::create(stream, 4));
  auto pinned = GPU_TRY(gpu::pinned_vector<float>::create(device, 4));
  std::vector<float> host(4);
  const std::vector<float> constant(4);

#if GPU_REJECTED == 1
  // expect 1: an asynchronous copy needs page-locked host memory
  GPU_TRY(gpu::copy(stream, host, buffer));
#elif GPU_REJECTED == 2
  // expect 2: an asynchronous copy needs page-locked host memory
  GPU_TRY(gpu::copy(stream, buffer, host));
#elif GPU_REJECTED == 3
  // expect 3: the source's elements are of another type than the destination's
  GPU_TRY(gpu::copy(host, doubles));
#elif GPU_REJECTED == 4
  // expect 4: the destination's elements are const
  GPU_TRY(gpu::copy(buffer, constant));
#elif GPU_REJECTED == 5
  // expect 5: neither side is on a device
  GPU_TRY(gpu::copy(constant, host));
#elif GPU_REJECTED == 6
  // expect 6: the driver fills with patterns of 1, 2 or 4 bytes
  GPU_TRY(gpu::fill(stream, doubles, 1.0));
#elif GPU_REJECTED == 7
  // expect 7: operator
  return buffer.span()[0];
#elif GPU_REJECTED == 8
  // expect 8: deleted
  gpu::device_span<float> span = host;
#elif GPU_REJECTED == 9
  // expect 9: deleted
  gpu::device_span<float> span{host.data(), host.size()};
#elif GPU_REJECTED == 10
  // expect 10: deleted
  gpu::device_span<float> span = GPU_TRY(gpu::device_buffer<float>::create(stream, 4));
#elif GPU_REJECTED == 11
  // expect 11: deleted
  gpu::device_buffer<float> twice = buffer;
#elif GPU_REJECTED == 12
  // expect 12: device memory holds trivially copyable objects
  using strings = gpu::device_buffer<std::vector<int>>;
  GPU_TRY(strings::create(stream, 4));
#elif GPU_REJECTED == 13
  const gpu::device_buffer<float>& reading = buffer;
  // expect 13: the destination's elements are const
  GPU_TRY(gpu::fill(stream, reading, 1.0f));
#elif GPU_REJECTED == 14
  // expect 14: a temporary device_buffer is not one
  GPU_TRY(gpu::copy(stream, pinned, GPU_TRY(gpu::device_buffer<float>::create(stream, 4))));
#elif GPU_REJECTED == 15
  // expect 15: deleted
  const auto span = GPU_TRY(gpu::pinned_vector<float>::create(device, 4)).span();
#elif GPU_REJECTED == 16
  // expect 16: deleted
  const auto span = gpu::pinned_vector<float>::create(device, 4).value().first(2);
#elif GPU_REJECTED == 17
  // expect 17: not a temporary one
  GPU_TRY(gpu::copy(stream, GPU_TRY(gpu::pinned_vector<float>::create(device, 4)), buffer));
#elif GPU_REJECTED == 18
  // expect 18: not a temporary one
  GPU_TRY(gpu::copy(stream, buffer, GPU_TRY(gpu::pinned_vector<float>::create(device, 4))));
#elif GPU_REJECTED == 19
  // expect 19: deleted
  const auto span = std::move(pinned).span();
#elif GPU_REJECTED == 20
  // expect 20: deleted
  const gpu::pinned_span<const float> span = std::move(pinned);
#elif GPU_REJECTED == 21
  // expect 21: not a temporary one
  using registered = gpu::registered_memory<float>;
  GPU_TRY(gpu::copy(stream, GPU_TRY(registered::create(device, host)), buffer));
#elif GPU_REJECTED == 22
  // expect 22: elements cannot be aligned to more
  GPU_TRY(gpu::device_buffer<wide>::create(stream, 4));
#elif GPU_REJECTED == 23
  // expect 23: elements cannot be aligned to more
  GPU_TRY(gpu::managed_buffer<wide>::create(device, 4));
#elif GPU_REJECTED == 24
  // expect 24: elements cannot be aligned to more
  GPU_TRY(gpu::pitched_buffer<wide>::create(device, {4, 4}));
#elif GPU_REJECTED == 25
  // expect 25: Register a gpu::aligned_buffer
  GPU_TRY(gpu::pinned_vector<wide>::create(device, 4));
#else
  GPU_TRY(gpu::copy(GPU_TRY(gpu::pinned_vector<float>::create(device, 4)), buffer));
  GPU_TRY(gpu::copy(stream, pinned.span(), buffer));
  GPU_TRY(gpu::copy(stream, buffer, pinned.first(4)));
  GPU_TRY(gpu::copy(stream, std::as_const(pinned).first(4), buffer));
  GPU_TRY(gpu::copy(stream, std::as_const(pinned), buffer));
  GPU_TRY(gpu::aligned_buffer<wide>::create(4));
  GPU_TRY(gpu::growing_buffer<wide>::create(device, 4));
  GPU_TRY(gpu::copy(stream, pinned, buffer));
  GPU_TRY(gpu::copy(stream, buffer, pinned));
  GPU_TRY(gpu::copy(constant, buffer));
  GPU_TRY(gpu::copy(buffer, host));
  GPU_TRY(gpu::fill(stream, buffer, 1.0f));
  GPU_TRY(gpu::fill(stream, as_writable_bytes(doubles.span()), std::byte{0}));
  const gpu::device_span<const float> span = buffer;
  GPU_TRY(gpu::copy(stream, span, pinned));
#endif
  return {};
}
