// A kernel animates a texture, and OpenGL draws it on a turning square: no pixel leaves the GPU
// until the picture is finished. EGL makes the context of OpenGL, a framebuffer gets the drawing,
// and each frame is written to a file. Where the X server that DISPLAY names draws with the same
// GPU, a window shows the frames, too.
//
//     opengl_texture [FRAMES]    # writes frame_0.png, frame_1.png, ...
//
// It needs an NVIDIA GPU with its OpenGL and EGL (libEGL.so.1), and no header of theirs.

#include <gpu/array.hpp>
#include <gpu/array/picture.hpp>
#include <gpu/gpu.hpp>
#include <gpu/interop/graphics_mapping.hpp>
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

/// OpenGL by EGL, with a window or without. The numbers are the enumerators of their headers.
class gl_context {
 public:
  /// Makes a context with a window; false if there is no X server, or its EGL has no OpenGL.
  bool open_window(int size) {
    void* const x11 = dlopen("libX11.so.6", RTLD_NOW);
    if (x11 == nullptr || std::getenv("DISPLAY") == nullptr || !open_library()) return false;
    const auto x = [&]<class Function>(Function*& function, const char* name) {
      function = reinterpret_cast<Function*>(dlsym(x11, name));
      return function != nullptr;
    };
    void* (*open_server)(const char*) = nullptr;
    int (*default_screen)(void*) = nullptr;
    unsigned long (*root_of)(void*, int) = nullptr;
    void* (*visual_of)(void*, int) = nullptr;
    unsigned long (*number_of)(void*) = nullptr;
    unsigned long (*create)(void*, unsigned long, int, int, unsigned, unsigned, unsigned,
                            unsigned long, unsigned long) = nullptr;
    int (*map)(void*, unsigned long) = nullptr;
    if (!x(open_server, "XOpenDisplay") || !x(default_screen, "XDefaultScreen") ||
        !x(root_of, "XRootWindow") || !x(visual_of, "XDefaultVisual") ||
        !x(number_of, "XVisualIDFromVisual") || !x(create, "XCreateSimpleWindow") ||
        !x(map, "XMapWindow") || !x(unmap_, "XUnmapWindow"))
      return false;
    server_ = open_server(nullptr);
    if (server_ == nullptr) return false;
    const int screen = default_screen(server_);
    const auto pixels = static_cast<unsigned>(size);
    window_ = create(server_, root_of(server_, screen), 0, 0, pixels, pixels, 0, 0, 0);
    map(server_, window_);
    const auto visual = static_cast<int>(number_of(visual_of(server_, screen)));
    return make_current(0x31d5 /* EGL_PLATFORM_X11_EXT */, server_, visual);
  }

  /// Goes back to no window.
  void close_window() {
    if (surface_ != nullptr)
      get<unsigned(void*, void*, void*, void*)>("eglMakeCurrent")(display_, nullptr, nullptr,
                                                                  nullptr);
    if (window_ != 0) unmap_(server_, window_);
    surface_ = nullptr;
    window_ = 0;
  }

  /// Makes a context without a window on the GPU that is a CUDA device; returns what is missing, or
  /// an empty string.
  std::string open(int cuda_device) {
    if (!open_library()) return "libEGL.so.1 is not installed";
    const auto list = get<unsigned(int, void**, int*)>("eglQueryDevicesEXT");
    const auto ask = get<unsigned(void*, int, std::intptr_t*)>("eglQueryDeviceAttribEXT");
    if (!list || !ask) return "EGL cannot list devices";
    void* devices[32] = {};
    int count = 0;
    list(32, devices, &count);
    for (int i = 0; i < count; ++i) {
      std::intptr_t number = -1;
      if (!ask(devices[i], 0x323a /* EGL_CUDA_DEVICE_NV */, &number) || number != cuda_device)
        continue;
      if (make_current(0x313f /* EGL_PLATFORM_DEVICE_EXT */, devices[i], -1)) return {};
    }
    return "EGL has no OpenGL on the GPU that is CUDA device " + std::to_string(cuda_device);
  }

  /// Shows a framebuffer of `size` pixels in the window, if there is one.
  void show(unsigned framebuffer, int size) const {
    if (surface_ == nullptr) return;
    const auto bind = get<void(unsigned, unsigned)>("glBindFramebuffer");
    bind(0x8ca8, framebuffer);  // GL_READ_FRAMEBUFFER
    bind(0x8ca9, 0);            // GL_DRAW_FRAMEBUFFER: the window
    get<void(int, int, int, int, int, int, int, int, unsigned, unsigned)>("glBlitFramebuffer")(
        0, 0, size, size, 0, 0, size, size, 0x4000, 0x2600);
    get<unsigned(void*, void*)>("eglSwapBuffers")(display_, surface_);
    bind(0x8d40, framebuffer);
  }

  /// Returns a function of EGL or OpenGL, or null.
  template <class Function> Function* get(const char* name) const {
    return reinterpret_cast<Function*>(find_(name));
  }

 private:
  bool open_library() {
    void* const library = dlopen("libEGL.so.1", RTLD_NOW);
    if (library == nullptr) return false;
    find_ = reinterpret_cast<void* (*)(const char*)>(dlsym(library, "eglGetProcAddress"));
    return find_ != nullptr;
  }

  /// Makes a context current, for the window if `visual` is that of it, and not -1.
  bool make_current(unsigned platform, void* native, int visual) {
    const auto display_of = get<void*(unsigned, void*, const int*)>("eglGetPlatformDisplayEXT");
    if (!display_of) return false;
    display_ = display_of(platform, native, nullptr);
    if (!get<unsigned(void*, int*, int*)>("eglInitialize")(display_, nullptr, nullptr))
      return false;
    const int surfaces = visual < 0 ? 1 : 4;                     // pbuffers, or windows
    const int wanted[] = {0x3033, surfaces, 0x3040, 8, 0x3038};  // OpenGL; the end
    void* configs[64] = {};
    int count = 0;
    get<unsigned(void*, const int*, void**, int, int*)>("eglChooseConfig")(display_, wanted,
                                                                           configs, 64, &count);
    get<unsigned(unsigned)>("eglBindAPI")(0x30a2);  // EGL_OPENGL_API
    if (visual < 0 && count == 0) count = 1;        // a null configuration will do
    for (int i = 0; i < count; ++i) {
      int its_visual = -1;
      if (visual >= 0)
        get<unsigned(void*, void*, int, int*)>("eglGetConfigAttrib")(
            display_, configs[i], 0x302e /* EGL_NATIVE_VISUAL_ID */, &its_visual);
      if (its_visual != visual) continue;
      void* const context = get<void*(void*, void*, void*, const int*)>("eglCreateContext")(
          display_, configs[i], nullptr, nullptr);
      if (visual >= 0) {
        surface_ = get<void*(void*, void*, unsigned long, const int*)>("eglCreateWindowSurface")(
            display_, configs[i], window_, nullptr);
        if (surface_ == nullptr) continue;
      }
      return get<unsigned(void*, void*, void*, void*)>("eglMakeCurrent")(display_, surface_,
                                                                         surface_, context) != 0;
    }
    return false;
  }

  void* (*find_)(const char*) = nullptr;
  void* display_ = nullptr;
  void* surface_ = nullptr;  // of the window
  void* server_ = nullptr;   // the X server
  unsigned long window_ = 0;
  int (*unmap_)(void*, unsigned long) = nullptr;
};

unsigned make_texture(const gl_context& gl, int size) {
  unsigned name = 0;
  gl.get<void(int, unsigned*)>("glGenTextures")(1, &name);
  gl.get<void(unsigned, unsigned)>("glBindTexture")(0x0de1, name);  // GL_TEXTURE_2D
  gl.get<void(unsigned, int, unsigned, int, int)>("glTexStorage2D")(0x0de1, 1, 0x8058, size,
                                                                    size);  // GL_RGBA8
  return name;
}

/// Draws into a texture of its own from now on, by `framebuffer`; returns the program of the two
/// shaders.
unsigned prepare_drawing(const gl_context& gl, unsigned& framebuffer) {
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
std::vector<unsigned char> draw(const gl_context& gl, unsigned program, unsigned texture,
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

gpu::result<> animate(const gl_context& gl, gpu::device device, int frames) {
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  const gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  using texel = gpu::channels<unsigned char, 4>;
  const auto rings = GPU_TRY(code.kernel<gpu::surface_ref<texel>, int, float>("rings"));
  unsigned framebuffer = 0;
  const unsigned program = prepare_drawing(gl, framebuffer);
  const unsigned texture = make_texture(gl, texture_size);
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
    gl.show(framebuffer, picture_size);
    const std::string file = "frame_" + std::to_string(frame) + ".png";
    const auto picture = GPU_TRY(
        (gpu::array<unsigned char, 3>::from(stream, pixels, {picture_size, picture_size, 3})));
    GPU_TRY(gpu::save_png(stream, picture, file));
    std::printf("%s\n", file.c_str());
  }
  return {};
}

/// Returns whether the context of OpenGL is one of this device.
bool draws_with(gpu::device device) {
  const auto found = gpu::gl_devices();
  if (!found) return false;
  for (std::size_t i = 0; i < found->size(); ++i)
    if ((*found)[i] == device) return true;
  return false;
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
  gl_context gl;
  if (!gl.open_window(picture_size) || !draws_with(*device)) {
    gl.close_window();
    if (const std::string missing = gl.open(device->native()); !missing.empty()) {
      std::fprintf(stderr, "opengl_texture needs OpenGL on the GPU, but %s.\n", missing.c_str());
      return 1;
    }
  }
  const auto done = animate(gl, *device, frames);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return 1;
}
