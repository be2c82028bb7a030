#pragma once
/// \file
/// Makes textures and surfaces on the machine, and runs one instruction on them for many inputs.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/image.hpp>
#include "kernel_harness.hpp"

namespace machine_test {

/// A kernel that executes `instruction` in each thread with the object %t, inputs %f0 to %f7, which
/// as integers are %i0 to %i7, and results %r0 to %r3.
inline std::string image_kernel(const std::string& instruction) {
  std::string text = R"(
.visible .entry k(.param .u64 object, .param .u64 in, .param .u64 out) {
  .reg .b32 %r<4>, %f<8>, %i<8>, %q; .reg .b16 %h<4>; .reg .b64 %t, %d<4>; .reg .pred %p;
  ld.param.u64 %t, [object]; ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
  mov.u32 %q, %tid.x; mad.wide.u32 %d0, %q, 32, %d0; mad.wide.u32 %d1, %q, 16, %d1;
)";
  for (int k = 0; k < 8; ++k) {
    const std::string n = std::to_string(k);
    text += "  ld.global.b32 %f" + n + ", [%d0+" + std::to_string(4 * k) + "];";
    text += " cvt.rzi.s32.f32 %i" + n + ", %f" + n + ";\n";
  }
  for (int k = 0; k < 4; ++k) text += "  mov.b32 %r" + std::to_string(k) + ", 0;";
  return text + "\n  mov.b64 %d2, 0; mov.b64 %d3, 0;\n  " + instruction +
         "\n  st.global.v4.b32 [%d1], {%r0,%r1,%r2,%r3};\n  ret;\n}";
}

using words = std::vector<std::uint32_t>;

/// An instruction and the objects that it works on.
class image_bench : public workbench {
 public:
  explicit image_bench(const std::string& instruction) : workbench(image_kernel(instruction)) {
    what.images = &images;
  }

  image_table images;

  /// Puts the texels of each level, rows and slices without gaps, into memory of its own.
  void fill(image& to, const std::vector<std::vector<std::byte>>& levels) {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const auto base = memory.allocate(
          {.size = levels[l].size(), .kind = memory_kind::array, .site = "array.cpp:7"});
      REQUIRE(base);
      REQUIRE(memory.write(*base, levels[l].data(), levels[l].size()) == fault_kind::none);
      to.levels[l].base = *base;
    }
  }

  /// Runs a thread for each eight inputs.
  outcome run_on(std::uint64_t object, const words& inputs) {
    in_ = upload(inputs);
    threads_ = static_cast<std::uint32_t>(inputs.size() / 8);
    out_ = allocate(std::size_t{threads_} * 16);
    return run("k", {}, {threads_, 1, 1}, object, in_, out_);
  }
  /// Four results of each thread of the last run.
  words results() { return download<std::uint32_t>(out_, std::size_t{threads_} * 4); }

 private:
  address in_ = 0, out_ = 0;
  std::uint32_t threads_ = 0;
};

/// An image of these extents without its memory; each level is half as large as the one before.
inline image make_image(image_shape shape, bool layered, texel_format format, std::uint64_t width,
                        std::uint64_t height, std::uint64_t depth, unsigned levels = 1) {
  image made{.shape = shape, .layered = layered, .format = format};
  const bool in_layers = layered || shape == image_shape::cube;
  if (in_layers) made.layers = static_cast<std::uint32_t>(depth);
  const auto halved = [](std::uint64_t n, unsigned l) { return n >> l != 0 ? n >> l : 1; };
  for (unsigned l = 0; l < levels; ++l) {
    image_level level;
    level.width = halved(width, l);
    level.height = halved(height, l);
    level.depth = in_layers ? 1 : halved(depth, l);
    level.row_pitch = level.width * format.bytes();
    level.slice_pitch = level.row_pitch * level.height;
    made.levels.push_back(level);
  }
  return made;
}

}  // namespace machine_test
