// CUDA and OpenGL on one GPU, without a window: what one writes, the other reads.

#include <gpu/interop/opengl.hpp>

#include "support/egl.hpp"
#include "support/results.hpp"

#include <gpu/compiler.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/surface.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace opengl_hardware_test {

using gpu::gl_target;
using gpu::graphics_mapping;
using gpu::registered_gl_buffer;
using gpu::registered_gl_image;
using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr unsigned array_buffer = 0x8892, dynamic_draw = 0x88e8, rgba8 = 0x8058, rgba = 0x1908,
                   unsigned_byte = 0x1401, framebuffer = 0x8d40, color_attachment0 = 0x8ce0;
using texel = gpu::channels<unsigned char, 4>;

/// OpenGL on the GPU of device 0; tests that find none are skipped with the reason.
struct fixture {
  gpu::device device = test::first_device();
  test::egl_context gl{device.native()};
  gpu::stream stream = value_of(gpu::stream::create(device));

  bool is_missing() const {
    if (!gl.missing().empty()) WARN("skipped: " + gl.missing());
    return !gl.missing().empty();
  }
  unsigned make_buffer(const std::vector<int>& contents) const {
    unsigned name = 0;
    gl.gl<void(int, unsigned*)>("glGenBuffers", 1, &name);
    gl.gl<void(unsigned, unsigned)>("glBindBuffer", array_buffer, name);
    gl.gl<void(unsigned, std::ptrdiff_t, const void*, unsigned)>(
        "glBufferData", array_buffer, static_cast<std::ptrdiff_t>(contents.size() * sizeof(int)),
        static_cast<const void*>(contents.data()), dynamic_draw);
    return name;
  }
  std::vector<int> contents(unsigned name, std::size_t size) const {
    std::vector<int> found(size);
    gl.gl<void(unsigned, unsigned)>("glBindBuffer", array_buffer, name);
    gl.gl<void(unsigned, std::ptrdiff_t, std::ptrdiff_t, void*)>(
        "glGetBufferSubData", array_buffer, std::ptrdiff_t{0},
        static_cast<std::ptrdiff_t>(size * sizeof(int)), static_cast<void*>(found.data()));
    return found;
  }
  unsigned make_texture(gl_target target, int width, int height, int depth = 0,
                        int levels = 1) const {
    unsigned name = 0;
    if (target == gl_target::renderbuffer) {
      gl.gl<void(int, unsigned*)>("glGenRenderbuffers", 1, &name);
      gl.gl<void(unsigned, unsigned)>("glBindRenderbuffer", unsigned(target), name);
      gl.gl<void(unsigned, unsigned, int, int)>("glRenderbufferStorage", unsigned(target), rgba8,
                                                width, height);
      return name;
    }
    gl.gl<void(int, unsigned*)>("glGenTextures", 1, &name);
    gl.gl<void(unsigned, unsigned)>("glBindTexture", unsigned(target), name);
    if (depth == 0) {
      gl.gl<void(unsigned, int, unsigned, int, int)>("glTexStorage2D", unsigned(target), levels,
                                                     rgba8, width, height);
    } else {
      gl.gl<void(unsigned, int, unsigned, int, int, int)>("glTexStorage3D", unsigned(target),
                                                          levels, rgba8, width, height, depth);
    }
    return name;
  }
  std::vector<texel> texels(unsigned name, int level, std::size_t count) const {
    std::vector<texel> found(count);
    gl.gl<void(unsigned, unsigned)>("glBindTexture", unsigned(gl_target::texture_2d), name);
    gl.gl<void(unsigned, int, unsigned, unsigned, void*)>(
        "glGetTexImage", unsigned(gl_target::texture_2d), level, rgba, unsigned_byte,
        static_cast<void*>(found.data()));
    return found;
  }
  /// The pixels of a texture, drawn from a framebuffer that it is attached to.
  std::vector<texel> pixels(unsigned name, int width, int height) const {
    std::vector<texel> found(static_cast<std::size_t>(width * height));
    unsigned target = 0;
    gl.gl<void(int, unsigned*)>("glGenFramebuffers", 1, &target);
    gl.gl<void(unsigned, unsigned)>("glBindFramebuffer", framebuffer, target);
    gl.gl<void(unsigned, unsigned, unsigned, unsigned, int)>(
        "glFramebufferTexture2D", framebuffer, color_attachment0, unsigned(gl_target::texture_2d),
        name, 0);
    gl.gl<void(int, int, int, int, unsigned, unsigned, void*)>(
        "glReadPixels", 0, 0, width, height, rgba, unsigned_byte, static_cast<void*>(found.data()));
    gl.gl<void(int, const unsigned*)>("glDeleteFramebuffers", 1,
                                      static_cast<const unsigned*>(&target));
    return found;
  }
};

}  // namespace

TEST_CASE("opengl: on a GPU, a buffer is written by both sides", "[interop][opengl][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  const std::vector<int> theirs(1024, 11), ours(1024, 22);
  const unsigned name = f.make_buffer(theirs);
  const auto devices = value_of(gpu::gl_devices());
  REQUIRE_FALSE(devices.empty());
  CHECK(devices[0] == f.device);
  auto buffer = value_of(registered_gl_buffer::create(f.device, name));
  {
    const auto mapping = value_of(graphics_mapping::create(f.stream, buffer));
    const auto span = value_of(mapping.span<int>(buffer));
    REQUIRE(span.size() == 1024);
    std::vector<int> found(1024);
    value_of(gpu::copy(span, found));
    CHECK(found == theirs);
    value_of(gpu::copy(ours, span));
    CHECK(says(error_of(mapping.array(buffer)), "use span"));
    CHECK(says(error_of(graphics_mapping::create(f.stream, buffer)), "end that mapping first"));
    CHECK(error_of(buffer.set_map_flags(gpu::graphics_map_flags::read_only)).code() ==
          CUDA_ERROR_ALREADY_MAPPED);
  }
  CHECK(f.contents(name, 1024) == ours);
  value_of(buffer.set_map_flags(gpu::graphics_map_flags::write_discard));
  value_of(buffer.unregister());
}

TEST_CASE("opengl: on a GPU, a kernel draws into a texture", "[interop][opengl][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  constexpr const char* source = R"(
    extern "C" __global__ void draw(cudaSurfaceObject_t out) {
      const uchar4 color = make_uchar4(threadIdx.x, blockIdx.x, 7, 255);
      surf2Dwrite(color, out, threadIdx.x * sizeof(uchar4), blockIdx.x);
    })";
  const auto code = value_of(gpu::module::load(value_of(gpu::compile(source))));
  const auto kernel = value_of(code.kernel<gpu::surface_ref<texel>>("draw"));
  const unsigned name = f.make_texture(gl_target::texture_2d, 64, 32);
  const auto image = value_of(registered_gl_image::create(
      f.device, name, gl_target::texture_2d, gpu::graphics_register_flags::surface_load_store));
  {
    const auto mapping = value_of(graphics_mapping::create(f.stream, image));
    const auto surface =
        value_of(gpu::surface<texel>::create(value_of(mapping.array<texel>(image))));
    value_of(gpu::launch(f.stream, {32, 64}, kernel, surface));
    value_of(f.stream.synchronize());
  }
  for (const auto& found : {f.texels(name, 0, 64 * 32), f.pixels(name, 64, 32)}) {
    CHECK(found[0] == texel{{0, 0, 7, 255}});
    CHECK(found[31 * 64 + 63] == texel{{63, 31, 7, 255}});
  }
}

TEST_CASE("opengl: on a GPU, images of every target are arrays", "[interop][opengl][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  struct kind {
    gl_target target;
    int depth;
    unsigned last;  // layer or face
  };
  for (const kind& each :
       {kind{gl_target::texture_2d, 0, 0}, kind{gl_target::texture_rectangle, 0, 0},
        kind{gl_target::renderbuffer, 0, 0}, kind{gl_target::texture_3d, 4, 0},
        kind{gl_target::texture_cube_map, 0, 5}, kind{gl_target::texture_2d_array, 3, 2}}) {
    INFO(gpu::name_of(each.target));
    const unsigned name = f.make_texture(each.target, 32, 32, each.depth);
    const auto image = value_of(registered_gl_image::create(f.device, name, each.target));
    const auto mapping = value_of(graphics_mapping::create(f.stream, image));
    const auto array = value_of(mapping.array<texel>(image, each.last));
    CHECK(array.shape().width == 32);
    CHECK(array.shape().height == 32);
    const std::vector<texel> ours(array.shape().extent().depth * 1024, texel{{1, 2, 3, 4}});
    value_of(gpu::copy(ours, array));
    std::vector<texel> found(ours.size());
    value_of(gpu::copy(array, found));
    CHECK(found == ours);
  }
}

TEST_CASE("opengl: on a GPU, levels are arrays", "[interop][opengl][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  const unsigned name = f.make_texture(gl_target::texture_2d, 32, 32, 0, 3);
  const auto image = value_of(registered_gl_image::create(f.device, name));
  const std::vector<texel> ours(16 * 16, texel{{9, 8, 7, 6}});
  {
    const auto mapping = value_of(graphics_mapping::create(f.stream, image));
    value_of(gpu::copy(ours, value_of(mapping.array<texel>(image, 0, 1))));
    const auto whole = value_of(mapping.mipmapped_array<texel>(image, 3));
    std::vector<texel> found(ours.size());
    value_of(gpu::copy(value_of(whole.level(1)), found));
    CHECK(found == ours);
  }
  CHECK(f.texels(name, 1, ours.size()) == ours);
}

TEST_CASE("opengl: on a GPU, what is missing is explained", "[interop][opengl][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  CHECK(says(error_of(registered_gl_buffer::create(f.device, 4711)), "no buffer 4711"));
  f.gl.release();
  CHECK(says(error_of(gpu::gl_devices()), "eglMakeCurrent"));
  CHECK(says(error_of(registered_gl_buffer::create(f.device, 1)), "eglMakeCurrent"));
  f.gl.make_current();
}

}  // namespace opengl_hardware_test
