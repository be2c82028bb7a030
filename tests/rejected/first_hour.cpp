// Mistakes of the first hour: the first error of the compiler says what is wrong and what to write,
// and there are few lines of it.

#include <gpu/gpu.hpp>

#include <vector>

gpu::result<> use(gpu::device device, gpu::stream& stream, gpu::kernel<float*> kernel,
                  gpu::untyped_kernel untyped, gpu::device_buffer<float>& x,
                  [[maybe_unused]] gpu::device_buffer<double>& y, std::vector<float>& host) {
  const auto make = [&]() -> gpu::result<gpu::stream> {
    gpu::stream made = GPU_TRY(gpu::stream::create(device));
    return made;
  };
  GPU_TRY(make());
  [[maybe_unused]] float one = 0;
  GPU_TRY(gpu::launch(stream, {1, 32}, kernel, x));
  GPU_TRY(gpu::launch(stream, {1, 32}, untyped, x));
  GPU_TRY(gpu::fill(stream, x, 0.0f));
  GPU_TRY(gpu::copy(x, host));

#ifdef GPU_REJECTED
#  if GPU_REJECTED == 1
  // expect 1: GPU_TRY_needs_a_function_or_lambda_with_return_type_gpu_result
  // within 1: 12 lines
  const auto deduced = [&] {
    gpu::stream made = GPU_TRY(gpu::stream::create(device));
    return made;
  };
#  elif GPU_REJECTED == 3
  // expect 3: ::stream>
  // within 3: 14 lines
  const gpu::stream forgotten = gpu::stream::create(device);
#  elif GPU_REJECTED == 4
  // expect 4: the stream is missing; write gpu::launch(stream, {blocks, threads}, kernel, ...)
  // within 4: 16 lines
  GPU_TRY(gpu::launch({1, 32}, kernel, x));
#  elif GPU_REJECTED == 5
  // expect 5: the stream is missing; write gpu::launch(stream, {blocks, threads}, kernel, ...)
  // within 5: 16 lines
  GPU_TRY(gpu::launch({1, 32}, untyped, x));
#  elif GPU_REJECTED == 6
  // expect 6: the stream is missing; write gpu::fill(stream, destination, value)
  // within 6: 16 lines
  GPU_TRY(gpu::fill(x, 0.0f));
#  elif GPU_REJECTED == 7
  // expect 7: the destination is neither a device range nor a contiguous range in host memory
  // within 7: 18 lines
  GPU_TRY(gpu::copy(x, one));
#  elif GPU_REJECTED == 8
  // expect 8: this argument does not fit the kernel's parameter: it has another type
  // within 8: 20 lines
  GPU_TRY(gpu::launch(stream, {1, 32}, kernel, y));
#  elif GPU_REJECTED == 9
  // expect 9: use a gpu::pinned_vector
  // within 9: 16 lines
  GPU_TRY(gpu::copy(stream, host, x));
#  elif GPU_REJECTED == 10
  // expect 10: pass gpu::inout or gpu::out
  // within 10: 16 lines
  GPU_TRY(gpu::launch(stream, {1, 32}, kernel, gpu::in(host)));
#  elif GPU_REJECTED == 11
  // expect 11: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 11: 20 lines
  auto made = gpu::device_buffer<float>::create(stream, 4);
  GPU_TRY(gpu::launch(stream, {1, 32}, kernel, made));
#  elif GPU_REJECTED == 12
  // expect 12: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 12: 24 lines
  auto made = gpu::device_buffer<float>::create(stream, 4);
  GPU_TRY(gpu::launch(stream, {1, 32}, untyped, made));
#  elif GPU_REJECTED == 13
  // expect 13: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 13: 20 lines
  auto made = gpu::device_buffer<float>::create(stream, 4);
  GPU_TRY(gpu::copy(host, made));
#  elif GPU_REJECTED == 14
  // expect 14: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 14: 20 lines
  auto made = gpu::device_buffer<float>::create(stream, 4);
  GPU_TRY(gpu::copy(stream, made, x));
#  elif GPU_REJECTED == 15
  // expect 15: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 15: 20 lines
  auto made = gpu::device_buffer<float>::create(stream, 4);
  GPU_TRY(gpu::fill(stream, made, 0.0f));
#  elif GPU_REJECTED == 16
  // expect 16: member named 'span'
  // within 16: 8 lines
  auto made = gpu::device_buffer<float>::create(stream, 4);
  (void)(made.span());
#  elif GPU_REJECTED == 17
  // expect 17: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 17: 20 lines
  const auto made = gpu::stream::create(device);
  GPU_TRY(gpu::launch(made, {1, 32}, kernel, x));
#  elif GPU_REJECTED == 18
  // expect 18: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 18: 20 lines
  const auto made = gpu::stream::create(device);
  GPU_TRY(gpu::device_buffer<float>::create(made, 4));
#  elif GPU_REJECTED == 19
  // expect 19: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 19: 20 lines
  const auto first = gpu::device::get(0);
  GPU_TRY(gpu::stream::create(first));
#  elif GPU_REJECTED == 20
  // expect 20: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 20: 20 lines
  const auto made = gpu::event::create(device);
  GPU_TRY(gpu::record(stream, made));
#  elif GPU_REJECTED == 21
  // expect 21: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 21: 20 lines
  GPU_TRY(gpu::module::load(gpu::compile("")));
#  elif GPU_REJECTED == 22
  // expect 22: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 22: 20 lines
  const auto found = gpu::module().kernel<float*>("scale");
  GPU_TRY(gpu::launch(stream, {1, 32}, found, x));
#  endif
#endif
  return {};
}

int main() {
#if defined(GPU_REJECTED) && GPU_REJECTED == 2
  // expect 2: GPU_TRY_needs_a_function_or_lambda_with_return_type_gpu_result
  // within 2: 26 lines
  GPU_TRY(gpu::device::get(0));
#endif
  return gpu::exit_status(gpu::device::get(0));
}
