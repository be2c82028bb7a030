#pragma once
/// \file
/// Explains why a header was not found: where it was searched, and what was there.

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/compiler/options/compile_request.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/toolkit/header_search.hpp>
#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/compiler/toolkit/nvrtc_facts.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel/detail/name_suggestions.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the missing header that a message such as `could not open source file "x.h" (...)`
/// names, or an empty text.
inline string_ref missing_header(string_ref message) noexcept {
  constexpr string_ref phrase("open source file \"");
  const std::size_t at = position_of(phrase, message);
  if (at == message.size()) return {};
  const string_ref name = without_front(message, at + phrase.size());
  std::size_t size = 0;
  while (size < name.size() && name[size] != '"') ++size;
  return name.substring(0, size);
}

/// Writes what to do instead of including a header of the host's standard library that device code
/// cannot use. Returns false for any other header.
inline bool explain_host_header(text_builder& out, string_ref name) {
  constexpr const char* streams[] = {"iostream", "ostream", "istream", "fstream", "sstream",
                                     "iomanip",  "ios",     "print",   "format",  "syncstream"};
  constexpr const char* others[] = {
      "vector", "string", "map",   "set",        "unordered_map", "unordered_set",      "list",
      "deque",  "thread", "mutex", "filesystem", "regex",         "condition_variable", "future",
      "random"};
  for (const char* each : streams) {
    if (name != each) continue;
    out << '<' << name
        << "> is for the host alone, and a program has device code alone. Remove it; "
           "printf prints from a kernel and needs no header.\n";
    return true;
  }
  for (const char* each : others) {
    if (name != each) continue;
    out << '<' << name
        << "> is for the host alone, and a program has device code alone. Remove it, "
           "or keep the host's code in a source of its own; kernels take memory as pointers or "
           "gpu::device_span.\n";
    return true;
  }
  return false;
}

/// Writes what to do for a header that the host program has to offer and does not. Returns false
/// for any other header.
inline bool explain_offered_header(text_builder& out, string_ref name) {
  const bool may_be_offered = name == "gpu/random.hpp" || name == "gpu/tensor_copy.hpp";
  if (!may_be_offered || !offered_headers::find(name).empty()) return false;
  out << "Device code can include <" << name
      << "> if a source of the host program does so, too. Write #include <" << name << "> there.\n";
  return true;
}

/// Writes where `#include` looked for `name`, and what to do.
inline void explain_missing_header(text_builder& out, const compile_request& request,
                                   string_ref name) {
  if (explain_host_header(out, name) || explain_offered_header(out, name)) return;
  out << '"' << escaped{name} << "\" was searched for\n";
  if (!request.source.headers().empty()) {
    nearest_names<4> nearest;
    for (const program_header& header : request.source.headers()) {
      nearest.add(header.name, edit_distance(name, header.name));
    }
    out << "  among the " << request.source.headers().size() << " headers given as text:";
    for (std::size_t i = 0; i < nearest.count; ++i) out << ' ' << escaped{nearest.list[i].name};
    if (nearest.seen > nearest.count) out << " ...";
    out << '\n';
  }
  const auto look = [&](const text& folder, const char* origin) {
    text_builder path;
    path << folder << '/' << name;
    out << "  in " << escaped{folder} << origin;
    if (kind_of_path(folder.c_str()) == path_kind::missing) {
      out << ": the folder does not exist";
    } else if (kind_of_path(path.finish().c_str()) == path_kind::folder) {
      out << ": it is a folder, not a file";
    }
    out << '\n';
  };
  message_list looked_in(out, "");
  for (const text& folder : request.folders) {
    if (looked_in.add()) look(folder, "");
  }
  for (const text& folder : request.found_folders) {
    if (looked_in.add()) look(folder, " (found)");
  }
  looked_in.finish();
  if (looked_in.count() > message_list::most) out << " folders\n";
  library_facts nvrtc;
  (void)get_nvrtc_facts(nvrtc, {}).has_value();
  header_search found;
  found.run(nvrtc.library.empty() ? nullptr : nvrtc.library.c_str());
  const bool asked_toolkit = !request.found_folders.empty();
  const bool libcuxx = starts_with(name, "cuda/std/") || starts_with(name, "nv/") ||
                       starts_with(name, "cub/") || starts_with(name, "thrust/");
  if (!asked_toolkit && (found.has_toolkit() || found.has_libcuxx())) {
    out << "The toolkit's headers were not searched, because compile_options::toolkit_headers is "
           "false.\n";
  } else if (!found.has_toolkit() || (libcuxx && !found.has_libcuxx())) {
    out << "The headers of " << (libcuxx ? "libcu++" : "the CUDA toolkit")
        << " were not found; looked in";
    for (const text& folder : found.looked_in) out << "\n  " << folder;
    out << "\nInstall the CUDA toolkit, or pip install "
        << (libcuxx ? "nvidia-cuda-cccl" : "nvidia-cuda-runtime")
        << ", and set CUDA_PATH to its folder.\n";
  }
  out << "Add the header as text with program::header, or its folder to "
         "compile_options::include_folders.\n";
}

/// Writes a hint if a mistake is in a header of another toolkit than NVRTC's.
inline void explain_foreign_header(text_builder& out, const compile_request& request,
                                   string_ref file) {
  library_facts nvrtc;
  if (!get_nvrtc_facts(nvrtc, {}).has_value() || nvrtc.major == 0) return;
  for (const text& folder : request.found_folders) {
    if (!starts_with(file, folder)) continue;
    for (const text& toolkit : request.found_folders) {
      const std::size_t version = version_of_headers(toolkit);
      if (version == 0 || version / 1000 == static_cast<std::size_t>(nvrtc.major)) continue;
      out << "The headers in " << toolkit << " are those of CUDA " << version / 1000 << '.'
          << version % 1000 / 10 << ", but this is NVRTC " << nvrtc.major << '.' << nvrtc.minor
          << ". Install the headers of that version, or add their folder to "
             "compile_options::include_folders.\n";
      return;
    }
  }
}

}}}  // namespace gpu::v1::detail
