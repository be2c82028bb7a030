#pragma once
/// \file
/// `kept_program`: a program with the conditions under which it may be reused, in memory and as the
/// contents of an entry.

#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A compiled or linked program with the conditions under which it may be reused.
struct kept_program {
  compiled_program program;
  cache_conditions conditions;
  sequence<file_identity> seen;  ///< identities of the conditions' files
  bool storable = true;          ///< if false, it must not be reused at all
  text requested_compiler;       ///< the compiler or linker that was in use when it was requested
};

inline byte_writer& operator<<(byte_writer& out, const name_pair& name) noexcept {
  return out << name.written << name.lowered;
}
inline byte_reader& operator>>(byte_reader& in, name_pair& name) {
  return in >> name.written >> name.lowered;
}
inline byte_writer& operator<<(byte_writer& out, const compiled_state& s) noexcept {
  return out << s.ptx << s.cubin << s.lto_ir << s.log << s.ptxas_log << s.architecture << s.names
             << s.options << s.headers << std::uint64_t{s.headers_complete};
}
inline byte_reader& operator>>(byte_reader& in, compiled_state& s) {
  std::uint64_t complete = 0;
  in >> s.ptx >> s.cubin >> s.lto_ir >> s.log >> s.ptxas_log >> s.architecture >> s.names >>
      s.options >> s.headers >> complete;
  s.headers_complete = complete != 0;
  return in;
}

/// Returns the contents of an entry: the program's conditions, its name, and its code.
inline text write_program(const cache_conditions& conditions, const text& name,
                          const compiled_state& state) noexcept {
  byte_writer out;
  out << conditions << name << state;
  return out.finish();
}

/// Reads the conditions and the name, and leaves `in` at the code. Returns false if the bytes end
/// early.
inline bool read_conditions(byte_reader& in, cache_conditions& conditions, text& name) {
  in >> conditions >> name;
  return in.ok();
}

/// Reads the code. Returns an empty program if the bytes end early.
inline compiled_program read_code(byte_reader& in) {
  auto* state = new compiled_state;
  compiled_program made = compiled_program_access::adopt(state);
  in >> *state;
  return in.ok() && in.rest().empty() ? made : compiled_program();
}

}}}  // namespace gpu::v1::detail
