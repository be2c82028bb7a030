// Makes ranges and marks, for a tool that listens or does not.

#include <gpu/interop/nvtx.hpp>

#include <cstdio>
#include <thread>

int main() {
  std::printf("%s\n", gpu::nvtx_is_listening() ? "a tool listens" : "no tool listens");
  const gpu::nvtx_domain domain("library");
  gpu::nvtx_name_thread("main");
  gpu::nvtx_name(gpu::stream_ref::legacy_default(gpu::context_ref()), "work");
  const gpu::nvtx_range outer("outer", {.color = 0xff00ff00, .category = 3});
  gpu::nvtx_process_range across("across threads", {.domain = domain});
  gpu::nvtx_mark("count", std::int64_t{42}, {.domain = domain});
  gpu::nvtx_mark("rate", 0.25);
  std::thread([ended = std::move(across)]() mutable { ended = {}; }).join();
}
