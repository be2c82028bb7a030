// Speed of the PTX machine at plain arithmetic: millions of thread-instructions per second,
// on one thread and on all, without divergence and with, with values that nobody wrote, and while
// costs are counted; matrix products; samples of textures; launches of one block; and how fast it
// loads a large module.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/allocation.hpp>
#include <nogpu/machine/cost_table.hpp>
#include <nogpu/machine/host_processors.hpp>
#include <nogpu/machine/image.hpp>
#include <nogpu/machine/machine.hpp>
#include <nogpu/machine/memory_layout.hpp>
#include <nogpu/ptx/ir.hpp>
#include <nogpu/ptx/parser.hpp>

namespace {

using namespace nogpu;
using namespace nogpu::machine;

constexpr const char* head = ".version 8.3\n.target sm_90\n.address_size 64\n";

// Each has a loop of `instructions` instructions, executed `n` times by every thread.
struct measured {
  const char* kernel;
  double instructions;
};
constexpr measured kernels[] = {{"integer", 8}, {"floating", 8}, {"divergent", 8},
                                {"memory", 8},  {"local", 8},    {"undefined", 8}};

constexpr const char* text = R"(
.visible .entry integer(.param .u64 data, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
L: mad.lo.u32 %r2, %r2, 1664525, 1013904223;
  xor.b32 %r4, %r2, %r3; shl.b32 %r5, %r4, 3; add.u32 %r2, %r2, %r5; min.u32 %r6, %r2, %r4;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra L;
  mov.u32 %r6, %tid.x; mad.wide.u32 %rd2, %r6, 4, %rd1; st.global.u32 [%rd2], %r2; ret; }
.visible .entry floating(.param .u64 data, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .f32 %f<10>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
  cvt.rn.f32.u32 %f1, %r2;
L: fma.rn.f32 %f2, %f1, 0f3F000000, 0f3F800000; mul.f32 %f3, %f2, %f2; add.f32 %f1, %f1, %f3;
  max.f32 %f1, %f1, 0f00000000; mul.f32 %f1, %f1, 0f3DCCCCCD;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra L;
  mov.u32 %r6, %tid.x; mad.wide.u32 %rd2, %r6, 4, %rd1; st.global.f32 [%rd2], %f1; ret; }
.visible .entry divergent(.param .u64 data, .param .u32 n) {
  .reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
  and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0;
L: @%p1 bra ODD;
  add.u32 %r2, %r2, 7; xor.b32 %r2, %r2, %r3; mul.lo.u32 %r2, %r2, 3; bra NEXT;
ODD: add.u32 %r2, %r2, 5; xor.b32 %r2, %r2, 99; mul.lo.u32 %r2, %r2, 7; add.u32 %r2, %r2, 1;
NEXT: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r1; @%p2 bra L;
  mov.u32 %r6, %tid.x; mad.wide.u32 %rd2, %r6, 4, %rd1; st.global.u32 [%rd2], %r2; ret; }
.visible .entry memory(.param .u64 data, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
  mad.wide.u32 %rd2, %r2, 4, %rd1; st.global.u32 [%rd2], %r2;
L: ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r3; st.global.u32 [%rd2], %r4;
  xor.b32 %r5, %r4, %r3; shl.b32 %r6, %r5, 1;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra L;
  ret; }
.visible .entry local(.param .u64 data, .param .u32 n) {
  .local .align 4 .b8 room[64];
  .reg .pred %p; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
  mov.u64 %rd1, room; and.b32 %r4, %r2, 60; cvt.u64.u32 %rd2, %r4; add.u64 %rd2, %rd1, %rd2;
  st.local.u32 [%rd2], %r2;
L: ld.local.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r3; st.local.u32 [%rd2], %r4;
  xor.b32 %r5, %r4, %r3; shl.b32 %r6, %r5, 1;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra L;
  ret; }
.visible .entry undefined(.param .u64 data, .param .u32 n) {
  .shared .align 4 .b8 room[4];
  .reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
  ld.shared.u32 %r7, [room]; setp.ne.u32 %p1, %r1, 0;
L: add.u32 %r8, %r7, %r3; selp.b32 %r5, %r2, %r8, %p1;
  mad.lo.u32 %r2, %r2, 1664525, 1013904223; xor.b32 %r4, %r5, %r3; add.u32 %r2, %r2, %r4;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r1; @%p2 bra L;
  mov.u32 %r6, %tid.x; mad.wide.u32 %rd2, %r6, 4, %rd1; st.global.u32 [%rd2], %r2; ret; })";

/// A loop of one matrix product, executed `n` times by every warp. `operations`: of a product.
struct measured_product {
  const char* name;
  double operations;
  const char* loop;
};
constexpr measured_product products[] = {
    {"mma f16", 4096,
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r4,%r5,%r6,%r7}, "
     "{%r4,%r5}, {%f0,%f1,%f2,%f3};"},
    {"mma bf16", 4096,
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r4,%r5,%r6,%r7}, "
     "{%r4,%r5}, {%f0,%f1,%f2,%f3};"},
    {"mma tf32", 2048,
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, {%r4,%r5,%r6,%r7}, "
     "{%r4,%r5}, {%f0,%f1,%f2,%f3};"},
    {"mma e4m3", 8192,
     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, {%r4,%r5,%r6,%r7}, "
     "{%r4,%r5}, {%f0,%f1,%f2,%f3};"},
    {"mma s8", 8192,
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r8,%r9,%r10,%r11}, {%r4,%r5,%r6,%r7}, "
     "{%r4,%r5}, {%r8,%r9,%r10,%r11};"},
    {"mma f64", 4096,
     "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%d0,%d1,%d2,%d3}, "
     "{%d4,%d4,%d4,%d4,%d4,%d4,%d4,%d4}, {%d4,%d4,%d4,%d4}, {%d0,%d1,%d2,%d3};"}};

double seconds_of(const launch& what, address_space& memory, host_processors& processors) {
  const auto begin = std::chrono::steady_clock::now();
  const auto fault = run(what, memory, processors);
  if (fault) std::printf("%s\n", fault->text.c_str());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure_kernels(bool counted) {
  address_space memory;
  auto parsed = ptx::parse(std::string(head) + text);
  if (!parsed) return void(std::printf("%s\n", parsed.error->text.c_str()));
  auto loaded = load(std::make_shared<const ptx::module>(std::move(parsed.value)), memory);
  if (!loaded) return void(std::printf("%s\n", loaded.diagnostic.text.c_str()));
  const auto data = memory.allocate({.size = 1024});
  struct {
    address data;
    std::uint32_t n;
  } arguments{*data, 20000};
  for (const unsigned threads : {1u, 0u}) {
    host_processors processors(threads);
    for (const measured& k : kernels) {
      launch what;
      what.kernel = loaded.module->find_kernel(k.kernel);
      what.grid = {4 * processors.pool.threads(), 1, 1};
      what.block = {256, 1, 1};
      what.parameters = {reinterpret_cast<const std::byte*>(&arguments), 12};
      cost_table costs;
      if (counted) what.costs = &costs;
      double best = 1e9;
      for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of(what, memory, processors));
      const double executed =
          k.instructions * arguments.n * static_cast<double>(what.grid.count() * 256);
      std::printf("%-10s %2u threads %10.1f M thread-instructions/s%s\n", k.kernel,
                  processors.pool.threads(), executed / best / 1e6, counted ? ", counted" : "");
    }
  }
}

void measure_products() {
  for (const measured_product& product : products) {
    const std::string kernel = std::string(head) + R"(
.visible .entry k(.param .u32 n) {
  .reg .pred %p; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .f64 %d<5>;
  ld.param.u32 %r1, [n]; mov.u32 %r3, 0; mov.u32 %r2, %tid.x; mad.lo.u32 %r4, %r2, 77, 0x38003800;
  xor.b32 %r5, %r4, 3; xor.b32 %r6, %r4, 0x80000000; xor.b32 %r7, %r4, 0x10; cvt.rn.f64.u32 %d4, %r2;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; mov.u32 %r8, 0;
  mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, 0; cvt.f64.f32 %d0, %f0; mov.f64 %d1, %d0;
  mov.f64 %d2, %d0; mov.f64 %d3, %d0;
L: )" + product.loop + R"(
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra L;
  ret; })";
    address_space memory;
    auto parsed = ptx::parse(kernel);
    if (!parsed) return void(std::printf("%s\n", parsed.error->text.c_str()));
    auto loaded = load(std::make_shared<const ptx::module>(std::move(parsed.value)), memory);
    if (!loaded) return void(std::printf("%s\n", loaded.diagnostic.text.c_str()));
    const std::uint32_t n = 2000;
    host_processors processors(1);
    launch what;
    what.kernel = loaded.module->find_kernel("k");
    what.grid = {4, 1, 1};
    what.block = {128, 1, 1};
    what.parameters = {reinterpret_cast<const std::byte*>(&n), 4};
    double best = 1e9;
    for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of(what, memory, processors));
    std::printf("%-10s %2u threads %10.2f G operations/s\n", product.name,
                processors.pool.threads(), product.operations * n * 16 / best / 1e9);
  }
}

/// A texture of 64 x 64 texels (x 8 in three dimensions), and the instruction that reads it.
struct measured_texture {
  const char* name;
  texel_format format;
  image_shape shape;
  bool linear;
  const char* read;
};
constexpr measured_texture textures[] = {
    {"float, nearest",
     {channel_kind::floating, 4, 1},
     image_shape::two,
     false,
     "tex.2d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f4, %f5}];"},
    {"float, linear",
     {channel_kind::floating, 4, 1},
     image_shape::two,
     true,
     "tex.2d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f4, %f5}];"},
    {"float4, linear",
     {channel_kind::floating, 4, 4},
     image_shape::two,
     true,
     "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f6}, [%rd1, {%f4, %f5}];"},
    {"half, linear",
     {channel_kind::floating, 2, 1},
     image_shape::two,
     true,
     "tex.2d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f4, %f5}];"},
    {"uchar4, linear",
     {channel_kind::unsigned_integer, 1, 4},
     image_shape::two,
     true,
     "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f6}, [%rd1, {%f4, %f5}];"},
    {"float, linear, 3D",
     {channel_kind::floating, 4, 1},
     image_shape::three,
     true,
     "tex.3d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f4, %f5, %f5, %f5}];"},
    {"float, integers",
     {channel_kind::floating, 4, 1},
     image_shape::two,
     false,
     "tex.2d.v4.f32.s32 {%f1, _, _, _}, [%rd1, {%r2, %r3}];"}};

void measure_textures() {
  for (const measured_texture& measured : textures) {
    const std::string kernel = std::string(head) + R"(
.visible .entry k(.param .u64 t, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<12>; .reg .f32 %f<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [t]; ld.param.u32 %r1, [n]; mov.u32 %r3, 0; mov.u32 %r2, %tid.x;
  cvt.rn.f32.u32 %f4, %r2; mul.f32 %f4, %f4, 0f3EAAAAAB; mov.f32 %f5, 0f3F9D70A4;
L: )" + measured.read + R"(
  add.f32 %f4, %f4, 0f3DCCCCCD; add.f32 %f5, %f5, 0f3D4CCCCD;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra L;
  ret; })";
    address_space memory;
    auto parsed = ptx::parse(kernel);
    if (!parsed) return void(std::printf("%s\n", parsed.error->text.c_str()));
    auto loaded = load(std::make_shared<const ptx::module>(std::move(parsed.value)), memory);
    if (!loaded) return void(std::printf("%s\n", loaded.diagnostic.text.c_str()));
    texture made;
    made.source.shape = measured.shape;
    made.source.format = measured.format;
    made.how.linear = measured.linear;
    made.how.address.fill(address_mode::clamp);
    const std::uint64_t row = 64 * measured.format.bytes();
    const std::uint64_t depth = measured.shape == image_shape::three ? 8 : 1;
    const std::vector<std::byte> texels(64 * row * depth, std::byte{0x3c});
    const auto base = memory.allocate({.size = texels.size(), .kind = memory_kind::array});
    (void)memory.write(*base, texels.data(), texels.size());
    made.source.levels = {{*base, 64, 64, depth, row, 64 * row}};
    image_table images;
    struct {
      std::uint64_t handle;
      std::uint32_t n;
    } arguments{images.add(std::move(made)), 500};
    host_processors processors(1);
    launch what;
    what.kernel = loaded.module->find_kernel("k");
    what.grid = {4, 1, 1};
    what.block = {128, 1, 1};
    what.images = &images;
    what.parameters = {reinterpret_cast<const std::byte*>(&arguments), 12};
    double best = 1e9;
    for (int i = 0; i < 5; ++i) best = std::min(best, seconds_of(what, memory, processors));
    std::printf("%-18s %10.1f ns a sample\n", measured.name, best / (500.0 * 512) * 1e9);
  }
}

/// Launches of one block: of a kernel that does nothing, and of one with thousands of registers, as
/// generated code has, of which it writes few.
void measure_launches() {
  address_space memory;
  std::string source = std::string(head) +
                       ".visible .entry small() { ret; }\n.visible .entry large() {\n"
                       ".reg .pred %p; .reg .b32 %r<1001>; .reg .b64 %rd<1000>;\n"
                       "mov.u32 %r1000, %ntid.x; setp.gt.u32 %p, %r1000, 1; @%p bra END;\n";
  for (int i = 0; i < 1000; ++i) {
    const std::string n = std::to_string(i);
    source += "mov.u32 %r" + n + ", 1; mov.u64 %rd" + n + ", 2;\n";
  }
  auto parsed = ptx::parse(source + "END: ret; }\n");
  if (!parsed) return void(std::printf("%s\n", parsed.error->text.c_str()));
  auto loaded = load(std::make_shared<const ptx::module>(std::move(parsed.value)), memory);
  if (!loaded) return void(std::printf("%s\n", loaded.diagnostic.text.c_str()));
  host_processors processors(1);
  for (const char* name : {"small", "large"}) {
    launch what;
    what.kernel = loaded.module->find_kernel(name);
    what.block = {256, 1, 1};
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      double all = 0;
      for (int i = 0; i < 200; ++i) all += seconds_of(what, memory, processors);
      best = std::min(best, all / 200);
    }
    std::printf("a launch of 256 threads, %s kernel %10.1f us\n", name, best * 1e6);
  }
}

void measure_loading() {
  std::string big = std::string(head) +
                    ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<100>; .reg .b32 %r<100>;\n"
                    "ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < 5000; ++i)
    big += "mad.lo.s32 %r" + std::to_string(i % 99 + 1) + ", %r" + std::to_string(i % 97 + 1) +
           ", " + std::to_string(i) + ", %r" + std::to_string(i % 89 + 1) + ";\n";
  big += "ret;\n}\n";
  address_space memory;
  const auto begin = std::chrono::steady_clock::now();
  auto parsed = ptx::parse(big);
  const auto middle = std::chrono::steady_clock::now();
  const bool good =
      parsed && load(std::make_shared<const ptx::module>(std::move(parsed.value)), memory);
  const auto end = std::chrono::steady_clock::now();
  const auto milliseconds = [](auto a, auto b) {
    return std::chrono::duration<double, std::milli>(b - a).count();
  };
  std::printf("5,000 lines%s: parsed in %.1f ms, loaded in %.1f ms\n", good ? "" : " (refused)",
              milliseconds(begin, middle), milliseconds(middle, end));
}

}  // namespace

int main() {
  measure_kernels(false);
  measure_kernels(true);
  measure_products();
  measure_textures();
  measure_launches();
  measure_loading();
}
