#pragma once
/// \file
/// Tests of one's own that need a device: `test_context` is the fixture, `why_no_gpu` the reason to
/// skip those that need a GPU.

#include <gpu/core/source_location.hpp>
#include <gpu/driver/choose_device.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/default_context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <nogpu/driver/device_attributes.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace gpu { inline namespace v1 { namespace testing {

/// Returns why a test that needs a GPU cannot run here: there is no driver or no device, or the
/// device is the CPU driver's. Empty if it can. With Catch2 3 and with GoogleTest:
///
///     if (const std::string why = gpu::testing::why_no_gpu(); !why.empty()) SKIP(why);
///     if (const std::string why = gpu::testing::why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
///
/// **Threads**: any. (cuDeviceGetName)
inline std::string why_no_gpu() {
  const auto found = default_device({});
  if (!found.has_value()) return found.error().message().c_str();
  const auto name = found->name({});
  if (!name.has_value()) return name.error().message().c_str();
  if (std::string_view(name->c_str()) != nogpu::driver::device_name) return {};
  return "the test needs a GPU, and runs on the CPU driver of gpu/testing";
}

/// A context for one test: made on the default device (see `default_context`), current in this
/// thread, and destroyed with all that is left in it at the end of the test. Nothing of an earlier
/// test is in it, nor a sticky error. A fixture for Catch2 and, as a second base, for GoogleTest:
///
///     TEST_CASE_METHOD(gpu::testing::test_context, "a sum is right") { ... }
///
///     class sums : public ::testing::Test, public gpu::testing::test_context {};
///     TEST_F(sums, are_right) { ... }
///
/// Without a device the object is there without a context: `missing` says why, to skip the test or
/// to fail it, as the project wants.
/// **Threads**: the test ends in the thread in which it began. **Errors**: of the end, to the error
/// reporter. (cuCtxCreate, cuCtxPopCurrent, cuCtxDestroy)
class test_context {
 public:
  test_context() {
    auto made = default_context(source_location{});
    if (!made.has_value()) {
      missing_ = made.error().message().c_str();
      return;
    }
    context_ = *std::move(made);
    const auto pushed = context_.push({});
    is_current_ = pushed.has_value();
    if (!pushed.has_value()) missing_ = pushed.error().message().c_str();
  }
  test_context(const test_context&) = delete;
  test_context& operator=(const test_context&) = delete;
  ~test_context() {
    if (!is_current_) return;
    const auto popped = gpu::context::pop({});
    if (!popped.has_value()) gpu::detail::report(popped.error());
  }

  /// Returns why there is no context; empty if there is one.
  const std::string& missing() const noexcept { return missing_; }

  /// Return the context and its device; empty and device 0 if one is missing.
  context_ref context() const noexcept { return context_; }
  gpu::device device() const noexcept { return context_.device(); }

 private:
  gpu::context context_;
  std::string missing_;
  bool is_current_ = false;
};

}}}  // namespace gpu::v1::testing
