#pragma once
/// \file
/// Memory that every shared library of the process finds by its name.

#include <gpu/system/output.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

// <link.h> would bring in the ELF headers for this one function, and its struct is only passed on.
extern "C" int dl_iterate_phdr(int (*)(struct dl_phdr_info*, std::size_t, void*), void*);

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the start of the mapping whose line in /proc/self/maps contains `name`, or null.
inline void* find_mapping(const char* name) noexcept {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return nullptr;
  char line[512];
  std::size_t length = 0;
  void* found = nullptr;
  char buffer[4096];
  ssize_t count = 0;
  while (found == nullptr && (count = ::read(maps, buffer, sizeof buffer)) > 0) {
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
  ::close(maps);
  return found;
}

struct named_memory_request {
  const char* name;
  std::size_t bytes;
  void* memory;
};

/// The distance from the mapping that has the name to the memory behind it: at least a page.
inline constexpr std::size_t name_bytes = 65536;

inline int find_or_make_named_memory(struct dl_phdr_info*, std::size_t, void* data) noexcept {
  auto* request = static_cast<named_memory_request*>(data);
  char mapped_name[128];
  format_into(mapped_name, sizeof mapped_name, "/memfd:%s ", request->name);
  if (void* const found = find_mapping(mapped_name)) {
    request->memory = static_cast<char*>(found) + name_bytes;
    return 1;
  }
  const int file = ::memfd_create(request->name, MFD_CLOEXEC);
  if (file < 0) return 1;
  void* const all = ::mmap(nullptr, name_bytes + request->bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all != MAP_FAILED &&
      ::mmap(all, name_bytes, PROT_NONE, MAP_PRIVATE | MAP_FIXED, file, 0) != MAP_FAILED) {
    request->memory = static_cast<char*>(all) + name_bytes;
  }
  ::close(file);
  return 1;
}

/// A lock that `fork` takes, too, so that no thread can hold the dynamic linker's lock in
/// `named_memory` while another one forks: a child would find it locked forever. The handlers are
/// registered before main, and so before any thread has the lock.
struct fork_gate {
  static void shut() noexcept { ::pthread_mutex_lock(&lock); }
  static void open() noexcept { ::pthread_mutex_unlock(&lock); }

  inline static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  inline static const int registered = ::pthread_atfork(&shut, &open, &open);
};

/// Returns zeroed memory that is the same for every caller in the process that asks for `name`,
/// whichever shared library it sits in and however that was built and loaded; null if the system
/// has no /proc or no memfd.
///
/// An inline variable does not give that: hidden visibility, RTLD_LOCAL and an executable that does
/// not export its symbols each make a second copy. A mapping's name is seen by the whole process.
/// The dynamic linker's lock, held while dl_iterate_phdr calls back, keeps two libraries from
/// making the mapping at once. `MAP_PRIVATE` keeps a forked child's copy apart from its parent's.
/// The file that has the name stays empty, so that no limit on the size of files matters, and the
/// memory lies behind its mapping.
inline void* named_memory(const char* name, std::size_t bytes) noexcept {
  named_memory_request request{name, bytes, nullptr};
  static_cast<void>(fork_gate::registered);
  fork_gate::shut();
  ::dl_iterate_phdr(&find_or_make_named_memory, &request);
  fork_gate::open();
  return request.memory;
}

}}}  // namespace gpu::v1::detail
