#pragma once
/// \file
/// Checked NVRTC calls: the one place where NVRTC's codes become `result`s.

#include <gpu/compiler/nvrtc_entry_points.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/unique_handle.hpp>

namespace gpu::nvrtc {

namespace detail {

/// The name of the function behind a member of the table.
template <class Function> const char* name_of(Function entry_points::* member) noexcept {
  static constexpr entry_points none{};
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&(none.*member)) -
                                               reinterpret_cast<const char*>(&none));
  return entry_point_list[offset / sizeof(void (*)())].name;
}

[[gnu::cold, gnu::noinline]] inline cuda_error unavailable_error(const entry_points& table,
                                                                 const char* call,
                                                                 source_location where) noexcept {
  gpu::detail::text_builder out;
  const char* detail = table.unavailable_detail != nullptr ? table.unavailable_detail : "unknown";
  if (table.unavailable == errc::nvrtc_too_old) {
    out << "gpu needs NVRTC 12.0 or newer, but " << detail
        << ". Install a newer CUDA toolkit, or pip install nvidia-cuda-nvrtc.";
    return gpu::detail::refusal(errc::nvrtc_too_old, call, out.finish(), where, 12000);
  }
  out << "the library NVRTC was not found; looked in: " << detail
      << ". Install the CUDA toolkit, or pip install nvidia-cuda-nvrtc, and set CUDA_PATH to its "
         "folder or GPU_NVRTC to the library's path.";
  return gpu::detail::refusal(errc::no_nvrtc, call, out.finish(), where);
}

}  // namespace detail

/// The error that a code of NVRTC stands for.
[[gnu::cold, gnu::noinline]] inline cuda_error error_of(int code, const char* call,
                                                        source_location where) noexcept {
  return cuda_error(error_domain::nvrtc, code, call, where);
}

/// Calls one function of the table in force and turns what it says into a `result`.
/// **Errors**: NVRTC's code with the call's name; or why there is no such function.
template <auto Member, class... Arguments>
result<> call(source_location where, Arguments... arguments) noexcept {
  const entry_points& table = current_entry_points();
  const auto function = table.*Member;
  const char* name = detail::name_of(Member);
  if (function == nullptr) {
    return gpu::detail::fail(detail::unavailable_error(table, name, where));
  }
  const int code = function(arguments...);
  if (code != 0) return gpu::detail::fail(error_of(code, name, where));
  return {};
}

/// Destroys a program of NVRTC.
struct destroy_program {
  void operator()(nvrtc_program program) const noexcept {
    const auto function = current_entry_points().destroy_program;
    if (function != nullptr) function(&program);
  }
};

using unique_program = unique_handle<nvrtc_program, destroy_program>;

namespace detail {

/// Characters to be filled by NVRTC.
class characters {
 public:
  explicit characters(std::size_t size) noexcept : data_{static_cast<char*>(std::malloc(size))} {}
  characters(const characters&) = delete;
  characters& operator=(const characters&) = delete;
  ~characters() { std::free(data_); }
  char* data() const noexcept { return data_; }

 private:
  char* data_;
};

}  // namespace detail

/// Sets `contents` to one of the texts or images that a program gives: asks for the size first.
template <auto Size, auto Get>
result<> get_text(nvrtc_program program, text& contents, source_location where) noexcept {
  std::size_t size = 0;
  GPU_TRY(call<Size>(where, program, &size));
  contents = text();
  if (size == 0) return {};
  const detail::characters characters(size);
  if (characters.data() == nullptr) {
    gpu::detail::text_builder out;
    out << "the host had no " << size << " bytes left for what NVRTC made. Free host memory.";
    return gpu::detail::fail(gpu::detail::refusal(errc::out_of_host_memory, detail::name_of(Get),
                                                  out.finish(), where, size));
  }
  GPU_TRY(call<Get>(where, program, characters.data()));
  contents = text(characters.data(), size);
  return {};
}

/// A text of NVRTC without the zero, or in logs the several, that end it.
inline text without_terminator(const text& t) noexcept {
  std::size_t size = t.size();
  while (size > 0 && t.data()[size - 1] == '\0') --size;
  return size == t.size() ? t : text(t.data(), size);
}

}  // namespace gpu::nvrtc
