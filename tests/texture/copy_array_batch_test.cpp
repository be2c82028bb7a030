#include <gpu/texture/copy_array_batch.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/copy_batch.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/cuda_array.hpp>

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace copy_array_batch_test {

using gpu::array_copy;
using gpu::cuda_array;
using gpu::pitched_host_span;
using gpu::pitched_span;
using test::error_of;
using test::says;
using test::value_of;

namespace {

using pair = gpu::channels<short, 2>;

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::pinned_vector<int> pinned = value_of(gpu::pinned_vector<int>::create(device, 24));

  fixture() { std::iota(pinned.begin(), pinned.end(), 1); }

  cuda_array<int> array(const gpu::array_shape& shape) const {
    auto made = value_of(cuda_array<int>::create(device, shape));
    const gpu::box_extent size = shape.extent();
    value_of(gpu::copy(std::vector<int>(size.width * size.height * size.depth), made));
    return made;
  }
};

template <class T> std::vector<T> contents(const cuda_array<T>& array) {
  const gpu::box_extent size = array.shape().extent();
  std::vector<T> texels(size.width * size.height * size.depth);
  value_of(gpu::copy(array, texels));
  return texels;
}

}  // namespace

TEST_CASE("copy: a batch goes to, from and between arrays", "[texture][copy][batch]") {
  fixture f;
  const auto whole = f.array({.width = 6, .height = 4});
  const auto volume = f.array({.width = 5, .height = 4, .depth = 3});
  const auto source = f.array({.width = 6, .height = 4});
  auto back = value_of(gpu::pinned_vector<int>::create(f.device, 4));
  auto box = value_of(gpu::pitched_buffer<int>::create(f.device, {3, 2, 2}));
  std::vector<int> before(24);
  std::iota(before.begin(), before.end(), 101);
  value_of(gpu::copy(before, source));
  std::vector<int> planes(12);
  std::iota(planes.begin(), planes.end(), 51);
  value_of(gpu::copy(pitched_host_span<int>::from_native(planes.data(), {3, 2, 2}), box.span()));
  gpu::copy_hints hints;
  hints.source = f.device;
  hints.prefer_overlap_with_compute = true;
  value_of(gpu::copy(
      f.stream,
      {array_copy(f.pinned, whole),
       array_copy(source, volume, {.source = {1, 2}, .destination = {3, 1}, .size = {2, 2}}),
       array_copy(box.span(), volume, {.destination = {0, 2, 1}}, hints),
       array_copy(source, back, {.source = {2, 1}, .size = {2, 2}})}));
  value_of(f.stream.synchronize());
  CHECK(contents(whole) == std::vector<int>(f.pinned.begin(), f.pinned.end()));
  std::vector<int> expected(60);
  for (std::size_t y = 0; y < 2; ++y)
    for (std::size_t x = 0; x < 2; ++x) expected[(1 + y) * 5 + 3 + x] = before[(2 + y) * 6 + 1 + x];
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 2; ++y)
      for (std::size_t x = 0; x < 3; ++x)
        expected[((1 + z) * 4 + 2 + y) * 5 + x] = planes[(z * 2 + y) * 3 + x];
  CHECK(contents(volume) == expected);
  CHECK(std::vector<int>(back.begin(), back.end()) == std::vector<int>{109, 110, 115, 116});
}

TEST_CASE("copy: a batch counts in texels of any size", "[texture][copy][batch]") {
  fixture f;
  const auto array = value_of(cuda_array<pair>::create(f.device, {.width = 5, .layers = 3}));
  value_of(gpu::copy(std::vector<short>(30), array));
  std::vector<short> wide(40);
  std::iota(wide.begin(), wide.end(), short{1});
  // Planes of two rows of 20 channels, of which the first has six.
  const auto channels = pitched_host_span<short>::from_native(wide.data(), {6, 1, 2}, 20, 2);
  const auto untyped =
      value_of(cuda_array<>::create(f.device, {gpu::array_format::unsigned_int8, 1}, {.width = 7}));
  const std::vector<unsigned char> bytes{1, 2, 3, 4, 5, 6, 7};
  std::vector<array_copy> copies{
      array_copy::read_now(channels, array,
                           {.source = {1}, .destination = {3, 0, 1}, .size = {2, 1, 2}}),
      array_copy::read_now(bytes, untyped)};
  value_of(gpu::copy(f.stream, copies));
  value_of(f.stream.synchronize());
  std::vector<pair> expected(15, pair{{0, 0}});
  expected[5 + 3] = {{3, 4}};
  expected[5 + 4] = {{5, 6}};
  expected[10 + 3] = {{23, 24}};
  expected[10 + 4] = {{25, 26}};
  CHECK(contents(array) == expected);
  std::vector<std::byte> back(7);
  value_of(gpu::copy(untyped, back));
  CHECK(std::equal(back.begin(), back.end(), bytes.begin(),
                   [](std::byte a, unsigned char b) { return a == std::byte{b}; }));
}

TEST_CASE("copy: a batch has read the host's pixels when it returns", "[texture][copy][batch]") {
  fixture f;
  const auto array = f.array({.width = 3});
  {
    std::vector<int> gone{7, 8, 9};
    value_of(gpu::copy(f.stream, {array_copy::read_now(gone, array)}));
    gone.assign(3, 0);
  }
  value_of(f.stream.synchronize());
  CHECK(contents(array) == std::vector<int>{7, 8, 9});
  // A driver need not read so early unless it is asked to.
  static CUmemcpySrcAccessOrder asked;
  gpu::driver::entry_points noting = test::driver();
  noting.memcpy_3d_batch_async = [](std::size_t, CUDA_MEMCPY3D_BATCH_OP* copies, unsigned long long,
                                    CUstream) {
    asked = copies->srcAccessOrder;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(noting);
  const std::vector<int> host(3);
  value_of(gpu::copy(f.stream, {array_copy::read_now(host, array)}));
  CHECK(asked == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
  value_of(gpu::copy(f.stream, {array_copy(f.pinned.span().first(3), array)}));
  CHECK(asked == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
}

TEST_CASE("copy: what is wrong with a batch of arrays is said, and nothing is copied",
          "[texture][copy][batch]") {
  fixture f;
  const auto array = f.array({.width = 6, .height = 4});
  const auto refused = [&](const array_copy& wrong) {
    return error_of(gpu::copy(f.stream, {array_copy(f.pinned, array), wrong}));
  };
  const gpu::cuda_error few = refused(array_copy(f.pinned.span().first(5), array));
  CHECK(few == gpu::errc::size_mismatch);
  CHECK(says(few, "the source has 5 elements", "6 x 4 x 1", "24"));
  const gpu::cuda_error outside = refused(array_copy(array, array, {.source = {7}, .size = {1}}));
  CHECK(outside == gpu::errc::index_out_of_range);
  const auto others = value_of(
      cuda_array<>::create(f.device, {gpu::array_format::half, 2}, {.width = 6, .height = 4}));
  CHECK(
      says(refused(array_copy(array, others)), "1 channel of signed_int32", "2 channels of half"));
  CHECK(refused(array_copy(gpu::cuda_array_ref<int>{}, f.pinned)) == gpu::errc::empty_handle);
  CHECK(refused(array_copy(f.pinned, gpu::cuda_array_ref<int>{})) == gpu::errc::empty_handle);
  auto rows = value_of(gpu::pitched_buffer<int>::create(f.device, {6, 4}));
  const auto kept = std::move(rows);
  CHECK(says(refused(array_copy(rows, array)), "the source is empty: it was moved from"));
  CHECK(says(refused(array_copy(array, rows)), "the destination is empty: it was moved from"));
  auto room = value_of(gpu::device_buffer<std::byte>::create(f.device, 4 * 26));
  const auto odd = pitched_span<std::byte>::from_native(reinterpret_cast<std::byte*>(room.native()),
                                                        {24, 4}, 26);
  const gpu::cuda_error pitch = refused(array_copy(odd, array));
  CHECK(pitch == gpu::errc::invalid_argument);
  CHECK(says(pitch, "the source has a pitch of 26 bytes", "the texel size of 4", "on its own"));
  CHECK(says(refused(array_copy(array, odd)), "the destination has a pitch of 26"));
  gpu::copy_hints hints;
  hints.source_order = static_cast<gpu::source_access_order>(9);
  CHECK(says(refused(array_copy(array, array, {}, hints)),
             "9 is not a valid gpu::source_access_order"));
  const gpu::context own = value_of(gpu::context::create(f.device));
  const gpu::stream elsewhere = value_of(gpu::stream::create(own));
  CHECK(error_of(gpu::copy(elsewhere, {array_copy(f.pinned, array)})) == gpu::errc::wrong_context);
  value_of(f.stream.synchronize());
  CHECK(contents(array) == std::vector<int>(24));
  // What a batch refuses is copied by itself.
  CHECK(gpu::copy(f.stream, array, odd).has_value());
  value_of(f.stream.synchronize());
}

TEST_CASE("copy: a batch of arrays is refused in a capture, which goes on",
          "[texture][copy][batch][graph]") {
  fixture f;
  const auto array = f.array({.width = 6, .height = 4});
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  const gpu::cuda_error error = error_of(gpu::copy(f.stream, {array_copy(f.pinned, array)}));
  CHECK(error.code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(says(error, "one by one"));
  value_of(gpu::copy(f.stream, f.pinned, array));
  CHECK(value_of(value_of(capture.end()).nodes()).size() == 1);
}

TEST_CASE("copy: each driver call of a batch of arrays may fail",
          "[texture][copy][batch][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto a = GPU_TRY(cuda_array<int>::create(device, {.width = 4}));
              auto b = GPU_TRY(cuda_array<int>::create(device, {.width = 4}));
              const std::vector<int> host(4);
              GPU_TRY(gpu::copy(stream, {array_copy::read_now(host, a)}));
              GPU_TRY(gpu::copy(stream, {array_copy(a, b)}));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace copy_array_batch_test
