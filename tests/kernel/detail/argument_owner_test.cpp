// Launches look at whose memory their arguments are: what was moved from is refused, and so is
// memory of a device that the stream's cannot reach.

#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_attribute.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/growing_buffer.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/texture.hpp>

#include "kernel/test_programs.hpp"
#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace argument_owner_test {

using test::error_of;
using test::says;
using test::value_of;

/// Memory that somebody else's type names.
struct named_memory {
  gpu::device_span<int> elements;
  gpu::context_ref context;
};

}  // namespace argument_owner_test

template <> struct gpu::kernel_argument<argument_owner_test::named_memory> {
  using memory = argument_owner_test::named_memory;
  static int* pointer(const memory& argument) noexcept { return argument.elements.data(); }
  static context_ref context(const memory& argument) noexcept { return argument.context; }
};

namespace argument_owner_test { namespace {

constexpr const char* source = R"(
extern "C" __global__ void sum(const int* x, int* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] += x[i];
}
extern "C" __global__ void add_one(int* x, int n) {
  if (threadIdx.x < n) ++x[threadIdx.x];
}
extern "C" __global__ void ignore(unsigned long long) {}
)";

struct fixture {
  gpu::device here = test::first_device();
  gpu::module module = test::load_source(source);
  gpu::kernel<const int*, int*, int> sum = value_of(module.kernel<const int*, int*, int>("sum"));
  gpu::kernel<int*, int> add_one = value_of(module.kernel<int*, int>("add_one"));
  gpu::stream stream = test::new_stream();

  template <class Place> gpu::device_buffer<int> filled(const Place& place, int value) const {
    auto made = value_of(gpu::device_buffer<int>::create(place, 4));
    value_of(gpu::copy(std::vector<int>(4, value), made));
    return made;
  }
  int first(const gpu::device_buffer<int>& of) const {
    value_of(stream.synchronize());
    std::vector<int> all(4);
    value_of(gpu::copy(of, all));
    return all[0];
  }
  /// Whether kernels still run, which none does in a context that was lost.
  bool is_alive() const {
    auto x = filled(here, 1);
    value_of(gpu::launch(stream, {1, 4}, add_one, x, 4));
    return first(x) == 2;
  }
};

struct two_devices : fixture {
  gpu::device there = value_of(gpu::device::get(1));
  bool linked = value_of(gpu::can_access_peer(here, there));
};

bool is_moved_from(const gpu::cuda_error& error, const char* argument) {
  INFO(error.message().c_str());
  return error == gpu::errc::empty_handle && says(error, argument, "moved from");
}
bool is_out_of_reach(const gpu::cuda_error& error, const char* argument) {
  INFO(error.message().c_str());
  return error == gpu::errc::wrong_context && error.asked() == 1 && error.limit() == 0 &&
         says(error, argument, "is memory of device 1", "kernels on device 0 cannot reach",
              "gpu::peer_access::enable", "set_access", "copy the memory to device 0",
              "argument_owner_test.cpp");
}

TEST_CASE("owners: a buffer that was moved from is refused by its place among the arguments",
          "[kernel][launch]") {
  const fixture f;
  auto x = f.filled(f.here, 1), y = f.filled(f.here, 2);
  const auto refused = [&] { return error_of(gpu::launch(f.stream, {1, 4}, f.sum, x, y, 4)); };
  const gpu::device_buffer<int> kept = std::move(x);
  CHECK(is_moved_from(refused(), "argument 1 of kernel sum"));
  const auto both = std::move(y);
  CHECK(is_moved_from(refused(), "argument 1 of kernel sum"));
  x = f.filled(f.here, 3);
  CHECK(is_moved_from(refused(), "argument 2 of kernel sum"));
  y = f.filled(f.here, 4);
  value_of(gpu::launch(f.stream, {1, 4}, f.sum, x, y, 4));
  CHECK(f.first(y) == 7);
}

TEST_CASE("owners: what is moved from is refused in every shape, on every stream, and untyped",
          "[kernel][launch]") {
  const fixture f;
  auto gone = f.filled(f.here, 1);
  const auto kept = std::move(gone);
  gpu::launch_config shape{1, 4};
  CHECK(is_moved_from(error_of(gpu::launch(f.stream, shape, f.add_one, gone, 4)), "argument 1"));
  gpu::launch_attributes attributes;
  value_of(attributes.set<gpu::launch_attribute::priority>(0));
  shape.attributes = attributes;
  CHECK(is_moved_from(error_of(gpu::launch(f.stream, shape, f.add_one, gone, 4)), "argument 1"));
  CHECK(is_moved_from(
      error_of(gpu::launch(f.stream, {.grid = 1, .block = 4, .attributes = attributes}, f.add_one,
                           gone, 4)),
      "argument 1"));
  const auto legacy = value_of(gpu::stream_ref::legacy_default(f.here));
  CHECK(is_moved_from(error_of(gpu::launch(legacy, {1, 4}, f.add_one, gone, 4)), "argument 1"));
  const gpu::untyped_kernel untyped = value_of(f.module.kernel("add_one"));
  CHECK(is_moved_from(error_of(gpu::launch(f.stream, {1, 4}, untyped, gone, 4)), "argument 1"));
  CHECK(f.is_alive());
}

TEST_CASE("owners: each kind of buffer is looked at", "[kernel][launch]") {
  const fixture f;
  const auto refused = [&](auto made) {
    const auto kept = std::move(made);
    return error_of(gpu::launch(f.stream, {1, 4}, f.add_one, made, 0));
  };
  CHECK(
      is_moved_from(refused(value_of(gpu::managed_buffer<int>::create(f.here, 4))), "argument 1"));
  CHECK(
      is_moved_from(refused(value_of(gpu::growing_buffer<int>::create(f.here, 4))), "argument 1"));
  CHECK(is_moved_from(refused(value_of(gpu::pitched_buffer<int>::create(f.here, {4, 1}))),
                      "argument 1"));
  CHECK(is_moved_from(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, named_memory{{}, {}}, 0)),
                      "argument 1"));
  auto given_up = f.filled(f.here, 1);
  const gpu::context_ref context = given_up.context();
  const auto back = gpu::device_buffer<int>::adopt(context, given_up.release());
  CHECK(
      is_moved_from(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, given_up, 0)), "argument 1"));
}

TEST_CASE("owners: a texture that was moved from is refused", "[kernel][launch][texture]") {
  const fixture f;
  const auto ignore = value_of(f.module.kernel<unsigned long long>("ignore"));
  const auto array = value_of(gpu::cuda_array<float>::create(f.here, {.width = 8}));
  auto texture = value_of(gpu::texture<float>::create(array));
  value_of(gpu::launch(f.stream, {1, 1}, ignore, texture));
  CHECK(f.stream.synchronize().has_value());
  const auto kept = std::move(texture);
  CHECK(is_moved_from(error_of(gpu::launch(f.stream, {1, 1}, ignore, texture)), "argument 1"));
  const gpu::context own = value_of(gpu::context::create(f.here));
  const gpu::stream elsewhere = value_of(gpu::stream::create(own));
  value_of(gpu::launch(elsewhere, {1, 1}, ignore, kept));  // its context is nobody's business
  CHECK(elsewhere.synchronize().has_value());
}

TEST_CASE("owners: a buffer of no elements passes as null", "[kernel][launch]") {
  const fixture f;
  auto x = value_of(gpu::device_buffer<int>::create(f.stream, 0));
  auto y = value_of(gpu::device_buffer<int>::create(f.here, 0));
  value_of(gpu::launch(f.stream, {1, 4}, f.sum, x, y, 0));
  CHECK(f.stream.synchronize().has_value());
}

// initcheck does not know what another context has written.
TEST_CASE("owners: contexts of one device use each other's memory",
          "[kernel][launch][no_sanitizer]") {
  const fixture f;
  const gpu::context own = value_of(gpu::context::create(f.here));
  auto plain = f.filled(f.here, 1);
  auto pooled = value_of(gpu::device_buffer<int>::create(f.stream, 4));
  value_of(gpu::fill(f.stream, pooled, 5));
  value_of(f.stream.synchronize());
  {
    const gpu::stream stream = value_of(gpu::stream::create(own));
    auto of_own = value_of(gpu::device_buffer<int>::create(own, 4));
    value_of(gpu::copy(std::vector<int>(4, 10), of_own));
    value_of(gpu::launch(stream, {1, 4}, f.add_one, plain, 4));
    value_of(gpu::launch(stream, {1, 4}, f.add_one, pooled, 4));
    value_of(stream.synchronize());
    value_of(gpu::launch(f.stream, {1, 4}, f.sum, of_own, plain, 4));
    CHECK(f.first(plain) == 12);
    CHECK(f.first(pooled) == 6);
  }
}

TEST_CASE("owners: memory of another device is refused before the driver hears of the launch",
          "[kernel][launch][two_devices]") {
  const two_devices f;
  auto x = f.filled(f.there, 1);
  auto y = f.filled(f.here, 2);
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.sum, x, y, 4)), "argument 1"));
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.sum, y, x, 4)), "argument 2"));
  const gpu::launch_config shape{1, 4};
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, shape, f.sum, y, x, 4)), "argument 2"));
  const gpu::untyped_kernel untyped = value_of(f.module.kernel("sum"));
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, untyped, y, x, 4)), "argument 2"));
  auto box = value_of(gpu::pitched_buffer<int>::create(f.there, {4, 1}));
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, box, 4)), "argument 1"));
  auto growing = value_of(gpu::growing_buffer<int>::create(f.there, 4));
  value_of(growing.resize(4));
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, growing, 4)),
                        "argument 1"));
  const named_memory named{x.span(), x.context()};
  CHECK(
      is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, named, 4)), "argument 1"));
  const auto gone = std::move(y);
  CHECK(is_moved_from(error_of(gpu::launch(f.stream, {1, 4}, f.sum, x, y, 4)), "argument 2"));
  CHECK(f.is_alive());
}

TEST_CASE("owners: memory of another device is used while its access is enabled",
          "[kernel][launch][peer][two_devices]") {
  const two_devices f;
  if (!f.linked) return;
  auto x = f.filled(f.there, 1);
  {
    const auto access = value_of(gpu::peer_access::enable(f.here, f.there));
    value_of(gpu::launch(f.stream, {1, 4}, f.add_one, x, 4));
    const gpu::launch_config shape{1, 4};
    value_of(gpu::launch(f.stream, shape, f.add_one, x, 4));
    CHECK(f.first(x) == 3);
  }
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, x, 4)), "argument 1"));
  CHECK(f.is_alive());
}

TEST_CASE("owners: memory of another device's pool is used while the pool lets the device",
          "[kernel][launch][peer][two_devices]") {
  const two_devices f;
  if (!f.linked) return;
  const auto pool = value_of(gpu::memory_pool::create(f.there));
  const gpu::stream elsewhere = value_of(gpu::stream::create(f.there));
  auto x = value_of(pool.allocate<int>(elsewhere, 4));
  value_of(gpu::fill(elsewhere, x, 1));
  value_of(elsewhere.synchronize());
  const auto access =
      value_of(gpu::peer_access::enable(f.here, f.there));  // does nothing for pools
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, x, 4)), "argument 1"));
  value_of(pool.set_access(f.here, gpu::memory_access::read_write));
  value_of(gpu::launch(f.stream, {1, 4}, f.add_one, x, 4));
  CHECK(f.first(x) == 2);
  value_of(pool.set_access(f.here, gpu::memory_access::none));
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, x, 4)), "argument 1"));
}

TEST_CASE("owners: every device reaches managed memory, and buffers without elements",
          "[kernel][launch][two_devices]") {
  const two_devices f;
  auto managed = value_of(gpu::managed_buffer<int>::create(f.there, 4));
  for (int& each : managed) each = 5;
  value_of(gpu::launch(f.stream, {1, 4}, f.add_one, managed, 4));
  value_of(f.stream.synchronize());
  CHECK(managed[3] == 6);
  auto empty = value_of(gpu::device_buffer<int>::create(f.there, 0));
  value_of(gpu::launch(f.stream, {1, 4}, f.add_one, empty, 0));
  CHECK(f.stream.synchronize().has_value());
}

TEST_CASE("owners: memory that the driver does not know passes", "[kernel][launch][two_devices]") {
  const two_devices f;
  const auto other = value_of(gpu::context::primary(f.there));
  int local = 0;
  const named_memory unknown{
      gpu::device_span<int>::from_native(reinterpret_cast<std::uintptr_t>(&local), 1), other};
  value_of(gpu::launch(f.stream, {1, 4}, f.add_one, unknown, 0));
  CHECK(f.stream.synchronize().has_value());
}

TEST_CASE("owners: spans know no device, and pass unseen", "[kernel][launch][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const two_devices f;
  auto x = f.filled(f.there, 1);
  value_of(gpu::launch(f.stream, {1, 4}, f.add_one, x.span(), 4));
  CHECK(error_of(f.stream.synchronize()).code() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("owners: host arguments beside a buffer change nothing",
          "[kernel][launch][two_devices]") {
  const two_devices f;
  std::vector<int> host(4, 1);
  auto x = f.filled(f.there, 1);
  CHECK(is_out_of_reach(error_of(gpu::launch(f.stream, {1, 4}, f.sum, gpu::in(host), x, 4)),
                        "argument 2"));
  const auto kept = std::move(x);
  CHECK(is_moved_from(error_of(gpu::launch(f.stream, {1, 4}, f.sum, x, gpu::inout(host), 4)),
                      "argument 1"));
  CHECK(host == std::vector<int>(4, 1));
  CHECK(f.is_alive());
}

TEST_CASE("owners: a refused launch leaves a capture as it was", "[kernel][launch][graph]") {
  const fixture f;
  auto x = f.filled(f.here, 1), gone = f.filled(f.here, 1);
  const auto kept = std::move(gone);
  gpu::context_ref other;
  if (test::device_count() > 1)
    other = value_of(gpu::context::primary(value_of(gpu::device::get(1))));
  const test::captured made = test::capture(f.stream, [&] {
    CHECK(is_moved_from(error_of(gpu::launch(f.stream, {1, 4}, f.add_one, gone, 4)), "argument 1"));
    if (test::device_count() > 1) {
      const named_memory far{x.span(), other};
      value_of(gpu::launch(f.stream, {1, 4}, f.add_one, far, 4));  // the driver knows better
    }
    value_of(gpu::launch(f.stream, {1, 4}, f.add_one, x, 4));
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == (test::device_count() > 1 ? 2 : 1));
}

TEST_CASE("owners: kernel nodes are looked at as launches are", "[kernel][graph]") {
  const fixture f;
  auto x = f.filled(f.here, 1), gone = f.filled(f.here, 1);
  const auto kept = std::move(gone);
  const auto graph = value_of(gpu::graph::create(f.here));
  const gpu::cuda_error refused =
      error_of(graph.add({}, gpu::kernel_node({1, 4}, f.sum, x, gone, 4)));
  CHECK(is_moved_from(refused, "argument 2 of kernel sum"));
  CHECK(says(refused, "gpu::kernel_node"));
  const auto node = value_of(graph.add({}, gpu::kernel_node({1, 4}, f.sum, x, x, 4)));
  CHECK(is_moved_from(error_of(gpu::set(graph, node, gpu::kernel_node({1, 4}, f.sum, gone, x, 4))),
                      "argument 1 of kernel sum"));
  const auto exec = value_of(gpu::graph_exec::instantiate(graph));
  value_of(gpu::launch(f.stream, exec));
  CHECK(f.first(x) == 2);
}

TEST_CASE("owners: a kernel node takes memory of another device that its own can reach",
          "[kernel][graph][peer][two_devices]") {
  const two_devices f;
  auto x = f.filled(f.there, 1);
  const auto graph = value_of(gpu::graph::create(f.here));
  const auto add = [&] { return graph.add({}, gpu::kernel_node({1, 4}, f.add_one, x, 4)); };
  CHECK(is_out_of_reach(error_of(add()), "argument 1"));
  if (!f.linked) return;
  const auto access = value_of(gpu::peer_access::enable(f.here, f.there));
  value_of(add());
  const auto exec = value_of(gpu::graph_exec::instantiate(graph));
  value_of(gpu::launch(f.stream, exec));
  CHECK(f.first(x) == 2);
}

TEST_CASE("owners: each driver call of a launch with another device's buffer may fail",
          "[kernel][launch][faults][cpu]") {
  const gpu::compiled_program code = value_of(gpu::compile(source));
  const auto run = [&](bool allowed) {
    return test::sweep(
        [&]() -> gpu::result<> {
          const gpu::device here = GPU_TRY(gpu::device::get(0));
          const gpu::device there = GPU_TRY(gpu::device::get(1));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(here));
          const gpu::module module = GPU_TRY(gpu::module::load(code));
          const auto add_one = GPU_TRY(module.kernel<int*, int>("add_one"));
          const gpu::stream elsewhere = GPU_TRY(gpu::stream::create(there));
          const gpu::memory_pool pool = GPU_TRY(gpu::memory_pool::create(there));
          if (allowed) GPU_TRY(pool.set_access(here, gpu::memory_access::read_write));
          auto x = GPU_TRY(pool.allocate<int>(elsewhere, 4));
          gpu::result<> launched = gpu::launch(stream, {1, 4}, add_one, x, 0);
          if (!allowed && !launched.has_value() && launched.error() == gpu::errc::wrong_context)
            launched = {};
          GPU_TRY(std::move(launched));
          return stream.synchronize();
        },
        {"cuCtxGetCurrent", "cuCtxPopCurrent"}, {.devices = 2});
  };
  CHECK(run(true) == "");
  CHECK(run(false) == "");
}

}}  // namespace argument_owner_test
