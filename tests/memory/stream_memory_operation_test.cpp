// Streams that wait for values in memory and write them, alone, in batches and in graphs.

#include <gpu/memory/stream_memory_operation.hpp>

#include "support/lacking_device.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/graph/memory_operation_node.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/managed_buffer.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace stream_memory_operation_test {

using gpu::device_buffer;
using op = gpu::memory_operation;
using test::error_of;
using test::says;
using test::value_of;

namespace {

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  // Not of a pool.
  device_buffer<unsigned> words = value_of(device_buffer<unsigned>::create(device, 4));

  fixture() {
    value_of(gpu::fill(stream, words, 0u));
    value_of(stream.synchronize());
  }
  std::vector<unsigned> contents() {
    std::vector<unsigned> host(4);
    value_of(gpu::copy(words, host));
    return host;
  }
};

}  // namespace

static_assert(std::is_trivially_copyable_v<op>);

TEST_CASE("memory operation: a stream writes words of 4 and 8 bytes",
          "[memory][memory_operation]") {
  fixture f;
  auto wide = value_of(device_buffer<unsigned long long>::create(f.device, 2));
  value_of(gpu::perform(f.stream, op::write(f.words, 7u)));
  value_of(gpu::perform(f.stream, op::write(f.words.span().subspan(2), 0xdead'beefu)));
  value_of(gpu::perform(f.stream, op::write(wide, 0x0123'4567'89ab'cdefull)));
  value_of(f.stream.synchronize());
  CHECK(f.contents() == std::vector<unsigned>{7, 0, 0xdead'beef, 0});
  unsigned long long raw[1] = {};
  value_of(gpu::copy(wide.span().first(1), raw));
  CHECK(raw[0] == 0x0123'4567'89ab'cdefull);
}

TEST_CASE("memory operation: a stream waits for another stream", "[memory][memory_operation]") {
  fixture f;
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  value_of(gpu::perform(f.stream, op::wait(f.words, 2u, gpu::wait_condition::equal)));
  value_of(gpu::perform(f.stream, op::barrier()));  // by itself, as the others
  value_of(gpu::perform(f.stream, op::write(f.words, 3u)));
  CHECK_FALSE(value_of(f.stream.is_done()));
  value_of(gpu::perform(other, op::write(f.words, 2u)));
  value_of(f.stream.synchronize());
  CHECK(f.contents()[0] == 3);
}

TEST_CASE("memory operation: a stream waits for the host", "[memory][memory_operation]") {
  fixture f;
  auto flag = value_of(gpu::pinned_vector<unsigned>::create(f.device, 1));
  std::atomic_ref<unsigned>(flag[0]).store(0);
  value_of(gpu::perform(f.stream, {op::wait(flag, 1u), op::write(f.words, 5u), op::barrier()}));
  CHECK_FALSE(value_of(f.stream.is_done()));
  std::atomic_ref<unsigned>(flag[0]).store(1);
  value_of(f.stream.synchronize());
  CHECK(f.contents()[0] == 5);
}

TEST_CASE("memory operation: several in one call, in order", "[memory][memory_operation]") {
  fixture f;
  std::vector<op> all;
  for (unsigned i = 1; i <= 255; ++i) all.push_back(op::write(f.words.span().subspan(i % 4), i));
  value_of(gpu::perform(f.stream, all));
  value_of(f.stream.synchronize());
  CHECK(f.contents() == std::vector<unsigned>{252, 253, 254, 255});
  value_of(gpu::perform(
      f.stream, {op::wait(f.words, 253u, gpu::wait_condition::bitwise_and),
                 op::wait(f.words, 3u, gpu::wait_condition::bitwise_nor), op::write(f.words, 1u),
                 op::barrier(gpu::memory_barrier_scope::device)}));
  value_of(f.stream.synchronize());
  CHECK(f.contents()[0] == 1);
  CHECK(gpu::perform(f.stream, std::vector<op>()).has_value());

  all.push_back(op::write(f.words, 1u));
  const gpu::cuda_error error = error_of(gpu::perform(f.stream, all));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "256 operations", "limit of 255", "several calls"));
}

TEST_CASE("memory operation: what is wrong is said before the driver is asked",
          "[memory][memory_operation]") {
  fixture f;
  gpu::cuda_error error = error_of(gpu::perform(f.stream, op::write(f.words.span().first(0), 1u)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "at least one element", "stream_memory_operation_test.cpp"));
  const auto odd = gpu::device_span<unsigned>::from_native(f.words.native() + 2, 1);
  error = error_of(gpu::perform(f.stream, {op::write(f.words, 1u), op::write(odd, 1u)}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "begins 2 bytes past a multiple of 4. Align"));
  const auto half = gpu::device_span<std::uint64_t>::from_native(f.words.native() + 4, 1);
  error = error_of(gpu::perform(f.stream, op::write(half, std::uint64_t{1})));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "begins 4 bytes past a multiple of 8. Align"));
  error =
      error_of(gpu::perform(f.stream, op::wait(f.words, 1u, static_cast<gpu::wait_condition>(9))));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "9 is not a valid gpu::wait_condition"));
  error = error_of(gpu::perform(f.stream, op::barrier(static_cast<gpu::memory_barrier_scope>(2))));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "2 is not a valid gpu::memory_barrier_scope"));
  CHECK(error_of(gpu::perform(gpu::stream_ref{}, op::barrier())) == gpu::errc::empty_handle);
  const gpu::context own = value_of(gpu::context::create(f.device));
  const gpu::stream elsewhere = value_of(gpu::stream::create(own));
  error = error_of(gpu::perform(elsewhere, op::write(f.words, 1u)));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "the word to another context of device 0"));
  CHECK(f.contents()[0] == 0);
}

TEST_CASE("memory operation: memory that a stream cannot use is refused with the ways out",
          "[memory][memory_operation]") {
  fixture f;
  auto managed = value_of(gpu::managed_buffer<unsigned>::create(f.device, 1));
  auto pooled = value_of(device_buffer<unsigned>::create(f.stream, 1));
  for (const gpu::cuda_error& error :
       {error_of(gpu::perform(f.stream, op::write(managed, 1u))),
        error_of(gpu::perform(f.stream, {op::wait(pooled, 1u), op::write(pooled, 2u)}))}) {
    CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
    CHECK(says(error, "page-locked memory", "managed memory", "pool"));
  }
}

TEST_CASE("memory operation: what the device lacks is said by name", "[memory][memory_operation]") {
  fixture f;
  auto wide = value_of(device_buffer<unsigned long long>::create(f.device, 1));
  {
    const test::lacking_device lacking(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES);
    const gpu::cuda_error error = error_of(gpu::perform(f.stream, op::flush_remote_writes()));
    CHECK(error == gpu::errc::not_supported);
    CHECK(says(error, "device 0 cannot flush", "gpu::flush_remote_writes"));
  }
  {
    const test::lacking_device lacking(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
    const gpu::cuda_error error = error_of(gpu::perform(f.stream, op::write(wide, 1ull)));
    CHECK(error == gpu::errc::not_supported);
    CHECK(says(error, "device 0 cannot use words of 8 bytes", "Use words of 4 bytes"));
  }
  const test::lacking_device lacking(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR);
  const gpu::cuda_error error =
      error_of(gpu::perform(f.stream, op::wait(f.words, 1u, gpu::wait_condition::bitwise_nor)));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "device 0 cannot wait for bitwise_nor", "bitwise_and"));
  CHECK(gpu::perform(f.stream, op::wait(f.words, 1u, gpu::wait_condition::greater_or_equal))
            .has_value());
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  value_of(gpu::perform(other, op::write(f.words, 1u)));
  value_of(f.stream.synchronize());
}

TEST_CASE("memory operation: captured, each call is a node", "[memory][memory_operation][graph]") {
  fixture f;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::perform(f.stream, op::write(f.words, 4u)));
  value_of(gpu::perform(f.stream, {op::wait(f.words, 4u), op::write(f.words, 6u)}));
  const gpu::graph graph = value_of(capture.end());
  CHECK(f.contents()[0] == 0);
  const gpu::graph_node_list nodes = value_of(graph.nodes());
  REQUIRE(nodes.size() == 2);
  CHECK(value_of(gpu::kind_of(nodes[1])) == gpu::graph_node_kind::batch_memory_operation);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  value_of(gpu::launch(f.stream, exec));
  value_of(f.stream.synchronize());
  CHECK(f.contents()[0] == 6);
}

TEST_CASE("memory operation: a node that is edited in the graph and in the executable graph",
          "[memory][memory_operation][graph]") {
  fixture f;
  const gpu::graph graph = value_of(gpu::graph::create(f.device));
  const auto node = value_of(
      graph.add({}, gpu::memory_operation_node{op::wait(f.words, 0u), op::write(f.words, 10u)}));
  CHECK(value_of(gpu::kind_of(node)) == gpu::graph_node_kind::batch_memory_operation);
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  const auto run = [&] {
    value_of(gpu::launch(f.stream, exec));
    value_of(f.stream.synchronize());
    return f.contents();
  };
  CHECK(run() == std::vector<unsigned>{10, 0, 0, 0});
  const auto second = f.words.span().subspan(1);
  value_of(
      exec.set(node, gpu::memory_operation_node{op::wait(f.words, 10u, gpu::wait_condition::equal),
                                                op::write(second, 11u)}));
  CHECK(run() == std::vector<unsigned>{10, 11, 0, 0});
  // Not what they are, nor how many.
  CHECK(error_of(exec.set(node, gpu::memory_operation_node{op::write(second, 1u)})).code() ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(exec.set(node,
                          gpu::memory_operation_node{op::write(second, 1u), op::write(second, 1u)}))
            .code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(exec.set_enabled(node, false)).code() == CUDA_ERROR_INVALID_VALUE);

  const std::vector<op> one{op::write(second, 12u)};
  value_of(gpu::set(graph, node, gpu::memory_operation_node(one)));
  const gpu::cuda_error refused = error_of(exec.update(graph));
  CHECK(refused.asked() ==
        static_cast<std::uint64_t>(gpu::graph_update_result::parameters_changed));
  exec = value_of(gpu::graph_exec::instantiate(graph));
  CHECK(run() == std::vector<unsigned>{10, 12, 0, 0});

  const gpu::cuda_error error =
      error_of(graph.add({}, gpu::memory_operation_node{op::write(second.first(0), 1u)}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::memory_operation_node", "at least one element"));
}

TEST_CASE("memory operation: every condition and scope has a name", "[memory][memory_operation]") {
  for (unsigned i = CU_STREAM_WAIT_VALUE_GEQ; i <= CU_STREAM_WAIT_VALUE_NOR; ++i)
    CHECK(gpu::name_of(static_cast<gpu::wait_condition>(i)) != nullptr);
  CHECK(std::string(gpu::name_of(gpu::wait_condition::bitwise_nor)) == "bitwise_nor");
  CHECK(gpu::name_of(static_cast<gpu::wait_condition>(4)) == nullptr);
  CHECK(std::string(gpu::name_of(gpu::memory_barrier_scope::system)) == "system");
  CHECK(std::string(gpu::name_of(gpu::memory_barrier_scope::device)) == "device");
  CHECK(gpu::name_of(static_cast<gpu::memory_barrier_scope>(2)) == nullptr);
}

TEST_CASE("memory operation: each driver call may fail",
          "[memory][memory_operation][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto words = GPU_TRY(device_buffer<unsigned>::create(device, 1));
              auto wide = GPU_TRY(device_buffer<unsigned long long>::create(device, 1));
              GPU_TRY(gpu::perform(stream, op::write(words, 1u)));
              GPU_TRY(gpu::perform(stream, op::wait(words, 1u)));
              GPU_TRY(gpu::perform(stream, op::write(wide, 1ull)));
              GPU_TRY(gpu::perform(stream, op::wait(wide, 1ull)));
              GPU_TRY(gpu::perform(
                  stream, {op::wait(words, 2u, gpu::wait_condition::bitwise_nor), op::barrier()}));
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              const auto node =
                  GPU_TRY(graph.add({}, gpu::memory_operation_node{op::write(words, 1u)}));
              GPU_TRY(gpu::set(graph, node, gpu::memory_operation_node{op::write(words, 2u)}));
              gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
              GPU_TRY(exec.set(node, gpu::memory_operation_node{op::write(words, 3u)}));
              GPU_TRY(gpu::launch(stream, exec));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace stream_memory_operation_test
