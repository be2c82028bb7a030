// The header of device code that comes with the library: found without a folder, in the host's
// layout, checked in compilations for debugging.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/array_view.hpp>

#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <sys/mman.h>  // IWYU pragma: keep
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace device_header_test { namespace {

constexpr const char* source = R"(
#include <gpu/device.hpp>
#include <gpu/device.hpp>
extern "C" __global__ void layout(gpu::device_span<const float> span, unsigned long long* out) {
  const char* base = reinterpret_cast<const char*>(&span);
  unsigned long long words[2];
  for (int i = 0; i < 16; ++i) reinterpret_cast<char*>(words)[i] = base[i];
  out[0] = sizeof span;
  out[1] = alignof(decltype(span));
  out[2] = words[0];
  out[3] = words[1];
  out[4] = reinterpret_cast<unsigned long long>(span.data());
  out[5] = span.size();
  out[6] = span.size_bytes();
  out[7] = span.empty();
}
extern "C" __global__ void parts(gpu::device_span<int> x, int* out) {
  gpu::device_span<const int> readable = x;
  out[0] = x.first(2)[1];
  out[1] = x.last(2)[0];
  out[2] = readable.subspan(3)[0];
  out[3] = readable.subspan(1, 3).size();
  int sum = 0;
  for (int value : readable) sum += value;
  out[4] = sum;
  x[0] = -1;
  out[5] = readable[0];
}
extern "C" __global__ void count(gpu::device_span<unsigned> hits) {
  for (auto i : gpu::grid_stride(hits.size())) atomicAdd(&hits[i], 1u);
}
extern "C" __global__ void places(gpu::array_view<unsigned, 3> out) {
  const gpu::grid_place at = gpu::thread_in_grid(), size = gpu::threads_in_grid();
  out(at.z, at.y, at.x) += at.x + size.x * (at.y + size.y * at.z) + 1;
}
extern "C" __global__ void read(gpu::device_span<int> x, unsigned long long i, int* out) {
  *out = x[i];
}
extern "C" __global__ void read_part(gpu::device_span<int> x, unsigned long long i, int* out) {
  *out = x.subspan(i, 2)[0];
}
extern "C" __global__ void read_view(gpu::array_view<int, 2> x, unsigned long long i, int* out) {
  *out = x(0, i);
}
)";

/// What is printed to standard output while it lives.
class captured_output {
 public:
  captured_output() {
    std::fflush(stdout);
    ::dup2(file_, STDOUT_FILENO);
  }
  ~captured_output() {
    std::fflush(stdout);
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    ::close(file_);
  }
  captured_output(const captured_output&) = delete;
  captured_output& operator=(const captured_output&) = delete;

  std::string text() const {
    std::fflush(stdout);
    std::string all(4096, '\0');
    const auto got = ::pread(file_, all.data(), all.size(), 0);
    all.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return all;
  }

 private:
  int before_ = ::dup(STDOUT_FILENO);
  int file_ = ::memfd_create("output", MFD_CLOEXEC);
};

gpu::module load(gpu::compile_options options = {}) {
  return test::value_of(gpu::module::load(test::value_of(gpu::compile(source, options))));
}

TEST_CASE("the device header has a span in the host's layout", "[compiler][device_header]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module code = load();
  const auto layout =
      test::value_of(code.kernel<gpu::device_span<const float>, std::uint64_t*>("layout"));
  const auto span = gpu::device_span<const float>::from_native(0x12345678'9abcdef0, 0x11223344'55);
  std::vector<std::uint64_t> out(8);
  test::value_of(gpu::launch(stream, {1, 1}, layout, span, gpu::out(out)));
  CHECK(out == std::vector<std::uint64_t>{sizeof span, alignof(decltype(span)), 0x12345678'9abcdef0,
                                          0x11223344'55, 0x12345678'9abcdef0, 0x11223344'55,
                                          4 * 0x11223344'55ull, 0});
}

TEST_CASE("the device header's span has parts", "[compiler][device_header]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module code = load();
  const auto parts = test::value_of(code.kernel<gpu::device_span<int>, int*>("parts"));
  std::vector<int> x{10, 20, 30, 40, 50}, out(6);
  test::value_of(gpu::launch(stream, {1, 1}, parts, gpu::inout(x), gpu::out(out)));
  CHECK(out == std::vector<int>{20, 40, 40, 3, 150, -1});
}

TEST_CASE("a grid of any size strides over all elements once", "[compiler][device_header]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module code = load();
  const auto count = test::value_of(code.kernel<gpu::device_span<unsigned>>("count"));
  for (const std::uint32_t blocks : {1u, 3u, 8u}) {
    std::vector<unsigned> hits(257);
    test::value_of(gpu::launch(stream, {blocks, 64}, count, gpu::inout(hits)));
    CHECK(hits == std::vector<unsigned>(257, 1));
  }
}

TEST_CASE("threads know their places in the grid", "[compiler][device_header]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module code = load();
  const auto places = test::value_of(code.kernel<gpu::array_view<unsigned, 3>>("places"));
  constexpr std::size_t x = 6, y = 4, z = 6;
  auto buffer = test::value_of(gpu::device_buffer<unsigned>::create(stream, x * y * z));
  test::value_of(gpu::fill(stream, buffer, 0u));
  const auto view =
      test::value_of(gpu::array_view<unsigned, 3>::row_major(buffer.span(), {z, y, x}));
  test::value_of(gpu::launch(stream, {{2, 2, 3}, {3, 2, 2}}, places, view));
  std::vector<unsigned> out(x * y * z);
  test::value_of(gpu::copy(buffer, out));
  for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == i + 1);
}

TEST_CASE("compilations for debugging check indices", "[compiler][device_header][cpu]") {
  gpu::compile_options debug;
  debug.debug = true;
  const gpu::module code = load(debug);
  for (const char* name : {"read", "read_part", "read_view"}) {
    INFO(name);
    const gpu::context own = test::value_of(gpu::context::create(test::first_device()));
    const gpu::stream stream = test::value_of(gpu::stream::create(own));
    auto x = test::value_of(gpu::device_buffer<int>::create(stream, 10));
    auto out = test::value_of(gpu::device_buffer<int>::create(stream, 1));
    test::value_of(gpu::fill(stream, x, 7));
    const auto run = [&](std::uint64_t index) -> gpu::result<> {
      if (std::string(name) == "read_view") {
        const auto kernel =
            test::value_of(code.kernel<gpu::array_view<int, 2>, std::uint64_t, int*>(name));
        const auto view = test::value_of(gpu::array_view<int, 2>::row_major(x.span(), {1, 10}));
        GPU_TRY(gpu::launch(stream, {1, 1}, kernel, view, index, out));
      } else {
        const auto kernel =
            test::value_of(code.kernel<gpu::device_span<int>, std::uint64_t, int*>(name));
        GPU_TRY(gpu::launch(stream, {1, 1}, kernel, x, index, out));
      }
      return stream.synchronize();
    };
    CHECK(run(8).has_value());
    const captured_output said;
    const gpu::result<> outside = run(10);
    REQUIRE_FALSE(outside.has_value());
    CHECK(outside.error().is_sticky());
    const bool of_part = std::string(name) == "read_part";
    CHECK(said.text().find(of_part ? "gpu::device_span::subspan: index 12 is out of range for size "
                                     "10, in block (0,0,0), thread (0,0,0)\n"
                                   : ": index 10 is out of range for size 10, in block "
                                     "(0,0,0), thread (0,0,0)\n") != std::string::npos);
  }
}

TEST_CASE("the device header compiles in every standard", "[compiler][device_header]") {
  for (const auto standard : {gpu::cpp_standard::cpp11, gpu::cpp_standard::cpp14,
                              gpu::cpp_standard::cpp17, gpu::cpp_standard::cpp20}) {
    gpu::compile_options options;
    options.architecture = gpu::architecture::compute(90);
    options.standard = standard;
    const auto made = gpu::compile(source, options);
    if (!made.has_value()) FAIL(made.error().message().c_str());
    CHECK(made->log().empty());
  }
}

TEST_CASE("a program may bring its own device header", "[compiler][device_header]") {
  gpu::compile_options options;
  options.architecture = gpu::architecture::compute(90);
  const auto made = gpu::compile(gpu::program("#include <gpu/device.hpp>\n__device__ int y = mine;")
                                     .header("gpu/device.hpp", "constexpr int mine = 5;"),
                                 options);
  CHECK(made.has_value());
}

}}  // namespace device_header_test
