#include <gpu/memory/logging_allocator.hpp>

#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/memory_pool.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace logging_allocator_test {

using test::error_of;
using test::value_of;

namespace {

void keep(const gpu::text& line, void* data) {
  const test::spared_allocations of_log;  // a log must not throw
  static_cast<std::vector<std::string>*>(data)->emplace_back(line.c_str());
}

bool has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("logging_allocator: tells who asked for how much, and what is left",
          "[memory][logging_allocator]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(gpu::caching_allocator::create(device));
  std::vector<std::string> lines;
  gpu::logging_allocator logged(cache, &keep, &lines);
  const auto buffer = value_of(logged.allocate<int>(stream, 1000));
  const int line = __LINE__ - 1;
  CHECK(buffer.size() == 1000);
  CHECK(cache.statistics().used_blocks == 1);
  REQUIRE(lines.size() == 1);
  INFO(lines[0]);
  CHECK(has(lines[0], "gpu: 4000 bytes allocated, "));
  CHECK(has(lines[0], " bytes are free on device 0 ["));
  CHECK(has(lines[0], "logging_allocator_test.cpp:" + std::to_string(line) + "]\n"));
}

TEST_CASE("logging_allocator: tells what could not be had", "[memory][logging_allocator]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto pool = value_of(gpu::memory_pool::create(device));
  std::vector<std::string> lines;
  gpu::logging_allocator logged(pool, &keep, &lines);
  CHECK(error_of(logged.allocate<char>(stream, std::size_t{1} << 46)).code() ==
        CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(error_of(logged.allocate<char>(gpu::stream_ref{}, 1)) == gpu::errc::empty_handle);
  CHECK(error_of(logged.allocate<double>(stream, std::size_t{1} << 61)) ==
        gpu::errc::size_overflow);
  REQUIRE(lines.size() == 3);
  CHECK(has(lines[0], "70368744177664 bytes not allocated"));
  CHECK(has(lines[0], "cuMemAllocFromPoolAsync: CUDA_ERROR_OUT_OF_MEMORY"));
  CHECK(has(lines[1], "1 bytes not allocated ["));
  CHECK(has(lines[2], "gpu: 2305843009213693952 times 8 bytes not allocated"));
}

}  // namespace logging_allocator_test
