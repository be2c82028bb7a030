/// \file
/// A libFuzzer target over all that becomes of an image: a fat binary or text is recognized,
/// unpacked, parsed, loaded, and its kernels run on small grids. No input may crash, hang, leak or
/// make a sanitizer speak. tests/structure/fuzz builds and runs it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/machine/allocation.hpp>
#include <nogpu/machine/code.hpp>
#include <nogpu/machine/device_heap.hpp>
#include <nogpu/machine/host_processors.hpp>
#include <nogpu/machine/image.hpp>
#include <nogpu/machine/machine.hpp>
#include <nogpu/machine/memory_layout.hpp>
#include <nogpu/machine/tensor_map.hpp>
#include <nogpu/ptx/fatbin.hpp>
#include <nogpu/ptx/image_kind.hpp>
#include <nogpu/ptx/ir.hpp>
#include <nogpu/ptx/parser.hpp>
#include <nogpu/ptx/types.hpp>

namespace {

namespace machine = nogpu::machine;
namespace ptx = nogpu::ptx;

constexpr std::uint32_t target = 90;
constexpr std::size_t longest_text = 128 << 10;    // a fat binary may unpack to far more
constexpr std::uint64_t memory_bytes = 32 << 20;   // of the device
constexpr std::uint64_t heap_bytes = 64 << 10;     // of malloc in kernels
constexpr std::uint64_t buffer_bytes = 16 << 10;   // what the kernels' pointers point to
constexpr std::uint64_t tensor_maps_at = 4096;     // in the buffer
constexpr std::uint64_t instructions = 2048;       // that a thread may execute
constexpr std::uint32_t threads_per_block = 40;    // a full warp and a part of one
constexpr std::uint32_t shared_bytes = 227 << 10;  // that a block may have
constexpr std::size_t kernels_per_module = 8;
constexpr std::uint32_t image_side = 8;  // texels of an image in each direction

/// The image as a driver gets it, but with a known end: zeros behind it, and no wrapper, whose
/// pointer nobody could check.
std::string text_of(std::span<const std::uint8_t> input) {
  std::vector<std::byte> image(input.size() + 64);
  if (!input.empty()) std::memcpy(image.data(), input.data(), input.size());
  const std::optional<ptx::image_kind> kind = ptx::identify(image.data());
  if (kind == ptx::image_kind::wrapper) return {};
  ptx::image_text found = kind == ptx::image_kind::fatbin
                              ? ptx::text_of_fatbin({image.data(), input.size()}, target)
                              : ptx::text_of_image(image.data(), target);
  if (!found || found.text.size() > longest_text) return {};
  return std::move(found.text);
}

/// Pointers and counts that are good for most kernels: eight bytes are an address, less a number.
std::vector<std::byte> arguments(const ptx::function& entry, machine::address buffer) {
  std::size_t size = entry.parameter_bytes;
  for (const ptx::parameter& p : entry.parameters) {
    size = std::max<std::size_t>(size, std::size_t{p.offset} + p.size);
  }
  std::vector<std::byte> block(size);
  for (const ptx::parameter& p : entry.parameters) {
    const std::uint64_t value = p.size < 8 ? threads_per_block : buffer;
    const std::size_t unit = p.size < 8 ? p.size : 8;
    for (std::size_t at = 0; unit != 0 && at + unit <= p.size; at += unit) {
      std::memcpy(block.data() + p.offset + at, &value, unit);
    }
  }
  return block;
}

/// Textures and surfaces of every shape, whose handles count from 1: 1 to 7 are textures of floats,
/// 8 to 14 filtered ones of bytes, 15 to 21 surfaces. All have the same texels.
void add_images(machine::image_table& images, machine::address texels) {
  using enum machine::image_shape;
  const struct {
    machine::image_shape shape;
    bool layered;
  } shapes[] = {{one, false}, {two, false},  {three, false}, {one, true},
                {two, true},  {cube, false}, {cube, true}};
  const auto image_of = [&](auto shape, machine::texel_format format) {
    machine::image made{.shape = shape.shape, .layered = shape.layered, .format = format};
    if (shape.layered || shape.shape == cube) made.layers = shape.shape == cube ? 6 : image_side;
    for (std::uint32_t side = image_side; side != 0; side /= 2) {
      const std::uint64_t row = std::uint64_t{side} * format.bytes();
      made.levels.push_back({.base = texels,
                             .width = side,
                             .height = shape.shape == one ? 1 : side,
                             .depth = shape.shape == three ? side : 1,
                             .row_pitch = row,
                             .slice_pitch = row * side});
    }
    return made;
  };
  const machine::texel_format floats{machine::channel_kind::floating, 4, 4};
  const machine::texel_format bytes{machine::channel_kind::unsigned_integer, 1, 4};
  for (const auto& shape : shapes) images.add(machine::texture{.source = image_of(shape, floats)});
  for (const auto& shape : shapes) {
    machine::sampler_state how{.linear = true, .normalized_coordinates = true};
    how.linear_levels = true;
    how.greatest_level = 4;
    how.anisotropy = 4;
    how.seamless_cube = true;
    images.add(machine::texture{.source = image_of(shape, bytes), .how = how});
  }
  for (const auto& shape : shapes) images.add(machine::surface{.source = image_of(shape, floats)});
}

void run_kernel(const machine::executable& kernel, machine::address_space& memory,
                machine::host_processors& processors, machine::address buffer,
                const machine::image_table& images) {
  machine::device_heap heap(memory, 1, heap_bytes);
  const std::vector<std::byte> parameters = arguments(*kernel.entry, buffer);
  machine::launch what;
  what.kernel = &kernel;
  what.grid.x = 2;
  what.block.x = threads_per_block;
  if (kernel.entry->required_cluster.x == 2) what.cluster.x = 2;
  const ptx::dimensions& required = kernel.entry->required_threads;
  if (required.x != 0)
    what.block = {required.x, std::max(required.y, 1u), std::max(required.z, 1u)};
  if (!kernel.refused.empty()) return;
  if (what.block.count() > 128 || what.block.count() > kernel.max_threads_per_block) return;
  what.dynamic_shared_bytes = 256;
  if (kernel.dynamic_shared_begin > shared_bytes - what.dynamic_shared_bytes) return;
  what.parameters = parameters;
  what.context = 1;
  what.heap = &heap;
  what.images = &images;
  what.limit.instructions_per_thread = instructions;
  std::size_t printed = 0;
  what.hook.print = [&](std::string_view text) { printed += text.size(); };
  what.hook.report = [&](const machine::fault& f) { printed += f.text.size(); };
  const std::optional<machine::fault> fault = machine::run(what, memory, processors);
  if (fault && (fault->kind == machine::fault_kind::none || fault->text.empty())) __builtin_trap();
}

/// Two tensor maps in the buffer: of tiles of 4 rows of 8 words, and of columns of 6 pixels.
bool add_tensor_maps(machine::address_space& memory, machine::address buffer) {
  machine::tensor_map tiles;
  tiles.mark = machine::tensor_map::mark_of_map;
  tiles.rank = 2;
  tiles.element = ptx::type::u32;
  tiles.base = buffer;
  tiles.last = {15, 7};
  tiles.strides = {64};
  tiles.box = {8, 4};
  tiles.steps = {1, 2};
  tiles.swizzle_bits = 1;
  machine::tensor_map pixels = tiles;
  pixels.mode = machine::tensor_mode::im2col;
  pixels.rank = 4;
  pixels.element = ptx::type::f16;
  pixels.last = {7, 4, 3, 1};
  pixels.strides = {16, 80, 320};
  pixels.steps = {1, 2, 1, 1};
  pixels.pixels = 6;
  pixels.lower = {-1, -1};
  pixels.upper = {-1, 1};
  pixels.fills_with_nan = 1;
  using machine::fault_kind;
  return memory.write(buffer + tensor_maps_at, &tiles, sizeof tiles, 1) == fault_kind::none &&
         memory.write(buffer + tensor_maps_at + 128, &pixels, sizeof pixels, 1) == fault_kind::none;
}

void run_image(std::span<const std::uint8_t> input) {
  const std::string text = text_of(input);
  if (text.empty()) return;
  ptx::parse_result parsed = ptx::parse(text);
  if (!parsed) {
    if (parsed.error->text.empty() || parsed.error->line == 0) __builtin_trap();
    return;
  }
  machine::address_space memory(memory_bytes);
  machine::host_processors processors(1);
  const auto buffer = memory.allocate({.size = buffer_bytes, .owner = 1, .site = "the target"});
  // The texels of the largest image: layers or slices of floats in four channels.
  const auto texels =
      memory.allocate({.size = std::uint64_t{image_side} * image_side * image_side * 16,
                       .kind = machine::memory_kind::array,
                       .counts = false,
                       .site = "the target"});
  if (!buffer || !texels) __builtin_trap();
  machine::image_table images;
  add_images(images, *texels);
  const std::uint64_t zero = 0;
  if (memory.fill(*buffer, &zero, 8, buffer_bytes / 16, 1) != machine::fault_kind::none) {
    __builtin_trap();
  }
  if (!add_tensor_maps(memory, *buffer)) __builtin_trap();
  {
    const machine::load_result loaded =
        machine::load(std::make_shared<const ptx::module>(std::move(parsed.value)), memory,
                      {.owner = 1, .name = "module"});
    if (!loaded) {
      if (loaded.diagnostic.text.empty()) __builtin_trap();
    } else {
      std::size_t count = 0;
      for (const machine::executable* kernel : loaded.module->kernels()) {
        if (count++ == kernels_per_module) break;
        run_kernel(*kernel, memory, processors, *buffer, images);
      }
    }
  }
  if (memory.used() != buffer_bytes) __builtin_trap();  // a module leaves nothing behind
}

/// Where the pieces of PTX end: statements, operands, blocks.
std::vector<std::string_view> pieces(std::string_view text, std::string_view ends) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(ends), text.size() - 1) + 1;
    all.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return all;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Half of the mutations are those of libFuzzer, on bytes. The other half moves whole statements or
/// operands of a text about, so that what comes out still has a chance to parse.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  const bool is_text = size > 0 && data[0] != 0x50 && data[0] != 0x7f;
  if (!is_text || random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> parts = pieces(text, random() % 2 == 0 ? ";{}\n" : " ,;.[]{}()\n");
  const auto any = [&] { return static_cast<std::ptrdiff_t>(random() % parts.size()); };
  const std::ptrdiff_t from = any(), to = any();
  switch (random() % 4) {
    case 0: parts.erase(parts.begin() + from); break;
    case 1: parts.insert(parts.begin() + to, parts[static_cast<std::size_t>(from)]); break;
    case 2: parts[static_cast<std::size_t>(to)] = parts[static_cast<std::size_t>(from)]; break;
    default: std::swap(parts[static_cast<std::size_t>(to)], parts[static_cast<std::size_t>(from)]);
  }
  std::string out;
  for (const std::string_view part : parts) out += part;
  if (out.size() > most) out.resize(most);
  std::memcpy(data, out.data(), out.size());
  return out.size();
}

/// Statements of one text among those of another.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size,
                                                 const std::uint8_t* b, std::size_t b_size,
                                                 std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  std::minstd_rand random(seed);
  const std::string first(reinterpret_cast<const char*>(a), a_size);
  const std::string second(reinterpret_cast<const char*>(b), b_size);
  const auto into = pieces(first, ";{}"), of = pieces(second, ";{}");
  std::string text;
  const std::size_t place = into.empty() ? 0 : random() % into.size();
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (i == place && !of.empty()) {
      const std::size_t begin = random() % of.size();
      const std::size_t count = 1 + random() % 8;
      for (std::size_t j = begin; j < of.size() && j < begin + count; ++j) text += of[j];
    }
    text += into[i];
  }
  if (text.size() > most) text.resize(most);
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run_image({data, size});
  return 0;
}
