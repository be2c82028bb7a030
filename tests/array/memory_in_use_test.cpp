// What the CPU driver finds in the memory that expressions use: indices that lead out of it, and
// operands that are gone.

#include "array/array_fixture.hpp"
#include "support/cpu_driver.hpp"

#include <gpu/array.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/testing/cpu_driver_options.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace memory_in_use_test { namespace {

/// A CPU driver of its own, which the test may bring to a fault.
struct faulty_driver {
  std::string reports;
  test::cpu_driver driver{{.mode = gpu::testing::execution::deferred,
                           .fail_at_exit = false,
                           .report = [this](std::string_view text) { reports += text; }}};
  gpu::driver::scoped_entry_points in_force{driver.entry_points()};
  gpu::stream stream = test::value_of(gpu::stream::create(test::value_of(gpu::device::get(0))));

  ~faulty_driver() { static_cast<void>(driver.take_findings()); }
};

TEST_CASE("an index of take that leads out of the memory is a fault within an expression, too",
          "[array][take][expression][cpu]") {
  faulty_driver f;
  const auto x = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  const auto order = test::value_of(gpu::array<int>::from(f.stream, {0, 1 << 24}));
  const auto taken = gpu::evaluate(f.stream, 2 * gpu::take(x, order, 0) + 1);
  const auto end = f.stream.synchronize();
  CHECK((!taken.has_value() || !end.has_value()));
  CAPTURE(f.reports);
  CHECK(f.reports.find("access out of bounds in kernel take_multiply_add_") != std::string::npos);
  CHECK(f.reports.find("past the end of the device allocation of ") != std::string::npos);
}

TEST_CASE("an operand that is gone when the expression is evaluated is found",
          "[array][expression][cpu]") {
  faulty_driver f;
  auto out = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{3}));
  std::optional<gpu::array<int>> x = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  const auto e = *x + 1;
  test::value_of(gpu::assign(f.stream, out, e));
  test::value_of(f.stream.synchronize());
  x.reset();
  test::value_of(f.stream.synchronize());
  const auto assigned = gpu::assign(f.stream, out, e);
  const auto end = f.stream.synchronize();
  CHECK((!assigned.has_value() || !end.has_value()));
  CAPTURE(f.reports);
  CHECK(f.reports.find("access to freed memory in kernel add_") != std::string::npos);
}

}}  // namespace memory_in_use_test
