// A libcuda.so.1 that does as the environment says:
// - FAKE_VERSION: what cuDriverGetVersion answers (13000), or minus the error that it gives
// - FAKE_INIT: what cuInit answers (0); while it is not 0, other calls answer 3
// - FAKE_INIT_TAKES: for how many milliseconds (0)
// - FAKE_LACKS: a function that cuGetProcAddress does not find
//
// With WITHOUT_RESOLVER or WITHOUT_VERSION it lacks that symbol.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

std::atomic<int> init_calls{0};

int variable(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

[[maybe_unused]] int init(unsigned) {
  ++init_calls;
  std::this_thread::sleep_for(std::chrono::milliseconds(variable("FAKE_INIT_TAKES", 0)));
  return variable("FAKE_INIT", 0);
}
[[maybe_unused]] int get_device_count(int* count) {
  *count = 1;
  return variable("FAKE_INIT", 0) == 0 ? 0 : 3;
}
[[maybe_unused]] int any_other() { return variable("FAKE_INIT", 0) == 0 ? 801 : 3; }

}  // namespace

extern "C" {

int fake_init_calls() { return init_calls; }

#ifndef WITHOUT_VERSION
int cuDriverGetVersion(int* version) {
  const int answer = variable("FAKE_VERSION", 13000);
  if (answer < 0) return -answer;
  *version = answer;
  return 0;
}
#endif

#ifndef WITHOUT_RESOLVER
int cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, int* found) {
  const char* lacks = std::getenv("FAKE_LACKS");
  const bool is_there = lacks == nullptr || std::strcmp(name, lacks) != 0;
  *found = is_there ? 0 : 1;
  *function =
      !is_there                                    ? nullptr
      : std::strcmp(name, "cuInit") == 0           ? reinterpret_cast<void*>(&init)
      : std::strcmp(name, "cuDeviceGetCount") == 0 ? reinterpret_cast<void*>(&get_device_count)
#  ifndef WITHOUT_VERSION
      : std::strcmp(name, "cuDriverGetVersion") == 0 ? reinterpret_cast<void*>(&cuDriverGetVersion)
#  endif
                                                     : reinterpret_cast<void*>(&any_other);
  return is_there ? 0 : 500;
}
#endif
}
