#pragma once
/// Unpacks Zstandard, as nvcc 13 packs PTX, with the system's library if there is one. It is opened
/// when the first packed image is met; programs do not link to it.

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// The functions of libzstd that are called; empty without the library. Their signatures have been
/// the same since its version 1.3.
struct zstandard {
  std::size_t (*decompress)(void*, std::size_t, const void*, std::size_t) = nullptr;
  unsigned long long (*content_size)(const void*, std::size_t) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;

  explicit operator bool() const { return is_error != nullptr; }
};

/// Opens a library for the rest of the process's life. Empty if it is missing or lacks a function.
inline zstandard open_zstandard(const char* name) {
  zstandard found;
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return found;
  const auto find = [library](auto& function, const char* symbol) {
    using pointer = std::remove_reference_t<decltype(function)>;
    function = reinterpret_cast<pointer>(::dlsym(library, symbol));
    return function != nullptr;
  };
  const bool complete = find(found.decompress, "ZSTD_decompress") &&
                        find(found.content_size, "ZSTD_getFrameContentSize") &&
                        find(found.is_error, "ZSTD_isError");
  return complete ? found : zstandard{};
}

/// The library of this system. Threads: any number may ask and unpack at the same time.
inline const zstandard& system_zstandard() {
  static const zstandard library = open_zstandard("libzstd.so.1");
  return library;
}

/// Unpacks what must become exactly `size` bytes, the memory that is taken whatever `in` says.
inline bool unpack_zstandard(const zstandard& library, std::span<const std::byte> in,
                             std::uint64_t size, std::string& out) {
  constexpr unsigned long long unknown = 0ull - 1;  // a frame need not state its size
  const unsigned long long content = library.content_size(in.data(), in.size());
  if (content != unknown && content != size) return false;
  out.resize(size);
  const std::size_t made = library.decompress(out.data(), out.size(), in.data(), in.size());
  return library.is_error(made) == 0 && made == out.size();
}

}}}  // namespace nogpu::v1::ptx::detail
