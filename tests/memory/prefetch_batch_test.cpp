#include <gpu/memory/prefetch_batch.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/prefetch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace managed_batch_test {

using gpu::managed_buffer;
using gpu::memory_location;
using gpu::range_discard;
using gpu::range_prefetch;
using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr std::size_t page = 1 << 21;  // more than a page of host or device

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  managed_buffer<char> a = buffer();
  managed_buffer<char> b = buffer();

  managed_buffer<char> buffer() const {
    auto made = value_of(managed_buffer<char>::create(device, page));
    std::fill(made.begin(), made.end(), char{7});
    return made;
  }
  /// The driver's own answer: where a range was sent last.
  int sent(const managed_buffer<char>& range) const {
    int value = -77;
    const gpu::context_scope scope =
        value_of(gpu::context_scope::enter(value_of(gpu::context::primary(device))));
    REQUIRE(test::driver().mem_range_get_attribute(&value, sizeof value,
                                                   CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                                   range.native(), range.size()) == CUDA_SUCCESS);
    return value;
  }
};

/// Records what a batch of prefetches passes to the driver, and sets the answer.
struct told {
  std::vector<CUdeviceptr> addresses;
  std::vector<std::size_t> sizes, firsts;
  std::vector<int> types;

  static told& last() {
    static told noted;
    return noted;
  }
  static CUresult note(CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                       CUmemLocation* locations, std::size_t* firsts, std::size_t places,
                       unsigned long long flags, CUstream) {
    CHECK(flags == 0);
    last() = {
        {addresses, addresses + count}, {sizes, sizes + count}, {firsts, firsts + places}, {}};
    for (std::size_t i = 0; i < places; ++i) last().types.push_back(locations[i].type);
    return CUDA_SUCCESS;
  }
};

}  // namespace

TEST_CASE("prefetch: a batch sends each range to its place", "[memory][managed][batch]") {
  fixture f;
  value_of(gpu::prefetch(f.stream, {{f.a, f.device}, {f.b, memory_location::host()}}));
  value_of(f.stream.synchronize());
  CHECK(f.sent(f.a) == f.device.native());
  CHECK(f.sent(f.b) == CU_DEVICE_CPU);
  const managed_buffer<char>& reading = f.a;
  value_of(gpu::prefetch(f.stream, std::vector<range_prefetch>{{reading, memory_location::host()},
                                                               {f.b.span(), f.device}}));
  value_of(f.stream.synchronize());
  CHECK(f.sent(f.a) == CU_DEVICE_CPU);
  CHECK(f.sent(f.b) == f.device.native());
  CHECK(f.a[0] == 7);
  CHECK(f.b[page - 1] == 7);
  value_of(gpu::prefetch(f.stream, {}));
  value_of(gpu::prefetch(f.stream, {{f.a.span().first(0), f.device}}));
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(f.device));
  value_of(gpu::prefetch(own, {{f.a.span().subspan(3, 100), f.device}}));
  value_of(own.synchronize());
}

TEST_CASE("prefetch: a batch names a place once for the neighbors that go there",
          "[memory][managed][batch]") {
  fixture f;
  gpu::driver::entry_points noting = test::driver();
  noting.mem_prefetch_batch_async = &told::note;
  const gpu::driver::scoped_entry_points in_force(noting);
  const auto part = [&](std::size_t at, std::size_t count) {
    return f.a.span().subspan(at, count);
  };
  value_of(gpu::prefetch(f.stream, {{part(0, 0), f.device},
                                    {part(0, 10), memory_location::host()},
                                    {part(10, 0), f.device},
                                    {part(10, 20), memory_location::host()},
                                    {part(30, 30), f.device},
                                    {f.b, memory_location::host()}}));
  const CUdeviceptr a = f.a.native();
  CHECK(told::last().addresses == std::vector<CUdeviceptr>{a, a + 10, a + 30, f.b.native()});
  CHECK(told::last().sizes == std::vector<std::size_t>{10, 20, 30, page});
  CHECK(told::last().firsts == std::vector<std::size_t>{0, 2, 3});
  CHECK(told::last().types == std::vector<int>{CU_MEM_LOCATION_TYPE_HOST,
                                               CU_MEM_LOCATION_TYPE_DEVICE,
                                               CU_MEM_LOCATION_TYPE_HOST});
}

TEST_CASE("discard: memory can be written again, and its neighbors are left alone",
          "[memory][managed][batch]") {
  fixture f;
  value_of(gpu::discard(f.stream, {f.a, f.b.span().subspan(5, 5000)}));
  value_of(gpu::fill(f.stream, f.a, char{3}));
  value_of(f.stream.synchronize());
  CHECK(std::count(f.a.begin(), f.a.end(), char{3}) == page);
  CHECK(std::count(f.b.begin(), f.b.begin() + 5, char{7}) == 5);
  CHECK(std::count(f.b.begin() + 5005, f.b.end(), char{7}) == page - 5005);
  value_of(gpu::discard_and_prefetch(f.stream, {{f.a, f.device}, {f.b, memory_location::host()}}));
  value_of(gpu::fill(f.stream, f.a, char{4}));
  value_of(f.stream.synchronize());
  CHECK(f.sent(f.a) == f.device.native());
  CHECK(f.sent(f.b) == CU_DEVICE_CPU);
  CHECK(std::count(f.a.begin(), f.a.end(), char{4}) == page);
  const std::vector<range_discard> list{f.a, f.b};
  value_of(gpu::discard(f.stream, list));
  const std::array<range_discard, 1> one{{{f.a, f.device}}};
  value_of(gpu::discard_and_prefetch(f.stream, one));
  value_of(gpu::discard(f.stream, {}));
  value_of(gpu::discard_and_prefetch(f.stream, {{f.a.span().first(0), f.device}}));
  value_of(f.stream.synchronize());
}

TEST_CASE("discard: who reads what was discarded is not lucky", "[memory][managed][batch][cpu]") {
  for (const bool deferred : {false, true}) {
    test::own_cpu_driver driver({.deferred = deferred});
    fixture f;
    value_of(gpu::fill(f.stream, f.a, char{3}));
    value_of(gpu::discard(f.stream, {f.a.span().first(100), f.b.span().last(1)}));
    if (deferred) CHECK(f.b[page - 1] == 7);
    value_of(f.stream.synchronize());
    CHECK(std::count(f.a.begin(), f.a.end(), static_cast<char>(0xdd)) == 100);
    CHECK(f.a[100] == 3);
    CHECK(f.b[page - 2] == 7);
    CHECK(f.b[page - 1] == static_cast<char>(0xdd));
    value_of(gpu::discard_and_prefetch(f.stream, {{f.a.span().last(10), f.device}}));
    value_of(f.stream.synchronize());
    CHECK(std::count(f.a.begin(), f.a.end(), static_cast<char>(0xdd)) == 110);
  }
}

TEST_CASE("managed batch: what is wrong is said, and nothing is queued",
          "[memory][managed][batch]") {
  fixture f;
  value_of(gpu::prefetch(f.stream, f.a, memory_location::host()));
  value_of(f.stream.synchronize());
  gpu::cuda_error error =
      error_of(gpu::prefetch(f.stream, {{f.a, f.device}, {f.b, memory_location{}}}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::prefetch", "range 1 has no location", "gpu::memory_location::host()"));
  error = error_of(gpu::discard_and_prefetch(f.stream, {{f.a, f.device}, f.b}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::discard_and_prefetch", "range 1 has no location"));
  error = error_of(gpu::discard(f.stream, {f.a, {f.b, f.device}}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::discard", "range 1 has a location, device 0", "discard_and_prefetch"));

  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(f.device));
  error = error_of(gpu::prefetch(legacy, {{f.a, f.device}}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "legacy default stream does not take batches of prefetches",
             "a stream that you created"));
  error = error_of(gpu::discard(legacy, {f.a}));
  CHECK(says(error, "legacy default stream does not take batches of discards"));
  CHECK(error_of(gpu::discard_and_prefetch(legacy, {{f.a, f.device}})) ==
        gpu::errc::invalid_argument);
  CHECK(error_of(gpu::prefetch(gpu::stream_ref{}, {{f.a, f.device}})) == gpu::errc::empty_handle);

  managed_buffer<char> gone = f.buffer();
  const auto kept = std::move(gone);
  error = error_of(gpu::discard(f.stream, {f.a, gone}));
  CHECK(error == gpu::errc::empty_handle);
  CHECK(says(error, "gpu::discard", "the range is empty: it was moved from"));
  value_of(f.stream.synchronize());
  CHECK(f.sent(f.a) == CU_DEVICE_CPU);
  CHECK(f.a[0] == 7);
}

TEST_CASE("managed batch: what the driver does not take is found", "[memory][managed][batch]") {
  fixture f;
  auto plain = value_of(gpu::device_buffer<char>::create(f.device, 10));
  gpu::cuda_error error = error_of(gpu::prefetch(
      f.stream, {{f.a.span().first(0), f.device}, {f.a, f.device}, {plain, f.device}}));
  CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(error, "range 2 of 3 is not managed memory", "gpu::managed_buffer"));
  error = error_of(gpu::discard(f.stream, {plain}));
  CHECK(says(error, "range 0 of 1 is not managed memory"));
  const auto beyond = gpu::device_span<char>::from_native(f.a.native() + page - 1, 3);
  error = error_of(gpu::discard_and_prefetch(f.stream, {{f.a, f.device}, {beyond, f.device}}));
  CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(error, "range 1 of 2 has 3 bytes, but its allocation ends after 1"));
  const memory_location nowhere = gpu::device::from_native(99);
  error = error_of(gpu::prefetch(f.stream, {{f.a, f.device}, {f.b, nowhere}}));
  CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(error, "each range is managed memory", "locations that the system has"));
  value_of(gpu::prefetch(f.stream, {{f.a, f.device}}));
  value_of(f.stream.synchronize());
}

TEST_CASE("managed batch: is refused in a capture, which goes on",
          "[memory][managed][batch][capture]") {
  fixture f;
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const test::captured made = test::capture(
        f.stream,
        [&] {
          const gpu::cuda_error error = error_of(gpu::prefetch(f.stream, {{f.a, f.device}}));
          CHECK(error == gpu::errc::capture_prohibited);
          CHECK(says(error, "gpu::prefetch", "before the capture begins"));
          CHECK(error_of(gpu::discard(f.stream, {f.a})) == gpu::errc::capture_prohibited);
          CHECK(error_of(gpu::discard_and_prefetch(f.stream, {{f.a, f.device}})) ==
                gpu::errc::capture_prohibited);
          // Other streams are not concerned.
          value_of(gpu::prefetch(other, {{f.a, f.device}}));
          value_of(gpu::discard(other, {f.a}));
          value_of(gpu::discard_and_prefetch(other, {{f.a, f.device}}));
          value_of(gpu::fill(f.stream, f.b, char{1}));
        },
        mode);
    CHECK(made.unharmed());
    CHECK(made.nodes == 1);
  }
  value_of(other.synchronize());
}

TEST_CASE("managed batch: an older driver has no such function, and is asked for nothing",
          "[memory][managed][batch]") {
  fixture f;
  gpu::driver::entry_points older = test::driver();
  older.mem_prefetch_batch_async = nullptr;
  older.mem_discard_batch_async = nullptr;
  older.mem_discard_and_prefetch_batch_async = nullptr;
  const gpu::driver::scoped_entry_points in_force(older);
  for (const gpu::cuda_error& error :
       {error_of(gpu::prefetch(f.stream, {{f.a, f.device}})),
        error_of(gpu::discard(f.stream, {f.a})),
        error_of(gpu::discard_and_prefetch(f.stream, {{f.a, f.device}}))}) {
    CHECK(error == gpu::errc::not_supported);
    CHECK(says(error, "came with CUDA 13.0", "Update the NVIDIA driver"));
  }
}

TEST_CASE("managed batch: says that the host has no memory for its lists",
          "[memory][managed][batch][faults][cpu]") {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          auto a = GPU_TRY(managed_buffer<int>::create(device, 3));
          GPU_TRY(gpu::prefetch(stream, {{a, device}}));
          GPU_TRY(gpu::discard(stream, {a}));
          GPU_TRY(gpu::discard_and_prefetch(stream, {{a, device}}));
          return stream.synchronize();
        }) == "");
}

TEST_CASE("managed batch: survives every failing call", "[memory][managed][batch][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto a = GPU_TRY(managed_buffer<int>::create(device, 3));
              auto b = GPU_TRY(managed_buffer<int>::create(device, 3));
              GPU_TRY(gpu::prefetch(stream, {{a, device}, {b, memory_location::host()}}));
              GPU_TRY(gpu::discard(stream, {a, b}));
              GPU_TRY(gpu::discard_and_prefetch(stream, {{a, device}, {b, device}}));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent"}) == "");
}

}  // namespace managed_batch_test
