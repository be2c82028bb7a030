// Headers: which ones a compilation opened, where the toolkit's are found, and why one was not.

#include <gpu/compiler.hpp>
#include <gpu/compiler/nvrtc/header_trace.hpp>
#include <gpu/compiler/toolkit/header_search.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/libraries/toolkit_library.hpp>

#include "support/catch.hpp"
#include "support/subprocess.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace headers_test { namespace {

const gpu::compile_options for_90{.architecture = gpu::architecture::compute(90)};

/// A folder that goes with all that is in it.
class scratch_folder {
 public:
  scratch_folder() {
    char name[] = "/tmp/gpu_headers_test_XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~scratch_folder() {
    for (auto path = made_.rbegin(); path != made_.rend(); ++path) std::remove(path->c_str());
    ::rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }

  std::string folder(const std::string& name) {
    std::string whole = path_ + "/" + name;
    REQUIRE(::mkdir(whole.c_str(), 0700) == 0);
    made_.push_back(whole);
    return whole;
  }
  std::string file(const std::string& name, const char* contents) {
    std::string whole = path_ + "/" + name;
    std::FILE* out = std::fopen(whole.c_str(), "w");
    REQUIRE(out != nullptr);
    std::fputs(contents, out);
    std::fclose(out);
    made_.push_back(whole);
    return whole;
  }
  std::string link(const std::string& name, const std::string& target) {
    std::string whole = path_ + "/" + name;
    REQUIRE(::symlink(target.c_str(), whole.c_str()) == 0);
    made_.push_back(whole);
    return whole;
  }

 private:
  std::string path_;
  std::vector<std::string> made_;
};

std::vector<std::string> headers_of(const gpu::compiled_program& made) {
  std::vector<std::string> list;
  for (const gpu::text& header : made.headers()) list.emplace_back(header);
  return list;
}

std::string failure_of(const gpu::program& program, const gpu::compile_options& options) {
  const auto made = gpu::compile(program, options);
  REQUIRE_FALSE(made.has_value());
  return std::string(made.error().details());
}

bool has(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

TEST_CASE("the headers that were opened are listed once each", "[compiler][headers]") {
  scratch_folder scratch;
  const std::string deep = scratch.file("deep.h", "#pragma once\n#include <named.h>\n");
  const std::string top = scratch.file("top.h", "#include \"deep.h\"\n#include \"deep.h\"\n");
  const std::string unused = scratch.file("unused.h", "\n");
  scratch.folder("with space");
  const std::string spaced = scratch.file("with space/s p.h", "#define SPACED 1\n");
  gpu::compile_options options = for_90;
  options.include_folders = {scratch.path(), scratch.path() + "/with space"};
  const gpu::program program = gpu::program(
                                   "#include <top.h>\n#include \"s p.h\"\n#if 0\n"
                                   "#include <unused.h>\n#endif\n#include <top.h>\n"
                                   "template <class T> __global__ void f(T) {}")
                                   .header("named.h", "#define NAMED 1\n")
                                   .header("unused_named.h", "")
                                   .instance("f<int>");
  const auto made = gpu::compile(program, options);
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  REQUIRE(made.has_value());
  CHECK(made->headers_complete());
  CHECK(headers_of(*made) == std::vector<std::string>{top, deep, "named.h", spaced});
  CHECK(made->log().empty());
  for (const gpu::text& option : made->options()) CHECK_FALSE(option.contains("cudafe"));
}

TEST_CASE("an empty list of headers can be complete", "[compiler][headers]") {
  const auto made = gpu::compile("", for_90);
  REQUIRE(made.has_value());
  CHECK(made->headers().empty());
  CHECK(made->headers_complete());
}

TEST_CASE("each thread's compilation has its own list", "[compiler][headers][threads]") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 8; ++i) {
        const std::string name = "own" + std::to_string(t * 100 + i) + ".h";
        const auto made =
            gpu::compile(gpu::program("#include <" + name + ">\n#include <" + name + ">\n")
                             .header(name, "// nothing\n"),
                         for_90);
        const bool right = made.has_value() && made->headers_complete() &&
                           headers_of(*made) == std::vector<std::string>{name};
        wrong[static_cast<std::size_t>(t)] += right ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>{0, 0, 0, 0});
}

TEST_CASE("an incomplete list is not trusted", "[compiler][headers]") {
  const auto parse = [](const char* list, std::vector<std::string> wanted) {
    std::remove_cvref_t<decltype(gpu::compiled_program().headers())> headers;
    const bool whole = gpu::detail::header_trace::parse(list, headers);
    CHECK(headers.size() == wanted.size());
    for (std::size_t i = 0; i < headers.size() && i < wanted.size(); ++i) {
      CHECK(headers[i] == wanted[i].c_str());
    }
    return whole;
  };
  const std::string begin = "__nv_nvrtc_builtin_header.h\n", end = "__nv_name_map\n";
  CHECK(parse((begin + end).c_str(), {}));
  CHECK(parse((begin + "a.h\n b.h\n  c.h\nd.h\n" + end).c_str(), {"a.h", "b.h", "c.h", "d.h"}));
  CHECK_FALSE(parse("", {}));
  CHECK_FALSE(parse(end.c_str(), {}));
  CHECK_FALSE(parse((begin + "a.h\n").c_str(), {"a.h"}));
  CHECK_FALSE(parse(("a.h\n" + end).c_str(), {"a.h"}));
  CHECK_FALSE(parse((begin + "  a.h\n" + end).c_str(), {"a.h"}));
  CHECK_FALSE(parse((begin + "a.h\n   b.h\n" + end).c_str(), {"a.h", "b.h"}));
  CHECK_FALSE(parse((begin + "a.h\n\n" + end).c_str(), {"a.h", ""}));
}

TEST_CASE("a folder whose name begins with a space makes the list uncertain",
          "[compiler][headers]") {
  scratch_folder scratch;
  scratch.folder(" in");
  scratch.file(" in/x.h", "#define X 1\n");
  char before[4096];
  REQUIRE(::getcwd(before, sizeof before) != nullptr);
  REQUIRE(::chdir(scratch.path().c_str()) == 0);
  gpu::compile_options options = for_90;
  options.include_folders = {" in"};
  const auto made = gpu::compile("#include <x.h>\n", options);
  REQUIRE(::chdir(before) == 0);
  REQUIRE(made.has_value());
  CHECK_FALSE(made->headers_complete());
}

TEST_CASE("with precompiled headers the list is not certain", "[compiler][headers]") {
  gpu::compile_options options = for_90;
  options.extra = {"--pch"};
  const auto made = gpu::compile(gpu::program("#include <h.h>\n").header("h.h", ""), options);
  if (gpu::nvrtc_version().value() < gpu::version{12, 8}) {
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error() == gpu::errc::not_supported);
    CHECK(made.error().details().contains("has no option --pch"));
    return;
  }
  REQUIRE(made.has_value());
  CHECK_FALSE(made->headers_complete());
}

TEST_CASE("an NVRTC that does not list headers can compile", "[compiler][headers]") {
  static gpu::nvrtc::entry_points other = gpu::nvrtc::current_entry_points();
  static const auto real = other.compile_program;
  static int refused;
  refused = 0;
  other.compile_program = [](gpu::nvrtc::nvrtc_program program, int count,
                             const char* const* options) {
    for (int i = 0; i < count; ++i) {
      const std::string option = options[i];
      if (option.rfind("-Xcudafe", 0) == 0 || option.rfind("--ptxas-options", 0) == 0) {
        ++refused;
        return 5;  // NVRTC_ERROR_INVALID_OPTION
      }
    }
    return real(program, count, options);
  };
  const gpu::nvrtc::scoped_entry_points in_force(other);
  const auto made = gpu::compile(gpu::program("#include <h.h>\n").header("h.h", ""),
                                 {.architecture = gpu::architecture::sm(90)});
  REQUIRE(made.has_value());
  CHECK(refused == 1);
  CHECK_FALSE(made->headers_complete());
  CHECK(made->resources().empty());
}

TEST_CASE("an NVRTC before 12.4 is not given --minimal", "[compiler][options]") {
  static gpu::nvrtc::entry_points other;
  static int version, seen;
  static const auto real = gpu::nvrtc::current_entry_points().compile_program;
  other = gpu::nvrtc::current_entry_points();
  other.version = [](int* major, int* minor) {
    *major = 12;
    *minor = version;
    return 0;
  };
  other.compile_program = [](gpu::nvrtc::nvrtc_program program, int count,
                             const char* const* options) {
    std::vector<const char*> passed;
    for (int i = 0; i < count; ++i) {
      // The real one may be an old one, too.
      if (std::string(options[i]) == "--minimal")
        ++seen;
      else
        passed.push_back(options[i]);
    }
    return real(program, static_cast<int>(passed.size()), passed.data());
  };
  gpu::compile_options options = for_90;
  options.extra = {"--minimal"};
  const gpu::nvrtc::scoped_entry_points in_force(other);
  for (version = 3; version <= 4; ++version) {
    CAPTURE(version);
    seen = 0;
    const std::string text = "__global__ void of_version_" + std::to_string(version) + "() {}";
    REQUIRE(gpu::compile(text, options).has_value());
    CHECK(seen == (version >= 4 ? 1 : 0));
  }
}

TEST_CASE("libcu++ and the toolkit's headers are found", "[compiler][headers][toolkit]") {
  const auto made = gpu::compile(
      "#include <cuda_fp16.h>\n#include <cuda/std/limits>\n"
      "static_assert(cuda::std::numeric_limits<int>::max() > 0, \"\");\n"
      "__global__ void f(__half* x) { *x = *x + *x; }",
      for_90);
  const auto nothing = gpu::compile("", for_90);
  REQUIRE(nothing.has_value());
  bool found = false, fitting = false;
  for (const gpu::text& option : nothing->options()) {
    const std::string written(option), name = "--include-path=";
    if (written.rfind(name, 0) != 0) continue;
    const std::size_t version = gpu::detail::version_of_headers(written.substr(name.size()));
    found = found || version != 0;
    fitting = fitting || static_cast<int>(version / 1000) == gpu::nvrtc_version().value().major;
  }
  if (!found) {  // a machine with NVRTC alone
    REQUIRE_FALSE(made.has_value());
    CHECK(has(std::string(made.error().details()), "were not found; looked in\n"));
    return;
  }
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  if (fitting) CHECK(made.has_value());
  if (!fitting && !made.has_value()) {
    CHECK(has(std::string(made.error().details()), "but this is NVRTC "));
  }
  gpu::compile_options without = for_90;
  without.toolkit_headers = false;
  CHECK(has(failure_of("#include <cuda_fp16.h>", without), "compile_options::toolkit_headers"));
  CHECK(gpu::compile("__global__ void f() {}", without).has_value());
}

TEST_CASE("a toolkit's folders are found in every layout", "[compiler][headers]") {
  struct layout {
    const char* toolkit;
    const char* libcuxx;
  };
  // A toolkit; one for several platforms; the wheels of CUDA 13; those of CUDA 12.
  const layout layouts[] = {
      {"include", "include/cccl"},
      {gpu::detail::toolkit_target_headers, gpu::detail::toolkit_target_headers},
      {"nvidia/cu13/include", "nvidia/cu13/include/cccl"},
      {"nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include"}};
  for (const layout& one : layouts) {
    scratch_folder scratch;
    const auto folders = [&](const std::string& path) {
      for (std::size_t at = 0; at != std::string::npos;) {
        at = path.find('/', at + 1);
        const std::string whole = scratch.path() + "/" + path.substr(0, at);
        struct stat status{};
        if (::stat(whole.c_str(), &status) != 0) scratch.folder(path.substr(0, at));
      }
    };
    folders(one.toolkit);
    folders(std::string(one.libcuxx) + "/cuda/std");
    scratch.file(std::string(one.toolkit) + "/cuda_fp16.h", "");
    scratch.file(std::string(one.libcuxx) + "/cuda/std/type_traits", "");
    folders("lib");
    const std::string library = scratch.file("lib/libnvrtc.so.13", "");
    gpu::detail::header_search search;
    search.run(library.c_str());
    INFO(one.toolkit);
    CHECK(search.has_toolkit());
    CHECK(search.has_libcuxx());
    REQUIRE_FALSE(search.folders.empty());
    CHECK(search.folders[0] == (scratch.path() + "/" + one.toolkit).c_str());
    CHECK(search.folders[search.folders.size() - 1] ==
          (scratch.path() + "/" + one.libcuxx).c_str());
    CHECK(search.folders.size() == (std::string(one.toolkit) == one.libcuxx ? 1 : 2));
  }
}

TEST_CASE("child: says where the toolkit's headers were looked for", "[.child]") {
  gpu::detail::header_search search;
  search.run(nullptr);
  for (const gpu::text& folder : search.folders) std::printf("found %s\n", folder.c_str());
  for (const gpu::text& folder : search.looked_in) std::printf("looked %s\n", folder.c_str());
}

TEST_CASE("the environment and nvcc lead to the headers", "[compiler][headers]") {
  scratch_folder scratch;
  for (const char* folder :
       {"t", "t/include", "t/include/cuda", "t/include/cuda/std", "t/bin", "path"}) {
    scratch.folder(folder);
  }
  scratch.file("t/include/cuda_fp16.h", "");
  scratch.file("t/include/cuda/std/type_traits", "");
  const std::string nvcc = scratch.file("t/bin/nvcc", "");
  scratch.link("path/nvcc", nvcc);
  const std::string root = scratch.path() + "/t", found = "found " + root + "/include\n";
  const char* child = "child: says where the toolkit's headers were looked for";
  const test::environment nothing = {
      {"CUDA_PATH", ""}, {"CUDA_HOME", ""}, {"CUDAToolkit_ROOT", ""}, {"PATH", "/usr/bin:/bin"}};
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME", "CUDAToolkit_ROOT"}) {
    test::environment with = nothing;
    for (auto& [name, value] : with) {
      if (name == variable) value = root;
    }
    CHECK(has(test::run_child(child, with).output, found));
  }
  test::environment with_path = nothing;
  with_path.back().second = "/nowhere::" + scratch.path() + "/path:/usr/bin";
  CHECK(has(test::run_child(child, with_path).output, found));
  test::environment wrong = nothing;
  wrong[0].second = "/nowhere";
  CHECK(has(test::run_child(child, wrong).output, "looked /nowhere/include\n"));
}

TEST_CASE("child: includes what is not a regular file", "[.child]") {
  scratch_folder scratch;
  const std::string folder = scratch.folder("inc");
  const std::string fifo = folder + "/fifo.h", large = scratch.file("inc/large.h", "");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  scratch.link("inc/link.h", "fifo.h");
  scratch.link("inc/zero.h", "/dev/zero");
  scratch.link("inc/plain", "fifo.h");
  scratch.file("inc/nested.h", "#include \"fifo.h\"\n");
  scratch.file("inc/names.h", "#define NAME <fifo.h>\n");
  REQUIRE(::truncate(large.c_str(), off_t{200} << 30) == 0);
  const auto refused = [&](const gpu::program& source, const char* words,
                           std::vector<gpu::text> extra = {}) {
    INFO(source.source().c_str());
    for (const gpu::cache_use use : {gpu::cache_use::off, gpu::cache_use::memory}) {
      gpu::compile_cache cache({.use = use});
      gpu::compile_options options = for_90;
      options.cache = &cache;
      options.include_folders = {folder};
      for (const gpu::text& option : extra) options.extra.push_back(option);
      const auto made = gpu::compile(source, options);
      REQUIRE_FALSE(made.has_value());
      CHECK(made.error() == gpu::errc::file_error);
      CHECK(made.error().message().contains(words));
    }
  };
  const char* const not_regular = "which an #include names, is not a regular file";
  for (const char* source :
       {"#include <fifo.h>", "#include \"fifo.h\"", "#include <link.h>", "#include <nested.h>",
        "#include <zero.h>", "#include <plain>", "#include_next <fifo.h>", "#include \"/dev/tty\"",
        "#if __has_include(<fifo.h>)\n#endif", "#define NAME \"fifo.h\"\n#include NAME",
        "#include <names.h>\n#include NAME"}) {
    refused(source, not_regular);
  }
  refused("#include NAME", not_regular, {gpu::text("-DNAME=<fifo.h>")});
  refused("", not_regular, {gpu::text("--pre-include=fifo.h")});
  refused(gpu::program("#include <text.h>").header("text.h", "#include <fifo.h>"), not_regular);
  refused("#include \"large.h\"", "holds 214748364800 bytes, more than the 268435456");
  // What only has such a name does not matter.
  gpu::compile_options options = for_90;
  options.include_folders = {folder};
  CHECK(gpu::compile("#define NAME \"fifo.h\"\n__device__ const char* n = NAME;", options)
            .has_value());
  CHECK(gpu::compile(gpu::program("#include <fifo.h>").header("fifo.h", "")).has_value());
  std::remove(fifo.c_str());
}

TEST_CASE("a header that is a pipe, a device or huge is refused", "[compiler][headers]") {
  const auto child =
      test::run_child("child: includes what is not a regular file", {}, std::chrono::seconds(60));
  INFO(child.output);
  CHECK(child.succeeded());
}

TEST_CASE("a header for the host alone is answered with what to do instead",
          "[compiler][headers]") {
  const std::string stream = failure_of("#include <iostream>\n__global__ void f() {}", for_90);
  INFO(stream);
  CHECK(has(stream, "<iostream> is for the host alone"));
  CHECK(has(stream, "printf prints from a kernel"));
  CHECK_FALSE(has(stream, "was searched for"));
  CHECK(has(failure_of("#include <vector>\n", for_90), "gpu::device_span"));
}

TEST_CASE("the error of a missing header lists every folder that was searched",
          "[compiler][headers]") {
  scratch_folder scratch;
  scratch.folder("a.h");  // a folder that is called like a header
  gpu::compile_options options = for_90;
  options.include_folders = {scratch.path(), "/no/such/folder"};
  const gpu::program program =
      gpu::program("__device__ int x;\n#include <a.h>\n").header("aa.h", "").header("zzz.h", "");
  const std::string why = failure_of(program, options);
  INFO(why);
  CHECK(has(why, "program.cu:2: "));
  CHECK(has(why, "\"a.h\" was searched for\n"));
  CHECK(has(why, "headers given as text: aa.h zzz.h\n"));
  CHECK(has(why, "in " + scratch.path() + ": it is a folder, not a file\n"));
  CHECK(has(why, "in /no/such/folder: the folder does not exist\n"));
  CHECK(has(why, "compile_options::include_folders"));
  CHECK(has(why, "The log:\n"));
}

}}  // namespace headers_test
