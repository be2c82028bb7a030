// Prints the error of loading the given libcuda.so.1: the name of a check, then the sentence.

#include <gpu/driver.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/memory/fill.hpp>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string answer() {
  const gpu::result<int> count = gpu::device::count();
  if (count.has_value()) return std::to_string(*count) + " devices";
  return std::string(count.error().message().c_str());
}

/// One line for what all of the threads hear, and how often cuInit was called.
int threads() {
  constexpr int number = 16;
  std::atomic<int> waiting{number};
  std::vector<std::string> answers(number);
  std::vector<std::thread> all;
  for (std::string& each : answers) {
    all.emplace_back([&] {
      --waiting;
      while (waiting != 0) {
      }
      each = answer();
    });
  }
  for (std::thread& each : all) each.join();
  for (const std::string& each : answers)
    if (each != answers.front()) return 1;
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return 2;
  const auto calls = reinterpret_cast<int (*)()>(::dlsym(library, "fake_init_calls"));
  std::printf("%s; %d call of cuInit\n", answers.front().c_str(), calls());
  return 0;
}

/// Prints the error of a call in a forked child.
int said_in_child() {
  if (::fork() == 0) {
    ::alarm(10);
    std::printf("%s\n", answer().c_str());
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 1;
  ::wait(&status);
  return status;
}

/// The same, after the parent has used, or tried to use, the driver.
int forked() {
  (void)answer();
  return said_in_child();
}

/// The same, while another thread of the parent is in cuInit.
int forked_while_loading() {
  std::thread other([] { (void)answer(); });
  void* library = nullptr;
  while ((library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) == nullptr) {
  }
  const auto calls = reinterpret_cast<int (*)()>(::dlsym(library, "fake_init_calls"));
  while (calls() == 0) {
  }
  const int status = said_in_child();
  other.join();
  return status;
}

}  // namespace

int main(int, char** arguments) {
  const char* check = arguments[1];
  if (std::strcmp(check, "threads") == 0) return threads();
  if (std::strcmp(check, "fork") == 0) return forked();
  if (std::strcmp(check, "early_fork") == 0) return said_in_child();
  if (std::strcmp(check, "fork_while_loading") == 0) return forked_while_loading();
  if (std::strcmp(check, "version") == 0) {
    const gpu::result<gpu::version> version = gpu::driver_version();
    std::printf("%s\n", version.has_value() ? "told" : version.error().message().c_str());
    return 0;
  }
  if (std::strcmp(check, "launch") == 0) {
    const gpu::device first = gpu::device::from_native(0);
    std::printf("%s\n", gpu::stream::create(first).error().message().c_str());
    return 0;
  }
  // Handles that were made elsewhere, so that no other call came before.
  const auto context = gpu::context_ref::from_native(reinterpret_cast<CUcontext>(0x1000),
                                                     gpu::device::from_native(0));
  if (std::strcmp(check, "fill") == 0) {
    const auto stream = gpu::stream_ref::from_native(reinterpret_cast<CUstream>(0x2000), context);
    const auto span = gpu::device_span<int>::from_native(0x3000, 4);
    std::printf("%s\n", gpu::fill(stream, span, 0).error().message().c_str());
    return 0;
  }
  if (std::strcmp(check, "query") == 0) {
    const auto event = gpu::event_ref::from_native(reinterpret_cast<CUevent>(0x2000), context);
    std::printf("%s\n", event.is_done().error().message().c_str());
    return 0;
  }
  if (std::strcmp(check, "destroy") == 0) {
    gpu::set_error_reporter([](const gpu::cuda_error& error) {
      std::printf("reported: %s\n", error.message().c_str());
    });
    (void)gpu::event::adopt(
        gpu::event_ref::from_native(reinterpret_cast<CUevent>(0x2000), context));
    return 0;
  }
  // Twice: what is said does not depend on who asks first.
  const std::string said = answer();
  std::printf("%s\n", said.c_str());
  return answer() == said ? 0 : 1;
}
