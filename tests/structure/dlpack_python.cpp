// A library for dlpack_python.py: gives tensors of DLPack to Python, and takes those of PyTorch,
// CuPy, JAX and NumPy in. Tensors are passed as pointers; `old` chooses the form before DLPack 1.0.

#include <gpu/array.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/interop/dlpack.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace {

std::string message;
int owners_ended_so_far = 0;

gpu::result<gpu::stream_ref> stream() {
  static gpu::stream made;
  if (made.native() == nullptr) made = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
  return gpu::stream_ref(made);
}

/// An owner that is counted when it ends.
template <class Owned> struct counted {
  Owned owned;
  explicit counted(Owned&& all) noexcept : owned{std::move(all)} {}
  counted(counted&& other) noexcept : owned{std::move(other.owned)}, counts{other.counts} {
    other.counts = false;
  }
  ~counted() { owners_ended_so_far += counts ? 1 : 0; }
  bool counts = true;
};

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

/// Calls `function(T())` with the type of a number, as in TYPES of dlpack_python.py.
template <class Function> auto with_type(int type, Function function) {
  switch (type) {
    case 0: return function(bool());
    case 1: return function(std::int8_t());
    case 2: return function(std::uint8_t());
    case 3: return function(std::int16_t());
    case 4: return function(std::uint16_t());
    case 5: return function(std::int32_t());
    case 6: return function(std::uint32_t());
    case 7: return function(std::int64_t());
    case 8: return function(std::uint64_t());
    case 9: return function(__half());
    case 10: return function(__nv_bfloat16());
    case 11: return function(float());
    case 12: return function(double());
    case 13: return function(std::complex<float>());
    default: return function(std::complex<double>());
  }
}

gpu::result<gpu::stream_ref> consumer_of(gpu::stream_ref on, std::int64_t number) {
  if (number <= 0) return gpu::stream_ref();
  return gpu::dlpack_stream(on.context(), number);
}

/// Ways to give a matrix.
enum kind { whole, transposed, every_second, read_only, page_locked };

template <class T>
gpu::result<void*> give_matrix(kind way, const void* bytes, std::size_t rows, std::size_t columns,
                               int old, std::int64_t consumer) {
  const gpu::stream_ref on = GPU_TRY(stream());
  const std::size_t count = rows * columns;
  auto host = GPU_TRY(gpu::pinned_vector<T>::create(on.device(), count));
  std::memcpy(static_cast<void*>(host.data()), bytes, count * sizeof(T));
  if (way == page_locked) return given(GPU_TRY(gpu::to_dlpack(std::move(host))), old);
  auto made = GPU_TRY(gpu::empty<T>(on, gpu::shape{rows, columns}));
  GPU_TRY(gpu::copy(on, host, gpu::device_span<T>::from_native(made.native(), count)));
  GPU_TRY(on.synchronize());
  const gpu::stream_ref waits = GPU_TRY(consumer_of(on, consumer));
  const gpu::array_view<T, 2> all = made.view();
  counted<gpu::array<T, 2>> owner(std::move(made));
  const auto give = [&](const auto& view) -> gpu::result<void*> {
    return given(GPU_TRY(gpu::to_dlpack(on, view, std::move(owner), waits)), old);
  };
  switch (way) {
    case transposed: return give(gpu::transpose(all));
    case every_second: return give(all(gpu::all(), gpu::slice(0, gpu::to_end, 2)));
    case read_only: return give(gpu::array_view<const T, 2>(all));
    default: return give(all);
  }
}

/// A tensor that came in, of any type.
struct held {
  virtual ~held() = default;
  std::int64_t address = 0, extents[2] = {}, strides[2] = {};
  std::size_t bytes = 0;
};
template <class T> struct held_as : held {
  explicit held_as(gpu::dlpack_array<const T, 2>&& in) : owner{std::move(in)} {
    const auto view = owner.view();
    address = static_cast<std::int64_t>(view.native());
    for (int axis = 0; axis < 2; ++axis) {
      extents[axis] = static_cast<std::int64_t>(view.extent(axis));
      strides[axis] = view.stride(axis);
    }
    bytes = view.size() * sizeof(T);
  }
  gpu::dlpack_array<const T, 2> owner;
};

gpu::result<held*> hold(void* tensor, int type, int old) {
  const gpu::stream_ref on = GPU_TRY(stream());
  return with_type(type, [&](auto one) -> gpu::result<held*> {
    using T = decltype(one);
    return new held_as<T>(GPU_TRY((gpu::from_dlpack<const T, 2>(on, taken(tensor, old)))));
  });
}

/// Copies the elements of a tensor in C order, in the order of the library's stream.
gpu::result<int> read(const held& tensor, void* out) {
  const gpu::stream_ref on = GPU_TRY(stream());
  auto host = GPU_TRY(gpu::pinned_vector<std::byte>::create(on.device(), tensor.bytes));
  GPU_TRY(gpu::copy(on,
                    gpu::device_span<const std::byte>::from_native(
                        static_cast<CUdeviceptr>(tensor.address), tensor.bytes),
                    host));
  GPU_TRY(on.synchronize());
  std::memcpy(out, host.data(), tensor.bytes);
  return 0;
}

gpu::result<double> sum(void* tensor, int old) {
  const gpu::stream_ref on = GPU_TRY(stream());
  auto in = GPU_TRY((gpu::from_dlpack<const float, 2>(on, taken(tensor, old))));
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

// A matrix of sevens, which the stream of the library writes only after a while.
gpu::result<void*> late(int old, std::int64_t consumer) {
  const gpu::stream_ref on = GPU_TRY(stream());
  auto made = GPU_TRY(gpu::zeros<float>(on, gpu::shape{64, 64}));
  GPU_TRY(gpu::launch_host_function(
      on, []() noexcept { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }));
  GPU_TRY(gpu::fill(on, gpu::device_span<float>::from_native(made.native(), made.size()), 7.0f));
  const gpu::stream_ref waits = GPU_TRY(consumer_of(on, consumer));
  const auto view = made.view();
  return given(GPU_TRY(gpu::to_dlpack(on, view, counted(std::move(made)), waits)), old);
}

}  // namespace

extern "C" {

/// Returns 1 on a GPU, and 0 on the CPU driver.
int on_gpu() {
  static const bool cpu = gpu::testing::use_cpu_driver_if_no_gpu();
  return cpu ? 0 : 1;
}
const char* last_message() { return message.c_str(); }
int owners_ended() { return owners_ended_so_far; }
std::int64_t own_stream() {
  const auto on = stream();
  return on.has_value() ? static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(on->native()))
                        : 0;
}
void* give(int type, int way, const void* bytes, int rows, int columns, int old,
           std::int64_t consumer) {
  return value_or<void*>(with_type(type,
                                   [&](auto one) {
                                     return give_matrix<decltype(one)>(
                                         static_cast<kind>(way), bytes,
                                         static_cast<std::size_t>(rows),
                                         static_cast<std::size_t>(columns), old, consumer);
                                   }),
                         nullptr);
}
void* give_late(int old, std::int64_t consumer) {
  return value_or<void*>(late(old, consumer), nullptr);
}
void* take(void* tensor, int type, int old) {
  return value_or<held*>(hold(tensor, type, old), nullptr);
}
/// Writes the address, the extents and the strides.
void describe(const void* tensor, std::int64_t* out) {
  const auto& one = *static_cast<const held*>(tensor);
  out[0] = one.address;
  for (int axis = 0; axis < 2; ++axis) {
    out[1 + axis] = one.extents[axis];
    out[3 + axis] = one.strides[axis];
  }
}
int read_elements(const void* tensor, void* out) {
  return value_or(read(*static_cast<const held*>(tensor), out), -1);
}
void drop(void* tensor) { delete static_cast<held*>(tensor); }
double take_sum(void* tensor, int old) { return value_or(sum(tensor, old), -1.0); }
int take_and_add_one(void* tensor, int old) { return value_or(add_one(tensor, old), -1); }
}
