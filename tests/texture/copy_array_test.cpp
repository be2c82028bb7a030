#include <gpu/texture/copy_array.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace copy_array_test {

using gpu::array_format;
using gpu::array_shape;
using gpu::cuda_array;
using gpu::cuda_array_ref;
using gpu::pitched_host_span;
using gpu::pitched_pinned_span;
using test::error_of;
using test::says;
using test::value_of;

namespace {

/// All of an array, read by the raw driver: rows, planes and layers without gaps.
template <class T> std::vector<T> read_raw(const cuda_array<T>& array) {
  const gpu::box_extent size = array.shape().extent();
  std::vector<T> texels(size.width * size.height * size.depth);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array.native();
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = texels.data();
  copy.dstPitch = copy.WidthInBytes = size.width * sizeof(T);
  copy.dstHeight = copy.Height = size.height;
  copy.Depth = size.depth;
  const auto scope = value_of(gpu::context_scope::enter(array.context()));
  REQUIRE(test::driver().ctx_synchronize() == CUDA_SUCCESS);
  REQUIRE(test::driver().memcpy_3d(&copy) == CUDA_SUCCESS);
  return texels;
}

template <class T> std::vector<T> counting(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

}  // namespace

TEST_CASE("copy: arrays of every kind, from and to host memory", "[texture][copy]") {
  const gpu::device device = test::first_device();
  for (const array_shape& shape :
       {array_shape{.width = 37}, array_shape{.width = 37, .height = 11},
        array_shape{.width = 37, .height = 11, .depth = 3}, array_shape{.width = 37, .layers = 4},
        array_shape{.width = 37, .height = 5, .layers = 3},
        array_shape{.width = 9, .height = 9, .cubemap = true},
        array_shape{.width = 9, .height = 9, .layers = 2, .cubemap = true}}) {
    const auto array = value_of(cuda_array<int>::create(device, shape));
    const gpu::box_extent size = shape.extent();
    INFO(size.width << " x " << size.height << " x " << size.depth);
    const std::vector<int> from = counting<int>(size.width * size.height * size.depth);
    std::vector<int> to(from.size());
    REQUIRE(copy(from, array).has_value());
    CHECK(read_raw(array) == from);
    REQUIRE(copy(array, to).has_value());
    CHECK(to == from);
  }
}

TEST_CASE("copy: on a stream, with page-locked and device memory", "[texture][copy]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto one = value_of(cuda_array<float>::create(device, {.width = 20, .height = 6}));
  const auto two = value_of(cuda_array<float>::create(device, {.width = 20, .height = 6}));
  auto from = value_of(gpu::pinned_vector<float>::create(device, 120));
  auto to = value_of(gpu::pinned_vector<float>::create(device, 120));
  auto flat = value_of(gpu::device_buffer<float>::create(device, 120));
  auto pitched = value_of(gpu::pitched_buffer<float>::create(device, {20, 6}));
  std::iota(from.begin(), from.end(), 1.0f);
  REQUIRE(copy(stream, from, one).has_value());
  REQUIRE(copy(stream, one, flat).has_value());
  REQUIRE(copy(stream, flat, two).has_value());
  REQUIRE(copy(stream, two, pitched).has_value());
  REQUIRE(copy(stream, pitched, one).has_value());
  REQUIRE(copy(stream, one, to).has_value());
  REQUIRE(stream.synchronize().has_value());
  CHECK(to == from);
  CHECK(read_raw(two) == std::vector<float>(from.begin(), from.end()));
  const auto rows = pitched_pinned_span<float>::from_native(to.data(), {10, 6}, 20 * sizeof(float));
  REQUIRE(copy(stream, two, rows, {.source = {10, 0}}).has_value());
  REQUIRE(stream.synchronize().has_value());
  for (std::size_t y = 0; y < 6; ++y) {
    for (std::size_t x = 0; x < 20; ++x) {
      CHECK(to[y * 20 + x] == from[y * 20 + (x < 10 ? x + 10 : x)]);
    }
  }
}

TEST_CASE("copy: an array takes nothing from what was moved from", "[texture][copy]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto array = value_of(cuda_array<float>::create(device, {.width = 4, .height = 2}));
  auto rows = value_of(gpu::pitched_buffer<float>::create(device, {4, 2}));
  auto flat = value_of(gpu::device_buffer<float>::create(device, 8));
  const auto kept = std::move(rows);
  const auto kept_too = std::move(flat);
  for (const gpu::cuda_error& error :
       {error_of(copy(stream, rows, array)), error_of(copy(stream, flat, array)),
        error_of(copy(rows, array))}) {
    CHECK(error == gpu::errc::empty_handle);
    CHECK(says(error, "gpu::copy", "the source is empty: it was moved from"));
  }
}

TEST_CASE("copy: a part of an array goes to a part of another", "[texture][copy]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  using pair = gpu::channels<short, 2>;
  const auto one =
      value_of(cuda_array<pair>::create(device, {.width = 20, .height = 10, .depth = 4}));
  const auto two =
      value_of(cuda_array<pair>::create(device, {.width = 15, .height = 12, .layers = 6}));
  std::vector<pair> from(20 * 10 * 4), expected(15 * 12 * 6, pair{{-1, -1}});
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = {{static_cast<short>(i), static_cast<short>(i + 1000)}};
  }
  REQUIRE(copy(from, one).has_value());
  REQUIRE(copy(expected, two).has_value());
  REQUIRE(copy(stream, one, two, {.source = {3, 2, 1}, .destination = {5, 6, 2}, .size = {7, 4, 3}})
              .has_value());
  REQUIRE(stream.synchronize().has_value());
  for (std::size_t z = 0; z < 3; ++z)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 0; x < 7; ++x)
        expected[((2 + z) * 12 + 6 + y) * 15 + 5 + x] = from[((1 + z) * 10 + 2 + y) * 20 + 3 + x];
  CHECK(read_raw(two) == expected);
  // A range without pitch is the part; here as channels.
  std::vector<short> part(2 * 7 * 4);
  REQUIRE(copy(two, part, {.source = {5, 6, 2}, .size = {7, 4}}).has_value());
  for (std::size_t i = 0; i < 28; ++i) {
    const pair texel = from[(10 + 2 + i / 7) * 20 + 3 + i % 7];
    CHECK(part[2 * i] == texel[0]);
    CHECK(part[2 * i + 1] == texel[1]);
  }
  std::fill(part.begin(), part.end(), short{7});
  REQUIRE(copy(part, two, {.destination = {0, 0, 5}, .size = {7, 4}}).has_value());
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 7; ++x) expected[(5 * 12 + y) * 15 + x] = {{7, 7}};
  CHECK(read_raw(two) == expected);
  std::vector<pair> rest(15 * 12);
  REQUIRE(copy(two, rest, {.source = {0, 0, 5}}).has_value());  // all from there on
  CHECK(std::equal(rest.begin(), rest.end(), expected.end() - 15 * 12));
}

TEST_CASE("copy: texels, channels and bytes are one to an array", "[texture][copy]") {
  const gpu::device device = test::first_device();
  using rgba = gpu::channels<unsigned char, 4>;
  const auto array = value_of(cuda_array<rgba>::create(device, {.width = 6, .height = 4}));
  const auto plain = counting<unsigned char>(96);
  REQUIRE(copy(plain, array).has_value());
  std::vector<rgba> texels(24);
  REQUIRE(copy(array, texels).has_value());
  CHECK(std::memcmp(texels.data(), plain.data(), 96) == 0);
  std::array<std::byte, 96> bytes{};
  REQUIRE(copy(array, bytes).has_value());
  CHECK(std::memcmp(bytes.data(), plain.data(), 96) == 0);
  std::vector<unsigned char> wide(40 * 4);
  const auto rows = pitched_host_span<unsigned char>::from_native(wide.data(), {24, 4}, 40);
  REQUIRE(copy(array, rows).has_value());
  for (std::size_t i = 0; i < 96; ++i) CHECK(wide[i / 24 * 40 + i % 24] == plain[i]);
  const auto untyped = value_of(
      cuda_array<>::create(device, {array_format::unsigned_int8, 4}, {.width = 6, .height = 4}));
  REQUIRE(copy(texels, untyped).has_value());
  REQUIRE(copy(untyped, array).has_value());
  REQUIRE(copy(cuda_array_ref<rgba>(array), bytes).has_value());
  CHECK(std::memcmp(bytes.data(), plain.data(), 96) == 0);
}

TEST_CASE("copy: refuses what does not fit an array", "[texture][copy]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto array = value_of(cuda_array<float>::create(device, {.width = 20, .height = 10}));
  std::vector<float> host(199);
  const gpu::cuda_error short_one = error_of(copy(host, array));
  CHECK(short_one == gpu::errc::size_mismatch);
  CHECK(says(short_one, "the source has 199 elements", "20 x 10 x 1 texels", "200"));
  CHECK(says(error_of(copy(array, host, {.size = {20, 9}})), "the destination has 199", "180"));
  const std::size_t wraps = std::size_t{1} << 62;
  const gpu::cuda_error endless = error_of(copy(array, host, {.size = {wraps, 2, 2}}));
  CHECK(endless == gpu::errc::size_mismatch);
  CHECK(says(endless, "4611686018427387904 x 2 x 2 texels", "needs more than memory can have"));
  CHECK(error_of(copy(array, std::vector<float>{}, {.size = {wraps, 2, 2}})) ==
        gpu::errc::size_mismatch);
  // A length of 0 is 0 texels.
  CHECK(says(error_of(copy(array, host, {.size = {0, 10}})), "0 x 10 x 1 texels", "needs 0"));
  CHECK(copy(array, std::vector<float>{}, {.size = {0, 10}}).has_value());
  const gpu::cuda_error outside =
      error_of(copy(stream, array, array, {.destination = {1, 0}, .size = {20, 10}}));
  CHECK(outside == gpu::errc::index_out_of_range);
  CHECK(says(outside, "the destination, which is 20 x 10 x 1"));
  const auto untyped =
      value_of(cuda_array<>::create(device, {array_format::half, 2}, {.width = 20, .height = 10}));
  const gpu::cuda_error other = error_of(copy(stream, array, untyped));
  CHECK(other == gpu::errc::invalid_argument);
  CHECK(says(other, "1 channel of float_", "2 channels of half"));
  CHECK(says(error_of(copy(host, untyped)), "2 channels of half", "the source are 1 channel"));
  std::vector<double> doubles(200);
  CHECK(says(error_of(copy(untyped, doubles)), "not texels, with 8 bytes each"));
  CHECK(says(error_of(copy(untyped, std::array<bool, 800>{})), "not texels, with 1 byte each."));
  const auto quads =
      value_of(cuda_array<>::create(device, {array_format::half, 4}, {.width = 4, .height = 4}));
  std::vector<gpu::channels<gpu::half_bits, 2>> pairs(32);  // neither texels nor channels
  CHECK(says(error_of(copy(pairs, quads)), "4 channels of half", "2 channels of half"));
  CHECK(says(error_of(copy(array, host, {.source = {20, 0}})), "0 x 10 x 1 texels"));
  std::vector<gpu::half_bits> odd(401);
  const auto rows = pitched_host_span<gpu::half_bits>::from_native(odd.data(), {39, 10}, 80);
  CHECK(says(error_of(copy(rows, untyped)), "39 elements",
             "a multiple of the 2 elements of a texel"));
  CHECK(error_of(copy(cuda_array_ref<float>{}, host)) == gpu::errc::empty_handle);
  CHECK(says(error_of(copy(array, cuda_array_ref<float>{})), "the destination is empty"));
  CHECK(error_of(copy(gpu::stream_ref{}, array, array)) == gpu::errc::empty_handle);
  const auto frame = cuda_array_ref<>::from_native(array.native(), array.context(), array.shape(),
                                                   {array_format::nv12, 3});
  const gpu::cuda_error planes = error_of(copy(host, frame));
  CHECK(planes == gpu::errc::invalid_argument);
  CHECK(says(planes, "3 channels of nv12", "Copy its planes"));
  const auto later = cuda_array_ref<>::from_native(array.native(), array.context(), array.shape(),
                                                   {static_cast<array_format>(0x1fe), 1});
  CHECK(says(error_of(copy(host, later)), "1 channel of format 510"));
}

TEST_CASE("copy: arrays of two devices", "[texture][copy][cpu]") {
  test::own_cpu_driver driver({.devices = 2});
  const gpu::device one = value_of(gpu::device::get(0)), two = value_of(gpu::device::get(1));
  const gpu::stream stream = value_of(gpu::stream::create(one));
  const auto here = value_of(cuda_array<int>::create(one, {.width = 4}));
  const auto there = value_of(cuda_array<int>::create(two, {.width = 4}));
  const auto also_there = value_of(cuda_array<int>::create(two, {.width = 4}));
  REQUIRE(copy(std::vector<int>{1, 2, 3, 4}, here).has_value());
  REQUIRE(copy(here, there).has_value());
  std::vector<int> back(4);
  REQUIRE(copy(there, back).has_value());
  CHECK(back == std::vector<int>{1, 2, 3, 4});
  REQUIRE(copy(std::vector<int>{9, 8, 7, 6}, also_there).has_value());
  REQUIRE(copy(stream, also_there, here).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(here, back).has_value());
  CHECK(back == std::vector<int>{9, 8, 7, 6});
  CHECK(error_of(copy(stream, there, also_there)) == gpu::errc::wrong_context);
  auto near = value_of(gpu::device_buffer<int>::create(one, 4));
  REQUIRE(copy(std::vector<int>{5, 5, 6, 6}, near).has_value());
  REQUIRE(copy(stream, near, there).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(there, back).has_value());
  CHECK(back == std::vector<int>{5, 5, 6, 6});
}

TEST_CASE("copy: a capture records copies of arrays", "[texture][copy]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto array = value_of(cuda_array<int>::create(device, {.width = 8, .height = 2}));
  auto from = value_of(gpu::pinned_vector<int>::create(device, 16));
  auto to = value_of(gpu::device_buffer<int>::create(device, 16));
  std::iota(from.begin(), from.end(), 5);
  REQUIRE(copy(std::vector<int>(16), to).has_value());
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  CHECK(copy(stream, from, array).has_value());
  CHECK(copy(stream, array, to).has_value());
  CUgraph graph = nullptr;
  REQUIRE(test::driver().stream_end_capture(stream.native(), &graph) == CUDA_SUCCESS);
  std::size_t nodes = 0;
  REQUIRE(test::driver().graph_get_nodes(graph, nullptr, &nodes) == CUDA_SUCCESS);
  CHECK(nodes == 2);
  const auto scope =
      value_of(gpu::context_scope::enter(stream.context()));  // instantiation needs one
  CUDA_GRAPH_INSTANTIATE_PARAMS options{};
  CUgraphExec exec = nullptr;
  REQUIRE(test::driver().graph_instantiate_with_params(&exec, graph, &options) == CUDA_SUCCESS);
  REQUIRE(test::driver().graph_launch(exec, stream.native()) == CUDA_SUCCESS);
  REQUIRE(stream.synchronize().has_value());
  std::vector<int> back(16);
  REQUIRE(copy(to, back).has_value());
  CHECK(back == std::vector<int>(from.begin(), from.end()));
  CHECK(test::driver().graph_exec_destroy(exec) == CUDA_SUCCESS);
  CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
}

TEST_CASE("copy: arrays survive every failing call", "[texture][copy][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto a = GPU_TRY(cuda_array<int>::create(device, {.width = 4, .height = 4}));
              auto b = GPU_TRY(cuda_array<int>::create(device, {.width = 4, .height = 4}));
              std::vector<int> host(16);
              GPU_TRY(copy(host, a));
              GPU_TRY(copy(stream, a, b));
              GPU_TRY(copy(b, host));
              GPU_TRY(copy(a, b));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace copy_array_test
