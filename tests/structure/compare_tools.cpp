// Writes the measurements of two runs in the forms of Google Benchmark and of nvbench, for
// compare_tools: the second candidate takes twice the time in the second run. The argument is the
// folder.

#include <gpu/measure/json.hpp>

#include <cstdio>
#include <string>

namespace {

gpu::measurement made(const char* name, double seconds, gpu::work_amount amount) {
  gpu::measurement one;
  one.name = gpu::text(name);
  one.amount = amount;
  one.calls = 20;
  for (int i = 0; i < 12; ++i) one.samples.push_back(seconds * (1 + 0.001 * (i % 5)));
  one.seconds = gpu::sample_statistics::of(one.samples);
  one.steady = true;
  return one;
}

gpu::measurements run(double slower) {
  gpu::measurements found;
  found.device = gpu::text("NVIDIA \"H200\"");
  found.compute_capability = {9, 0};
  found.driver = {13, 0};
  found.peaks.bytes = 4.8e12;
  found.condition.multiprocessor_mhz = 1755;
  found.all.push_back(made("copy", 2e-3, {.bytes = 4.8e9}));
  found.all.push_back(made("sum of floats", 1e-5 * slower, {.bytes = 4e6, .operations = 1e6}));
  return found;
}

bool write(const std::string& name, const std::string& text) {
  std::FILE* file = std::fopen(name.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fputs(text.c_str(), file) >= 0;
  return (std::fclose(file) == 0) && written;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  for (const bool after : {false, true}) {
    const gpu::measurements found = run(after ? 2 : 1);
    const std::string name = folder + (after ? "/after" : "/before");
    if (!write(name + ".google.json", gpu::to_google_benchmark_json(found))) return 1;
    if (!write(name + ".nvbench.json", gpu::to_nvbench_json(found))) return 1;
  }
}
