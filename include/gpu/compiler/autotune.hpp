#pragma once
/// \file
/// `autotune`: times variants of a kernel and keeps the fastest, for this device and this problem,
/// also for the processes to come.

#include <gpu/compiler/tuning_record.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/driver/event.hpp>

namespace gpu::inline v0 {

/// What is tuned, and how it is measured.
struct tuning_settings {
  /// What else the fastest variant depends on, such as `"axpy, 1048576 floats"`. Device, driver and
  /// the variants themselves count without being named here.
  option_text problem;
  /// Bytes that stand for the code: the source, say. When they change, all is measured again.
  option_text code = {};
  int warm_up = 1;      ///< launches of each variant before it is timed
  int repetitions = 7;  ///< timed launches of each; their median counts
  /// Where the outcome is remembered; null for the cache of the process.
  compile_cache* cache = nullptr;
};

/// How one variant did.
struct tuning_timing {
  text variant;       ///< in words
  elapsed_time time;  ///< the median; 0 where there is none
  text error;         ///< why it was left out; empty where it was not
};

/// What `autotune` found.
template <class Prepared> struct tuned {
  Prepared best;                    ///< what `prepare` made of the fastest variant
  std::size_t chosen = 0;           ///< its position among the variants
  bool remembered = false;          ///< nothing was timed: an earlier call or process did
  sequence<tuning_timing> timings;  ///< of all variants, in their order
};

namespace detail {

/// The first of some variants, for its type: any range that a `for` takes.
template <class Variants> const auto& first_of(const Variants& variants) {
  for (const auto& variant : variants) return variant;
  __builtin_unreachable();
}

/// A variant in words: a string, a number, or what its member `name` says.
template <class Variant> text variant_name(const Variant& variant) {
  text_builder out;
  if constexpr (detail::convertible<const Variant&, string_ref>) {
    out << string_ref(variant);
  } else if constexpr (detail::is_integral<Variant>) {
    out << static_cast<std::int64_t>(variant);
  } else {
    out << string_ref(variant.name);
  }
  return required(out.finish());
}

/// Sets `median` to the time of one launch.
template <class Launch>
result<> time_launches(stream_ref stream, const tuning_settings& settings, Launch& launch,
                       elapsed_time& median, source_location where) {
  const event start = GPU_TRY(event::create(stream.context(), {.timing = true}, where));
  const event stop = GPU_TRY(event::create(stream.context(), {.timing = true}, where));
  for (int i = 0; i < settings.warm_up; ++i) GPU_TRY(launch());
  GPU_TRY(stream.synchronize(where));
  sequence<elapsed_time> times;
  for (int i = 0; i < settings.repetitions; ++i) {
    GPU_TRY(record(stream, start, where));
    GPU_TRY(launch());
    GPU_TRY(record(stream, stop, where));
    GPU_TRY(stop.synchronize(where));
    const elapsed_time time = GPU_TRY(elapsed(start, stop, where));
    std::size_t at = times.size();
    times.push_back(time);
    for (; at > 0 && time < times[at - 1]; --at) times[at] = times[at - 1];
    times[at] = time;
  }
  median = times[times.size() / 2];
  return {};
}

}  // namespace detail

/// Times variants of a kernel and gives the fastest, ready to be launched:
///
///     auto tuned = GPU_TRY(gpu::autotune(
///         stream, {.problem = "axpy, 1048576 floats", .code = source}, {64, 128, 256},
///         [&](int block) { return make_kernel(block); },            // a result of anything
///         [&](auto& kernel, int block) { return run(kernel, block); }));  // one launch
///
/// A variant is a number, a string, or a structure with a `name`, by which it is told apart.
/// `prepare(variant)` compiles and loads it, and is not timed; `launch(prepared, variant)` launches
/// once on `stream`. A variant that fails in either, or while it runs, is left out, and its error
/// is kept with the timings. The outcome is remembered in the folder of the cache: the next time,
/// only the fastest is prepared, and nothing is launched.
/// **Ordering**: waits for the stream. **Threads**: any number at once, each on a stream of its
/// own.
/// **Errors**: `errc::invalid_argument` without variants or repetitions; a sticky error and
/// `errc::out_of_host_memory` as they come; the first variant's error where all fail. If the host
/// runs out of memory for the list of variants, operator new decides, as for `sequence`.
/// **Capture**: not allowed while `stream` is captured.
template <class Variants, class Prepare, class Launch>
auto autotune(stream_ref stream, const tuning_settings& settings, const Variants& variants,
              Prepare prepare, Launch launch, source_location where = source_location::current())
    -> result<tuned<detail::remove_cvref_t<decltype(*prepare(detail::first_of(variants)))>>> {
  using prepared_type = detail::remove_cvref_t<decltype(*prepare(detail::first_of(variants)))>;
  sequence<tuning_timing> timings;
  for (const auto& variant : variants) timings.push_back({detail::variant_name(variant), {}, {}});
  if (timings.empty() || settings.repetitions < 1 || settings.warm_up < 0) {
    detail::text_builder out;
    out << "there are " << timings.size() << " variants, " << settings.repetitions
        << " repetitions and " << settings.warm_up
        << " launches to warm up. Give one variant and one repetition at least.";
    return detail::fail(detail::refusal(errc::invalid_argument, "gpu::autotune", out.finish(),
                                        where, timings.size(), 1));
  }
  const text device = GPU_TRY(stream.device().name(where));
  const version driver = GPU_TRY(driver_version(where));
  compile_cache& cache = settings.cache != nullptr ? *settings.cache : compile_cache::of_process();
  detail::digest_builder words;
  words << string_ref("tuning") << string_ref(device) << static_cast<std::uint64_t>(driver.major)
        << static_cast<std::uint64_t>(driver.minor) << string_ref(settings.problem)
        << string_ref(settings.code) << std::uint64_t{timings.size()};
  for (const tuning_timing& timing : timings) words << string_ref(timing.variant);
  const detail::tuning_record record(cache, words.finish());

  detail::tuning_outcome known;
  if (record.find(known) && known.chosen < timings.size() &&
      known.milliseconds.size() == timings.size()) {
    std::size_t at = 0;
    for (const auto& variant : variants) {
      if (at++ != known.chosen) continue;
      auto made = prepare(variant);
      if (!made.has_value()) break;  // what was right then is not any more: look again
      for (std::size_t i = 0; i < timings.size(); ++i) {
        timings[i].time = elapsed_time::from_milliseconds(known.milliseconds[i]);
        timings[i].error = known.errors[i];
      }
      return tuned<prepared_type>{*detail::move(made), known.chosen, true, detail::move(timings)};
    }
  }

  // An error that says nothing about the variant that it happened to.
  const auto ends_tuning = [](const cuda_error& error) {
    return error.is_sticky() || error == errc::out_of_host_memory;
  };
  sequence<prepared_type> best;  // none or one
  sequence<cuda_error> errors;   // none or the first
  std::size_t at = 0, chosen = 0;
  for (const auto& variant : variants) {
    tuning_timing& timing = timings[at];
    const auto leave_out = [&](const cuda_error& error) {
      timing.error = error.message();
      if (errors.empty() || ends_tuning(error)) errors.assign(1, error);
      return ends_tuning(error);
    };
    auto made = prepare(variant);
    if (!made.has_value()) {
      if (leave_out(made.error())) break;
    } else {
      const auto once = [&] { return launch(*made, variant); };
      const result<> timed = detail::time_launches(stream, settings, once, timing.time, where);
      if (!timed.has_value()) {
        timing.time = {};
        if (leave_out(timed.error())) break;
      } else if (best.empty() || timing.time < timings[chosen].time) {
        chosen = at;
        best.clear();
        best.push_back(*detail::move(made));
      }
    }
    ++at;
  }
  if (best.empty() || (!errors.empty() && ends_tuning(errors[0]))) {
    return detail::fail(detail::move(errors[0]));
  }
  known = {};
  known.chosen = chosen;
  for (const tuning_timing& timing : timings) {
    known.milliseconds.push_back(timing.time.milliseconds());
    known.errors.push_back(timing.error);
  }
  record.store(known);
  return tuned<prepared_type>{detail::move(best[0]), chosen, false, detail::move(timings)};
}

/// The same for variants that are written down in place: `{64, 128, 256}`.
template <class Variant, class Prepare, class Launch>
auto autotune(stream_ref stream, const tuning_settings& settings,
              std::initializer_list<Variant> variants, Prepare prepare, Launch launch,
              source_location where = source_location::current()) {
  return autotune<std::initializer_list<Variant>>(stream, settings, variants, detail::move(prepare),
                                                  detail::move(launch), where);
}

}  // namespace gpu::inline v0
