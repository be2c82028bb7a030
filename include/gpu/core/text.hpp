#pragma once
/// \file
/// `text`: an immutable string of the size of one pointer, cheap to copy, without `<string>`. Used
/// for error messages, compiler logs, and names that must outlive their source.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/traits.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <concepts>
#include <new>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {
class text_builder;

/// The characters of an empty text: an object, because a literal need not have the same address in
/// `begin` as in `end`.
inline constexpr char no_characters[1] = {};
}  // namespace detail

// Functions that errors and the compile pipeline use everywhere are kept out of line: that takes
// 4 % off a program that compiles a kernel (benchmarks/program_cost).

/// An immutable, reference-counted, null-terminated string. Copying costs one atomic increment.
/// **Threads**: copies of a text can be used and destroyed on different threads. **Errors**: if the
/// host is out of memory, the text is `lost`: its characters are a sentence that says so.
class text {
 public:
  text() noexcept = default;
  explicit text(const char* string) noexcept
      : text(string, string == nullptr ? 0 : std::strlen(string)) {}
  [[gnu::noinline]] text(const char* characters, std::size_t size) noexcept {
    if (size == 0) return;
    block_ = allocate(size);
    if (block_ == nullptr) {
      *this = lost_text();
      return;
    }
    std::memcpy(characters_of(block_), characters, size);
    finish(size);
  }
  text(const text& other) noexcept : block_{other.block_} {
    if (block_ != nullptr)
      detail::atomic_fetch_add<detail::memory_order::relaxed>(block_->owners, 1);
  }
  text(text&& other) noexcept : block_{other.block_} { other.block_ = nullptr; }
  text& operator=(text other) noexcept {
    block* mine = block_;
    block_ = other.block_;
    other.block_ = mine;
    return *this;
  }
  ~text() {
    if (block_ != nullptr) release(block_);
  }

  /// Returns the null-terminated characters; never a null pointer.
  const char* c_str() const noexcept {
    return block_ == nullptr ? detail::no_characters : characters_of(block_);
  }
  const char* data() const noexcept { return c_str(); }
  std::size_t size() const noexcept { return block_ == nullptr ? 0 : block_->size; }
  bool empty() const noexcept { return size() == 0; }
  const char* begin() const noexcept { return c_str(); }
  const char* end() const noexcept { return c_str() + size(); }

  /// Returns whether the host had no memory for the characters. The text then holds a sentence that
  /// says so; check this before a program uses the characters for anything but a message.
  bool lost() const noexcept { return block_ != nullptr && block_->lost != 0; }

  /// Returns whether the text contains `part`.
  bool contains(const char* part) const noexcept {
    return __builtin_strstr(c_str(), part) != nullptr;
  }

  /// Converts to `std::string`, `std::string_view`, or any type that is constructed from a pointer
  /// and a size.
  template <class String>
    requires requires(const char* p, std::size_t n) { String(p, n); } && (sizeof(String) > 1)
  explicit operator String() const {
    return String(data(), size());
  }

  friend bool operator==(const text& a, const text& b) noexcept {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  }
  friend bool operator==(const text& a, const char* b) noexcept {
    return std::strcmp(a.c_str(), b) == 0;
  }

 private:
  friend class detail::text_builder;

  struct block {
    std::uint32_t owners;
    std::uint32_t lost;
    std::size_t size;
  };
  /// Shared by all lost texts. It holds a reference to itself, so it is never freed.
  struct lost_block {
    block start;
    char characters[48];
  };
  static lost_block lost_;

  [[gnu::noinline]] static void release(block* b) noexcept {
    if (detail::atomic_fetch_sub<detail::memory_order::acq_rel>(b->owners, 1) == 1)
      ::operator delete(b);
  }
  static char* characters_of(block* b) noexcept { return reinterpret_cast<char*>(b + 1); }
  static text lost_text() noexcept {
    text made;
    made.block_ = &lost_.start;
    detail::atomic_fetch_add<detail::memory_order::relaxed>(made.block_->owners, 1);
    return made;
  }
  static block* allocate(std::size_t size) noexcept {
    return static_cast<block*>(::operator new(sizeof(block) + size + 1, std::nothrow));
  }
  void finish(std::size_t size) noexcept {
    block_->owners = 1;
    block_->lost = 0;
    block_->size = size;
    characters_of(block_)[size] = '\0';
  }

  block* block_ = nullptr;
};

inline constinit text::lost_block text::lost_{{1, 1, 47},
                                              "(the host had no memory left for this sentence)"};

namespace detail {

/// Builds a text from parts. If memory runs out for a part, the whole text is lost.
class text_builder {
 public:
  text_builder() noexcept = default;
  text_builder(const text_builder&) = delete;
  text_builder& operator=(const text_builder&) = delete;
  ~text_builder() { ::operator delete(block_); }

  text_builder& operator<<(const char* string) noexcept {
    return string == nullptr ? *this : append(string, std::strlen(string));
  }
  text_builder& operator<<(const text& t) noexcept { return append(t.data(), t.size()); }
  text_builder& operator<<(char c) noexcept { return append(&c, 1); }

  /// Appends a number in decimal.
  template <class Integer>
    requires(detail::word_integer<Integer> && !std::same_as<Integer, char> &&
             !std::same_as<Integer, bool>)
  text_builder& operator<<(Integer value) noexcept {
    if constexpr (std::is_signed_v<Integer>) {
      if (value < 0) {
        *this << '-';
        return append_decimal(~static_cast<std::uint64_t>(value) + 1);
      }
    }
    return append_decimal(static_cast<std::uint64_t>(value));
  }

  [[gnu::noinline]] text_builder& append(const char* characters, std::size_t count) noexcept {
    if (count == 0 || lost_ || !reserve(size_ + count)) return *this;
    std::memcpy(text::characters_of(block_) + size_, characters, count);
    size_ += count;
    return *this;
  }

  std::size_t size() const noexcept { return size_; }

  /// Marks the text as lost, because a part of it was.
  void lose() noexcept { lost_ = true; }

  /// Returns the text built so far, and leaves the builder empty.
  [[gnu::noinline]] text finish() noexcept {
    text result;
    if (lost_) {
      ::operator delete(block_);
      result = text::lost_text();
    } else if (block_ != nullptr) {
      result.block_ = block_;
      result.finish(size_);
    }
    block_ = nullptr;
    size_ = capacity_ = 0;
    lost_ = false;
    return result;
  }

 private:
  [[gnu::noinline]] text_builder& append_decimal(std::uint64_t value) noexcept {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
      digits[--first] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return append(digits + first, sizeof digits - first);
  }
  bool reserve(std::size_t size) noexcept {
    if (size <= capacity_) return true;
    const std::size_t capacity = size * 2 + 64;
    text::block* const grown = text::allocate(capacity);
    if (grown == nullptr) {
      lost_ = true;
      return false;
    }
    if (block_ != nullptr) {
      std::memcpy(text::characters_of(grown), text::characters_of(block_), size_);
      ::operator delete(block_);
    }
    block_ = grown;
    capacity_ = capacity;
    return true;
  }

  text::block* block_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool lost_ = false;  ///< a piece is missing
};

/// Returns `made`, whose characters the program needs. If they are lost, behaves like operator new
/// out of memory, as `sequence` does: usually throws `std::bad_alloc`.
inline text required(text made) {
  if (made.lost()) ::operator delete(::operator new(static_cast<std::size_t>(-1) / 2));
  return made;
}

}  // namespace detail
}}  // namespace gpu::v1
