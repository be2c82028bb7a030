#pragma once
/// \file
/// What `autotune` found, kept in a cache's folder.

#include <gpu/compiler/compile_cache.hpp>

namespace gpu::inline v0::detail {

/// The fastest variant, and what was measured of all.
struct tuning_outcome {
  std::size_t chosen = 0;
  sequence<float> milliseconds;  // 0 where a variant failed
  sequence<text> errors;         // empty where it did not
};

/// One outcome in the folder of a cache. A cache without a folder remembers nothing.
template <class Builder = text_builder> class basic_tuning_record {
 public:
  basic_tuning_record(const compile_cache& cache, const digest& key)
      : folder_{cache.use() == cache_use::disk ? cache.folder() : text()},
        limit_{cache.folder_limit()},
        key_{key} {}

  /// False where there is none that is whole.
  bool find(tuning_outcome& outcome) const {
    text trouble, sealed;
    if (folder_.empty()) return false;
    const cache_folder folder = cache_folder::open(folder_, false, trouble);
    const entry_name name(key_, 'm');
    string_ref contents;
    if (!folder || folder.read(name.characters, sealed) != cache_folder::reading::done ||
        !unseal(sealed, entry_kind::measurement, key_, contents)) {
      return false;
    }
    byte_reader in(contents);
    std::uint64_t chosen = 0, count = 0;
    in >> chosen >> outcome.errors >> count;
    for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
      std::uint64_t bits = 0;
      in >> bits;
      outcome.milliseconds.push_back(__builtin_bit_cast(float, static_cast<std::uint32_t>(bits)));
    }
    outcome.chosen = static_cast<std::size_t>(chosen);
    if (!in.ok() || outcome.errors.size() != outcome.milliseconds.size()) return false;
    folder.touch(name.characters);
    return true;
  }

  /// Stores an outcome; where that fails, the next process measures again.
  void store(const tuning_outcome& outcome) const {
    text trouble;
    if (folder_.empty()) return;
    const cache_folder folder = cache_folder::open(folder_, true, trouble);
    if (!folder) return;
    byte_writer out;
    out << std::uint64_t{outcome.chosen} << outcome.errors
        << std::uint64_t{outcome.milliseconds.size()};
    for (const float time : outcome.milliseconds) {
      out << std::uint64_t{__builtin_bit_cast(std::uint32_t, time)};
    }
    const entry_name name(key_, 'm');
    const text sealed = seal(entry_kind::measurement, key_, out.finish());
    if (sealed.lost()) return;
    if (folder.write(name.characters, sealed, trouble)) note_stored(folder, sealed.size(), limit_);
  }

 private:
  text folder_;
  std::uint64_t limit_;
  digest key_;
};
using tuning_record = basic_tuning_record<>;

}  // namespace gpu::inline v0::detail
