#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/last_error.hpp>
#include <gpu/gpu.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace last_error_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

struct clean {
  clean() { static_cast<void>(gpu::take_last_error()); }
};

}  // namespace

TEST_CASE("last error: looked at and taken", "[core][last_error]") {
  const clean before;
  CHECK(gpu::peek_last_error().has_value());
  CHECK(gpu::take_last_error().has_value());
  static_cast<void>(gpu::stream_ref{}.synchronize());
  const int line = __LINE__ - 1;
  for (int i = 0; i < 2; ++i) {
    const gpu::cuda_error error = error_of(gpu::peek_last_error());
    CHECK(error == gpu::errc::empty_handle);
    CHECK(error.where().line() == static_cast<unsigned>(line));
    CHECK(says(error, "gpu::stream::synchronize", "stream is empty", "last_error_test.cpp"));
  }
  CHECK(error_of(gpu::take_last_error()) == gpu::errc::empty_handle);
  CHECK(gpu::peek_last_error().has_value());
  CHECK(gpu::take_last_error().has_value());
}

TEST_CASE("last error: the later of two, with its values, and no success takes it back",
          "[core][last_error]") {
  const clean before;
  static_cast<void>(gpu::stream_ref{}.synchronize());
  const gpu::cuda_error told = error_of(gpu::device::get(4711));
  value_of(gpu::device::count());
  const gpu::cuda_error error = error_of(gpu::take_last_error());
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(error.asked() == 4711);
  CHECK(error.limit() == static_cast<std::uint64_t>(test::device_count()));
  CHECK(error.message() == told.message());
}

TEST_CASE("last error: the driver's, a fault's and a missing driver's are noted too",
          "[core][last_error]") {
  const clean before;
  gpu::driver::entry_points refusing = test::driver();
  refusing.device_get_count = [](int*) { return CUDA_ERROR_ILLEGAL_ADDRESS; };
  {
    gpu::driver::scoped_entry_points in_force(refusing);
    static_cast<void>(gpu::device::count());
  }
  CHECK(error_of(gpu::take_last_error()).code() == CUDA_ERROR_ILLEGAL_ADDRESS);
  gpu::driver::entry_points broken{};
  broken.start_failure = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
  broken.unavailable_detail = "cuInit";
  {
    gpu::driver::scoped_entry_points in_force(broken);
    static_cast<void>(gpu::device::count());
  }
  const gpu::cuda_error start = error_of(gpu::take_last_error());
  CHECK(start.code() == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  CHECK(start.kind() == gpu::error_kind::runtime);
  CHECK(says(start, "cuInit", "reboot, or reinstall"));
}

TEST_CASE("last error: each thread has its own", "[core][last_error]") {
  const clean before;
  static_cast<void>(gpu::device::get(-1));
  bool none = false, own = false;
  std::thread([&] {
    none = gpu::peek_last_error().has_value();
    static_cast<void>(gpu::stream_ref{}.synchronize());
    own = !gpu::take_last_error().has_value();
  }).join();
  CHECK(none);
  CHECK(own);
  CHECK(error_of(gpu::take_last_error()) == gpu::errc::index_out_of_range);
}

TEST_CASE("last error: what goes to the error reporter is none", "[core][last_error]") {
  test::reported_errors reported;
  const gpu::event event = value_of(gpu::event::create(test::first_device()));
  const clean before;
  gpu::driver::entry_points failing = test::driver();
  failing.event_destroy = [](CUevent) { return CUDA_ERROR_UNKNOWN; };
  {
    gpu::driver::scoped_entry_points in_force(failing);
    {
      const gpu::event other = gpu::event::adopt(event);
    }
  }
  CHECK(reported.count() == 1);
  CHECK(gpu::peek_last_error().has_value());
}

TEST_CASE("last error: work that succeeds leaves none, whatever was tried on the way",
          "[core][last_error][cpu]") {
  const test::own_cpu_driver driver;
  const clean before;
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const auto check = [](const char* step) {
    INFO(step);
    const gpu::result<> last = gpu::take_last_error();
    if (!last.has_value()) FAIL(last.error().message().c_str());
  };
  auto x = value_of(gpu::device_buffer<int>::create(stream, 4));
  value_of(gpu::fill(stream, x, 1));
  check("memory");
  for (int i = 0; i < 2; ++i) {
    const auto program = value_of(gpu::compile(
        "#include <cstdint>\nextern \"C\" __global__ void set(int* x) { x[threadIdx.x] = 7; }",
        {}));
    check("compile");
    const auto module = value_of(gpu::module::load(program));
    check("load");
    const auto set = value_of(module.kernel<int*>("set"));
    value_of(gpu::launch(stream, {1, 4}, set, x));
    value_of(stream.synchronize());
    check("launch");
  }
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  {
    // What a stream gave back goes to the driver first, where the limit leaves too little.
    auto cache = value_of(gpu::caching_allocator::create(stream.device(), {.limit = 6 * mebibyte}));
    const gpu::stream other = value_of(gpu::stream::create(stream.device()));
    value_of(cache.allocate<char>(stream, 2 * mebibyte));
    value_of(cache.allocate<char>(other, 5 * mebibyte));
    CHECK(cache.statistics().trims > 0);
    check("allocate");
    CHECK_FALSE(cache.allocate<char>(other, 7 * mebibyte).has_value());
    CHECK(error_of(gpu::take_last_error()).code() == CUDA_ERROR_OUT_OF_MEMORY);
  }
  {
    // Nor does it take away what was there before.
    static_cast<void>(gpu::device::get(4711));
    auto cache = value_of(gpu::caching_allocator::create(stream.device(), {.limit = 6 * mebibyte}));
    const gpu::stream other = value_of(gpu::stream::create(stream.device()));
    value_of(cache.allocate<char>(stream, 2 * mebibyte));
    value_of(cache.allocate<char>(other, 5 * mebibyte));
    CHECK(cache.statistics().trims > 0);
    CHECK(error_of(gpu::take_last_error()) == gpu::errc::index_out_of_range);
  }
  {
    // An attribute that the driver does not know.
    gpu::driver::entry_points old = gpu::driver::current_entry_points();
    static decltype(old.device_get_attribute) inner;
    inner = old.device_get_attribute;
    old.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice device) {
      return which == CU_DEVICE_ATTRIBUTE_NUMA_ID ? CUDA_ERROR_INVALID_VALUE
                                                  : inner(value, which, device);
    };
    const gpu::driver::scoped_entry_points in_force(old);
    CHECK(value_of(stream.device().properties()).numa_id == 0);
    check("properties");
  }
  value_of(stream.is_done());
  value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  check("the rest");
}

TEST_CASE("last error: peer access that is on already leaves none",
          "[core][last_error][two_devices][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const gpu::device first = value_of(gpu::device::get(0)), second = value_of(gpu::device::get(1));
  const clean before;
  const auto access = value_of(gpu::peer_access::enable(first, second));
  const auto again = value_of(gpu::peer_access::enable(first, second));
  CHECK(gpu::take_last_error().has_value());
}

TEST_CASE("last error: it says all that the result says", "[core][last_error]") {
  const auto same = [](const gpu::cuda_error& error) {
    const gpu::cuda_error last = error_of(gpu::take_last_error());
    CHECK(std::string(last.message().c_str()) == error.message().c_str());
    CHECK(last.asked() == error.asked());
    CHECK(last.limit() == error.limit());
  };
  const clean before;
  const gpu::device device = test::first_device();
  gpu::graph graph = value_of(gpu::graph::create(device));
  const auto a = value_of(graph.add({}, gpu::empty_node{}));
  const auto b = value_of(graph.add(a, gpu::empty_node{}));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  const gpu::graph other = value_of(gpu::graph::create(device));
  same(error_of(exec.update(other)));
  value_of(graph.connect(b, a));
  same(error_of(gpu::graph_exec::instantiate(graph)));
  same(error_of(gpu::module::load(".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n")));
  same(error_of(gpu::module::load(".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n",
                                  gpu::jit_options{})));
}

}  // namespace last_error_test
