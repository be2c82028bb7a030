// Semaphores of another interface, which words in files stand for here. vulkan_test.cpp has the
// real thing.

#include <gpu/interop/external_semaphore.hpp>

#include "support/drivers.hpp"
#include "support/foreign_file.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/interop/external_semaphore_node.hpp>
#include <gpu/interop/foreign_handle.hpp>
#include <gpu/memory/file_descriptor.hpp>

#include <fcntl.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace external_semaphore_test {

using gpu::external_semaphore;
using gpu::external_semaphore_handle_type;
using gpu::file_descriptor;
using test::error_of;
using test::foreign_file;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<external_semaphore>);
static_assert(std::is_convertible_v<external_semaphore&, gpu::external_semaphore_ref>);
static_assert(!std::is_convertible_v<external_semaphore, gpu::external_semaphore_ref>);

namespace {

external_semaphore import(gpu::context_or_device on, const foreign_file& theirs,
                          external_semaphore_handle_type type) {
  file_descriptor file = theirs.descriptor();
  auto made = value_of(external_semaphore::open(on, std::move(file), type));
  CHECK_FALSE(file);
  return made;
}

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  foreign_file their_timeline, their_binary;
  external_semaphore timeline =
      import(device, their_timeline, external_semaphore_handle_type::timeline_semaphore_fd);
  external_semaphore binary =
      import(device, their_binary, external_semaphore_handle_type::opaque_fd);
};

}  // namespace

TEST_CASE("external semaphore: a timeline orders a stream and the other side",
          "[interop][external][cpu]") {
  fixture f;
  CHECK(f.timeline.type() == external_semaphore_handle_type::timeline_semaphore_fd);
  value_of(gpu::signal(f.stream, {f.timeline, 3}));
  value_of(f.stream.synchronize());
  CHECK(f.their_timeline.value() == 3);
  value_of(gpu::wait(f.stream, {f.timeline, 2}));  // it has been reached
  value_of(gpu::wait(f.stream, {f.timeline, 5}));
  value_of(gpu::signal(f.stream, {f.timeline, 7}));
  CHECK_FALSE(value_of(f.stream.is_done()));
  CHECK(f.their_timeline.value() == 3);
  f.their_timeline.set_value(5);
  value_of(f.stream.synchronize());
  CHECK(f.their_timeline.value() == 7);
}

TEST_CASE("external semaphore: a stream waits for a signal that another one gets later",
          "[interop][external][cpu]") {
  fixture f;
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  value_of(gpu::wait(f.stream, {f.timeline, 1}));
  value_of(gpu::signal(f.stream, {f.timeline, 2}));
  CHECK_FALSE(value_of(f.stream.is_done()));
  value_of(gpu::signal(other, {f.timeline, 1}));
  value_of(f.stream.synchronize());
  CHECK(f.their_timeline.value() == 2);
}

TEST_CASE("external semaphore: a wait resets a binary one", "[interop][external][cpu]") {
  fixture f;
  value_of(gpu::signal(f.stream, {f.binary}));
  value_of(f.stream.synchronize());
  CHECK(f.their_binary.value() == 1);
  value_of(gpu::wait(f.stream, {f.binary}));
  value_of(f.stream.synchronize());
  CHECK(f.their_binary.value() == 0);
  value_of(gpu::wait(f.stream, {f.binary}));
  CHECK_FALSE(value_of(f.stream.is_done()));
  f.their_binary.set_value(1);
  value_of(f.stream.synchronize());
  CHECK(f.their_binary.value() == 0);
}

TEST_CASE("external semaphore: several in one call, in order", "[interop][external][cpu]") {
  fixture f;
  value_of(gpu::signal(f.stream, {{f.timeline, 1}, {f.binary}, {f.timeline, 4}}));
  value_of(f.stream.synchronize());
  CHECK(f.their_timeline.value() == 4);
  CHECK(f.their_binary.value() == 1);
  value_of(gpu::wait(f.stream, {{f.timeline, 4}, {f.binary}}));
  value_of(f.stream.synchronize());
  CHECK(f.their_binary.value() == 0);
  std::vector<gpu::semaphore_signal> signals;
  for (unsigned i = 0; i < 64; ++i) signals.push_back({f.timeline, 5 + i});
  value_of(gpu::signal(f.stream, signals));
  value_of(gpu::wait(f.stream, std::vector<gpu::semaphore_wait>(64, {f.timeline, 1})));
  value_of(gpu::wait(f.stream, std::vector<gpu::semaphore_wait>()));
  value_of(f.stream.synchronize());
  CHECK(f.their_timeline.value() == 68);
  signals.push_back({f.timeline, 100});
  const gpu::cuda_error many = error_of(gpu::signal(f.stream, signals));
  CHECK(many == gpu::errc::invalid_argument);
  CHECK(says(many, "65 semaphores", "limit of 64", "several calls"));
}

TEST_CASE("external semaphore: every parameter reaches the driver", "[interop][external][cpu]") {
  fixture f;
  static CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signaled;
  static CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waited;
  gpu::driver::entry_points table = test::driver();
  table.signal_external_semaphores_async = [](const CUexternalSemaphore*,
                                              const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* all,
                                              unsigned, CUstream) {
    signaled = all[0];
    return CUDA_SUCCESS;
  };
  table.wait_external_semaphores_async = [](const CUexternalSemaphore*,
                                            const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* all,
                                            unsigned, CUstream) {
    waited = all[0];
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const auto as = [&](external_semaphore_handle_type type) {
    return gpu::external_semaphore_ref::from_native(f.timeline.native(), f.timeline.context(),
                                                    type);
  };
  int fence = 0;
  value_of(gpu::signal(f.stream, {.semaphore = as(external_semaphore_handle_type::nvscisync),
                                  .nvscisync_fence = &fence,
                                  .skip_nvscibuf_memsync = true}));
  CHECK(signaled.params.nvSciSync.fence == &fence);
  CHECK(signaled.flags == CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC);
  value_of(gpu::signal(
      f.stream, {.semaphore = as(external_semaphore_handle_type::d3d11_keyed_mutex), .key = 6}));
  CHECK(signaled.params.keyedMutex.key == 6);
  CHECK(signaled.flags == 0);
  value_of(gpu::signal(f.stream, {as(external_semaphore_handle_type::d3d12_fence), 12}));
  CHECK(signaled.params.fence.value == 12);
  value_of(gpu::wait(f.stream, {.semaphore = as(external_semaphore_handle_type::nvscisync),
                                .nvscisync_fence = &fence,
                                .skip_nvscibuf_memsync = true}));
  CHECK(waited.params.nvSciSync.fence == &fence);
  CHECK(waited.params.keyedMutex.timeoutMs == ~0u);
  CHECK(waited.flags == CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC);
  value_of(
      gpu::wait(f.stream, {.semaphore = as(external_semaphore_handle_type::d3d11_keyed_mutex_kmt),
                           .key = 8,
                           .timeout_ms = 20}));
  CHECK(waited.params.keyedMutex.key == 8);
  CHECK(waited.params.keyedMutex.timeoutMs == 20);
}

TEST_CASE("external semaphore: handles of other systems are refused with what they need",
          "[interop][external]") {
  const gpu::device device = test::first_device();
  const foreign_file theirs;
  const test::noted_calls<&gpu::driver::entry_points::import_external_semaphore> calls;
  for (const auto type :
       {external_semaphore_handle_type::opaque_win32,
        external_semaphore_handle_type::opaque_win32_kmt,
        external_semaphore_handle_type::d3d12_fence, external_semaphore_handle_type::d3d11_fence,
        external_semaphore_handle_type::d3d11_keyed_mutex,
        external_semaphore_handle_type::d3d11_keyed_mutex_kmt,
        external_semaphore_handle_type::timeline_semaphore_win32}) {
    const gpu::cuda_error error =
        error_of(external_semaphore::open(device, gpu::win32_handle{}, type));
    CHECK(error == gpu::errc::not_supported);
    CHECK(says(error, gpu::name_of(type), "needs Windows"));
    file_descriptor file = theirs.descriptor();
    CHECK(error_of(external_semaphore::open(device, std::move(file), type)) ==
          gpu::errc::not_supported);
    CHECK(file);
  }
  CHECK(says(error_of(external_semaphore::open(device, gpu::win32_handle{},
                                               external_semaphore_handle_type::opaque_fd)),
             "comes as a file descriptor"));
  if (!gpu::detail::may_have_nvsci) {
    const gpu::cuda_error nvsci =
        error_of(external_semaphore::open(device, gpu::nvscisync_object{&device}));
    CHECK(nvsci == gpu::errc::not_supported);
    CHECK(says(nvsci, "nvscisync needs NvSci", "Jetson and DRIVE"));
  }
  CHECK(calls.count() == 0);
}

TEST_CASE("external semaphore: mistakes are refused before the driver is asked",
          "[interop][external][cpu]") {
  fixture f;
  CHECK(error_of(external_semaphore::open(f.device, file_descriptor{})) == gpu::errc::empty_handle);
  file_descriptor file = f.their_binary.descriptor();
  CHECK(says(error_of(external_semaphore::open(f.device, std::move(file),
                                               external_semaphore_handle_type{40})),
             "40 is not a valid gpu::external_semaphore_handle_type"));
  auto null = file_descriptor::adopt(::open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK(says(error_of(external_semaphore::open(f.device, std::move(null))),
             "does not refer to an external semaphore"));
  CHECK(null);
  gpu::cuda_error error = error_of(gpu::signal(f.stream, {f.binary, 2}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "opaque_fd has no value", "the value is 2", "timeline_semaphore_fd"));
  error = error_of(gpu::signal(f.stream, {f.timeline}));
  CHECK(says(error, "counts up from 0", "Pass the next value"));
  CHECK(error_of(gpu::wait(f.stream, {gpu::external_semaphore_ref{}})) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::wait(gpu::stream_ref{}, {f.timeline})) == gpu::errc::empty_handle);
  const gpu::context own = value_of(gpu::context::create(f.device));
  const gpu::stream elsewhere = value_of(gpu::stream::create(own));
  error = error_of(gpu::wait(elsewhere, {f.timeline}));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "the semaphore to another context of device 0"));
}

TEST_CASE("external semaphore: captured, each call is a node", "[interop][external][graph][cpu]") {
  fixture f;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::wait(f.stream, {f.binary}));
  value_of(gpu::signal(f.stream, {f.timeline, 9}));
  const gpu::graph graph = value_of(capture.end());
  const gpu::graph_node_list nodes = value_of(graph.nodes());
  REQUIRE(nodes.size() == 2);
  CHECK(value_of(gpu::kind_of(nodes[0])) == gpu::graph_node_kind::external_semaphores_wait);
  CHECK(value_of(gpu::kind_of(nodes[1])) == gpu::graph_node_kind::external_semaphores_signal);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  value_of(gpu::launch(f.stream, exec));
  CHECK_FALSE(value_of(f.stream.is_done()));
  CHECK(f.their_timeline.value() == 0);
  f.their_binary.set_value(1);
  value_of(f.stream.synchronize());
  CHECK(f.their_timeline.value() == 9);
}

TEST_CASE("external semaphore: nodes are added, and edited in both kinds of graphs",
          "[interop][external][graph][cpu]") {
  fixture f;
  const gpu::graph graph = value_of(gpu::graph::create(f.device));
  const auto wait = value_of(graph.add({}, gpu::semaphore_wait_node{{f.timeline, 1}}));
  const auto signal = value_of(graph.add({wait}, gpu::semaphore_signal_node{{f.timeline, 2}}));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  const auto run = [&] {
    value_of(gpu::launch(f.stream, exec));
    value_of(f.stream.synchronize());
    return f.their_timeline.value();
  };
  f.their_timeline.set_value(1);
  CHECK(run() == 2);
  value_of(exec.set(signal, gpu::semaphore_signal_node{{f.timeline, 5}}));
  CHECK(run() == 5);
  CHECK(
      error_of(exec.set(signal, gpu::semaphore_signal_node{{f.timeline, 6}, {f.binary}})).code() ==
      CUDA_ERROR_INVALID_VALUE);
  const std::vector<gpu::semaphore_signal> two{{f.timeline, 6}, {f.binary}};
  value_of(gpu::set(graph, signal, gpu::semaphore_signal_node(two)));
  value_of(gpu::set(graph, wait, gpu::semaphore_wait_node{{f.timeline, 5}}));
  exec = value_of(gpu::graph_exec::instantiate(graph));
  CHECK(run() == 6);
  CHECK(f.their_binary.value() == 1);
  CHECK(says(error_of(graph.add({}, gpu::semaphore_signal_node{{f.binary, 3}})),
             "gpu::semaphore_signal_node", "has no value"));
  CHECK(says(error_of(graph.add({}, gpu::semaphore_wait_node{})), "gpu::semaphore_wait_node",
             "Name at least one"));
}

TEST_CASE("external semaphore: each driver call may fail, and no descriptor is lost",
          "[interop][external][faults][cpu]") {
  std::string wrong;
  const auto operation = [&]() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    const foreign_file theirs;  // work that a failure has left behind has another one
    file_descriptor file = theirs.descriptor();
    const int number = file.native();
    auto made = external_semaphore::open(device, std::move(file),
                                         external_semaphore_handle_type::timeline_semaphore_fd);
    if (test::is_open(number) != static_cast<bool>(file)) wrong = "lost";
    auto semaphore = GPU_TRY(std::move(made));
    GPU_TRY(gpu::signal(stream, {semaphore, 1}));
    GPU_TRY(gpu::wait(stream, {{semaphore, 1}, {semaphore, 1}}));
    const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
    GPU_TRY(graph.add({}, gpu::semaphore_signal_node{{semaphore, 2}}));
    const gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
    GPU_TRY(gpu::launch(stream, exec));
    GPU_TRY(stream.synchronize());
    const auto moved = external_semaphore::adopt(semaphore.release());
    return {};
  };
  CHECK(test::sweep(operation, {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
  CHECK(wrong == "");
}

}  // namespace external_semaphore_test
