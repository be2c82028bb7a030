#pragma once
/// \file
/// `sequence<T>`: a small `std::vector`. (To include `<vector>` costs three and a half times what
/// `cuda.h` does.)

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// Owns `size()` contiguous elements. It copies and compares element by element, and grows at the
/// end, which invalidates pointers to elements. If the host is out of memory, operator new throws,
/// as for `std::vector`.
template <class T> class sequence {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  sequence() noexcept {}
  explicit sequence(std::size_t size) { resize(size); }
  sequence(std::initializer_list<T> elements) { append(elements.begin(), elements.end()); }
  sequence(const T* first, const T* last) { append(first, last); }
  /// Copies any other contiguous range of elements: `std::vector`, `std::span`, `std::array`.
  template <class Range>
    requires(!std::same_as<Range, sequence> &&
             requires(const Range& range) {
               range.size();
               requires std::is_convertible_v<decltype(*range.data()), T>;
             })
  sequence(const Range& range) {
    reserve(range.size());
    for (std::size_t i = 0; i < range.size(); ++i) push_back(range.data()[i]);
  }

  sequence(const sequence& other) { append(other.begin(), other.end()); }
  sequence(sequence&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)},
        size_{std::exchange(other.size_, 0u)},
        capacity_{std::exchange(other.capacity_, 0u)} {}
  sequence& operator=(const sequence& other) {
    if (this != &other) *this = sequence(other);
    return *this;
  }
  sequence& operator=(sequence&& other) noexcept {
    sequence taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~sequence() {
    clear();
    ::operator delete(data_);
  }

  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }
  T& front() noexcept { return data_[0]; }
  const T& front() const noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void push_back(const T& element) { emplace_back(element); }
  void push_back(T&& element) { emplace_back(std::move(element)); }
  /// Constructs an element at the end. The arguments may refer to elements of the sequence.
  template <class... Arguments> T& emplace_back(Arguments&&... arguments) {
    if (size_ == capacity_) {
      // Constructed before the elements move, because the arguments may refer to them.
      T made(static_cast<Arguments&&>(arguments)...);
      reserve(size_ < 4 ? 8 : size_ * 2);
      ::new (static_cast<void*>(data_ + size_)) T(std::move(made));
    } else {
      ::new (static_cast<void*>(data_ + size_)) T(static_cast<Arguments&&>(arguments)...);
    }
    return data_[size_++];
  }
  void append(const T* first, const T* last) {
    reserve(size_ + static_cast<std::size_t>(last - first));
    for (; first != last; ++first) push_back(*first);
  }
  void pop_back() noexcept { data_[--size_].~T(); }
  /// Removes one element and moves the later ones up.
  void erase(T* element) noexcept {
    for (T* next = element + 1; next != end(); ++element, ++next) *element = std::move(*next);
    pop_back();
  }
  void assign(std::size_t size, const T& element) {
    sequence made;
    made.reserve(size);
    while (made.size_ != size) made.push_back(element);
    swap(made);
  }
  // Out of line, for small programs (benchmarks/program_cost).
  [[gnu::noinline]] void clear() noexcept {
    while (size_ != 0) pop_back();
  }
  void resize(std::size_t size) {
    reserve(size);
    while (size_ > size) pop_back();
    while (size_ < size) emplace_back();
  }
  [[gnu::noinline]] void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    sequence grown;
    grown.allocate(capacity);
    grown.take(*this);
    swap(grown);
  }
  void swap(sequence& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  friend bool operator==(const sequence& a, const sequence& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  void allocate(std::size_t capacity) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    constexpr std::size_t most = static_cast<std::size_t>(-1) / 2 / sizeof(T);
    // More than any host has: operator new fails as if memory were exhausted.
    const std::size_t bytes =
        capacity > most ? static_cast<std::size_t>(-1) / 2 : capacity * sizeof(T);
    data_ = static_cast<T*>(::operator new(bytes));
    capacity_ = capacity;
  }
  /// Moves the elements of `other` to new memory and leaves `other` empty.
  void take(sequence& other) noexcept {
    for (; size_ < other.size_; ++size_) {
      ::new (static_cast<void*>(data_ + size_)) T(std::move(other.data_[size_]));
    }
    other.clear();
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}}  // namespace gpu::v1
