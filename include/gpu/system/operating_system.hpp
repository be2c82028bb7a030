#pragma once
/// \file
/// All that depends on the operating system: shared libraries, fork and exit, and memory that every
/// shared library of the process finds. Linux is what is tested.

#include <gpu/core/version.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// <link.h> would bring in the ELF headers for this one function, and its struct is only passed on.
extern "C" int dl_iterate_phdr(int (*)(struct dl_phdr_info*, std::size_t, void*), void*);

namespace gpu::inline v0::detail {

// What is used of <unistd.h>, <pthread.h>, <fcntl.h>, <string.h>, <dlfcn.h> and <sys/mman.h>, which
// cost more than a quarter of what cuda.h does. The names in C++ are our own, for a second
// declaration of `close` itself would have to say `noexcept` where the C library's does. A test
// compares them with the originals.
extern "C" {
int gpu_c_open(const char* path, int flags, ...) noexcept __asm__("open");
int gpu_c_close(int file) noexcept __asm__("close");
int gpu_c_fcntl(int file, int command, ...) noexcept __asm__("fcntl");
ssize_t gpu_c_read(int file, void* bytes, std::size_t count) noexcept __asm__("read");
char* gpu_c_strerror(int number) noexcept __asm__("strerror");
ssize_t gpu_c_write(int file, const void* bytes, std::size_t count) noexcept __asm__("write");
int gpu_c_atfork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept
    __asm__("pthread_atfork");
int gpu_c_mutex_lock(pthread_mutex_t* mutex) noexcept __asm__("pthread_mutex_lock");
int gpu_c_mutex_trylock(pthread_mutex_t* mutex) noexcept __asm__("pthread_mutex_trylock");
int gpu_c_mutex_unlock(pthread_mutex_t* mutex) noexcept __asm__("pthread_mutex_unlock");
int gpu_c_yield() noexcept __asm__("sched_yield");
void* gpu_c_dlopen(const char* path, int flags) noexcept __asm__("dlopen");
void* gpu_c_dlsym(void* library, const char* name) noexcept __asm__("dlsym");
char* gpu_c_dlerror() noexcept __asm__("dlerror");
int gpu_c_dladdr(const void* address, void* found) noexcept __asm__("dladdr");
void* gpu_c_mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                 off_t offset) noexcept __asm__("mmap");
[[gnu::weak]] char* gpu_c_secure_getenv(const char* name) noexcept __asm__("secure_getenv");
int gpu_c_memfd_create(const char* name, unsigned flags) noexcept __asm__("memfd_create");
}

/// What `dladdr` finds, as Dl_info.
struct symbol_place {
  const char* library;
  void* library_start;
  const char* symbol;
  void* symbol_start;
};

inline constexpr int open_read_only = 0;             // O_RDONLY
inline constexpr int open_close_on_exec = 02000000;  // O_CLOEXEC
inline constexpr int get_descriptor_flags = 1;       // F_GETFD
inline constexpr int load_now = 2;                   // RTLD_NOW | RTLD_LOCAL
inline constexpr int load_if_loaded = 4;             // RTLD_NOLOAD
inline constexpr int load_for_good = 0x1000;         // RTLD_NODELETE
inline constexpr int map_read_write = 3;             // PROT_READ | PROT_WRITE
inline constexpr int map_no_access = 0;              // PROT_NONE
inline constexpr int map_private = 2;                // MAP_PRIVATE
inline constexpr int map_here = 0x10;                // MAP_FIXED
inline constexpr int map_no_file = 0x20;             // MAP_ANONYMOUS
inline constexpr unsigned memory_close_on_exec = 1;  // MFD_CLOEXEC

/// A mutex that is unlocked where all its bytes are zero, so that it can lie in shared memory.
struct mutex {
  pthread_mutex_t native;
};

class [[nodiscard]] scoped_lock {
 public:
  explicit scoped_lock(mutex& held) noexcept : held_{held} { gpu_c_mutex_lock(&held_.native); }
  scoped_lock(const scoped_lock&) = delete;
  scoped_lock& operator=(const scoped_lock&) = delete;
  ~scoped_lock() { gpu_c_mutex_unlock(&held_.native); }

 private:
  mutex& held_;
};

/// Lets another thread run, for those who wait in a loop.
inline void yield_thread() noexcept { gpu_c_yield(); }

/// A library that stays open until the process ends, or null.
inline void* open_library(const char* name) noexcept { return gpu_c_dlopen(name, load_now); }

/// Why the last `open_library` of this thread failed.
inline const char* open_library_failure() noexcept {
  const char* reason = gpu_c_dlerror();
  return reason != nullptr ? reason : "unknown reason";
}

template <class Function> Function find_symbol(void* library, const char* name) noexcept {
  return reinterpret_cast<Function>(gpu_c_dlsym(library, name));
}

inline void on_fork_in_child(void (*handler)()) noexcept {
  gpu_c_atfork(nullptr, nullptr, handler);
}
inline void on_process_exit(void (*handler)()) noexcept { std::atexit(handler); }
/// Keeps the shared library that holds `function` in memory until the process ends, so that
/// handlers which point into it stay valid and dlclose does not run its exit handlers early.
template <class Function> void pin_library_of(Function* function) noexcept {
  symbol_place place{};
  if (gpu_c_dladdr(reinterpret_cast<void*>(function), &place) != 0 && place.library != nullptr) {
    gpu_c_dlopen(place.library, load_now | load_if_loaded | load_for_good);
  }
}

/// Null in a program that runs with more rights than its user, who must not choose what it loads
/// and where it writes. Not every C library knows that of a program.
inline const char* environment_variable(const char* name) noexcept {
  return &gpu_c_secure_getenv != nullptr ? gpu_c_secure_getenv(name) : std::getenv(name);
}

/// As snprintf, through the compiler: <cstdio> costs more than it is worth here.
inline void format_into(char* line, std::size_t size, const char* format, auto... values) noexcept {
  __builtin_snprintf(line, size, format, values...);
}

/// Writes to the standard error stream, without its buffer.
template <class Character>
void write_to_stderr(const Character* characters, std::size_t count) noexcept {
  constexpr int standard_error = 2;
  while (count > 0) {
    const ssize_t written = gpu_c_write(standard_error, characters, count);
    if (written <= 0) return;
    characters += written;
    count -= static_cast<std::size_t>(written);
  }
}

/// The start of the mapping whose line in /proc/self/maps holds `name`, or null.
template <class Character> void* find_named_memory(const Character* name) noexcept {
  const int maps = gpu_c_open("/proc/self/maps", open_read_only | open_close_on_exec);
  if (maps < 0) return nullptr;
  char line[512];
  std::size_t length = 0;
  void* found = nullptr;
  char buffer[4096];
  ssize_t count = 0;
  while (found == nullptr && (count = gpu_c_read(maps, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < count && found == nullptr; ++i) {
      if (buffer[i] != '\n') {
        if (length < sizeof line - 1) line[length++] = buffer[i];
        continue;
      }
      line[length] = '\0';
      length = 0;
      if (__builtin_strstr(line, name) == nullptr) continue;
      std::uintptr_t address = 0;
      for (const char* digit = line; *digit != '-'; ++digit) {
        address = address * 16 +
                  static_cast<std::uintptr_t>(*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
      }
      found = reinterpret_cast<void*>(address);
    }
  }
  gpu_c_close(maps);
  return found;
}

struct named_memory_request {
  const char* name;
  std::size_t bytes;
  void* memory;
};

/// How far named memory lies behind the mapping that has the name: as much as a page at most.
inline constexpr std::size_t name_bytes = 65536;

template <class Request>
int find_or_make_named_memory(struct dl_phdr_info*, std::size_t, void* data) noexcept {
  auto* request = static_cast<Request*>(data);
  char mapped_name[128];
  format_into(mapped_name, sizeof mapped_name, "/memfd:%s ", request->name);
  if (void* const found = find_named_memory(mapped_name)) {
    request->memory = static_cast<char*>(found) + name_bytes;
    return 1;
  }
  const int file = gpu_c_memfd_create(request->name, memory_close_on_exec);
  if (file < 0) return 1;
  const auto failed = [](void* memory) { return reinterpret_cast<std::intptr_t>(memory) == -1; };
  void* const all = gpu_c_mmap(nullptr, name_bytes + request->bytes, map_read_write,
                               map_private | map_no_file, -1, 0);
  if (!failed(all) &&
      !failed(gpu_c_mmap(all, name_bytes, map_no_access, map_private | map_here, file, 0))) {
    request->memory = static_cast<char*>(all) + name_bytes;
  }
  gpu_c_close(file);
  return 1;
}

/// A lock that `fork` takes, too: a child has no thread that would give back what this one guards.
/// The handlers are registered before main, and so before any thread has the lock.
template <class Mutex = mutex> struct fork_gate {
  static void shut() noexcept { gpu_c_mutex_lock(&lock.native); }
  static void open() noexcept { gpu_c_mutex_unlock(&lock.native); }

  inline static Mutex lock{};
  inline static const int registered = gpu_c_atfork(&shut, &open, &open);
};

/// Zeroed memory that is the same for every caller in the process that asks for `name`, whichever
/// shared library it sits in and however that was built and loaded; null where the system has no
/// /proc or no memfd.
///
/// An inline variable does not give that: hidden visibility, RTLD_LOCAL and an executable that does
/// not export its symbols each make a second copy. A mapping's name is seen by the whole process.
/// The dynamic linker's lock, held while dl_iterate_phdr calls back, keeps two libraries from
/// making the mapping at once, and `fork_gate` keeps a forked child from finding that lock taken.
/// `MAP_PRIVATE` keeps a forked child's copy apart from its parent's. The file that has the name
/// stays empty, so that no limit on the size of files matters, and the memory lies behind its
/// mapping.
inline void* process_wide_memory(const char* name, std::size_t bytes) noexcept {
  named_memory_request request{name, bytes, nullptr};
  static_cast<void>(fork_gate<>::registered);
  const scoped_lock held(fork_gate<>::lock);
  ::dl_iterate_phdr(&find_or_make_named_memory<named_memory_request>, &request);
  return request.memory;
}

/// Zeroed memory for the state called `name`, the same in all shared libraries of the process that
/// were built with this ABI number; null under the conditions of `process_wide_memory`.
template <class State> State* process_wide_state(const char* name) noexcept {
  char full_name[64];
  format_into(full_name, sizeof full_name, "gpu-abi-%d-%s-%zu", abi_number, name, sizeof(State));
  return static_cast<State*>(process_wide_memory(full_name, sizeof(State)));
}

}  // namespace gpu::inline v0::detail
