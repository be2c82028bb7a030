#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/fill.hpp>

#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/copy_batch.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pitched_span.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace copy_box_test {

using gpu::box_extent;
using gpu::pitched_buffer;
using gpu::pitched_host_span;
using gpu::pitched_pinned_span;
using gpu::pitched_span;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<pitched_buffer<int>>);
static_assert(std::is_nothrow_move_constructible_v<pitched_buffer<int>>);
static_assert(std::is_trivially_copyable_v<pitched_span<int>>);
static_assert(std::is_convertible_v<pitched_span<int>, pitched_span<const int>>);
static_assert(!std::is_convertible_v<pitched_span<const int>, pitched_span<int>>);
static_assert(!std::is_convertible_v<pitched_host_span<int>, pitched_span<int>>);
static_assert(gpu::kernel_argument_for<pitched_buffer<int>&, pitched_span<int>>);
static_assert(gpu::kernel_argument_for<pitched_buffer<int>&, int*>);
static_assert(!gpu::kernel_argument_for<pitched_buffer<int>, int*>);

namespace {

/// A box on the host whose rows and planes have gaps, every element different.
struct host_box {
  explicit host_box(box_extent of, std::size_t gap = 0)
      : size{of}, row{of.width + gap}, rows{of.height + gap}, values(row * rows * of.depth, -1) {}

  std::size_t index(std::size_t x, std::size_t y, std::size_t z) const {
    return (z * rows + y) * row + x;
  }
  void count() {
    int next = 0;
    for (std::size_t z = 0; z < size.depth; ++z)
      for (std::size_t y = 0; y < size.height; ++y)
        for (std::size_t x = 0; x < size.width; ++x) values[index(x, y, z)] = next++;
  }
  pitched_host_span<int> span() {
    return pitched_host_span<int>::from_native(values.data(), size, row * sizeof(int), rows);
  }

  box_extent size;
  std::size_t row, rows;
  std::vector<int> values;
};

}  // namespace

TEST_CASE("pitched_buffer: rows begin where the device likes it", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const auto buffer = value_of(pitched_buffer<float>::create(device, {100, 20, 3}));
  CHECK(buffer.size() == box_extent{100, 20, 3});
  CHECK(buffer.pitch() >= 400);
  CHECK(buffer.pitch() % 16 == 0);
  CHECK(buffer.native() % 256 == 0);
  CHECK(buffer.device() == device);
  CHECK(buffer.span().pitch() == buffer.pitch());
  CHECK(value_of(pitched_buffer<float>::create(device, {0, 20})).empty());
  CHECK(error_of(pitched_buffer<double>::create(device, {~std::size_t{0} / 2, 2})) ==
        gpu::errc::size_overflow);
  const gpu::cuda_error much =
      error_of(pitched_buffer<char>::create(device, {std::size_t{1} << 30, std::size_t{1} << 20}));
  CHECK(much.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(says(much, "asked for 1125899906842624 bytes"));
}

TEST_CASE("copy: a box goes to the device and back", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  for (const box_extent size :
       {box_extent{37, 1, 1}, box_extent{37, 11, 1}, box_extent{37, 11, 5}}) {
    auto buffer = value_of(pitched_buffer<int>::create(device, size));
    host_box from(size, 3), to(size, 1);
    from.count();
    REQUIRE(copy(from.span(), buffer.span()).has_value());
    REQUIRE(copy(buffer.span(), to.span()).has_value());
    host_box expected(size, 1);
    expected.count();
    CHECK(to.values == expected.values);  // and the gaps are as they were
    // The same memory, named from outside.
    const auto named = pitched_span<int>::from_native(reinterpret_cast<int*>(buffer.native()), size,
                                                      buffer.pitch(), size.height);
    CHECK(named.plane_rows() == buffer.span().plane_rows());
    host_box again(size, 1);
    REQUIRE(copy(named, again.span()).has_value());
    CHECK(again.values == expected.values);
  }
}

TEST_CASE("copy: what came to a device is waited for, as the driver does not",
          "[memory][pitched]") {
  const gpu::device device = test::first_device();
  auto buffer = value_of(pitched_buffer<int>::create(device, {4, 4}));
  host_box box({4, 4});
  const test::noted_calls<&gpu::driver::entry_points::ctx_synchronize> waits;
  REQUIRE(copy(box.span(), buffer).has_value());
  CHECK(waits.count() == 2);  // before and after
  REQUIRE(copy(buffer, box.span()).has_value());
  CHECK(waits.count() == 3);
}

TEST_CASE("copy: rows of any pitch, in memory of any kind that a device reaches",
          "[memory][pitched]") {
  const gpu::device device = test::first_device();
  auto plain = value_of(gpu::device_buffer<char>::create(device, 63));
  auto managed = value_of(gpu::managed_buffer<char>::create(device, 63));
  std::vector<char> from(60), gaps(63, '-'), to(60);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>('0' + i);
  REQUIRE(gpu::copy(gaps, plain).has_value());
  for (char& each : managed) each = '-';
  // Rows of 20 bytes, 21 apart.
  const auto first = pitched_span<char>::from_native(plain.data(), {20, 3}, 21);
  const auto second = pitched_span<char>::from_native(managed.data(), {20, 3}, 21);
  REQUIRE(
      copy(pitched_host_span<const char>::from_native(from.data(), {20, 3}), first).has_value());
  const gpu::stream stream = value_of(gpu::stream::create(device));
  REQUIRE(copy(stream, first, second).has_value());
  REQUIRE(stream.synchronize().has_value());
  for (std::size_t i = 0; i < 63; ++i)
    CHECK(managed[i] == (i % 21 == 20 ? '-' : from[i / 21 * 20 + i % 21]));
  REQUIRE(copy(second, pitched_host_span<char>::from_native(to.data(), {20, 3})).has_value());
  CHECK(to == from);
}

TEST_CASE("copy: a part of a box goes to a part of another", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto one = value_of(pitched_buffer<int>::create(device, {20, 10, 4}));
  auto two = value_of(pitched_buffer<int>::create(device, {15, 12, 6}));
  host_box from({20, 10, 4}), to({15, 12, 6});
  from.count();
  REQUIRE(copy(from.span(), one.span()).has_value());
  REQUIRE(copy(to.span(), two.span()).has_value());  // all -1
  REQUIRE(copy(stream, one.span(), two.span(),
               {.source = {3, 2, 1}, .destination = {5, 6, 2}, .size = {7, 4, 3}})
              .has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(two.span(), to.span()).has_value());
  host_box expected({15, 12, 6});
  for (std::size_t z = 0; z < 3; ++z)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 0; x < 7; ++x)
        expected.values[expected.index(5 + x, 6 + y, 2 + z)] =
            from.values[from.index(3 + x, 2 + y, 1 + z)];
  CHECK(to.values == expected.values);
}

TEST_CASE("copy: boxes in page-locked memory are copied on a stream", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(pitched_buffer<int>::create(device, {8, 4}));
  auto from = value_of(gpu::pinned_vector<int>::create(device, 32));
  auto to = value_of(gpu::pinned_vector<int>::create(device, 32));
  for (std::size_t i = 0; i < 32; ++i) from[i] = static_cast<int>(i);
  const auto source = pitched_pinned_span<const int>::from_native(from.data(), {8, 4});
  const auto destination = pitched_pinned_span<int>::from_native(to.data(), {8, 4});
  REQUIRE(copy(stream, source, buffer.span()).has_value());
  REQUIRE(copy(stream, buffer.span(), destination).has_value());
  REQUIRE(stream.synchronize().has_value());
  CHECK(to == from);
}

TEST_CASE("copy: buffers of boxes are passed as they are", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto image = value_of(pitched_buffer<int>::create(device, {8, 4}));
  auto corner = value_of(pitched_buffer<int>::create(device, {3, 2}));
  const pitched_buffer<int>& reading = image;
  host_box from({8, 4}), to({3, 2});
  from.count();
  REQUIRE(copy(from.span(), image).has_value());
  REQUIRE(copy(stream, reading, corner, {.source = {5, 2}}).has_value());
  REQUIRE(copy(stream, {gpu::box_copy(reading, corner, {.source = {5, 2}, .size = {1, 1}})})
              .has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(corner, to.span()).has_value());
  CHECK(to.values == std::vector<int>{21, 22, 23, 29, 30, 31});
  REQUIRE(fill(stream, corner, 9).has_value());
  REQUIRE(copy(stream, corner, image, {.destination = {1, 1}}).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(image, corner, {.size = {3, 2}}).has_value());
  REQUIRE(copy(corner, to.span()).has_value());
  CHECK(to.values == std::vector<int>{0, 1, 2, 8, 9, 9});
  REQUIRE(copy(stream, image, image).has_value());
  REQUIRE(copy(image, image).has_value());
}

TEST_CASE("copy: buffers of boxes know their context", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::context own = value_of(gpu::context::create(device));
  auto here = value_of(pitched_buffer<int>::create(device, {2, 2}));
  auto there = value_of(pitched_buffer<int>::create(own, {2, 2}));
  auto other = value_of(pitched_buffer<int>::create(own, {2, 2}));
  host_box from({2, 2}), to({2, 2});
  from.count();
  for (const gpu::cuda_error& error :
       {error_of(copy(stream, there, other)), error_of(fill(stream, there, 1)),
        error_of(copy(stream, {gpu::box_copy(there, other)}))}) {
    CHECK(error == gpu::errc::wrong_context);
    CHECK(says(error, "stream belongs to device 0", "another context of device 0"));
  }
  // Between the two, without a word about contexts. Written before, for initcheck does not see what
  // copies between peers write.
  REQUIRE(copy(to.span(), there).has_value());
  REQUIRE(copy(from.span(), here).has_value());
  REQUIRE(copy(stream, here, there).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(there, to.span()).has_value());
  CHECK(to.values == from.values);
  REQUIRE(copy(to.span(), other).has_value());
  REQUIRE(copy(other, here).has_value());
}

TEST_CASE("copy: a buffer of boxes that was moved from is refused", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto gone = value_of(pitched_buffer<int>::create(device, {2, 2}));
  auto none = value_of(pitched_buffer<int>::create(device, {0, 2}));
  auto taken = std::move(gone);
  CHECK(copy(stream, none, none).has_value());
  CHECK(fill(stream, none, 1).has_value());
  for (const gpu::cuda_error& error :
       {error_of(copy(stream, taken, gone)), error_of(copy(taken, gone)),
        error_of(fill(stream, gone, 1)), error_of(copy(stream, {gpu::box_copy(taken, gone)}))}) {
    CHECK(error == gpu::errc::empty_handle);
    CHECK(says(error, "the destination is empty: it was moved from", "copy_2d_test.cpp"));
  }
}

TEST_CASE("copy: refuses boxes that do not fit", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(pitched_buffer<int>::create(device, {20, 10}));
  host_box box({20, 10});
  const gpu::cuda_error outside =
      error_of(copy(box.span(), buffer.span(), {.destination = {5, 0}, .size = {16, 10}}));
  CHECK(outside == gpu::errc::index_out_of_range);
  CHECK(says(outside, "16 x 10 x 1 at (5, 0, 0)", "the destination, which is 20 x 10 x 1"));
  CHECK(says(error_of(copy(box.span(), buffer.span(), {.source = {0, 11}})), "the source"));
  CHECK(says(error_of(copy(stream, buffer.span(), buffer.span(),
                           {.source = {0, 0, 1}, .size = {1, 1, 1}})),
             "the source, which is 20 x 10 x 1"));
  const auto narrow = pitched_host_span<int>::from_native(box.values.data(), {20, 10}, 79);
  const gpu::cuda_error pitch = error_of(copy(narrow, buffer.span()));
  CHECK(pitch == gpu::errc::invalid_argument);
  CHECK(says(pitch, "20 elements of 4 bytes", "pitch is 79 bytes"));
  const auto flat = pitched_host_span<int>::from_native(box.values.data(), {2, 10, 2}, 8, 9);
  CHECK(says(error_of(copy(flat, buffer.span())), "10 rows, but plane_rows is 9"));
  CHECK(error_of(copy(gpu::stream_ref{}, buffer.span(), buffer.span())) == gpu::errc::empty_handle);
  CHECK(says(error_of(fill(gpu::stream_ref{}, buffer.span(), 1)), "gpu::fill", "stream is empty"));
  CHECK(says(error_of(pitched_buffer<int>::create(gpu::context_ref{}, {2, 2})),
             "gpu::pitched_buffer::create", "context is empty"));
  CHECK(copy(box.span(), buffer.span(), {.source = {20, 0}}).has_value());  // nothing
}

TEST_CASE("copy: a part of no elements is nothing, and one to the edge is what is left",
          "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto from = value_of(pitched_buffer<int>::create(device, {4, 3}));
  auto to = value_of(pitched_buffer<int>::create(device, {4, 3}));
  REQUIRE(fill(stream, from, 1).has_value());
  REQUIRE(fill(stream, to, 2).has_value());
  const std::size_t visible = 0;
  CHECK(copy(stream, from, to, {.size = {visible, 3}}).has_value());
  CHECK(copy(stream, from, to, {.size = {visible}}).has_value());
  CHECK(copy(stream, from, to, {.size = {4, visible}}).has_value());
  CHECK(copy(stream, {gpu::box_copy(from, to, {.size = {visible, 3}})}).has_value());
  CHECK(stream.synchronize().has_value());
  CHECK(copy(from, to, {.size = {visible, 3}}).has_value());
  host_box seen({4, 3});
  REQUIRE(copy(to, seen.span()).has_value());
  CHECK(seen.values == std::vector<int>(12, 2));
  // Outside is outside, also for nothing.
  CHECK(error_of(copy(from, to, {.source = {5}, .size = {visible}})) ==
        gpu::errc::index_out_of_range);
  REQUIRE(copy(stream, from, to, {.source = {1, 1}, .size = {gpu::to_the_edge}}).has_value());
  REQUIRE(copy(stream, from, to, {.source = {3, 1}, .destination = {3, 1}}).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(to, seen.span()).has_value());
  CHECK(seen.values == std::vector<int>{1, 1, 1, 2, 2, 2, 2, 1, 2, 2, 2, 1});
}

TEST_CASE("copy, fill: boxes of more bytes than there are addresses are refused",
          "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 64));
  std::vector<int> host(64);
  constexpr std::size_t one = 1;
  for (const box_extent size : {box_extent{1, one << 33, one << 31}, box_extent{4, one << 62, 4},
                                box_extent{8, one << 61}}) {
    const auto box = pitched_span<int>::from_native(buffer.data(), size);
    const auto back = pitched_host_span<int>::from_native(host.data(), size);
    for (const gpu::cuda_error& error :
         {error_of(fill(stream, box, 5)), error_of(copy(stream, box, box)),
          error_of(copy(box, back)), error_of(copy(stream, {gpu::box_copy(box, box)}))}) {
      CHECK(error == gpu::errc::size_overflow);
      CHECK(says(error, "more bytes than memory can have", "Check the extents"));
    }
  }
  const auto none = pitched_span<int>::from_native(buffer.data(), {0, one << 40, one << 40}, 4);
  CHECK(fill(stream, none, 5).has_value());
  CHECK(says(
      error_of(fill(stream, pitched_span<int>::from_native(buffer.data(), {1, one << 62, 4}), 5)),
      "the destination has 4 planes of 4611686018427387904 rows of 4 bytes"));
}

TEST_CASE("pitched_buffer: says what is wrong with its extents", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  constexpr std::size_t one = 1;
  const gpu::cuda_error all =
      error_of(pitched_buffer<float>::create(device, {1, one << 40, one << 40}));
  CHECK(all == gpu::errc::size_overflow);
  CHECK(
      says(all, "1 x 1099511627776 x 1099511627776 elements of 4 bytes", "Request fewer elements"));
  CHECK(value_of(pitched_buffer<float>::create(device, {0, one << 40, one << 40})).empty());
}

TEST_CASE("pitched_buffer: says where rows are longer than the device takes",
          "[memory][pitched][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::cuda_error row =
      error_of(pitched_buffer<float>::create(device, {std::size_t{1} << 40}));
  CHECK(row == gpu::errc::invalid_argument);
  CHECK(says(row, "gpu::pitched_buffer::create", "each row has 4398046511104 bytes",
             "device 0 allows at most 2147483647", "Use shorter rows"));
  CHECK(row.asked() == std::uint64_t{1} << 42);
  CHECK(row.limit() == 2147483647);
}

TEST_CASE("fill: a box, and not what is between its rows", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(pitched_buffer<int>::create(device, {20, 10, 3}));
  host_box box({20, 10, 3});
  box.count();
  REQUIRE(copy(box.span(), buffer.span()).has_value());
  const auto part =
      pitched_span<int>::from_native(buffer.data() + 2, {5, 4, 3}, buffer.pitch(), 10);
  REQUIRE(fill(stream, part, 77).has_value());
  REQUIRE(stream.synchronize().has_value());
  host_box back({20, 10, 3});
  REQUIRE(copy(buffer.span(), back.span()).has_value());
  for (std::size_t z = 0; z < 3; ++z)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 2; x < 7; ++x) box.values[box.index(x, y, z)] = 77;
  CHECK(back.values == box.values);
  REQUIRE(fill(stream, buffer.span(), -5).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(buffer.span(), back.span()).has_value());
  CHECK(back.values == std::vector<int>(600, -5));
}

TEST_CASE("fill: boxes of small elements", "[memory][pitched]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto bytes = value_of(pitched_buffer<unsigned char>::create(device, {10, 3}));
  auto words = value_of(pitched_buffer<short>::create(device, {10, 3}));
  REQUIRE(fill(stream, bytes.span(), static_cast<unsigned char>(200)).has_value());
  REQUIRE(fill(stream, words.span(), short{-300}).has_value());
  REQUIRE(stream.synchronize().has_value());
  std::vector<unsigned char> b(30);
  std::vector<short> w(30);
  REQUIRE(copy(bytes.span(), pitched_host_span<unsigned char>::from_native(b.data(), {10, 3}))
              .has_value());
  REQUIRE(copy(words.span(), pitched_host_span<short>::from_native(w.data(), {10, 3})).has_value());
  CHECK(b == std::vector<unsigned char>(30, 200));
  CHECK(w == std::vector<short>(30, -300));
  const auto odd = pitched_span<short>::from_native(words.data(), {10, 2}, 21);
  CHECK(says(error_of(fill(stream, odd, short{1})), "pitch of 21 bytes", "elements of 2 bytes"));
  const auto narrow = pitched_span<short>::from_native(words.data(), {10, 2}, 18);
  CHECK(says(error_of(fill(stream, narrow, short{1})), "pitch is 18 bytes"));
}

TEST_CASE("pitched_buffer: goes back once, and each call may fail", "[memory][pitched][cpu]") {
  {
    test::own_cpu_driver driver;
    const gpu::device device = test::first_device();
    value_of(gpu::context::primary(device));
    const std::size_t before = driver.live_objects();
    {
      auto a = value_of(pitched_buffer<int>::create(device, {10, 10}));
      auto b = value_of(pitched_buffer<int>::create(device, {2000, 20}));
      const std::size_t pitch = b.pitch();
      REQUIRE(pitch != a.pitch());
      a = std::move(b);
      CHECK(driver.live_objects() == before + 1);
      CHECK(a.size() == box_extent{2000, 20});
      CHECK(a.pitch() == pitch);
      CHECK(b.empty());
      CHECK(b.pitch() == 0);
    }
    CHECK(driver.live_objects() == before);
  }
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto buffer = GPU_TRY(pitched_buffer<int>::create(device, {10, 10}));
              auto other = GPU_TRY(pitched_buffer<int>::create(device, {10, 10}));
              host_box box({10, 10});
              const auto bytes = gpu::pitched_span<char>::from_native(
                  reinterpret_cast<char*>(buffer.native()), {8, 2}, buffer.pitch());
              const auto halves = gpu::pitched_span<short>::from_native(
                  reinterpret_cast<short*>(buffer.native()), {8, 2}, buffer.pitch());
              GPU_TRY(fill(stream, buffer.span(), 1));
              GPU_TRY(fill(stream, bytes, char{1}));
              GPU_TRY(fill(stream, halves, short{1}));
              GPU_TRY(copy(stream, buffer.span(), other.span()));
              GPU_TRY(copy(other.span(), box.span()));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace copy_box_test
