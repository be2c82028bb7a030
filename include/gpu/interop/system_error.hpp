#pragma once
/// \file
/// `cuda_error` as a `std::error_code`.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/detail/driver_errors.hpp>  // IWYU pragma: keep
#include <gpu/libraries/library_errors.hpp>     // IWYU pragma: keep

#include <string>
#include <system_error>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

class error_category : public std::error_category {
 public:
  explicit constexpr error_category(error_domain domain) noexcept : domain_{domain} {}

  const char* name() const noexcept override { return domain_.name(); }

  std::string message(int code) const override {
    const char* known = domain_.name_of(code);
    std::string text = known != nullptr ? known : "unknown error " + std::to_string(code);
    if (const char* advice = domain_.advice_for(code)) (text += ": ") += advice;
    return text;
  }

  /// Maps the codes that have a counterpart in POSIX to it, so that they compare equal.
  std::error_condition default_error_condition(int code) const noexcept override {
    if (domain_ == error_domain::driver) {
      switch (code) {
        case 1: return std::errc::invalid_argument;
        case 2: return std::errc::not_enough_memory;
        case 100:
        case 101: return std::errc::no_such_device;
        case 301: return std::errc::no_such_file_or_directory;
        case 600: return std::errc::resource_unavailable_try_again;
        case 800: return std::errc::operation_not_permitted;
        case 801: return std::errc::not_supported;
        default: break;
      }
    }
    if (domain_ == error_domain::nvrtc && code == 1) return std::errc::not_enough_memory;
    if (domain_ == error_domain::gpu) {
      switch (static_cast<errc>(code)) {
        case errc::invalid_argument:
        case errc::size_mismatch: return std::errc::invalid_argument;
        case errc::index_out_of_range: return std::errc::result_out_of_range;
        case errc::size_overflow: return std::errc::value_too_large;
        case errc::out_of_host_memory: return std::errc::not_enough_memory;
        case errc::not_supported: return std::errc::not_supported;
        default: break;
      }
    }
    return std::error_condition(code, *this);
  }

 private:
  error_domain domain_;
};

}  // namespace detail

/// Returns the category for the codes of one domain: `gpu`, `cuda`, `nvrtc`, `curand`,
/// `nvjitlink`, `cublas`, `nccl`, `cufft`, `cusolver` or `cusparse`. Shared libraries may each have
/// their own object, so compare their codes by the category's name.
inline const std::error_category& error_category(error_domain domain) noexcept {
  static const detail::error_category categories[] = {
      detail::error_category(error_domain::gpu),
      detail::error_category(error_domain::driver),
      detail::error_category(error_domain::nvrtc),
      detail::error_category(error_domain::curand),
      detail::error_category(error_domain::nvjitlink),
      detail::error_category(error_domain::cublas),
      detail::error_category(error_domain::nccl),
      detail::error_category(error_domain::cufft),
      detail::error_category(error_domain::cusolver),
      detail::error_category(error_domain::cusparse)};
  return categories[int{domain}];
}

/// Returns the code of an error, without its call, source location and values.
inline std::error_code make_error_code(const cuda_error& error) noexcept {
  return std::error_code(error.code(), error_category(error.domain()));
}
inline std::error_code make_error_code(errc code) noexcept {
  return std::error_code(static_cast<int>(code), error_category(error_domain::gpu));
}

}}  // namespace gpu::v1

template <> struct std::is_error_code_enum<gpu::errc> : std::true_type {};
