// The main of the test program: chooses the driver, leaves out the tests that cannot run on it, and
// ends with one line of counts that scripts/test adds up.

#include "support/drivers.hpp"
#include "support/sanitizers.hpp"

#include <stdlib.h>

#if __has_include(<catch2/catch_all.hpp>)
#  include <catch2/catch_all.hpp>
using listener_base = Catch::EventListenerBase;
#else
#  define CATCH_CONFIG_RUNNER
#  include <catch2/catch.hpp>
using listener_base = Catch::TestEventListenerBase;
#endif

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// What the sanitizers ask before they start, so that none of these may be instrumented.
#define NOT_SANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))
extern "C" {
NOT_SANITIZED const char* __asan_default_options();
NOT_SANITIZED const char* __tsan_default_options();
NOT_SANITIZED const char* __ubsan_default_options();
NOT_SANITIZED const char* __lsan_default_suppressions();
NOT_SANITIZED const char* __tsan_default_suppressions();
}

// Some tests ask for more host memory than there can be: that fails, and does not end the program.
// In one run of eight the search for leaks died of what it had noted of thread-local variables of
// libraries that were opened, so it does not note that.
const char* __asan_default_options() {
  return "detect_stack_use_after_return=1:allocator_may_return_null=1:intercept_tls_get_addr=0";
}
// The CPU driver lives until the process ends; a stream's thread is joined when the next one
// starts.
const char* __tsan_default_options() { return "allocator_may_return_null=1:report_thread_leaks=0"; }
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
// NVRTC leaks a little where options are odd, and nvJitLink where a link fails.
const char* __lsan_default_suppressions() { return "leak:libnvrtc\nleak:libnvJitLink\n"; }
// NVRTC destroys a mutex while the process ends, which a thread that begins to compile initializes.
const char* __tsan_default_suppressions() { return "race:libnvrtc\n"; }

namespace {

Catch::Counts test_cases;

struct counting_listener : listener_base {
  using listener_base::listener_base;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    test_cases = stats.totals.testCases;
  }
};
CATCH_REGISTER_LISTENER(counting_listener)

/// `asked` with `condition` put before each of its alternatives, which commas separate. One that
/// only excludes would take in hidden test cases, so it excludes those as well.
std::vector<std::string> both(const std::string& condition, std::vector<std::string> asked) {
  if (asked.empty()) return {condition + "~[.]"};
  bool at_start = true;
  for (std::string& part : asked) {
    std::string narrowed;
    bool escaped = false;
    for (const char c : part) {
      if (at_start) narrowed += condition + (c == '~' ? "~[.]" : "");
      at_start = c == ',' && !escaped;
      escaped = c == '\\' && !escaped;
      narrowed += c;
    }
    part = narrowed;
  }
  return asked;
}

template <class Config> bool only_lists(const Config& config) {
  if constexpr (requires { config.listTestNamesOnly; }) {  // Catch2 2
    if (config.listTestNamesOnly) return true;
  }
  return config.listTests || config.listTags || config.listReporters || config.showHelp;
}

std::size_t count_matching(Catch::Session& session, const std::vector<std::string>& tests) {
  Catch::ConfigData data = session.configData();
  data.testsOrTags = tests;
  session.useConfigData(data);
  const Catch::Config& config = session.config();
  return Catch::filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config).size();
}

}  // namespace

int main(int argc, char** argv) {
  // Tests leave the user's caches alone, and those of the compiler see each compilation: they make
  // their own caches, and what NVRTC finds in the driver's it does not compile. The others may be
  // given a folder, in which they find the kernels of an earlier run.
  const char* const folder = std::getenv("GPU_TEST_CACHE");
  ::setenv("GPU_CACHE", folder != nullptr ? "on" : "off", 1);
  if (folder != nullptr) ::setenv("GPU_CACHE_DIR", folder, 1);
  ::setenv("CUDA_CACHE_DISABLE", "1", 1);
  Catch::Session session;
  if (const int refused = session.applyCommandLine(argc, argv); refused != 0) return refused;
  if (const std::string wrong = test::choose_driver(); !wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    return 2;
  }

  // A list is of all tests, whatever the driver.
  if (only_lists(session.configData())) return session.run();

  const std::string other_driver = test::on_hardware() ? "[cpu]" : "[hardware]";
  const std::vector<std::string> asked = session.configData().testsOrTags;
  std::string left_out = '~' + other_driver;
  std::size_t skipped = count_matching(session, both(other_driver, asked));
  if (test::device_count() < 2) {
    skipped += count_matching(session, both(left_out + "[two_devices]", asked));
    left_out += "~[two_devices]";
  }
  if (!test::places_known) {
    skipped += count_matching(session, both(left_out + "[places]", asked));
    left_out += "~[places]";
  }
  std::printf("driver: %s\n", test::driver_name());
  std::fflush(stdout);

  const std::size_t wanted = count_matching(session, both(left_out, asked));
  if (wanted == 0 && skipped == 0) {
    std::fprintf(stderr, "no test case matches\n");
    return 2;
  }
  const int failed = wanted != 0 ? session.run() : 0;
  std::printf("driver %s: %llu passed, %llu failed, %llu skipped\n", test::driver_name(),
              static_cast<unsigned long long>(test_cases.passed),
              static_cast<unsigned long long>(test_cases.failed),
              static_cast<unsigned long long>(skipped));
  return failed;
}
