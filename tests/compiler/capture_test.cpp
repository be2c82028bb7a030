// Compiling, linking and tuning while a stream is being captured.

#include <gpu/compiler/autotune.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_async.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/stream_capture.hpp>

#include "compiler/link_support.hpp"

namespace compiler_capture_test { namespace {

using test::error_of;
using test::value_of;

TEST_CASE("compiling and linking leave a capture as it is", "[compiler][link][capture]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  gpu::compile_cache off({.use = gpu::cache_use::off});
  auto capture = value_of(gpu::stream_capture::begin(stream, gpu::capture_mode::global));
  const gpu::compile_options relocatable{.relocatable = true, .cache = &off};
  // The device is asked what it is, in the very thread that captures.
  const gpu::compiled_program math = value_of(gpu::compile(test::math, relocatable));
  const gpu::compiled_program kernels =
      value_of(gpu::compile_async(test::kernels, relocatable).get());
  CHECK(value_of(gpu::link({math, kernels}, {.cache = &off})).cubin().size() > 64);
  {
    const test::without_nvjitlink scope;
    CHECK(value_of(gpu::link({math.ptx(), kernels.ptx()}, {.cache = &off})).cubin().size() > 64);
  }
  CHECK(value_of(gpu::capture_status_of(stream)) == gpu::capture_status::active);
  CHECK(capture.end().has_value());
}

TEST_CASE("tuning on a stream that is captured is an error", "[compiler][autotune][capture]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  gpu::compile_cache memory({.use = gpu::cache_use::memory});
  auto capture = value_of(gpu::stream_capture::begin(stream, gpu::capture_mode::global));
  int launches = 0;
  const gpu::cuda_error error = error_of(gpu::autotune(
      stream, {.problem = "capture", .cache = &memory}, {1, 2},
      [](int variant) -> gpu::result<int> { return variant; },
      [&](int, int) -> gpu::result<> {
        ++launches;
        return {};
      }));
  CHECK(error.code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(launches == 2);  // one to warm up of each; none is timed
  CHECK_FALSE(capture.end().has_value());
}

}}  // namespace compiler_capture_test
