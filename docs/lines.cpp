// The program that executes the lines of docs/from-pycuda.md: docs/show.cpp, and the objects of
// docs/lines.hpp that these lines use. They are made in the order of this file.
#include "docs/lines.hpp"
#include "docs/show.cpp"

std::size_t n;
std::vector<float> host, result;
gpu::device_buffer<float> x, y, total;
gpu::device_buffer<std::uint8_t> bytes;
gpu::device_buffer<std::uint16_t> shorts;
gpu::device_buffer<std::int32_t> indices;
gpu::pinned_vector<float> pinned;
gpu::pitched_buffer<float> image, tile, volume, other_volume;
gpu::pitched_buffer<std::uint8_t> byte_image;
gpu::pitched_buffer<std::uint16_t> short_image;
gpu::pitched_host_span<float> host_image;
gpu::cuda_array<float> plane, other_plane;
gpu::array<float, 2> a, points;
gpu::array<double, 2> b, c;
gpu::array<std::complex<float>, 2> complex_array;
gpu::array<float> numbers;
gpu::array<unsigned> counted_numbers;
gpu::array<unsigned, 2> counted_points;

gpu::philox engine(42);
gpu::xorwow xorwow_engine(42);
gpu::mrg32k3a mrg_engine(42);
gpu::sobol32 sobol_engine = gpu::sobol32::create(stream, 3).value();
gpu::sobol32 scrambled_engine = gpu::sobol32::create(stream, 3, {.scrambled = true}).value();
gpu::sobol64 sobol64_engine = gpu::sobol64::create(stream, 3).value();
gpu::sobol64 scrambled64_engine = gpu::sobol64::create(stream, 3, {.scrambled = true}).value();

gpu::device_data device_data = gpu::device_data::of(device).value();
gpu::event start = gpu::event::create(device).value();
gpu::event stop = gpu::event::create(device).value();
gpu::module code;
gpu::kernel<float, const float*, float*, std::size_t> saxpy;

gpu::elementwise<float, const float*, float*> add_scaled;
gpu::reduction<float, const float*> squares;
gpu::scan<float, const float*, float*> running_sum, running_sum_before;
std::vector<int> rows_of{0, 0, 1, 1, 2}, columns_of{0, 1, 0, 1, 2};
gpu::csr_matrix<float> equations;
gpu::reordered_matrix<float> ordered;

namespace {

gpu::result<> make_kernels() {
  code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(R"(
    __global__ void saxpy(float a, const float* x, float* y, unsigned long n) {
      const unsigned long thread = threadIdx.y * blockDim.x + threadIdx.x;
      const unsigned long block = blockIdx.y * gridDim.x + blockIdx.x;
      const unsigned long i = block * (blockDim.x * blockDim.y) + thread;
      if (i < n) y[i] += a * x[i];
    })"))));
  saxpy = GPU_TRY((code.kernel<float, const float*, float*, std::size_t>("saxpy")));
  add_scaled = GPU_TRY(
      (gpu::elementwise<float, const float*, float*>::create("a, x, y", "y[i] += a * x[i]")));
  squares = GPU_TRY((gpu::reduction<float, const float*>::create(
      {.parameters = "x", .map = "x[i] * x[i]", .reduce = "a + b", .neutral = 0.0f})));
  running_sum = GPU_TRY((gpu::scan<float, const float*, float*>::create({.parameters = "x, y",
                                                                         .map = "x[i]",
                                                                         .combine = "a + b",
                                                                         .store = "y[i] = item",
                                                                         .neutral = 0.0f})));
  running_sum_before =
      GPU_TRY((gpu::scan<float, const float*, float*>::create({.parameters = "x, y",
                                                               .map = "x[i]",
                                                               .combine = "a + b",
                                                               .store = "y[i] = item",
                                                               .neutral = 0.0f,
                                                               .exclusive = true})));
  const std::vector<float> values{4, 1, 1, 3, 2};
  equations =
      GPU_TRY(gpu::csr_matrix<float>::from_triplets(stream, {3, 3}, rows_of, columns_of, values));
  ordered = GPU_TRY(gpu::reordered_matrix<float>::create(stream, equations));
  return {};
}

}  // namespace

namespace {

std::vector<float> multiples(std::size_t count, std::size_t factor, std::size_t modulus) {
  std::vector<float> made(count);
  for (std::size_t k = 0; k < count; ++k) made[k] = static_cast<float>(k * factor % modulus);
  return made;
}

gpu::result<> make_image(gpu::pitched_buffer<float>& image, gpu::box_extent size,
                         std::vector<float> pixels) {
  image = GPU_TRY(gpu::pitched_buffer<float>::create(device, size));
  return gpu::copy(gpu::pitched_host_span<float>::from_native(pixels.data(), size), image.span());
}

std::array<long long, 2> digest(const auto& elements) {
  std::array<long long, 2> sums{};
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const auto element = static_cast<long long>(elements[k]);
    sums[0] += element;
    sums[1] += static_cast<long long>(k % 9973 + 1) * element;
  }
  return sums;
}

}  // namespace

// scripts/page-values has the same in Python.
gpu::result<> images::set(int) {
  const std::vector<float> zeros(320 * 360);
  host = multiples(320 * 360, 7919, 1000);
  result = zeros;
  host_image = gpu::pitched_host_span<float>::from_native(host.data(), {320, 360});
  GPU_TRY(make_image(image, {320, 360}, multiples(320 * 360, 13, 1009)));
  GPU_TRY(make_image(tile, {64, 64}, multiples(64 * 64, 31, 977)));
  GPU_TRY(make_image(volume, {64, 64, 12}, multiples(64 * 64 * 12, 7919, 1000)));
  GPU_TRY(make_image(other_volume, {64, 64, 12}, multiples(64 * 64 * 12, 31, 977)));
  byte_image = GPU_TRY(gpu::pitched_buffer<std::uint8_t>::create(device, {20, 10}));
  short_image = GPU_TRY(gpu::pitched_buffer<std::uint16_t>::create(device, {20, 10}));
  plane = GPU_TRY(gpu::cuda_array<float>::create(device, {.width = 320, .height = 360}));
  other_plane = GPU_TRY(gpu::cuda_array<float>::create(device, {.width = 320, .height = 360}));
  GPU_TRY(gpu::copy(multiples(320 * 360, 13, 1009), plane));
  GPU_TRY(gpu::copy(zeros, other_plane));
  auto numbers_of_x = GPU_TRY(gpu::array<float>::from(stream, multiples(64, 7, 101)));
  x = numbers_of_x.release();
  return {};
}

/// Two sums by which the test tells images apart.
template <class T>
gpu::result<std::array<long long, 2>> digest_of(const gpu::pitched_buffer<T>& pixels) {
  GPU_TRY(stream.synchronize());
  const gpu::box_extent size = pixels.span().size();
  std::vector<T> found(size.width * size.height * size.depth);
  GPU_TRY(gpu::copy(pixels.span(), gpu::pitched_host_span<T>::from_native(found.data(), size)));
  return digest(found);
}
template gpu::result<std::array<long long, 2>> digest_of(const gpu::pitched_buffer<float>&);
template gpu::result<std::array<long long, 2>> digest_of(const gpu::pitched_buffer<std::uint8_t>&);
template gpu::result<std::array<long long, 2>> digest_of(const gpu::pitched_buffer<std::uint16_t>&);
gpu::result<std::array<long long, 2>> digest_of(const gpu::cuda_array<float>& pixels) {
  GPU_TRY(stream.synchronize());
  std::vector<float> found(320 * 360);
  GPU_TRY(gpu::copy(pixels, found));
  return digest(found);
}
std::array<long long, 2> digest_of(const std::vector<float>& pixels) { return digest(pixels); }
gpu::result<std::array<long long, 2>> digest_of(const gpu::device_buffer<float>& elements) {
  std::vector<float> found(elements.size());
  GPU_TRY(gpu::copy(elements, found));
  return digest(found);
}

/// Makes kernels and matrices, once.
gpu::result<> prepare_objects() {
  static const gpu::result<> made = make_kernels();
  return made;
}
