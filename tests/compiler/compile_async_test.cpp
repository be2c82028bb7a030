// Compiling on other threads.

#include <gpu/compiler.hpp>
#include <gpu/compiler/compile_async.hpp>

#include "support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

const gpu::compile_options for_90{.architecture = gpu::architecture::compute(90)};

std::string kernel_named(const std::string& name) {
  return "extern \"C\" __global__ void " + name + "() {}";
}

static_assert(!std::is_copy_constructible_v<gpu::pending_compilation>);
static_assert(std::is_nothrow_move_constructible_v<gpu::pending_compilation>);

TEST_CASE("a compilation goes on while its caller does", "[compiler][async]") {
  gpu::pending_compilation pending;
  {
    std::string source = kernel_named("later");  // gone before it is compiled
    gpu::compile_options options = for_90;
    options.defines = {{"UNUSED", 1}};
    pending = gpu::compile_async(source, options);
    source.assign(source.size(), '!');
  }
  pending.wait();
  CHECK(pending.ready());
  const auto made = pending.get();
  REQUIRE(made.has_value());
  CHECK(made->ptx().contains(".entry later("));
}

TEST_CASE("the result is asked for once", "[compiler][async]") {
  gpu::pending_compilation pending = gpu::compile_async(kernel_named("f"), for_90);
  gpu::pending_compilation moved = std::move(pending);
  CHECK(pending.get().error() == gpu::errc::empty_handle);
  CHECK(pending.ready());
  CHECK(moved.get().has_value());
  CHECK(moved.get().error() == gpu::errc::empty_handle);
  CHECK(gpu::pending_compilation().get().error() == gpu::errc::empty_handle);
}

TEST_CASE("errors come with the result and name the caller", "[compiler][async]") {
  const auto line = static_cast<unsigned>(__LINE__ + 1);
  gpu::pending_compilation wrong = gpu::compile_async("__device__ int x = y;", for_90);
  const auto made = wrong.get();
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::compile_failed);
  CHECK(made.error().where().line() == line);
  gpu::compile_options unknown = for_90;
  unknown.extra = {"--nothing"};
  CHECK(gpu::compile_async("", unknown).get().error() == gpu::errc::invalid_argument);
  CHECK(gpu::compile_async("", {.architecture = gpu::architecture::sm(1)}).get().error() ==
        gpu::errc::not_supported);
}

TEST_CASE("one that nobody waits for is waited for by its destructor", "[compiler][async]") {
  for (int i = 0; i < 8; ++i) {
    (void)gpu::compile_async(kernel_named("dropped" + std::to_string(i)), for_90);
    gpu::pending_compilation replaced = gpu::compile_async(kernel_named("a"), for_90);
    replaced = gpu::compile_async(kernel_named("b"), for_90);
    CHECK(replaced.get()->ptx().contains(".entry b("));
  }
}

TEST_CASE("many programs come back in their order", "[compiler][async]") {
  std::vector<std::string> sources;
  for (int i = 0; i < 40; ++i) sources.push_back(kernel_named("f" + std::to_string(i)));
  sources[7] = "no program";
  const auto made = gpu::compile_all(sources, for_90);
  REQUIRE(made.size() == sources.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    INFO(i);
    if (i == 7) {
      CHECK(made[i].error() == gpu::errc::compile_failed);
      continue;
    }
    REQUIRE(made[i].has_value());
    CHECK(made[i]->ptx().contains((".entry f" + std::to_string(i) + "(").c_str()));
  }
  CHECK(gpu::compile_all(std::vector<gpu::program>{}, for_90).empty());
}

TEST_CASE("a forked child compiles for itself", "[compiler][async]") {
  gpu::pending_compilation pending = gpu::compile_async(kernel_named("parent"), for_90);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // What the parent had done by now it has; what not, the child will not wait for.
    const auto made = pending.get();
    const bool right = made.has_value() || made.error() == gpu::errc::process_forked;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(pending.get().has_value());
}

}  // namespace
