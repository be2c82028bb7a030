// The driver calls of a launch: the function, its values, and launches that make none.

#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/slice.hpp>

#include "kernel/recorded_launch.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace launch_test {

/// Memory whose parameters of class type do not begin with the pointer.
template <class Value> struct named_memory {
  Value name;
  int* elements;
};

}  // namespace launch_test

template <class Value> struct gpu::kernel_argument<launch_test::named_memory<Value>> {
  using memory = launch_test::named_memory<Value>;
  static int* pointer(const memory& argument) noexcept { return argument.elements; }
  static Value value(const memory& argument) noexcept { return argument.name; }
};

namespace launch_test { namespace {

template <class T> std::string bytes_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

struct pair_of_numbers {
  int a;
  double b;
};

constexpr const char* some_ptx = ".version 8.0";

template <class... P> gpu::kernel<P...> recorded_kernel(const gpu::module& module) {
  auto found = module.kernel<P...>("recorded");
  if (!found.has_value()) FAIL(found.error().message().c_str());
  return *found;
}

TEST_CASE("launch passes views as they are and refuses faulty ones", "[kernel][launch]") {
  const test::recording_driver driver({40, 8}, {0, 40});
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<gpu::array_view<const float, 2>, float*>(module);
  const gpu::stream_ref stream = test::recording_driver::stream();
  const auto rows = gpu::array_view<float, 2>::from_native(0x700000, {3, 4}, {4, 1});
  const auto x = gpu::device_span<float>::from_native(0x800000, 4);
  CHECK(gpu::launch(stream, {10, 256}, kernel, rows(gpu::slice(0, 2)), x).has_value());
  REQUIRE(test::recording().launches.size() == 1);
  CHECK(test::recording().launches[0].arguments[0] ==
        bytes_of(std::uint64_t{0x700000}) + bytes_of(std::uint64_t{2}) +
            bytes_of(std::uint64_t{4}) + bytes_of(std::int64_t{4}) + bytes_of(std::int64_t{1}));

  const auto missing = rows(3, gpu::new_axis());
  const auto refused = gpu::launch(stream, {10, 256}, kernel, missing, x);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == gpu::errc::index_out_of_range);
  CHECK(test::says(refused.error(), "gpu::launch", "kernel recorded: argument 1",
                   "a faulty gpu::array_view::operator()",
                   "index 3 is out of range for axis 0, which has 3 elements"));
  const gpu::untyped_kernel untyped = module.kernel("recorded").value();
  const auto unchecked = gpu::launch(stream, {10, 256}, untyped, missing, x);
  REQUIRE_FALSE(unchecked.has_value());
  CHECK(test::says(unchecked.error(), "kernel recorded: argument 1", "index 3 is out of range"));
  CHECK(test::recording().launches.size() == 1);
}

TEST_CASE("launch passes contiguous views for pointers, and no others", "[kernel][launch]") {
  const test::recording_driver driver({8, 8}, {0, 8});
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<const float*, void*>(module);
  const gpu::untyped_kernel untyped = module.kernel("recorded").value();
  const gpu::stream_ref stream = test::recording_driver::stream();
  const auto rows = gpu::array_view<float, 2>::from_native(0x700000, {3, 4}, {4, 1});
  static_assert(gpu::kernel_argument_for<gpu::array_view<float, 2>, const float*>);
  static_assert(!gpu::kernel_argument_for<gpu::array_view<const float, 2>, float*>);
  static_assert(!gpu::kernel_argument_for<gpu::array_view<double>, float*>);

  CHECK(gpu::launch(stream, {10, 256}, kernel, rows(gpu::slice(1, 3)), rows).has_value());
  CHECK(gpu::launch(stream, {10, 256}, untyped, rows(2), rows(1, 3)).has_value());
  CHECK(gpu::launch(stream, {10, 256}, kernel, rows(gpu::slice(0, 0), gpu::slice(1, 3)),
                    rows(gpu::slice(1, 2), gpu::slice(1, 3)))
            .has_value());
  REQUIRE(test::recording().launches.size() == 3);
  const auto passed = [](std::size_t launch, std::size_t argument) {
    return test::recording().launches[launch].arguments[argument];
  };
  CHECK(passed(0, 0) == bytes_of(std::uint64_t{0x700010}));
  CHECK(passed(0, 1) == bytes_of(std::uint64_t{0x700000}));
  CHECK(passed(1, 0) == bytes_of(std::uint64_t{0x700020}));
  CHECK(passed(1, 1) == bytes_of(std::uint64_t{0x70001c}));
  CHECK(passed(2, 1) == bytes_of(std::uint64_t{0x700014}));

  const auto refused = [](gpu::result<> launched, const char* argument) {
    REQUIRE_FALSE(launched.has_value());
    CHECK(launched.error() == gpu::errc::invalid_argument);
    CHECK(test::says(launched.error(), "kernel recorded", argument, "elements are not contiguous",
                     "gpu::evaluate", "gpu::array_view"));
  };
  const auto column = rows(gpu::all(), 1);
  refused(gpu::launch(stream, {10, 256}, kernel, column, rows), "argument 1");
  refused(gpu::launch(stream, {10, 256}, kernel, rows, rows(gpu::slice(0, 3, 2))), "argument 2");
  refused(gpu::launch(stream, {10, 256}, untyped, rows, column), "argument 2");
  const auto missing = gpu::launch(stream, {10, 256}, kernel, rows(3), rows);
  REQUIRE_FALSE(missing.has_value());
  CHECK(test::says(missing.error(), "argument 1", "index 3 is out of range"));
  CHECK(test::recording().launches.size() == 3);
}

TEST_CASE("launch passes each argument in the type of its parameter", "[kernel][launch]") {
  const test::recording_driver driver({4, 8, 16, 8, 16, 1}, {0, 8, 16, 32, 40, 56});
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<float, const float*, gpu::device_span<const float>, long long,
                                      pair_of_numbers, bool>(module);
  const auto x = gpu::device_span<float>::from_native(0x700000, 77);
  const auto done = gpu::launch(test::recording_driver::stream(), {10, 256}, kernel, 2, x, x, 5,
                                pair_of_numbers{3, 4.5}, true);
  REQUIRE(done.has_value());
  REQUIRE(test::recording().launches.size() == 1);
  const test::recorded_launch& made = test::recording().launches[0];
  CHECK(made.function == reinterpret_cast<CUfunction>(kernel.native()));
  CHECK(made.stream == test::recording_driver::stream().native());
  CHECK(made.arguments[0] == bytes_of(2.0f));
  CHECK(made.arguments[1] == bytes_of(std::uint64_t{0x700000}));
  CHECK(made.arguments[2] == bytes_of(std::uint64_t{0x700000}) + bytes_of(std::uint64_t{77}));
  CHECK(made.arguments[3] == bytes_of(5ll));
  CHECK(made.arguments[4].substr(0, 4) == bytes_of(3));
  CHECK(made.arguments[4].substr(8, 8) == bytes_of(4.5));
  CHECK(made.arguments[5] == std::string(1, '\1'));
}

TEST_CASE("launch passes the shape on", "[kernel][launch]") {
  const test::recording_driver driver;
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<>(module);
  const auto stream = test::recording_driver::stream();
  const gpu::launch_config shapes[] = {
      {1, 1},
      {{7, 8, 9}, {2, 3, 4}, 100},
      {0x7fffffff, 1024},
      {{1, 0xffff, 0xffff}, {1, 1024, 1}, 48 << 10},
      {{1, 0x8001, 1}, {1, 1, 64}},
      {5, {2, 8, 64}},
  };
  for (const gpu::launch_config& shape : shapes) {
    REQUIRE(gpu::launch(stream, shape, kernel).has_value());
    const test::recorded_launch& made = test::recording().launches.back();
    CHECK(made.grid == std::vector<unsigned>{shape.grid.x, shape.grid.y, shape.grid.z});
    CHECK(made.block == std::vector<unsigned>{shape.block.x, shape.block.y, shape.block.z});
    CHECK(made.shared_bytes == shape.shared_bytes);
    CHECK_FALSE(made.extended);
  }
  CHECK(test::recording().launches.size() == 6);
  CHECK(test::recording().calls.empty());
}

TEST_CASE("a cluster and attributes go through cuLaunchKernelEx", "[kernel][launch]") {
  const test::recording_driver driver({4}, {0});
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<int>(module);
  const auto stream = test::recording_driver::stream();
  CUlaunchAttribute priority{};
  priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  priority.value.priority = -3;
  REQUIRE(gpu::launch(stream,
                      {.grid = 8,
                       .block = 32,
                       .cluster = {4, 1, 1},
                       .attributes = gpu::launch_attributes_ref::from_native(&priority, 1)},
                      kernel, 42)
              .has_value());
  const test::recorded_launch& made = test::recording().launches.at(0);
  CHECK(made.extended);
  CHECK(made.arguments[0] == bytes_of(42));
  REQUIRE(made.attributes.size() == 2);
  CHECK(made.attributes[0].id == CU_LAUNCH_ATTRIBUTE_PRIORITY);
  CHECK(made.attributes[0].value.priority == -3);
  CHECK(made.attributes[1].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  CHECK(made.attributes[1].value.clusterDim.x == 4);
  CHECK(made.attributes[1].value.clusterDim.z == 1);

  const auto uneven = gpu::launch(stream, {.grid = 9, .block = 32, .cluster = 4}, kernel, 42);
  REQUIRE_FALSE(uneven.has_value());
  CHECK(uneven.error() == gpu::errc::invalid_launch);
  CHECK(uneven.error().details().contains("{4, 1, 1}"));
  CHECK(uneven.error().details().contains("{9, 1, 1}"));
}

TEST_CASE("more attributes than there are to choose from are refused", "[kernel][launch]") {
  const test::recording_driver driver;
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<>(module);
  const auto stream = test::recording_driver::stream();
  CUlaunchAttribute priority{};
  priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  const std::vector<CUlaunchAttribute> many(31, priority);
  // Twice: what a kernel may is not yet known at its first launch.
  for (int round = 0; round < 2; ++round) {
    for (const unsigned cluster : {1u, 2u}) {
      for (const std::size_t count : {std::size_t{32}, ~std::size_t{0}, std::size_t{1} << 32}) {
        const gpu::launch_config config{
            .grid = 2,
            .block = 1,
            .cluster = cluster,
            .attributes = gpu::launch_attributes_ref::from_native(many.data(), count)};
        const auto refused = gpu::launch(stream, config, kernel);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error() == gpu::errc::invalid_launch);
        CHECK(refused.error().asked() == count);
        CHECK(refused.error().limit() == 31);
        CHECK(refused.error().details().contains("kernel recorded"));
        CHECK(refused.error().details().contains(std::to_string(count).c_str()));
      }
      CHECK(test::recording().launches.size() == static_cast<std::size_t>(2 * round));
    }
    for (const unsigned cluster : {1u, 2u}) {
      REQUIRE(gpu::launch(
                  stream,
                  {.grid = 2,
                   .block = 1,
                   .cluster = cluster,
                   .attributes = gpu::launch_attributes_ref::from_native(many.data(), many.size())},
                  kernel)
                  .has_value());
      CHECK(test::recording().launches.back().attributes.size() == 30 + cluster);
    }
  }
}

TEST_CASE("attributes that are nowhere are refused", "[kernel][launch]") {
  const test::recording_driver driver;
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<>(module);
  const auto stream = test::recording_driver::stream();
  // Twice: what a kernel may is not yet known at its first launch.
  for (int round = 0; round < 2; ++round) {
    for (const unsigned cluster : {1u, 2u}) {
      const auto refused =
          gpu::launch(stream,
                      {.grid = 2,
                       .block = 1,
                       .cluster = cluster,
                       .attributes = gpu::launch_attributes_ref::from_native(nullptr, 31)},
                      kernel);
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error() == gpu::errc::invalid_launch);
      CHECK(refused.error().asked() == 31);
      CHECK(std::string(refused.error().call()) == "gpu::launch");
      CHECK(refused.error().details().contains(
          "kernel recorded: config.attributes has size 31 but a null pointer"));
    }
    REQUIRE(gpu::launch(stream, {2, 1}, kernel).has_value());
  }
  CHECK(test::recording().launches.size() == 2);
}

TEST_CASE("shapes outside the limits are refused before the driver is asked", "[kernel][launch]") {
  const test::recording_driver driver;
  test::recording().max_threads = 640;
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<>(module);
  const auto stream = test::recording_driver::stream();
  struct bad_shape {
    gpu::launch_config shape;
    std::uint64_t asked, limit;
    const char* words;
    const char* cure = "";
  };
  const char* const strides = "Let each thread process several elements, in a grid-stride loop.";
  const char* const smaller = "Use smaller blocks and more of them.";
  const bad_shape shapes[] = {
      {{0, 1},
       0,
       1,
       "x extent of 0 is zero; it must be at least 1 and at most 2147483647.",
       "Skip the launch if there is nothing to do."},
      {{{1, 0, 1}, 1}, 0, 1, "y extent of 0"},
      {{{1, 1, 0}, 1}, 0, 1, "z extent of 0"},
      {{0x80000000u, 1}, 0x80000000u, 0x7fffffff, "the grid is {2147483648, 1, 1}", strides},
      {{{1, 65536, 1}, 1},
       65536,
       65535,
       "y extent of 65536 is more than the device's limit of 65535.",
       strides},
      {{{1, 1, 65536}, 1}, 65536, 65535, "z extent of 65536", strides},
      {{1, 0}, 0, 1, "the block is {0, 1, 1}"},
      {{1, {1, 0}}, 0, 1, "y extent of 0"},
      {{1, {1, 1, 0}}, 0, 1, "z extent of 0"},
      {{1, 1025}, 1025, 1024, "x extent of 1025", smaller},
      {{1, {1, 1, 65}}, 65, 64, "z extent of 65", smaller},
      {{1, {1, 1, 1u << 27}}, 1u << 27, 64, "z extent of 134217728", smaller},
      {{1, 641},
       641,
       640,
       "more than the kernel's limit of 640, which its registers or its __launch_bounds__ set.",
       "Use smaller blocks, or change its __launch_bounds__."},
      {{1, {32, 32}}, 1024, 640, "has 1024 threads"},
      {{1, {64, 2, 64}}, 8192, 640, "has 8192 threads"},
      {{1, 1, (227 << 10) + 1},
       (227 << 10) + 1,
       227 << 10,
       "bytes of dynamic shared memory",
       "Use less, or split the work into smaller tiles."},
  };
  for (const bad_shape& bad : shapes) {
    const auto refused = gpu::launch(stream, bad.shape, kernel);
    REQUIRE_FALSE(refused.has_value());
    INFO(refused.error().message().c_str());
    CHECK(refused.error() == gpu::errc::invalid_launch);
    CHECK(refused.error().kind() == gpu::error_kind::launch);
    CHECK(refused.error().asked() == bad.asked);
    CHECK(refused.error().limit() == bad.limit);
    CHECK(refused.error().details().contains(bad.words));
    CHECK(refused.error().details().contains(bad.cure));
    CHECK(refused.error().details().contains("recorded"));
  }
  CHECK(test::recording().launches.empty());
  CHECK(gpu::launch(stream, {1, 640}, kernel).has_value());
}

TEST_CASE("more dynamic shared memory than usual is asked for once", "[kernel][launch]") {
  const test::recording_driver driver;
  test::recording().static_shared = 1024;
  test::recording().dynamic_shared = 0;
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<>(module);
  const auto stream = test::recording_driver::stream();
  const unsigned usual = (48 << 10) - 1024, most = (227 << 10) - 1024;
  REQUIRE(gpu::launch(stream, {1, 1, usual}, kernel).has_value());
  CHECK(test::recording().calls.empty());
  REQUIRE(gpu::launch(stream, {1, 1, usual + 1}, kernel).has_value());
  const std::vector<std::string> raised = {
      "set " + std::to_string(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) + " to " +
      std::to_string(most)};
  CHECK(test::recording().calls == raised);
  REQUIRE(gpu::launch(stream, {1, 1, most}, kernel).has_value());
  REQUIRE(gpu::launch(stream, {1, 1, 100000}, kernel).has_value());
  CHECK(test::recording().calls == raised);
  const auto refused = gpu::launch(stream, {1, 1, most + 1}, kernel);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().asked() == most + 1);
  CHECK(refused.error().limit() == most);
  CHECK(refused.error().details().contains("1024"));
  CHECK(test::recording().launches.size() == 4);
}

TEST_CASE("an error of the driver names the call and the line", "[kernel][launch]") {
  const test::recording_driver driver;
  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<>(module);
  const auto stream = test::recording_driver::stream();
  REQUIRE(gpu::launch(stream, {1, 1}, kernel).has_value());
  test::recording().answer = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const auto plain = gpu::launch(stream, {1, 1}, kernel);
  const unsigned line = __LINE__ - 1;
  REQUIRE_FALSE(plain.has_value());
  CHECK(plain.error().domain() == gpu::error_domain::driver);
  CHECK(plain.error().code() == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  CHECK(std::string(plain.error().call()) == "cuLaunchKernel");
  CHECK(plain.error().where().line() == line);
  CHECK(std::string(plain.error().where().file_name()) == __FILE__);
  const auto extended = gpu::launch(stream, {.grid = 2, .block = 1, .cluster = 2}, kernel);
  REQUIRE_FALSE(extended.has_value());
  CHECK(std::string(extended.error().call()) == "cuLaunchKernelEx");
}

TEST_CASE("empty kernels and streams are refused", "[kernel][launch]") {
  const test::recording_driver driver;
  const gpu::kernel<int> none;
  CHECK_FALSE(static_cast<bool>(none));
  CHECK(none.native() == nullptr);
  const auto no_kernel = gpu::launch(test::recording_driver::stream(), {1, 1}, none, 1);
  REQUIRE_FALSE(no_kernel.has_value());
  CHECK(no_kernel.error() == gpu::errc::empty_handle);
  CHECK(no_kernel.error().details().contains("kernel"));
  const auto untyped =
      gpu::launch(test::recording_driver::stream(), {1, 1}, gpu::untyped_kernel(), 1);
  REQUIRE_FALSE(untyped.has_value());
  CHECK(untyped.error() == gpu::errc::empty_handle);

  const gpu::module module = gpu::module::load(some_ptx).value();
  const auto kernel = recorded_kernel<>(module);
  const auto no_stream = gpu::launch(gpu::stream_ref(), {1, 1}, kernel);
  REQUIRE_FALSE(no_stream.has_value());
  CHECK(no_stream.error() == gpu::errc::empty_handle);
  CHECK(no_stream.error().details().contains("stream"));
  CHECK(test::recording().launches.empty());
}

TEST_CASE("an untyped kernel checks sizes at the launch", "[kernel][launch]") {
  const test::recording_driver driver({8, 16, 4}, {0, 8, 24});
  const gpu::module module = gpu::module::load(some_ptx).value();
  const gpu::untyped_kernel kernel = module.kernel("recorded").value();
  const auto stream = test::recording_driver::stream();
  const auto x = gpu::device_span<float>::from_native(0x5000, 3);
  REQUIRE(gpu::launch(stream, {1, 1}, kernel, x, x, 1.5f).has_value());
  const test::recorded_launch& made = test::recording().launches.at(0);
  CHECK(made.arguments[0] == bytes_of(std::uint64_t{0x5000}));
  CHECK(made.arguments[1] == bytes_of(std::uint64_t{0x5000}) + bytes_of(std::uint64_t{3}));
  CHECK(made.arguments[2] == bytes_of(1.5f));

  const auto wrong_size = gpu::launch(stream, {1, 1}, kernel, x, x, 1.5);
  REQUIRE_FALSE(wrong_size.has_value());
  CHECK(wrong_size.error() == gpu::errc::argument_mismatch);
  CHECK(wrong_size.error().details().contains("3     4 bytes    double "));
  CHECK(wrong_size.error().details().contains("8 bytes   <-- the first difference\n"));
  const auto too_few = gpu::launch(stream, {1, 1}, kernel, x, x);
  REQUIRE_FALSE(too_few.has_value());
  CHECK(too_few.error().asked() == 2);
  CHECK(too_few.error().limit() == 3);
  CHECK(
      too_few.error().details().contains("3     4 bytes    nothing   <-- the first difference\n"));
  const auto too_many = gpu::launch(stream, {1, 1}, kernel, x, x, 1, 2);
  REQUIRE_FALSE(too_many.has_value());
  CHECK(too_many.error().details().contains("4  nothing       int "));
  CHECK(test::recording().launches.size() == 1);
  CHECK(gpu::launch(stream, {1, 1}, kernel, x, x, 7u).has_value());
  // The parameter's size chooses between value and pointer; where both have it, it is the value.
  int* const elements = reinterpret_cast<int*>(std::uintptr_t{0x6000});
  const named_memory<std::uint64_t> small{0x1234, elements};
  const named_memory<pair_of_numbers> large{{1, 2.5}, elements};
  REQUIRE(gpu::launch(stream, {1, 1}, kernel, small, x, 7u).has_value());
  CHECK(test::recording().launches.back().arguments[0] == bytes_of(small.name));
  REQUIRE(gpu::launch(stream, {1, 1}, kernel, large, large, 7u).has_value());
  CHECK(test::recording().launches.back().arguments[0] == bytes_of(elements));
  CHECK(test::recording().launches.back().arguments[1].substr(8) == bytes_of(2.5));
}

TEST_CASE("grid_for covers all elements with the fewest blocks", "[kernel][launch]") {
  CHECK(gpu::grid_for(0, 256) == 1);
  CHECK(gpu::grid_for(1, 256) == 1);
  CHECK(gpu::grid_for(256, 256) == 1);
  CHECK(gpu::grid_for(257, 256) == 2);
  CHECK(gpu::grid_for(-5, 256) == 1);
  CHECK(gpu::grid_for(5, 0) == 1);
  CHECK(gpu::grid_for(std::uint64_t{1} << 40, 256) == 0xffffffffu);
  CHECK(gpu::grid_for(~std::uint64_t{0}, 1) == 0xffffffffu);
  for (std::uint64_t n = 1; n < 5000; n += 7) {
    for (std::uint32_t block : {1u, 3u, 32u, 1024u}) {
      const std::uint64_t grid = gpu::grid_for(n, block);
      CHECK((grid * block >= n && (grid - 1) * block < n));
    }
  }
  static_assert(gpu::grid_for(1000, 256) == 4);
}

}}  // namespace launch_test
