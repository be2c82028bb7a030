// Stream capture and graphs through the driver's own interface. The codes are those that an H200
// gave for the same calls.

#include "driver_fixture.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace graphs_test {

using test::all_modes;
using test::driver_fixture;

namespace {

void CUDA_CB count(void* counter) { ++*static_cast<int*>(counter); }

struct two_streams {
  explicit two_streams(const gpu::testing::cpu_driver_options& options = test::with_places())
      : f(options) {
    REQUIRE(f.cu.stream_create(&s, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_create(&t, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_create(&blocking, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
    REQUIRE(f.cu.event_create(&e, 0) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&d, 64) == CUDA_SUCCESS);
  }

  /// What `call` answers inside a capture of `s`, and what ending the capture answers then.
  template <class Call> std::pair<int, int> in_capture(CUstreamCaptureMode mode, Call call) {
    CUgraph graph = nullptr;
    REQUIRE(f.cu.stream_begin_capture(s, mode) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d32_async(d, 0, 4, s) == CUDA_SUCCESS);
    const int answer = call();
    const int ended = f.cu.stream_end_capture(s, &graph);
    CHECK((graph != nullptr) == (ended == CUDA_SUCCESS));
    if (graph != nullptr) CHECK(f.cu.graph_destroy(graph) == CUDA_SUCCESS);
    return {answer, ended};
  }

  CUgraphNode add(CUgraph graph, std::vector<CUgraphNode> after, int* counter) const {
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host.fn = count;
    params.host.userData = counter;
    REQUIRE(f.cu.graph_add_node(&node, graph, after.data(), nullptr, after.size(), &params) ==
            CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) const {
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    params.flags = flags;
    REQUIRE(f.cu.graph_instantiate_with_params(&exec, graph, &params) == CUDA_SUCCESS);
    return exec;
  }

  driver_fixture f;
  CUstream s = nullptr, t = nullptr, blocking = nullptr;
  CUevent e = nullptr;
  CUdeviceptr d = 0;
};

using answers = std::pair<int, int>;
constexpr auto global = CU_STREAM_CAPTURE_MODE_GLOBAL;
constexpr auto in_thread = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
constexpr auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

}  // namespace

TEST_CASE("a capture answers as a device does", "[cpu][graph]") {
  two_streams w;
  const auto& cu = w.f.cu;
  CUgraph graph = nullptr;
  CHECK(cu.stream_begin_capture(nullptr, global) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(cu.stream_begin_capture(CU_STREAM_LEGACY, relaxed) ==
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(cu.stream_begin_capture(w.s, static_cast<CUstreamCaptureMode>(3)) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.stream_end_capture(w.s, &graph) == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(cu.stream_update_capture_dependencies(w.s, nullptr, nullptr, 0, 0) ==
        CUDA_ERROR_ILLEGAL_STATE);
  CHECK(cu.event_record_with_flags(w.e, w.s, CU_EVENT_RECORD_EXTERNAL) == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(cu.stream_wait_event(w.s, w.e, CU_EVENT_WAIT_EXTERNAL) == CUDA_ERROR_ILLEGAL_STATE);

  const answers fine{CUDA_SUCCESS, CUDA_SUCCESS};
  const answers spoiled{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED};
  CUdeviceptr other = 0;
  void* pinned = nullptr;
  for (const auto mode : {global, in_thread, relaxed}) {
    const answers unsafe = mode == relaxed ? fine : spoiled;
    CHECK(w.in_capture(mode, [&] { return cu.stream_synchronize(w.s); }) == spoiled);
    CHECK(w.in_capture(mode, [&] { return cu.stream_query(w.s); }) == spoiled);
    CHECK(w.in_capture(mode, [&] { return cu.ctx_synchronize(); }) == spoiled);
    CHECK(w.in_capture(mode, [&] { return cu.stream_synchronize(w.t); }) == unsafe);
    CHECK(w.in_capture(mode, [&] { return cu.mem_alloc(&other, 64); }) == unsafe);
    CHECK(w.in_capture(mode, [&] { return cu.mem_free(0); }) == unsafe);
    CHECK(w.in_capture(mode, [&] { return cu.mem_host_alloc(&pinned, 64, 0); }) == unsafe);
    CHECK(w.in_capture(mode, [&] { return cu.mem_alloc_async(&other, 64, w.t); }) == unsafe);
    CHECK(w.in_capture(mode, [&] { return cu.mem_free_async(0, w.t); }).first == 0);
    CHECK(w.in_capture(mode, [&] { return cu.memset_d32_async(w.d, 1, 4, w.t); }) == fine);
    CHECK(w.in_capture(mode, [&] { return cu.memset_d32(w.d, 1, 4); }) == fine);
    CHECK(w.in_capture(mode, [&] { return cu.memset_d32_async(w.d, 1, 0, w.s); }) == fine);
    CHECK(w.in_capture(mode, [&] { return cu.memset_d32_async(1, 1, 1, w.s); }) ==
          answers{CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS});
    CHECK(w.in_capture(mode, [&] { return cu.stream_begin_capture(w.s, mode); }) ==
          answers{CUDA_ERROR_ILLEGAL_STATE, CUDA_SUCCESS});
    const auto callback = [](CUstream, CUresult, void*) {};
    CHECK(w.in_capture(mode, [&] { return cu.stream_add_callback(w.s, callback, nullptr, 0); }) ==
          spoiled);
    CHECK(w.in_capture(mode, [&] { return cu.stream_add_callback(w.t, callback, nullptr, 0); }) ==
          fine);
    CHECK(w.in_capture(mode, [&] { return cu.event_record(w.e, w.s); }) == fine);
    for (const auto ask : {cu.event_query, cu.event_synchronize}) {
      CHECK(w.in_capture(mode, [&] {
        (void)cu.event_record(w.e, w.s);
        return ask(w.e);
      }) == answers{CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED});
    }
    CHECK(w.in_capture(mode, [&] {
      float time = 0;
      (void)cu.event_record(w.e, w.s);
      return cu.event_elapsed_time(&time, w.e, w.e);
    }) == answers{CUDA_ERROR_CAPTURED_EVENT, CUDA_SUCCESS});
    CHECK(w.in_capture(mode, [&] {
      (void)cu.event_record(w.e, w.t);
      return cu.stream_wait_event(w.s, w.e, 0);
    }) == answers{CUDA_ERROR_STREAM_CAPTURE_ISOLATION, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED});
    CHECK(w.in_capture(mode, [&] {
      (void)cu.event_record(w.e, w.s);
      (void)cu.stream_wait_event(w.t, w.e, 0);
      return cu.stream_end_capture(w.t, &graph);
    }) == answers{CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED});
    CHECK(w.in_capture(mode, [&] {
      (void)cu.event_record(w.e, w.s);
      (void)cu.stream_wait_event(w.t, w.e, 0);
      return cu.memset_d32_async(w.d, 1, 1, w.t);
    }) == answers{CUDA_SUCCESS, CUDA_ERROR_STREAM_CAPTURE_UNJOINED});
    CHECK(w.in_capture(mode, [&] {
      (void)cu.stream_begin_capture(w.t, mode);
      (void)cu.event_record(w.e, w.t);
      const int merged = cu.stream_wait_event(w.s, w.e, 0);
      CHECK(cu.stream_end_capture(w.t, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
      return merged;
    }) == answers{CUDA_ERROR_STREAM_CAPTURE_MERGE, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED});
  }
  // What an event marked in a capture that is over is no place in time.
  CHECK(w.in_capture(global, [&] { return cu.event_record(w.e, w.s); }) == fine);
  CHECK(cu.event_query(w.e) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.event_synchronize(w.e) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.stream_wait_event(w.t, w.e, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.event_record(w.e, w.t) == CUDA_SUCCESS);
  CHECK(cu.event_synchronize(w.e) == CUDA_SUCCESS);
}

TEST_CASE("the default stream cannot be used while a blocking stream is captured", "[cpu][graph]") {
  two_streams w;
  const auto& cu = w.f.cu;
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status{};
  REQUIRE(cu.stream_begin_capture(w.blocking, relaxed) == CUDA_SUCCESS);
  CHECK(cu.stream_is_capturing(nullptr, &status) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(cu.stream_is_capturing(w.blocking, &status) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CHECK(cu.memset_d32_async(w.d, 1, 1, nullptr) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(cu.stream_synchronize(nullptr) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(cu.memset_d32_async(w.d, 1, 1, w.blocking) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(cu.stream_end_capture(w.blocking, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(cu.memset_d32_async(w.d, 1, 1, nullptr) == CUDA_SUCCESS);
}

TEST_CASE("a capture belongs to its thread", "[cpu][graph]") {
  two_streams w;
  const auto& cu = w.f.cu;
  CUgraph graph = nullptr;
  const auto elsewhere = [&](auto work) {
    std::thread([&] {
      (void)cu.ctx_set_current(w.f.context);
      work();
    }).join();
  };
  CUdeviceptr other = 0;
  int answer = 0;
  REQUIRE(cu.stream_begin_capture(w.s, global) == CUDA_SUCCESS);
  elsewhere([&] { answer = cu.mem_alloc(&other, 64); });
  CHECK(answer == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(cu.stream_end_capture(w.s, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  REQUIRE(cu.stream_begin_capture(w.s, in_thread) == CUDA_SUCCESS);
  elsewhere([&] { answer = cu.mem_alloc(&other, 64); });
  CHECK(answer == CUDA_SUCCESS);
  elsewhere([&] { answer = cu.stream_end_capture(w.s, &graph); });
  CHECK(answer == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  CHECK(cu.stream_end_capture(w.s, &graph) == CUDA_ERROR_ILLEGAL_STATE);
}

TEST_CASE("edges and nodes are refused as a device refuses them", "[cpu][graph]") {
  two_streams w;
  const auto& cu = w.f.cu;
  CUgraph g = nullptr, h = nullptr;
  CHECK(cu.graph_create(&g, 1) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cu.graph_create(&g, 0) == CUDA_SUCCESS);
  REQUIRE(cu.graph_create(&h, 0) == CUDA_SUCCESS);
  int calls = 0;
  const CUgraphNode a = w.add(g, {}, &calls), b = w.add(g, {a}, &calls);
  const CUgraphNode other = w.add(h, {}, &calls);
  CUgraphNode made = nullptr;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_EMPTY;
  const CUgraphNode twice[] = {a, a};
  CHECK(cu.graph_add_node(&made, g, twice, nullptr, 2, &params) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.graph_add_node(&made, g, &other, nullptr, 1, &params) == CUDA_ERROR_INVALID_VALUE);
  params.reserved2 = 1;
  CHECK(cu.graph_add_node(&made, g, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
  params = {};
  params.type = static_cast<CUgraphNodeType>(15);
  CHECK(cu.graph_add_node(&made, g, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
  params.type = CU_GRAPH_NODE_TYPE_HOST;
  CHECK(cu.graph_add_node(&made, g, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
  params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  CHECK(cu.graph_add_node(&made, g, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {w.d, 0, 1, 4, 0, 1, w.f.context};
  CHECK(cu.graph_add_node(&made, g, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
  params.memset = {w.d, 0, 1, 3, 4, 1, w.f.context};
  CHECK(cu.graph_add_node(&made, g, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
  params.memset = {w.d + 1, 0, 1, 4, 4, 1, w.f.context};
  CHECK(cu.graph_add_node(&made, g, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);

  CHECK(cu.graph_add_dependencies(g, &a, &b, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.graph_add_dependencies(g, &a, &a, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.graph_add_dependencies(g, &a, &other, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.graph_add_dependencies(g, &b, &a, nullptr, 1) == CUDA_SUCCESS);
  CHECK(cu.graph_remove_dependencies(g, &b, &a, nullptr, 1) == CUDA_SUCCESS);
  CHECK(cu.graph_remove_dependencies(g, &b, &a, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);

  CUgraphNode nodes[4] = {a, a, a, a}, to[4];
  std::size_t room = 4;
  CHECK(cu.graph_get_nodes(g, nodes, &room) == CUDA_SUCCESS);
  CHECK(room == 2);
  CHECK(nodes[2] == nullptr);
  room = 4;
  CHECK(cu.graph_get_edges(g, nodes, to, nullptr, &room) == CUDA_SUCCESS);
  REQUIRE(room == 1);
  CHECK(nodes[0] == a);
  CHECK(to[0] == b);

  const CUgraphExec exec = w.instantiate(g);
  CHECK(cu.graph_node_set_enabled(exec, a, 0) == CUDA_ERROR_INVALID_VALUE);  // a host function
  CHECK(cu.graph_destroy_node(b) == CUDA_SUCCESS);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_HOST;
  params.host = {count, &calls};
  CHECK(cu.graph_exec_node_set_params(exec, b, &params) == CUDA_ERROR_INVALID_VALUE);
  CUDA_GRAPH_INSTANTIATE_PARAMS flags{};
  flags.flags = 64;
  CUgraphExec none = nullptr;
  CHECK(cu.graph_instantiate_with_params(&none, g, &flags) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.graph_launch(exec, w.s) == CUDA_SUCCESS);
  CHECK(cu.stream_synchronize(w.s) == CUDA_SUCCESS);
  CHECK(calls == 2);
  CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
  CHECK(cu.graph_destroy(g) == CUDA_SUCCESS);
  CHECK(cu.graph_destroy(h) == CUDA_SUCCESS);
}

TEST_CASE("a graph runs in every mode, as late as it may", "[cpu][graph]") {
  for (const auto& mode : all_modes()) {
    two_streams w(mode);
    const auto& cu = w.f.cu;
    int calls = 0;
    CUgraph g = nullptr;
    REQUIRE(cu.graph_create(&g, 0) == CUDA_SUCCESS);
    w.add(g, {w.add(g, {}, &calls)}, &calls);
    const CUgraphExec exec = w.instantiate(g);
    CHECK(cu.graph_launch(exec, w.s) == CUDA_SUCCESS);
    CHECK(cu.graph_launch(exec, w.t) == CUDA_SUCCESS);  // after the first, on another stream
    if (mode.mode == gpu::testing::execution::deferred) CHECK(calls == 0);
    CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
    CHECK(cu.graph_destroy(g) == CUDA_SUCCESS);
    CHECK(cu.stream_synchronize(w.t) == CUDA_SUCCESS);
    CHECK(calls == 4);
  }
}

TEST_CASE("a copy of a graph reads page-locked memory before later work writes to it",
          "[cpu][graph]") {
  for (const auto& mode : all_modes()) {
    two_streams w(mode);
    const auto& cu = w.f.cu;
    void* pinned = nullptr;
    CUgraph g = nullptr;
    unsigned found = 0;
    REQUIRE(cu.mem_host_alloc(&pinned, 4, 0) == CUDA_SUCCESS);
    *static_cast<unsigned*>(pinned) = 5;
    REQUIRE(cu.memset_d32_async(w.d, 9, 16, w.s) == CUDA_SUCCESS);
    REQUIRE(cu.stream_begin_capture(w.s, relaxed) == CUDA_SUCCESS);
    REQUIRE(cu.memcpy_htod_async(w.d, pinned, 4, w.s) == CUDA_SUCCESS);
    REQUIRE(cu.stream_end_capture(w.s, &g) == CUDA_SUCCESS);
    const CUgraphExec exec = w.instantiate(g);
    CHECK(cu.graph_launch(exec, w.s) == CUDA_SUCCESS);
    CHECK(cu.memcpy_dtoh_async(pinned, w.d + 4, 4, w.s) == CUDA_SUCCESS);
    CHECK(cu.stream_synchronize(w.s) == CUDA_SUCCESS);
    CHECK(*static_cast<unsigned*>(pinned) == 9);
    CHECK(cu.memcpy_dtoh(&found, w.d, 4) == CUDA_SUCCESS);
    CHECK(found == 5);
  }
}

TEST_CASE("a user object lives as long as a graph needs it", "[cpu][graph]") {
  for (const auto& mode : all_modes()) {
    two_streams w(mode);
    const auto& cu = w.f.cu;
    int destroyed = 0, calls = 0;
    CUuserObject object = nullptr;
    CHECK(cu.user_object_create(&object, &destroyed, count, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cu.user_object_create(&object, &destroyed, count, 2,
                                  CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) == CUDA_SUCCESS);
    CUgraph g = nullptr;
    REQUIRE(cu.graph_create(&g, 0) == CUDA_SUCCESS);
    w.add(g, {}, &calls);
    CHECK(cu.graph_retain_user_object(g, object, 1, CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS);
    CHECK(cu.user_object_release(object, 1) == CUDA_SUCCESS);
    CHECK(cu.user_object_release(object, 1) == CUDA_ERROR_INVALID_VALUE);
    const CUgraphExec exec = w.instantiate(g);
    CHECK(cu.graph_destroy(g) == CUDA_SUCCESS);
    CHECK(cu.graph_launch(exec, w.s) == CUDA_SUCCESS);
    CHECK(destroyed == 0);
    CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
    CHECK(cu.stream_synchronize(w.s) == CUDA_SUCCESS);
    CHECK(calls == 1);
    for (int i = 0; i < 1000 && destroyed == 0; ++i) (void)cu.stream_query(w.s);
    CHECK(destroyed == 1);
  }
}

TEST_CASE("graphs that are left over are listed", "[cpu][graph]") {
  two_streams w;
  const auto& cu = w.f.cu;
  const std::size_t before = w.f.live().size();
  CUgraph g = nullptr, h = nullptr;
  REQUIRE(cu.graph_create(&g, 0) == CUDA_SUCCESS);
  REQUIRE(cu.graph_clone(&h, g) == CUDA_SUCCESS);
  const CUgraphExec exec = w.instantiate(g);
  CHECK(w.f.live().size() == before + 3);
  CHECK(cu.graph_destroy(g) == CUDA_SUCCESS);
  CHECK(cu.graph_destroy(h) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == before + 1);
  CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == before);
  // The graph of a capture that fails is gone.
  REQUIRE(cu.stream_begin_capture(w.s, relaxed) == CUDA_SUCCESS);
  CHECK(cu.stream_synchronize(w.s) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(cu.stream_end_capture(w.s, &g) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(w.f.live().size() == before);
  // The graph of a capture ends with the stream, one that was there stays.
  REQUIRE(cu.stream_begin_capture(w.s, relaxed) == CUDA_SUCCESS);
  REQUIRE(cu.memset_d32_async(w.d, 0, 4, w.s) == CUDA_SUCCESS);
  CHECK(cu.stream_destroy(w.s) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == before - 1);
  REQUIRE(cu.graph_create(&g, 0) == CUDA_SUCCESS);
  REQUIRE(cu.stream_begin_capture_to_graph(w.t, g, nullptr, nullptr, 0, relaxed) == CUDA_SUCCESS);
  CHECK(cu.stream_destroy(w.t) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == before - 1);
  CHECK(cu.graph_destroy(g) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == before - 2);
}

}  // namespace graphs_test
