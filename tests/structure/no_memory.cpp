// Compiled into a shared library with hidden symbols and into a program that opens it. The program
// has the C library's allocations fail, as operator new cannot: destructors of
// threads and handlers for the end of the process are registered in memory of the C library.
#if defined(GPU_LIBRARY)
#  include <gpu/core/last_error.hpp>
#  if GPU_LIBRARY == 2
#    include <gpu/compiler.hpp>
#  endif

#  define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED bool refuse() {
  (void)gpu::detail::refusal(gpu::errc::empty_handle, "refuse", gpu::text("a handle is empty."),
                             gpu::source_location::current());
  return !gpu::peek_last_error().has_value();
}

#  if GPU_LIBRARY == 2
extern "C" void end_memory();
namespace {
struct memory_ends {
  memory_ends() { end_memory(); }
};
// Before all else that is made when the library is opened.
__attribute__((init_priority(101))) const memory_ends before_all_else;
}  // namespace
EXPORTED bool compiles_nothing() {
  return !gpu::compile("", {.architecture = gpu::architecture::sm(1)}).has_value();
}
#  endif

#else
#  include <gpu/core/last_error.hpp>

#  include <dlfcn.h>
#  include <pthread.h>

#  include <atomic>
#  include <cerrno>
#  include <cstdio>
#  include <cstring>
#  include <thread>

namespace {
constinit thread_local bool no_memory = false;
}

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t bytes) { return no_memory ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t number, std::size_t bytes) {
  return no_memory ? nullptr : __libc_calloc(number, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  return no_memory ? nullptr : __libc_realloc(old, bytes);
}
void end_memory() { no_memory = true; }
}

namespace {

gpu::cuda_error refuse() {
  return gpu::detail::refusal(gpu::errc::empty_handle, "refuse", gpu::text("a handle is empty."),
                              gpu::source_location::current());
}

/// Checks that the first error of a thread is returned, though there is no memory to record it.
struct heard {
  bool returned = false, recorded = false, lost = false;
};
heard first_error_without_memory() {
  heard what;
  std::thread([&] {
    no_memory = true;
    const gpu::cuda_error error = refuse();
    const gpu::result<> last = gpu::take_last_error();
    no_memory = false;
    what.returned = error == gpu::errc::empty_handle;
    what.recorded = !last.has_value() && last.error() == gpu::errc::empty_handle;
    what.lost = error.details().lost();
  }).join();
  return what;
}

int first_errors() {
  const heard first = first_error_without_memory();
  return first.returned && !first.recorded && first.lost ? 0 : 1;
}

/// Checks that a thread which has recorded an error before needs no memory to record the next one.
int later_errors() {
  bool recorded = false;
  std::thread([&] {
    refuse();
    (void)gpu::take_last_error();
    no_memory = true;
    refuse();
    const gpu::result<> last = gpu::take_last_error();
    no_memory = false;
    recorded = !last.has_value() && last.error().details().lost();
  }).join();
  return recorded ? 0 : 1;
}

/// A thread notes 32 keys in memory that it has, and allocates for more.
int late_keys() {
  pthread_key_t key;
  for (int i = 0; i < 40; ++i)
    if (::pthread_key_create(&key, nullptr) != 0) return 2;
  return first_errors() + later_errors();
}

int no_keys() {
  pthread_key_t key;
  while (::pthread_key_create(&key, nullptr) == 0) {
  }
  return refuse() == gpu::errc::empty_handle && gpu::peek_last_error().has_value() ? 0 : 1;
}

using function = bool (*)();
function find(void* library, const char* name) {
  return reinterpret_cast<function>(::dlsym(library, name));
}

/// A library that is closed while threads have errors of its, each of which ends afterwards.
int closed(const char* path) {
  for (int round = 0; round < 1100; ++round) {  // more often than there are keys
    void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 2;
    if (round == 0) {
      std::atomic<bool> has_error{false}, may_end{false};
      std::thread other([&] {
        has_error = find(library, "refuse")();
        while (!may_end) std::this_thread::yield();
      });
      while (!has_error) std::this_thread::yield();
      std::thread([&] { find(library, "refuse")(); }).join();
      ::dlclose(library);
      may_end = true;
      other.join();
    } else {
      if (!find(library, "refuse")()) return 3;
      ::dlclose(library);
    }
    if (::dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr) return 4;
  }
  return 0;
}

/// A library for whose beginning there is no memory.
int opened(const char* path) {
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const bool ended = no_memory;
  no_memory = false;
  if (library == nullptr) std::puts(::dlerror());
  return library != nullptr && ended && find(library, "compiles_nothing")() ? 0 : 1;
}

}  // namespace

int main(int, char** arguments) {
  const char* const check = arguments[1];
  if (std::strcmp(check, "first_errors") == 0) return first_errors();
  if (std::strcmp(check, "later_errors") == 0) return later_errors();
  if (std::strcmp(check, "late_keys") == 0) return late_keys();
  if (std::strcmp(check, "no_keys") == 0) return no_keys();
  if (std::strcmp(check, "closed") == 0) return closed(arguments[2]);
  if (std::strcmp(check, "opened") == 0) return opened(arguments[2]);
  return 5;
}
#endif
