// Loading images, finding kernels and variables in them, and what is said where that fails.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/jit_options.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/kernel_attribute.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>

#include "kernel/test_programs.hpp"
#include "support/captured.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace module_test {

// As a header that host and device share would declare it.
void declared(float, const float[], float*, const int);

namespace {

constexpr const char* source = R"(
extern "C" __global__ void scale(float a, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
extern "C" __global__ void scale_all(float* x) { x[threadIdx.x] *= 2; }
extern "C" __device__ int counters[5] = {1, 2, 3, 4, 5};
extern "C" __constant__ double factor = 2.5;
extern "C" __global__ void read_variables(int* out, double* f) {
  *out = counters[3];
  *f = factor;
}
template <class T> __global__ void axpy(T a, const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)";

/// A file with that in it, for as long as this lives.
struct file_of {
  explicit file_of(const std::string& text) {
    const int file = ::mkstemp(path);
    REQUIRE(file >= 0);
    std::FILE* out = ::fdopen(file, "w");
    std::fwrite(text.data(), 1, text.size(), out);
    std::fclose(out);
  }
  file_of(const file_of&) = delete;
  file_of& operator=(const file_of&) = delete;
  ~file_of() { std::remove(path); }

  char path[28] = "/tmp/gpu_module_test_XXXXXX";
};

gpu::compiled_program compiled() {
  return test::value_of(
      gpu::compile(gpu::program(source).instance("axpy<float>").instance("axpy<int>")));
}

TEST_CASE("kernels of a compiled program run", "[kernel][module]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::value_of(gpu::module::load(compiled()));
  const auto scale = test::value_of(module.kernel<float, float*, int>("scale"));
  const auto axpy = test::value_of(module.kernel<int, const int*, int*, int>("axpy<int>"));
  CHECK(std::string(scale.name()) == "scale");
  CHECK(std::string(axpy.name()).find("axpy") != std::string::npos);
  CHECK(scale.native() != nullptr);

  std::vector<float> x(1000);
  std::vector<int> a(1000), b(1000);
  for (int i = 0; i < 1000; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<float>(i);
    a[static_cast<std::size_t>(i)] = i;
    b[static_cast<std::size_t>(i)] = 7;
  }
  test::value_of(
      gpu::launch(stream, {gpu::grid_for(1000, 128), 128}, scale, 3, gpu::inout(x), 1000));
  test::value_of(gpu::launch(stream, {gpu::grid_for(1000, 128), 128}, axpy, 5, gpu::in(a),
                             gpu::inout(b), 1000));
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(x[static_cast<std::size_t>(i)] == static_cast<float>(3 * i));
    REQUIRE(b[static_cast<std::size_t>(i)] == 7 + 5 * i);
  }
}

TEST_CASE("a module is loaded from PTX, from a file, and from PTX without a terminator",
          "[kernel][module]") {
  const gpu::compiled_program program = compiled();
  const std::string ptx(program.ptx().data(), program.ptx().size());
  CHECK(gpu::module::load(ptx).has_value());
  CHECK(gpu::module::load(ptx.c_str()).has_value());
  const std::string unterminated = ptx + "and what is no PTX";
  CHECK(gpu::module::load(gpu::bytes_ref(unterminated.data(), ptx.size())).has_value());
  std::vector<unsigned char> terminated(ptx.begin(), ptx.end());
  terminated.push_back(0);
  CHECK(gpu::module::load(terminated).has_value());

  std::string path;
  gpu::jit_report report;
  const auto from_file = [&] {
    const file_of file(ptx);
    path = file.path;
    return gpu::module::load_file(path);
  }();
  const auto with_options =
      gpu::module::load_file(file_of(ptx).path, {.threads_per_block = 64, .report = &report});
  REQUIRE(from_file.has_value());
  CHECK(from_file->kernel("scale").has_value());
  REQUIRE(with_options.has_value());
  CHECK(with_options->kernel("scale").has_value());
  CHECK(report.threads_per_block == 64);

  const auto missing = gpu::module::load_file(path);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error() == gpu::errc::file_error);
  CHECK(missing.error().details().contains(path.c_str()));
  const auto folder = gpu::module::load_file("/tmp");
  REQUIRE_FALSE(folder.has_value());
  CHECK(folder.error() == gpu::errc::file_error);
}

TEST_CASE("a module is loaded in a capture that forbids nothing, which goes on",
          "[kernel][module][capture]") {
  const gpu::compiled_program program = compiled();
  const file_of file(std::string(program.ptx().data(), program.ptx().size()));
  const gpu::stream stream = test::new_stream();
  const test::captured made = test::capture(
      stream,
      [&] {
        CHECK(gpu::module::load(program).has_value());
        CHECK(gpu::module::load_file(file.path).has_value());
        CHECK(gpu::module::load_file(file.path, {.max_registers = 64}).has_value());
      },
      CU_STREAM_CAPTURE_MODE_RELAXED);
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("an unknown kernel name lists what the module has, nearest first", "[kernel][module]") {
  const gpu::module module = test::value_of(gpu::module::load(compiled()));
  const auto wrong = module.kernel<float*>("scale_al");
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error() == gpu::errc::unknown_name);
  const std::string words = wrong.error().message().c_str();
  INFO(words);
  const std::size_t nearest = words.find("scale_all"), next = words.find("scale,");
  const std::size_t far = words.find("read_variables");
  CHECK(words.find("\"scale_al\"") != std::string::npos);
  CHECK((nearest < next && next < far && far != std::string::npos));
  // An instance that was not compiled, and an overload.
  for (const char* other :
       {"axpy<double>", "::axpy<float, 4>", "static_cast<void(*)(int*)>(axpy)"}) {
    const std::string near = module.kernel(other).error().message().c_str();
    INFO(near);
    CHECK(near.find("axpy<float>(float, const float*, float*, int)") < near.find("scale"));
  }
  CHECK(module.kernel("").error() == gpu::errc::unknown_name);
}

TEST_CASE("a name with a zero byte is refused", "[kernel][module]") {
  const gpu::module module = test::value_of(gpu::module::load(compiled()));
  const gpu::device device = test::first_device();
  const std::string kernel("scale\0zzz", 9), variable("counters\0", 9);
  for (const gpu::cuda_error& error :
       {test::error_of(module.kernel(kernel)), test::error_of(module.kernel<float*>(kernel))}) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(error.asked() == 5);
    CHECK(error.limit() == 9);
    CHECK(test::says(error, "gpu::module::kernel",
                     "the name that begins with \"scale\" has a zero byte at 5 of 9, where the "
                     "driver would stop reading. Remove it.",
                     "module_test.cpp"));
  }
  const gpu::cuda_error global = test::error_of(module.global<int>(variable, device));
  CHECK(global == gpu::errc::invalid_argument);
  CHECK(test::says(global, "gpu::module::global", "\"counters\" has a zero byte at 8 of 9"));
  const gpu::cuda_error managed = test::error_of(module.managed<int>(variable));
  CHECK(managed == gpu::errc::invalid_argument);
  CHECK(test::says(managed, "gpu::module::managed", "\"counters\" has a zero byte at 8 of 9"));
}

TEST_CASE("a signature is compared with the module's", "[kernel][module]") {
  const gpu::module module = test::value_of(gpu::module::load(compiled()));
  CHECK(module.kernel<float, float*, int>("scale").has_value());
  CHECK(module.kernel<unsigned, void*, float>("scale").has_value());  // the layout is the same
  const auto order = module.kernel<float*, float, int>("scale");
  REQUIRE_FALSE(order.has_value());
  CHECK(order.error() == gpu::errc::argument_mismatch);
  INFO(order.error().message().c_str());
  CHECK(std::string(order.error().details().c_str()) ==
        "kernel scale has 3 parameters, and 3 are stated, but they differ:\n"
        "   #  kernel                     stated\n"
        "   1     4 bytes at offset 0     float*      8 bytes at offset 0   <-- the first "
        "difference\n"
        "   2     8 bytes at offset 8     float       4 bytes at offset 8\n"
        "   3     4 bytes at offset 16    int         4 bytes at offset 12\n"
        "State the parameter types of the __global__ function, in order.\n");
  const auto few = module.kernel<float>("scale");
  REQUIRE_FALSE(few.has_value());
  CHECK(few.error().asked() == 1);
  CHECK(few.error().limit() == 3);
  CHECK(few.error().details().contains("8 bytes at offset 8     nothing   <-- the first"));
  const auto none = module.kernel<>("scale");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error() == gpu::errc::argument_mismatch);
  const auto many = module.kernel<float, float*, int, int>("scale");
  REQUIRE_FALSE(many.has_value());
  CHECK(many.error().details().contains("4  nothing                    int "));
  const auto span = module.kernel<float, gpu::device_span<float>, int>("scale");
  REQUIRE_FALSE(span.has_value());
  CHECK(span.error().details().contains("16 bytes at offset 8"));
  // A mangled name says what the source declares.
  const auto instance = module.kernel<float, float*>("axpy<float>");
  REQUIRE_FALSE(instance.has_value());
  INFO(instance.error().message().c_str());
  CHECK(std::string(instance.error().details().c_str()) ==
        "kernel axpy<float> has 4 parameters, and 2 are stated:\n"
        "   #  kernel                                   stated\n"
        "   1  float            4 bytes at offset 0     float       4 bytes at offset 0\n"
        "   2  const float*     8 bytes at offset 8     float*      8 bytes at offset 8\n"
        "   3  float*           8 bytes at offset 16    nothing   <-- the first difference\n"
        "   4  int              4 bytes at offset 24    nothing\n"
        "State the parameter types of the __global__ function, in order.\n");
}

TEST_CASE("a kernel is looked up by the type of a function", "[kernel][module]") {
  const gpu::module module = test::value_of(gpu::module::load(compiled()));
  const gpu::kernel<float, const float*, float*, int> by_declaration =
      test::value_of(module.kernel<decltype(declared)>("axpy<float>"));
  CHECK(by_declaration ==
        test::value_of(module.kernel<float, const float*, float*, int>("axpy<float>")));
  using scale_all = void(float*);
  CHECK(module.kernel<scale_all>("scale_all").has_value());
  CHECK(module.kernel<scale_all>("scale").error() == gpu::errc::argument_mismatch);
  CHECK(module.kernel<void()>("scale").error() == gpu::errc::argument_mismatch);
  CHECK(module.kernel<scale_all>("scala").error() == gpu::errc::unknown_name);
}

TEST_CASE("global variables are typed spans", "[kernel][module]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::value_of(gpu::module::load(compiled()));
  const auto counters = test::value_of(module.global<int>("counters", stream.device()));
  const auto factor = test::value_of(module.global<double>("factor", stream.context()));
  REQUIRE(counters.size() == 5);
  REQUIRE(factor.size() == 1);
  std::vector<int> values(5);
  test::value_of(gpu::copy(counters, values));
  CHECK(values == std::vector<int>{1, 2, 3, 4, 5});
  values[3] = 40;
  const std::vector<double> other = {-0.5};
  test::value_of(gpu::copy(values, counters));
  test::value_of(gpu::copy(other, factor));
  std::vector<int> out(1);
  std::vector<double> f(1);
  const auto read = test::value_of(module.kernel<int*, double*>("read_variables"));
  test::value_of(gpu::launch(stream, {1, 1}, read, gpu::out(out), gpu::out(f)));
  CHECK(out[0] == 40);
  CHECK(f[0] == -0.5);

  const auto unknown = module.global<int>("counter", stream.device());
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error() == gpu::errc::unknown_name);
  CHECK(unknown.error().details().contains("counter"));
  const auto size = module.global<double>("counters", stream.device());
  REQUIRE_FALSE(size.has_value());
  CHECK(size.error() == gpu::errc::size_mismatch);
  CHECK(size.error().asked() == 8);
  CHECK(size.error().limit() == 20);
}

TEST_CASE("kernels survive the move of their module, and empty modules are refused",
          "[kernel][module]") {
  const gpu::stream stream = test::new_stream();
  gpu::module first = test::value_of(gpu::module::load(compiled()));
  const auto kernel = test::value_of(first.kernel<float, float*, int>("scale"));
  gpu::module second = std::move(first);
  std::vector<float> x = {1, 2};
  test::value_of(gpu::launch(stream, {1, 32}, kernel, 2, gpu::inout(x), 2));
  CHECK(x == std::vector<float>{2, 4});
  CHECK(test::value_of(second.kernel<float, float*, int>("scale")) == kernel);

  CHECK_FALSE(static_cast<bool>(first));
  CHECK(first.native() == nullptr);
  CHECK(first.kernel("scale").error() == gpu::errc::empty_handle);
  CHECK(first.kernel<float>("scale").error() == gpu::errc::empty_handle);
  CHECK(first.global<int>("counters", stream.device()).error() == gpu::errc::empty_handle);
  CHECK(first.release() == nullptr);

  CUlibrary native = second.release();
  REQUIRE(native != nullptr);
  CHECK_FALSE(static_cast<bool>(second));
  const gpu::module third = gpu::module::adopt(native);
  CHECK(third.native() == native);
  CHECK(third.kernel<float, float*, int>("scale").has_value());
  CHECK_FALSE(static_cast<bool>(gpu::module::adopt(nullptr)));
}

TEST_CASE("a kernel keeps the code of its module loaded", "[kernel][module]") {
  const gpu::stream stream = test::new_stream();
  gpu::module module = test::value_of(gpu::module::load(compiled()));
  CUlibrary const native = module.native();
  const test::noted_calls<&gpu::driver::entry_points::library_unload> unloads;
  auto kernel = test::value_of(module.kernel<float, float*, int>("scale"));
  gpu::untyped_kernel untyped = test::value_of(module.kernel("scale"));
  module = gpu::module();
  std::vector<float> x = {1, 2};
  test::value_of(gpu::launch(stream, {1, 32}, kernel, 2, gpu::inout(x), 2));
  test::value_of(gpu::launch(stream, {1, 32}, untyped, 2.0f, gpu::inout(x), 2));
  CHECK(x == std::vector<float>{4, 8});
  CHECK(std::string(kernel.name()) == "scale");
  CHECK(test::value_of(kernel.properties(stream.device())).max_threads_per_block >= 32);

  auto copy = kernel;
  untyped = {};
  CHECK(copy == kernel);
  kernel = std::move(copy);
  copy = {};
  CHECK(test::error_of(gpu::launch(stream, {1, 32}, copy, 2, gpu::inout(x), 2)) ==
        gpu::errc::empty_handle);
  const auto& same = kernel;
  kernel = same;
  test::value_of(gpu::launch(stream, {1, 32}, kernel, 2, gpu::inout(x), 2));
  CHECK(x == std::vector<float>{8, 16});
  CHECK(unloads.count() == 0);
  kernel = {};
  CHECK(unloads.count() == 1);
  CHECK(unloads.last<0>() == native);
}

TEST_CASE("a kernel comes from a module that nobody keeps", "[kernel][module]") {
  const gpu::stream stream = test::new_stream();
  const auto kernel = test::value_of(
      test::value_of(gpu::module::load(compiled())).kernel<float, float*, int>("scale"));
  std::vector<float> x = {1, 2};
  test::value_of(gpu::launch(stream, {1, 32}, kernel, 2, gpu::inout(x), 2));
  CHECK(x == std::vector<float>{2, 4});
}

TEST_CASE("kernels of a library that was released work until it is unloaded", "[kernel][module]") {
  const gpu::stream stream = test::new_stream();
  gpu::module module = test::value_of(gpu::module::load(compiled()));
  const test::noted_calls<&gpu::driver::entry_points::library_unload> unloads;
  {
    const auto kernel = test::value_of(module.kernel<float, float*, int>("scale"));
    const gpu::module owner = gpu::module::adopt(module.release());
    std::vector<float> x = {1, 2};
    test::value_of(gpu::launch(stream, {1, 32}, kernel, 2, gpu::inout(x), 2));
    CHECK(x == std::vector<float>{2, 4});
  }
  CHECK(unloads.count() == 1);
}

TEST_CASE("threads may copy a kernel at once", "[kernel][module]") {
  gpu::module module = test::value_of(gpu::module::load(compiled()));
  const test::noted_calls<&gpu::driver::entry_points::library_unload> unloads;
  {
    const auto kernel = test::value_of(module.kernel<float, float*, int>("scale"));
    module = gpu::module();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([kernel] {
        for (int each = 0; each < 1000; ++each) auto copy = kernel;
      });
    }
    for (std::thread& each : threads) each.join();
    CHECK(unloads.count() == 0);
  }
  CHECK(unloads.count() == 1);
}

TEST_CASE("an image that the driver cannot use is refused with its log", "[kernel][module]") {
  const auto broken = gpu::module::load(
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry f() { add.nonsense %r1; ret; }\n");
  REQUIRE_FALSE(broken.has_value());
  CHECK(broken.error().kind() == gpu::error_kind::compile);
  INFO(broken.error().message().c_str());
  CHECK(broken.error().code() == CUDA_ERROR_INVALID_PTX);
  CHECK(broken.error().details().contains("the driver's log:"));
  CHECK(broken.error().details().contains("line 4"));
}

TEST_CASE("PTX that the driver refuses but its compiler takes has no log", "[kernel][module]") {
  static int loaded, unloaded;
  loaded = unloaded = 0;
  static const gpu::driver::entry_points* inner;
  inner = &gpu::driver::current_entry_points();
  gpu::driver::entry_points refusing = *inner;
  refusing.library_load_data = [](CUlibrary*, const void*, CUjit_option*, void**, unsigned,
                                  CUlibraryOption*, void**,
                                  unsigned) { return CUDA_ERROR_INVALID_PTX; };
  refusing.module_load_data_ex = [](CUmodule* module, const void* image, unsigned count,
                                    CUjit_option* options, void** values) {
    const CUresult code = inner->module_load_data_ex(module, image, count, options, values);
    if (code == CUDA_SUCCESS) ++loaded;
    return code;
  };
  refusing.module_unload = [](CUmodule module) {
    ++unloaded;
    return inner->module_unload(module);
  };
  const gpu::driver::scoped_entry_points in_force(refusing);
  const auto refused =
      gpu::module::load(".version 8.0\n.target sm_80\n.address_size 64\n.entry f() { ret; }\n");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == CUDA_ERROR_INVALID_PTX);
  CHECK_FALSE(refused.error().details().contains("log"));
  CHECK(loaded == 1);
  CHECK(unloaded == 1);
}

TEST_CASE("modules are loaded and asked in threads without a context, which stay without one",
          "[kernel][module]") {
  const gpu::compiled_program program = compiled();
  gpu::result<> done;
  CUcontext after = nullptr;
  std::thread([&] {
    done = [&]() -> gpu::result<> {
      const gpu::module module = GPU_TRY(gpu::module::load(program));
      const auto kernel = GPU_TRY(module.kernel<float, float*, int>("scale"));
      const auto zero = gpu::device::from_native(0);
      GPU_TRY(gpu::attribute<gpu::kernel_attribute::registers>(kernel, zero));
      GPU_TRY(gpu::set_attribute<gpu::kernel_attribute::shared_carveout>(kernel, 50, zero));
      GPU_TRY(gpu::module::load(program.ptx()));
      return {};
    }();
    gpu::driver::current_entry_points().ctx_get_current(&after);
  }).join();
  INFO((done.has_value() ? std::string() : std::string(done.error().message().c_str())));
  CHECK(done.has_value());
  CHECK(after == nullptr);
}

TEST_CASE("a refused image leaves no library behind", "[kernel][module]") {
  static int loaded, unloaded;
  loaded = unloaded = 0;
  static const gpu::driver::entry_points* inner;
  inner = &gpu::driver::current_entry_points();
  gpu::driver::entry_points counting = *inner;
  counting.library_load_data = [](CUlibrary* library, const void* image, CUjit_option* names,
                                  void** values, unsigned count, CUlibraryOption* options,
                                  void** option_values, unsigned option_count) {
    const CUresult code = inner->library_load_data(library, image, names, values, count, options,
                                                   option_values, option_count);
    // The driver may write a log at any later time, so it must not know of one.
    CHECK(count == 0);
    if (code == CUDA_SUCCESS) ++loaded;
    return code;
  };
  counting.library_unload = [](CUlibrary library) {
    ++unloaded;
    return inner->library_unload(library);
  };
  const gpu::driver::scoped_entry_points in_force(counting);
  const auto broken = gpu::module::load(
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry f() { add.nonsense %r1; ret; }\n");
  CHECK_FALSE(broken.has_value());
  CHECK(loaded == unloaded);
}

TEST_CASE("each driver call of a module may fail", "[kernel][module][faults][cpu]") {
  const gpu::compiled_program program =
      test::value_of(gpu::compile(source, {.architecture = gpu::architecture::compute(90)}));
  std::vector<float> x = {1, 2};  // outlives launches that nobody has waited for
  // It is no error that the thread could not be left as it was, after machine code was refused and
  // while there is PTX to go on with.
  CHECK(test::sweep(
            [&]() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::module module = GPU_TRY(gpu::module::load(program));
              const auto kernel = GPU_TRY(module.kernel<float, float*, int>("scale"));
              const gpu::untyped_kernel untyped = GPU_TRY(module.kernel("scale_all"));
              GPU_TRY(module.global<int>("counters", stream.context()));
              GPU_TRY(gpu::launch(stream, {1, 32}, kernel, 2, gpu::inout(x), 2));
              // The opt-in to more shared memory, too.
              GPU_TRY(gpu::launch(stream, {1, 2, 100'000}, untyped, gpu::inout(x)));
              return {};
            },
            {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("each driver call of a load from a file may fail", "[kernel][module][faults][cpu]") {
  const gpu::compiled_program program =
      test::value_of(gpu::compile(source, {.architecture = gpu::architecture::compute(90)}));
  const file_of file(std::string(program.ptx().data(), program.ptx().size()));
  CHECK(test::sweep([&] { return gpu::module::load_file(file.path); }) == "");
  CHECK(test::sweep([&] { return gpu::module::load_file(file.path, {.max_registers = 64}); }) ==
        "");
}

}  // namespace
}  // namespace module_test
