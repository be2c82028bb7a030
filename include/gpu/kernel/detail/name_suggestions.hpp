#pragma once
/// \file
/// The error for a kernel name that a module does not have, with the names that it has, nearest
/// first.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/kernel/detail/kernel_names.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

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

/// Returns the distance of `kernel` from `wanted`: the smaller of the edit distances of their whole
/// names, as `asked` writes it and as the module has it, and of their bare names, so that
/// `_Z5saxpyPf` is near `saxpi`. A kernel that contains the wanted name counts as one edit away; of
/// several, the shorter comes first.
inline std::size_t name_distance(string_ref asked, const declared_name& wanted, const char* symbol,
                                 const declared_name& kernel) noexcept {
  const string_ref sought = last_part(wanted.name), bare = last_part(kernel.name);
  const std::size_t whole = edit_distance(asked, symbol);
  const std::size_t part = edit_distance(sought, bare);
  const std::size_t least = whole < part ? whole : part;
  const bool within = !sought.empty() && position_of(sought, bare) < bare.size();
  const std::size_t near = within && least > 1 ? 1 : least;
  return near * 256 + (least < 255 ? least : 255);
}

/// Up to `Capacity` names, kept in the order of their distance.
template <std::size_t Capacity> struct nearest_names {
  struct candidate {
    text name;
    std::size_t distance;
  };
  candidate list[Capacity] = {};
  std::size_t count = 0;
  std::size_t seen = 0;

  void add(const text& name, std::size_t distance) noexcept {
    ++seen;
    std::size_t at = count < Capacity ? count : Capacity;
    while (at > 0 && list[at - 1].distance > distance) {
      if (at < Capacity) list[at] = std::move(list[at - 1]);
      --at;
    }
    if (at == Capacity) return;
    list[at] = {name, distance};
    if (count < Capacity) ++count;
  }
};

/// Fails with the error for the kernel name `asked`, which the library does not have.
inline result<> refuse_unknown_kernel(CUlibrary library, string_ref asked,
                                      source_location where) noexcept {
  const declared_name wanted = split_declaration(asked);
  nearest_names<message_list::most> nearest;
  GPU_TRY(for_each_kernel_name(library, where, [&](const char* symbol) {
    const declared_name kernel = split_symbol(symbol);
    text_builder name;
    kernel.write(name);
    nearest.add(name.finish(), name_distance(asked, wanted, symbol, kernel));
  }));
  text_builder out;
  out << "the module has no kernel \"" << escaped{asked} << "\". ";
  if (nearest.count != 0) {
    out << "Available kernels: ";
    message_list list(out);
    for (std::size_t i = 0; i < nearest.seen; ++i) {
      if (list.add()) out << nearest.list[i].name;
    }
    list.finish();
    out << ". ";
  }
  if (wanted.has_arguments) {
    out << "An instance of a template is compiled on request: add .instance(\"" << escaped{asked}
        << "\") to the program.";
  } else {
    out << "If it is a template, name its instance and add .instance(\"" << escaped{wanted.name}
        << "<...>\") to the program.";
  }
  return fail(refusal(errc::unknown_name, "gpu::module::kernel", out.finish(), where));
}

}}}  // namespace gpu::v1::detail
