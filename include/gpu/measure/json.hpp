#pragma once
/// \file
/// Measurements as JSON that the tools of Google Benchmark and of nvbench read.

#include <gpu/measure/detail/number_text.hpp>
#include <gpu/measure/measurement.hpp>

#include <ctime>
#include <string>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns the time now as ISO 8601 has it, in UTC.
inline std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char out[32] = "";
  if (::gmtime_r(&now, &parts) != nullptr) std::strftime(out, sizeof out, "%FT%TZ", &parts);
  return out;
}

/// Returns a run of Google Benchmark's: a sample, or a figure of them all if `aggregate` is given.
/// `rates` is appended to it.
inline std::string google_run(const measurement& one, std::size_t family, std::size_t repetition,
                              const char* aggregate, double seconds, const std::string& rates) {
  const std::string name = json_text(view_of(one.name));
  const std::string time = number_text(seconds * 1e9);
  std::string out = "    {\"name\": ";
  out += aggregate == nullptr ? name : json_text(std::string(view_of(one.name)) + '_' + aggregate);
  out += ", \"family_index\": " + std::to_string(family) +
         ", \"per_family_instance_index\": 0, \"run_name\": " + name +
         ", \"run_type\": " + (aggregate == nullptr ? "\"iteration\"" : "\"aggregate\"") +
         ", \"repetitions\": " + std::to_string(one.samples.size());
  if (aggregate == nullptr) {
    out += ", \"repetition_index\": " + std::to_string(repetition);
  } else {
    out += std::string(", \"aggregate_name\": \"") + aggregate + "\", \"aggregate_unit\": \"time\"";
  }
  return out + ", \"threads\": 1, \"iterations\": " +
         std::to_string(aggregate == nullptr ? one.calls : one.samples.size()) +
         ", \"real_time\": " + time + ", \"cpu_time\": " + time + ", \"time_unit\": \"ns\"" +
         rates + '}';
}

inline std::string google_rates(const measurement& one, double seconds) {
  std::string out;
  if (seconds <= 0) return out;
  if (one.amount.bytes > 0)
    out += ", \"bytes_per_second\": " + number_text(one.amount.bytes / seconds);
  if (one.amount.operations > 0)
    out += ", \"items_per_second\": " + number_text(one.amount.operations / seconds);
  return out;
}

/// Returns a figure of nvbench's, whose values are strings.
inline std::string nvbench_summary(const char* tag, const char* name, const char* hint,
                                   const char* type, const std::string& value) {
  return std::string("          {\"tag\": \"") + tag + "\", \"name\": \"" + name +
         "\", \"hint\": \"" + hint + "\", \"data\": [{\"name\": \"value\", \"type\": \"" + type +
         "\", \"value\": \"" + value + "\"}]}";
}

/// Returns one candidate as a benchmark of nvbench's.
inline std::string nvbench_benchmark(const measurements& found, std::size_t i) {
  const std::string index = std::to_string(found.device_index);
  const measurement& one = found.all[i];
  const auto number = [](double value) { return number_text(value); };
  std::string summaries = nvbench_summary("nv/cold/sample_size", "Samples", "sample_size", "int64",
                                          std::to_string(one.samples.size()));
  const auto add = [&](const char* tag, const char* name, const char* hint, double value) {
    summaries += ",\n" + nvbench_summary(tag, name, hint, "float64", number(value));
  };
  const double mean = one.seconds.mean;
  add("nv/cold/time/gpu/mean", "GPU Time", "duration", mean);
  add("nv/cold/time/gpu/median", "Median GPU Time", "duration", one.seconds.median);
  add("nv/cold/time/gpu/min", "Min GPU Time", "duration", one.seconds.minimum);
  add("nv/cold/time/gpu/max", "Max GPU Time", "duration", one.seconds.maximum);
  add("nv/cold/time/gpu/stdev/absolute", "Noise", "duration", one.seconds.deviation);
  add("nv/cold/time/gpu/stdev/relative", "Noise", "percentage",
      mean > 0 ? one.seconds.deviation / mean : 0);
  if (one.amount.bytes > 0 && mean > 0) {
    add("nv/cold/bw/global/bytes_per_second", "GlobalMem BW", "byte_rate", one.amount.bytes / mean);
    if (found.peaks.bytes > 0)
      add("nv/cold/bw/global/utilization", "BWUtil", "percentage",
          one.amount.bytes / mean / found.peaks.bytes);
  }
  if (one.amount.operations > 0 && mean > 0)
    add("nv/cold/bw/item_rate", "Elem/s", "item_rate", one.amount.operations / mean);
  if (found.condition.multiprocessor_mhz != 0)
    add("nv/cold/sm_clock_rate/mean", "SM Clock Rate", "frequency",
        1e6 * found.condition.multiprocessor_mhz);
  return "    {\"name\": " + json_text(view_of(one.name)) + ", \"index\": " + std::to_string(i) +
         ", \"devices\": [" + index +
         "], \"axes\": [], \"states\": [\n      {\"name\": \"Device=" + index +
         "\", \"device\": " + index +
         ", \"type_config_index\": 0, \"axis_values\": [], \"is_skipped\": false, "
         "\"summaries\": [\n" +
         summaries + "]}]}";
}

}  // namespace detail

/// Returns measurements in the form of Google Benchmark's `--benchmark_format=json`: each sample is
/// a repetition, and median, mean and standard deviation are aggregates. Both of its times are the
/// device's. Its `tools/compare.py` compares two such files.
inline std::string to_google_benchmark_json(const measurements& found) {
  std::string out = "{\n  \"context\": {\"date\": " + detail::json_text(detail::date_text()) +
                    ", \"library_build_type\": \"release\", \"device\": " +
                    detail::json_text(detail::view_of(found.device)) +
                    ", \"flushed_cache\": " + (found.flushed_cache ? "true" : "false") +
                    "},\n  \"benchmarks\": [";
  const char* separator = "\n";
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    const measurement& one = found.all[i];
    const auto add = [&](std::size_t repetition, const char* aggregate, double seconds,
                         bool has_rates) {
      out += separator +
             detail::google_run(one, i, repetition, aggregate, seconds,
                                has_rates ? detail::google_rates(one, seconds) : std::string());
      separator = ",\n";
    };
    for (std::size_t k = 0; k < one.samples.size(); ++k) add(k, nullptr, one.samples[k], true);
    add(0, "mean", one.seconds.mean, true);
    add(0, "median", one.seconds.median, true);
    add(0, "stddev", one.seconds.deviation, false);
  }
  return out + "\n  ]\n}\n";
}

/// Returns measurements in the form of nvbench's `--json`: each candidate is a benchmark without
/// axes. The figures bear the tags of nvbench's isolated measurements, which its
/// `nvbench_compare.py` looks for, whether the cache was flushed or not. The clock is the lowest
/// that was read, where it could be read.
inline std::string to_nvbench_json(const measurements& found) {
  const std::string index = std::to_string(found.device_index);
  const std::string sm = std::to_string(found.compute_capability.sm() * 10);
  std::string out =
      "{\n  \"meta\": {\"argv\": [], \"version\": {\"json\": {\"major\": 1, \"minor\": 0, "
      "\"patch\": 0, \"string\": \"1.0.0\"}}},\n  \"devices\": [{\"id\": " +
      index + ", \"name\": " + detail::json_text(detail::view_of(found.device)) +
      ", \"sm_version\": " + sm + ", \"ptx_version\": " + sm +
      ", \"global_memory_bus_bandwidth\": " + detail::fixed_text(found.peaks.bytes, 0) +
      "}],\n  \"benchmarks\": [";
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    out += (i == 0 ? "\n" : ",\n") + detail::nvbench_benchmark(found, i);
  }
  return out + "\n  ]\n}\n";
}

}}  // namespace gpu::v1
