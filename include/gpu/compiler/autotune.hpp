#pragma once
/// \file
/// `autotune`: times variants of a kernel and keeps the fastest, for this device and this problem,
/// also for later processes.

#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/usage.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/measure/detail/event_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// The subject of a tuning, and how it is measured.
struct tuning_settings {
  /// Names everything else that the fastest variant depends on, such as `"axpy, 1048576 floats"`.
  /// Device, driver and the variants themselves are always part of the key.
  option_text problem;
  /// Bytes that stand for the code, such as the source. If they change, all is measured again.
  option_text code = {};
  int warm_up = 1;      ///< launches of each variant before it is timed
  int repetitions = 7;  ///< timed launches of each variant; their median counts
  /// Remembers the outcome; null for the cache of the process.
  compile_cache* cache = nullptr;
};

/// The measurement of one variant.
struct tuning_timing {
  text variant;       ///< its name
  elapsed_time time;  ///< the median; 0 if it failed
  text error;         ///< why it failed; empty if it did not
};

/// The result of `autotune`.
template <class Prepared> struct tuned {
  Prepared best;                    ///< the value that `prepare` returned for the fastest variant
  std::size_t chosen = 0;           ///< its position among the variants
  bool remembered = false;          ///< nothing was timed: an earlier call or process did
  sequence<tuning_timing> timings;  ///< of all variants, in their order
};

namespace detail {

/// A tuning's result as the cache keeps it.
struct tuning_outcome {
  std::size_t chosen = 0;
  sequence<float> milliseconds;  // 0 if a variant failed
  sequence<text> errors;         // empty if it did not
};

/// One outcome in the folder of a cache. A cache without a folder remembers nothing.
class tuning_record {
 public:
  tuning_record(const compile_cache& cache, const digest& key)
      : folder_{cache.use() == cache_use::disk ? cache.folder() : text()},
        limit_{cache.folder_limit()},
        key_{key} {}

  /// Returns false if the outcome is missing or is damaged.
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
    outcome.chosen = chosen;
    if (!in.ok() || outcome.errors.size() != outcome.milliseconds.size()) return false;
    folder.touch(name.characters);
    return true;
  }

  /// Stores an outcome. If that fails, the next process measures again.
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
    if (folder.write(name.characters, sealed, trouble))
      record_stored(folder, sealed.size(), limit_);
  }

 private:
  text folder_;
  std::uint64_t limit_;
  digest key_;
};

/// Returns the key of an outcome: device, driver, problem, code and the names of the variants.
inline result<digest> tuning_key(stream_ref stream, const tuning_settings& settings,
                                 const sequence<tuning_timing>& variants, source_location where) {
  const text device = GPU_TRY(stream.device().name(where));
  const version driver = GPU_TRY(driver_version(where));
  digest_builder key;
  key << string_ref("tuning") << string_ref(device) << static_cast<std::uint64_t>(driver.major)
      << static_cast<std::uint64_t>(driver.minor) << string_ref(settings.problem)
      << string_ref(settings.code) << std::uint64_t{variants.size()};
  for (const tuning_timing& variant : variants) key << string_ref(variant.variant);
  return key.finish();
}

/// Returns the first of some variants, for its type. `Variants` is any range that a `for` takes.
template <class Variants> const auto& first_of(const Variants& variants) {
  for (const auto& variant : variants) return variant;
  __builtin_unreachable();
}

/// Returns the name of a variant: a string, a number, or its member `name`.
template <class Variant> text variant_name(const Variant& variant) {
  text_builder out;
  if constexpr (std::is_convertible_v<const Variant&, string_ref>) {
    out << string_ref(variant);
  } else if constexpr (detail::word_integer<Variant>) {
    out << static_cast<std::int64_t>(variant);
  } else {
    out << string_ref(variant.name);
  }
  return required(out.finish());
}

/// Sets `median` to the time of one launch.
template <class Launch>
result<> time_launches(stream_ref stream, const tuning_settings& settings, Launch launch,
                       elapsed_time& median, source_location where) {
  const event_timer timer = GPU_TRY(event_timer::create(stream, where));
  for (int i = 0; i < settings.warm_up; ++i) GPU_TRY(launch());
  GPU_TRY(stream.synchronize(where));
  sequence<elapsed_time> times;  // ascending
  for (int i = 0; i < settings.repetitions; ++i) {
    const elapsed_time time = GPU_TRY(timer.time(launch, [] {}, where));
    std::size_t at = times.size();
    times.push_back(time);
    for (; at > 0 && time < times[at - 1]; --at) times[at] = times[at - 1];
    times[at] = time;
  }
  median = times[times.size() / 2];
  return {};
}

/// Returns whether an error says nothing about the variant in which it occurred.
inline bool ends_tuning(const cuda_error& error) noexcept {
  return error.is_sticky() || error == errc::out_of_host_memory;
}

}  // namespace detail

/// Times variants of a kernel and returns the fastest, ready to be launched:
///
///     auto tuned = GPU_TRY(gpu::autotune(
///         stream, {.problem = "axpy, 1048576 floats", .code = source}, {64, 128, 256},
///         [&](int block) { return make_kernel(block); },            // a result of anything
///         [&](auto& kernel, int block) { return run(kernel, block); }));  // one launch
///
/// A variant is a number, a string, or a structure with a member `name`, which identifies it.
/// `prepare(variant)` compiles and loads it, and is not timed; `launch(prepared, variant)` launches
/// once on `stream`. A variant that fails in either, or while it runs, is skipped, and its error is
/// kept with the timings. The outcome is stored in the folder of the cache: the next time, only the
/// fastest variant is prepared, and nothing is launched.
/// **Ordering**: waits for the stream. **Threads**: any number at once, each with its own stream.
/// **Errors**: `errc::invalid_argument` without variants or repetitions; a sticky error or
/// `errc::out_of_host_memory` of any variant; the first variant's error if all fail. If the host
/// runs out of memory for the list of variants, `operator new` throws, as for `sequence`.
/// **Capture**: not allowed while `stream` is being captured.
template <class Variants, class Prepare, class Launch>
auto autotune(stream_ref stream, const tuning_settings& settings, const Variants& variants,
              Prepare prepare, Launch launch, source_location where = source_location::current())
    -> result<tuned<std::remove_cvref_t<decltype(*prepare(detail::first_of(variants)))>>> {
  using prepared_type = std::remove_cvref_t<decltype(*prepare(detail::first_of(variants)))>;
  sequence<tuning_timing> timings;
  for (const auto& variant : variants) timings.push_back({detail::variant_name(variant), {}, {}});
  if (timings.empty() || settings.repetitions < 1 || settings.warm_up < 0) {
    detail::text_builder out;
    out << "there are " << timings.size() << " variants, " << settings.repetitions
        << " repetitions and " << settings.warm_up
        << " launches to warm up. Pass at least 1 variant, 1 repetition and 0 launches to warm up.";
    return detail::fail(detail::refusal(errc::invalid_argument, "gpu::autotune", out.finish(),
                                        where, timings.size(), 1));
  }
  compile_cache& cache = settings.cache != nullptr ? *settings.cache : compile_cache::of_process();
  const detail::tuning_record record(cache,
                                     GPU_TRY(detail::tuning_key(stream, settings, timings, where)));

  detail::tuning_outcome known;
  if (record.find(known) && known.chosen < timings.size() &&
      known.milliseconds.size() == timings.size()) {
    std::size_t at = 0;
    for (const auto& variant : variants) {
      if (at++ != known.chosen) continue;
      auto made = prepare(variant);
      if (!made.has_value()) break;  // something has changed: tune again
      for (std::size_t i = 0; i < timings.size(); ++i) {
        timings[i].time = elapsed_time::from_milliseconds(known.milliseconds[i]);
        timings[i].error = known.errors[i];
      }
      return tuned<prepared_type>{*std::move(made), known.chosen, true, std::move(timings)};
    }
  }

  sequence<prepared_type> best;  // none or one
  sequence<cuda_error> errors;   // none, or the first, or one that ends the tuning
  std::size_t at = 0, chosen = 0;
  for (const auto& variant : variants) {
    tuning_timing& timing = timings[at];
    const auto skip = [&](const cuda_error& error) {
      timing.error = error.message();
      if (errors.empty() || detail::ends_tuning(error)) errors.assign(1, error);
    };
    auto made = prepare(variant);
    if (!made.has_value()) {
      skip(made.error());
    } else {
      const result<> timed = detail::time_launches(
          stream, settings, [&] { return launch(*made, variant); }, timing.time, where);
      if (!timed.has_value()) {
        timing.time = {};
        skip(timed.error());
      } else if (best.empty() || timing.time < timings[chosen].time) {
        chosen = at;
        best.clear();
        best.push_back(*std::move(made));
      }
    }
    if (!errors.empty() && detail::ends_tuning(errors[0])) break;
    ++at;
  }
  if (best.empty() || (!errors.empty() && detail::ends_tuning(errors[0]))) {
    return detail::fail(std::move(errors[0]));
  }
  known = {};
  known.chosen = chosen;
  for (const tuning_timing& timing : timings) {
    known.milliseconds.push_back(timing.time.milliseconds());
    known.errors.push_back(timing.error);
  }
  record.store(known);
  return tuned<prepared_type>{std::move(best[0]), chosen, false, std::move(timings)};
}

/// Does the same for a list of variants in braces: `{64, 128, 256}`.
template <class Variant, class Prepare, class Launch>
auto autotune(stream_ref stream, const tuning_settings& settings,
              std::initializer_list<Variant> variants, Prepare prepare, Launch launch,
              source_location where = source_location::current()) {
  return autotune<std::initializer_list<Variant>>(stream, settings, variants, std::move(prepare),
                                                  std::move(launch), where);
}

}}  // namespace gpu::v1
