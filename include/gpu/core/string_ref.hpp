#pragma once
/// \file
/// `string_ref` and `bytes_ref`: parameter types that accept a string or a block of bytes of any
/// type, without `<string>`, `<string_view>` or `<span>`.

#include <gpu/core/text.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

template <class Range>
using element_of =
    std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<const Range&>().data())>>;

template <class Range>
concept contiguous_range = requires(const Range& range) {
  range.data();
  range.size();
  requires std::is_pointer_v<decltype(range.data())>;
  requires std::is_convertible_v<decltype(range.size()), std::size_t>;
};

template <class Range>
concept string_like = contiguous_range<Range> && std::same_as<element_of<Range>, char>;

template <class Range>
concept bytes_like = contiguous_range<Range> && sizeof(element_of<Range>) == 1 &&
                     std::is_trivially_copyable_v<element_of<Range>>;

}  // namespace detail

/// Refers to characters of the caller: a literal, a null-terminated string, a `text`, a
/// `std::string`, a `std::string_view` and the like. For parameters; it does not keep them alive.
class string_ref {
 public:
  constexpr string_ref() noexcept = default;
  constexpr string_ref(const char* string) noexcept
      : data_{string == nullptr ? "" : string}, size_{__builtin_strlen(data_)} {}
  constexpr string_ref(const char* characters, std::size_t size) noexcept
      : data_{characters}, size_{size} {}
  template <detail::string_like String>
  constexpr string_ref(const String& string) noexcept
      : data_{string.data()}, size_{static_cast<std::size_t>(string.size())} {}

  constexpr const char* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const char* begin() const noexcept { return data_; }
  constexpr const char* end() const noexcept { return data_ + size_; }
  constexpr char operator[](std::size_t i) const noexcept { return data_[i]; }

  constexpr string_ref substring(std::size_t first, std::size_t count) const noexcept {
    return {data_ + first, count};
  }
  /// Returns a null-terminated copy that owns its characters.
  text to_text() const noexcept { return text(data_, size_); }

  friend constexpr bool operator==(string_ref a, string_ref b) noexcept {
    return a.size_ == b.size_ && (a.size_ == 0 || __builtin_memcmp(a.data_, b.data_, a.size_) == 0);
  }

 private:
  const char* data_ = "";
  std::size_t size_ = 0;
};

/// Refers to bytes of the caller: a `std::vector` or `std::span` of `char`, `unsigned char` or
/// `std::byte`, a `std::string`, a `text` and the like. For parameters; it does not keep them
/// alive.
class bytes_ref {
 public:
  constexpr bytes_ref() noexcept = default;
  constexpr bytes_ref(const void* data, std::size_t size) noexcept : data_{data}, size_{size} {}
  /// Refers to a null-terminated string without its terminator.
  constexpr bytes_ref(const char* string) noexcept
      : data_{string}, size_{string == nullptr ? 0 : __builtin_strlen(string)} {}
  template <detail::bytes_like Range>
  constexpr bytes_ref(const Range& range) noexcept
      : data_{range.data()}, size_{static_cast<std::size_t>(range.size())} {}

  constexpr const void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  const char* characters() const noexcept { return static_cast<const char*>(data_); }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {
inline text_builder& operator<<(text_builder& out, string_ref string) noexcept {
  return out.append(string.data(), string.size());
}
}  // namespace detail
}}  // namespace gpu::v1
