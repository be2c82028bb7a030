#pragma once
/// \file
/// `managed_variable`: a `__managed__` variable of a module; and the look-up of all variables.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/kernel/detail/module_state.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// A `__managed__` variable of a module: `T`s that the host and all devices access at one address.
/// Copies refer to the same variable. It keeps the module's code loaded; its spans and pointers do
/// not.
template <class T> class managed_variable {
 public:
  constexpr managed_variable() noexcept = default;
  explicit managed_variable(CUdeviceptr address, std::size_t count,
                            const detail::object_owner& code = {}) noexcept
      : data_{reinterpret_cast<T*>(static_cast<std::uintptr_t>(address))},
        size_{count},
        code_{code} {}

  /// Returns the elements as a span, which a kernel takes.
  device_span<T> span() const noexcept {
    return device_span<T>::from_native(
        static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data_)), size_);
  }
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// Returns the first element, for a variable that is not an array.
  T& operator*() const noexcept { return *data_; }
  T* operator->() const noexcept { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  detail::object_owner code_;
};

namespace detail {

/// The location of a variable in device memory.
struct variable_location {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
};

/// A look-up of a variable.
struct variable_request {
  const char* function;
  const char* kinds;
  string_ref name;
  std::size_t element;  ///< the size of which the variable's is a multiple
  source_location where;
};

/// Checks the driver's answer about a variable.
inline result<> check_variable(const result<>& found, const variable_request& request,
                               const variable_location& at) noexcept {
  text_builder out;
  if (!found.has_value()) {
    if (!is_unknown_name(found)) return found;
    out << "the module has no " << request.kinds << " variable \"" << escaped{request.name}
        << "\". Write its namespaces, and use it in a kernel, or the compiler removes it. One that "
           "is a template, or static in a namespace, or in an unnamed namespace, is found if "
           ".instance(\"&"
        << escaped{request.name} << "\") is added to the program.";
    return fail(refusal(errc::unknown_name, request.function, out.finish(), request.where));
  }
  if (at.bytes % request.element == 0 && at.bytes != 0) return {};
  out << "variable \"" << escaped{request.name} << "\" has " << at.bytes
      << " bytes, which is not a multiple of the element size of " << request.element
      << " bytes. Request the type that the variable has in the source.";
  return fail(refusal(errc::size_mismatch, request.function, out.finish(), request.where,
                      request.element, at.bytes));
}

/// Finds a variable by its name in the source, with `get(symbol)`, which asks the driver.
template <class Get>
result<> find_variable(const module_state& state, const variable_request& request,
                       const variable_location& at, Get get) noexcept {
  const last_error_mark before;
  text symbol = state.lowered(request.name);
  result<> found = symbol.lost() ? result<>() : get(symbol.c_str());
  if (is_unknown_name(found)) {
    symbol = nested_symbol(request.name);
    if (!symbol.empty() && !symbol.lost()) {
      before.restore();
      get(symbol.c_str()).swap(found);  // nvcc warns of an assignment
    }
  }
  if (symbol.lost()) {
    return fail(out_of_host_memory_error(request.function, request.name.size(), request.where));
  }
  return check_variable(found, request, at);
}

/// Finds a `__device__` or `__constant__` variable of the module in a context.
inline result<> find_global(module_state* state, string_ref name, context_or_device on,
                            std::size_t element, variable_location& at,
                            source_location where) noexcept {
  constexpr const char* function = "gpu::module::global";
  if (state == nullptr) return fail(empty_handle_error(function, "module", where));
  GPU_TRY(require_whole_name(function, name, where));
  const context_ref context = GPU_TRY(on.resolve(function, where));
  const variable_request request{function, "__device__ or __constant__", name, element, where};
  return find_variable(*state, request, at, [&](const char* symbol) {
    return driver::call_in<&driver::entry_points::library_get_global>(
        context.native(), where, &at.address, &at.bytes, state->library, symbol);
  });
}

/// Finds a `__managed__` variable of the module.
inline result<> find_managed(module_state* state, string_ref name, std::size_t element,
                             variable_location& at, source_location where) noexcept {
  constexpr const char* function = "gpu::module::managed";
  if (state == nullptr) return fail(empty_handle_error(function, "module", where));
  GPU_TRY(require_whole_name(function, name, where));
  const variable_request request{function, "__managed__", name, element, where};
  return find_variable(*state, request, at, [&](const char* symbol) {
    return driver::call_in_any<&driver::entry_points::library_get_managed>(
        where, &at.address, &at.bytes, state->library, symbol);
  });
}

}  // namespace detail
}}  // namespace gpu::v1
