#pragma once
/// \file
/// `registered_memory<T>`: page-locks existing host memory.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/device_refusals.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// Properties of registered memory; combine them with `|`.
enum class registration_flags : unsigned {
  none = 0,
  portable = CU_MEMHOSTREGISTER_PORTABLE,  ///< page-locked for all contexts, not only its own
  mapped = CU_MEMHOSTREGISTER_DEVICEMAP,   ///< kernels can access it in host memory: `mapped_span`
  io_memory =
      CU_MEMHOSTREGISTER_IOMEMORY,  ///< memory of another PCI device, mapped into the process
  read_only =
      CU_MEMHOSTREGISTER_READ_ONLY,  ///< devices only read it; required if the host may not write
};
template <> inline constexpr bool is_flag_set<registration_flags> = true;

/// Returns the enumerator's name, such as "read_only"; null for several flags, or an unknown one.
constexpr const char* name_of(registration_flags flag) noexcept {
  using enum registration_flags;
  return detail::find_name(flag, {{none, "none"},
                                  {portable, "portable"},
                                  {mapped, "mapped"},
                                  {io_memory, "io_memory"},
                                  {read_only, "read_only"}});
}

namespace detail {

struct unregister_memory {
  void operator()(const pinned_allocation& a) const noexcept {
    driver::destroy_in<&driver::entry_points::mem_host_unregister>(a.context.native(), a.address);
  }
};

/// Checks what the driver would reject without an explanation.
inline result<> check_registration(context_ref context, registration_flags flags, bool writes,
                                   source_location where) noexcept {
  constexpr const char* function = "gpu::registered_memory::create";
  constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                             CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
  GPU_TRY(require_flags(flags, known, "registration_flags", function, where));
  if (has(flags, registration_flags::read_only) && writes) {
    return fail(
        refusal(errc::invalid_argument, function,
                text("with gpu::registration_flags::read_only, the elements must be const. Pass "
                     "the range with std::as_const, or leave out read_only."),
                where, static_cast<unsigned>(flags)));
  }
  GPU_TRY(require_ability(function, context.device(), CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
                          "use registered host memory. Copy into a gpu::pinned_vector instead.",
                          where));
  if (!has(flags, registration_flags::read_only)) return {};
  return require_ability(function, context.device(),
                         CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
                         "use host memory that it may only read. Leave out read_only.", where);
}

}  // namespace detail

/// Keeps memory of another owner page-locked, so that asynchronous copies and devices can use it.
/// Whole pages are locked; the memory may start and end anywhere in them. Locking is slow, so keep
/// the object. `T` is const if the elements of the range are. Move-only; empty after a move.
/// **Ordering**: the destructor waits for work that uses the memory. The memory must stay alive, at
/// the same address, until then.
template <class T> class registered_memory {
 public:
  /// Creates an empty object, to be assigned to.
  registered_memory() noexcept = default;

  using element_type = T;

  static_assert(std::is_trivially_copyable_v<T>,
                "a copy moves bytes, which only trivially copyable elements allow");

  /// Registers a contiguous range in pageable memory, which may be empty.
  /// **Capture**: not allowed. (cuDeviceGetAttribute, cuMemHostRegister, cuMemHostUnregister)
  /// **Errors**: `errc::invalid_argument` for `read_only` with elements that are not const;
  /// `errc::not_supported`; the driver's CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED if any of it is
  /// registered, and CUDA_ERROR_INVALID_VALUE if the driver allocated it.
  template <host_range Range>
    requires(std::is_lvalue_reference_v<Range &&> &&
             std::is_convertible_v<detail::host_element_t<Range> (*)[], T (*)[]>)
  static result<registered_memory> create(
      context_or_device on, Range&& range, registration_flags flags = registration_flags::none,
      source_location where = source_location::current()) noexcept {
    const context_ref in = GPU_TRY(on.resolve("gpu::registered_memory::create", where));
    GPU_TRY(detail::check_registration(in, flags, !std::is_const_v<T>, where));
    T* const data = detail::data_of(range);
    const std::size_t count = detail::size_of(range);
    registered_memory made{pinned_span<T>::from_native(data, count), in, flags};
    if (count == 0) return made;
    void* const address = const_cast<void*>(static_cast<const void*>(data));
    // If only restoring the previous context fails, the memory is registered nevertheless.
    bool registered = false;
    result<> done = driver::in_context(in.native(), where, [&] {
      result<> tried = driver::call<&driver::entry_points::mem_host_register>(
          where, address, count * sizeof(T), static_cast<unsigned>(flags));
      registered = tried.has_value();
      return tried;
    });
    if (registered) {
      detail::pinned_allocation owned;
      owned.address = address;
      owned.context = in;
      made.memory_.reset(owned);
    }
    GPU_TRY(std::move(done));
    return made;
  }

  registered_memory(registered_memory&& other) noexcept
      : memory_{std::move(other.memory_)},
        elements_{std::exchange(other.elements_, pinned_span<T>{})},
        context_{std::exchange(other.context_, context_ref{})},
        flags_{other.flags_} {}
  registered_memory& operator=(registered_memory&& other) noexcept {
    memory_ = std::move(other.memory_);
    elements_ = std::exchange(other.elements_, pinned_span<T>{});
    context_ = std::exchange(other.context_, context_ref{});
    flags_ = other.flags_;
    return *this;
  }

  /// Unregisters the memory now, and returns the error that the destructor could only report. The
  /// object is empty afterwards. If a capture forbids it, or the context cannot be made current,
  /// nothing changes, so that the caller can try again. (cuMemHostUnregister)
  result<> unregister(source_location where = source_location::current()) noexcept {
    if (!memory_) return {};
    const detail::pinned_allocation owned = memory_.get();
    return driver::in_context(owned.context.native(), where, [&] {
      result<> done =
          driver::call<&driver::entry_points::mem_host_unregister>(where, owned.address);
      if (done.has_value() || done.error().code() != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) {
        elements_ = {};
        static_cast<void>(memory_.release());
      }
      return done;
    });
  }

  /// Returns a span of the elements, for asynchronous copies.
  pinned_span<T> span() const& noexcept { return elements_; }
  void span() const&& = delete;  // a span must not outlive the owner
  operator pinned_span<T>() const& noexcept { return elements_; }
  operator pinned_span<T>() const&& = delete;

  T* data() const noexcept { return elements_.data(); }
  std::size_t size() const noexcept { return elements_.size(); }
  bool empty() const noexcept { return elements_.empty(); }
  T* begin() const noexcept { return elements_.begin(); }
  T* end() const noexcept { return elements_.end(); }
  T& operator[](std::size_t index) const noexcept { return elements_[index]; }

  /// Returns a span with which kernels access the elements in host memory, without a copy.
  /// (cuMemHostGetDevicePointer)
  /// **Errors**: `errc::invalid_argument` if it was registered without
  /// `registration_flags::mapped`.
  /// **Capture**: not affected.
  result<device_span<T>> mapped_span(
      source_location where = source_location::current()) const& noexcept {
    if (!has(flags_, registration_flags::mapped)) {
      return detail::fail(detail::refusal(errc::invalid_argument,
                                          "gpu::registered_memory::mapped_span",
                                          text("the memory is not mapped. Register it with "
                                               "gpu::registration_flags::mapped."),
                                          where));
    }
    CUdeviceptr mapped = 0;
    if (empty()) return device_span<T>::from_native(mapped, 0);
    GPU_TRY(driver::call_in<&driver::entry_points::mem_host_get_device_pointer>(
        context_.native(), where, &mapped, memory_.get().address, 0));
    return device_span<T>::from_native(mapped, size());
  }

  context_ref context() const noexcept { return context_; }
  registration_flags flags() const noexcept { return flags_; }

 private:
  registered_memory(pinned_span<T> elements, context_ref in, registration_flags flags) noexcept
      : elements_{elements}, context_{in}, flags_{flags} {}

  unique_handle<detail::pinned_allocation, detail::unregister_memory> memory_;
  pinned_span<T> elements_;
  context_ref context_;
  registration_flags flags_{};
};

template <class T> inline constexpr bool enable_pinned_range<registered_memory<T>> = true;

}}  // namespace gpu::v1
