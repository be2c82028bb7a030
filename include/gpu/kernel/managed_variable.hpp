#pragma once
/// \file
/// The variables of a module: where they are, and `managed_variable`, which the host reaches too.

#include <gpu/driver/context.hpp>
#include <gpu/kernel/detail/module_state.hpp>
#include <gpu/memory/device_span.hpp>

namespace gpu::inline v0 {

/// A `__managed__` variable of a module: `T`s that the host and all devices have at one address.
/// Copies are the same variable. It keeps the module's code loaded; its spans and pointers do not.
template <class T> class managed_variable {
 public:
  constexpr managed_variable() noexcept = default;
  explicit managed_variable(CUdeviceptr address, std::size_t count,
                            const detail::object_owner<>& code = {}) noexcept
      : data_{reinterpret_cast<T*>(static_cast<std::uintptr_t>(address))},
        size_{count},
        code_{code} {}

  /// The same elements as a kernel takes them.
  device_span<T> span() const noexcept {
    return device_span<T>::from_native(
        static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data_)), size_);
  }
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// The first element, for a variable that is no array.
  T& operator*() const noexcept { return *data_; }
  T* operator->() const noexcept { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  detail::object_owner<> code_;
};

namespace detail {

struct global_place {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
};

/// Checks what the driver answered about a variable, whose size has to be a multiple of `element`.
inline result<> check_variable(const result<>& found, const char* function, const char* kinds,
                               string_ref name, std::size_t element, const global_place& place,
                               source_location where) noexcept {
  text_builder out;
  if (!found.has_value()) {
    const cuda_error& error = found.error();
    if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_NOT_FOUND) {
      return found;
    }
    out << "the module has no " << kinds << " variable \"" << name
        << "\". Declare it extern \"C\" to give it the name it has in the source, and use it in a "
           "kernel, or the compiler drops it.";
    return fail(refusal(errc::unknown_name, function, out.finish(), where));
  }
  if (place.bytes % element == 0 && place.bytes != 0) return {};
  out << "variable \"" << name << "\" has " << place.bytes
      << " bytes, which is no whole number of elements of " << element
      << " bytes. State the type that it has in the source.";
  return fail(refusal(errc::size_mismatch, function, out.finish(), where, element, place.bytes));
}

/// Finds a variable of the module in a context.
inline result<> find_global(module_state* state, string_ref name, context_ref context,
                            std::size_t element, global_place& place,
                            source_location where) noexcept {
  constexpr const char* function = "gpu::module::global";
  if (state == nullptr) return fail(empty_handle_error(function, "module", where));
  GPU_TRY(require_whole_name(function, name, where));
  GPU_TRY(require(context, function, where));
  const text lowered = state->lowered(name);
  if (lowered.lost()) return fail(out_of_host_memory_error(function, name.size(), where));
  const result<> found = driver::call_in<&driver::entry_points::library_get_global>(
      context.native(), where, &place.address, &place.bytes, state->library, lowered.c_str());
  return check_variable(found, function, "__device__ or __constant__", name, element, place, where);
}

/// Finds a managed variable of the module.
inline result<> find_managed(module_state* state, string_ref name, std::size_t element,
                             global_place& place, source_location where) noexcept {
  constexpr const char* function = "gpu::module::managed";
  if (state == nullptr) return fail(empty_handle_error(function, "module", where));
  GPU_TRY(require_whole_name(function, name, where));
  const text lowered = state->lowered(name);
  if (lowered.lost()) return fail(out_of_host_memory_error(function, name.size(), where));
  const result<> found = driver::call_in_any<&driver::entry_points::library_get_managed>(
      where, &place.address, &place.bytes, state->library, lowered.c_str());
  return check_variable(found, function, "__managed__", name, element, place, where);
}

}  // namespace detail
}  // namespace gpu::inline v0
