#pragma once
/// \file
/// The settings of a cache after the environment has been read.

#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/environment.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The settings of a cache. Without `in_memory`, it keeps nothing.
struct resolved_cache_settings {
  bool in_memory = false;  ///< keeps programs for this process
  bool on_disk = false;    ///< also keeps them in `folder`, for other processes
  text folder = {};
  std::uint64_t folder_limit = 0;  ///< in bytes
  std::uint64_t memory_limit = 0;  ///< in bytes
  text trouble = {};               ///< what is wrong with the settings; empty if nothing is
};

/// Returns a variable of the environment, or "".
inline const char* variable_or_empty(const char* name) noexcept {
  const char* value = environment_variable(name);
  return value != nullptr ? value : "";
}

/// Reads a number of bytes such as `512M`. Returns false for anything else.
inline bool parse_bytes(const char* string, std::uint64_t& bytes) noexcept {
  bytes = 0;
  const char* at = string;
  for (; *at >= '0' && *at <= '9'; ++at) {
    if (__builtin_mul_overflow(bytes, 10u, &bytes) ||
        __builtin_add_overflow(bytes, static_cast<std::uint64_t>(*at - '0'), &bytes)) {
      return false;
    }
  }
  if (at == string) return false;
  std::uint64_t unit = 1;
  switch (*at) {
    case 'k':
    case 'K': unit = 1u << 10; break;
    case 'm':
    case 'M': unit = 1u << 20; break;
    case 'g':
    case 'G': unit = 1u << 30; break;
    default: break;
  }
  if (unit != 1) ++at;
  return *at == '\0' && !__builtin_mul_overflow(bytes, unit, &bytes);
}

/// Chooses the folder: the one given in code, or else $GPU_CACHE_DIR, $XDG_CACHE_HOME/gpu or
/// ~/.cache/gpu, whichever comes first. Without any of them the cache works in memory.
inline void resolve_cache_folder(const text& given, resolved_cache_settings& resolved) {
  const auto join = [](const auto&... pieces) {
    text_builder out;
    (out << ... << pieces);
    return required(out.finish());
  };
  const char* origin = "the folder given in code";
  resolved.folder = given;
  if (resolved.folder.empty()) {
    origin = "GPU_CACHE_DIR";
    resolved.folder = join(variable_or_empty("GPU_CACHE_DIR"));
  }
  // The specification of XDG_CACHE_HOME says to ignore a relative path.
  if (resolved.folder.empty() && *variable_or_empty("XDG_CACHE_HOME") == '/') {
    resolved.folder = join(variable_or_empty("XDG_CACHE_HOME"), "/gpu");
  }
  if (resolved.folder.empty() && *variable_or_empty("HOME") == '/') {
    resolved.folder = join(variable_or_empty("HOME"), "/.cache/gpu");
  }
  if (resolved.folder.empty()) {
    resolved.trouble = text(
        "the cache has no folder: none of GPU_CACHE_DIR, XDG_CACHE_HOME and HOME is an "
        "absolute path. Set GPU_CACHE_DIR");
  } else if (resolved.folder.c_str()[0] != '/') {
    // It would be another folder after each change of the working directory.
    resolved.trouble =
        join(origin, " is \"", resolved.folder, "\", a relative path. Give one that begins with /");
  } else {
    resolved.on_disk = true;
  }
}

}}}  // namespace gpu::v1::detail
