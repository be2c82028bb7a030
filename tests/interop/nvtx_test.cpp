// Ranges and marks of NVTX, as a tool that attaches by its protocol sees them. That a real
// injection library is found and called is tested by tests/structure/nvtx.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/compiler.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/interop/nvtx.hpp>
#include <gpu/interop/nvtx_calls.hpp>
#include <gpu/kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nvtx_test { namespace {

std::vector<std::string> heard;

/// What the functions of a tool write down: the event, and where it is from.
void write(const std::string& what, void* domain, const gpu::detail::nvtx_event* event) {
  std::string line = what;
  if (domain != nullptr) line += std::string("@") + static_cast<const char*>(domain);
  if (event != nullptr) {
    CHECK(event->version == 3);
    CHECK(event->bytes == 48);
    line += std::string(" ") + event->message;
    if (event->color_kind == 1) line += " color " + std::to_string(event->color);
    if (event->category != 0) line += " category " + std::to_string(event->category);
    if (event->payload_kind == 2) line += " " + std::to_string(event->payload.integer);
    if (event->payload_kind == 3) line += " " + std::to_string(event->payload.real);
  }
  heard.push_back(line);
}

using event = gpu::detail::nvtx_event;

/// A tool, which attaches as an injection library does: through the tables of the protocol, by the
/// numbers of its functions.
class tool {
 public:
  tool() {
    heard.clear();
    const auto* callbacks =
        static_cast<const gpu::detail::nvtx_callbacks_table*>(gpu::detail::nvtx_get_table(1));
    const auto* version =
        static_cast<const gpu::detail::nvtx_version_table*>(gpu::detail::nvtx_get_table(3));
    REQUIRE(callbacks->bytes == 16);
    REQUIRE(version->version == 3);
    version->set_version(3);
    CHECK(gpu::detail::nvtx_get_table(2) == nullptr);
    void*** list = nullptr;
    unsigned count = 0;
    CHECK(callbacks->get_functions(3, &list, &count) == 0);
    REQUIRE(callbacks->get_functions(5, &list, &count) == 1);
    REQUIRE(count == 16);
    set(list, 1, [](void* domain, const event* e) { write("mark", domain, e); });
    set(list, 2, [](void* domain, const event* e) {
      write("start", domain, e);
      return std::uint64_t{7};
    });
    set(list, 3, [](void* domain, std::uint64_t id) {
      write("end " + std::to_string(id), domain, nullptr);
    });
    set(list, 4, [](void* domain, const event* e) {
      write("push", domain, e);
      return 0;
    });
    set(list, 5, [](void* domain) {
      write("pop", domain, nullptr);
      return 0;
    });
    set(list, 8, [](void* domain, std::uint32_t number, const char* name) {
      write("category " + std::to_string(number) + " is " + name, domain, nullptr);
    });
    set(list, 12, [](const char* name) -> void* { return const_cast<char*>(name); });
    REQUIRE(callbacks->get_functions(2, &list, &count) == 1);
    REQUIRE(count == 9);
    set(list, 5,
        [](CUstream, const char* name) { heard.push_back(std::string("stream ") + name); });
    REQUIRE(callbacks->get_functions(1, &list, &count) == 1);
    REQUIRE(count == 16);
    set(list, 14, [](std::uint32_t thread, const char* name) {
      CHECK(thread != 0);
      heard.push_back(std::string("thread ") + name);
    });
  }
  tool(const tool&) = delete;
  tool& operator=(const tool&) = delete;
  ~tool() { gpu::detail::nvtx_state = {}; }

 private:
  template <class Function> static void set(void*** list, std::size_t number, Function function) {
    *list[number] = reinterpret_cast<void*>(+function);
  }
};

using lines = std::vector<std::string>;

TEST_CASE("NVTX: nothing happens without a tool", "[interop][nvtx]") {
  CHECK_FALSE(gpu::nvtx_is_listening());
  const gpu::nvtx_range range("nobody hears this");
  const gpu::nvtx_process_range process("nor this");
  gpu::nvtx_mark("nor this");
  gpu::nvtx_name_thread("nor this");
  CHECK(gpu::nvtx_domain("nor this").native() == nullptr);
  const gpu::driver::entry_points& before = gpu::driver::current_entry_points();
  const gpu::nvtx_calls marks;
  CHECK_FALSE(marks.is_marking());
  CHECK(&gpu::driver::current_entry_points() == &before);
}

TEST_CASE("NVTX: a tool hears ranges, marks and names", "[interop][nvtx]") {
  REQUIRE_FALSE(gpu::nvtx_is_listening());  // asked once, so that the protocol has begun
  const tool listening;
  REQUIRE(gpu::nvtx_is_listening());
  const gpu::nvtx_domain domain("library");
  domain.name_category(4, "solver");
  {
    const gpu::nvtx_range outer("outer");
    const gpu::nvtx_range inner("inner", {.color = 0xff0000ff, .category = 4, .domain = domain});
    gpu::nvtx_mark("plain");
    gpu::nvtx_mark("count", std::int64_t{-3});
    gpu::nvtx_mark("rate", 0.5, {.domain = domain});
  }
  gpu::nvtx_process_range first("overlapping", {.domain = domain});
  gpu::nvtx_process_range second = std::move(first);
  std::thread([ended = std::move(second)]() mutable { ended = {}; }).join();
  gpu::nvtx_name_thread("main");
  const algorithm_test::fixture f;
  gpu::nvtx_name(f.stream, "work");
  CHECK(heard == lines{"category 4 is solver@library", "push outer",
                       "push@library inner color 4278190335 category 4", "mark plain",
                       "mark count -3", "mark@library rate 0.500000", "pop@library", "pop",
                       "start@library overlapping", "end 7@library", "thread main", "stream work"});
}

TEST_CASE("NVTX: the library's calls are ranges on request", "[interop][nvtx][compiler]") {
  const algorithm_test::fixture f;
  REQUIRE_FALSE(gpu::nvtx_is_listening());
  const tool listening;
  const gpu::driver::entry_points& before = gpu::driver::current_entry_points();
  {
    const gpu::nvtx_calls marks;
    CHECK(marks.is_marking());
    const gpu::nvtx_calls again;
    CHECK_FALSE(again.is_marking());
    gpu::compile_cache none({.use = gpu::cache_use::off});
    const auto compiled = test::value_of(
        gpu::compile("extern \"C\" __global__ void twice(int* x) { *x *= 2; }", {.cache = &none}));
    const auto module = test::value_of(gpu::module::load(compiled));
    const auto kernel = test::value_of(module.kernel<int*>("twice"));
    auto x = f.upload(std::vector<int>{21});
    test::value_of(gpu::launch(f.stream, {1, 1}, kernel, x));
    test::value_of(f.stream.synchronize());
    CHECK(f.download(x) == std::vector<int>{42});
  }
  CHECK(&gpu::driver::current_entry_points() == &before);
  const auto count = [](const std::string& line) {
    return std::count(heard.begin(), heard.end(), line);
  };
  CHECK(count("push@gpu nvrtcCompileProgram") == 1);
  CHECK(count("push@gpu cuLibraryLoadData") >= 1);
  CHECK(count("push@gpu twice") == 1);
  CHECK(count("push@gpu cuMemcpy") + count("push@gpu cuMemcpyHtoD") >= 1);
  CHECK(count("push@gpu cuStreamSynchronize") >= 1);
  const auto pushes = std::count_if(
      heard.begin(), heard.end(), [](const std::string& line) { return line.starts_with("push"); });
  CHECK(count("pop@gpu") == pushes);
  const std::size_t all = heard.size();
  test::value_of(f.stream.synchronize());
  CHECK(heard.size() == all);
}

}}  // namespace nvtx_test
