#pragma once
/// \file
/// Finds out through the raw driver what calls do while a stream is captured.

#include "support/catch.hpp"
#include "support/drivers.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>

namespace test {

/// The state of a capture.
struct captured {
  CUresult code = CUDA_SUCCESS;  ///< of its end
  std::size_t nodes = 0;         ///< of the graph, where there is one

  bool unharmed() const { return code == CUDA_SUCCESS; }
};

/// Does `work()` while `stream` is captured, in the mode that forbids most if none is given.
template <class Work>
captured capture(const gpu::stream& stream, Work work,
                 CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
  REQUIRE(driver().stream_begin_capture(stream.native(), mode) == CUDA_SUCCESS);
  work();
  captured made;
  CUgraph graph = nullptr;
  made.code = driver().stream_end_capture(stream.native(), &graph);
  if (graph != nullptr) {
    CHECK(driver().graph_get_nodes(graph, nullptr, &made.nodes) == CUDA_SUCCESS);
    CHECK(driver().graph_destroy(graph) == CUDA_SUCCESS);
  }
  return made;
}

/// Checks that the driver refuses `work()`, which returns a result, during a capture.
template <class Work>
void check_refused_in_capture(const gpu::stream& stream, const char* name, Work work) {
  INFO(name);
  capture(stream, [&] {
    const auto outcome = work();
    CHECK_FALSE(outcome.has_value());
    if (outcome.has_value()) return;
    CHECK(outcome.error().domain() == gpu::error_domain::driver);
    CHECK(outcome.error().code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  });
}

}  // namespace test
