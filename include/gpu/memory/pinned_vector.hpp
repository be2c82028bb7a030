#pragma once
/// \file
/// `pinned_vector<T>`: a vector in page-locked host memory, which devices read and write at full
/// speed and asynchronously.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/element_source.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/detail/reverse_iterator.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/pinned_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// A `std::vector` for trivially copyable elements, with these differences: `create` makes it,
/// because the driver allocates page-locked memory; functions that may allocate return a `result`,
/// and leave the vector unchanged if they fail; it is not copied implicitly. It has no `at`, which
/// could only throw, and no `emplace_back`, which could not record the source location of the call:
/// use `push_back({x, y})`. Exceptions of iterators pass through; the vector then has its old
/// elements, of which `assign` may have replaced some. Move-only; a moved-from vector has no
/// elements, and can only be assigned to or destroyed. Allocating page-locked memory takes about a
/// millisecond, so keep vectors and reuse them.
/// **Ordering**: asynchronous copies read and write the elements later; until they are done,
/// neither access the elements nor let the vector grow or be destroyed.
/// **Threads**: as `std::vector`.
template <class T> class pinned_vector : public detail::pinned_elements<T> {
 public:
  /// Creates an empty object, to be assigned to.
  pinned_vector() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <detail::begins_creation First, class... Rest>
  explicit pinned_vector(const First&, const Rest&...) noexcept {
    static_assert(detail::always_false<First>,
                  "write gpu::pinned_vector<T>::create(device, count)");
  }
  template <detail::word_integer Count> static result<pinned_vector> create(Count) noexcept {
    static_assert(detail::always_false<Count>,
                  "write gpu::pinned_vector<T>::create(device, count)");
    return {};
  }

  using typename detail::pinned_elements<T>::iterator;
  using typename detail::pinned_elements<T>::const_iterator;
  using detail::pinned_elements<T>::data;
  using detail::pinned_elements<T>::begin;
  using detail::pinned_elements<T>::end;
  using detail::pinned_elements<T>::span;

  using reverse_iterator = detail::reverse_iterator<T>;
  using const_reverse_iterator = detail::reverse_iterator<const T>;

  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "a copy moves bytes, which only trivially copyable elements allow");

  /// Makes an empty vector for use with a device.
  /// **Errors**: `errc::invalid_argument` for unknown flags.
  static result<pinned_vector> create(context_or_device on, pinned_flags flags = pinned_flags::none,
                                      source_location where = source_location::current()) noexcept {
    const context_ref in = GPU_TRY(on.resolve("gpu::pinned_vector::create", where));
    GPU_TRY(detail::check_pinned_flags(flags, "gpu::pinned_vector::create", where));
    return pinned_vector{in, flags};
  }
  /// Makes a vector of `count` elements, each `T{}`.
  /// **Capture**: not allowed, and neither is growing. (cuMemHostAlloc)
  /// **Errors**: as above; `errc::size_overflow`; the driver's CUDA_ERROR_OUT_OF_MEMORY with the
  /// bytes requested.
  static result<pinned_vector> create(
      context_or_device on, std::size_t count, pinned_flags flags = pinned_flags::none,
      source_location where =
          source_location::current()) noexcept(detail::nothrow_default_makeable<T>)
    requires detail::default_makeable<T>
  {
    pinned_vector made = GPU_TRY(create(on, flags, where));
    GPU_TRY(made.resize(count, where));
    return made;
  }

  /// Takes over memory from cuMemHostAlloc.
  static pinned_vector adopt(context_ref in, pinned_span<T> elements,
                             pinned_flags flags = pinned_flags::none) noexcept {
    pinned_vector made{in, flags};
    made.memory_.reset({elements.data(), in});
    made.size_ = made.capacity_ = elements.size();
    return made;
  }
  /// Releases ownership; the caller frees the memory. The vector is empty afterwards, and can be
  /// filled again.
  [[nodiscard]] pinned_span<T> release() noexcept {
    capacity_ = 0;
    return pinned_span<T>::from_native(static_cast<T*>(memory_.release().address),
                                       std::exchange(size_, 0u));
  }

  pinned_vector(pinned_vector&& other) noexcept
      : detail::pinned_elements<T>{std::move(other)},
        context_{std::exchange(other.context_, context_ref{})},
        capacity_{std::exchange(other.capacity_, 0u)},
        flags_{other.flags_} {}
  pinned_vector& operator=(pinned_vector&& other) noexcept {
    pinned_vector taken{std::move(other)};
    swap(taken);
    return *this;
  }
  void swap(pinned_vector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(context_, other.context_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(flags_, other.flags_);
  }
  friend void swap(pinned_vector& a, pinned_vector& b) noexcept { a.swap(b); }

  std::size_t capacity() const noexcept { return capacity_; }
  static constexpr std::size_t max_size() noexcept { return ~std::size_t{0} / 2 / sizeof(T); }

  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  const_reverse_iterator crend() const noexcept { return rend(); }

  T& front() noexcept { return data()[0]; }
  const T& front() const noexcept { return data()[0]; }
  T& back() noexcept { return data()[size_ - 1]; }
  const T& back() const noexcept { return data()[size_ - 1]; }

  /// Returns a span of the first `count` elements, for asynchronous copies.
  pinned_span<T> first(std::size_t count,
                       source_location where = source_location::current()) & noexcept {
    return span().first(count, where);
  }
  pinned_span<const T> first(std::size_t count,
                             source_location where = source_location::current()) const& noexcept {
    return span().first(count, where);
  }
  void first(std::size_t, source_location = {}) const&& = delete;

  /// Returns a span with which kernels access the elements in host memory, without a copy.
  /// (cuMemHostGetDevicePointer)
  /// **Errors**: `errc::invalid_argument` if the vector was made without `pinned_flags::mapped`.
  /// **Capture**: not affected.
  result<device_span<T>> mapped_span(
      source_location where = source_location::current()) & noexcept {
    CUdeviceptr mapped = 0;
    GPU_TRY(detail::get_mapped_address(memory_.get().address, context_, flags_, mapped, where));
    return device_span<T>::from_native(mapped, size_);
  }

  context_ref context() const noexcept { return context_; }
  pinned_flags flags() const noexcept { return flags_; }

  /// Makes room for `capacity` elements, so that growing up to there cannot fail.
  result<> reserve(std::size_t capacity,
                   source_location where = source_location::current()) noexcept {
    return capacity <= capacity_ ? result<>{} : move_to(capacity, where);
  }
  /// Frees unused capacity.
  result<> shrink_to_fit(source_location where = source_location::current()) noexcept {
    return capacity_ == size_ ? result<>{} : move_to(size_, where);
  }
  result<> resize(std::size_t count, source_location where = source_location::current()) noexcept(
      detail::nothrow_default_makeable<T>)
    requires detail::default_makeable<T>
  {
    return resize(count, T{}, where);
  }
  result<> resize(std::size_t count, const T& value,
                  source_location where = source_location::current()) noexcept {
    if (count <= size_) {
      size_ = count;
      return {};
    }
    const T copied = value;  // it may be one of the elements that are about to move
    GPU_TRY(grow_to(count, where));
    construct(end(), count - size_, copied);
    size_ = count;
    return {};
  }
  void clear() noexcept { size_ = 0; }

  result<> push_back(const T& value, source_location where = source_location::current()) noexcept {
    return resize(size_ + 1, value, where);
  }
  void pop_back() noexcept { --size_; }

  result<> assign(std::size_t count, const T& value,
                  source_location where = source_location::current()) noexcept {
    const T copied = value;
    GPU_TRY(grow_to(count, where));
    construct(begin(), count, copied);
    size_ = count;
    return {};
  }
  /// Assigns from iterators that do not point into the vector. If they cannot be subtracted, the
  /// new elements are appended one by one, as by `push_back`, before the old ones are erased, so
  /// `reserve` helps.
  template <detail::reads_as<T> Iterator>
  result<> assign(Iterator first, Iterator last,
                  source_location where =
                      source_location::current()) noexcept(detail::nothrow_reads_as<Iterator, T>) {
    if constexpr (detail::subtractable<Iterator>) {
      const std::size_t count = static_cast<std::size_t>(last - first);
      GPU_TRY(grow_to(count, where));
      construct_from(begin(), first, last);
      size_ = count;
    } else {
      const std::size_t before = size_;
      GPU_TRY(append(first, last, where));
      erase(begin(), begin() + before);
    }
    return {};
  }
  result<> assign(std::initializer_list<T> values,
                  source_location where = source_location::current()) noexcept {
    return assign(values.begin(), values.end(), where);
  }

  /// Inserts elements before `position`, and returns an iterator to the first of them.
  result<iterator> insert(const_iterator position, const T& value,
                          source_location where = source_location::current()) noexcept {
    return insert(position, 1, value, where);
  }
  result<iterator> insert(const_iterator position, std::size_t count, const T& value,
                          source_location where = source_location::current()) noexcept {
    const T copied = value;
    iterator gap = GPU_TRY(open_gap(position, count, where));
    construct(gap, count, copied);
    return gap;
  }
  /// Inserts from iterators, with the requirements of `assign`.
  template <detail::reads_as<T> Iterator>
  result<iterator> insert(
      const_iterator position, Iterator first, Iterator last,
      source_location where =
          source_location::current()) noexcept(detail::nothrow_reads_as<Iterator, T>) {
    if constexpr (detail::subtractable<Iterator>) {
      const std::size_t count = static_cast<std::size_t>(last - first);
      iterator gap = GPU_TRY(open_gap(position, count, where));
      unfilled_gap unfilled{*this, gap, count};
      construct_from(gap, first, last);
      unfilled.count = 0;
      return gap;
    } else {
      const std::ptrdiff_t offset = position - begin();
      const std::size_t before = size_;
      GPU_TRY(append(first, last, where));
      // Rotates the appended elements in front of those that were after the position.
      reverse(begin() + offset, begin() + before);
      reverse(begin() + before, end());
      reverse(begin() + offset, end());
      return begin() + offset;
    }
  }

  /// Removes elements, and returns an iterator to the next one.
  iterator erase(const_iterator position) noexcept { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) noexcept {
    T* gap = begin() + (first - begin());
    move_bytes(gap, last, end() - last);
    size_ -= static_cast<std::size_t>(last - first);
    return gap;
  }

  friend bool operator==(const pinned_vector& a, const pinned_vector& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }
  /// Compares lexicographically. Include `<compare>` if no other header does.
  friend auto operator<=>(const pinned_vector& a, const pinned_vector& b) noexcept
    requires requires(const T& element) { element <=> element; }
  {
    using order = decltype(a[0] <=> b[0]);
    for (std::size_t i = 0; i < a.size_ && i < b.size_; ++i) {
      if (const order found = a[i] <=> b[i]; found != 0) return found;
    }
    return static_cast<order>(a.size_ <=> b.size_);
  }

 private:
  using detail::pinned_elements<T>::memory_;
  using detail::pinned_elements<T>::size_;

  pinned_vector(context_ref in, pinned_flags flags) noexcept
      : detail::pinned_elements<T>{detail::pinned_memory{}, 0}, context_{in}, flags_{flags} {}

  static void construct(T* to, std::size_t count, const T& value) noexcept {
    for (std::size_t i = 0; i < count; ++i) ::new (to + i) T(value);
  }
  template <class Iterator> static void construct_from(T* to, Iterator first, Iterator last) {
    for (; first != last; ++first, ++to) ::new (to) T(static_cast<T>(*first));
  }
  /// Removes the appended elements again, unless `before` is set to the new size.
  struct unfinished_end {
    std::size_t& size;
    std::size_t before = size;
    ~unfinished_end() { size = before; }
  };
  /// Closes the gap again, unless `count` is set to 0.
  struct unfilled_gap {
    pinned_vector& of;
    iterator at;
    std::size_t count;
    ~unfilled_gap() {
      if (count != 0) of.erase(at, at + count);
    }
  };
  template <class Iterator> result<> append(Iterator first, Iterator last, source_location where) {
    unfinished_end unfinished{size_};
    for (; first != last; ++first) GPU_TRY(push_back(static_cast<T>(*first), where));
    unfinished.before = size_;
    return {};
  }
  static void reverse(T* first, T* last) noexcept {
    for (; first < last && first < --last; ++first) {
      const T kept = *first;
      move_bytes(first, last, 1);
      move_bytes(last, &kept, 1);
    }
  }
  static void move_bytes(T* to, const T* from, std::ptrdiff_t count) noexcept {
    if (count > 0) {
      std::memmove(static_cast<void*>(to), from, static_cast<std::size_t>(count) * sizeof(T));
    }
  }

  /// At least doubles the capacity, so that pushing back n elements moves each about once.
  result<> grow_to(std::size_t count, source_location where) noexcept {
    if (count <= capacity_) return {};
    return move_to(count > max_size() || capacity_ > count / 2 ? doubled(count) : count, where);
  }
  std::size_t doubled(std::size_t count) const noexcept {
    return capacity_ * 2 > count ? capacity_ * 2 : count;
  }
  result<> move_to(std::size_t capacity, source_location where) noexcept {
    GPU_TRY(detail::require(context_, "gpu::pinned_vector", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::pinned_vector", capacity, sizeof(T), bytes, where));
    detail::pinned_memory memory;
    GPU_TRY(detail::allocate_pinned(context_, bytes, flags_, memory, where));
    move_bytes(static_cast<T*>(memory.get().address), data(), static_cast<std::ptrdiff_t>(size_));
    memory_ = std::move(memory);
    capacity_ = capacity;
    return {};
  }
  result<iterator> open_gap(const_iterator position, std::size_t count,
                            source_location where) noexcept {
    const std::ptrdiff_t offset = position - begin();
    const std::size_t most = ~std::size_t{0};
    GPU_TRY(grow_to(count > most - size_ ? most : size_ + count, where));
    T* gap = begin() + offset;
    move_bytes(gap + count, gap, end() - gap);
    size_ += count;
    return gap;
  }

  context_ref context_;
  std::size_t capacity_ = 0;
  pinned_flags flags_ = pinned_flags::none;
};

template <class T> inline constexpr bool enable_pinned_range<pinned_vector<T>> = true;

}}  // namespace gpu::v1
