// Copies and fills of boxes as nodes: what arrives, what is left alone, and what is refused.

#include "graph/graph_fixture.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/region_node.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pitched_span.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace region_node_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::graph graph = value_of(gpu::graph::create(device));

  void run() const {
    const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
    value_of(gpu::launch(stream, exec));
    value_of(stream.synchronize());
  }
};

template <class T> gpu::pitched_host_span<T> host_box(std::vector<T>& of, gpu::box_extent size) {
  return gpu::pitched_host_span<T>::from_native(of.data(), size);
}

}  // namespace

TEST_CASE("graph: boxes go to the device, are filled, and come back", "[graph][box]") {
  fixture f;
  constexpr gpu::box_extent size{7, 5};
  auto image = value_of(gpu::pitched_buffer<unsigned>::create(f.device, size));
  std::vector<unsigned> in(35), out(35), part(6, 99);
  for (unsigned i = 0; i < 35; ++i) in[i] = i;
  const auto up = value_of(f.graph.add({}, gpu::copy_region_node(host_box(in, size), image)));
  const auto corner = value_of(f.graph.add(
      up, gpu::copy_region_node(image, host_box(part, {3, 2}),
                                {.source = {4, 3}, .destination = {}, .size = {3, 2}})));
  const auto fill = value_of(f.graph.add(corner, gpu::fill_region_node(image, 5u)));
  const auto one = value_of(f.graph.add(
      fill, gpu::copy_region_node(host_box(in, size), image,
                                  {.source = {1, 1}, .destination = {6, 4}, .size = {1, 1}})));
  value_of(f.graph.add(one, gpu::copy_region_node(image, host_box(out, size))));
  CHECK(value_of(gpu::kind_of(up)) == gpu::graph_node_kind::copy);
  CHECK(value_of(gpu::kind_of(fill)) == gpu::graph_node_kind::fill);
  f.run();
  CHECK(part == std::vector<unsigned>{25, 26, 27, 32, 33, 34});
  for (std::size_t i = 0; i < 34; ++i) CHECK(out[i] == 5);
  CHECK(out[34] == 8);
  // A node takes another description of its kind.
  value_of(gpu::set(f.graph, fill, gpu::fill_region_node(image, 6u)));
  f.run();
  CHECK(out[0] == 6);
}

TEST_CASE("graph: planes are copied, and filled where they follow each other", "[graph][box]") {
  fixture f;
  constexpr gpu::box_extent size{3, 4, 5};
  auto memory = value_of(gpu::device_buffer<unsigned short>::create(f.device, 400));
  value_of(gpu::fill(f.stream, memory, static_cast<unsigned short>(1)));
  value_of(f.stream.synchronize());
  const auto close = gpu::pitched_span<unsigned short>::from_native(memory.span().data(), size, 16);
  std::vector<unsigned short> out(400), box(60);
  const auto fill = value_of(f.graph.add({}, gpu::fill_region_node(close, 9)));
  value_of(f.graph.add(fill, gpu::copy_region_node(close, host_box(box, size))));
  f.run();
  CHECK(box == std::vector<unsigned short>(60, 9));
  value_of(gpu::copy(memory, out));
  // 20 rows of 8 elements, of which 3 are the box's.
  for (std::size_t i = 0; i < 400; ++i) CHECK(out[i] == (i < 160 && i % 8 < 3 ? 9 : 1));

  const auto apart =
      gpu::pitched_span<unsigned short>::from_native(memory.span().data(), size, 16, 6);
  const gpu::cuda_error error = error_of(f.graph.add({}, gpu::fill_region_node(apart, 9)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(error.asked() == 5);
  CHECK(says(error, "gpu::fill_region_node", "planes with gaps", "4 rows", "after 6",
             "a node for each plane"));
  const auto plane =
      gpu::pitched_span<unsigned short>::from_native(memory.span().data(), {3, 4}, 16, 6);
  CHECK(f.graph.add({}, gpu::fill_region_node(plane, 9)).has_value());
}

TEST_CASE("graph: what is wrong with a box is said before the driver is asked", "[graph][box]") {
  fixture f;
  auto memory = value_of(gpu::device_buffer<unsigned>::create(f.device, 64));
  const auto box = [&](gpu::box_extent size, std::size_t pitch = 0) {
    return gpu::pitched_span<unsigned>::from_native(memory.span().data(), size, pitch);
  };
  gpu::cuda_error error = error_of(f.graph.add({}, gpu::fill_region_node(box({0, 3}), 1u)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::fill_region_node", "0 elements"));
  error = error_of(f.graph.add({}, gpu::copy_region_node(box({0, 3}), box({0, 3}))));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::copy_region_node", "0 elements"));
  error = error_of(f.graph.add({}, gpu::fill_region_node(box({3, 3}, 8), 1u)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::fill_region_node", "pitch is 8 bytes"));
  error = error_of(f.graph.add({}, gpu::fill_region_node(box({3, 3}, 14), 1u)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::fill_region_node", "a pitch of 14 bytes"));
  error =
      error_of(f.graph.add({}, gpu::copy_region_node(box({3, 3}), box({4, 4}), {.size = {4, 4}})));
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "not entirely inside the source"));
  auto image = value_of(gpu::pitched_buffer<unsigned>::create(f.device, {4, 4}));
  const auto taken = std::move(image);
  CHECK(error_of(f.graph.add({}, gpu::fill_region_node(image, 1u))) == gpu::errc::empty_handle);
  CHECK(error_of(f.graph.add({}, gpu::copy_region_node(taken, image))) == gpu::errc::empty_handle);
  CHECK(value_of(f.graph.nodes()).empty());
}

TEST_CASE("graph: each driver call about boxes may fail", "[graph][box][faults][cpu]") {
  std::vector<unsigned> host(16);  // outlives launches that nobody has waited for
  CHECK(test::sweep(
            [&]() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto memory = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 16));
              const auto image =
                  gpu::pitched_span<unsigned>::from_native(memory.span().data(), {4, 4});
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              const auto fill = GPU_TRY(graph.add({}, gpu::fill_region_node(image, 3u)));
              const auto copy =
                  GPU_TRY(graph.add(fill, gpu::copy_region_node(image, host_box(host, {4, 4}))));
              gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
              GPU_TRY(exec.set(fill, gpu::fill_region_node(image, 4u)));
              GPU_TRY(exec.set(copy, gpu::copy_region_node(image, host_box(host, {4, 4}))));
              GPU_TRY(gpu::launch(stream, exec));
              return stream.synchronize();
            },
            {"cuCtxGetDevice"}) == "");
}

}  // namespace region_node_test
