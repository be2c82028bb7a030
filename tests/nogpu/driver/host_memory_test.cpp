// A host that runs out of memory: each allocation of the CPU driver's calls failing in turn, in
// every thread. A call says so, nothing that it has half done is left, and the next call works.

#include "driver_fixture.hpp"

#include "support/host_memory.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cpu_host_memory_test { namespace {

using table = gpu::driver::entry_points;

// add(p): p[i] += 1
constexpr const char* text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 p) {
  .reg .b64 %a, %o; .reg .b32 %x;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  mov.u32 %x, %ctaid.x; mul.wide.u32 %o, %x, 4; add.s64 %a, %a, %o;
  ld.global.u32 %x, [%a]; add.u32 %x, %x, 1; st.global.u32 [%a], %x; bar.sync 0; ret;
}
)";

/// What a step of a scenario works with; what it makes has a handle here until it is given back.
struct scene {
  const test::driver_fixture& f;
  const table& cu;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUstream stream = nullptr, other = nullptr;
  CUdeviceptr memory = 0, more = 0;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUuserObject object = nullptr;
  CUmemoryPool pool = nullptr;
  CUarray array = nullptr;
  CUtexObject texture = 0;
  CUcontext context = nullptr;
  CUlinkState link = nullptr;
  void* host = nullptr;
  CUgraph outer = nullptr, clone = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUdeviceptr reserved = 0;
  CUmemGenericAllocationHandle physical = 0;
  bool mapped = false;
  int destroyed = 0;
  bool handed_over = false;
  unsigned values[4] = {1, 2, 3, 4};

  explicit scene(const test::driver_fixture& fixture) : f{fixture}, cu{fixture.cu} {}

  CUresult launch() {
    void* arguments[] = {&memory};
    return cu.launch_kernel(add, 4, 1, 1, 2, 1, 1, 0, stream, arguments, nullptr);
  }
};

struct scenario {
  const char* name;
  std::function<void(scene&)> before;  // with memory left
  std::vector<std::function<CUresult(scene&)>> steps;
};

CUresult instantiate(scene& s) {
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  return s.cu.graph_instantiate_with_params(&s.exec, s.graph, &params);
}

CUresult add_copy(scene& s) {
  CUgraphNode node = nullptr;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset.dst = s.memory;
  params.memset.elementSize = 4;
  params.memset.value = 7;
  params.memset.width = 4;
  params.memset.height = 1;
  params.memset.ctx = s.f.context;
  return s.cu.graph_add_node(&node, s.graph, nullptr, nullptr, 0, &params);
}

CUresult load(scene& s) { return s.cu.module_load_data(&s.module, text); }
CUresult get_add(scene& s) { return s.cu.module_get_function(&s.add, s.module, "add"); }
CUresult make_stream(scene& s) { return s.cu.stream_create(&s.stream, CU_STREAM_NON_BLOCKING); }
CUresult make_other(scene& s) { return s.cu.stream_create(&s.other, CU_STREAM_NON_BLOCKING); }
CUresult make_event(scene& s) { return s.cu.event_create(&s.event, CU_EVENT_DEFAULT); }
CUresult make_memory(scene& s) { return s.cu.mem_alloc(&s.memory, 16); }
CUresult make_graph(scene& s) { return s.cu.graph_create(&s.graph, 0); }
CUresult wait(scene& s) { return s.cu.stream_synchronize(s.stream); }

constexpr std::size_t granularity = std::size_t{2} << 20;

CUmemAllocationProp on_device() {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return prop;
}

/// What launches need.
void prepare(scene& s) {
  int number = 0;
  for (const auto step : {load, get_add, make_stream, make_other, make_event, make_memory}) {
    INFO("step " << number++);
    REQUIRE(step(s) == CUDA_SUCCESS);
  }
  REQUIRE(s.cu.memset_d32(s.memory, 0, 4) == CUDA_SUCCESS);
  REQUIRE(s.cu.ctx_synchronize() == CUDA_SUCCESS);
}

std::vector<scenario> scenarios() {
  return {
      {"memory",
       {},
       {make_memory, [](scene& s) { return s.cu.memset_d32(s.memory, 5, 4); },
        [](scene& s) { return s.cu.memcpy_htod(s.memory, s.values, 16); },
        [](scene& s) { return s.cu.memcpy_dtoh(s.values, s.memory, 16); },
        [](scene& s) { return s.cu.mem_host_alloc(&s.host, 64, 0); },
        [](scene& s) { return s.cu.mem_alloc_managed(&s.more, 64, 1); }}},
      {"streams and events",
       {},
       {make_stream, make_event, make_other,
        [](scene& s) { return s.cu.event_record(s.event, s.stream); },
        [](scene& s) { return s.cu.stream_wait_event(s.other, s.event, 0); },
        [](scene& s) { return s.cu.event_synchronize(s.event); },
        [](scene& s) { return s.cu.stream_synchronize(s.other); }}},
      {"pools",
       make_stream,
       {[](scene& s) {
          CUmemPoolProps props{};
          props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
          props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
          return s.cu.mem_pool_create(&s.pool, &props);
        },
        [](scene& s) { return s.cu.mem_alloc_async(&s.memory, 1024, s.stream); },
        [](scene& s) {
          const CUresult code = s.cu.mem_free_async(s.memory, s.stream);
          if (code == CUDA_SUCCESS) s.memory = 0;
          return code;
        },
        wait}},
      {"modules", {}, {load, get_add}},
      {"launches",
       prepare,
       {[](scene& s) { return s.launch(); },
        [](scene& s) { return s.cu.memcpy_dtoh_async(s.values, s.memory, 16, s.stream); }, wait}},
      {"captures",
       prepare,
       {[](scene& s) {
          return s.cu.stream_begin_capture(s.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        },
        [](scene& s) { return s.launch(); },
        [](scene& s) { return s.cu.event_record(s.event, s.stream); },
        [](scene& s) { return s.cu.stream_wait_event(s.other, s.event, 0); },
        [](scene& s) { return s.cu.memset_d32_async(s.memory, 3, 4, s.other); },
        [](scene& s) { return s.cu.event_record(s.event, s.other); },
        [](scene& s) { return s.cu.stream_wait_event(s.stream, s.event, 0); },
        [](scene& s) { return s.cu.stream_end_capture(s.stream, &s.graph); }, instantiate,
        [](scene& s) { return s.cu.graph_launch(s.exec, s.stream); }, wait}},
      {"graphs",
       prepare,
       {make_graph, add_copy, add_copy, instantiate,
        [](scene& s) { return s.cu.graph_launch(s.exec, s.stream); }, wait}},
      {"user objects",
       make_graph,
       {[](scene& s) {
          const CUresult code = s.cu.user_object_create(
              &s.object, &s, [](void* data) { ++static_cast<scene*>(data)->destroyed; }, 1,
              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
          s.handed_over = code == CUDA_SUCCESS;
          return code;
        },
        [](scene& s) {
          const CUresult code =
              s.cu.graph_retain_user_object(s.graph, s.object, 1, CU_GRAPH_USER_OBJECT_MOVE);
          if (code == CUDA_SUCCESS) s.object = nullptr;
          return code;
        }}},
      {"child graphs and clones",
       [](scene& s) {
         prepare(s);
         REQUIRE(make_graph(s) == CUDA_SUCCESS);
         REQUIRE(add_copy(s) == CUDA_SUCCESS);
       },
       {[](scene& s) { return s.cu.graph_create(&s.outer, 0); },
        [](scene& s) {
          CUgraphNode node = nullptr;
          CUgraphNodeParams params{};
          params.type = CU_GRAPH_NODE_TYPE_GRAPH;
          params.graph.graph = s.graph;
          return s.cu.graph_add_node(&node, s.outer, nullptr, nullptr, 0, &params);
        },
        [](scene& s) { return s.cu.graph_clone(&s.clone, s.outer); },
        [](scene& s) {
          CUDA_GRAPH_INSTANTIATE_PARAMS params{};
          return s.cu.graph_instantiate_with_params(&s.exec, s.clone, &params);
        },
        [](scene& s) { return s.cu.graph_launch(s.exec, s.stream); }, wait}},
      {"libraries",
       {},
       {[](scene& s) {
          return s.cu.library_load_data(&s.library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
        },
        [](scene& s) { return s.cu.library_get_kernel(&s.kernel, s.library, "add"); },
        [](scene& s) { return s.cu.kernel_get_function(&s.add, s.kernel); }, make_memory,
        [](scene& s) { return s.launch(); }, [](scene& s) { return s.cu.ctx_synchronize(); }}},
      {"virtual memory",
       {},
       {[](scene& s) {
          return s.cu.mem_address_reserve(&s.reserved, granularity, granularity, 0, 0);
        },
        [](scene& s) {
          const CUmemAllocationProp prop = on_device();
          return s.cu.mem_create(&s.physical, granularity, &prop, 0);
        },
        [](scene& s) {
          const CUresult code = s.cu.mem_map(s.reserved, granularity, 0, s.physical, 0);
          s.mapped = code == CUDA_SUCCESS;
          return code;
        },
        [](scene& s) {
          const CUmemAccessDesc access{on_device().location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
          return s.cu.mem_set_access(s.reserved, granularity, &access, 1);
        }}},
      {"arrays",
       {},
       {[](scene& s) {
          CUDA_ARRAY3D_DESCRIPTOR form{};
          form.Width = form.Height = 8;
          form.Format = CU_AD_FORMAT_UNSIGNED_INT32;
          form.NumChannels = 1;
          return s.cu.array_3d_create(&s.array, &form);
        },
        [](scene& s) {
          CUDA_RESOURCE_DESC resource{};
          resource.resType = CU_RESOURCE_TYPE_ARRAY;
          resource.res.array.hArray = s.array;
          CUDA_TEXTURE_DESC how{};
          how.flags = CU_TRSF_READ_AS_INTEGER;
          return s.cu.tex_object_create(&s.texture, &resource, &how, nullptr);
        }}},
      {"links",
       {},
       {[](scene& s) { return s.cu.link_create(0, nullptr, nullptr, &s.link); },
        [](scene& s) {
          return s.cu.link_add_data(s.link, CU_JIT_INPUT_PTX, const_cast<char*>(text),
                                    std::char_traits<char>::length(text) + 1, "add", 0, nullptr,
                                    nullptr);
        },
        [](scene& s) {
          void* image = nullptr;
          std::size_t size = 0;
          return s.cu.link_complete(s.link, &image, &size);
        }}},
      {"contexts",
       {},
       {[](scene& s) { return s.cu.ctx_create(&s.context, nullptr, 0, 0); }, make_stream}},
  };
}

/// Whether the failure was that of a launch's work, so that its context does no more.
bool is_spoiled(scene& s) {
  CUstreamCaptureStatus status{};
  if (s.stream != nullptr && s.cu.stream_is_capturing(s.stream, &status) == CUDA_SUCCESS &&
      status != CU_STREAM_CAPTURE_STATUS_NONE) {
    (void)s.cu.stream_end_capture(s.stream, &s.graph);
  }
  return s.cu.ctx_synchronize() == CUDA_ERROR_OUT_OF_MEMORY;
}

/// Gives back what there is, the latest first.
std::string clean(scene& s, bool spoiled) {
  std::string wrong;
  const auto check = [&](const char* what, CUresult code) {
    if (code == CUDA_SUCCESS || (spoiled && code == CUDA_ERROR_OUT_OF_MEMORY)) return;
    wrong += std::string(what) + " says " + std::to_string(code) + "; ";
  };
  if (s.object != nullptr) check("releasing", s.cu.user_object_release(s.object, 1));
  if (s.exec != nullptr) check("exec", s.cu.graph_exec_destroy(s.exec));
  if (s.clone != nullptr) check("clone", s.cu.graph_destroy(s.clone));
  if (s.outer != nullptr) check("outer", s.cu.graph_destroy(s.outer));
  if (s.mapped) check("mapping", s.cu.mem_unmap(s.reserved, granularity));
  if (s.physical != 0) check("physical", s.cu.mem_release(s.physical));
  if (s.reserved != 0) check("reserved", s.cu.mem_address_free(s.reserved, granularity));
  if (s.library != nullptr) check("library", s.cu.library_unload(s.library));
  if (s.graph != nullptr) check("graph", s.cu.graph_destroy(s.graph));
  if (s.texture != 0) check("texture", s.cu.tex_object_destroy(s.texture));
  if (s.array != nullptr) check("array", s.cu.array_destroy(s.array));
  if (s.link != nullptr) check("link", s.cu.link_destroy(s.link));
  if (s.memory != 0) check("memory", s.cu.mem_free(s.memory));
  if (s.more != 0) check("managed", s.cu.mem_free(s.more));
  if (s.host != nullptr) check("host", s.cu.mem_free_host(s.host));
  if (s.event != nullptr) check("event", s.cu.event_destroy(s.event));
  if (s.stream != nullptr) check("stream", s.cu.stream_destroy(s.stream));
  if (s.other != nullptr) check("other", s.cu.stream_destroy(s.other));
  if (s.pool != nullptr) check("pool", s.cu.mem_pool_destroy(s.pool));
  if (s.module != nullptr) check("module", s.cu.module_unload(s.module));
  if (s.context != nullptr) check("context", s.cu.ctx_destroy(s.context));
  if (s.destroyed != (s.handed_over ? 1 : 0))
    wrong += "the object was destroyed " + std::to_string(s.destroyed) + " times; ";
  if (spoiled) {
    check("release", s.cu.device_primary_ctx_reset(0));
  } else if (const auto left = s.f.live(); !left.empty()) {
    wrong += "leaves " + left[0] + "; ";
  }
  return wrong;
}

/// Does a scenario in a driver of its own while allocation `n` fails. `happened` says whether it
/// came to that.
std::string run(const scenario& what, const gpu::testing::cpu_driver_options& options,
                std::size_t n, bool lasting, bool& happened) {
  const test::driver_fixture f(options);
  scene s(f);
  if (what.before) what.before(s);
  CUresult code = CUDA_SUCCESS;
  {
    const test::failing_anywhere failing(n, lasting);
    for (const auto& step : what.steps) {
      code = step(s);
      if (code != CUDA_SUCCESS) break;
    }
    happened = failing.happened();
  }
  std::string wrong;
  if (code != CUDA_SUCCESS && !(happened && code == CUDA_ERROR_OUT_OF_MEMORY))
    wrong += "says " + std::to_string(code) + "; ";
  const bool spoiled = is_spoiled(s);
  wrong += clean(s, spoiled);
  if (!happened || spoiled) return wrong;
  // The same driver does all of it afterwards.
  scene again(f);
  if (what.before) what.before(again);
  for (const auto& step : what.steps) {
    code = step(again);
    if (code != CUDA_SUCCESS) wrong += "the next time says " + std::to_string(code) + "; ";
    if (code != CUDA_SUCCESS) break;
  }
  return wrong + clean(again, false);
}

TEST_CASE("each allocation of the CPU driver may fail", "[cpu][host_memory][thorough]") {
  if (!test::failing_anywhere::possible()) return;
  std::size_t swept = 0;
  std::vector<gpu::testing::cpu_driver_options> modes = test::all_modes();
  modes.push_back(test::with_places());
  for (const gpu::testing::cpu_driver_options& mode : modes) {
    gpu::testing::cpu_driver_options options = mode;
    options.block_threads = 3;
    options.report = [](std::string_view) {};
    options.report_leaks_at_end = false;
    for (const scenario& what : scenarios()) {
      for (const bool lasting : {false, true}) {
        if (lasting && options.record_locations) continue;  // to know the places takes time
        bool happened = true;
        for (std::size_t n = 0; happened; ++n, ++swept) {
          INFO(
              what.name << ", allocation " << n << (lasting ? " and all after it" : "")
                        << (options.stream_threads ? ", threads" : "")
                        << (options.mode == gpu::testing::execution::deferred ? ", deferred" : ""));
          const std::string wrong = run(what, options, n, lasting, happened);
          if (!wrong.empty()) FAIL_CHECK(wrong);
        }
      }
    }
  }
  CHECK(swept > 1000);
}

}}  // namespace cpu_host_memory_test
