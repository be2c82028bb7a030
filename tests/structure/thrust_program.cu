// A program that nvcc compiles and that has Thrust and CUB work on memory of gpu: the pointers of
// spans, buffers and arrays are their iterators, and a stream's handle is theirs. Exit code 0: all
// is right; 1: something is not; 77: no GPU here.

#include <gpu/array.hpp>
#include <gpu/gpu.hpp>
#include <gpu/interop/cuda_runtime.hpp>

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <cub/device/device_reduce.cuh>

#include <cstdio>
#include <vector>

namespace {

int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

struct square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

gpu::result<> with_thrust(const gpu::stream& stream) {
  auto buffer = GPU_TRY(gpu::device_buffer<int>::create(stream, 5));
  GPU_TRY(gpu::copy(std::vector<int>{4, 1, 5, 2, 3}, buffer));
  const gpu::device_span<int> all = buffer.span();
  const auto policy = thrust::cuda::par_nosync.on(stream.native());
  thrust::sort(policy, all.data(), all.data() + all.size(), thrust::greater<int>());
  // A part, in place; and an iterator of Thrust's over a span.
  const gpu::device_span<int> last = all.last(3);
  thrust::inclusive_scan(policy, last.data(), last.data() + last.size(), last.data());
  const auto squares =
      thrust::make_transform_iterator(thrust::device_pointer_cast(all.data()), square());
  auto out = GPU_TRY(gpu::empty<int>(stream, gpu::shape{all.size()}));
  thrust::copy(policy, squares, squares + static_cast<std::ptrdiff_t>(all.size()),
               thrust::device_pointer_cast(out.view().data()));
  GPU_TRY(stream.synchronize());
  std::vector<int> host(5);
  GPU_TRY(gpu::copy(buffer, host));
  expect(host == std::vector<int>{5, 4, 3, 5, 6}, "what Thrust sorted and summed");
  expect(GPU_TRY(gpu::sum(stream, out)) == 25 + 16 + 9 + 25 + 36, "what Thrust wrote to an array");

  // And the other way: gpu works on what Thrust has.
  thrust::device_ptr<int> theirs(all.data());
  const auto span = gpu::device_span<int>::from_native(
      reinterpret_cast<CUdeviceptr>(thrust::raw_pointer_cast(theirs)), 5);
  expect(GPU_TRY(gpu::sum(stream, gpu::array_view(span))) == 23,
         "the sum of what Thrust points to");
  return {};
}

gpu::result<> with_cub(const gpu::stream& stream) {
  const auto x = GPU_TRY(gpu::arange<float>(stream, 0, 1000, 1));
  auto total = GPU_TRY(gpu::device_buffer<float>::create(stream, 1));
  std::size_t bytes = 0;
  const auto sum = [&](void* memory) {
    return gpu::from_runtime(
        cub::DeviceReduce::Sum(memory, bytes, x.view().data(), total.span().data(),
                               static_cast<int>(x.size()), stream.native()),
        "cub::DeviceReduce::Sum");
  };
  GPU_TRY(sum(nullptr));
  auto memory = GPU_TRY(gpu::device_buffer<std::byte>::create(stream, bytes));
  GPU_TRY(sum(memory.span().data()));
  GPU_TRY(stream.synchronize());
  std::vector<float> host(1);
  GPU_TRY(gpu::copy(total, host));
  expect(host[0] == 499500.0f, "the sum of an array by CUB");
  expect(GPU_TRY(gpu::sum(stream, x)) == host[0], "and by gpu");
  return {};
}

gpu::result<> run() {
  const gpu::stream stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
  GPU_TRY(with_thrust(stream));
  return with_cub(stream);
}

}  // namespace

int main() {
  if (!gpu::device::count().has_value()) return 77;
  const gpu::result<> done = run();
  if (!done.has_value()) std::printf("%s\n", done.error().message().c_str());
  return done.has_value() && failures == 0 ? 0 : 1;
}
