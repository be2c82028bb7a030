#pragma once
/// \file
/// Chooses and writes the kernels that sort.

#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/sort.hpp>
#include <gpu/device/embedded/sort_sweep.hpp>
#include <gpu/generated/kernel_store.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The threads of a block, the keys of a thread, and the blocks that a multiprocessor holds at once
/// within the registers that it has.
struct sort_tile {
  unsigned threads;
  unsigned items;
  unsigned blocks;  ///< 0 for as many as the compiler finds
  constexpr unsigned size() const noexcept { return threads * items; }
};

// Tuning parameters. benchmarks/algorithm/sort.cu measures their effect.

/// With fewer keys than this, tiles are small, so that most multiprocessors get one.
inline constexpr std::uint64_t least_large_sort = std::uint64_t{1} << 19;
/// Returns the bytes of shared memory that a block of a sweep needs, in all: its part of the keys
/// or values, and counts of the digits for each warp and for the block.
constexpr unsigned sweep_shared_bytes(const sort_tile& tile, unsigned widest) noexcept {
  return tile.size() * widest + tile.threads / 32 * (256 * 4 + 4) + 256 * 8 + 64;
}

/// The tile of a sweep: a thread holds its keys, their positions and then its values in registers.
/// `shared_bytes` is how much shared memory a block may have.
constexpr sort_tile choose_sweep_tile(unsigned key_bytes, unsigned value_bytes, std::uint64_t count,
                                      unsigned shared_bytes) noexcept {
  const unsigned widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (count < least_large_sort) return {384, 6, 2};
  if (widest > 8) return {384, 8, 2};
  if (value_bytes == 0) return {512, widest <= 4 ? 18u : 10u, 2};
  // The keys of a digit are written together, so large tiles write longer pieces.
  const sort_tile large = widest <= 4 ? sort_tile{1024, 14, 1} : sort_tile{896, 10, 1};
  if (sweep_shared_bytes(large, widest) <= shared_bytes) return large;
  return {512, widest <= 4 ? 12u : 8u, 2};
}
inline constexpr sort_tile count_tile = {512, 8, 4};
/// The tile that one block sorts in one launch.
inline constexpr sort_tile block_tile = {512, 8, 1};

/// Below this number of keys, numbers of 32 bits count them beside two bits of flags.
inline constexpr std::uint64_t least_wide_sort = (std::uint64_t{1} << 30) - (1u << 16);

/// The kernels for one type of keys and values.
struct sort_form {
  sort_key key;
  sort_value value;
  sort_tile sweep;  ///< the tile of a sweep; empty for a sort in one block
  bool wide;        ///< numbers of 64 bits count keys

  bool in_block() const noexcept { return sweep.items == 0; }

  std::uint64_t store_key() const noexcept {
    std::uint64_t packed = key.bytes;
    packed = packed << 8 | key.exponent;
    packed = packed << 8 | value.bytes;
    packed = packed << 8 | value.alignment;
    packed = packed << 8 | sweep.items;
    return packed << 1 | (wide ? 1u : 0u);
  }
};

/// Returns the device's unsigned integer of this size.
constexpr const char* unsigned_of(unsigned bytes) noexcept {
  switch (bytes) {
    case 1: return "unsigned char";
    case 2: return "unsigned short";
    case 4: return "unsigned";
    case 8: return "unsigned long long";
    default: return "uint4";
  }
}

/// Writes the type that moves a value, and ends the line.
inline void write_value_type(text_builder& out, const sort_value& value) {
  if (value.bytes == 0) {
    out << "gpu::sorting::no_value;\n";
  } else if (value.alignment < value.bytes) {
    out << "gpu::sorting::parts<" << unsigned_of(value.alignment) << ", "
        << value.bytes / value.alignment << ">;\n";
  } else {
    out << unsigned_of(value.bytes) << ";\n";
  }
}

inline text sort_kernel_name(const sort_form& form, const char* what) {
  text_builder out;
  out << "gpu_sort_" << form.key.name << (form.value.bytes == 0 ? "_" : "_pairs_") << what;
  return required(out.finish());
}

inline void write_includes(text_builder& out, const generated_program& program) {
  for (const program_header& each : program.headers) out << "#include <" << each.name << ">\n";
}

/// Writes the headers and the type of the keys.
inline void write_keys(text_builder& out, const generated_program& program, const sort_key& key) {
  write_includes(out, program);
  out << "using gpu_keys = gpu::sorting::key_format<" << unsigned_of(key.bytes) << ", "
      << key.exponent << ">;\n";
}

/// A function that one kernel of a sort or of a selection calls.
struct sort_function {
  const char* name;
  const char* types = "";  ///< its template arguments behind the keys
  bool of_digit = false;   ///< there is a launch for each digit
  const char* call = "call";
};

inline void write_sort_kernel(text_builder& out, const text& name, const sort_tile& tile,
                              const sort_function& function) {
  out << "extern \"C\" __global__ void __launch_bounds__(" << tile.threads;
  if (tile.blocks != 0) out << ", " << tile.blocks;
  out << ") " << name << "(const __grid_constant__ gpu::sorting::" << function.call << " c"
      << (function.of_digit ? ", const int pass" : "") << ") {\n  gpu::sorting::" << function.name
      << "<gpu_keys" << function.types << ", " << tile.threads << ", " << tile.items << ">(c"
      << (function.of_digit ? ", pass" : "") << ");\n}\n";
}

/// Writes the program of a form: the kernel of one block, or those of the sweeps.
inline result<> write_sort(const sort_form& form, generated_program& program) {
  text_builder out;
  program.headers.push_back({sort_header_name, sort_header});
  if (!form.in_block()) program.headers.push_back({sort_sweep_header_name, sort_sweep_header});
  write_keys(out, program, form.key);
  out << "using gpu_value = ";
  write_value_type(out, form.value);
  if (form.in_block()) {
    program.kernel = sort_kernel_name(form, "block");
    write_sort_kernel(out, program.kernel, block_tile, {"sort_block", ", gpu_value"});
  } else {
    program.kernel = sort_kernel_name(form, "count");
    program.more_kernels.push_back(sort_kernel_name(form, "digit"));
    write_sort_kernel(out, program.kernel, count_tile, {"count_digits"});
    const char* const types =
        form.wide ? ", gpu_value, unsigned long long" : ", gpu_value, unsigned";
    write_sort_kernel(out, *program.more_kernels.begin(), form.sweep, {"sort_digit", types, true});
  }
  program.set_source("gpu_sort.cu", out);
  return {};
}

}}}  // namespace gpu::v1::detail
