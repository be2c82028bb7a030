// Loading modules: variables, relocations, what a driver asks about kernels, what is refused.
#include "nogpu/machine/kernel_harness.hpp"

namespace loader_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;
using failure = load_result::failure;

load_result load_body(const std::string& body, address_space& memory) {
  return load_text(module_text(body), memory, "unit");
}

}  // namespace

TEST_CASE("variables have their initial values and addresses", "[machine]") {
  workbench bench(R"(
.visible .global .align 4 .u32 counter = 5;
.visible .global .align 8 .b8 table[24] = {1, 2, 3};
.visible .const .align 4 .f32 factor = 0f40000000;
.visible .global .align 8 .u64 pointer = table+8;
.visible .global .align 8 .u64 generic_pointer = generic(counter);
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .f32 %f;
  ld.param.u64 %rd1, [out];
  ld.global.u64 %rd2, [pointer]; mov.u64 %rd3, table; sub.u64 %rd4, %rd2, %rd3;
  st.global.u64 [%rd1], %rd4;
  ld.const.f32 %f, [factor]; st.global.f32 [%rd1+8], %f;
  ld.global.u64 %rd5, [generic_pointer]; ld.u32 %r1, [%rd5]; add.u32 %r1, %r1, 1;
  st.global.u32 [counter], %r1;
  ret; })");
  const address out = bench.allocate(16);
  bench.run_well("k", {}, {}, out);
  CHECK(bench.download<std::uint64_t>(out, 1)[0] == 8);
  CHECK(bench.download<float>(out + 8, 1)[0] == 2.0f);
  const auto counter = bench.module->find_variable("counter");
  REQUIRE(counter);
  CHECK(counter->size == 4);
  CHECK(bench.download<u32>(counter->base, 1)[0] == 6);
  const auto table = bench.module->find_variable("table");
  REQUIRE(table);
  CHECK(bench.download<std::uint8_t>(table->base, 5) == std::vector<std::uint8_t>{1, 2, 3, 0, 0});
  CHECK(!bench.module->find_variable("nothing"));
  CHECK(bench.module->variables().size() == 5);
}

TEST_CASE("a mask puts one byte of an address into a variable", "[machine]") {
  workbench bench(R"(
.visible .global .align 4 .b8 target[8];
.visible .global .align 8 .b8 spelled[8] = {0xFF(target), 0xFF00(target), 0xFF0000(target),
  0xFF000000(target), 0xFF00000000(target), 0xFF0000000000(target), 0xFF000000000000(target),
  0xFF00000000000000(target)};
.visible .entry k() { ret; })");
  const address spelled = bench.module->find_variable("spelled")->base;
  CHECK(bench.download<std::uint64_t>(spelled, 1)[0] ==
        bench.module->find_variable("target")->base);
}

TEST_CASE("a kernel knows what a driver asks for", "[machine]") {
  workbench bench(R"(
.const .align 4 .b8 settings[64];
.shared .align 4 .b8 unused[1000];
.extern .shared .align 32 .b8 dynamic[];
.visible .entry k(.param .u32 a, .param .u64 b, .param .align 8 .b8 c[24]) .maxntid 128, 2, 1 {
  .shared .align 4 .b8 room[100]; .local .align 8 .b8 depot[40];
  .reg .b32 %r<4>;
  mov.u32 %r1, dynamic; mov.u32 %r2, room; st.shared.u32 [%r2], %r1;
  ret; }
.visible .entry other() { ret; })");
  const executable* kernel = bench.module->find_kernel("k");
  REQUIRE(kernel);
  CHECK(bench.module->kernels().size() == 2);
  CHECK(bench.module->find_kernel("none") == nullptr);
  CHECK(kernel->static_shared_bytes == 100);
  CHECK(kernel->dynamic_shared_begin == 1024 + 128);
  CHECK(kernel->local_bytes == 48);
  CHECK(kernel->constant_bytes == 64);
  CHECK(kernel->max_threads_per_block == 256);
  CHECK(bench.module->find_kernel("other")->static_shared_bytes == 0);
  REQUIRE(kernel->entry->parameters.size() == 3);
  CHECK(kernel->entry->parameters[1].offset == 8);
  CHECK(kernel->entry->parameters[2].offset == 16);
  CHECK(kernel->entry->parameter_bytes == 40);
}

TEST_CASE("dynamic shared memory begins behind the static", "[machine]") {
  workbench bench(R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b8 room[20];
  .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  st.shared.u32 [room+16], 1; st.shared.u32 [dynamic], 2; st.shared.u32 [dynamic+60], 3;
  ld.shared.u32 %r1, [room+16]; ld.shared.u32 %r2, [dynamic]; ld.shared.u32 %r3, [dynamic+60];
  mov.u32 %r4, %dynamic_smem_size; mov.u32 %r5, %total_smem_size;
  st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3;
  st.global.u32 [%rd1+12], %r4; st.global.u32 [%rd1+16], %r5;
  ret; })");
  const address out = bench.allocate(20);
  bench.what.dynamic_shared_bytes = 64;
  bench.run_well("k", {}, {}, out);
  CHECK(bench.download<u32>(out, 5) == std::vector<u32>{1, 2, 3, 64, 128});
  bench.what.dynamic_shared_bytes = 60;
  CHECK(bench.run("k", {}, {}, out).error->kind == fault_kind::shared_out_of_bounds);
}

TEST_CASE("unloading gives the memory back", "[machine]") {
  address_space memory;
  {
    auto loaded = load_body(".visible .global .b8 big[1000];", memory);
    REQUIRE(loaded);
    CHECK(memory.used() == 1000);
    loaded_module moved = std::move(*loaded.module);
    auto other = load_body(".visible .global .b8 small[10];", memory);
    moved = std::move(*other.module);
    CHECK(memory.used() == 10);
  }
  CHECK(memory.used() == 0);
  CHECK(memory.live().empty());
}

TEST_CASE("what cannot be loaded is refused with the reason, and leaves nothing", "[machine]") {
  address_space memory(1000);
  const auto refused = [&](const std::string& body) {
    auto result = load_body(body, memory);
    CHECK(!result);
    CHECK(memory.live().empty());
    return result;
  };
  const auto call = refused(R"(
.extern .func mystery();
.global .b8 there[100];
.visible .entry k() { call.uni mystery; ret; })");
  CHECK(call.why == failure::unresolved_symbol);
  CHECK(call.diagnostic.line == 7);
  CHECK(call.diagnostic.text.find("mystery") != std::string::npos);
  const auto variable = refused(".extern .global .u32 elsewhere;");
  CHECK(variable.why == failure::unresolved_symbol);
  const auto big = refused(".global .b8 huge[2000];");
  CHECK(big.why == failure::out_of_memory);
  CHECK(big.diagnostic.text.find("huge of 2000 bytes") != std::string::npos);
}

}  // namespace loader_test
