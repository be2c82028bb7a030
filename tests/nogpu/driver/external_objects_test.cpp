// Memory, semaphores and buffers of other interfaces, as the CPU driver has them: what it refuses,
// and what it finds.

#include "nogpu/driver/driver_fixture.hpp"
#include "support/foreign_file.hpp"

#include <gpu/testing/gl_stand_in.hpp>

#include <chrono>
#include <cstring>
#include <string>

namespace external_objects_test {
namespace {

using test::driver_fixture;
using test::foreign_file;

template <class Struct> Struct cleared() {
  Struct made;
  std::memset(&made, 0, sizeof made);
  return made;
}

CUresult import_memory(const driver_fixture& f, const foreign_file& theirs, std::uint64_t size,
                       CUexternalMemory& made,
                       int type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) {
  auto from = cleared<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>();
  gpu::file_descriptor file = theirs.descriptor();
  from.type = static_cast<CUexternalMemoryHandleType>(type);
  from.handle.fd = file.native();
  from.size = size;
  const CUresult code = f.cu.import_external_memory(&made, &from);
  if (code == CUDA_SUCCESS) (void)file.release();
  return code;
}

CUexternalSemaphore import_semaphore(const driver_fixture& f, const foreign_file& theirs,
                                     bool timeline) {
  auto from = cleared<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>();
  from.type = timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                       : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  from.handle.fd = theirs.descriptor().release();
  CUexternalSemaphore made = nullptr;
  REQUIRE(f.cu.import_external_semaphore(&made, &from) == CUDA_SUCCESS);
  return made;
}

CUresult signal(const driver_fixture& f, CUstream stream, CUexternalSemaphore semaphore,
                std::uint64_t value) {
  auto how = cleared<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>();
  how.params.fence.value = value;
  return f.cu.signal_external_semaphores_async(&semaphore, &how, 1, stream);
}
CUresult wait(const driver_fixture& f, CUstream stream, CUexternalSemaphore semaphore,
              std::uint64_t value) {
  auto how = cleared<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>();
  how.params.fence.value = value;
  return f.cu.wait_external_semaphores_async(&semaphore, &how, 1, stream);
}

bool contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a wait for a semaphore that nobody signals is given up", "[cpu]") {
  for (auto options : test::all_modes()) {
    options.value_wait_limit = std::chrono::milliseconds(20);
    for (const bool timeline : {true, false}) {
      const driver_fixture f(options);
      const foreign_file theirs;
      CUstream stream = nullptr;
      REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
      const CUexternalSemaphore semaphore = import_semaphore(f, theirs, timeline);
      REQUIRE(wait(f, stream, semaphore, 3) == CUDA_SUCCESS);
      CHECK(f.cu.stream_synchronize(stream) == CUDA_ERROR_LAUNCH_TIMEOUT);
      CHECK(contains(f.reports(), timeline ? "a timeline semaphore to reach 3, but its value is 0"
                                           : "a binary semaphore, but nobody signaled it"));
      CHECK(f.take_findings() == 1);
    }
  }
}

TEST_CASE("a timeline semaphore that is signaled with a lower value is found", "[cpu]") {
  for (const auto& options : test::all_modes()) {
    const driver_fixture f(options);
    const foreign_file theirs;
    CUstream stream = nullptr;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    const CUexternalSemaphore semaphore = import_semaphore(f, theirs, true);
    REQUIRE(signal(f, stream, semaphore, 5) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(f.take_findings() == 0);
    REQUIRE(signal(f, stream, semaphore, 5) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(contains(f.reports(), "its value may only grow"));
    CHECK(f.take_findings() == 1);
  }
}

TEST_CASE("handles of other interfaces are refused if they are not those of files", "[cpu]") {
  const driver_fixture f;
  const foreign_file theirs(4096);
  CUexternalMemory memory = nullptr;
  CHECK(import_memory(f, theirs, 4097, memory) == CUDA_ERROR_INVALID_VALUE);
  CHECK(import_memory(f, theirs, 0, memory) == CUDA_ERROR_INVALID_VALUE);
  CHECK(import_memory(f, theirs, 4096, memory, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(import_memory(f, theirs, 4096, memory, 10) == CUDA_ERROR_INVALID_VALUE);
  for (int type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
       type <= CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD; ++type)
    CHECK(import_memory(f, theirs, 4096, memory, type) == CUDA_ERROR_NOT_SUPPORTED);
  REQUIRE(import_memory(f, theirs, 4096, memory) == CUDA_SUCCESS);
  REQUIRE(f.live().size() == 1);
  CHECK(contains(f.live()[0], "external memory"));
  CUdeviceptr address = 0;
  auto part = cleared<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>();
  part.offset = 4096;
  part.size = 1;
  CHECK(f.cu.external_memory_get_mapped_buffer(&address, memory, &part) ==
        CUDA_ERROR_INVALID_VALUE);
  part.offset = 8;
  part.size = 8;
  REQUIRE(f.cu.external_memory_get_mapped_buffer(&address, memory, &part) == CUDA_SUCCESS);
  REQUIRE(f.cu.destroy_external_memory(memory) == CUDA_SUCCESS);
  CHECK(f.cu.destroy_external_memory(memory) == CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(f.cu.memset_d8(address, 0x5a, 8) == CUDA_SUCCESS);  // it stays until it is freed
  REQUIRE(f.cu.ctx_synchronize() == CUDA_SUCCESS);
  CHECK(theirs.as<unsigned char>()[7] == 0);
  CHECK(theirs.as<unsigned char>()[8] == 0x5a);
  REQUIRE(f.cu.mem_free(address) == CUDA_SUCCESS);
  CHECK(f.live().empty());
  CHECK(f.cu.device_get_nvscisync_attributes(&address, 0, CUDA_NVSCISYNC_ATTR_WAIT) ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(f.cu.device_get_nvscisync_attributes(&address, 0, 0) == CUDA_ERROR_INVALID_VALUE);

  const CUexternalSemaphore semaphore = import_semaphore(f, theirs, true);
  CHECK(f.cu.signal_external_semaphores_async(&semaphore, nullptr, 1, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.destroy_external_semaphore(semaphore) == CUDA_SUCCESS);
  CHECK(signal(f, nullptr, semaphore, 1) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("objects of other interfaces end with their context", "[cpu]") {
  const driver_fixture f;
  const foreign_file theirs(4096);
  const gpu::testing::gl_stand_in current;
  gpu::testing::gl_stand_in gl;
  CUcontext own = nullptr;
  CUctxCreateParams how{};
  REQUIRE(f.cu.ctx_create(&own, &how, 0, 0) == CUDA_SUCCESS);
  CUexternalMemory memory = nullptr;
  REQUIRE(import_memory(f, theirs, 4096, memory) == CUDA_SUCCESS);
  const CUexternalSemaphore semaphore = import_semaphore(f, theirs, true);
  CUgraphicsResource resource = nullptr;
  REQUIRE(f.cu.graphics_gl_register_buffer(&resource, gl.make_buffer(64), 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.graphics_map_resources(1, &resource, nullptr) == CUDA_SUCCESS);
  CHECK(f.live().size() == 5);
  REQUIRE(f.cu.ctx_destroy(own) == CUDA_SUCCESS);
  CHECK(f.live().empty());
  CHECK(f.cu.destroy_external_memory(memory) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.cu.destroy_external_semaphore(semaphore) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.cu.graphics_unregister_resource(resource) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_CASE("a buffer of OpenGL has an address only while it is mapped", "[cpu]") {
  const driver_fixture f;
  gpu::testing::gl_stand_in gl;
  const unsigned name = gl.make_buffer(64);
  CUgraphicsResource resource = nullptr;
  REQUIRE(f.cu.graphics_gl_register_buffer(&resource, name, 0) == CUDA_SUCCESS);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  CHECK(f.cu.graphics_resource_get_mapped_pointer(&address, &bytes, resource) ==
        CUDA_ERROR_NOT_MAPPED);
  CHECK(f.cu.graphics_unmap_resources(1, &resource, nullptr) == CUDA_ERROR_NOT_MAPPED);
  REQUIRE(f.cu.graphics_map_resources(1, &resource, nullptr) == CUDA_SUCCESS);
  REQUIRE(f.cu.graphics_resource_get_mapped_pointer(&address, &bytes, resource) == CUDA_SUCCESS);
  CHECK(bytes == 64);
  CHECK(f.cu.mem_free(address) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.memset_d8(address, 7, 64) == CUDA_SUCCESS);
  REQUIRE(f.cu.graphics_unmap_resources(1, &resource, nullptr) == CUDA_SUCCESS);
  CHECK(gl.bytes(name)[63] == std::byte{7});
  unsigned char value = 0;
  CHECK(f.cu.memcpy_dtoh(&value, address, 1) == CUDA_ERROR_INVALID_VALUE);
  CUgraphicsResource twice[] = {resource, resource};
  CHECK(f.cu.graphics_map_resources(2, twice, nullptr) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.graphics_map_resources(1, &resource, nullptr) == CUDA_SUCCESS);
  REQUIRE(f.cu.graphics_unregister_resource(resource) == CUDA_SUCCESS);  // ends the mapping, too
  CHECK(f.live().empty());
}

TEST_CASE("a kernel that writes to what is mapped to be read is found", "[cpu]") {
  constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry write(.param .u64 p) {
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 7;
  ret;
}
)";
  const driver_fixture f;
  gpu::testing::gl_stand_in gl;
  CUgraphicsResource resource = nullptr;
  CUmodule code = nullptr;
  CUfunction function = nullptr;
  REQUIRE(f.cu.module_load_data(&code, ptx) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&function, code, "write") == CUDA_SUCCESS);
  REQUIRE(f.cu.graphics_gl_register_buffer(&resource, gl.make_buffer(64), 0) == CUDA_SUCCESS);
  for (const unsigned flags :
       {CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY}) {
    REQUIRE(f.cu.graphics_resource_set_map_flags(resource, flags) == CUDA_SUCCESS);
    REQUIRE(f.cu.graphics_map_resources(1, &resource, nullptr) == CUDA_SUCCESS);
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    REQUIRE(f.cu.graphics_resource_get_mapped_pointer(&address, &bytes, resource) == CUDA_SUCCESS);
    void* arguments[] = {&address};
    REQUIRE(f.cu.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
            CUDA_SUCCESS);
    const bool read_only = flags == CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY;
    CHECK((f.cu.ctx_synchronize() == CUDA_SUCCESS) == !read_only);
    if (!read_only) REQUIRE(f.cu.graphics_unmap_resources(1, &resource, nullptr) == CUDA_SUCCESS);
  }
  CHECK(f.take_findings() == 1);
}

}  // namespace external_objects_test
