// Turns the note of an instruction into a report that a person can act on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <nogpu/machine/address_space.hpp>
#include <nogpu/machine/readable_names.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

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

inline const char* verb(access_kind kind) {
  switch (kind) {
    case access_kind::read: return "reads";
    case access_kind::write: return "writes";
    case access_kind::atomic: return "atomically updates";
  }
  return "touches";
}

inline std::string file_name(const ptx::module& module, std::uint32_t number) {
  for (const ptx::source_file& file : module.files)
    if (file.number == number) return file.name;
  return {};
}

/// Returns the location of the call by which the function at `inner` was inlined, or null: it comes
/// first, and may be in an inlined function, too.
inline const ptx::location* location_of_call(const ptx::function& function,
                                             const ptx::location& inner) {
  for (const ptx::location* at = &inner; at-- != function.locations.data();)
    if (at->file == inner.inlined_file && at->line == inner.inlined_line &&
        at->column == inner.inlined_column)
      return at;
  return nullptr;
}

inline void locate_in_source(const ptx::module& module, const ptx::function& function,
                             const ptx::instruction& i, fault& f) {
  f.ptx_line = i.line;
  f.instruction = std::string(module.text_of(i));
  if (i.location == ptx::no_index || i.location >= function.locations.size()) return;
  const ptx::location* at = &function.locations[i.location];
  f.source_line = at->line;
  f.source_file = file_name(module, at->file);
  constexpr int most_calls = 16;
  for (int n = 0; at != nullptr && at->inlined_file != ptx::no_index && n < most_calls; ++n) {
    f.inlined_at += "\n  inlined at " + file_name(module, at->inlined_file) + ":" +
                    std::to_string(at->inlined_line);
    at = location_of_call(function, *at);
  }
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
    text += "\n  source " + f.source_file + ":" + std::to_string(f.source_line) + f.inlined_at;
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
/// than the reading declares it, or an empty string. `base`: of the reading function's memory.
inline std::string name_local(const warp& w, unsigned lane, std::uint64_t offset,
                              const lowered_function& reader, std::uint32_t base) {
  const auto name = [&](const lowered_function& lowered, std::uint64_t begin) -> std::string {
    const ptx::function& function = *lowered.source;
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
      const ptx::variable& v = function.variables[i];
      const std::uint64_t within = offset - begin - lowered.variables[i];
      if (v.space == ptx::state_space::local && within < v.size)
        return "byte " + std::to_string(within) + " of " + detail::readable_variable(v.name) +
               (&lowered == &reader ? "" : " of function " + detail::readable(function.name));
    }
    return {};
  };
  if (offset >= base) return name(reader, base);
  for (const frame* f = w.top; f != nullptr; f = f->caller)
    if (offset >= f->base[lane]) return name(*f->function, f->base[lane]);
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

}}}  // namespace nogpu::v1::machine
