// Arguments that a launch has to refuse at compile time.

#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>

#include <string>
#include <vector>

struct not_copyable_as_bytes {
  std::string name;
};

gpu::device_buffer<float> make_buffer();

gpu::result<> use(gpu::stream& stream, gpu::kernel<float, int, const float*> kernel,
                  gpu::untyped_kernel untyped, gpu::device_buffer<float>& x,
                  [[maybe_unused]] gpu::device_buffer<double>& y, std::vector<float>& host,
                  gpu::kernel<float*, gpu::device_span<float>> writes) {
  const gpu::launch_config config{1, 32};
  GPU_TRY(gpu::launch(stream, config, kernel, 2, 3, x));
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0, 3u, x.span()));
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, true, nullptr));
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, 'c', gpu::in(host)));
  GPU_TRY(gpu::launch(stream, config, untyped, 2.0f, 3, x));
  GPU_TRY(gpu::launch(stream, config, writes, gpu::out(host), gpu::inout(host)));

#ifdef GPU_REJECTED
#  if GPU_REJECTED == 1
  // expect 1: the number of arguments differs
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, 3));
#  elif GPU_REJECTED == 2
  // expect 2: does not fit the kernel's parameter
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, std::size_t{3}, x));
#  elif GPU_REJECTED == 3
  // expect 3: does not fit the kernel's parameter
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, 3.5, x));
#  elif GPU_REJECTED == 4
  // expect 4: does not fit the kernel's parameter
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, 3, y));
#  elif GPU_REJECTED == 5
  // expect 5: a temporary that would free its memory
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, 3, make_buffer()));
#  elif GPU_REJECTED == 6
  // expect 6: this range is in host memory
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, 3, host));
#  elif GPU_REJECTED == 7
  // expect 7: neither trivially copyable nor a type for device memory
  GPU_TRY(gpu::launch(stream, config, untyped, not_copyable_as_bytes{}));
#  elif GPU_REJECTED == 8
  // expect 8: neither trivially copyable nor a type for device memory
  GPU_TRY(gpu::launch(stream, config, untyped, make_buffer()));
#  elif GPU_REJECTED == 9
  // A stream's temporary: the name would outlive it.
  // expect 9: no matching function
  GPU_TRY(gpu::launch(gpu::stream::adopt(stream.release()), config, kernel, 2.0f, 3, x));
#  elif GPU_REJECTED == 10
  // A kernel that takes what cannot be copied as bytes.
  // expect 10: constraint
  gpu::kernel<not_copyable_as_bytes> impossible;
#  elif GPU_REJECTED == 11
  // Results cannot go where nothing can be written.
  // expect 11: no matching function
  const std::vector<float>& constant = host;
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, 3, gpu::out(constant)));
#  elif GPU_REJECTED == 12
  // What the kernel writes would be lost.
  // expect 12: pass gpu::inout or gpu::out
  GPU_TRY(gpu::launch(stream, config, writes, gpu::in(host), gpu::inout(host)));
#  elif GPU_REJECTED == 14
  // expect 14: it is an integer with more bits
  GPU_TRY(gpu::launch(stream, config, kernel, 2.0f, std::size_t{3}, x));
#  elif GPU_REJECTED == 15
  // expect 15: its elements are const, and those of the parameter are not
  GPU_TRY(gpu::launch(stream, config, writes, static_cast<const float*>(nullptr), x));
#  elif GPU_REJECTED == 16
  // expect 16: its elements are const, and those of the parameter are not
  GPU_TRY(gpu::launch(stream, config, writes, x, gpu::device_span<const float>(x)));
#  elif GPU_REJECTED == 17
  // expect 17: its elements are const, and those of the parameter are not
  const gpu::device_buffer<float>& constant_buffer = x;
  GPU_TRY(gpu::launch(stream, config, writes, constant_buffer, x));
#  elif GPU_REJECTED == 13
  // expect 13: pass gpu::inout or gpu::out
  GPU_TRY(gpu::launch(stream, config, writes, gpu::out(host), gpu::in(host)));
#  endif
#endif
  return {};
}
