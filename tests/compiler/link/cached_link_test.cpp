// Linked programs are cached as compiled ones are: found again by the same process and by
// another, and not found where anything differs, with the reason.

#include "compiler/cache_support.hpp"
#include "compiler/link_support.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache_contents.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/linked_program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>
#include <gpu/system/library_table.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace cached_link_test { namespace {

using test::kernels;
using test::math;
using test::programs_in;
using test::temporary_folder;
using test::value_of;

constexpr const char* other_math =
    "__device__ int base = 41; __constant__ int table[3] = {1, 10, 100};"
    "__device__ int add_one(int x) { return x + 2; }";

gpu::link_input input(const char* source, const char* name, bool lto = true) {
  return {test::compile(source, lto, gpu::architecture::sm(90)), name};
}

/// Links for sm_90 with a cache of its own on `folder`, as a new process would.
gpu::linked_program link_fresh(const temporary_folder& folder,
                               const std::vector<gpu::link_input>& inputs,
                               gpu::link_options options = {}) {
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  if (options.architecture == gpu::architecture()) options.architecture = gpu::architecture::sm(90);
  options.cache = &cache;
  return value_of(gpu::link(inputs, options));
}
std::string origin_of(const temporary_folder& folder, const std::vector<gpu::link_input>& inputs,
                      const gpu::link_options& options = {}) {
  return link_fresh(folder, inputs, options).origin().message().c_str();
}

/// nvJitLink with a count of its links, and a version of choice.
struct counting_nvjitlink {
  static std::atomic<int>& count() {
    static std::atomic<int> links{0};
    return links;
  }
  static const gpu::nvjitlink::entry_points*& inner() {
    static const gpu::nvjitlink::entry_points* table = nullptr;
    return table;
  }
  static gpu::nvjitlink::entry_points make() {
    inner() = &gpu::nvjitlink::current_entry_points();
    count() = 0;
    gpu::nvjitlink::entry_points table = *inner();
    table.complete = [](gpu::nvjitlink::nvjitlink_handle link) {
      ++count();
      return inner()->complete(link);
    };
    return table;
  }
  gpu::nvjitlink::entry_points table = make();
  gpu::nvjitlink::scoped_entry_points scope{table};
};

TEST_CASE("what was linked is found in memory and by the next process", "[compiler][cache][link]") {
  const temporary_folder folder;
  const std::vector<gpu::link_input> inputs = {input(math, "math"), input(kernels, "kernels")};
  gpu::text cubin;
  {
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
    const gpu::link_options options{
        .architecture = gpu::architecture::sm(90), .verbose = true, .cache = &cache};
    const gpu::linked_program first = value_of(gpu::link(inputs, options));
    CHECK(first.origin().kind == gpu::origin_kind::linked);
    CHECK(first.origin().message() == "linked: it was not linked before");
    const counting_nvjitlink counting;
    const gpu::linked_program second = value_of(gpu::link(inputs, options));
    CHECK(second.origin().message() == "from memory");
    CHECK(second.cubin() == first.cubin());
    CHECK(second.log() == first.log());
    CHECK(second.log().contains("registers"));
    CHECK(second.architecture() == gpu::architecture::sm(90));
    CHECK(counting_nvjitlink::count() == 0);
    const gpu::cache_counters counters = cache.counters();
    CHECK(counters.compiled == 1);
    CHECK(counters.from_memory == 1);
    CHECK(counters.stored == 1);
    cubin = first.cubin();
  }
  const gpu::linked_program next = link_fresh(folder, inputs, {.verbose = true});
  CHECK(next.origin().message() == "from disk");
  CHECK(next.cubin() == cubin);
  CHECK(programs_in(folder.path()).size() == 1);
}

TEST_CASE("a linked program from the cache runs", "[compiler][cache][link]") {
  const temporary_folder folder;
  const gpu::compiled_program a = test::compile(math, false), b = test::compile(kernels, false);
  for (const char* origin : {"linked: it was not linked before", "from disk"}) {
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
    const gpu::linked_program linked = value_of(gpu::link({a, b}, {.cache = &cache}));
    CHECK(linked.origin().message() == origin);
    CHECK(test::run(value_of(gpu::module::load(linked))) == 52);
  }
}

TEST_CASE("child: links through the cache", "[.child]") {
  gpu::compile_cache cache(
      {.use = gpu::cache_use::disk, .folder = std::getenv("CACHE_TEST_FOLDER")});
  const gpu::linked_program linked =
      value_of(gpu::link({input(math, "math"), input(kernels, "kernels")},
                         {.architecture = gpu::architecture::sm(90), .cache = &cache}));
  const bool opened =
      gpu::detail::library_table_in_force<gpu::nvjitlink::detail::library>() != nullptr;
  std::printf("<%s, %s, %s>", linked.origin().message().c_str(), opened ? "opened" : "not opened",
              gpu::detail::digest_of(linked.cubin()).hex().digits);
}

TEST_CASE("another process finds what was linked", "[compiler][cache][link]") {
  const temporary_folder folder;
  const gpu::linked_program mine =
      link_fresh(folder, {input(math, "math"), input(kernels, "kernels")});
  const std::string right = gpu::detail::digest_of(mine.cubin()).hex().digits;
  // The first one leaves a note about nvJitLink, so that the second need not open it.
  for (const char* found : {"<from disk, opened, ", "<from disk, not opened, "}) {
    const auto child =
        test::run_child("child: links through the cache", {{"CACHE_TEST_FOLDER", folder.path()}});
    INFO(child.output);
    CHECK(child.output.find(found + right + '>') != std::string::npos);
  }
}

TEST_CASE("each part of a link counts, and is named", "[compiler][cache][link]") {
  const temporary_folder folder;
  const gpu::link_input a = input(math, "math"), b = input(kernels, "kernels");
  CHECK(origin_of(folder, {a, b}) == "linked: it was not linked before");
  CHECK(origin_of(folder, {a, b}) == "from disk");
  CHECK(origin_of(folder, {input(other_math, "math"), b}) == "linked: math changed");
  CHECK(origin_of(folder, {a, b}, {.max_registers = 32}) ==
        "linked: option -maxrregcount=32 is new");
  CHECK(origin_of(folder, {a, b}, {.fast_math = true}) ==
        "linked: option -ftz=1 is new, option -prec-div=0 is new, option -prec-sqrt=0 is new");
  CHECK(origin_of(folder, {a, b}, {.architecture = gpu::architecture::sm(100)}) ==
        "linked: it is for sm_100 instead of sm_90, option -arch=sm_100 is new, option "
        "-arch=sm_90 is gone");
  // The order of the inputs may count for what is made, and so does what they are.
  CHECK(origin_of(folder, {b, a}).rfind("linked: ", 0) == 0);
  CHECK(origin_of(folder, {input(math, "math", false), input(kernels, "kernels", false)}) ==
        "linked: option -lto is gone, math changed, kernels changed");
  CHECK(origin_of(folder, {a, b}) == "from disk");
}

TEST_CASE("another linker links anew, and the reason tells both", "[compiler][cache][link]") {
  const temporary_folder folder;
  const std::vector<gpu::link_input> inputs = {input(math, "math"), input(kernels, "kernels")};
  const gpu::text cubin = link_fresh(folder, inputs).cubin();
  {
    gpu::nvjitlink::entry_points other = gpu::nvjitlink::current_entry_points();
    other.version = [](unsigned* major, unsigned* minor) {
      *major = 12;
      *minor = 9;
      return 0;
    };
    const gpu::nvjitlink::scoped_entry_points in_force(other);
    const gpu::linked_program made = link_fresh(folder, inputs);
    CHECK(made.origin().kind == gpu::origin_kind::linked);
    CHECK(made.origin().reason.contains("this is nvJitLink 12.9, build "));
    CHECK(made.origin().reason.contains(" instead of nvJitLink "));
  }
  CHECK(origin_of(folder, inputs) == "from disk");  // both are kept side by side

  // Where there is none, what any of them linked will do: so a product can bring it along.
  const temporary_folder elsewhere;
  CHECK(link_fresh(elsewhere, inputs).cubin() == cubin);
  const test::without_nvjitlink scope;
  const gpu::linked_program shipped = link_fresh(elsewhere, inputs);
  CHECK(shipped.origin().message() == "from disk");
  CHECK(shipped.cubin() == cubin);
  const temporary_folder empty;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = empty.path()});
  CHECK(test::error_of(gpu::link(inputs, {.architecture = gpu::architecture::sm(90),
                                          .cache = &cache})) == gpu::errc::no_nvjitlink);
}

TEST_CASE("what the driver linked is kept for this driver", "[compiler][cache][link][cpu]") {
  const temporary_folder folder;
  const test::without_nvjitlink scope;
  const std::vector<gpu::link_input> inputs = {{test::ptx_of(math), "math"},
                                               {test::ptx_of(kernels), "kernels"}};
  CHECK(origin_of(folder, inputs) == "linked: it was not linked before");
  const gpu::linked_program again = link_fresh(folder, inputs);
  CHECK(again.origin().message() == "from disk");
  CHECK(test::run(value_of(gpu::module::load(again))) == 52);

  gpu::driver::entry_points newer = gpu::driver::current_entry_points();
  newer.driver_get_version = [](int* version) {
    *version = 13010;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points other_driver(newer);
  const gpu::linked_program anew = link_fresh(folder, inputs);
  CHECK(anew.origin().reason.contains("this is the driver's linker for CUDA 13.1, build "));
}

TEST_CASE("a linked program that was damaged is dropped and made again",
          "[compiler][cache][link]") {
  const temporary_folder folder;
  const std::vector<gpu::link_input> inputs = {input(math, "math"), input(kernels, "kernels")};
  const gpu::text cubin = link_fresh(folder, inputs).cubin();
  REQUIRE(programs_in(folder.path()).size() == 1);
  const std::string path = folder / programs_in(folder.path())[0];
  const std::string whole = test::read_file(path);
  std::string flipped = whole;
  flipped[flipped.size() - flipped.size() / 3] ^= 4;
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), std::string(), flipped}) {
    test::write_file(path, damaged);
    const gpu::linked_program made = link_fresh(folder, inputs);
    CHECK(made.origin().message() == "linked: the stored program was damaged");
    CHECK(made.cubin() == cubin);
    CHECK(test::read_file(path) == whole);
  }
}

TEST_CASE("a cache that is off or in memory alone stores no link", "[compiler][cache][link]") {
  const temporary_folder folder;
  const std::vector<gpu::link_input> inputs = {input(math, "math"), input(kernels, "kernels")};
  const counting_nvjitlink counting;
  for (const auto use : {gpu::cache_use::off, gpu::cache_use::memory}) {
    gpu::compile_cache cache({.use = use, .folder = folder.path()});
    const gpu::link_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
    const gpu::linked_program first = value_of(gpu::link(inputs, options));
    const gpu::linked_program second = value_of(gpu::link(inputs, options));
    const bool off = use == gpu::cache_use::off;
    CHECK(first.origin().reason ==
          (off ? "the cache is off" : "this process did not link it before"));
    CHECK(second.origin().message() == (off ? "linked: the cache is off" : "from memory"));
    CHECK(second.cubin() == first.cubin());
  }
  CHECK(counting_nvjitlink::count() == 3);
  CHECK(programs_in(folder.path()).empty());
}

TEST_CASE("a link that fails is not kept", "[compiler][cache][link]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const gpu::link_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  const std::vector<gpu::link_input> undefined = {input(kernels, "kernels")};
  for (int i = 0; i < 2; ++i) {
    const gpu::cuda_error error = test::error_of(gpu::link(undefined, options));
    CHECK(error == gpu::errc::link_failed);
    CHECK(test::says(error, "add_one(int) (_Z7add_onei) is undefined"));
  }
  CHECK(programs_in(folder.path()).empty());
  CHECK(value_of(gpu::link({input(math, "math"), undefined[0]}, options)).origin().kind ==
        gpu::origin_kind::linked);
}

TEST_CASE("threads that want one link link once", "[compiler][cache][link]") {
  const temporary_folder folder;
  const std::vector<gpu::link_input> inputs = {input(math, "math"), input(kernels, "kernels")};
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const counting_nvjitlink counting;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto linked =
          gpu::link(inputs, {.architecture = gpu::architecture::sm(90), .cache = &cache});
      if (linked.has_value() && linked->cubin().size() > 64) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 8);
  CHECK(counting_nvjitlink::count() == 1);
}

TEST_CASE("linked programs are listed, shipped and purged with the others",
          "[compiler][cache][link]") {
  const temporary_folder folder, other;
  const std::vector<gpu::link_input> inputs = {input(math, "math"), input(kernels, "kernels")};
  link_fresh(folder, inputs);
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const auto listed = value_of(gpu::list_programs(cache));
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].name == "link of math, kernels");
  CHECK(listed[0].architecture == gpu::architecture::sm(90));
  CHECK(listed[0].compiler.contains("nvJitLink "));
  CHECK(listed[0].options[1] == "-lto");

  gpu::compile_cache second({.use = gpu::cache_use::disk, .folder = other.path()});
  CHECK(value_of(gpu::export_programs(cache, folder / "shipped")) == 1);
  CHECK(value_of(gpu::import_programs(second, folder / "shipped")) == 1);
  CHECK(origin_of(other, inputs) == "from disk");
  value_of(gpu::purge(cache));
  CHECK(origin_of(folder, inputs).rfind("linked: it was not linked before", 0) == 0);
}

}}  // namespace cached_link_test
