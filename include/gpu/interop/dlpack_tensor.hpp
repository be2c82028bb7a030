#pragma once
/// \file
/// The structures of DLPack, and `dlpack_tensor`, which owns one.
///
/// They are declared here, with the layout of DLPack 0.6 (`managed_tensor`) and of 1.0
/// (`managed_tensor_versioned`). A program that has <dlpack/dlpack.h> casts the pointers.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/refusals.hpp>

#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 {

namespace dlpack {

/// DLDeviceType: the kinds of memory that this library exchanges.
enum class device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// DLDataTypeCode, without the types of 8 bits and fewer that deep learning has.
enum class type_code : std::uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  real = 2,
  opaque = 3,
  bfloat = 4,
  complex = 5,
  boolean = 6
};

struct device {
  device_type type;
  std::int32_t index;
};
struct data_type {
  type_code code;
  std::uint8_t bits;
  std::uint16_t lanes;
  friend constexpr bool operator==(data_type, data_type) noexcept = default;
};

/// DLTensor. Strides count elements; null strides are those of C order.
struct tensor {
  void* data;
  dlpack::device device;
  std::int32_t rank;
  data_type type;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// DLManagedTensor, of versions before 1.0.
struct managed_tensor {
  dlpack::tensor tensor;
  void* manager;
  void (*deleter)(managed_tensor* self);
};

/// DLManagedTensorVersioned. A major version other than 1 has another layout behind `deleter`.
struct managed_tensor_versioned {
  std::uint32_t major, minor;
  void* manager;
  void (*deleter)(managed_tensor_versioned* self);
  std::uint64_t flags;
  dlpack::tensor tensor;
};

inline constexpr std::uint64_t read_only = 1;  ///< a flag: the elements must not be written
inline constexpr std::uint64_t is_copied = 2;  ///< a flag: the producer made a copy

}  // namespace dlpack

namespace detail {

/// A tensor of DLPack in its older or its newer form.
struct dlpack_handle {
  dlpack::managed_tensor_versioned* versioned = nullptr;
  dlpack::managed_tensor* old = nullptr;
  friend bool operator==(const dlpack_handle&, const dlpack_handle&) noexcept = default;
};
struct end_dlpack {
  void operator()(const dlpack_handle& handle) const noexcept {
    if (handle.old != nullptr && handle.old->deleter != nullptr) handle.old->deleter(handle.old);
    if (handle.versioned != nullptr && handle.versioned->deleter != nullptr)
      handle.versioned->deleter(handle.versioned);
  }
};

}  // namespace detail

/// Owns a tensor of DLPack, in either form, until it is given away. Move-only; empty after a move.
/// **Ownership**: the destructor calls the deleter of whoever made the tensor.
class dlpack_tensor {
 public:
  /// Creates an empty object, to be assigned to.
  dlpack_tensor() noexcept = default;

  /// Takes over a tensor, such as that of a PyCapsule named "dltensor_versioned" or "dltensor".
  static dlpack_tensor adopt(dlpack::managed_tensor_versioned* owned) noexcept {
    return dlpack_tensor{{owned, nullptr}};
  }
  static dlpack_tensor adopt(dlpack::managed_tensor* owned) noexcept {
    return dlpack_tensor{{nullptr, owned}};
  }

  /// Gives the tensor away in the form of DLPack 1.0; who takes it calls its deleter once. This
  /// object is empty then, and unchanged after an error.
  /// **Errors**: `errc::empty_handle`; `errc::out_of_host_memory`, to convert the older form.
  result<dlpack::managed_tensor_versioned*> release(
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::dlpack_tensor::release";
    if (!handle_) return detail::fail(detail::empty_handle_error(function, "dlpack_tensor", where));
    if (handle_.get().versioned != nullptr) return handle_.release().versioned;
    auto* const made = new (std::nothrow) dlpack::managed_tensor_versioned{};
    if (made == nullptr)
      return detail::fail(detail::out_of_host_memory_error(function, sizeof *made, where));
    auto* const inner = handle_.release().old;
    *made = {1, 0, inner, nullptr, 0, inner->tensor};
    made->deleter = [](dlpack::managed_tensor_versioned* self) {
      detail::end_dlpack{}({nullptr, static_cast<dlpack::managed_tensor*>(self->manager)});
      delete self;
    };
    return made;
  }

  /// Gives the tensor away in the form of versions before 1.0, which has no flags: elements that
  /// must not be written are refused. This object is empty then, and unchanged after an error.
  /// **Errors**: `errc::empty_handle`; `errc::not_supported` for read-only elements and other major
  /// versions; `errc::out_of_host_memory`, to convert the newer form.
  result<dlpack::managed_tensor*> release_old(
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::dlpack_tensor::release_old";
    if (!handle_) return detail::fail(detail::empty_handle_error(function, "dlpack_tensor", where));
    if (handle_.get().old != nullptr) return handle_.release().old;
    GPU_TRY(require_version(function, where));
    if (is_read_only()) {
      return detail::fail(detail::refusal(
          errc::not_supported, function,
          text("the elements must not be written, which DLPack before 1.0 cannot say. Call "
               "release(), or give a view of elements that are not const."),
          where));
    }
    auto* const made = new (std::nothrow) dlpack::managed_tensor{};
    if (made == nullptr)
      return detail::fail(detail::out_of_host_memory_error(function, sizeof *made, where));
    auto* const inner = handle_.release().versioned;
    *made = {inner->tensor, inner, nullptr};
    made->deleter = [](dlpack::managed_tensor* self) {
      detail::end_dlpack{}(
          {static_cast<dlpack::managed_tensor_versioned*>(self->manager), nullptr});
      delete self;
    };
    return made;
  }

  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  /// Returns the tensor; null if this object is empty or of another major version.
  const dlpack::tensor* get() const noexcept {
    if (handle_.get().old != nullptr) return &handle_.get().old->tensor;
    const auto* versioned = handle_.get().versioned;
    return versioned != nullptr && versioned->major == 1 ? &versioned->tensor : nullptr;
  }
  /// Returns whether the elements must not be written. Before version 1.0 nobody could say so.
  bool is_read_only() const noexcept {
    const auto* versioned = handle_.get().versioned;
    return versioned != nullptr && versioned->major == 1 &&
           (versioned->flags & dlpack::read_only) != 0;
  }

  /// Fails for an empty object and for a tensor of a major version whose layout is not known.
  result<> require_version(const char* function, source_location where) const noexcept {
    if (!handle_) return detail::refuse_empty_handle(function, "dlpack_tensor", where);
    if (get() != nullptr) return {};
    detail::text_builder out;
    out << "the tensor is of DLPack " << handle_.get().versioned->major << '.'
        << handle_.get().versioned->minor
        << ", whose layout is not known. Ask its producer for version 1, such as with "
           "max_version=(1, 0).";
    return detail::fail(detail::refusal(errc::not_supported, function, out.finish(), where,
                                        handle_.get().versioned->major, 1));
  }

 private:
  explicit dlpack_tensor(detail::dlpack_handle owned) noexcept : handle_{owned} {}

  unique_handle<detail::dlpack_handle, detail::end_dlpack> handle_;
};

}}  // namespace gpu::v1
