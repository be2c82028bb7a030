// A kernel animates a texture, and OpenGL draws it on a turning square: no pixel leaves the GPU
// until the picture is finished. There is no window: EGL makes the context of OpenGL, a framebuffer
// gets the drawing, and each frame is written to a file.
//
//     opengl_texture [FRAMES]    # writes frame_0.png, frame_1.png, ...
//
// It needs an NVIDIA GPU with its OpenGL and EGL (libEGL.so.1), and no header of theirs.

#include <gpu/array.hpp>
#include <gpu/array/picture.hpp>
#include <gpu/gpu.hpp>
#include <gpu/interop/opengl.hpp>
#include <gpu/texture.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int texture_size = 256, picture_size = 384;

constexpr const char* kernel_text = R"(
extern "C" __global__ void rings(cudaSurfaceObject_t out, int size, float time) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  const float u = 2.0f * x / size - 1, v = 2.0f * y / size - 1;
  const float wave = sinf(24 * sqrtf(u * u + v * v) - 6.2831853f * time);
  const uchar4 color = make_uchar4(128 + 127 * wave, 128 + 100 * u, 128 + 100 * v, 255);
  surf2Dwrite(color, out, x * sizeof(uchar4), y);
})";

constexpr const char* vertex_text = R"(#version 130
uniform float angle;
out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 p = (2 * at - 1) * 0.65;
  gl_Position = vec4(p.x * cos(angle) - p.y * sin(angle), p.x * sin(angle) + p.y * cos(angle), 0, 1);
})";

constexpr const char* fragment_text = R"(#version 130
uniform sampler2D image;
in vec2 at;
out vec4 color;
void main() { color = texture(image, at); }
)";

/// OpenGL without a window, by EGL. The numbers are the enumerators of their headers.
class offscreen_gl {
 public:
  /// Makes a context on the GPU that is a CUDA device; returns what is missing, or an empty string.
  std::string open(int cuda_device) {
    void* const library = dlopen("libEGL.so.1", RTLD_NOW);
    if (library == nullptr) return "libEGL.so.1 is not installed";
    find_ = reinterpret_cast<void* (*)(const char*)>(dlsym(library, "eglGetProcAddress"));
    const auto list = get<unsigned(int, void**, int*)>("eglQueryDevicesEXT");
    const auto ask = get<unsigned(void*, int, std::intptr_t*)>("eglQueryDeviceAttribEXT");
    const auto display_of = get<void*(unsigned, void*, const int*)>("eglGetPlatformDisplayEXT");
    if (!list || !ask || !display_of) return "EGL cannot list devices";
    void* devices[32] = {};
    int count = 0;
    list(32, devices, &count);
    for (int i = 0; i < count; ++i) {
      std::intptr_t number = -1;
      if (!ask(devices[i], 0x323a /* EGL_CUDA_DEVICE_NV */, &number) || number != cuda_device)
        continue;
      void* const display = display_of(0x313f /* EGL_PLATFORM_DEVICE_EXT */, devices[i], nullptr);
      if (!get<unsigned(void*, int*, int*)>("eglInitialize")(display, nullptr, nullptr)) continue;
      const int wanted[] = {0x3033, 1, 0x3040, 8, 0x3038};  // pbuffers; OpenGL; the end
      void* config = nullptr;
      get<unsigned(void*, const int*, void**, int, int*)>("eglChooseConfig")(display, wanted,
                                                                             &config, 1, &count);
      get<unsigned(unsigned)>("eglBindAPI")(0x30a2);  // EGL_OPENGL_API
      void* const context = get<void*(void*, void*, void*, const int*)>("eglCreateContext")(
          display, config, nullptr, nullptr);
      if (get<unsigned(void*, void*, void*, void*)>("eglMakeCurrent")(display, nullptr, nullptr,
                                                                      context))
        return {};
    }
    return "EGL has no OpenGL on the GPU that is CUDA device " + std::to_string(cuda_device);
  }

  /// Returns a function of EGL or OpenGL, or null.
  template <class Function> Function* get(const char* name) const {
    return reinterpret_cast<Function*>(find_(name));
  }

 private:
  void* (*find_)(const char*) = nullptr;
};

unsigned make_texture(const offscreen_gl& gl, int size) {
  unsigned name = 0;
  gl.get<void(int, unsigned*)>("glGenTextures")(1, &name);
  gl.get<void(unsigned, unsigned)>("glBindTexture")(0x0de1, name);  // GL_TEXTURE_2D
  gl.get<void(unsigned, int, unsigned, int, int)>("glTexStorage2D")(0x0de1, 1, 0x8058, size,
                                                                    size);  // GL_RGBA8
  return name;
}

/// Draws into a texture of its own from now on; returns the program of the two shaders.
unsigned prepare_drawing(const offscreen_gl& gl) {
  unsigned framebuffer = 0;
  gl.get<void(int, unsigned*)>("glGenFramebuffers")(1, &framebuffer);
  gl.get<void(unsigned, unsigned)>("glBindFramebuffer")(0x8d40, framebuffer);
  gl.get<void(unsigned, unsigned, unsigned, unsigned, int)>("glFramebufferTexture2D")(
      0x8d40, 0x8ce0, 0x0de1, make_texture(gl, picture_size), 0);
  gl.get<void(int, int, int, int)>("glViewport")(0, 0, picture_size, picture_size);
  const auto program = gl.get<unsigned()>("glCreateProgram")();
  const auto add = [&](unsigned kind, const char* text) {
    const auto shader = gl.get<unsigned(unsigned)>("glCreateShader")(kind);
    gl.get<void(unsigned, int, const char**, const int*)>("glShaderSource")(shader, 1, &text,
                                                                            nullptr);
    gl.get<void(unsigned)>("glCompileShader")(shader);
    gl.get<void(unsigned, unsigned)>("glAttachShader")(program, shader);
  };
  add(0x8b31, vertex_text);
  add(0x8b30, fragment_text);
  gl.get<void(unsigned)>("glLinkProgram")(program);
  gl.get<void(unsigned)>("glUseProgram")(program);
  return program;
}

/// Draws a square with the texture, and returns the pixels, the first row at the top.
std::vector<unsigned char> draw(const offscreen_gl& gl, unsigned program, unsigned texture,
                                float angle) {
  gl.get<void(float, float, float, float)>("glClearColor")(0.05f, 0.05f, 0.1f, 1.0f);
  gl.get<void(unsigned)>("glClear")(0x4000);
  gl.get<void(unsigned, unsigned)>("glBindTexture")(0x0de1, texture);
  gl.get<void(unsigned, int, int)>("glTexParameteri")(0x0de1, 0x2801, 0x2601);  // linear
  const int where = gl.get<int(unsigned, const char*)>("glGetUniformLocation")(program, "angle");
  gl.get<void(int, float)>("glUniform1f")(where, angle);
  gl.get<void(unsigned, int, int)>("glDrawArrays")(5, 0, 4);  // GL_TRIANGLE_STRIP
  constexpr std::size_t row = 3 * picture_size;
  std::vector<unsigned char> bottom_up(row * picture_size), pixels;
  gl.get<void(unsigned, int)>("glPixelStorei")(0x0d05, 1);  // rows without gaps
  gl.get<void(int, int, int, int, unsigned, unsigned, void*)>("glReadPixels")(
      0, 0, picture_size, picture_size, 0x1907, 0x1401, bottom_up.data());
  for (auto end = bottom_up.end(); end != bottom_up.begin(); end -= row)
    pixels.insert(pixels.end(), end - row, end);
  return pixels;
}

gpu::result<> animate(const offscreen_gl& gl, gpu::device device, int frames) {
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  const gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  using texel = gpu::channels<unsigned char, 4>;
  const auto rings = GPU_TRY(code.kernel<gpu::surface_ref<texel>, int, float>("rings"));
  const unsigned program = prepare_drawing(gl), texture = make_texture(gl, texture_size);
  const auto image =
      GPU_TRY(gpu::registered_gl_image::create(device, texture, gpu::gl_target::texture_2d,
                                               gpu::graphics_register_flags::surface_load_store));
  for (int frame = 0; frame < frames; ++frame) {
    const float time = static_cast<float>(frame) / static_cast<float>(frames);
    {
      const auto mapping = GPU_TRY(gpu::graphics_mapping::create(stream, image));
      const auto array = GPU_TRY(mapping.array<texel>(image));
      const auto surface = GPU_TRY(gpu::surface<texel>::create(array));
      GPU_TRY(gpu::launch(stream, {{texture_size / 16, texture_size / 16}, {16, 16}}, rings,
                          surface, texture_size, time));
      GPU_TRY(stream.synchronize());  // the surface ends here
    }
    const std::vector<unsigned char> pixels = draw(gl, program, texture, 1.5708f * time);
    const std::string file = "frame_" + std::to_string(frame) + ".png";
    const auto picture = GPU_TRY(
        (gpu::array<unsigned char, 3>::from(stream, pixels, {picture_size, picture_size, 3})));
    GPU_TRY(gpu::save_png(stream, picture, file));
    std::printf("%s\n", file.c_str());
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  const int frames = count > 1 ? std::atoi(arguments[1]) : 8;
  if (frames < 1 || frames > 1000) {
    std::fprintf(stderr, "usage: %s [FRAMES], from 1 to 1000\n", arguments[0]);
    return 2;
  }
  const auto device = gpu::device::get(0);
  if (!device) {
    std::fprintf(stderr, "opengl_texture needs a GPU. %s\n", device.error().message().c_str());
    return 1;
  }
  offscreen_gl gl;
  if (const std::string missing = gl.open(device->native()); !missing.empty()) {
    std::fprintf(stderr, "opengl_texture needs OpenGL on the GPU, but %s.\n", missing.c_str());
    return 1;
  }
  const auto done = animate(gl, *device, frames);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return 1;
}
