#pragma once
/// \file
/// Runs PTX text on the machine, for tests.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nogpu/machine/run_text.hpp"
#include "support/catch.hpp"

namespace machine_test {

/// `body` behind a module header.
inline std::string module_text(std::string_view body, const std::string& target = "sm_90") {
  return ".version 8.3\n.target " + target + "\n.address_size 64\n" + std::string(body);
}

struct outcome {
  std::optional<fault> error;
  std::string printed;
  std::vector<fault> reports;
};

namespace detail {

template <class T> void append_argument(std::vector<std::byte>& to, const T& value) {
  while ((nogpu::ptx::entry_parameters_begin + to.size()) % alignof(T) != 0)
    to.push_back(std::byte{});
  const std::size_t at = to.size();
  to.resize(at + sizeof(T));
  std::memcpy(to.data() + at, &value, sizeof(T));
}

}  // namespace detail

/// A module in a memory of its own, and what it takes to run its kernels.
class workbench {
 public:
  explicit workbench(std::string_view body, unsigned threads = 1,
                     const std::string& target = "sm_90")
      : processors{threads}, heap{memory, 0, 65536} {
    load_result loaded = load_text(module_text(body, target), memory);
    INFO("line " << loaded.diagnostic.line << ": " << loaded.diagnostic.text);
    REQUIRE(loaded);
    module.emplace(std::move(*loaded.module));
    what.heap = &heap;
    what.check = checks::only_reported();
    what.check.shared_bounds_are_faults = true;
  }

  address_space memory;
  host_processors processors;
  device_heap heap;
  std::optional<loaded_module> module;
  launch what;  // shared by all launches: limits, checks, shared memory

  template <class T> address upload(const std::vector<T>& values) {
    const address a = allocate(values.size() * sizeof(T));
    REQUIRE(memory.write(a, values.data(), values.size() * sizeof(T)) == fault_kind::none);
    return a;
  }
  address allocate(std::size_t bytes, std::uint64_t owner = 0) {
    const auto a = memory.allocate({.size = bytes, .owner = owner, .site = "the test"});
    REQUIRE(a);
    return *a;
  }
  template <class T> std::vector<T> download(address a, std::size_t count) {
    std::vector<T> values(count);
    REQUIRE(memory.read(values.data(), a, count * sizeof(T)) == fault_kind::none);
    return values;
  }

  template <class... Arguments>
  outcome run(std::string_view kernel, extent grid, extent block, const Arguments&... arguments) {
    std::vector<std::byte> parameters;
    (detail::append_argument(parameters, arguments), ...);
    outcome result;
    launch now = what;
    now.kernel = module->find_kernel(kernel);
    REQUIRE(now.kernel != nullptr);
    REQUIRE(now.kernel->entry->parameter_bytes == parameters.size());
    now.grid = grid;
    now.block = block;
    now.parameters = parameters;
    now.hook.print = [&](std::string_view text) { result.printed += text; };
    now.hook.report = [&](const fault& f) { result.reports.push_back(f); };
    result.error = run_launch(now, memory, processors);
    return result;
  }

  /// The same for a kernel that must not fail.
  template <class... Arguments>
  outcome run_well(std::string_view kernel, extent grid, extent block,
                   const Arguments&... arguments) {
    outcome result = run(kernel, grid, block, arguments...);
    INFO((result.error ? result.error->text : std::string("no fault")));
    REQUIRE(!result.error);
    return result;
  }
};

/// What `instruction`, which computes %d from %a and %b, gives for each pair. %d, %a, %b have the
/// sizes of R, A, B; %p and %q are predicates, %t a 32-bit and %u a 64-bit register.
template <class R, class A, class B>
std::vector<R> evaluate(const std::string& instruction, const std::vector<A>& a,
                        const std::vector<B>& b) {
  const auto bits = [](std::size_t size) { return std::to_string(size * 8); };
  const std::string text = R"(
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pd) {
  .reg .b64 %rd<10>; .reg .b32 %r1, %t; .reg .b64 %u; .reg .pred %p, %q;
  .reg .b)" + bits(sizeof(A)) +
                           " %a; .reg .b" + bits(sizeof(B)) + " %b; .reg .b" + bits(sizeof(R)) +
                           R"( %d;
  ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pd];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, )" +
                           std::to_string(sizeof(A)) + R"(, %rd1;
  mad.wide.u32 %rd2, %r1, )" +
                           std::to_string(sizeof(B)) + R"(, %rd2;
  mad.wide.u32 %rd3, %r1, )" +
                           std::to_string(sizeof(R)) + R"(, %rd3;
  ld.global.b)" + bits(sizeof(A)) +
                           " %a, [%rd1]; ld.global.b" + bits(sizeof(B)) + " %b, [%rd2];\n" +
                           instruction + "\nst.global.b" + bits(sizeof(R)) + " [%rd3], %d; ret; }";
  INFO(instruction);
  workbench bench(text);
  const address pa = bench.upload(a), pb = bench.upload(b);
  const address pd = bench.allocate(a.size() * sizeof(R));
  bench.run_well("k", {}, {static_cast<std::uint32_t>(a.size()), 1, 1}, pa, pb, pd);
  return bench.download<R>(pd, a.size());
}

/// `count` numbers that look random, the same in every run.
inline std::vector<std::uint32_t> random_words(std::size_t count, std::uint32_t seed = 1) {
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    words.push_back(seed ^ seed >> 15);
  }
  return words;
}

}  // namespace machine_test
