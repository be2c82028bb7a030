// What driver/ has of captures; the captures themselves are in tests/graph/.

#include <gpu/driver/stream_capture.hpp>

#include "support/results.hpp"

#include <gpu/driver.hpp>

using test::error_of;
using test::says;
using test::value_of;

TEST_CASE("stream_capture: an external event belongs to the stream's context, to be recorded",
          "[driver][capture]") {
  const gpu::device device = test::first_device();
  const gpu::context own = value_of(gpu::context::create(device));
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::event event = value_of(gpu::event::create(own));
  const gpu::cuda_error error = error_of(gpu::record_external(stream, event));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "gpu::record_external", "the event to another context of device 0"));
}

TEST_CASE("stream_capture: a mode that is none is refused", "[driver][capture]") {
  const gpu::cuda_error error =
      error_of(gpu::capture_mode_scope::enter(static_cast<gpu::capture_mode>(5)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::capture_mode_scope::enter", "5 is no gpu::capture_mode"));
}
