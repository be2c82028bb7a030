// Reports of misused CUDA arrays, and how their memory is kept.

#include "driver_fixture.hpp"
#include "image_fixture.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace array_reports_test {

using test::array_form;
using test::counting_bytes;
using test::driver_fixture;
using test::make_array;

namespace {

constexpr unsigned deferred = CUDA_ARRAY3D_DEFERRED_MAPPING;

/// Writes the texel (x, y) of layer l of a texture of floats.
constexpr char sample[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry sample(.param .u64 texture, .param .u64 out, .param .s32 l, .param .s32 x,
                       .param .s32 y)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  .reg .f32 %f<5>;
  ld.param.u64 %rd1, [texture];
  ld.param.u64 %rd2, [out];
  ld.param.s32 %r1, [l];
  ld.param.s32 %r2, [x];
  ld.param.s32 %r3, [y];
  tex.a2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r3}];
  st.global.f32 [%rd2], %f1;
  ret;
}
)";

/// A driver with a texture of three layers of an array, to be sampled by a kernel.
struct sampled_array : driver_fixture {
  CUarray array = nullptr;
  CUtexObject texture = 0;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr out = 0;

  sampled_array() {
    array = make_array(cu, array_form(4, 2, 3, CUDA_ARRAY3D_LAYERED));
    std::vector<float> texels(24);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
    auto copy = test::box(16, 2, 3);
    test::from_host(copy, texels.data(), 0, 0);
    test::to_array(copy, array);
    REQUIRE(cu.memcpy_3d(&copy) == CUDA_SUCCESS);
    const auto resource = test::resource_of(array);
    const auto how = test::sampling();
    REQUIRE(cu.tex_object_create(&texture, &resource, &how, nullptr) == CUDA_SUCCESS);
    REQUIRE(cu.module_load_data(&module, sample) == CUDA_SUCCESS);
    REQUIRE(cu.module_get_function(&kernel, module, "sample") == CUDA_SUCCESS);
    REQUIRE(cu.mem_alloc(&out, sizeof(float)) == CUDA_SUCCESS);
  }
  CUresult launch(CUtexObject object, int layer, int x, int y) {
    void* arguments[] = {&object, &out, &layer, &x, &y};
    (void)cu.launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    return cu.ctx_synchronize();
  }
  float texel(CUtexObject object, int layer, int x, int y) {
    float value = -1;
    CHECK(launch(object, layer, x, y) == CUDA_SUCCESS);
    CHECK(cu.memcpy_dtoh(&value, out, sizeof value) == CUDA_SUCCESS);
    return value;
  }
};

}  // namespace

TEST_CASE("arrays count against the memory of their device", "[cpu]") {
  gpu::testing::cpu_driver_options options = test::with_places();
  options.memory_per_device = std::size_t{1} << 20;
  driver_fixture f(options);
  std::size_t before = 0;
  std::size_t after = 0;
  CHECK(f.cu.mem_get_info(&before, nullptr) == CUDA_SUCCESS);
  const CUarray array = make_array(f.cu, array_form(256, 256, 0));
  const CUarray none = make_array(f.cu, array_form(4096, 4096, 0, deferred));
  CHECK(f.cu.mem_get_info(&after, nullptr) == CUDA_SUCCESS);
  CHECK(before - after == 256 * 256 * 4);
  CUmipmappedArray levels = nullptr;
  const auto form = array_form(512, 512, 0);
  CHECK(f.cu.mipmapped_array_create(&levels, &form, 10) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(f.cu.mipmapped_array_create(&levels, &form, 10) == CUDA_ERROR_OUT_OF_MEMORY);
  const std::vector<std::string> live = f.live();
  REQUIRE(live.size() == 2);
  CHECK(live[0].find("array of 262144 bytes") == 0);
  CHECK(test::names_place(live[0], "created at"));
  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  CHECK(f.cu.array_destroy(none) == CUDA_SUCCESS);
  CHECK(f.cu.mem_get_info(&after, nullptr) == CUDA_SUCCESS);
  CHECK(before == after);
  CHECK(f.live().empty());
}

TEST_CASE("extents of arrays that overflow are refused", "[cpu]") {
  driver_fixture f;
  std::vector<unsigned char> host(64);
  constexpr std::size_t beyond = ~std::size_t{0};
  const CUarray array = make_array(f.cu, array_form(16, 8, 4));
  CHECK(f.cu.memcpy_atoh(host.data(), array, beyond, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htoa(array, 4, host.data(), beyond - 3) == CUDA_ERROR_INVALID_VALUE);
  struct start {
    std::size_t x, y, z;
  };
  for (const start& at : {start{beyond - 3, 0, 0}, start{0, beyond, 0}, start{0, 0, beyond}}) {
    auto copy = test::box(4, 1, 1);
    test::from_host(copy, host.data(), 0, 0);
    test::to_array(copy, array, at.x, at.y, at.z);
    CHECK(f.cu.memcpy_3d(&copy) == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
}

TEST_CASE("handles of arrays that are gone are told apart", "[cpu]") {
  driver_fixture f;
  CUDA_ARRAY3D_DESCRIPTOR got{};
  const CUarray array = make_array(f.cu, array_form(16, 8, 0));
  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  CHECK(f.cu.array_destroy(array) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.array_3d_get_descriptor(&got, array) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.memcpy_htoa(array, 0, &got, 4) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.array_destroy(reinterpret_cast<CUarray>(&got)) == CUDA_ERROR_INVALID_HANDLE);

  CUmipmappedArray levels = nullptr;
  CUarray level = nullptr;
  const auto form = array_form(16, 8, 0);
  REQUIRE(f.cu.mipmapped_array_create(&levels, &form, 2) == CUDA_SUCCESS);
  REQUIRE(f.cu.mipmapped_array_get_level(&level, levels, 1) == CUDA_SUCCESS);
  CHECK(f.live().size() == 1);
  CHECK(f.cu.mipmapped_array_destroy(levels) == CUDA_SUCCESS);
  CHECK(f.cu.array_3d_get_descriptor(&got, level) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.mipmapped_array_destroy(levels) == CUDA_ERROR_INVALID_HANDLE);

  CUcontext own = nullptr;
  CUcontext popped = nullptr;
  REQUIRE(f.cu.ctx_create(&own, nullptr, 0, 0) == CUDA_SUCCESS);
  const CUarray inside = make_array(f.cu, form);
  const CUarray video = make_array(
      f.cu, array_form(64, 32, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CU_AD_FORMAT_NV12, 3));
  REQUIRE(f.cu.mipmapped_array_create(&levels, &form, 2) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_destroy(own) == CUDA_SUCCESS);
  (void)f.cu.ctx_pop_current(&popped);
  REQUIRE(f.cu.ctx_set_current(f.context) == CUDA_SUCCESS);
  CHECK(f.cu.array_3d_get_descriptor(&got, inside) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.cu.array_destroy(video) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.cu.mipmapped_array_destroy(levels) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.live().empty());
}

TEST_CASE("copies of arrays keep the order of their stream, and show who looks too early",
          "[cpu]") {
  for (const auto& mode : test::all_modes()) {
    driver_fixture f(mode);
    const bool late = mode.mode == gpu::testing::execution::deferred;
    CUstream stream = nullptr;
    void* pinned = nullptr;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc_host(&pinned, 128) == CUDA_SUCCESS);
    auto* bytes = static_cast<unsigned char*>(pinned);
    const CUarray array = make_array(f.cu, array_form(16, 0, 0));
    const auto sent = counting_bytes(64);
    std::memcpy(bytes, sent.data(), 64);
    CHECK(f.cu.memcpy_htoa_async(array, 0, bytes, 64, stream) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_atoh_async(bytes + 64, array, 0, 64, stream) == CUDA_SUCCESS);
    if (late) CHECK(bytes[64] == gpu::testing::poison);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(std::memcmp(bytes + 64, sent.data(), 64) == 0);
    // Ending the array waits for the copy that still reads it.
    std::memset(bytes + 64, 0, 64);
    CHECK(f.cu.memcpy_atoh_async(bytes + 64, array, 0, 64, stream) == CUDA_SUCCESS);
    CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
    CHECK(std::memcmp(bytes + 64, sent.data(), 64) == 0);
    CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
    CHECK(f.reports().empty());
    CHECK(f.live().empty());
  }
}

TEST_CASE("a graph that copies an array that is gone is reported", "[cpu]") {
  driver_fixture f;
  CUstream stream = nullptr;
  std::vector<unsigned char> host(64);
  const CUarray array = make_array(f.cu, array_form(16, 0, 0));
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_htoa_async(array, 0, host.data(), 64, stream) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  REQUIRE(f.cu.stream_end_capture(stream, &graph) == CUDA_SUCCESS);
  REQUIRE(test::instantiate(f.cu, graph, executable) == CUDA_SUCCESS);
  CHECK(f.cu.graph_launch(executable, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(f.reports().empty());
  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  (void)f.cu.graph_launch(executable, stream);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(f.reports().find("the freed array of 64 bytes") != std::string::npos);
}

TEST_CASE("copies out of an array that was never written, and into one without memory", "[cpu]") {
  driver_fixture f;
  std::vector<unsigned char> host(64);
  const CUarray array = make_array(f.cu, array_form(16, 0, 0));
  CHECK(f.cu.memcpy_atoh(host.data(), array, 0, 64) == CUDA_SUCCESS);
  CHECK(f.reports().find("which were never written") != std::string::npos);
  CHECK(f.reports().find("the array of 64 bytes") != std::string::npos);
  const CUarray none = make_array(f.cu, array_form(16, 0, 0, deferred));
  CHECK(f.cu.memcpy_htoa(none, 0, host.data(), 64) == CUDA_ERROR_LAUNCH_FAILED);
  CHECK(f.reports().find("no memory is mapped") != std::string::npos);
  CHECK(f.cu.ctx_synchronize() == CUDA_ERROR_LAUNCH_FAILED);
  // What a context with a fault has can still be given back.
  CHECK(f.live().size() == 2);
  CHECK(f.cu.array_destroy(array) == CUDA_ERROR_LAUNCH_FAILED);
  CHECK(f.cu.array_destroy(none) == CUDA_ERROR_LAUNCH_FAILED);
  CHECK(f.live().empty());
}

TEST_CASE("kernels read what was copied into an array, and only the layers of a view", "[cpu]") {
  sampled_array f;
  CHECK(f.texel(f.texture, 0, 3, 1) == 7.0f);
  CHECK(f.texel(f.texture, 2, 1, 0) == 17.0f);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = 4;
  view.height = 2;
  view.depth = 3;
  view.firstLayer = 1;
  view.lastLayer = 1;
  const auto resource = test::resource_of(f.array);
  const auto how = test::sampling();
  CUtexObject viewed = 0;
  REQUIRE(f.cu.tex_object_create(&viewed, &resource, &how, &view) == CUDA_SUCCESS);
  CHECK(f.texel(viewed, 0, 1, 0) == 9.0f);
  CHECK(f.reports().empty());
}

TEST_CASE("a texture of an array that is gone is reported when a kernel reads it", "[cpu]") {
  sampled_array f;
  CHECK(f.cu.array_destroy(f.array) == CUDA_SUCCESS);
  CHECK(f.launch(f.texture, 0, 3, 1) == CUDA_ERROR_ILLEGAL_ADDRESS);
  INFO(f.reports());
  CHECK(f.reports().find("the freed array of 96 bytes") != std::string::npos);
  CHECK(f.reports().find("kernel sample") != std::string::npos);
}

TEST_CASE("a texture object that is gone is reported when a kernel reads it", "[cpu]") {
  sampled_array f;
  CHECK(f.cu.tex_object_destroy(f.texture) == CUDA_SUCCESS);
  CHECK(f.launch(f.texture, 0, 3, 1) != CUDA_SUCCESS);
  INFO(f.reports());
  CHECK(f.reports().find("texture object that was destroyed") != std::string::npos);
}

}  // namespace array_reports_test
