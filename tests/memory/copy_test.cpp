#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/copy_batch.hpp>
#include <gpu/memory/registered_memory.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace copy_test {

using gpu::device_buffer;
using gpu::device_span;
using gpu::pinned_vector;
using test::error_of;
using test::says;
using test::value_of;

namespace {

std::vector<int> counted(std::size_t count, int first = 1) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// Returns the contents of device memory, read by a raw driver call.
std::vector<int> raw_contents(device_span<const int> span, gpu::context_ref context) {
  std::vector<int> values(span.size());
  REQUIRE(test::driver().ctx_push_current(context.native()) == CUDA_SUCCESS);
  CHECK(test::driver().memcpy_dtoh(values.data(), span.native(), span.size_bytes()) ==
        CUDA_SUCCESS);
  CUcontext popped = nullptr;
  test::driver().ctx_pop_current(&popped);
  return values;
}

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));

  device_buffer<int> buffer(std::size_t count) {
    return value_of(device_buffer<int>::create(stream, count));
  }
  pinned_vector<int> pinned(const std::vector<int>& values) {
    pinned_vector<int> made = value_of(pinned_vector<int>::create(device));
    value_of(made.assign(values.begin(), values.end()));
    return made;
  }
};

}  // namespace

TEST_CASE("copy: every kind of host range, there and back, at once", "[memory][copy]") {
  fixture f;
  device_buffer<int> buffer = f.buffer(4);
  const std::array<int, 4> array{1, 2, 3, 4};
  REQUIRE(copy(array, buffer).has_value());
  CHECK(raw_contents(buffer, f.stream.context()) == std::vector<int>{1, 2, 3, 4});
  int plain[4] = {};
  REQUIRE(gpu::copy(buffer, plain).has_value());
  CHECK(std::equal(plain, plain + 4, array.begin()));

  REQUIRE(gpu::copy(std::vector<int>{5, 6, 7, 8}, buffer).has_value());
  std::vector<int> vector(4);
  REQUIRE(gpu::copy(buffer, std::span<int>(vector)).has_value());
  CHECK(vector == std::vector<int>{5, 6, 7, 8});

  pinned_vector<int> pinned = f.pinned({9, 10, 11, 12});
  REQUIRE(gpu::copy(pinned, buffer).has_value());
  REQUIRE(gpu::copy(buffer.span().subspan(1, 2), std::span<int>(vector).first(2)).has_value());
  CHECK(vector == std::vector<int>{10, 11, 7, 8});
}

TEST_CASE("copy: queued on a stream, in its order", "[memory][copy]") {
  fixture f;
  const std::size_t n = 10000;
  pinned_vector<int> source = f.pinned(counted(n));
  pinned_vector<int> destination = f.pinned(std::vector<int>(n));
  device_buffer<int> first = f.buffer(n), second = f.buffer(n);
  REQUIRE(copy(f.stream, source, first).has_value());
  REQUIRE(copy(f.stream, first, second).has_value());
  REQUIRE(copy(f.stream, second, destination).has_value());
  REQUIRE(f.stream.synchronize().has_value());
  CHECK(std::vector<int>(destination.begin(), destination.end()) == counted(n));
}

TEST_CASE("copy: parts of pinned and device memory", "[memory][copy]") {
  fixture f;
  pinned_vector<int> source = f.pinned({1, 2, 3, 4, 5, 6});
  pinned_vector<int> destination = f.pinned({0, 0, 0});
  device_buffer<int> buffer = f.buffer(10);
  REQUIRE(copy(f.stream, source.first(3), buffer.span().subspan(2, 3)).has_value());
  REQUIRE(copy(f.stream, std::as_const(buffer).span().subspan(2, 3), destination).has_value());
  REQUIRE(f.stream.synchronize().has_value());
  CHECK(std::vector<int>(destination.begin(), destination.end()) == std::vector<int>{1, 2, 3});
}

TEST_CASE("copy: from pinned to pinned memory", "[memory][copy]") {
  fixture f;
  pinned_vector<int> source = f.pinned({1, 2, 3});
  pinned_vector<int> destination = f.pinned({0, 0, 0});
  REQUIRE(copy(f.stream, source, destination).has_value());
  REQUIRE(f.stream.synchronize().has_value());
  CHECK(destination == source);
}

TEST_CASE("copy: at once between two places of a device", "[memory][copy]") {
  fixture f;
  device_buffer<int> a = f.buffer(5), b = f.buffer(5);
  REQUIRE(copy(counted(5), a).has_value());
  REQUIRE(copy(a, b).has_value());
  CHECK(raw_contents(b, f.stream.context()) == counted(5));
}

TEST_CASE("copy: at once waits for the work on every stream", "[memory][copy]") {
  fixture f;
  const std::size_t n = 1 << 16;
  device_buffer<int> buffer = f.buffer(n);
  pinned_vector<int> source = f.pinned(counted(n));
  REQUIRE(copy(f.stream, source, buffer).has_value());
  std::vector<int> back(n);
  REQUIRE(copy(buffer, back).has_value());
  CHECK(back == counted(n));
  // And what it wrote is there for the next work on any stream.
  REQUIRE(copy(counted(n, 7), buffer).has_value());
  REQUIRE(copy(f.stream, buffer, source).has_value());
  REQUIRE(f.stream.synchronize().has_value());
  CHECK(std::vector<int>(source.begin(), source.end()) == counted(n, 7));
}

TEST_CASE("copy: a span finds its context in a thread that has none", "[memory][copy]") {
  fixture f;
  device_buffer<int> pooled = f.buffer(3);
  device_buffer<int> plain = value_of(device_buffer<int>::create(f.device, 3));
  const gpu::context own = value_of(gpu::context::create(f.device));
  device_buffer<int> elsewhere = value_of(device_buffer<int>::create(own, 3));
  for (const device_span<int> span : {pooled.span(), plain.span(), elsewhere.span()}) {
    gpu::result<> there, back;
    std::vector<int> values(3);
    std::thread([&] {
      there = gpu::copy(std::vector<int>{1, 2, 3}, span);
      back = gpu::copy(span, values);
    }).join();
    value_of(std::move(there));
    value_of(std::move(back));
    CHECK(values == counted(3));
  }
}

TEST_CASE("copy: different lengths are refused with both", "[memory][copy]") {
  fixture f;
  device_buffer<int> buffer = f.buffer(10);
  pinned_vector<int> pinned = f.pinned(counted(12));
  const gpu::cuda_error error = error_of(copy(f.stream, pinned, buffer));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(error.asked() == 12);
  CHECK(error.limit() == 10);
  CHECK(says(error, "gpu::copy", "source has 12", "destination has 10", "first(10)",
             "copy_test.cpp"));
  CHECK(error_of(copy(std::vector<int>(3), buffer)) == gpu::errc::size_mismatch);
  std::vector<int> none;
  CHECK(error_of(copy(buffer, none)) == gpu::errc::size_mismatch);
}

TEST_CASE("copy: nothing is copied or filled without a call", "[memory][copy][fill]") {
  fixture f;
  device_buffer<int> empty = f.buffer(0);
  std::vector<int> none;
  gpu::driver::entry_points unable = test::driver();
  unable.memcpy_htod = nullptr;
  unable.memcpy_dtoh = nullptr;
  gpu::driver::scoped_entry_points in_force(unable);
  const test::noted_calls<&gpu::driver::entry_points::memcpy_dtod_async> copies;
  const test::noted_calls<&gpu::driver::entry_points::memset_d32_async> fills;
  CHECK(copy(none, empty).has_value());
  CHECK(copy(empty, none).has_value());
  CHECK(copy(f.stream, empty, empty).has_value());
  CHECK(fill(f.stream, empty, 1).has_value());
  CHECK(copies.count() + fills.count() == 0);
}

TEST_CASE("copy, fill: spans of more bytes than memory can have are refused",
          "[memory][copy][fill]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = test::value_of(gpu::stream::create(device));
  const auto buffer = test::value_of(gpu::device_buffer<int>::create(device, 4));
  // The bytes wrap around to 0, to 4, and to a negative number.
  for (const int shift : {62, 61, 63}) {
    const std::size_t count = (std::size_t{1} << shift) + (shift == 62 ? 1 : 0);
    const auto wide = gpu::device_span<int>::from_native(buffer.native(), count);
    CHECK(wide.size_bytes() > ~std::size_t{0} / 2);
    for (const gpu::cuda_error& error :
         {test::error_of(gpu::copy(stream, wide, wide)), test::error_of(gpu::copy(wide, wide)),
          test::error_of(gpu::fill(stream, wide, 1)),
          test::error_of(gpu::copy(stream, {gpu::range_copy(wide, wide)}))}) {
      CHECK(error == gpu::errc::size_overflow);
      CHECK(test::says(error, "elements of 4 bytes", "2305843009213693951"));
    }
  }
}

TEST_CASE("copy: a buffer of another context than the stream's is refused", "[memory][copy]") {
  fixture f;
  const gpu::context own = value_of(gpu::context::create(f.device));
  const gpu::stream stream = value_of(gpu::stream::create(own));
  device_buffer<int> buffer = f.buffer(3);
  pinned_vector<int> pinned = f.pinned({1, 2, 3});
  for (const gpu::cuda_error& error :
       {error_of(copy(stream, pinned, buffer)), error_of(copy(stream, buffer, pinned)),
        error_of(fill(stream, buffer, 1))}) {
    CHECK(error == gpu::errc::wrong_context);
    CHECK(says(error, "stream belongs to device 0", "another context of device 0"));
  }
}

TEST_CASE("copy: between two devices", "[memory][copy][cpu]") {
  test::own_cpu_driver driver({.devices = 2});
  const gpu::device d0 = value_of(gpu::device::get(0)), d1 = value_of(gpu::device::get(1));
  const gpu::stream s0 = value_of(gpu::stream::create(d0)), s1 = value_of(gpu::stream::create(d1));
  device_buffer<int> on0 = value_of(device_buffer<int>::create(s0, 4));
  device_buffer<int> on1 = value_of(device_buffer<int>::create(s1, 4));
  REQUIRE(s0.synchronize().has_value());
  REQUIRE(s1.synchronize().has_value());
  REQUIRE(copy(counted(4), on0).has_value());
  REQUIRE(copy(s0, on0, on1).has_value());
  REQUIRE(s0.synchronize().has_value());
  std::vector<int> back(4);
  REQUIRE(copy(on1, back).has_value());
  CHECK(back == counted(4));
  REQUIRE(copy(counted(4, 9), on1).has_value());
  REQUIRE(copy(on1, on0).has_value());
  REQUIRE(copy(on0, back).has_value());
  CHECK(back == counted(4, 9));
}

TEST_CASE("copy: freed memory is refused by a span that still names it", "[memory][copy][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  device_span<int> dangling;
  {
    device_buffer<int> buffer = value_of(device_buffer<int>::create(device, 3));
    dangling = buffer.span();
  }
  const gpu::cuda_error error = error_of(gpu::copy(std::vector<int>{1, 2, 3}, dangling));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "freed"));
}

TEST_CASE("copy: an empty stream is refused by name", "[memory][copy]") {
  fixture f;
  device_buffer<int> a = f.buffer(1), b = f.buffer(1);
  CHECK(says(error_of(copy(gpu::stream_ref{}, a, b)), "gpu::copy", "stream is empty"));
  CHECK(says(error_of(fill(gpu::stream_ref{}, a, 1)), "gpu::fill", "stream is empty"));
}

TEST_CASE("copy: what was moved from is refused by name, and what is empty is not",
          "[memory][copy][fill]") {
  fixture f;
  device_buffer<int> gone = f.buffer(3), released = f.buffer(3), none = f.buffer(0);
  pinned_vector<int> pinned = f.pinned({1, 2, 3}), empty = f.pinned({});
  const device_buffer<int> taken = std::move(gone);
  const pinned_vector<int> kept = std::move(pinned);
  const auto adopted = device_buffer<int>::adopt(f.stream, released.release());
  std::vector<int> host(3), nothing;
  for (const gpu::cuda_error& error :
       {error_of(copy(host, gone)), error_of(copy(nothing, gone)), error_of(copy(taken, gone)),
        error_of(copy(f.stream, kept, gone)), error_of(copy(f.stream, empty, gone)),
        error_of(copy(f.stream, kept, released)),
        error_of(copy(f.stream, {gpu::range_copy(none, gone)}))}) {
    CHECK(error == gpu::errc::empty_handle);
    CHECK(says(error, "gpu::copy", "the destination is empty: it was moved from, released",
               "copy_test.cpp"));
  }
  for (const gpu::cuda_error& error :
       {error_of(copy(gone, host)), error_of(copy(f.stream, gone, none)),
        error_of(copy(f.stream, pinned, none)), error_of(copy(pinned, none)),
        error_of(copy(f.stream, {gpu::range_copy(pinned, none)}))}) {
    CHECK(error == gpu::errc::empty_handle);
    CHECK(says(error, "gpu::copy", "the source is empty: it was moved from, released"));
  }
  const gpu::cuda_error filled = error_of(fill(f.stream, gone, 1));
  CHECK(filled == gpu::errc::empty_handle);
  CHECK(says(filled, "gpu::fill", "the destination is empty"));
  CHECK(copy(f.stream, empty, none).has_value());
  CHECK(copy(nothing, none).has_value());
  CHECK(fill(f.stream, none, 1).has_value());
}

TEST_CASE("copy: registered memory that was moved from is refused", "[memory][copy][registered]") {
  fixture f;
  device_buffer<int> none = f.buffer(0);
  std::vector<int> values(3), nothing;
  auto gone = value_of(gpu::registered_memory<int>::create(f.device, values));
  auto empty = value_of(gpu::registered_memory<int>::create(f.device, nothing));
  const auto taken = std::move(gone);
  CHECK(error_of(copy(f.stream, gone, none)) == gpu::errc::empty_handle);
  CHECK(copy(f.stream, empty, none).has_value());
}

TEST_CASE("copy: on a default stream in a thread that has no context", "[memory][copy]") {
  fixture f;
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(f.device));
  device_buffer<int> buffer = value_of(device_buffer<int>::create(f.device, 3));
  pinned_vector<int> pinned = f.pinned({1, 2, 3});
  gpu::result<> done;
  std::thread([&] {
    done = copy(legacy, pinned, buffer);
    if (done.has_value()) done = legacy.synchronize();
  }).join();
  value_of(std::move(done));
  CHECK(raw_contents(buffer, legacy.context()) == counted(3));
}

TEST_CASE("fill: patterns of one, two and four bytes", "[memory][fill]") {
  fixture f;
  const auto filled_with = [&]<class T>(T value) {
    device_buffer<T> buffer = value_of(device_buffer<T>::create(f.stream, 100));
    REQUIRE(fill(f.stream, buffer, value).has_value());
    std::vector<T> back(100);
    REQUIRE(copy(buffer, back).has_value());
    return back == std::vector<T>(100, value);
  };
  CHECK(filled_with(std::uint8_t{0xab}));
  CHECK(filled_with(std::byte{7}));
  CHECK(filled_with(std::int16_t{-2}));
  CHECK(filled_with(char16_t{0x1234}));
  CHECK(filled_with(1.5f));
  CHECK(filled_with(std::uint32_t{0xdeadbeef}));
}

TEST_CASE("fill: a part, and bytes of any type", "[memory][fill]") {
  fixture f;
  device_buffer<double> buffer = value_of(device_buffer<double>::create(f.stream, 4));
  REQUIRE(copy(std::vector<double>{1, 2, 3, 4}, buffer).has_value());
  REQUIRE(fill(f.stream, as_writable_bytes(buffer.span().subspan(1, 2)), std::byte{0}).has_value());
  std::vector<double> back(4);
  REQUIRE(copy(buffer, back).has_value());
  CHECK(back == std::vector<double>{1, 0, 0, 4});
  CHECK(fill(f.stream, device_span<int>(), 1).has_value());
}

TEST_CASE("copy: each driver call may fail", "[memory][copy][fill][faults][cpu]") {
  const auto operation = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    device_buffer<int> a = GPU_TRY(device_buffer<int>::create(stream, 3));
    device_buffer<int> b = GPU_TRY(device_buffer<int>::create(stream, 3));
    pinned_vector<int> pinned = GPU_TRY(pinned_vector<int>::create(device, 3));
    std::vector<int> vector(3);
    GPU_TRY(fill(stream, a, 1));
    GPU_TRY(fill(stream, as_writable_bytes(a.span()), std::byte{1}));
    GPU_TRY(fill(stream, device_span<short>::from_native(a.native(), 6), short{1}));
    GPU_TRY(copy(stream, a, b));
    GPU_TRY(copy(stream, b, pinned));
    GPU_TRY(copy(stream, pinned, a));
    GPU_TRY(copy(stream, pinned, pinned));
    GPU_TRY(gpu::copy(a, vector));
    GPU_TRY(gpu::copy(vector, b));
    GPU_TRY(copy(a, b));
    GPU_TRY(gpu::copy(vector, b.span()));
    return {};
  };
  CHECK(test::sweep(operation, {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace copy_test
