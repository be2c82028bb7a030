/// The functions of the C library that are declared under other names are those functions.

#include <gpu/system/operating_system.hpp>

#include "support/catch.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>

namespace operating_system_test {
namespace {

// As a function that may throw, for C libraries differ in what they mark.
template <class R, class... A> R (*plain(R (*f)(A...)))(A...) { return f; }
template <class R, class... A> R (*plain(R (*f)(A..., ...)))(A..., ...) { return f; }
template <class R, class... A> R (*plain(R (*f)(A..., ...) noexcept))(A..., ...) { return f; }
template <class R, class... A> R (*plain(R (*f)(A...) noexcept))(A...) { return f; }

}  // namespace

TEST_CASE("functions under other names are the C library's", "[driver][operating_system]") {
  using namespace gpu::detail;
  // The comparisons do not compile where the types differ.
  CHECK(plain(&gpu_c_open) == plain(&::open));
  CHECK(plain(&gpu_c_close) == plain(&::close));
  CHECK(plain(&gpu_c_fcntl) == plain(&::fcntl));
  CHECK(plain(&gpu_c_read) == plain(&::read));
  CHECK(plain(&gpu_c_strerror) == plain(&::strerror));
  CHECK(plain(&gpu_c_write) == plain(&::write));
  CHECK(plain(&gpu_c_atfork) == plain(&::pthread_atfork));
  CHECK(plain(&gpu_c_mutex_lock) == plain(&::pthread_mutex_lock));
  CHECK(plain(&gpu_c_mutex_trylock) == plain(&::pthread_mutex_trylock));
  CHECK(plain(&gpu_c_mutex_unlock) == plain(&::pthread_mutex_unlock));
  CHECK(plain(&gpu_c_dlopen) == plain(&::dlopen));
  CHECK(plain(&gpu_c_dlsym) == plain(&::dlsym));
  CHECK(plain(&gpu_c_dlerror) == plain(&::dlerror));
  CHECK(reinterpret_cast<void*>(&gpu_c_dladdr) == reinterpret_cast<void*>(&::dladdr));
  CHECK(plain(&gpu_c_mmap) == plain(&::mmap));
  CHECK(plain(&gpu_c_memfd_create) == plain(&::memfd_create));
}

static_assert(gpu::detail::open_read_only == O_RDONLY);
static_assert(gpu::detail::open_close_on_exec == O_CLOEXEC);
static_assert(gpu::detail::get_descriptor_flags == F_GETFD);
static_assert(gpu::detail::load_now == (RTLD_NOW | RTLD_LOCAL));
static_assert(gpu::detail::load_if_loaded == RTLD_NOLOAD);
static_assert(gpu::detail::load_for_good == RTLD_NODELETE);
static_assert(gpu::detail::map_read_write == (PROT_READ | PROT_WRITE));
static_assert(gpu::detail::map_no_access == PROT_NONE);
static_assert(gpu::detail::map_private == MAP_PRIVATE);
static_assert(gpu::detail::map_here == MAP_FIXED);
static_assert(gpu::detail::map_no_file == MAP_ANONYMOUS);
static_assert(gpu::detail::memory_close_on_exec == MFD_CLOEXEC);
static_assert(sizeof(gpu::detail::symbol_place) == sizeof(Dl_info));
static_assert(offsetof(gpu::detail::symbol_place, library) == offsetof(Dl_info, dli_fname));

TEST_CASE("memory is found by its name, wherever it is", "[driver][operating_system]") {
  // Pages that follow each other, so that their addresses have every digit.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::size_t pages = 16;
  void* const all = ::mmap(nullptr, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(all != MAP_FAILED);
  CHECK(gpu::detail::find_named_memory("/memfd:operating_system_test-") == nullptr);
  for (std::size_t i = 0; i < pages; ++i) {
    const std::string name = "operating_system_test-" + std::to_string(i);
    const int file = ::memfd_create(name.c_str(), MFD_CLOEXEC);
    REQUIRE(file >= 0);
    REQUIRE(::ftruncate(file, static_cast<off_t>(page)) == 0);
    void* const there = static_cast<char*>(all) + i * page;
    REQUIRE(::mmap(there, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == there);
    ::close(file);
    INFO(name);
    CHECK(gpu::detail::find_named_memory(("/memfd:" + name + ' ').c_str()) == there);
  }
  CHECK(::munmap(all, pages * page) == 0);
}

TEST_CASE("a mutex of zeros is an unlocked one", "[driver][operating_system]") {
  const pthread_mutex_t native = PTHREAD_MUTEX_INITIALIZER;
  const gpu::detail::mutex zeros{};
  CHECK(std::memcmp(&native, &zeros.native, sizeof native) == 0);

  gpu::detail::mutex mutex{};
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 10000; ++i) {
      const gpu::detail::scoped_lock lock(mutex);
      ++count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  CHECK(count == 20000);
  {
    const gpu::detail::scoped_lock lock(mutex);
    CHECK(pthread_mutex_trylock(&mutex.native) != 0);
  }
  CHECK(pthread_mutex_trylock(&mutex.native) == 0);
  pthread_mutex_unlock(&mutex.native);
}

}  // namespace operating_system_test
