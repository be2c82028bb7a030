// Files that appear, change their kind or go, wherever the compiler could look for a header: a
// program from memory, from disk or in another process is the one that a compilation without a
// cache gives.

#include "compiler/cache_support.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/text.hpp>

#include <sys/stat.h>
#include <unistd.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace cache_places_test { namespace {

/// Texts of sources and headers are put together from words: `1` and `2` define V, `once` does if
/// nobody did, `over` does again; <x> includes x, and 'x' does so by quotes; KIND:<x> names x by
/// something else than an inclusion.
std::string text_of(const std::string& words) {
  std::istringstream in(words);
  std::string text;
  for (std::string word; in >> word;) {
    const std::size_t colon = word.find(':');
    const std::string kind = colon == std::string::npos ? "include" : word.substr(0, colon);
    std::string name = colon == std::string::npos ? word : word.substr(colon + 1);
    for (char& c : name) c = c == '\'' ? '"' : c;
    const auto asks = [&](const std::string& question) {
      text += "#if " + question + "\n#define V 2\n#else\n#define V 1\n#endif\n";
    };
    if (word == "1" || word == "2") {
      text += "#define V " + word + '\n';
    } else if (word == "once") {
      text += "#ifndef V\n#define V 1\n#endif\n";
    } else if (word == "over") {
      text += "#undef V\n#define V 2\n";
    } else if (word == "asks_by_macro") {
      asks("ASKS");
    } else if (kind == "asks") {
      asks("__has_include(" + name + ')');
    } else if (kind == "asks_next") {
      asks("__has_include_next(" + name + ')');
    } else if (kind == "defines_asks") {
      text += "#define ASKS __has_include(" + name + ")\n";
    } else if (kind == "macro") {
      text += "#define NAME " + name + "\n#include NAME\n";
    } else if (kind == "dead") {
      text += "#if 0\n#include " + name + "\n#endif\n";
    } else if (kind == "split") {
      text += "#include " + name.substr(0, 2) + "\\\n" + name.substr(2) + '\n';
    } else if (kind == "digraph") {
      text += "%:include " + name + '\n';
    } else {
      text += '#' + kind + ' ' + name + '\n';
    }
  }
  return text;
}

/// What happens to files: PATH=WORDS;PATH=WORDS. The words `folder`, `gone` and `link` stand for a
/// folder, for nothing, and for a link to "target".
struct scenario {
  const char* what;
  bool matters;        // whether a compilation without a cache sees the change
  const char* before;  // the files at first
  const char* source;
  const char* change;
  const char* name = "program.cu";  // as seen from the working folder, which is "cwd"
  const char* header = "";          // NAME=WORDS: one given as text
  const char* option = "";
};

constexpr const char* named = "../name/program.cu";

/// The include folders are "later", which is not there at first, "first", "second" and "third".
constexpr scenario scenarios[] = {
    {"quoted, then in an earlier folder", true, "second/val.h=1", "'val.h'", "first/val.h=2"},
    {"angled, then in an earlier folder", true, "second/val.h=1", "<val.h>", "first/val.h=2"},
    {"quoted, then in a later folder", false, "second/val.h=1", "'val.h'", "third/val.h=2"},
    {"angled, then in a later folder", false, "second/val.h=1", "<val.h>", "third/val.h=2"},
    {"quoted, then in a folder that was not there", true, "second/val.h=1", "'val.h'",
     "later/val.h=2"},
    {"angled, then in a folder that was not there", true, "second/val.h=1", "<val.h>",
     "later/val.h=2"},
    {"quoted, then in the working folder", true, "second/val.h=1", "'val.h'", "cwd/val.h=2"},
    {"angled, then in the working folder", false, "second/val.h=1", "<val.h>", "cwd/val.h=2"},
    {"quoted, then changed", true, "second/val.h=1", "'val.h'", "second/val.h=2"},
    {"quoted, then gone", true, "second/val.h=1;third/val.h=2", "'val.h'", "second/val.h=gone"},
    {"angled and quoted, then in the working folder", true, "second/val.h=once", "<val.h> 'val.h'",
     "cwd/val.h=over"},
    {"quoted and angled, then in the working folder", true, "second/val.h=once", "'val.h' <val.h>",
     "cwd/val.h=2"},
    {"not reached, then there", false, "second/val.h=1", "dead:'no.h' 'val.h'", "cwd/no.h=2"},

    {"a named program, then beside it", true, "second/val.h=1", "'val.h'", "name/val.h=2", named},
    {"a named program, then in the working folder", false, "second/val.h=1", "'val.h'",
     "cwd/val.h=2", named},
    {"a named program, then in an earlier folder", true, "second/val.h=1", "'val.h'",
     "first/val.h=2", named},
    {"a named program, angled, then beside it", false, "second/val.h=1", "<val.h>", "name/val.h=2",
     named},

    {"nested and beside, then in an earlier folder", false, "second/outer.h='val.h';second/val.h=1",
     "<outer.h>", "first/val.h=2"},
    {"nested, then beside", true, "first/outer.h='val.h';second/val.h=1", "<outer.h>",
     "first/val.h=2"},
    {"nested in a folder, then beside", true, "second/nest/outer.h='val.h';second/val.h=1",
     "<nest/outer.h>", "second/nest/val.h=2"},
    {"nested in a folder, then in an earlier folder", true,
     "second/nest/outer.h='val.h';second/val.h=1", "'nest/outer.h'", "first/val.h=2"},
    {"nested in a folder, then beside the program", false,
     "second/nest/outer.h='val.h';second/val.h=1", "'nest/outer.h'", "cwd/val.h=2"},
    {"nested and angled, then in an earlier folder", true,
     "second/nest/outer.h=<val.h>;second/val.h=1", "'nest/outer.h'", "first/val.h=2"},
    {"nested and angled, then beside", false, "second/nest/outer.h=<val.h>;second/val.h=1",
     "'nest/outer.h'", "second/nest/val.h=2"},
    {"the outer one, then in a folder that was not there", true,
     "second/nest/outer.h='val.h';second/val.h=1", "'nest/outer.h'", "first/nest/outer.h=2"},
    {"nested, from the folder above", true, "second/nest/outer.h='../val.h';val.h=1",
     "'nest/outer.h'", "second/val.h=2"},

    {"from a text, then in an earlier folder", true, "second/val.h=1", "'text.h'", "first/val.h=2",
     "program.cu", "text.h='val.h'"},
    {"from a text, angled, then in an earlier folder", true, "second/val.h=1", "'text.h'",
     "first/val.h=2", "program.cu", "text.h=<val.h>"},
    {"from a text in a folder, then beside it", true, "second/val.h=1", "<lib/text.h>",
     "cwd/lib/val.h=2", "program.cu", "lib/text.h='val.h'"},
    {"from a text in a folder, then in the working folder", false, "second/val.h=1", "<lib/text.h>",
     "cwd/val.h=2", "program.cu", "lib/text.h='val.h'"},
    {"a text, then a file of its name", false, "", "'val.h'", "cwd/val.h=2", "program.cu",
     "val.h=1"},

    {"asked for by quotes, then in the working folder", true, "", "asks:'val.h'", "cwd/val.h=2"},
    {"asked for by quotes, then in a folder", true, "", "asks:'val.h'", "third/val.h=2"},
    {"asked for by a named program, then beside it", true, "", "asks:'val.h'", "name/val.h=2",
     named},
    {"asked for by <>, then in a folder", true, "", "asks:<val.h>", "second/val.h=2"},
    {"asked for by <>, then in the working folder", false, "", "asks:<val.h>", "cwd/val.h=2"},
    {"asked for and found, then gone", true, "second/val.h=1", "asks:<val.h>", "second/val.h=gone"},
    {"asked for and found, then a folder", true, "second/val.h=1", "asks:'val.h'",
     "second/val.h=gone;second/val.h=folder"},
    {"asked for where a folder is, then a file", true, "first/val.h=folder", "asks:'val.h'",
     "first/val.h=gone;first/val.h=2"},
    {"asked for in a header, then beside it", true, "second/outer.h=asks:'val.h'", "<outer.h>",
     "second/val.h=2"},
    {"asked for by a header's macro, then beside the program", true,
     "second/outer.h=defines_asks:'val.h'", "<outer.h> asks_by_macro", "cwd/val.h=2"},
    {"asked for the next, then there", true, "first/val.h=asks_next:<val.h>", "<val.h>",
     "third/val.h=2"},
    {"asked for the next by quotes, then there", true, "first/val.h=asks_next:'val.h'", "'val.h'",
     "second/val.h=2"},

    {"the next, angled, then between", true, "first/val.h=include_next:<val.h>;third/val.h=1",
     "<val.h>", "second/val.h=2"},
    {"the next, quoted, then between", true, "first/val.h=include_next:'val.h';third/val.h=1",
     "'val.h'", "second/val.h=2"},
    {"the next after the working folder, quoted", true,
     "cwd/val.h=include_next:'val.h';second/val.h=1", "'val.h'", "first/val.h=2"},
    {"the next after the working folder, angled", true,
     "cwd/val.h=include_next:<val.h>;second/val.h=1", "'val.h'", "first/val.h=2"},
    {"the next, in the program", true, "second/val.h=1", "include_next:'val.h'", "first/val.h=2"},
    {"the next, then in a folder before", true, "first/val.h=include_next:<val.h>;third/val.h=1",
     "<val.h>", "later/val.h=2"},

    {"a folder, then a file, quoted", true, "first/val.h=folder;second/val.h=1", "'val.h'",
     "first/val.h=gone;first/val.h=2"},
    {"a folder, then a file, angled", true, "first/val.h=folder;second/val.h=1", "<val.h>",
     "first/val.h=gone;first/val.h=2"},
    {"a folder beside, then a file", true, "cwd/val.h=folder;second/val.h=1", "'val.h'",
     "cwd/val.h=gone;cwd/val.h=2"},
    {"a file, then a folder", true, "second/val.h=1;third/val.h=2", "<val.h>",
     "second/val.h=gone;second/val.h=folder"},
    {"a file, then a folder with the header", true, "first/nest=1;second/nest/val.h=1",
     "<nest/val.h>", "first/nest=gone;first/nest/val.h=2"},
    {"a link to nothing, then to a header", true, "first/val.h=link;second/val.h=1", "'val.h'",
     "first/target=2"},

    {"by a macro, quoted, then in the working folder", true, "second/val.h=1", "macro:'val.h'",
     "cwd/val.h=2"},
    {"by a macro, angled, then in an earlier folder", true, "second/val.h=1", "macro:<val.h>",
     "first/val.h=2"},
    {"angled and by a macro, then in the working folder", true, "second/val.h=once",
     "<val.h> macro:'val.h'", "cwd/val.h=over"},
    {"beside and by a macro, then in an earlier folder", true,
     "second/outer.h='val.h';second/val.h=once", "<outer.h> macro:<val.h>", "first/val.h=over"},
    {"in two lines, then in the working folder", true, "second/val.h=once", "<val.h> split:'val.h'",
     "cwd/val.h=over"},
    {"by an option, then in the working folder", true, "second/val.h=1", "", "cwd/val.h=2", named,
     "", "--pre-include=val.h"},

    {"by a digraph, then in an earlier folder", true, "second/val.h=1", "digraph:'val.h'",
     "first/val.h=2"},

    {"without a suffix, then in an earlier folder", true, "second/val=1", "<val>", "first/val=2"},
    {"without a suffix, then with NVRTC's", true, "second/val=1", "<val>", "first/val.stdh=2"},
    {"without a suffix, quoted, then with NVRTC's", true, "second/val=1", "'val'",
     "cwd/val.stdh=2"},
    {"asked for without a suffix, then with NVRTC's", true, "", "asks:<val>", "third/val.stdh=2"},
    {"with NVRTC's suffix by a macro, then without", true, "second/val.stdh=1", "macro:<val>",
     "first/val=2"},

    {"a header of the library, then a file", true, "", "<cassert> once", "first/cassert=2"},
    {"a header of the library by a macro, then a file", true, "", "macro:<cassert> once",
     "first/cassert=2"},
    {"a file named as a header of the library, then changed", true, "cwd/cassert=1", "'cassert'",
     "cwd/cassert=2"},
};

/// The project of a scenario.
struct project {
  std::string root;
  const scenario& s;

  void take(const std::string& steps) const {
    std::istringstream in(steps);
    for (std::string step; std::getline(in, step, ';');) {
      const std::size_t equals = step.find('=');
      const std::string path = root + '/' + step.substr(0, equals), words = step.substr(equals + 1);
      if (words == "folder") {
        REQUIRE(::mkdir(path.c_str(), 0755) == 0);
      } else if (words == "gone") {
        REQUIRE(std::remove(path.c_str()) == 0);
      } else if (words == "link") {
        REQUIRE(::symlink("target", path.c_str()) == 0);
      } else {
        ::mkdir(path.substr(0, path.rfind('/')).c_str(), 0755);
        test::write_file(path, text_of(words));
      }
    }
  }

  /// The PTX, or that there is none.
  std::string answer(gpu::compile_cache& cache) const {
    REQUIRE(::chdir((root + "/cwd").c_str()) == 0);
    // Each is another program: no more than eight states of one are stored.
    gpu::program program(text_of(s.source) + "__device__ int x = V;  // " + root, s.name);
    const std::string header = s.header;
    const std::size_t equals = header.find('=');
    if (!header.empty())
      program.header(header.substr(0, equals), text_of(header.substr(equals + 1)));
    gpu::compile_options options{.architecture = gpu::architecture::compute(90), .cache = &cache};
    for (const char* folder : {"/later", "/first", "/second", "/third"}) {
      options.include_folders.push_back(gpu::text((root + folder).c_str()));
    }
    if (*s.option != '\0') options.extra.push_back(gpu::text(s.option));
    const auto made = gpu::compile(program, options);
    return made.has_value() ? made->ptx().c_str() : "no program";
  }
};

std::string project_folder(const std::string& root, std::size_t number) {
  return root + "/project" + std::to_string(number);
}

/// All answers.
std::vector<std::string> answers(const std::string& root, gpu::compile_cache& cache) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < std::size(scenarios); ++i) {
    found.push_back(project{project_folder(root, i), scenarios[i]}.answer(cache));
  }
  return found;
}

TEST_CASE("child: all scenarios of the cache's places", "[.child]") {
  const std::string root = std::getenv("GPU_CACHE_PLACES_ROOT");
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = root + "/cache"});
  std::string together;
  for (const std::string& answer : answers(root, cache)) together += answer + '\f';
  test::write_file(root + "/answers", together);
}

TEST_CASE("no place that the compiler could look at is left out", "[compiler][cache]") {
  const test::scoped_working_folder back;
  const test::temporary_folder folder;
  const std::string root = folder.path();
  for (std::size_t i = 0; i < std::size(scenarios); ++i) {
    for (const char* name : {"", "/cwd", "/name", "/first", "/second", "/third"}) {
      ::mkdir((project_folder(root, i) + name).c_str(), 0755);
    }
    project{project_folder(root, i), scenarios[i]}.take(scenarios[i].before);
  }
  gpu::compile_cache off({.use = gpu::cache_use::off});
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = root + "/cache"});
  const std::vector<std::string> before = answers(root, cache);
  for (std::size_t i = 0; i < std::size(scenarios); ++i) {
    project{project_folder(root, i), scenarios[i]}.take(scenarios[i].change);
  }
  const std::vector<std::string> right = answers(root, off), from_memory = answers(root, cache);
  // What was stored before the change is looked at first.
  cache.forget();
  const std::vector<std::string> from_disk = answers(root, cache);
  const auto child = test::run_child("child: all scenarios of the cache's places",
                                     {{"GPU_CACHE_PLACES_ROOT", root}});
  CHECK(child.succeeded());
  const std::string in_child = test::read_file(root + "/answers");
  std::size_t at = 0;
  for (std::size_t i = 0; i < std::size(scenarios); ++i) {
    INFO(scenarios[i].what);
    CHECK(before[i] != "no program");
    CHECK((right[i] != before[i]) == scenarios[i].matters);
    CHECK(from_memory[i] == right[i]);
    CHECK(from_disk[i] == right[i]);
    const std::size_t end = in_child.find('\f', at);
    CHECK(in_child.substr(at, end - at) == right[i]);
    at = end + 1;
  }
}

}}  // namespace cache_places_test
