#pragma once
/// \file
/// `program_origin`: whether a program came from the cache, and why not.

#include <gpu/core/text.hpp>

namespace gpu::inline v0 {

/// Where a program came from.
enum class origin_kind : unsigned char {
  compiled,  ///< NVRTC compiled it
  memory,    ///< this process had it already
  disk,      ///< the cache's folder had it
  linked,    ///< nvJitLink or the driver linked it
};

/// Where a program came from, and why it had to be compiled or linked where it was.
struct program_origin {
  origin_kind kind = origin_kind::compiled;
  /// Why no stored program would do: "header tile.h changed". Empty where one did.
  text reason = {};
  /// Why the next process will not find it in the cache's folder; empty where it will.
  text not_stored = {};

  /// All of it in a sentence: `compiled: header tile.h changed`.
  text message() const noexcept {
    detail::text_builder out;
    switch (kind) {
      case origin_kind::memory:
        out << "from memory";
        break;
      case origin_kind::disk:
        out << "from disk";
        break;
      case origin_kind::compiled:
        out << "compiled";
        break;
      case origin_kind::linked:
        out << "linked";
        break;
    }
    if (!reason.empty()) out << ": " << reason;
    if (!not_stored.empty()) out << "; not stored: " << not_stored;
    return out.finish();
  }
};

}  // namespace gpu::inline v0
