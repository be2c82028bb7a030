// The floating-point environment in which PTX is computed.
#pragma once

#include <cfenv>

namespace nogpu { inline namespace v1 { namespace ptx {

/// Gives the calling thread the default environment as long as this lives. In a program that is
/// linked with -ffast-math, threads take subnormal numbers for 0; others may have set another
/// rounding mode.
class default_environment {
 public:
  default_environment() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_environment() { std::fesetenv(&before_); }
  default_environment(const default_environment&) = delete;
  default_environment& operator=(const default_environment&) = delete;

 private:
  std::fenv_t before_;
};

}}}  // namespace nogpu::v1::ptx
