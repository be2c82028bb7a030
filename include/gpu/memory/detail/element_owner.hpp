#pragma once
/// \file
/// The parts that all owners of elements share: the memory and the count that move together, the
/// range for the host, and the way to pass them to kernels.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The alignment of memory from the driver, on a device and on the host.
inline constexpr std::size_t memory_alignment = 256;

/// Sets `bytes` to `count * size`. Fails with `errc::size_overflow` if that and `spare` bytes
/// together are more than memory can have.
inline result<> get_bytes(const char* function, std::size_t count, std::size_t size,
                          std::size_t& bytes, source_location where,
                          std::size_t spare = 0) noexcept {
  bytes = saturated_product(count, size);
  if (bytes <= most_memory_bytes - spare) return {};
  const std::size_t most = (most_memory_bytes - spare) / size;
  text_builder out;
  out << count << " elements of " << size << " bytes";
  if (const auto number = static_cast<std::ptrdiff_t>(count); number < 0)
    out << " (" << number << ", if the number was negative)";
  out << " are more bytes than memory can have. Request at most " << most << " elements.";
  return fail(refusal(errc::size_overflow, function, out.finish(), where, count, most));
}

/// Fails with `errc::size_mismatch` unless `bytes`, from another process, are one or more elements
/// of `size` bytes.
inline result<> check_whole_elements(std::uint64_t bytes, std::size_t size, const char* function,
                                     source_location where) noexcept {
  const bool whole = bytes != 0 && bytes % size == 0;
  if (whole) return {};
  text_builder out;
  out << "the handle refers to " << bytes << " bytes, which is not a whole number of elements of "
      << size
      << " bytes. Import it with the element type of the export, and send all bytes of the handle.";
  return fail(refusal(errc::size_mismatch, function, out.finish(), where, bytes, size));
}

inline void* as_pointer(void* address) noexcept { return address; }
inline void* as_pointer(CUdeviceptr address) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

/// Lets allocators make a buffer from memory, and take the memory out of it again.
struct buffer_maker {
  template <class Buffer, class Memory>
  static Buffer make(Memory memory, std::size_t size) noexcept {
    return Buffer{std::move(memory), size};
  }
  template <class Buffer> static auto take(Buffer& buffer) noexcept {
    buffer.size_ = 0;
    return std::move(buffer.memory_);
  }
};

/// `Memory` is a `unique_handle` whose handle has an `address`.
template <class T, class Memory> class element_owner {
 public:
  using value_type = T;

  element_owner() noexcept = default;
  element_owner(element_owner&& other) noexcept
      : memory_{std::move(other.memory_)}, size_{std::exchange(other.size_, 0u)} {}
  element_owner& operator=(element_owner&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0u);
    return *this;
  }

  /// Returns a pointer to the first element. The host may pass on a pointer to device memory, but
  /// not dereference it.
  T* data() noexcept { return static_cast<T*>(as_pointer(memory_.get().address)); }
  const T* data() const noexcept { return static_cast<T*>(as_pointer(memory_.get().address)); }
  std::size_t size() const noexcept { return size_; }
  std::size_t size_bytes() const noexcept { return saturated_product(size_, sizeof(T)); }
  bool empty() const noexcept { return size_ == 0; }

 protected:
  friend struct buffer_maker;

  element_owner(Memory&& memory, std::size_t size) noexcept
      : memory_{std::move(memory)}, size_{size} {}
  ~element_owner() = default;

  Memory memory_;
  std::size_t size_ = 0;
};

/// Makes an owner of memory that the host can access a contiguous range.
template <class Owner> class host_elements : public Owner {
 public:
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using typename Owner::value_type;
  using reference = value_type&;
  using const_reference = const value_type&;
  using pointer = value_type*;
  using const_pointer = const value_type*;
  using iterator = value_type*;
  using const_iterator = const value_type*;

  iterator begin() noexcept { return this->data(); }
  const_iterator begin() const noexcept { return this->data(); }
  const_iterator cbegin() const noexcept { return this->data(); }
  iterator end() noexcept { return this->data() + this->size_; }
  const_iterator end() const noexcept { return this->data() + this->size_; }
  const_iterator cend() const noexcept { return this->data() + this->size_; }
  reference operator[](std::size_t index) noexcept { return this->data()[index]; }
  const_reference operator[](std::size_t index) const noexcept { return this->data()[index]; }

 protected:
  using Owner::Owner;
};

/// The `kernel_argument` of an owner: a pointer to its elements, or its span. A temporary is
/// rejected, because its memory would be gone before the kernel runs.
template <class Buffer> struct buffer_argument {
  static auto pointer(Buffer& buffer) noexcept { return buffer.data(); }
  static auto pointer(const Buffer& buffer) noexcept { return buffer.data(); }
  static void pointer(const Buffer&&) = delete;
  static auto value(Buffer& buffer) noexcept { return buffer.span(); }
  static auto value(const Buffer& buffer) noexcept { return buffer.span(); }
  static void value(const Buffer&&) = delete;
  static auto context(const Buffer& buffer) noexcept { return buffer.context(); }
};

}}}  // namespace gpu::v1::detail
