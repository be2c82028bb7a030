#pragma once
/// \file
/// The error for a kernel name that a module does not have, with the names that it has, nearest
/// first.

#include <gpu/core/detail/demangled.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/calls.hpp>

namespace gpu::inline v0::detail {

/// Returns how many characters have to be inserted, removed or replaced to change `a` into `b`.
/// Compares at most 127 characters.
inline std::size_t edit_distance(string_ref a, string_ref b) noexcept {
  constexpr std::size_t longest = 127;
  const std::size_t columns = b.size() < longest ? b.size() : longest;
  const std::size_t rows = a.size() < longest ? a.size() : longest;
  std::size_t row[longest + 1];
  for (std::size_t j = 0; j <= columns; ++j) row[j] = j;
  for (std::size_t i = 1; i <= rows; ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= columns; ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      const std::size_t dropped = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = replaced < dropped ? replaced : dropped;
    }
  }
  return row[columns];
}

/// Returns the bare name in an expression that names a kernel: `axpy` in `n::axpy<float>`, `f` in
/// `static_cast<void(*)(int*)>(f)`.
inline string_ref bare_name(string_ref expression) noexcept {
  std::size_t first = 0, last = expression.size();
  if (last != 0 && expression[last - 1] == ')') {
    for (first = --last; first != 0 && expression[first - 1] != '(';) --first;
  }
  for (std::size_t i = first; i < last; ++i) {
    if (expression[i] == '<') last = i;
  }
  for (std::size_t i = first; i < last; ++i) {
    if (expression[i] == ':' || expression[i] == '&') first = i + 1;
  }
  return expression.substring(first, last - first);
}

/// Returns the bare name in a demangled declaration: `axpy` in `void n::axpy<float>(int)`.
inline string_ref declared_name(string_ref declaration) noexcept {
  constexpr string_ref unnamed("(anonymous namespace)"), nothing("void ");
  const std::size_t size = declaration.size();
  const auto has = [&](string_ref part, std::size_t at) {
    return size - at >= part.size() && declaration.substring(at, part.size()) == part;
  };
  std::size_t first = has(nothing, 0) ? nothing.size() : 0, last = first;
  for (; last < size && declaration[last] != '<'; ++last) {
    if (has(unnamed, last)) last += unnamed.size();
    if (last == size || declaration[last] == '(') break;
    if (declaration[last] == ':') first = last + 1;
  }
  return declaration.substring(first, last - first);
}

/// Returns the distance of `candidate` from `wanted`: the smaller of the edit distances of their
/// whole names and of their bare names, so that `_Z5saxpyPf` is near `saxpi`. A candidate that
/// contains the wanted name counts as one edit away; of several, the shorter comes first.
inline std::size_t name_distance(string_ref wanted, const char* candidate) noexcept {
  const text declared = demangled(candidate);
  const string_ref sought = bare_name(wanted);
  const text bare =
      (declared.empty() ? string_ref(candidate) : declared_name(string_ref(declared))).to_text();
  const std::size_t whole = edit_distance(wanted, candidate);
  const std::size_t part = edit_distance(sought, bare);
  const std::size_t least = whole < part ? whole : part;
  const bool within = !sought.empty() && bare.contains(sought.to_text().c_str());
  const std::size_t near = within && least > 1 ? 1 : least;
  return near * 256 + (least < 255 ? least : 255);
}

/// Up to `Capacity` names, kept in the order of their distance.
template <std::size_t Capacity> struct nearest_names {
  struct candidate {
    const char* name;
    std::size_t distance;
  };
  candidate list[Capacity] = {};
  std::size_t count = 0;
  std::size_t seen = 0;

  void add(const char* name, std::size_t distance) noexcept {
    ++seen;
    std::size_t at = count < Capacity ? count : Capacity;
    while (at > 0 && list[at - 1].distance > distance) {
      if (at < Capacity) list[at] = list[at - 1];
      --at;
    }
    if (at == Capacity) return;
    list[at] = {name, distance};
    if (count < Capacity) ++count;
  }
};

/// Returns the error for the kernel name `asked`, which the library does not have.
inline cuda_error unknown_kernel_error(CUlibrary library, string_ref asked,
                                       source_location where) noexcept {
  text_builder out;
  out << "the module has no kernel \"" << asked << "\". ";
  const auto& table = driver::current_entry_points();
  unsigned count = 0;
  CUkernel* kernels = nullptr;
  if (table.library_get_kernel_count != nullptr && table.library_enumerate_kernels != nullptr &&
      table.kernel_get_name != nullptr &&
      table.library_get_kernel_count(&count, library) == CUDA_SUCCESS && count != 0) {
    kernels = static_cast<CUkernel*>(std::calloc(count, sizeof(CUkernel)));
  }
  nearest_names<16> nearest;
  if (kernels != nullptr &&
      table.library_enumerate_kernels(kernels, count, library) == CUDA_SUCCESS) {
    for (unsigned i = 0; i < count; ++i) {
      const char* name = nullptr;
      if (table.kernel_get_name(&name, kernels[i]) != CUDA_SUCCESS || name == nullptr) continue;
      nearest.add(name, name_distance(asked, name));
    }
  }
  std::free(kernels);
  if (nearest.count != 0) {
    out << "Available kernels: ";
    for (std::size_t i = 0; i < nearest.count; ++i) {
      out << (i == 0 ? "" : ", ") << nearest.list[i].name;
      const text declared = demangled(nearest.list[i].name);
      if (!declared.empty()) out << ", which is " << declared;
    }
    if (nearest.seen > nearest.count) out << ", and " << nearest.seen - nearest.count << " more";
    out << ". ";
  }
  out << "Declare the kernel extern \"C\" so that it keeps its name in the source; request an "
         "instance of a template when you compile the program.";
  return refusal(errc::unknown_name, "gpu::module::kernel", out.finish(), where);
}

}  // namespace gpu::inline v0::detail
