// Files of every kind: what is read, what is refused, and what would have no end.

#include <gpu/system/read_file.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/sanitizers.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel.hpp>

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>

namespace read_file_test {
namespace {

/// The message of a refused file, or nothing.
std::string refused(const std::string& path, gpu::errc code = gpu::errc::file_error) {
  gpu::text contents;
  const auto read = gpu::detail::read_file("read_file_test", path, contents, {});
  if (read.has_value()) return {};
  CHECK(read.error() == code);
  CHECK(contents.empty());
  return read.error().message().c_str();
}

std::string contents_of(const std::string& path) {
  gpu::text contents;
  const auto read = gpu::detail::read_file("read_file_test", path, contents, {});
  REQUIRE(read.has_value());
  return std::string(contents.data(), contents.size());
}

struct file_name {
  char path[32] = "/tmp/gpu_read_file_XXXXXX";
  int file = ::mkstemp(path);
  file_name() { REQUIRE(file >= 0); }
  file_name(const file_name&) = delete;
  file_name& operator=(const file_name&) = delete;
  ~file_name() {
    ::close(file);
    std::remove(path);
  }
};

bool holds(const std::string& whole, const char* part) {
  return whole.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what is not a regular file is refused at once", "[driver][read_file]") {
  const file_name name;
  std::remove(name.path);
  REQUIRE(::mkfifo(name.path, 0600) == 0);
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const std::string pipe = "/proc/self/fd/" + std::to_string(ends[0]);  // as /dev/stdin may be
  for (const char* path : {"/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty",
                           static_cast<const char*>(name.path), pipe.c_str()}) {
    const std::string message = refused(path);
    CHECK(holds(message, path));
    // Without a terminal /dev/tty cannot be opened.
    CHECK((holds(message, "it is not a regular file. Check the path.")));
    CHECK(gpu::module::load_file(path).error() == gpu::errc::file_error);
    CHECK(gpu::program::from_file(path).error() == gpu::errc::file_error);
    CHECK(gpu::source().add_file(path).error() == gpu::errc::file_error);
    CHECK(gpu::link_input::from_file(path).error() == gpu::errc::file_error);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  CHECK(holds(refused("/tmp"), "Is a directory"));
}

TEST_CASE("a source holds at most 256 MiB", "[driver][read_file]") {
  const file_name large;
  REQUIRE(::ftruncate(large.file, (off_t{256} << 20) + 1) == 0);
  const gpu::cuda_error error = gpu::program::from_file(large.path).error();
  CHECK(error == gpu::errc::file_error);
  CHECK(test::says(error, "it holds more than 268435456 bytes"));
  CHECK(gpu::source().add_file(large.path).error() == gpu::errc::file_error);
}

TEST_CASE("a file that is larger than anything is refused before it is read",
          "[driver][read_file]") {
  const file_name large;
  if (::ftruncate(large.file, off_t{200} << 30) != 0) return;  // the file system has a lower limit
  // The time that this thread works: a machine that is busy lets it wait.
  const auto worked = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto begin = worked();
  CHECK(holds(refused(large.path), "it holds more than 2147483647 bytes"));
  CHECK(worked() - begin < std::chrono::milliseconds(500));
}

TEST_CASE("files are read to their end, also those that say no size", "[driver][read_file]") {
  std::ifstream stream("/proc/version", std::ios::binary);
  const std::string version{std::istreambuf_iterator<char>(stream), {}};
  CHECK(contents_of("/proc/version") == version);

  const file_name long_one;
  std::string large(300'000, 'x');
  large[150'000] = 'y';
  REQUIRE(::write(long_one.file, large.data(), large.size()) == 300'000);
  CHECK(contents_of(long_one.path) == large);

  const file_name exact;
  const std::string block(32768, 'z');
  REQUIRE(::write(exact.file, block.data(), block.size()) == 32768);
  CHECK(contents_of(exact.path) == block);
}

TEST_CASE("the CPU driver reads no file without an end", "[cpu][driver][read_file]") {
  CUcontext context = nullptr;
  REQUIRE(test::driver().device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(test::driver().ctx_push_current(context) == CUDA_SUCCESS);
  CUmodule module = nullptr;
  CHECK(test::driver().module_load(&module, "/dev/zero") == CUDA_ERROR_OPERATING_SYSTEM);
  const file_name fifo;
  std::remove(fifo.path);
  REQUIRE(::mkfifo(fifo.path, 0600) == 0);
  CHECK(test::driver().module_load(&module, fifo.path) == CUDA_ERROR_OPERATING_SYSTEM);
  CHECK(test::driver().module_load(&module, "/nowhere/at/all") == CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(test::driver().module_load(&module, "/tmp") == CUDA_ERROR_OPERATING_SYSTEM);
  CHECK(test::driver().ctx_pop_current(&context) == CUDA_SUCCESS);
  CHECK(test::driver().device_primary_ctx_release(0) == CUDA_SUCCESS);
}

TEST_CASE("child: reads a file with less memory than that", "[.child]") {
  const file_name large;
  REQUIRE(::ftruncate(large.file, off_t{1} << 30) == 0);
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = rlim_t{300} << 20;
  REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(
      holds(refused(large.path, gpu::errc::out_of_host_memory), "there is not enough host memory"));
}

TEST_CASE("reading stops when memory runs out", "[cpu][driver][read_file]") {
  if (test::address_sanitizer || test::thread_sanitizer)
    return;  // they end a process without memory
  const auto child = test::run_child("child: reads a file with less memory than that", {},
                                     std::chrono::seconds(20));
  INFO(child.output);
  CHECK(child.succeeded());
}

}  // namespace read_file_test
