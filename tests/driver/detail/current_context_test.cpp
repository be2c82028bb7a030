// The context that is used where any will do; the thread is left as it was.

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/primary_context.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <vector>

namespace current_context_test { namespace {

// A driver of two devices whose primary contexts are the numbers 0x100 and 0x101, and which keeps a
// stack of contexts for one thread.
std::vector<CUcontext> stack;
int pushes = 0;
std::vector<CUdevice> retained;

CUcontext primary_of(CUdevice device) {
  return reinterpret_cast<CUcontext>(std::uintptr_t{0x100} + static_cast<std::uintptr_t>(device));
}

gpu::driver::entry_points stack_driver() {
  gpu::driver::entry_points table{};
  table.ctx_get_current = [](CUcontext* context) {
    *context = stack.empty() ? nullptr : stack.back();
    return CUDA_SUCCESS;
  };
  table.ctx_push_current = [](CUcontext context) {
    ++pushes;
    stack.push_back(context);
    return CUDA_SUCCESS;
  };
  table.ctx_pop_current = [](CUcontext* context) {
    *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
  };
  table.device_primary_ctx_retain = [](CUcontext* context, CUdevice device) {
    retained.push_back(device);
    *context = primary_of(device);
    return CUDA_SUCCESS;
  };
  stack.clear();
  pushes = 0;
  retained.clear();
  return table;
}

gpu::result<CUcontext> context_of_work() {
  return gpu::driver::in_any_context(gpu::source_location::current(),
                                     []() -> gpu::result<CUcontext> { return stack.back(); });
}

TEST_CASE("the context that is current does, without a push", "[driver][any_context]") {
  const gpu::driver::entry_points table = stack_driver();
  const gpu::driver::scoped_entry_points in_force(table);
  const auto mine = reinterpret_cast<CUcontext>(std::uintptr_t{0x500});
  stack.push_back(mine);
  const auto used = context_of_work();
  REQUIRE(used.has_value());
  CHECK(*used == mine);
  CHECK(pushes == 0);
  CHECK(retained.empty());
  CHECK(stack == std::vector<CUcontext>{mine});
}

TEST_CASE("without one, device 0's primary context is borrowed, or one that is held already",
          "[driver][any_context]") {
  const gpu::driver::entry_points table = stack_driver();
  {
    const gpu::driver::scoped_entry_points in_force(table);
    for (int i = 0; i < 2; ++i) {
      const auto used = context_of_work();
      REQUIRE(used.has_value());
      CHECK(*used == primary_of(0));
      CHECK(stack.empty());
    }
    CHECK(retained == std::vector<CUdevice>{0});
  }
  // Another table: what was held of the one before is no more.
  const gpu::driver::scoped_entry_points in_force(table);
  CUcontext second = nullptr;
  REQUIRE(gpu::detail::find_primary_context(1, second, gpu::source_location::current()));
  const auto used = context_of_work();
  REQUIRE(used.has_value());
  CHECK(*used == primary_of(1));
  CHECK(retained == std::vector<CUdevice>{0, 1});
}

TEST_CASE("each call that borrows a context may fail", "[driver][any_context]") {
  const gpu::driver::entry_points good = stack_driver();
  const auto error_under = [](const gpu::driver::entry_points& table) {
    const gpu::driver::scoped_entry_points in_force(table);
    const auto used = context_of_work();
    REQUIRE_FALSE(used.has_value());
    return used.error();
  };
  auto table = good;
  table.ctx_get_current = [](CUcontext*) { return CUDA_ERROR_NOT_INITIALIZED; };
  CHECK(error_under(table).code() == CUDA_ERROR_NOT_INITIALIZED);
  table = good;
  table.device_primary_ctx_retain = [](CUcontext*, CUdevice) { return CUDA_ERROR_OUT_OF_MEMORY; };
  CHECK(error_under(table).code() == CUDA_ERROR_OUT_OF_MEMORY);
  table = good;
  table.ctx_push_current = [](CUcontext) { return CUDA_ERROR_INVALID_CONTEXT; };
  CHECK(error_under(table).code() == CUDA_ERROR_INVALID_CONTEXT);
  table = good;
  table.ctx_pop_current = [](CUcontext*) { return CUDA_ERROR_UNKNOWN; };
  CHECK(error_under(table).code() == CUDA_ERROR_UNKNOWN);
  CHECK(error_under({}) == gpu::errc::not_supported);
}

}}  // namespace current_context_test
