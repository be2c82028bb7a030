#pragma once
/// The description of an instruction's form in the instruction table.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nogpu/ptx/modifiers.hpp>
#include <nogpu/ptx/opcodes.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// One form of an instruction.
/// `suffixes`: groups of suffixes.hpp, `!` behind one that must be there.
/// `types`: alternatives for each type, up to four, of the mnemonic, separated by `|`; `int`,
/// `int8`, `bits`,
///   `data` stand for the sets below.
/// `operands`: one letter each.
///   D register of the first type · E 32-bit integer register · W register of twice the width
///   K like D, may be wider · V like K, a vector with .v2, .v4 · P predicate · Q p or p|q
///   S d or d|p, d a 32-bit register · X destination of a video instruction, with selector
///   a b c source of the first, second, third type · k source of the second type, may be wider
///   r like k, or a special register
///   v source like V · w source of twice the width · i 32-bit, l 64-bit integer · f f32
///   I integer constant · p predicate, may be negated · A 64-bit or 32-bit address as a value
///   m memory operand · y z sources of a video instruction with selectors · h cache policy,
///   present exactly with .L2::cache_hint · M the operands of mov
///   U like D or _ · T like S, always d|p · u source like v, of the first type exactly
///   R destination of a texture read, a vector d or d|p · t [object, coordinates] · j [object]
///   F G H J fragments of matrices: D, A, B, C · N the registers of x1, x2, x4 matrices, to load
///   n the same, to store · q 32-bit register of any type
///   s the fragment of A or a matrix descriptor · e a 32-bit register of metadata
///   g a vector of f32, one for each coordinate · o a vector of offsets
///   B [tensor map, coordinates] · C a vector of offsets of im2col · d 16-bit integer
/// `least`, `most`: bounds on the .target; 0 is none.
struct form {
  std::string_view name;
  opcode op;
  std::string_view suffixes;
  std::string_view types;
  std::string_view operands;
  std::uint8_t least = 0;
  std::uint8_t most = 0;
};

inline constexpr std::size_t max_types = 4;

/// A form that a mnemonic fits, and what its suffixes say.
struct resolved_form {
  const form* row = nullptr;
  modifiers with;
  type types[max_types] = {};
  std::size_t type_count = 0;
  bool hint = false;
};

struct type_set {
  std::string_view name;
  std::string_view members;
};
inline constexpr type_set type_sets[] = {
    {"int", "u16 u32 u64 s16 s32 s64"},
    {"int8", "u8 u16 u32 u64 s8 s16 s32 s64"},
    {"bits", "b16 b32 b64"},
    {"data", "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"},
};

}}}  // namespace nogpu::v1::ptx::detail
