// A library for dlpack_python.py: gives tensors of DLPack to Python, and takes those of PyTorch,
// CuPy and NumPy in. Tensors are passed as pointers; `old` chooses the form before DLPack 1.0.

#include <gpu/array.hpp>
#include <gpu/interop/dlpack.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string message;

gpu::result<gpu::stream_ref> stream() {
  static gpu::stream made;
  if (made.native() == nullptr) made = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
  return gpu::stream_ref(made);
}

gpu::dlpack_tensor taken(void* tensor, int old) {
  return old != 0 ? gpu::dlpack_tensor::adopt(static_cast<gpu::dlpack::managed_tensor*>(tensor))
                  : gpu::dlpack_tensor::adopt(
                        static_cast<gpu::dlpack::managed_tensor_versioned*>(tensor));
}

gpu::result<void*> given(gpu::dlpack_tensor tensor, int old) {
  if (old != 0) return static_cast<void*>(GPU_TRY(tensor.release_old()));
  return static_cast<void*>(GPU_TRY(tensor.release()));
}

template <class T> T value_or(const gpu::result<T>& made, T otherwise) {
  if (made.has_value()) return *made;
  message = made.error().message().c_str();
  return otherwise;
}

gpu::result<void*> pinned(int count, int old) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  auto host = GPU_TRY(gpu::pinned_vector<int>::create(GPU_TRY(gpu::device::get(0)),
                                                      static_cast<std::size_t>(count)));
  for (std::size_t i = 0; i < numbers.size(); ++i) host[i] = numbers[i];
  return given(GPU_TRY(gpu::to_dlpack(std::move(host))), old);
}

gpu::result<void*> matrix(int rows, int columns, int old, std::int64_t consumer) {
  const gpu::stream_ref on = GPU_TRY(stream());
  auto numbers = GPU_TRY(gpu::arange<float>(on, 0, rows * columns, 1));
  auto made = GPU_TRY((gpu::array<float, 2>::adopt(
      numbers.release(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)})));
  const gpu::stream_ref waits =
      consumer > 0 ? GPU_TRY(gpu::dlpack_stream(on.context(), consumer)) : gpu::stream_ref();
  return given(GPU_TRY(gpu::to_dlpack(on, std::move(made), waits)), old);
}

gpu::result<double> sum(void* tensor, int old) {
  const gpu::stream_ref on = GPU_TRY(stream());
  auto in = GPU_TRY((gpu::from_dlpack<float, 2>(on, taken(tensor, old))));
  return double{GPU_TRY(gpu::sum(on, in.view()))};
}

// Adds 1 to each element where it is, and waits.
gpu::result<int> add_one(void* tensor, int old) {
  const gpu::stream_ref on = GPU_TRY(stream());
  auto in = GPU_TRY((gpu::from_dlpack<float, 2>(on, taken(tensor, old))));
  GPU_TRY(gpu::assign(on, in.view(), in.view() + 1.0f));
  GPU_TRY(on.synchronize());
  return 0;
}

}  // namespace

extern "C" {

/// Returns 1 on a GPU, and 0 on the CPU driver.
int on_gpu() {
  static const bool cpu = gpu::testing::use_cpu_driver_if_no_gpu();
  return cpu ? 0 : 1;
}
const char* last_message() { return message.c_str(); }
std::int64_t own_stream() {
  const auto on = stream();
  return on.has_value() ? static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(on->native()))
                        : 0;
}
void* give_pinned(int count, int old) { return value_or<void*>(pinned(count, old), nullptr); }
void* give_matrix(int rows, int columns, int old, std::int64_t consumer) {
  return value_or<void*>(matrix(rows, columns, old, consumer), nullptr);
}
double take_sum(void* tensor, int old) { return value_or(sum(tensor, old), -1.0); }
int take_and_add_one(void* tensor, int old) { return value_or(add_one(tensor, old), -1); }
}
