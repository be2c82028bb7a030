#pragma once
/// \file
/// `bad_expected_access<cuda_error>`, which `result::value()` throws: its `what()` is the error's
/// message.

#include <gpu/core/detail/expected/unexpected.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/text.hpp>

#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// An exception that holds an error of the library. A template, because its base is another class
/// where the standard library has `std::expected`, and so its name has to be another.
template <class Base> class error_exception : public Base {
 public:
  explicit error_exception(cuda_error error) noexcept
      : error_{std::move(error)}, sentence_{error_.message()} {}

  const char* what() const noexcept override { return sentence_.c_str(); }

  cuda_error& error() & noexcept { return error_; }
  const cuda_error& error() const& noexcept { return error_; }
  cuda_error&& error() && noexcept { return std::move(error_); }
  const cuda_error&& error() const&& noexcept { return static_cast<const cuda_error&&>(error_); }

 private:
  cuda_error error_;
  text sentence_;
};

}}}  // namespace gpu::v1::detail

// A program may specialize a template of the standard library for a type of its own.
#if defined(__cpp_lib_expected) && __cpp_lib_expected >= 202211L
template <>
class std::bad_expected_access<gpu::cuda_error>
#else
template <>
class gpu::fallback::bad_expected_access<gpu::cuda_error>
#endif
    : public gpu::detail::error_exception<gpu::bad_expected_access<void>> {
 public:
  using gpu::detail::error_exception<gpu::bad_expected_access<void>>::error_exception;
};
