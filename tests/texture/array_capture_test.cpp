// Arrays, textures and surfaces while a stream is captured: what asks is not affected, what makes
// objects or waits is refused and spoils the capture.

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/texture.hpp>

#include <vector>

namespace array_capture_test {

using gpu::array_flags;
using gpu::array_shape;
using gpu::cuda_array;
using gpu::mipmapped_array;
using gpu::surface;
using gpu::texture;
using test::error_of;
using test::value_of;

namespace {

/// Captures on a stream of its own, in the strictest mode.
class raw_capture {
 public:
  explicit raw_capture(const gpu::device& device) : stream_{value_of(gpu::stream::create(device))} {
    REQUIRE(test::driver().stream_begin_capture(stream_.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
            CUDA_SUCCESS);
  }
  /// Ends it; what the driver says to that.
  CUresult end() {
    CUgraph graph = nullptr;
    const CUresult code = test::driver().stream_end_capture(stream_.native(), &graph);
    if (code == CUDA_SUCCESS) REQUIRE(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
    return code;
  }

 private:
  gpu::stream stream_;
};

constexpr array_shape square(array_flags flags = array_flags::none) {
  return {.width = 64, .height = 64, .flags = flags};
}

}  // namespace

TEST_CASE("arrays: what asks about them is not affected by a capture", "[texture][capture]") {
  const gpu::device device = test::first_device();
  const auto array =
      value_of(cuda_array<float>::create(device, square(array_flags::surface_load_store)));
  const auto frame = value_of(
      cuda_array<>::create(device, {gpu::array_format::nv12, 3}, square(array_flags::video)));
  const auto sparse = value_of(cuda_array<float>::create(device, square(array_flags::sparse)));
  const auto later =
      value_of(cuda_array<float>::create(device, square(array_flags::deferred_mapping)));
  const auto levels = value_of(mipmapped_array<float>::create(device, square()));
  const auto sparse_levels =
      value_of(mipmapped_array<float>::create(device, square(array_flags::sparse)));
  const auto later_levels =
      value_of(mipmapped_array<float>::create(device, square(array_flags::deferred_mapping)));
  const auto sampled = value_of(texture<float>::create(array));
  const auto written = value_of(surface<float>::create(array));
  raw_capture capture(device);
  CHECK(gpu::cuda_array_ref<>::of(array.native(), array.context()).has_value());
  CHECK(frame.plane(1).has_value());
  CHECK(sparse.sparse_properties().has_value());
  CHECK(later.memory_requirements().has_value());
  CHECK(levels.level(1).has_value());
  CHECK(sparse_levels.sparse_properties().has_value());
  CHECK(later_levels.memory_requirements().has_value());
  CHECK(sampled.options().has_value());
  CHECK(sampled.resource().has_value());
  CHECK(sampled.view().has_value());
  CHECK(written.resource().has_value());
  CHECK(gpu::max_linear_texture_width<float>(device).has_value());
  CHECK(capture.end() == CUDA_SUCCESS);
}

TEST_CASE("arrays: what makes something, or waits, spoils a capture", "[texture][capture]") {
  const gpu::device device = test::first_device();
  const auto array = value_of(cuda_array<float>::create(device, square()));
  const auto levels = value_of(mipmapped_array<float>::create(device, square()));
  auto buffer = value_of(gpu::device_buffer<float>::create(device, 64));
  auto rows = value_of(gpu::pitched_buffer<float>::create(device, {64, 8}));
  std::vector<float> host(64 * 64);
  const auto spoils = [&](auto call) {
    raw_capture capture(device);
    const bool refused = !call().has_value();
    return capture.end() == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && refused;
  };
  CHECK(spoils([&] { return mipmapped_array<float>::create(device, square()); }));
  CHECK(spoils([&] { return gpu::array_from_matrix<float>(device, host, {64, 64}); }));
  CHECK(spoils([&] { return texture<float>::create(levels, {.normalized_coordinates = true}); }));
  CHECK(spoils([&] { return texture<float>::create(buffer); }));
  CHECK(spoils([&] { return texture<float>::create(rows.span()); }));
  CHECK(spoils([&] { return copy(host, array); }));
  CHECK(spoils([&] { return copy(array, host); }));
}

}  // namespace array_capture_test
