#pragma once
/// \file
/// `program_origin`: whether a program came from the cache, and if not, why.

#include <gpu/core/text.hpp>

namespace gpu { inline namespace v1 {

/// The origin of a program.
enum class origin_kind : unsigned char {
  compiled,  ///< NVRTC compiled it
  memory,    ///< it was in memory: this process used it before
  disk,      ///< it was in the cache's folder
  linked,    ///< nvJitLink or the driver linked it
};

/// The origin of a program, and why it had to be compiled or linked if it was.
struct program_origin {
  origin_kind kind = origin_kind::compiled;
  /// Why a stored program could not be used: "header tile.h changed". Empty if one was.
  text reason = {};
  /// Why the next process will not find it in the cache's folder; empty if it will.
  text not_stored = {};

  /// Returns all of it in one line: `compiled: header tile.h changed`.
  text message() const noexcept {
    detail::text_builder out;
    switch (kind) {
      case origin_kind::memory: out << "from memory"; break;
      case origin_kind::disk: out << "from disk"; break;
      case origin_kind::compiled: out << "compiled"; break;
      case origin_kind::linked: out << "linked"; break;
    }
    if (!reason.empty()) out << ": " << reason;
    if (!not_stored.empty()) out << "; not stored: " << not_stored;
    return out.finish();
  }
};

}}  // namespace gpu::v1
