#pragma once
/// A PTX module after parsing: names resolved, types checked, nothing lowered.
/// All tables are plain vectors; references between them are indexes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nogpu/ptx/modifiers.hpp>
#include <nogpu/ptx/opcodes.hpp>
#include <nogpu/ptx/special_registers.hpp>
#include <nogpu/ptx/types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// The kinds of refusals; a driver has an error code for each.
enum class refusal : std::uint8_t {
  malformed,                ///< not PTX, or PTX that breaks a rule of the language
  unsupported_version,      ///< .version is newer than the parser
  unsupported_target,       ///< .target is newer than the device
  unsupported_instruction,  ///< legal PTX that this machine does not execute
  too_large,                ///< a limit of the parser or of a device
  invalid_image,            ///< neither text nor a container, or a broken container
  no_ptx,                   ///< an image of machine code only, or without PTX for this device
  compressed,               ///< PTX that is compressed in a way that is not decoded
};

/// The reason why a text was refused, with line and column, both from 1.
struct diagnostic {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string text;
  refusal reason = refusal::malformed;
};

/// An index that refers to nothing.
inline constexpr std::uint32_t no_index = 0xffff'ffffu;

/// The table that contains a symbol.
enum class symbol_kind : std::uint8_t {
  none,
  global,            ///< module::variables
  function,          ///< module::functions
  variable,          ///< function::variables (.local, .shared, .param of a call sequence ...)
  parameter,         ///< function::parameters
  return_parameter,  ///< function::returns
};

struct symbol {
  symbol_kind kind = symbol_kind::none;
  std::uint32_t index = no_index;
};

enum class operand_kind : std::uint8_t {
  none,
  reg,           ///< `index`: register; `negated`: !p
  immediate,     ///< `value`: bits, as wide as `value_type`, zero-extended to 64
  special,       ///< `special`, `component` (0 to 3 for x to w; the index of %envreg and %pm)
  symbol,        ///< the address of `target` plus `value` (as signed)
  address,       ///< [base + value]: base is register `index`, or `target`, or neither
  label,         ///< `index`: function::labels
  branch_table,  ///< `index`: function::branch_tables
  vector,        ///< `count` elements from `index` in function::operands
  pair,          ///< d|p: element 0 and 1 from `index` in function::operands; either may be a sink
  sink,          ///< _
  call,          ///< `index`: function::calls
  image,         ///< [object, coordinates]: `count` elements from `index` in function::operands
};

struct operand {
  operand_kind kind = operand_kind::none;
  type value_type = type::none;  ///< declared type of a register, type of an immediate
  bool negated = false;
  std::uint8_t count = 0;
  std::uint8_t component = 0;                      ///< of a special register
  merge_position selector = merge_position::none;  ///< .b0 to .b3, .h0, .h1 of a video operand
  /// Packed video operands. Source: nibble i names the element of {a, b} that lane i takes (.h32 is
  /// 0x32, .b7654 0x7654; defaults filled in). Destination: bit i says that lane i is written.
  std::uint16_t lanes = 0;
  special_register special = special_register::tid;
  symbol target;
  std::uint32_t index = no_index;
  std::uint64_t value = 0;

  bool is_register() const { return kind == operand_kind::reg; }
  bool is_immediate() const { return kind == operand_kind::immediate; }
  std::int64_t offset() const { return static_cast<std::int64_t>(value); }
};

/// `@p` or `@!p`; without a guard, `reg` is `no_index`.
struct guard {
  std::uint32_t reg = no_index;
  bool negated = false;
};

/// Types stand in source order: cvt has {to, from}, set {result, compared}, mul.wide its source
/// type, dp4a {a, b}, a video instruction {d, a, b}. A destination register wider than the type of
/// ld, ldu, cvt is extended to its width: by sign for signed types, else by zero; st and cvt read
/// the low part of a wider source register.
struct instruction {
  opcode op = opcode::trap;
  std::uint8_t operand_count = 0;
  type types[4] = {};
  modifiers with;
  guard when;
  std::uint32_t first_operand = 0;    ///< in function::operands, destinations first
  std::uint32_t line = 0;             ///< in the PTX text, from 1
  std::uint32_t location = no_index;  ///< in function::locations
  std::uint32_t text_begin = 0;       ///< in module::source
  std::uint32_t text_length = 0;
};

/// A location in the CUDA source, from .loc. `inlined_*` is the call that inlined it: no_index if
/// none.
struct location {
  std::uint32_t file = 0;  ///< the number in module::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t inlined_file = no_index;
  std::uint32_t inlined_line = 0;
  std::uint32_t inlined_column = 0;
  std::string function_name;  ///< mangled, of an inlined function; often empty
};

/// Where a device of compute capability 9.0 has the parameters of a kernel, in a bank of constants.
/// One that is aligned to more than 16 bytes is aligned there, not from the first parameter on.
inline constexpr std::uint32_t entry_parameters_begin = 0x210;

/// A parameter or result of a function or prototype.
struct parameter {
  std::string name;
  type element = type::none;
  std::uint32_t alignment = 1;
  std::uint32_t size = 0;        ///< bytes, arrays included; 0 for a trailing array without a size
  std::uint32_t offset = 0;      ///< bytes from the start of the parameter block
  std::uint32_t reg = no_index;  ///< the register that receives it, if declared in .reg space
};

struct prototype {
  std::vector<parameter> returns;
  std::vector<parameter> parameters;
};

/// A call. Arguments and results are registers, immediates, or symbols of .param variables.
struct call_site {
  std::uint32_t function = no_index;         ///< direct: module::functions
  std::uint32_t target_register = no_index;  ///< indirect: holds a function's address
  std::uint32_t prototype = no_index;        ///< indirect: function::prototypes
  std::vector<std::uint32_t> candidates;     ///< indirect through .calltargets: module::functions
  std::vector<operand> results;
  std::vector<operand> arguments;
};

/// A symbol's address inside an initializer: (address + addend), generic or in the symbol's own
/// space. With a mask, the masked bits, shifted down to bit 0, go into one byte.
struct relocation {
  std::uint64_t offset = 0;
  std::uint32_t size = 8;
  symbol target;
  std::int64_t addend = 0;
  bool generic = false;
  std::uint64_t mask = 0;  ///< 0: the whole address
};

enum class linkage : std::uint8_t { internal, visible, external, weak, common };

struct variable {
  std::string name;
  state_space space = state_space::global;
  linkage link = linkage::internal;
  type element = type::none;
  std::uint32_t alignment = 1;
  std::uint64_t size = 0;  ///< bytes; 0 for `extern .shared x[]`
  bool unsized = false;    ///< declared with []: its storage is the dynamic shared memory
  bool managed = false;    ///< .attribute(.managed)
  std::uint32_t line = 0;
  std::vector<std::byte> initial;  ///< first bytes; the rest up to `size` is zero
  std::vector<relocation> relocations;
};

struct label {
  std::string name;
  std::uint32_t instruction = 0;  ///< the first instruction after it; may be one past the last
};

struct dimensions {
  std::uint32_t x = 0, y = 0, z = 0;
};

struct function {
  std::string name;
  bool entry = false;
  bool defined = false;  ///< false: only declared, or `extern`
  bool no_return = false;
  linkage link = linkage::internal;
  std::uint32_t alias_of = no_index;  ///< module::functions: calls go to that function
  std::uint32_t line = 0;
  std::vector<parameter> returns;
  std::vector<parameter> parameters;
  std::uint32_t parameter_bytes = 0;

  // Directives; zero where absent.
  dimensions max_threads, required_threads, required_cluster;
  std::uint32_t min_blocks_per_multiprocessor = 0;
  std::uint32_t max_registers = 0;
  std::uint32_t max_cluster_rank = 0;
  bool explicit_cluster = false;

  /// Dense: only registers that an instruction names exist. Their declared types.
  std::vector<type> registers;
  std::vector<std::string> register_names;
  std::vector<variable> variables;
  std::vector<instruction> instructions;
  std::vector<operand> operands;
  std::vector<label> labels;
  std::vector<std::vector<std::uint32_t>> branch_tables;  ///< of indexes in `labels`
  std::vector<prototype> prototypes;
  std::vector<call_site> calls;
  std::vector<location> locations;
  /// The first legal instruction of the body that this machine does not execute. Such instructions
  /// are not among `instructions`.
  std::optional<diagnostic> refused;

  std::span<const operand> operands_of(const instruction& i) const {
    return {operands.data() + i.first_operand, i.operand_count};
  }
  /// The elements of a vector or pair operand.
  std::span<const operand> elements_of(const operand& o) const {
    return {operands.data() + o.index, o.count};
  }
};

struct source_file {
  std::uint32_t number = 0;
  std::string name;
};

struct module {
  std::uint32_t target = 0;  ///< 90 for sm_90
  bool specific = false;     ///< sm_90a: what only devices of that number have
  bool debug = false;        ///< compiled as it stands: products and sums are not fused
  std::string source;        ///< the text that was parsed
  std::vector<source_file> files;
  std::vector<variable> variables;
  std::vector<function> functions;

  std::string_view text_of(const instruction& i) const {
    return std::string_view(source).substr(i.text_begin, i.text_length);
  }

  /// The function that a function or an alias stands for. Linked aliases may form a cycle;
  /// then it is one of them, which is not defined.
  std::uint32_t aliased(std::uint32_t index) const {
    for (std::size_t hops = 0; hops < functions.size(); ++hops) {
      if (functions[index].alias_of == no_index) break;
      index = functions[index].alias_of;
    }
    return index;
  }
};

}}}  // namespace nogpu::v1::ptx
