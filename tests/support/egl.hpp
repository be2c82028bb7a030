#pragma once
/// \file
/// A context of OpenGL without a window, made by EGL on the GPU of a CUDA device; and the functions
/// of OpenGL that tests use. The libraries are opened at run time, and no header of theirs is
/// needed.

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace test {

/// Functions of OpenGL and EGL, found by their names. The enumerators are those of their headers.
class egl_context {
 public:
  /// Makes a context on the GPU that is CUDA device `cuda_device`, or on any if it is negative, and
  /// makes it current in the calling thread. Without success, `missing` says why.
  explicit egl_context(int cuda_device) { missing_ = make(cuda_device); }
  egl_context(const egl_context&) = delete;
  egl_context& operator=(const egl_context&) = delete;
  ~egl_context() {
    if (context_ == nullptr) return;
    release();
    egl<int(void*, void*)>("eglDestroyContext")(display_, context_);
    egl<int(void*)>("eglTerminate")(display_);
  }

  /// What is missing, as a sentence; empty if the context is there.
  const std::string& missing() const { return missing_; }

  /// Makes the context current in the calling thread, or no longer.
  void make_current() { make_current_as(context_); }
  void release() { make_current_as(nullptr); }

  /// Calls a function of OpenGL: `gl<void(unsigned, unsigned)>("glBindBuffer", 0x8892, name)`.
  template <class Function, class... Arguments>
  auto gl(const char* name, Arguments... arguments) const {
    return egl<Function>(name)(arguments...);
  }

 private:
  /// Returns a function of EGL or OpenGL, or null.
  template <class Function> Function* egl(const char* name) const {
    void* found = ::dlsym(library_, name);
    if (found == nullptr && find_ != nullptr) found = find_(name);
    return reinterpret_cast<Function*>(found);
  }

  void make_current_as(void* context) {
    egl<int(void*, void*, void*, void*)>("eglMakeCurrent")(display_, nullptr, nullptr, context);
  }

  std::string make(int cuda_device) {
    constexpr unsigned platform_device = 0x313f, opengl_api = 0x30a2;
    constexpr int surface_type = 0x3033, pbuffer_bit = 1, renderable_type = 0x3040, opengl_bit = 8,
                  none = 0x3038, cuda_device_attribute = 0x323a;
    library_ = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return "libEGL.so.1 is not installed";
    find_ = reinterpret_cast<void* (*)(const char*)>(::dlsym(library_, "eglGetProcAddress"));
    const auto list = egl<unsigned(int, void**, int*)>("eglQueryDevicesEXT");
    const auto ask = egl<unsigned(void*, int, std::intptr_t*)>("eglQueryDeviceAttribEXT");
    const auto open = egl<void*(unsigned, void*, const int*)>("eglGetPlatformDisplayEXT");
    if (list == nullptr || ask == nullptr || open == nullptr)
      return "EGL has no extension to list devices";
    void* devices[32] = {};
    int count = 0;
    list(32, &devices[0], &count);
    for (int i = 0; i < count; ++i) {
      std::intptr_t number = -1;
      const bool answered = ask(devices[i], cuda_device_attribute, &number) != 0;
      if (cuda_device >= 0 && (!answered || number != cuda_device)) continue;
      display_ = open(platform_device, devices[i], nullptr);
      int major = 0, minor = 0;
      if (display_ == nullptr ||
          egl<unsigned(void*, int*, int*)>("eglInitialize")(display_, &major, &minor) == 0)
        continue;
      const int wanted[] = {surface_type, pbuffer_bit, renderable_type, opengl_bit, none};
      void* config = nullptr;
      int configs = 0;
      egl<unsigned(void*, const int*, void**, int, int*)>("eglChooseConfig")(display_, &wanted[0],
                                                                             &config, 1, &configs);
      egl<unsigned(unsigned)>("eglBindAPI")(opengl_api);
      context_ = egl<void*(void*, void*, void*, const int*)>("eglCreateContext")(display_, config,
                                                                                 nullptr, nullptr);
      if (context_ == nullptr) continue;
      make_current();
      return {};
    }
    return "EGL has no device that is the GPU";
  }

  void* library_ = nullptr;  // stays open: some drivers cannot be closed
  void* (*find_)(const char*) = nullptr;
  void* display_ = nullptr;
  void* context_ = nullptr;
  std::string missing_;
};

}  // namespace test
