#pragma once
/// \file
/// `offered_headers`: headers for device code that only some parts of the library have.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/shared_library.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// A header of the library's for device code.
struct device_code_header {
  string_ref name, source;

  /// From two null-terminated arrays. Converted through pointers, they would not be a
  /// constant expression for g++ with -fsanitize=undefined.
  template <std::size_t NameSize, std::size_t SourceSize>
  constexpr device_code_header(const char (&header_name)[NameSize],
                               const char (&header_source)[SourceSize]) noexcept
      : name{header_name, NameSize - 1}, source{header_source, SourceSize - 1} {}
};

/// Headers that programs compiled at run time can include if a source of the host program includes
/// the part of the library that has them. That part defines one as an inline variable, so that the
/// texts are only in programs that may use them. It is in a list from its initialization on, which
/// is before that of variables in the sources that include it.
class offered_headers {
 public:
  /// The list must live as long as the process; a shared library that has it stays loaded.
  template <std::size_t Count>
  explicit offered_headers(const device_code_header (&headers)[Count]) noexcept
      : first_{headers}, last_{headers + Count} {
    pin_library_of(this);
    // Libraries may be loaded by several threads, and while others compile.
    next_ = atomic_load<memory_order::relaxed>(newest_);
    while (!atomic_compare_exchange_strong<memory_order::release, memory_order::relaxed>(
        newest_, next_, this)) {
    }
  }
  offered_headers(const offered_headers&) = delete;
  offered_headers& operator=(const offered_headers&) = delete;

  /// Returns the text of a header, or an empty text if it is not offered.
  static text find(string_ref name) {
    const offered_headers* list = atomic_load<memory_order::acquire>(newest_);
    for (; list != nullptr; list = list->next_) {
      for (const device_code_header* each = list->first_; each != list->last_; ++each) {
        if (each->name == name) return required(each->source.to_text());
      }
    }
    return {};
  }

 private:
  static inline constinit const offered_headers* newest_ = nullptr;

  const device_code_header *first_, *last_;
  const offered_headers* next_ = nullptr;
};

}}}  // namespace gpu::v1::detail
