// Buffers and images of OpenGL, whose context is gl_stand_in here. opengl_hardware_test.cpp has the
// real thing.

#include <gpu/interop/opengl.hpp>

#include "support/captured.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/graphics_mapping.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/testing/gl_stand_in.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/surface.hpp>

#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace opengl_test {

using gpu::gl_target;
using gpu::graphics_map_flags;
using gpu::graphics_mapping;
using gpu::graphics_register_flags;
using gpu::registered_gl_buffer;
using gpu::registered_gl_image;
using gpu::testing::gl_stand_in;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<registered_gl_buffer>);
static_assert(std::is_nothrow_default_constructible_v<registered_gl_image>);
static_assert(std::is_nothrow_move_assignable_v<registered_gl_image>);
static_assert(!std::is_copy_constructible_v<graphics_mapping>);
static_assert(std::is_nothrow_move_assignable_v<graphics_mapping>);
static_assert(!std::is_convertible_v<registered_gl_image, gpu::graphics_resource_ref>);

namespace {

struct fixture {
  gl_stand_in gl;
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));

  std::vector<int> ints(unsigned name) const {
    std::vector<int> found(gl.bytes(name).size() / sizeof(int));
    std::memcpy(found.data(), gl.bytes(name).data(), gl.bytes(name).size());
    return found;
  }
  unsigned make_image(gl_target target, std::size_t depth, unsigned levels = 1) {
    return gl.make_image({.target = static_cast<unsigned>(target),
                          .format = CU_AD_FORMAT_FLOAT,
                          .channels = 1,
                          .width = 8,
                          .height = 8,
                          .depth = depth,
                          .levels = levels});
  }
  bool all_texels_are(float value, unsigned name, unsigned layer, unsigned level) const {
    const auto bytes = gl.texels(name, layer, level);
    bool all = !bytes.empty();
    for (std::size_t i = 0; i < bytes.size(); i += sizeof value)
      all = all && std::memcmp(bytes.data() + i, &value, sizeof value) == 0;
    return all;
  }
};

}  // namespace

TEST_CASE("opengl: a buffer is written by CUDA and read by OpenGL", "[interop][opengl][cpu]") {
  fixture f;
  const unsigned name = f.gl.make_buffer(16 * sizeof(int));
  auto buffer = value_of(registered_gl_buffer::create(f.device, name));
  CHECK(buffer.gl_name() == name);
  CHECK(buffer.context() == f.stream.context());
  const std::vector<int> ours(16, 42);
  {
    const auto mapping = value_of(graphics_mapping::create(f.stream, buffer));
    CHECK(mapping.stream() == f.stream);
    CHECK(mapping.contains(buffer));
    const auto span = value_of(mapping.span<int>(buffer));
    CHECK(span.size() == 16);
    value_of(gpu::copy(ours, span));
  }
  CHECK(f.ints(name) == ours);
  const int theirs = 7;
  std::memcpy(f.gl.bytes(name).data() + 4, &theirs, sizeof theirs);
  auto mapping = value_of(graphics_mapping::create(f.stream, buffer));
  std::vector<int> found(16);
  value_of(gpu::copy(value_of(mapping.span<int>(buffer)), found));
  CHECK(found[1] == 7);
  value_of(mapping.unmap());
  CHECK_FALSE(mapping);
  value_of(mapping.unmap());  // nothing is left to end
  value_of(buffer.unregister());
  CHECK(buffer.gl_name() == 0);
  value_of(buffer.unregister());
}

TEST_CASE("opengl: images of every target are arrays", "[interop][opengl][cpu]") {
  fixture f;
  struct kind {
    gl_target target;
    std::size_t depth;
    unsigned layers;
  };
  for (const kind& each :
       {kind{gl_target::texture_2d, 0, 1}, kind{gl_target::texture_rectangle, 0, 1},
        kind{gl_target::renderbuffer, 0, 1}, kind{gl_target::texture_3d, 4, 1},
        kind{gl_target::texture_cube_map, 0, 6}, kind{gl_target::texture_2d_array, 3, 3}}) {
    INFO(gpu::name_of(each.target));
    const unsigned name = f.make_image(each.target, each.depth);
    const auto image = value_of(registered_gl_image::create(f.device, name, each.target));
    CHECK(image.gl_name() == name);
    CHECK(image.target() == each.target);
    const bool deep = each.target == gl_target::texture_3d;
    {
      const auto mapping = value_of(graphics_mapping::create(f.stream, image));
      for (unsigned layer = 0; layer < each.layers; ++layer) {
        const auto array = value_of(mapping.array<float>(image, layer));
        CHECK(array.shape() == gpu::array_shape{.width = 8, .height = 8, .depth = deep ? 4u : 0u});
        const auto value = static_cast<float>(layer + 1);
        value_of(gpu::copy(std::vector<float>(deep ? 256 : 64, value), array));
      }
    }
    for (unsigned layer = 0; layer < each.layers; ++layer)
      CHECK(f.all_texels_are(static_cast<float>(layer + 1), name, layer, 0));
  }
}

TEST_CASE("opengl: levels are arrays, alone and as a mipmapped array", "[interop][opengl][cpu]") {
  fixture f;
  const unsigned name = f.make_image(gl_target::texture_2d, 0, 3);
  const auto image = value_of(registered_gl_image::create(f.device, name));
  {
    const auto mapping = value_of(graphics_mapping::create(f.stream, image));
    const auto level = value_of(mapping.array<float>(image, 0, 1));
    CHECK(level.shape().width == 4);
    value_of(gpu::copy(std::vector<float>(16, 1.5f), level));
    const auto whole = value_of(mapping.mipmapped_array<float>(image, 3));
    CHECK(whole.levels() == 3);
    std::vector<float> found(16);
    value_of(gpu::copy(value_of(whole.level(1)), found));
    CHECK(found == std::vector<float>(16, 1.5f));
    value_of(gpu::copy(std::vector<float>(4, 2.5f), value_of(whole.level(2))));
    const gpu::cuda_error none = error_of(mapping.array(image, 0, 3));
    CHECK(says(none, "no array at index 0 and level 3"));
    CHECK(says(error_of(mapping.array<int>(image)), "float_"));
  }
  CHECK(f.all_texels_are(1.5f, name, 0, 1));
  CHECK(f.all_texels_are(2.5f, name, 0, 2));
  CHECK(f.all_texels_are(0, name, 0, 0));
}

TEST_CASE("opengl: several resources are mapped in one call", "[interop][opengl][cpu]") {
  fixture f;
  const unsigned first = f.gl.make_buffer(64), second = f.gl.make_buffer(32);
  const unsigned name = f.make_image(gl_target::texture_2d, 0);
  const auto a = value_of(registered_gl_buffer::create(f.device, first));
  const auto b = value_of(registered_gl_buffer::create(f.stream.context(), second));
  const auto image = value_of(registered_gl_image::create(f.device, name));
  auto mapping = value_of(graphics_mapping::create(f.stream, {a, image}));
  CHECK(value_of(mapping.span<float>(a)).size() == 16);
  CHECK(value_of(mapping.array(image)).shape().width == 8);
  const gpu::cuda_error other = error_of(mapping.span<float>(b));
  CHECK(other == gpu::errc::invalid_argument);
  CHECK(says(other, "not one of this mapping"));
  CHECK(says(error_of(mapping.array(a)), "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "use span"));
  CHECK(says(error_of(mapping.span<int>(image)), "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "use array"));
  CHECK(says(error_of(mapping.mipmapped_array(a, 1)), "the resource is a buffer"));
  struct three {
    char bytes[3];
  };
  const gpu::cuda_error part = error_of(mapping.span<three>(a));
  CHECK(part == gpu::errc::size_mismatch);
  CHECK(says(part, "64 bytes", "elements of 3 bytes"));
  CHECK(says(error_of(graphics_mapping::create(f.stream, {b, a})), "CUDA_ERROR_ALREADY_MAPPED",
             "end that mapping first"));
  const gpu::stream elsewhere = value_of(gpu::stream::create(f.device));
  value_of(mapping.unmap(elsewhere));
  mapping = value_of(graphics_mapping::create(elsewhere, {b, a, image}));
  auto moved = std::move(mapping);
  CHECK_FALSE(mapping);
  CHECK(error_of(mapping.span<float>(a)) == gpu::errc::empty_handle);
  CHECK(error_of(mapping.unmap(elsewhere)) == gpu::errc::empty_handle);
  CHECK(value_of(moved.span<float>(b)).size() == 8);
}

TEST_CASE("opengl: flags of registrations and mappings", "[interop][opengl][cpu]") {
  fixture f;
  const unsigned name = f.gl.make_buffer(64);
  for (const auto flags : {graphics_register_flags::none, graphics_register_flags::read_only,
                           graphics_register_flags::write_discard})
    CHECK(registered_gl_buffer::create(f.device, name, flags).has_value());
  auto buffer = value_of(registered_gl_buffer::create(f.device, name));
  CHECK(f.ints(name)[0] == 0);
  value_of(buffer.set_map_flags(graphics_map_flags::write_discard));
  value_of(graphics_mapping::create(f.stream, buffer));
  CHECK(f.ints(name)[0] != 0);  // the CPU driver shows that it is lost
  value_of(buffer.set_map_flags(graphics_map_flags::read_only));
  {
    const auto mapping = value_of(graphics_mapping::create(f.stream, buffer));
    CHECK(error_of(buffer.set_map_flags(graphics_map_flags::none)).code() ==
          CUDA_ERROR_ALREADY_MAPPED);
  }
  value_of(buffer.set_map_flags(graphics_map_flags::none));
  CHECK(says(error_of(buffer.set_map_flags(graphics_map_flags{3})),
             "3 is not a valid gpu::graphics_map_flags"));
  CHECK(error_of(registered_gl_buffer{}.set_map_flags(graphics_map_flags::none)) ==
        gpu::errc::empty_handle);

  const unsigned image_name = f.make_image(gl_target::texture_2d, 0);
  const auto image = value_of(registered_gl_image::create(
      f.device, image_name, gl_target::texture_2d,
      graphics_register_flags::surface_load_store | graphics_register_flags::texture_gather));
  const auto mapping = value_of(graphics_mapping::create(f.stream, image));
  const auto array = value_of(mapping.array<float>(image));
  CHECK(gpu::has(array.shape().flags, gpu::array_flags::surface_load_store));
  CHECK(gpu::has(array.shape().flags, gpu::array_flags::texture_gather));
  CHECK(gpu::surface<float>::create(array).has_value());
}

TEST_CASE("opengl: mistakes are refused before the driver is asked", "[interop][opengl][cpu]") {
  fixture f;
  const unsigned name = f.gl.make_buffer(64);
  const gpu::cuda_error zero = error_of(registered_gl_buffer::create(f.device, 0));
  CHECK(zero == gpu::errc::invalid_argument);
  CHECK(says(zero, "name of the buffer is 0"));
  CHECK(says(error_of(registered_gl_image::create(f.device, 0)), "name of the image is 0"));
  CHECK(says(error_of(registered_gl_buffer::create(f.device, name,
                                                   graphics_register_flags::surface_load_store)),
             "are for images, not for buffers"));
  CHECK(says(error_of(registered_gl_buffer::create(f.device, name, graphics_register_flags{16})),
             "16 has bits outside of gpu::graphics_register_flags"));
  CHECK(says(error_of(registered_gl_buffer::create(
                 f.device, name,
                 graphics_register_flags::read_only | graphics_register_flags::write_discard)),
             "contradict each other"));
  CHECK(says(error_of(registered_gl_image::create(f.device, name, gl_target{0x0de0})),
             "3552 is not a valid gpu::gl_target"));
  const auto buffer = value_of(registered_gl_buffer::create(f.device, name));
  CHECK(says(error_of(graphics_mapping::create(f.stream, {buffer, buffer})), "named twice"));
  CHECK(says(error_of(graphics_mapping::create(
                 f.stream, std::initializer_list<gpu::graphics_resource_ref>{})),
             "no resource to map"));
  CHECK(error_of(graphics_mapping::create(f.stream, gpu::graphics_resource_ref{})) ==
        gpu::errc::empty_handle);
  CHECK(error_of(graphics_mapping::create(gpu::stream_ref{}, buffer)) == gpu::errc::empty_handle);
  const gpu::context own = value_of(gpu::context::create(f.device));
  const gpu::stream elsewhere = value_of(gpu::stream::create(own));
  CHECK(error_of(graphics_mapping::create(elsewhere, buffer)) == gpu::errc::wrong_context);
  auto mapping = value_of(graphics_mapping::create(f.stream, buffer));
  CHECK(error_of(mapping.unmap(elsewhere)) == gpu::errc::wrong_context);
  CHECK(mapping);
}

TEST_CASE("opengl: the errors of the driver name the object and what may be wrong",
          "[interop][opengl][cpu]") {
  fixture f;
  const unsigned name = f.gl.make_buffer(64);
  CHECK(says(error_of(registered_gl_buffer::create(f.device, 99)), "no buffer 99", "storage"));
  CHECK(says(error_of(registered_gl_image::create(f.device, name)),
             ("no image " + std::to_string(name)).c_str(), "GL_RGBA8"));
  const auto buffer = value_of(registered_gl_buffer::create(f.device, name));
  std::vector<gpu::cuda_error> errors;
  std::thread([&] {  // in which no context of OpenGL is current
    errors.push_back(error_of(registered_gl_buffer::create(f.device, name)));
    errors.push_back(error_of(graphics_mapping::create(f.stream, buffer)));
    errors.push_back(error_of(gpu::gl_devices()));
  })
      .join();
  for (const gpu::cuda_error& each : errors)
    CHECK(says(each, "a context of OpenGL", "current in the calling thread", "eglMakeCurrent"));
}

TEST_CASE("opengl: the devices of the current context", "[interop][opengl][cpu]") {
  const gl_stand_in gl;
  for (const auto list : {gpu::gl_device_list::all, gpu::gl_device_list::current_frame,
                          gpu::gl_device_list::next_frame}) {
    const auto devices = value_of(gpu::gl_devices(list));
    REQUIRE(devices.size() == 1);
    CHECK(devices[0] == test::first_device());
    CHECK(gpu::context::primary(devices[0]).has_value());
  }
  CHECK(says(error_of(gpu::gl_devices(gpu::gl_device_list{0})), "0 is not a valid"));
  CHECK(std::string(gpu::name_of(gpu::gl_device_list::next_frame)) == "next_frame");
  CHECK(std::string(gpu::name_of(gl_target::texture_2d_array)) == "texture_2d_array");
  CHECK(gpu::name_of(graphics_map_flags{5}) == nullptr);
}

TEST_CASE("opengl: nothing is registered or mapped in a capture", "[interop][opengl][cpu]") {
  fixture f;
  const unsigned name = f.gl.make_buffer(64);
  const auto buffer = value_of(registered_gl_buffer::create(f.device, name));
  test::check_refused_in_capture(f.stream, "create",
                                 [&] { return registered_gl_buffer::create(f.device, name); });
  test::check_refused_in_capture(f.stream, "map",
                                 [&] { return graphics_mapping::create(f.stream, buffer); });
}

TEST_CASE("opengl: each driver call may fail, and nothing stays registered or mapped",
          "[interop][opengl][faults][cpu]") {
  gl_stand_in gl;
  const unsigned name = gl.make_buffer(64), image_name = gl.make_image({.width = 4, .height = 4});
  const auto operation = [&]() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::gl_devices())[0];
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto buffer = GPU_TRY(registered_gl_buffer::create(device, name));
    const auto image = GPU_TRY(registered_gl_image::create(device, image_name));
    GPU_TRY(buffer.set_map_flags(graphics_map_flags::write_discard));
    {
      auto mapping = GPU_TRY(graphics_mapping::create(stream, {buffer, image}));
      GPU_TRY(gpu::copy(std::vector<int>(16, 3), GPU_TRY(mapping.span<int>(buffer))));
      GPU_TRY(mapping.array(image));
      GPU_TRY(mapping.mipmapped_array(image, 1));
      GPU_TRY(mapping.unmap());
    }
    GPU_TRY(graphics_mapping::create(stream, image));
    return buffer.unregister();
  };
  CHECK(test::sweep(operation, {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace opengl_test
