// Memory of another interface, which a file stands for here. vulkan_test.cpp has the real thing.

#include <gpu/interop/external_memory.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/foreign_file.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/foreign_handle.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace external_memory_test {

using gpu::external_memory;
using gpu::external_memory_handle_type;
using gpu::file_descriptor;
using test::error_of;
using test::foreign_file;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<external_memory>);
static_assert(std::is_nothrow_default_constructible_v<external_memory>);
static_assert(std::is_nothrow_move_assignable_v<external_memory>);

using import_calls = test::noted_calls<&gpu::driver::entry_points::import_external_memory>;

TEST_CASE("external memory: each side reads what the other wrote", "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(4096);
  std::iota(theirs.as<int>().begin(), theirs.as<int>().end(), 0);
  file_descriptor file = theirs.descriptor();
  const auto memory = value_of(external_memory::open(device, std::move(file), 4096));
  CHECK(memory.size_bytes() == 4096);
  CHECK(memory.context() == value_of(gpu::context::primary(device)));
  {
    auto buffer = value_of(memory.map_buffer<int>(400, 200));
    std::vector<int> found(200);
    value_of(gpu::copy(buffer, found));
    CHECK(found.front() == 100);
    CHECK(found.back() == 299);
    const std::vector<int> ours(200, -7);
    value_of(gpu::copy(ours, buffer));
    CHECK(theirs.as<int>()[99] == 99);
    CHECK(std::ranges::equal(theirs.as<int>().subspan(100, 200), ours));
    CHECK(theirs.as<int>()[300] == 300);
    theirs.as<int>()[101] = 12345;  // without a call in between
    value_of(gpu::copy(buffer, found));
    CHECK(found[1] == 12345);
  }
  auto all = value_of(memory.map_buffer<unsigned char>(0, 4096));
  CHECK(all.size_bytes() == 4096);
}

TEST_CASE("external memory: images are arrays of several levels", "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(8192);
  std::iota(theirs.as<float>().begin(), theirs.as<float>().end(), 0.0f);
  file_descriptor file = theirs.descriptor();
  const auto memory = value_of(external_memory::open(device, std::move(file), 8192));
  const gpu::array_shape shape{
      .width = 16, .height = 8, .flags = gpu::array_flags::color_attachment};
  const auto array = value_of(memory.map_mipmapped_array<float>(shape, 3, 256));
  CHECK(array.levels() == 3);
  CHECK(array.shape() == shape);
  std::vector<float> texels(4 * 8);
  value_of(gpu::copy(value_of(array.level(1)), texels));
  CHECK(texels.front() == 64 + 128);  // after the offset and level 0
  CHECK(texels.back() == 64 + 128 + 31);
  value_of(gpu::copy(std::vector<float>(8, -1.0f), value_of(array.level(2))));
  CHECK(theirs.as<float>()[64 + 128 + 31] == 64 + 128 + 31);
  CHECK(theirs.as<float>()[64 + 128 + 32] == -1);

  const auto untyped =
      value_of(memory.map_mipmapped_array({gpu::array_format::unsigned_int8, 4}, {.width = 4}, 0));
  CHECK(untyped.levels() == 3);
  std::vector<gpu::channels<unsigned char, 4>> first(4);
  value_of(gpu::copy(value_of(untyped.level(0)), first));
  CHECK(first[1] == gpu::channels<unsigned char, 4>{{0, 0, 0x80, 0x3f}});  // 1.0f
}

TEST_CASE("external memory: a descriptor belongs to the driver after a success alone",
          "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(4096);
  file_descriptor file = theirs.descriptor();
  const int number = file.native();
  const gpu::cuda_error larger = error_of(external_memory::open(device, std::move(file), 8192));
  CHECK(says(larger, "cuImportExternalMemory", "does not refer to external memory"));
  CHECK(file.native() == number);
  CHECK(test::is_open(number));
  const auto memory = value_of(external_memory::open(device, std::move(file), 4096));
  CHECK_FALSE(file);
  CHECK_FALSE(test::is_open(number));  // the CPU driver needs it no longer; others close it later
}

TEST_CASE("external memory: handles of other systems are refused with what they need",
          "[interop][external]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(4096);
  const import_calls calls;
  for (const auto type :
       {external_memory_handle_type::opaque_win32, external_memory_handle_type::opaque_win32_kmt,
        external_memory_handle_type::d3d12_heap, external_memory_handle_type::d3d12_resource,
        external_memory_handle_type::d3d11_resource,
        external_memory_handle_type::d3d11_resource_kmt}) {
    int object = 0;
    const gpu::cuda_error theirs_alone = error_of(
        external_memory::open(device, gpu::win32_handle{.handle = &object}, 4096, {.type = type}));
    CHECK(theirs_alone == gpu::errc::not_supported);
    CHECK(says(theirs_alone, gpu::name_of(type), "needs Windows", "Pass a file descriptor"));
    file_descriptor file = theirs.descriptor();
    CHECK(error_of(external_memory::open(device, std::move(file), 4096, {.type = type})) ==
          gpu::errc::not_supported);
    CHECK(file);
  }
  const gpu::cuda_error mixed =
      error_of(external_memory::open(device, gpu::win32_handle{.name = L"heap"}, 4096,
                                     {.type = external_memory_handle_type::opaque_fd}));
  CHECK(mixed == gpu::errc::invalid_argument);
  CHECK(says(mixed, "opaque_fd comes as a file descriptor", "is one of Windows"));
  if (!gpu::detail::may_have_nvsci) {
    const gpu::cuda_error nvsci =
        error_of(external_memory::open(device, gpu::nvscibuf_object{&device}, 4096));
    CHECK(nvsci == gpu::errc::not_supported);
    CHECK(says(nvsci, "nvscibuf needs NvSci", "Jetson and DRIVE"));
    int list = 0;
    for (const auto use : {gpu::nvscisync_use::signal, gpu::nvscisync_use::wait,
                           gpu::nvscisync_use::signal | gpu::nvscisync_use::wait})
      CHECK(says(error_of(gpu::nvscisync_attributes(device, &list, use)), "NvSci", "Jetson"));
  }
  CHECK(says(error_of(gpu::nvscisync_attributes(device, nullptr, gpu::nvscisync_use{8})),
             "8 has bits outside of gpu::nvscisync_use"));
  CHECK(calls.count() == 0);
}

TEST_CASE("external memory: mistakes are refused before the driver is asked",
          "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(4096);
  {
    const import_calls calls;
    file_descriptor file = theirs.descriptor();
    CHECK(says(error_of(external_memory::open(device, std::move(file), 0)), "size of the memory",
               "allocated with"));
    CHECK(says(error_of(external_memory::open(device, std::move(file), 1,
                                              {.type = external_memory_handle_type{77}})),
               "77 is not a valid gpu::external_memory_handle_type"));
    CHECK(error_of(external_memory::open(device, file_descriptor{}, 1)) == gpu::errc::empty_handle);
    auto closed = file_descriptor::adopt(987);
    CHECK(says(error_of(external_memory::open(device, std::move(closed), 1)), "987 is not open"));
    (void)closed.release();
    CHECK(error_of(external_memory::open(gpu::context_ref{}, std::move(file), 1)) ==
          gpu::errc::empty_handle);
    CHECK(file);
    CHECK(calls.count() == 0);
  }
  file_descriptor file = theirs.descriptor();
  const auto memory = value_of(external_memory::open(device, std::move(file), 4096));
  const gpu::cuda_error past = error_of(memory.map_buffer<int>(96, 1001));
  CHECK(past == gpu::errc::index_out_of_range);
  CHECK(says(past, "4004 bytes from byte 96", "which has 4096 bytes"));
  CHECK(error_of(memory.map_buffer<int>(0, ~std::size_t{0})) == gpu::errc::index_out_of_range);
  CHECK(error_of(memory.map_buffer<int>(8192, 1)) == gpu::errc::index_out_of_range);
  CHECK(says(error_of(memory.map_buffer<int>(2, 1)), "aligned to 4 bytes", "byte 2"));
  CHECK(says(error_of(memory.map_buffer<int>(0, 0)), "number of elements is 0"));
  const gpu::array_shape shape{.width = 32, .height = 32};
  CHECK(says(error_of(memory.map_mipmapped_array<float>(shape, 2)), "5120 bytes from byte 0"));
  CHECK(says(error_of(memory.map_mipmapped_array<float>(shape, 7)), "at most 6"));
  CHECK(says(error_of(memory.map_mipmapped_array<float>({})), "the width is 0"));
  CHECK(says(error_of(memory.map_mipmapped_array<float>(
                 {.width = 8, .height = 8, .flags = gpu::array_flags::deferred_mapping})),
             "its memory is there already"));
  const external_memory none;
  CHECK(error_of(none.map_buffer<int>(0, 1)) == gpu::errc::empty_handle);
  CHECK(error_of(none.map_mipmapped_array<int>(shape)) == gpu::errc::empty_handle);
}

TEST_CASE("external memory: a dedicated allocation is imported as one",
          "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(4096);
  static unsigned flags;
  static decltype(gpu::driver::entry_points::import_external_memory) real;
  gpu::driver::entry_points table = test::driver();
  real = table.import_external_memory;
  table.import_external_memory = [](CUexternalMemory* made,
                                    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* from) {
    flags = from->flags;
    return real(made, from);
  };
  const gpu::driver::scoped_entry_points in_force(table);
  for (const bool dedicated : {true, false}) {
    file_descriptor file = theirs.descriptor();
    value_of(external_memory::open(device, std::move(file), 4096, {.dedicated = dedicated}));
    CHECK(flags == (dedicated ? unsigned{CUDA_EXTERNAL_MEMORY_DEDICATED} : 0u));
  }
}

// As the driver of a GPU does with a descriptor of something else.
TEST_CASE("external memory: a descriptor that the driver closes and refuses stays the caller's",
          "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(4096);
  static int reopened;
  gpu::driver::entry_points table = test::driver();
  table.import_external_memory = [](CUexternalMemory*,
                                    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* from) {
    ::close(from->handle.fd);
    reopened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // another file with the same number
    return reopened == from->handle.fd ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_NOT_READY;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  file_descriptor file = theirs.descriptor();
  CHECK(error_of(external_memory::open(device, std::move(file), 4096)).code() ==
        CUDA_ERROR_UNKNOWN);
  CHECK(::fcntl(file.native(), F_GETFD) >= 0);
  CHECK(::fcntl(reopened, F_GETFD) >= 0);
  ::close(reopened);
}

TEST_CASE("external memory: too many open files are an error", "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs(4096);
  file_descriptor file = theirs.descriptor();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  gpu::result<external_memory> opened = external_memory::open(device, std::move(file), 4096);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  const gpu::cuda_error error = error_of(std::move(opened));
  CHECK(error == gpu::errc::file_error);
  CHECK(says(error, "too many files are open", "ulimit -n"));
  CHECK(file);
}

TEST_CASE("external memory: is given back once, and moves", "[interop][external][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  value_of(gpu::context::primary(device));
  const std::size_t before = driver.live_objects();
  const foreign_file theirs(4096);
  {
    file_descriptor file = theirs.descriptor();
    auto a = value_of(external_memory::open(device, std::move(file), 4096));
    external_memory b;
    b = std::move(a);
    CHECK_FALSE(a);
    CHECK(a.size_bytes() == 0);
    const auto buffer = value_of(b.map_buffer<int>(0, 4));
    const auto array = value_of(b.map_mipmapped_array<int>({.width = 4}));
    CHECK(driver.live_objects() == before + 3);
    const auto context = b.context();
    const auto again = external_memory::adopt(b.release(), context, 4096);
    CHECK(again.native() != nullptr);
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("external memory: is neither imported nor mapped in a capture",
          "[interop][external][cpu]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const foreign_file theirs(4096);
  file_descriptor file = theirs.descriptor(), other = theirs.descriptor();
  const auto memory = value_of(external_memory::open(device, std::move(file), 4096));
  test::check_refused_in_capture(
      stream, "open", [&] { return external_memory::open(device, std::move(other), 4096); });
  test::check_refused_in_capture(stream, "map_buffer",
                                 [&] { return memory.map_buffer<int>(0, 1); });
  test::check_refused_in_capture(stream, "map_mipmapped_array",
                                 [&] { return memory.map_mipmapped_array<int>({.width = 4}); });
}

TEST_CASE("external memory: each driver call may fail, and no descriptor is lost",
          "[interop][external][faults][cpu]") {
  const foreign_file theirs(4096);
  std::string wrong;
  const auto operation = [&]() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    file_descriptor file = theirs.descriptor();
    const int number = file.native();
    auto memory = external_memory::open(device, std::move(file), 4096);
    if (memory.has_value() && file) wrong = "not handed over";
    if (test::is_open(number) != static_cast<bool>(file)) wrong = "lost";
    const auto imported = GPU_TRY(std::move(memory));
    auto buffer = GPU_TRY(imported.map_buffer<int>(0, 16));
    GPU_TRY(gpu::copy(std::vector<int>(16, 3), buffer));
    const auto array = GPU_TRY(imported.map_mipmapped_array<int>({.width = 4}));
    GPU_TRY(array.level(0));
    return {};
  };
  CHECK(test::sweep(operation, {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
  CHECK(wrong == "");
}

}  // namespace external_memory_test
