#pragma once
/// \file
/// `cache_settings`: where a cache keeps compiled programs and how many, from code or from the
/// environment.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/system/environment.hpp>

namespace gpu::inline v0 {

/// What a cache uses.
enum class cache_use : unsigned char {
  by_environment,  ///< `disk`, unless GPU_CACHE is `off` or `memory`
  disk,            ///< a folder, and memory for what this process has had already
  memory,          ///< memory alone
  off,             ///< nothing: every program is compiled or linked each time
};

/// How a cache is set up. What is left as it is comes from the environment: GPU_CACHE,
/// GPU_CACHE_DIR and GPU_CACHE_SIZE.
struct cache_settings {
  cache_use use = cache_use::by_environment;
  /// An absolute path. Otherwise $GPU_CACHE_DIR, $XDG_CACHE_HOME/gpu or ~/.cache/gpu, whichever is
  /// there first.
  option_text folder = {};
  /// Bytes in the folder. 0 means $GPU_CACHE_SIZE, a number that K, M or G may follow, or else 512
  /// MiB.
  std::uint64_t folder_limit = 0;
  /// Bytes in memory.
  std::uint64_t memory_limit = 64u << 20;
};

namespace detail {

/// Settings in which nothing is left open.
struct settled_cache {
  cache_use use = cache_use::off;
  text folder;
  std::uint64_t folder_limit = 0;
  std::uint64_t memory_limit = 0;
  text trouble;  // what is wrong with the settings; empty where nothing is
};

/// Reads a number of bytes such as `512M`. False for anything else.
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
    case 'K':
      unit = 1u << 10;
      break;
    case 'm':
    case 'M':
      unit = 1u << 20;
      break;
    case 'g':
    case 'G':
      unit = 1u << 30;
      break;
    default:
      break;
  }
  if (unit != 1) ++at;
  return *at == '\0' && !__builtin_mul_overflow(bytes, unit, &bytes);
}

/// Settles what the environment has to say.
inline settled_cache settle_cache(const cache_settings& settings) {
  settled_cache settled;
  settled.use = settings.use;
  settled.memory_limit = settings.memory_limit;
  const auto variable = [](const char* name) {
    const char* value = environment_variable(name);
    return value != nullptr ? value : "";
  };
  const auto join = [](const auto&... pieces) {
    text_builder out;
    (out << ... << pieces);
    return out.finish();
  };

  if (settings.use == cache_use::by_environment) {
    const string_ref asked = variable("GPU_CACHE");
    settled.use = asked == "off"      ? cache_use::off
                  : asked == "memory" ? cache_use::memory
                                      : cache_use::disk;
    if (!(asked.empty() || asked == "off" || asked == "memory" || asked == "on")) {
      settled.trouble = join("GPU_CACHE is \"", asked, "\", which is none of on, memory and off");
    }
  }

  constexpr std::uint64_t usual_limit = 512u << 20;
  settled.folder_limit = settings.folder_limit;
  if (settled.folder_limit == 0) {
    const char* asked = variable("GPU_CACHE_SIZE");
    if (*asked == '\0') {
      settled.folder_limit = usual_limit;
    } else if (!parse_bytes(asked, settled.folder_limit)) {
      settled.folder_limit = usual_limit;
      settled.trouble = join("GPU_CACHE_SIZE is \"", asked,
                             "\", which is no number of bytes such as 512M; the limit is 512M");
    }
  }

  if (settled.use != cache_use::disk) return settled;
  const char* named = "the folder given in code";
  settled.folder = settings.folder;
  if (settled.folder.empty()) {
    named = "GPU_CACHE_DIR";
    settled.folder = required(text(variable("GPU_CACHE_DIR")));
  }
  // A relative path would be another folder after each change of the working directory. That of
  // XDG_CACHE_HOME is to be passed over, its specification says.
  if (settled.folder.empty() && *variable("XDG_CACHE_HOME") == '/') {
    settled.folder = required(join(variable("XDG_CACHE_HOME"), "/gpu"));
  }
  if (settled.folder.empty() && *variable("HOME") == '/') {
    settled.folder = required(join(variable("HOME"), "/.cache/gpu"));
  }
  if (settled.folder.empty()) {
    settled.use = cache_use::memory;
    settled.trouble = text(
        "there is no folder for the cache: none of GPU_CACHE_DIR, XDG_CACHE_HOME and HOME is an "
        "absolute path. Set GPU_CACHE_DIR");
  } else if (settled.folder.c_str()[0] != '/') {
    settled.use = cache_use::memory;
    settled.trouble =
        join(named, " is \"", settled.folder, "\", a relative path. Give one that begins with /");
  }
  return settled;
}

}  // namespace detail
}  // namespace gpu::inline v0
