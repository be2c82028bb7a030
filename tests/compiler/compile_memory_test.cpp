// Compilations and links while host memory runs out: each allocation fails, alone and with all
// that come after it. What comes of it is right, or it is an error, and the cache keeps nothing
// else.

#include "compiler/cache_support.hpp"
#include "compiler/link_support.hpp"
#include "compiler/told_compilers.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/autotune.hpp>
#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache_contents.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_async.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/diagnostics.hpp>
#include <gpu/compiler/kernel_resources.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/linked_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/source.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

namespace compile_memory_test { namespace {

using test::failing_allocation;
using test::spared_allocations;
using test::temporary_folder;
using test::told_nvjitlink;
using test::told_nvrtc;

/// All that a program has.
std::string all_of(const gpu::compiled_program& program) {
  std::string all;
  const auto add = [&](const char* what, const gpu::text& text) {
    all += std::string(what) + ": " + std::string(text.data(), text.size()) + '\n';
  };
  add("PTX", program.ptx());
  add("cubin", program.cubin());
  add("LTO-IR", program.lto_ir());
  add("log", program.log());
  for (const gpu::text& option : program.options()) add("option", option);
  for (const gpu::text& header : program.headers()) add("header", header);
  program.for_each_name([&](gpu::string_ref written, gpu::string_ref lowered) {
    add("written", written.to_text());
    add("lowered", lowered.to_text());
  });
  for (const gpu::kernel_resources& each : program.resources()) add("kernel", each.kernel);
  return all + (program.headers_complete() ? "complete" : "");
}
std::string all_of(const gpu::linked_program& program) {
  std::string all;
  for (const gpu::text* text : {&program.ptx(), &program.cubin(), &program.log()}) {
    all += std::string(text->data(), text->size()) + '\n';
  }
  program.for_each_name([&](gpu::string_ref written, gpu::string_ref lowered) {
    all += std::string(written.data(), written.size()) + " is " +
           std::string(lowered.data(), lowered.size()) + '\n';
  });
  return all;
}

/// An operation with a cache: compiles or links, and returns all of the outcome.
struct operation {
  const char* name;
  std::function<gpu::result<std::string>(gpu::compile_cache&)> run;
};

template <class Program> gpu::result<std::string> told(const gpu::result<Program>& made) {
  const spared_allocations spared;
  if (!made.has_value()) return gpu::detail::fail(made.error());
  return all_of(*made);
}

constexpr const char* source = "extern \"C\" __global__ void f() {}";
const gpu::architecture sm_90 = gpu::architecture::sm(90);

/// A project whose header is in the second of its folders.
struct project {
  temporary_folder root;
  std::string first = root.make_folder("first"), second = root.make_folder("second");
  project() {
    test::write_file(second + "/val.h", "constexpr int val = 3;\n");
    ::usleep(20000);  // so old that no compilation waits for its time stamp to pass
  }
};

std::vector<operation> compilations(const project& files) {
  const auto compile = [](gpu::compile_cache& cache, const gpu::program& p,
                          gpu::compile_options options) {
    options.cache = &cache;
    if (options.architecture == gpu::architecture()) options.architecture = sm_90;
    return told(gpu::compile(p, options));
  };
  return {
      {"machine code", [=](gpu::compile_cache& cache) { return compile(cache, source, {}); }},
      {"PTX",
       [=](gpu::compile_cache& cache) {
         return compile(cache, gpu::program(source, "named.cu"),
                        {.architecture = gpu::architecture::compute(80),
                         .defines = {{"BLOCK", 256}, {"TYPE", "float"}}});
       }},
      {"LTO-IR",
       [=](gpu::compile_cache& cache) {
         return compile(cache, source, {.link_time_optimization = true});
       }},
      {"instances",
       [=](gpu::compile_cache& cache) {
         return compile(cache, gpu::program(source).instance("g<float>").instance("g<int>"), {});
       }},
      {"headers as text and of the library",
       [=](gpu::compile_cache& cache) {
         return compile(cache,
                        gpu::program("#include \"a.h\"\n#include <cassert>\n")
                            .header("a.h", "#include <gpu/device.hpp>\n"),
                        {.fast_math = true, .max_registers = 32, .extra = {"-lineinfo"}});
       }},
      {"include folders",
       [=, first = files.first, second = files.second](gpu::compile_cache& cache) {
         {
           const spared_allocations spared;
           told_nvrtc::header() = second + "/val.h";
         }
         auto made = compile(cache, "#include \"val.h\"\n",
                             {.include_folders = {first.c_str(), second.c_str()}});
         const spared_allocations spared;
         told_nvrtc::header().clear();
         return made;
       }},
      {"a header of the library by a macro",
       [=](gpu::compile_cache& cache) {
         {
           const spared_allocations spared;
           told_nvrtc::wanted_header() = "cassert";
         }
         auto made = compile(cache, "#define H <cassert>\n#include H\n", {});
         const spared_allocations spared;
         told_nvrtc::wanted_header().clear();
         return made;
       }},
      {"parts",
       [=](gpu::compile_cache& cache) {
         return compile(cache, gpu::source().part("a.cu", source).part("b.cu", "int b;"), {});
       }},
  };
}

std::vector<operation> links() {
  const auto link = [](gpu::compile_cache& cache, const gpu::sequence<gpu::link_input>& inputs,
                       gpu::link_options options) {
    options.cache = &cache;
    return told(gpu::link(inputs, options));
  };
  constexpr const char* one =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .global .align 4 .u32 one;\n";
  constexpr const char* two =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".extern .global .align 4 .u32 one;\n"
      ".visible .entry k(.param .u64 k_0) { ret; }\n";
  gpu::compile_cache none({.use = gpu::cache_use::off});
  gpu::result<gpu::compiled_program> part =
      gpu::compile(gpu::program(source).instance("g<float>"),
                   {.architecture = sm_90, .link_time_optimization = true, .cache = &none});
  REQUIRE(part.has_value());
  return {
      {"link of PTX",
       [=](gpu::compile_cache& cache) {
         return link(cache, {gpu::link_input(one, "one"), gpu::link_input(two)},
                     {.architecture = sm_90});
       }},
      {"link of LTO-IR to PTX",
       [=](gpu::compile_cache& cache) {
         return link(
             cache, {*part},
             {.architecture = gpu::architecture::compute(90), .link_time_optimization = true});
       }},
  };
}

/// Files that this process has open.
std::size_t open_files() { return test::names_in("/proc/self/fd").size(); }

/// Runs what may throw std::bad_alloc, which is a right answer.
gpu::result<std::string> run_contained(const operation& each, gpu::compile_cache& cache) {
#if defined(__cpp_exceptions)
  try {
    return each.run(cache);
  } catch (const std::bad_alloc&) {
    const spared_allocations spared;
    return gpu::detail::fail(
        gpu::detail::refusal(gpu::errc::out_of_host_memory, "test", {}, gpu::source_location{}));
  }
#else
  return each.run(cache);
#endif
}

/// Does one operation with each allocation failing, in a folder of its own below `root` each time.
/// Returns what is wrong.
std::string sweep(const operation& each, const temporary_folder& root, bool lasting,
                  std::size_t& tried) {
  std::string wrong, reference;
  {
    gpu::compile_cache off({.use = gpu::cache_use::off});
    const gpu::result<std::string> made = each.run(off);
    if (!made.has_value()) return made.error().message().c_str();
    reference = *made;
  }
  const std::size_t files_before = open_files();
  for (std::size_t n = 0;; ++n) {
    const std::string folder = root / (std::to_string(n) + (lasting ? "+" : ""));
    const auto say = [&](const std::string& what) {
      wrong += std::string(each.name) + ", allocation " + std::to_string(n) +
               (lasting ? " and later: " : ": ") + what + '\n';
    };
    const auto check = [&](const char* when, const gpu::result<std::string>& made) {
      if (!made.has_value()) {
        say(std::string(when) + " fails: " + made.error().message().c_str());
      } else if (*made != reference) {
        say(std::string(when) + " gives another program: " + *made);
      }
    };
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
    bool happened = false;
    {
      const failing_allocation failing(n, {.lasting = lasting, .throwing = true});
      const gpu::result<std::string> made = run_contained(each, cache);
      happened = failing.happened();
      const spared_allocations spared;
      if (made.has_value() || !(made.error() == gpu::errc::out_of_host_memory)) {
        check("it", made);
      }
    }
    check("the next attempt", run_contained(each, cache));
    gpu::compile_cache fresh({.use = gpu::cache_use::disk, .folder = folder});
    check("a fresh cache", run_contained(each, fresh));
    if (open_files() != files_before) say("a file is left open");
    if (!happened) {
      tried += n;
      return wrong;
    }
  }
}

/// The folders that a sweep left below `root`: what is found there is right.
std::string check_folders(const operation& each, const std::string& root) {
  gpu::compile_cache off({.use = gpu::cache_use::off});
  const gpu::result<std::string> reference = each.run(off);
  std::size_t from_disk = 0;
  for (const std::string& name : test::names_in(root)) {
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = root + '/' + name});
    const gpu::result<std::string> made = each.run(cache);
    if (!made.has_value() || *made != *reference) return "another program in " + name;
    from_disk += cache.counters().from_disk;
  }
  return from_disk != 0 ? "" : "nothing was found";
}

/// The folder that the children of a test share.
std::string shared_folder() {
  const char* root = std::getenv("TEST_MEMORY_FOLDERS");
  REQUIRE(root != nullptr);
  return root;
}

TEST_CASE("child: the first compilations of a process without memory", "[.child]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvrtc nvrtc;
  const project files;
  const operation compile = compilations(files)[0];
  const std::string root = shared_folder();
  // One attempt for each allocation, and no other that would put it right.
  for (std::size_t n = 0;; ++n) {
    gpu::compile_cache cache(
        {.use = gpu::cache_use::disk, .folder = root + '/' + std::to_string(n)});
    const failing_allocation failing(n, {.throwing = true});
    (void)run_contained(compile, cache).has_value();
    if (!failing.happened()) break;
  }
}

TEST_CASE("child: programs that a process without memory left", "[.child]") {
  const told_nvrtc nvrtc;
  const project files;
  CHECK(check_folders(compilations(files)[0], shared_folder()) == "");
}

TEST_CASE("a clean process finds nothing wrong in a cache that was filled without memory",
          "[compiler][cache]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const temporary_folder root = temporary_folder::in_memory();
  for (const char* child : {"child: the first compilations of a process without memory",
                            "child: programs that a process without memory left"}) {
    const test::program_outcome outcome =
        test::run_child(child, {{"TEST_MEMORY_FOLDERS", root.path()}});
    INFO(outcome.output);
    CHECK(outcome.succeeded());
  }
}

TEST_CASE("compilations are right or fail when host memory runs out", "[compiler][cache]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvrtc nvrtc;
  const project files;
  std::size_t tried = 0;
  for (const operation& each : compilations(files)) {
    for (const bool lasting : {false, true}) {
      const temporary_folder root = temporary_folder::in_memory();
      CHECK(sweep(each, root, lasting, tried) == "");
    }
  }
  CHECK(tried > 500);
}

TEST_CASE("links are right or fail when host memory runs out", "[compiler][cache][link]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvrtc nvrtc;
  const told_nvjitlink nvjitlink;
  std::size_t tried = 0;
  for (const operation& each : links()) {
    for (const bool lasting : {false, true}) {
      const temporary_folder root = temporary_folder::in_memory();
      CHECK(sweep(each, root, lasting, tried) == "");
    }
  }
  CHECK(tried > 100);
}

TEST_CASE("a changed header counts as changed, with memory and without", "[compiler][cache]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvrtc nvrtc;
  const project files;
  const operation compile = compilations(files)[5];
  const temporary_folder root = temporary_folder::in_memory();
  // Two files that are old, of which the header is one or the other.
  const std::string header = files.second + "/val.h";
  REQUIRE(::rename(header.c_str(), (files.second + "/3").c_str()) == 0);
  test::write_file(files.second + "/4", "constexpr int val = 4;\n");
  ::usleep(20000);
  const auto choose = [&](const char* which) {
    ::unlink(header.c_str());
    REQUIRE(::symlink(which, header.c_str()) == 0);
  };
  for (const bool from_disk : {false, true}) {
    for (const bool lasting : {false, true}) {
      bool happened = true;
      for (std::size_t n = 0; happened; ++n) {
        const std::string folder = root.path() + '/' + std::to_string(n) + (lasting ? "+" : "") +
                                   (from_disk ? "disk" : "memory");
        const gpu::cache_settings settings{
            .use = from_disk ? gpu::cache_use::disk : gpu::cache_use::memory, .folder = folder};
        gpu::compile_cache cache(settings), fresh(settings);
        choose("3");
        REQUIRE(compile.run(cache).has_value());
        choose("4");
        const failing_allocation failing(n, {.lasting = lasting, .throwing = true});
        const gpu::result<std::string> made = run_contained(compile, from_disk ? fresh : cache);
        happened = failing.happened();
        const spared_allocations spared;
        if (made.has_value() && made->find("val = 4") == std::string::npos) {
          FAIL_CHECK("allocation " << n << ": the old program");
        }
      }
    }
  }
}

TEST_CASE("names that conflict are refused, with memory and without", "[compiler][link]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvjitlink nvjitlink;
  constexpr const char* one =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .global .align 4 .u32 one;\n";
  gpu::compile_cache off({.use = gpu::cache_use::off});
  const gpu::sequence<gpu::link_input> inputs = {gpu::link_input(one, "a"),
                                                 gpu::link_input(one, "b")};
  for (const bool lasting : {false, true}) {
    bool happened = true;
    for (std::size_t n = 0; happened; ++n) {
      const failing_allocation failing(n, {.lasting = lasting, .throwing = true});
      const auto linked = gpu::link(inputs, {.architecture = sm_90, .cache = &off});
      happened = failing.happened();
      const spared_allocations spared;
      const gpu::cuda_error error = test::error_of(linked);
      CHECK((error == gpu::errc::link_failed || error == gpu::errc::out_of_host_memory));
      if (!happened) CHECK(test::says(error, "one is defined in a and in b"));
    }
  }
}

/// Runs `run`, which does not depend on what was before, with each allocation failing. It has to
/// give what it gives with memory left, be that an error, or to say that the host is out of memory,
/// and to be right the next time. Returns what is wrong.
std::string sweep_answers(const std::function<gpu::result<std::string>()>& run) {
  const operation each{"", [&](gpu::compile_cache&) { return run(); }};
  gpu::compile_cache unused({.use = gpu::cache_use::off});
  const gpu::result<std::string> reference = run();
  const auto is_reference = [&](const gpu::result<std::string>& made) {
    if (made.has_value() != reference.has_value()) return false;
    return made.has_value() ? *made == *reference : made.error() == reference.error();
  };
  const auto words = [](const gpu::result<std::string>& made) {
    return made.has_value() ? *made : std::string(made.error().message().c_str());
  };
  std::string wrong;
  const std::size_t files_before = open_files();
  for (const bool lasting : {false, true}) {
    bool happened = true;
    for (std::size_t n = 0; happened; ++n) {
      const std::string name = "allocation " + std::to_string(n) + (lasting ? "+: " : ": ");
      {
        const failing_allocation failing(n, {.lasting = lasting, .throwing = true});
        const gpu::result<std::string> made = run_contained(each, unused);
        happened = failing.happened();
        const spared_allocations spared;
        const bool refused = !made.has_value() && made.error() == gpu::errc::out_of_host_memory;
        if (!refused && !is_reference(made)) wrong += name + words(made) + '\n';
      }
      const gpu::result<std::string> next = run_contained(each, unused);
      if (!is_reference(next)) wrong += name + "the next time: " + words(next) + '\n';
      if (open_files() != files_before) return wrong + name + "leaves a file open";
    }
  }
  return wrong;
}

TEST_CASE("mistakes in sources are told, with memory and without", "[compiler]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvrtc nvrtc;
  told_nvrtc::finds_mistakes() = true;
  gpu::compile_cache off({.use = gpu::cache_use::off});
  const std::string wrong = sweep_answers([&]() -> gpu::result<std::string> {
    const auto made = gpu::compile(source, {.architecture = sm_90, .cache = &off});
    if (!(made.error() == gpu::errc::compile_failed)) return gpu::detail::fail(made.error());
    if (made.error().details().lost()) {  // the code survives without the sentence
      return gpu::detail::fail(gpu::detail::refusal(gpu::errc::out_of_host_memory, "test", {}, {}));
    }
    const auto list = gpu::diagnostics(made.error());
    const spared_allocations spared;
    std::string told;
    for (const gpu::diagnostic& one : list) told += one.message.c_str();
    return told;
  });
  told_nvrtc::finds_mistakes() = false;
  CHECK(wrong == "");
}

TEST_CASE("the resources of a kernel are found by name, with memory and without", "[compiler]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const auto made = gpu::compile(
      "namespace n { __global__ void f(int*) {} } __global__ void f(int*) {} "
      "namespace n { __global__ void only(float*) {} }",
      {.architecture = sm_90});
  REQUIRE(made.has_value());
  for (const char* name : {"only", "n::f(int*)"}) {
    INFO(name);
    CHECK(sweep_answers([&]() -> gpu::result<std::string> {
            const gpu::kernel_resources found = GPU_TRY(made->resources(name));
            const spared_allocations spared;
            return std::string(found.kernel.c_str());
          }) == "");
  }
}

TEST_CASE("files are read whole, with memory and without", "[compiler]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const temporary_folder folder;
  const std::string path = folder / "a.cu";
  test::write_file(path, std::string(100000, 'x'));
  const auto told = [](const gpu::text& text) {
    const spared_allocations spared;
    return std::string(text.data(), text.size());
  };
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          const gpu::program read = GPU_TRY(gpu::program::from_file(path));
          return told(read.source());
        }) == "");
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          gpu::source parts;
          GPU_TRY(parts.add_file(path));
          return told(parts.whole());
        }) == "");
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          const gpu::link_input read = GPU_TRY(gpu::link_input::from_file(path));
          return told(read.image());
        }) == "");
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          const gpu::program read = GPU_TRY(gpu::program::from_file("/nowhere/a.cu"));
          return told(read.source());
        }) == "");
}

TEST_CASE("programs of a cache are listed, exported and imported, with memory and without",
          "[compiler][cache]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvrtc nvrtc;
  const project files;
  const temporary_folder root = temporary_folder::in_memory();
  const std::string file = root / "exported";
  gpu::compile_cache from({.use = gpu::cache_use::disk, .folder = root.make_folder("from")});
  gpu::compile_cache to({.use = gpu::cache_use::disk, .folder = root.make_folder("to")});
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(compilations(files)[i].run(from).has_value());
  const auto list = [&](gpu::compile_cache& cache) -> gpu::result<std::string> {
    const auto programs = GPU_TRY(gpu::list_programs(cache));
    const spared_allocations spared;
    std::vector<std::string> names;
    for (const gpu::cached_program& one : programs) {
      names.push_back(std::string(one.name.c_str()) + ' ' + one.compiler.c_str() + ' ' +
                      std::to_string(one.size) + ' ' + std::to_string(one.options.size()) + '\n');
    }
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& name : names) all += name;
    return all;
  };
  CHECK(sweep_answers([&] { return list(from); }) == "");
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          const std::size_t count = GPU_TRY(gpu::export_programs(from, file));
          const spared_allocations spared;
          return std::to_string(count) + test::read_file(file);
        }) == "");
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          GPU_TRY(gpu::purge(to));
          GPU_TRY(gpu::import_programs(to, file));
          return list(to);
        }) == "");
}

TEST_CASE("compilations of other threads are begun and asked for, with memory and without",
          "[compiler]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const told_nvrtc nvrtc;
  gpu::compile_cache off({.use = gpu::cache_use::off});
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          return told(gpu::compile_async(gpu::program(source).instance("g<int>"),
                                         {.architecture = sm_90, .cache = &off})
                          .get());
        }) == "");
}

TEST_CASE("the fastest variant is tuned and remembered, with memory and without",
          "[compiler][autotune][cpu]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const test::own_cpu_driver driver;
  gpu::driver::entry_points steady = driver.table();
  // The time of a launch is what the variant says.
  static int variant_launched;
  steady.event_elapsed_time = [](float* milliseconds, CUevent, CUevent) {
    *milliseconds = static_cast<float>(variant_launched);
    return CUDA_SUCCESS;
  };
  const test::sparing_table table(steady);
  const gpu::driver::scoped_entry_points in_force(table.entry_points());
  const temporary_folder root = temporary_folder::in_memory();
  const gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  int times = 0;
  const auto tune = [&](gpu::compile_cache& cache) -> gpu::result<std::string> {
    const gpu::tuning_settings settings{.problem = "test", .repetitions = 1, .cache = &cache};
    const auto tuned = GPU_TRY(gpu::autotune(
        stream, settings, {3, 1, 2}, [](int variant) -> gpu::result<int> { return variant; },
        [&](int, int variant) -> gpu::result<> {
          variant_launched = variant;
          return {};
        }));
    const spared_allocations spared;
    std::string all = std::to_string(tuned.best) + " at " + std::to_string(tuned.chosen);
    for (const gpu::tuning_timing& each : tuned.timings) {
      all += std::string(", ") + each.variant.c_str() + ": " +
             std::to_string(each.time.milliseconds()) + each.error.c_str();
    }
    return all;
  };
  std::string folder;
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          {
            const spared_allocations spared;
            folder = root / std::to_string(times++);
          }
          gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.c_str()});
          return tune(cache);
        }) == "");
  // What was stored meanwhile.
  for (const std::string& name : test::names_in(root.path())) {
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = root / name});
    CHECK(test::value_of(tune(cache)) == "1 at 1, 3: 3.000000, 1: 1.000000, 2: 2.000000");
  }
}

TEST_CASE("the driver's linker gives code, with memory and without", "[compiler][link][cpu]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const test::own_cpu_driver driver;
  const test::sparing_table table(driver.table());
  const gpu::driver::scoped_entry_points in_force(table.entry_points());
  const test::without_nvjitlink without;
  gpu::compile_cache off({.use = gpu::cache_use::off});
  constexpr const char* one =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .global .align 4 .u32 one;\n";
  constexpr const char* two =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k() { ret; }\n";
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          const auto linked =
              gpu::link({gpu::link_input(one, "one"), gpu::link_input(two)}, {.cache = &off});
          if (!linked.has_value()) return gpu::detail::fail(linked.error());
          const gpu::module module = GPU_TRY(gpu::module::load(*linked));
          GPU_TRY(module.kernel<>("k"));
          return told(linked);
        }) == "");
}

TEST_CASE("machine code that the driver refuses is linked anew, with memory and without",
          "[compiler][link][cpu]") {
  if (!failing_allocation::possible_for_throwing()) return;
  const gpu::compiled_program a = test::compile(test::math, true, sm_90);
  const gpu::compiled_program b = test::compile(test::kernels, true, sm_90);
  const gpu::linked_program real = test::value_of(gpu::link({a, b}, {.architecture = sm_90}));
  const test::own_cpu_driver driver;
  const test::sparing_table table(driver.table());
  const gpu::driver::scoped_entry_points in_force(table.entry_points());
  const told_nvjitlink nvjitlink;
  told_nvjitlink::machine_code().assign(real.cubin().data(), real.cubin().size());
  told_nvjitlink::ptx() =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k() { ret; }\n";
  const gpu::linked_program linked = test::value_of(gpu::link({a, b}, {.architecture = sm_90}));
  CHECK(sweep_answers([&]() -> gpu::result<std::string> {
          const gpu::module module = GPU_TRY(gpu::module::load(linked));
          GPU_TRY(module.kernel<>("k"));
          return std::string("loaded");
        }) == "");
  told_nvjitlink::machine_code().clear();
  told_nvjitlink::ptx().clear();
}

TEST_CASE("0 bytes from a compiler or linker are an error", "[compiler][link]") {
  const told_nvrtc nvrtc;
  const told_nvjitlink nvjitlink;
  const auto nothing = [](void*, std::size_t* size) {
    *size = 0;
    return 0;
  };
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  const gpu::program code = gpu::program(source).instance("g<float>");
  using nvrtc_table = gpu::nvrtc::entry_points;
  const auto compile = [&](bool lto) {
    return gpu::compile(code,
                        {.architecture = sm_90, .link_time_optimization = lto, .cache = &cache});
  };
  for (const auto member :
       {&nvrtc_table::get_ptx_size, &nvrtc_table::get_cubin_size, &nvrtc_table::get_lto_ir_size}) {
    nvrtc_table table = nvrtc.table;
    table.*member = nothing;
    const gpu::nvrtc::scoped_entry_points in_force(table);
    const bool lto = member == &nvrtc_table::get_lto_ir_size;
    for (int i = 0; i < 2; ++i) {  // nor from the cache
      const gpu::cuda_error error = test::error_of(compile(lto));
      CHECK(error == gpu::errc::compile_failed);
      CHECK(test::says(error, "NVRTC reported success and returned no"));
    }
  }
  {
    nvrtc_table table = nvrtc.table;
    table.get_lowered_name = [](void*, const char*, const char** name) {
      *name = "";
      return 0;
    };
    const gpu::nvrtc::scoped_entry_points in_force(table);
    CHECK(test::error_of(compile(false)) == gpu::errc::compile_failed);
  }
  CHECK(compile(false).has_value());
  const gpu::compiled_program lto = test::value_of(compile(true));

  using linker_table = gpu::nvjitlink::entry_points;
  for (const auto member :
       {&linker_table::get_linked_cubin_size, &linker_table::get_linked_ptx_size}) {
    linker_table table = nvjitlink.table;
    table.*member = nothing;
    const gpu::nvjitlink::scoped_entry_points in_force(table);
    const bool ptx = member == &linker_table::get_linked_ptx_size;
    const gpu::cuda_error error = test::error_of(
        gpu::link({lto}, {.architecture = ptx ? gpu::architecture::compute(90) : sm_90,
                          .link_time_optimization = true,
                          .cache = &cache}));
    CHECK(error == gpu::errc::link_failed);
    CHECK(test::says(error, "nvJitLink reported success and returned no code"));
  }
}

TEST_CASE("an entry of a cache with 0 bytes of code is not used", "[compiler][cache]") {
  const told_nvrtc nvrtc;
  const project files;
  const auto all = compilations(files);
  // What is taken out of the program that was stored, as if it had been lost.
  using state = gpu::detail::compiled_state;
  const struct {
    const operation& compile;
    void (*lose)(state&);
  } losses[] = {
      {all[0], [](state& s) { s.ptx = {}; }},
      {all[0], [](state& s) { s.cubin = {}; }},
      {all[2], [](state& s) { s.lto_ir = {}; }},
      {all[3], [](state& s) { s.names[1].lowered = {}; }},
  };
  for (const auto& loss : losses) {
    const temporary_folder folder;
    gpu::compile_cache first({.use = gpu::cache_use::disk, .folder = folder.path()});
    const std::string right = test::value_of(loss.compile.run(first));
    REQUIRE(test::programs_in(folder.path()).size() == 1);
    const std::string path = folder / test::programs_in(folder.path())[0];
    const std::string stored = test::read_file(path);
    gpu::detail::entry_kind kind{};
    gpu::detail::digest key;
    gpu::string_ref contents;
    REQUIRE(gpu::detail::read_seal(stored, kind, key, contents));
    gpu::detail::byte_reader in(contents);
    gpu::detail::cache_conditions conditions;
    gpu::text name;
    REQUIRE(gpu::detail::read_conditions(in, conditions, name));
    state changed;
    in >> changed;
    loss.lose(changed);
    const gpu::text sealed =
        gpu::detail::seal(kind, key, gpu::detail::write_program(conditions, name, changed));
    test::write_file(path, std::string(sealed.data(), sealed.size()));

    gpu::compile_cache second({.use = gpu::cache_use::disk, .folder = folder.path()});
    CHECK(test::value_of(loss.compile.run(second)) == right);
    CHECK(second.counters().compiled == 1);
    CHECK(second.counters().damaged == 1);
    gpu::compile_cache third({.use = gpu::cache_use::disk, .folder = folder.path()});
    CHECK(test::value_of(loss.compile.run(third)) == right);
    CHECK(third.counters().from_disk == 1);
  }
}

}}  // namespace compile_memory_test
