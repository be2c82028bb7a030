// What is said about measurements: as a table, as JSON for the tools of others, and as a picture.

#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/measure/detail/number_text.hpp>
#include <gpu/measure/device_condition.hpp>
#include <gpu/measure/json.hpp>
#include <gpu/measure/measurement.hpp>
#include <gpu/measure/picture.hpp>
#include <gpu/measure/sample_statistics.hpp>
#include <gpu/measure/table.hpp>

#include "measure/json_reader.hpp"

#include <cstddef>
#include <regex>
#include <string>
#include <utility>

namespace report_test {

using test::json;

namespace {

gpu::measurement made(const char* name, gpu::sequence<double> samples,
                      gpu::work_amount amount = {}) {
  gpu::measurement one;
  one.name = gpu::text(name);
  one.amount = amount;
  one.calls = 20;
  one.seconds = gpu::sample_statistics::of(samples);
  one.samples = std::move(samples);
  one.steady = true;
  return one;
}

gpu::measurements two() {
  gpu::measurements found;
  found.device = gpu::text("NVIDIA \"H200\"");
  found.compute_capability = {9, 0};
  found.driver = {13, 0};
  found.peaks.bytes = 4.8e12;
  found.peaks.float_operations = 67e12;
  found.all.push_back(made("copy <1 & 2>", {1e-3, 2e-3, 3e-3}, {.bytes = 4.8e9}));
  found.all.push_back(made("saxpy", {1e-6, 1e-6, 1e-6}, {.bytes = 12, .operations = 6.7e6}));
  found.all[1].steady = false;
  return found;
}

std::size_t count(const std::string& text, const char* part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("to_table: a row says the median, how certain it is, and the shares", "[measure]") {
  gpu::measurements found = two();
  CHECK(gpu::to_table(found) ==
        "                median       +-   fastest  samples  relative    GB/s  of peak   Gop/s  of "
        "peak\n"
        "copy <1 & 2>  2.000 ms  50.00 %  1.000 ms   3 x 20     1.000  2400.0   50.0 %\n"
        "saxpy         1.000 us   0.00 %  1.000 us   3 x 20     0.001   0.012    0.0 %  6700.0   "
        "10.0 %"
        "  not steady\n");
  found.peaks = {};
  CHECK(gpu::to_table(found).find("of peak") == std::string::npos);
  found.all.pop_back();
  found.all[0].amount = {};
  CHECK(gpu::to_table(found) ==
        "                median       +-   fastest  samples  relative\n"
        "copy <1 & 2>  2.000 ms  50.00 %  1.000 ms   3 x 20     1.000\n");
  CHECK(gpu::to_table({}) == "  median  +-  fastest  samples  relative\n");
}

TEST_CASE("to_heading: the device, its clocks, and what holds them down", "[measure]") {
  gpu::measurements found = two();
  found.condition.unknown = gpu::text("NVML cannot be used");
  CHECK(gpu::to_heading(found) ==
        "NVIDIA \"H200\", compute capability 9.0, driver for CUDA 13.0; warm caches\n"
        "clocks and throttling are unknown: NVML cannot be used\n");
  found.flushed_cache = true;
  found.condition = {};
  found.condition.multiprocessor_mhz = 1200;
  found.condition.most_multiprocessor_mhz = 1980;
  found.condition.memory_mhz = 3201;
  found.condition.temperature = 71;
  found.condition.power = 699.6;
  found.condition.reasons = gpu::throttle_reasons::idle;
  CHECK(gpu::to_heading(found) ==
        "NVIDIA \"H200\", compute capability 9.0, driver for CUDA 13.0; L2 cache flushed\n"
        "multiprocessors at 1200 of 1980 MHz, memory at 3201 MHz, 71 degrees Celsius, 700 W, not "
        "throttled\n");
  found.condition.reasons =
      gpu::throttle_reasons::power_cap | gpu::throttle_reasons::software_thermal;
  CHECK(gpu::to_heading(found).find(", throttled: power_cap software_thermal\n") !=
        std::string::npos);
}

TEST_CASE("to_table: times have three digits or more, and a unit", "[measure]") {
  using gpu::detail::time_text;
  CHECK(time_text(0) == "0.000 ns");
  CHECK(time_text(1.23456e-9) == "1.235 ns");
  CHECK(time_text(12.3456e-6) == "12.35 us");
  CHECK(time_text(123.456e-3) == "123.5 ms");
  CHECK(time_text(1234.56) == "1234.6 s");
}

TEST_CASE("to_google_benchmark_json: its compare.py finds each sample and the aggregates",
          "[measure]") {
  const json root = test::json_reader::read(gpu::to_google_benchmark_json(two()));
  CHECK(root["context"]["device"].string == "NVIDIA \"H200\"");
  CHECK(std::regex_match(root["context"]["date"].string,
                         std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")));
  const json& runs = root["benchmarks"];
  REQUIRE(runs.size() == 2 * (3 + 3));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // The members that its tools/gbench/report.py and util.py look at.
    for (const char* member : {"name", "run_name", "run_type", "time_unit"})
      CHECK(runs[i][member].kind == '"');
    for (const char* member : {"real_time", "cpu_time", "iterations", "threads", "repetitions",
                               "family_index", "per_family_instance_index"})
      CHECK(runs[i][member].kind == '1');
    CHECK(runs[i]["time_unit"].string == "ns");
  }
  CHECK(runs[1]["name"].string == "copy <1 & 2>");
  CHECK(runs[1]["run_type"].string == "iteration");
  CHECK(runs[1]["repetition_index"].number == 1);
  CHECK(runs[1]["iterations"].number == 20);
  CHECK(runs[1]["real_time"].number == Approx(2e6));
  CHECK(runs[1]["bytes_per_second"].number == Approx(2.4e12));
  CHECK(runs[1]["items_per_second"].kind == '0');
  CHECK(runs[4]["name"].string == "copy <1 & 2>_median");
  CHECK(runs[4]["run_name"].string == "copy <1 & 2>");
  CHECK(runs[4]["run_type"].string == "aggregate");
  CHECK(runs[4]["aggregate_name"].string == "median");
  CHECK(runs[5]["aggregate_name"].string == "stddev");
  CHECK(runs[5]["real_time"].number == Approx(1e6));
  CHECK(runs[6]["family_index"].number == 1);
  CHECK(runs[6]["items_per_second"].number == Approx(6.7e12));
}

TEST_CASE("to_nvbench_json: its nvbench_compare.py finds the times and their noise", "[measure]") {
  gpu::measurements found = two();
  found.device_index = 1;
  found.condition.multiprocessor_mhz = 1755;
  const json root = test::json_reader::read(gpu::to_nvbench_json(found));
  CHECK(root["meta"]["version"]["json"]["major"].number == 1);
  CHECK(root["devices"][0]["id"].number == 1);
  CHECK(root["devices"][0]["name"].string == "NVIDIA \"H200\"");
  CHECK(root["devices"][0]["sm_version"].number == 900);
  REQUIRE(root["benchmarks"].size() == 2);
  // As that program reads them.
  const auto value_of = [&](std::size_t benchmark, const char* tag, const char* type) {
    const json& bench = root["benchmarks"][benchmark];
    CHECK(bench["devices"][0].number == 1);
    CHECK(bench["axes"].kind == '[');
    const json& state = bench["states"][0];
    CHECK(state["name"].string == "Device=1");
    CHECK(state["device"].number == 1);
    CHECK(state["type_config_index"].number == 0);
    CHECK(state["axis_values"].kind == '[');
    CHECK(state["is_skipped"].kind == 'f');
    for (const json& summary : state["summaries"].list) {
      if (summary["tag"].string != tag) continue;
      CHECK(summary["data"][0]["name"].string == "value");
      CHECK(summary["data"][0]["type"].string == type);
      CHECK(summary["data"][0]["value"].kind == '"');
      return std::stod(summary["data"][0]["value"].string);
    }
    return -1.0;
  };
  CHECK(value_of(0, "nv/cold/time/gpu/mean", "float64") == Approx(2e-3));
  CHECK(value_of(0, "nv/cold/time/gpu/stdev/relative", "float64") == Approx(0.5));
  CHECK(value_of(0, "nv/cold/sm_clock_rate/mean", "float64") == Approx(1.755e9));
  CHECK(value_of(0, "nv/cold/sample_size", "int64") == 3);
  CHECK(value_of(0, "nv/cold/bw/global/bytes_per_second", "float64") == Approx(2.4e12));
  CHECK(value_of(0, "nv/cold/bw/global/utilization", "float64") == Approx(0.5));
  CHECK(value_of(0, "nv/cold/bw/item_rate", "float64") == -1);
  CHECK(value_of(1, "nv/cold/bw/item_rate", "float64") == Approx(6.7e12));
}

TEST_CASE("measurements as JSON: nothing measured, and names with any characters", "[measure]") {
  const gpu::measurements none;
  CHECK(test::json_reader::read(gpu::to_google_benchmark_json(none))["benchmarks"].size() == 0);
  CHECK(test::json_reader::read(gpu::to_nvbench_json(none))["benchmarks"].size() == 0);
  gpu::measurements odd;
  const char* const name = "a\\b\n\"\x01\t\xc3\xa9";
  odd.all.push_back(made(name, {0.0}, {.bytes = 1, .operations = 1}));
  CHECK(
      test::json_reader::read(gpu::to_google_benchmark_json(odd))["benchmarks"][0]["name"].string ==
      name);
  CHECK(test::json_reader::read(gpu::to_nvbench_json(odd))["benchmarks"][0]["name"].string == name);
}

TEST_CASE("to_svg: each candidate has a row on one axis of time", "[measure]") {
  gpu::measurements found = two();
  gpu::sequence<double> many;
  for (int i = 0; i < 1000; ++i) many.push_back(i == 999 ? 5.0 : 2e-3 + 1e-7 * i);
  found.all.push_back(made("many", std::move(many)));
  const std::string picture = gpu::to_svg(found);
  CHECK(picture.find("<svg xmlns=\"http://www.w3.org/2000/svg\" ") == 0);
  CHECK(picture.find("</svg>\n") == picture.size() - 7);
  CHECK(count(picture, "<text") == count(picture, "</text>"));
  CHECK(count(picture, "copy &lt;1 &amp; 2&gt;") == 1);
  CHECK(count(picture, "NVIDIA &quot;H200&quot;") == 1);
  CHECK(count(picture, "2.000 ms</text>") == 1);
  CHECK(count(picture, "1.000 us</text>") == 1);
  CHECK(count(picture, "stroke-opacity") <= 3 + 3 + 200);
  CHECK(count(picture, "stroke-opacity") > 100);
  CHECK(count(picture, "fill=\"#d08030\"") == 3);
  // The axis begins right of the names, at 30 + 7 * 12. Nothing is drawn beyond its end, 500 later:
  // the sample of 5 s is left out.
  const std::regex place("x1=\"([0-9.]+)\"");
  for (std::sregex_iterator at(picture.begin(), picture.end(), place), end; at != end; ++at)
    CHECK((std::stod((*at)[1]) >= 114 && std::stod((*at)[1]) <= 614));
  CHECK(gpu::to_svg(gpu::measurements{}).find("</svg>") != std::string::npos);
}

TEST_CASE("to_svg: the axis begins at 0 if times are alike, or is logarithmic", "[measure]") {
  gpu::measurements found;
  found.all.push_back(made("one", {1e-3, 1e-3}));
  found.all.push_back(made("other", {2e-3, 2e-3}));
  // From 30 + 7 * 5 to 500 further right stands for 2.1 ms.
  std::string picture = gpu::to_svg(found);
  CHECK(count(picture, ">0</text>") == 1);
  CHECK(count(picture, "<line x1=\"303.1\"") == 2 + 1);  // 65 + 500 / 2.1: samples and median
  CHECK(count(picture, "<line x1=\"541.2\"") == 2 + 1);
  found.all[1] = made("other", {1.0, 1.0, 0.0});  // a time of 0 is drawn at the left end
  picture = gpu::to_svg(found);
  CHECK(count(picture, ">0</text>") == 0);
  // From 1 ms / 1.05 to 1.05 s: 65 + 500 * log(1.05) / log(1102.5), and as far from the right end.
  CHECK(count(picture, "<line x1=\"68.5\"") == 2 + 1);
  CHECK(count(picture, "<line x1=\"561.5\"") == 2 + 1);
}

}  // namespace report_test
