#pragma once
/// \file
/// `library_handle`: owns a handle that one of CUDA's libraries made, bound to a stream.

#include <gpu/core/result.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/system/library_table.hpp>

#include <cuda.h>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A handle of a library, and the stream that it works on. `Empty` stands for none.
template <class Library, class Native, Native Empty> struct library_object {
  Native native = Empty;
  stream_ref stream;
  friend bool operator==(const library_object& a, const library_object& b) noexcept {
    return a.native == b.native;
  }
};

/// Calls the library's `destroy`, in the context of the stream.
struct destroy_library_object {
  template <class Library, class Native, Native Empty>
  void operator()(const library_object<Library, Native, Empty>& object) const noexcept {
    const library_use<Library> use;
    const auto destroy = library_table<Library>().destroy;
    if (destroy == nullptr) return;
    bool destroyed = false;
    const result<> done =
        driver::in_context(object.stream.context().native(), source_location{}, [&]() -> result<> {
          destroyed = true;
          destroy(object.native);
          return {};
        });
    if (!destroyed) destroy(object.native);  // which may work in another context
    driver::report_at_end(done);
  }
};

template <class Library, class Native = void*, Native Empty = Native{}>
using library_handle =
    unique_handle<library_object<Library, Native, Empty>, destroy_library_object>;

/// Makes a handle with the library's `create` and `set_stream`. `function` is the caller's name,
/// for the errors.
template <class Library>
result<> create_handle(library_handle<Library>& made, const char* function,
                       const stream_ref& stream, source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_libcuda<Library>(function, where));
  return driver::in_context(stream.context().native(), where, [&]() -> result<> {
    void* native = nullptr;
    GPU_TRY(library_call<&Library::table::create>(where, &native));
    made.reset({native, stream});
    return library_call<&Library::table::set_stream>(where, native,
                                                     static_cast<void*>(stream.native()));
  });
}

inline void* to_pointer(CUdeviceptr address) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}}}  // namespace gpu::v1::detail
