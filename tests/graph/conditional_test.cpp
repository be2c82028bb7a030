// Conditional nodes: bodies that run if, while, or as a number says.

#include "graph/graph_fixture.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/conditional_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/memory/device_buffer.hpp>

namespace conditional_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

TEST_CASE("conditional: a while runs its body until the number is 0", "[graph][conditional]") {
  graph_fixture f;
  auto rounds = value_of(gpu::device_buffer<unsigned>::create(f.device, 1));
  const auto condition = value_of(gpu::graph_condition::create(f.graph, 1));
  const auto set = value_of(f.graph.add({}, gpu::fill_node(rounds, 5u)));
  gpu::conditional_node loop(gpu::conditional_kind::while_, condition);
  CHECK(loop.body().native() == nullptr);
  const auto node = value_of(f.graph.add(set, loop));
  CHECK(value_of(gpu::kind_of(node)) == gpu::graph_node_kind::conditional);
  const auto work = value_of(loop.body().add({}, f.adds(3)));
  value_of(
      loop.body().add(work, gpu::kernel_node({1, 1}, f.count_down, condition.native(), rounds)));
  value_of(f.graph.add(node, f.doubles()));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(f.run(exec) == 30);
  CHECK(f.run(exec) == 90);
}

TEST_CASE("conditional: an if runs one body or the other", "[graph][conditional]") {
  graph_fixture f;
  const auto condition = value_of(gpu::graph_condition::create(f.graph));
  const auto decision =
      value_of(f.graph.add({}, gpu::kernel_node({1, 1}, f.decide, condition.native(), 1u)));
  gpu::conditional_node either(gpu::conditional_kind::if_, condition, 2);
  value_of(f.graph.add(decision, either));
  value_of(either.body(0).add({}, f.adds(1)));
  value_of(either.body(1).add({}, f.adds(100)));
  CHECK(either.body(2).native() == nullptr);
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(f.run(exec) == 1);
  value_of(exec.set(decision, gpu::kernel_node({1, 1}, f.decide, condition.native(), 0u)));
  CHECK(f.run(exec) == 101);
}

TEST_CASE("conditional: a switch runs the body of the number, or none", "[graph][conditional]") {
  graph_fixture f;
  const auto condition = value_of(gpu::graph_condition::create(f.graph));
  const auto decision =
      value_of(f.graph.add({}, gpu::kernel_node({1, 1}, f.decide, condition.native(), 2u)));
  gpu::conditional_node one_of(gpu::conditional_kind::switch_, condition, 3);
  value_of(f.graph.add(decision, one_of));
  for (unsigned i = 0; i < 3; ++i) value_of(one_of.body(i).add({}, f.adds(10 + i)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(f.run(exec) == 12);
  value_of(exec.set(decision, gpu::kernel_node({1, 1}, f.decide, condition.native(), 3u)));
  CHECK(f.run(exec) == 12);
  value_of(exec.set(decision, gpu::kernel_node({1, 1}, f.decide, condition.native(), 0u)));
  CHECK(f.run(exec) == 22);
}

TEST_CASE("conditional: what is wrong with one is said", "[graph][conditional]") {
  graph_fixture f;
  const auto condition = value_of(gpu::graph_condition::create(f.graph, 0));
  gpu::cuda_error error = error_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(says(error, "does not belong to a node"));
  error =
      error_of(f.graph.add({}, gpu::conditional_node(gpu::conditional_kind::while_, condition, 2)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "2 bodies", "a while has 1"));
  CHECK(error_of(f.graph.add({}, gpu::conditional_node(gpu::conditional_kind::if_, condition,
                                                       3))) == gpu::errc::invalid_argument);
  CHECK(error_of(f.graph.add({}, gpu::conditional_node(gpu::conditional_kind::switch_, condition,
                                                       0))) == gpu::errc::invalid_argument);
  CHECK(error_of(f.graph.add(
            {}, gpu::conditional_node(gpu::conditional_kind::if_, gpu::graph_condition{}))) ==
        gpu::errc::empty_handle);
  error = error_of(f.graph.add({}, gpu::conditional_node(gpu::conditional_kind{7}, condition)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(error.asked() == 7);
  CHECK(says(error, "gpu::conditional_node", "7 is not a valid gpu::conditional_kind"));
  CHECK(error_of(gpu::graph_condition::create(gpu::graph_ref{}, 1)) == gpu::errc::empty_handle);
  for (int kind = CU_GRAPH_COND_TYPE_IF; kind <= CU_GRAPH_COND_TYPE_SWITCH; ++kind)
    CHECK(gpu::name_of(static_cast<gpu::conditional_kind>(kind)) != nullptr);
  CHECK(gpu::name_of(static_cast<gpu::conditional_kind>(3)) == nullptr);
}

TEST_CASE("conditional: each driver call may fail", "[graph][conditional][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              const auto condition = GPU_TRY(gpu::graph_condition::create(graph, 0));
              gpu::conditional_node maybe(gpu::conditional_kind::if_, condition);
              GPU_TRY(graph.add({}, maybe));
              GPU_TRY(maybe.body().add({}, gpu::empty_node{}));
              const gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
              GPU_TRY(gpu::launch(stream, exec));
              GPU_TRY(stream.synchronize());
              return {};
            },
            {"cuCtxGetDevice"}) == "");
}

}  // namespace conditional_test
