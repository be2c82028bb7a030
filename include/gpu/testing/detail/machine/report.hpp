// Turns the note of an instruction into a report that a person can act on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/testing/detail/machine/address_space.hpp>
#include <gpu/testing/detail/machine/warp.hpp>

namespace gpu::inline v1::testing::machine {

/// "(3,0,0)" for the linear index of a thread in its block.
inline std::string name_thread(const warp& w, std::uint32_t linear) {
  const extent& block = w.block->grid->what->block;
  return "(" + std::to_string(linear % block.x) + "," + std::to_string(linear / block.x % block.y) +
         "," + std::to_string(linear / block.x / block.y) + ")";
}

namespace detail {

inline std::string three(const std::array<std::uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

/// Returns the declaration behind a name in the module, `scale(float*)` for `_Z5scalePf`.
inline std::string readable(const std::string& name) {
  const text declared = gpu::detail::demangled(name.c_str());
  return declared.empty() ? name : std::string(declared.c_str());
}
/// Returns the name of a kernel without its parameters, as `module::kernel` takes it.
inline std::string readable_kernel(const std::string& name) {
  gpu::detail::text_builder out;
  gpu::detail::split_symbol(name.c_str()).write_short(out);
  return out.finish().c_str();
}
/// Returns the name of a variable without the function that it is in.
inline std::string readable_variable(const std::string& name) {
  const std::string declared = readable(name);
  const std::size_t scope = declared.rfind("::");
  return scope == std::string::npos ? declared : declared.substr(scope + 2);
}

inline const char* verb(access_kind kind) {
  switch (kind) {
    case access_kind::read: return "reads";
    case access_kind::write: return "writes";
    case access_kind::atomic: return "atomically updates";
  }
  return "touches";
}

inline void locate_in_source(const ptx::module& module, const ptx::function& function,
                             const ptx::instruction& i, fault& f) {
  f.ptx_line = i.line;
  f.instruction = std::string(module.text_of(i));
  if (i.location == ptx::no_index || i.location >= function.locations.size()) return;
  const ptx::location& at = function.locations[i.location];
  f.source_line = at.line;
  for (const ptx::source_file& file : module.files)
    if (file.number == at.file) f.source_file = file.name;
}

inline std::string compose(const fault& f) {
  std::string text = std::string(describe(f.kind)) + " in kernel " + readable_kernel(f.kernel);
  if (f.function != f.kernel) text += ", function " + readable(f.function);
  text += ", block " + three(f.block) + ", thread " + three(f.thread);
  if (f.access_size != 0) {
    text += "\n  " + std::string(verb(f.access)) + " " + std::to_string(f.access_size) +
            " bytes at " + hexadecimal(f.where);
    if (!f.detail.empty()) text += ": " + f.detail;
  } else if (!f.detail.empty()) {
    text += "\n  " + f.detail;
  }
  if (!f.instruction.empty())
    text += "\n  PTX line " + std::to_string(f.ptx_line) + ": " + f.instruction;
  if (!f.source_file.empty())
    text += "\n  source " + f.source_file + ":" + std::to_string(f.source_line);
  return text;
}

}  // namespace detail

/// "byte 12 of tile" for an offset in the block's shared memory, or an empty string.
inline std::string name_shared(const warp& w, std::uint64_t offset) {
  const auto& variables = w.block->grid->what->kernel->shared_variables;
  auto found = variables.upper_bound(offset);
  if (found == variables.begin()) return {};
  --found;
  const ptx::variable& v = *found->second;
  const std::uint64_t within = offset - found->first;
  if (v.unsized || within < v.size)
    return "byte " + std::to_string(within) + " of " + detail::readable_variable(v.name);
  return std::to_string(within - v.size) + " bytes past the end of " +
         detail::readable_variable(v.name);
}

/// "byte 12 of tile" for an offset in a lane's local memory, with the function where another one
/// than the running declares it, or an empty string.
inline std::string name_local(const warp& w, unsigned lane, std::uint64_t offset) {
  for (const frame* f = w.top; f != nullptr; f = f->caller) {
    if (offset < f->base[lane]) continue;
    const ptx::function& function = *f->function->source;
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
      const ptx::variable& v = function.variables[i];
      const std::uint64_t within = offset - f->base[lane] - f->function->variables[i];
      if (v.space == ptx::state_space::local && within < v.size)
        return "byte " + std::to_string(within) + " of " + detail::readable_variable(v.name) +
               (f == w.top ? "" : " of function " + detail::readable(function.name));
    }
    break;
  }
  return {};
}

/// Returns everything known about the fault that a warp's instruction noted in `failure`.
inline fault make_fault(const warp& w, const decoded* d) {
  const failure_note& note = w.failure;
  const executable& kernel = *w.block->grid->what->kernel;
  fault f;
  f.kind = note.kind;
  f.kernel = kernel.entry->name;
  f.function = f.kernel;
  f.block = w.block->index;
  for (unsigned i = 0; i < 3; ++i) f.thread[i] = w.thread[i][note.lane];
  f.where = note.where;
  f.access_size = note.size;
  f.access = note.access;
  f.detail = note.detail;
  if (d && w.function) {
    f.function = w.function->source->name;
    if (d->origin < w.function->source->instructions.size())
      detail::locate_in_source(*kernel.module, *w.function->source,
                               w.function->source->instructions[d->origin], f);
  }
  f.text = detail::compose(f);
  return f;
}

}  // namespace gpu::inline v1::testing::machine
