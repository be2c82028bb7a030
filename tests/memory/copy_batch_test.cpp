#include <gpu/memory/copy_batch.hpp>

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
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/pitched_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace copy_batch_test {

using gpu::box_copy;
using gpu::device_buffer;
using gpu::pinned_vector;
using gpu::range_copy;
using test::error_of;
using test::says;
using test::value_of;

namespace {

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  device_buffer<int> a = buffer(4);
  device_buffer<int> b = buffer(4);
  pinned_vector<int> pinned = value_of(pinned_vector<int>::create(device, 4));

  fixture() { std::iota(pinned.begin(), pinned.end(), 1); }

  device_buffer<int> buffer(std::size_t count) {
    auto made = value_of(device_buffer<int>::create(device, count));
    value_of(gpu::fill(stream, made, 0));
    value_of(stream.synchronize());
    return made;
  }
  static std::vector<int> contents(const device_buffer<int>& of) {
    std::vector<int> host(of.size());
    value_of(gpu::copy(of, host));
    return host;
  }
};

}  // namespace

TEST_CASE("copy: a batch goes every way at once", "[memory][copy][batch]") {
  fixture f;
  auto back = value_of(pinned_vector<int>::create(f.device, 2));
  device_buffer<int> filled = f.buffer(2);
  value_of(gpu::fill(f.stream, filled, 9));
  value_of(gpu::copy(f.stream, {range_copy(f.pinned, f.a),
                                range_copy(f.pinned.span().last(2), f.b.span().first(2)),
                                range_copy(filled, f.b.span().last(2)),
                                range_copy(filled, back, {.prefer_overlap_with_compute = true})}));
  value_of(f.stream.synchronize());
  CHECK(f.contents(f.a) == std::vector<int>{1, 2, 3, 4});
  CHECK(f.contents(f.b) == std::vector<int>{3, 4, 9, 9});
  CHECK(back[0] == 9);
  CHECK(back[1] == 9);
}

TEST_CASE("copy: a batch of any length, with hints, and nothing of nothing",
          "[memory][copy][batch]") {
  fixture f;
  device_buffer<int> many = f.buffer(200);
  pinned_vector<int> source = value_of(pinned_vector<int>::create(f.device, 200));
  std::iota(source.begin(), source.end(), 0);
  std::vector<range_copy> copies;
  for (std::size_t i = 0; i < 200; ++i) {
    gpu::copy_hints hints;
    if (i % 2 == 1) hints.source_order = gpu::source_access_order::any;
    if (i % 3 == 1) hints.destination = f.device;
    if (i % 3 == 2) hints.source = gpu::memory_location::host();
    copies.emplace_back(source.span().subspan(i, 1), many.span().subspan(199 - i, 1), hints);
    copies.emplace_back(source.span().first(0), many.span().first(0));
  }
  value_of(gpu::copy(f.stream, copies));
  value_of(f.stream.synchronize());
  std::vector<int> expected(200);
  std::iota(expected.rbegin(), expected.rend(), 0);
  CHECK(f.contents(many) == expected);
  CHECK(gpu::copy(f.stream, std::vector<range_copy>()).has_value());
  CHECK(gpu::copy(f.stream, {range_copy(f.a.span().first(0), f.b.span().first(0))}).has_value());
}

TEST_CASE("copy: a batch reads the host's memory before it returns, if it is told to",
          "[memory][copy][batch]") {
  fixture f;
  {
    std::vector<int> gone{5, 6, 7, 8};
    value_of(gpu::copy(f.stream,
                       {range_copy::read_now(gone, f.a), range_copy::read_now(f.pinned, f.b)}));
    gone.assign(4, 0);
    for (int& each : f.pinned) each = 0;
  }
  value_of(f.stream.synchronize());
  CHECK(f.contents(f.a) == std::vector<int>{5, 6, 7, 8});
  CHECK(f.contents(f.b) == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("copy: a batch of boxes", "[memory][copy][batch][pitched]") {
  fixture f;
  std::vector<int> host(5 * 4 * 2), back(3 * 2 * 2, -1);
  std::iota(host.begin(), host.end(), 0);
  const auto on_host = gpu::pitched_host_span<const int>::from_native(host.data(), {5, 4, 2});
  auto box = value_of(gpu::pitched_buffer<int>::create(f.device, {5, 4, 2}));
  auto part = value_of(gpu::pitched_buffer<int>::create(f.device, {3, 2, 2}));
  auto pinned = value_of(pinned_vector<int>::create(f.device, 2));
  const auto nothing = gpu::pitched_span<int>::from_native(part.data(), {0, 2, 2});
  value_of(gpu::copy(on_host, box.span()));
  value_of(gpu::copy(
      f.stream,
      {box_copy(box.span(), part.span(), {.source = {2, 1, 0}, .size = {3, 2, 2}}),
       box_copy(box.span(), gpu::pitched_pinned_span<int>::from_native(pinned.data(), {1, 2}),
                {.source = {4, 2, 1}}, {.source_order = gpu::source_access_order::stream}),
       box_copy(nothing, nothing)}));
  value_of(f.stream.synchronize());
  value_of(
      gpu::copy(part.span(), gpu::pitched_host_span<int>::from_native(back.data(), {3, 2, 2})));
  CHECK(back == std::vector<int>{7, 8, 9, 12, 13, 14, 27, 28, 29, 32, 33, 34});
  CHECK(pinned[0] == 34);
  CHECK(pinned[1] == 39);
}

TEST_CASE("copy: a batch reads boxes of the host's before it returns, if it is told to",
          "[memory][copy][batch][pitched]") {
  fixture f;
  auto box = value_of(gpu::pitched_buffer<int>::create(f.device, {3, 2}));
  {
    std::vector<int> gone{1, 2, 3, 0, 4, 5, 6, 0};
    const auto rows = gpu::pitched_host_span<int>::from_native(gone.data(), {3, 2}, 16);
    value_of(gpu::copy(f.stream, {box_copy::read_now(rows, box.span())}));
    gone.assign(8, -1);
  }
  value_of(f.stream.synchronize());
  std::vector<int> back(6);
  value_of(gpu::copy(box.span(), gpu::pitched_host_span<int>::from_native(back.data(), {3, 2})));
  CHECK(back == std::vector<int>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("copy: the driver is told the hints of each copy of a batch",
          "[memory][copy][batch][pitched]") {
  fixture f;
  static std::vector<CUmemcpyAttributes> ranges;
  static std::vector<CUDA_MEMCPY3D_BATCH_OP> boxes;
  ranges.clear();
  boxes.clear();
  gpu::driver::entry_points table = test::driver();
  table.memcpy_batch_async = [](CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t count,
                                CUmemcpyAttributes* attributes, std::size_t*, std::size_t,
                                CUstream) {
    ranges.assign(attributes, attributes + count);
    return CUDA_SUCCESS;
  };
  table.memcpy_3d_batch_async = [](std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list,
                                   unsigned long long, CUstream) {
    boxes.assign(list, list + count);
    return CUDA_SUCCESS;
  };
  auto box = value_of(gpu::pitched_buffer<int>::create(f.device, {2, 2}));
  const gpu::copy_hints hints{.source_order = gpu::source_access_order::any,
                              .source = gpu::memory_location::host(),
                              .destination = f.device,
                              .prefer_overlap_with_compute = true};
  const gpu::driver::scoped_entry_points in_force(table);
  value_of(gpu::copy(f.stream, {range_copy(f.pinned, f.a), range_copy(f.pinned, f.b, hints),
                                range_copy::read_now(f.pinned, f.b, hints)}));
  value_of(gpu::copy(f.stream, {box_copy(box, box), box_copy(box, box, {}, hints),
                                box_copy::read_now(box, box, {}, hints)}));
  REQUIRE(ranges.size() == 3);
  REQUIRE(boxes.size() == 3);
  const CUmemcpySrcAccessOrder orders[] = {CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
                                           CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
                                           CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
  for (std::size_t i = 0; i < 3; ++i) {
    INFO(i);
    const auto& from = boxes[i].src.op.ptr.locHint;
    const auto& to = boxes[i].dst.op.ptr.locHint;
    CHECK(ranges[i].srcAccessOrder == orders[i]);
    CHECK(boxes[i].srcAccessOrder == orders[i]);
    const unsigned flags =
        i == 0 ? CU_MEMCPY_FLAG_DEFAULT : CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    CHECK(ranges[i].flags == flags);
    CHECK(boxes[i].flags == flags);
    const CUmemLocationType host =
        i == 0 ? CU_MEM_LOCATION_TYPE_INVALID : CU_MEM_LOCATION_TYPE_HOST;
    const CUmemLocationType device =
        i == 0 ? CU_MEM_LOCATION_TYPE_INVALID : CU_MEM_LOCATION_TYPE_DEVICE;
    CHECK(ranges[i].srcLocHint.type == host);
    CHECK(from.type == host);
    CHECK(ranges[i].dstLocHint.type == device);
    CHECK(to.type == device);
  }
}

TEST_CASE("copy: what is wrong with a batch is said, and nothing is copied",
          "[memory][copy][batch]") {
  fixture f;
  gpu::cuda_error error = error_of(
      gpu::copy(f.stream, {range_copy(f.pinned, f.a), range_copy(f.pinned.span().first(3), f.b)}));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(says(error, "3 elements", "4"));
  gpu::copy_hints wrong;
  wrong.source_order = static_cast<gpu::source_access_order>(0);
  error = error_of(gpu::copy(f.stream, {range_copy(f.pinned, f.a, wrong)}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "0 is not a valid gpu::source_access_order", "one of its enumerators"));
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(f.device));
  auto box = value_of(gpu::pitched_buffer<int>::create(f.device, {3, 3}));
  for (const gpu::cuda_error& refused : {error_of(gpu::copy(legacy, {range_copy(f.pinned, f.a)})),
                                         error_of(gpu::copy(legacy, {box_copy(box, box)}))}) {
    CHECK(refused == gpu::errc::invalid_argument);
    CHECK(says(refused, "legacy default stream", "a stream that you created"));
  }
  for (const gpu::cuda_error& refused :
       {error_of(gpu::copy(gpu::stream_ref{}, {range_copy(f.pinned, f.a)})),
        error_of(gpu::copy(gpu::stream_ref{}, {box_copy(box, box)}))}) {
    CHECK(refused == gpu::errc::empty_handle);
    CHECK(says(refused, "gpu::copy", "stream is empty"));
  }
  const gpu::context own = value_of(gpu::context::create(f.device));
  const gpu::stream elsewhere = value_of(gpu::stream::create(own));
  error = error_of(gpu::copy(elsewhere, {range_copy(f.pinned, f.a)}));
  CHECK(error == gpu::errc::wrong_context);
  error = error_of(gpu::copy(f.stream, {box_copy(box.span(), box.span(), {.size = {3, 4}})}));
  CHECK(error == gpu::errc::index_out_of_range);
  error = error_of(gpu::copy(f.stream, {box_copy(box.span(), box.span(), {}, wrong)}));
  CHECK(error == gpu::errc::invalid_argument);
  value_of(f.stream.synchronize());
  CHECK(f.contents(f.a) == std::vector<int>(4, 0));
}

TEST_CASE("copy: a hint of a device that there is not is told with the number of devices",
          "[memory][copy][batch]") {
  fixture f;
  auto box = value_of(gpu::pitched_buffer<int>::create(f.device, {3, 3}));
  // A driver need not look at hints for memory that stays where it is.
  gpu::driver::entry_points strict = test::driver();
  strict.memcpy_batch_async = [](auto...) { return CUDA_ERROR_INVALID_VALUE; };
  strict.memcpy_3d_batch_async = [](auto...) { return CUDA_ERROR_INVALID_VALUE; };
  const gpu::driver::scoped_entry_points in_force(strict);
  const gpu::copy_hints from{.source = gpu::device::from_native(99)};
  const gpu::copy_hints to{.destination = gpu::device::from_native(99)};
  const range_copy plain(f.pinned, f.a);
  for (const gpu::cuda_error& error :
       {error_of(gpu::copy(f.stream, {plain, range_copy(f.pinned, f.b, from)})),
        error_of(gpu::copy(f.stream, {range_copy(f.pinned, f.a, to), plain})),
        error_of(gpu::copy(f.stream, {box_copy(box, box, {.size = {1, 1}}, from)}))}) {
    CHECK(error == gpu::errc::index_out_of_range);
    CHECK(says(error, "device index 99 is not below", "Choose an index below"));
    CHECK(error.limit() == static_cast<std::uint64_t>(test::device_count()));
  }
  CHECK(error_of(gpu::copy(f.stream, {plain})).code() == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("copy: a batch is refused in a capture, which goes on", "[memory][copy][batch][graph]") {
  fixture f;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  const gpu::cuda_error error = error_of(gpu::copy(f.stream, {range_copy(f.pinned, f.a)}));
  CHECK(error.code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(says(error, "one by one"));
  value_of(gpu::copy(f.stream, f.pinned, f.a));
  CHECK(value_of(value_of(capture.end()).nodes()).size() == 1);
}

TEST_CASE("copy: every order of access has a name", "[memory][copy][batch]") {
  for (int i = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM; i <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY; ++i)
    CHECK(gpu::name_of(static_cast<gpu::source_access_order>(i)) != nullptr);
  CHECK(std::string(gpu::name_of(gpu::source_access_order::during_call)) == "during_call");
  CHECK(gpu::name_of(static_cast<gpu::source_access_order>(0)) == nullptr);
}

TEST_CASE("copy: a batch says that the host has no memory for its lists",
          "[memory][copy][batch][faults][cpu]") {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          auto a = GPU_TRY(device_buffer<int>::create(device, 3));
          auto b = GPU_TRY(device_buffer<int>::create(device, 3));
          const auto rows = gpu::pitched_span<int>::from_native(a.data(), {3});
          const auto columns = gpu::pitched_span<int>::from_native(b.data(), {3});
          GPU_TRY(gpu::copy(stream, {range_copy(a, b)}));
          GPU_TRY(gpu::copy(stream, {box_copy(rows, columns)}));
          return stream.synchronize();
        }) == "");
}

TEST_CASE("copy: each driver call of a batch may fail", "[memory][copy][batch][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto a = GPU_TRY(device_buffer<int>::create(device, 3));
              auto b = GPU_TRY(device_buffer<int>::create(device, 3));
              const std::vector<int> host(3);
              auto box = GPU_TRY(gpu::pitched_buffer<int>::create(device, {3, 2}));
              GPU_TRY(gpu::copy(stream, {range_copy::read_now(host, a)}));
              GPU_TRY(stream.synchronize());
              GPU_TRY(gpu::copy(stream, {range_copy(a, b)}));
              GPU_TRY(gpu::fill(stream, box.span(), 0));
              GPU_TRY(gpu::copy(stream, {box_copy(box.span(), box.span(),
                                                  {.destination = {0, 1}, .size = {3, 1}})}));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace copy_batch_test
