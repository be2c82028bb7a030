// Misuse of algorithms that must not compile, each beside a use that does.

#include <gpu/algorithm.hpp>
#include <gpu/memory.hpp>

#include <string>
#include <vector>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

gpu::result<gpu::device_buffer<float>> make_buffer();

struct named {
  std::string name;
};

inline gpu::result<> misuse([[maybe_unused]] gpu::stream_ref stream, gpu::device device,
                            [[maybe_unused]] std::vector<float>& host) {
  auto x = GPU_TRY(gpu::device_buffer<float>::create(device, 4));
  auto y = GPU_TRY(gpu::device_buffer<float>::create(device, 4));
  auto doubles = GPU_TRY(gpu::device_buffer<double>::create(device, 4));
  auto ints = GPU_TRY(gpu::device_buffer<int>::create(device, 4));
  auto count = GPU_TRY(gpu::device_buffer<unsigned long long>::create(device, 1));
  [[maybe_unused]] const gpu::device_span<const float> constant = x;
  [[maybe_unused]] const auto view =
      gpu::array_view<float, 1>::from_native(x.span().native(), {2}, {2});
  using saxpy_kernel = gpu::elementwise<float, const float*, float*>;
  const saxpy_kernel saxpy = GPU_TRY(saxpy_kernel::create("a, x, y", "y[i] += a * x[i]"));
  using sum_kernel = gpu::reduction<float, const float*>;
  const gpu::reduction_text<float> sum_text{
      .parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0};
  const sum_kernel sum = GPU_TRY(sum_kernel::create(sum_text));
  using scan_kernel = gpu::scan<float, const float*, float*>;
  const scan_kernel scan;
  using selection_kernel = gpu::selection<float, const float*>;
  const selection_kernel selection;

#if GPU_REJECTED == 1
  // expect 1: the number of arguments differs from the number of parameters
  GPU_TRY(saxpy(stream, 2.0f, x));
#elif GPU_REJECTED == 2
  // expect 2: the argument's elements have another type than the parameter
  GPU_TRY(saxpy(stream, 2.0f, doubles, y));
#elif GPU_REJECTED == 3
  // expect 3: declare the parameter as `const T*` if it is only read
  GPU_TRY(saxpy(stream, 2.0f, x, constant));
#elif GPU_REJECTED == 4
  // expect 4: a pointer parameter of a generated kernel takes device memory or a view of it
  GPU_TRY(saxpy(stream, 2.0f, host, y));
#elif GPU_REJECTED == 5
  // expect 5: not a temporary buffer, because its memory is gone before the kernel runs
  GPU_TRY(saxpy(stream, 2.0f, GPU_TRY(make_buffer()), y));
#elif GPU_REJECTED == 6
  // expect 6: this argument does not fit the parameter of the generated kernel
  GPU_TRY(saxpy(stream, x, x, y));
#elif GPU_REJECTED == 7
  // expect 7: elements of generated kernels are trivially copyable objects
  GPU_TRY(gpu::elementwise<named*>::create("x", "x[i]"));
#elif GPU_REJECTED == 8
  // expect 8: gpu::raw is for pointers
  GPU_TRY(gpu::elementwise<gpu::raw<float>>::create("x", "x[i]"));
#elif GPU_REJECTED == 9
  // expect 9: the number of arguments differs from the number of parameters
  GPU_TRY(sum(stream, x, y));
#elif GPU_REJECTED == 10
  // expect 10: the results go to device memory
  GPU_TRY(sum.into(stream, host, x));
#elif GPU_REJECTED == 11
  // expect 11: the results have the type of the reduction's value
  GPU_TRY(sum.into(stream, doubles, x));
#elif GPU_REJECTED == 12
  // expect 12: not a temporary buffer, because its memory is gone before the kernel runs
  GPU_TRY(sum.into(stream, y, GPU_TRY(make_buffer())));
#elif GPU_REJECTED == 13
  // expect 13: 'named' to 'float'
  const gpu::reduction_text<float> neutral{
      .parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = named{}};
#elif GPU_REJECTED == 14
  // expect 14: the number of arguments differs from the number of parameters
  GPU_TRY(scan(stream, x));
#elif GPU_REJECTED == 15
  // expect 15: not a temporary buffer, because its memory is gone before the kernel runs
  GPU_TRY(scan(stream, x, GPU_TRY(make_buffer())));
#elif GPU_REJECTED == 16
  // expect 16: `out` has elements of the selection's type, not const
  GPU_TRY(selection(stream, doubles, x));
#elif GPU_REJECTED == 17
  // expect 17: the count is an unsigned long long in device memory
  GPU_TRY(selection.into(stream, y, ints, x));
#elif GPU_REJECTED == 18
  // expect 18: the results go to device memory
  GPU_TRY(gpu::select(stream, x, x, host, count));
#elif GPU_REJECTED == 19
  // expect 19: the elements are device memory or a view of it
  GPU_TRY(gpu::select(stream, host, x, y, count));
#elif GPU_REJECTED == 20
  // expect 20: the results go to device memory
  GPU_TRY(gpu::partition(stream, x, x, host));
#elif GPU_REJECTED == 21
  // expect 21: the results go to device memory
  GPU_TRY(gpu::unique(stream, x, host));
#elif GPU_REJECTED == 22
  // expect 22: the elements are contiguous device memory
  GPU_TRY(gpu::unique(stream, view, y));
#elif GPU_REJECTED == 23
  // expect 23: the results go to device memory
  GPU_TRY(gpu::run_length(stream, x, y, host));
#elif GPU_REJECTED == 24
  // expect 24: lengths are integers
  GPU_TRY(gpu::run_length(stream, x, y, doubles));
#elif GPU_REJECTED == 25
  // expect 25: the results go to device memory
  GPU_TRY(gpu::reduce_by_key(stream, x, x, y, host));
#elif GPU_REJECTED == 26
  // expect 26: `out_keys` has elements of the type of those of `keys`
  GPU_TRY(gpu::reduce_by_key(stream, ints, x, y, y));
#elif GPU_REJECTED == 27
  // expect 27: the elements of `out` are const
  GPU_TRY(gpu::inclusive_scan(stream, x, constant));
#elif GPU_REJECTED == 28
  // expect 28: a device_buffer, a device_span, an array_view; not host memory
  GPU_TRY(gpu::inclusive_scan(stream, x, host));
#elif GPU_REJECTED == 29
  // expect 29: the keys are sorted in place, but they are const
  GPU_TRY(gpu::sort(stream, constant));
#elif GPU_REJECTED == 30
  // expect 30: no matching function
  GPU_TRY(gpu::sort(stream, host));
#elif GPU_REJECTED == 31
  // expect 31: no matching function
  GPU_TRY(gpu::sort(stream, GPU_TRY(make_buffer())));
#elif GPU_REJECTED == 32
  // expect 32: the indices are written, as std::uint32_t
  GPU_TRY(gpu::argsort(stream, x, y));
#elif GPU_REJECTED == 33
  // expect 33: out_keys are written and have the type of the keys
  GPU_TRY(gpu::top_k(stream, x, doubles, ints));
#elif GPU_REJECTED == 34
  // expect 34: the offsets are std::uint32_t
  GPU_TRY(gpu::sort_segments(stream, x, y));
#elif GPU_REJECTED == 35
  // expect 35: at most 8 axes
  GPU_TRY(sum(stream, gpu::array_view<float, 9>()));
#elif GPU_REJECTED == 36
  // expect 36: write create({.parameters =
  GPU_TRY((gpu::reduction<float, const float*>::create("x", "0", "a + b", "x[i]")));
#elif GPU_REJECTED == 37
  // expect 37: it is an integer with more bits, and the value may not fit
  GPU_TRY((gpu::elementwise<int, float*>()(stream, std::size_t{5}, x)));
#elif GPU_REJECTED == 38
  // expect 38: declare the parameter as `gpu::raw<const T*>` if it is only read
  GPU_TRY((gpu::elementwise<float*, gpu::raw<float*>>()(stream, x, constant)));
#else
  GPU_TRY(saxpy(stream, 2.0f, x, y));
  GPU_TRY(saxpy(stream, 2, constant, y.span()));
  GPU_TRY(saxpy(stream, 2.0f, view, y.span().first(2)));
  GPU_TRY(sum(stream, GPU_TRY(make_buffer())));  // waits
  GPU_TRY(sum.into(stream, y.span().first(1), x));
  GPU_TRY(scan(stream, view, view));
  GPU_TRY(selection(stream, y, GPU_TRY(make_buffer())));  // waits
  GPU_TRY(selection.into(stream, y, count, x));
  GPU_TRY(gpu::select(stream, view, view, y));
  GPU_TRY(gpu::select(stream, x, x, y, count));
  GPU_TRY(gpu::partition(stream, x, x, y, ints.span().first(1)));
  GPU_TRY(gpu::unique(stream, x, y));
  GPU_TRY(gpu::run_length(stream, x, y, ints));
  GPU_TRY(gpu::reduce_by_key(stream, ints, x, ints, y));
  GPU_TRY(gpu::inclusive_scan(stream, x, doubles));
  GPU_TRY(gpu::sort(stream, x.span().first(2)));
  GPU_TRY(gpu::argsort(stream, constant, ints));
  GPU_TRY(gpu::top_k(stream, x, y, ints));
  GPU_TRY(gpu::sort_segments(stream, x, ints));
#endif
  return {};
}
