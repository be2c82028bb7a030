#include "support/catch.hpp"

#include <gpu/driver/elapsed_time.hpp>
#include <gpu/interop/chrono.hpp>

#include <chrono>

namespace chrono_test {

TEST_CASE("chrono: an elapsed time becomes a duration", "[interop][chrono]") {
  using namespace std::chrono;
  const auto time = gpu::to_duration(gpu::elapsed_time::from_milliseconds(1.5f));
  CHECK(time.count() == 1.5f);
  CHECK(duration<double>(time).count() == Approx(0.0015));
  CHECK(duration_cast<microseconds>(time) == microseconds(1500));
}

}  // namespace chrono_test
