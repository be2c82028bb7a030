// The directives that are found in a source; what NVRTC makes of them is in cache_headers_test.cpp.

#include <gpu/compiler/nvrtc/include_scan.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace include_scan_test { namespace {

struct scanned {
  std::vector<std::string> names;  // with their brackets, sorted
  bool followed = false;           // all questions are spelled out
  bool spelled = false;            // and all inclusions
  bool all_folders = false;        // of the last
};

scanned scan(const std::string& source) {
  scanned found;
  const gpu::detail::include_scan scan(source);
  const auto outcome = scan.for_each([&](gpu::detail::include_name name) {
    const std::string text(name.name.data(), name.name.size());
    found.names.push_back(name.quoted ? '"' + text + '"' : '<' + text + '>');
    found.all_folders = name.all_folders;
  });
  found.followed = !outcome.asks_by_macro;
  found.spelled = !outcome.includes_by_macro;
  std::sort(found.names.begin(), found.names.end());
  return found;
}

using names = std::vector<std::string>;

TEST_CASE("all ways to write an inclusion are found", "[compiler][cache]") {
  CHECK(scan("#include <a.h>").names == names{"<a.h>"});
  CHECK(scan("#include \"a.h\"\n").names == names{"\"a.h\""});
  CHECK(scan("  #  include\t<sub/a.h> // why\n").names == names{"<sub/a.h>"});
  CHECK(scan("#include<a.h>\n#include\"b.h\"").names == names{"\"b.h\"", "<a.h>"});
  CHECK(scan("/* long\n */ # /* x */ include /* y */ <a.h>").names == names{"<a.h>"});
  CHECK(scan("#inc\\\nlude <a.h>").names == names{"<a.h>"});
  CHECK(scan("#\\\r\ninclude \\\n <a.h>").names == names{"<a.h>"});
  CHECK(scan("%:include <a.h>").names == names{"<a.h>"});
  CHECK(scan("#include_next <a.h>\n#import \"b.h\"").names == names{"\"b.h\"", "<a.h>"});
  CHECK(scan("#if 0\n#include <a.h>\n#endif").names == names{"<a.h>"});
}

TEST_CASE("what is no inclusion is not taken for one", "[compiler][cache]") {
  CHECK(scan("").names.empty());
  CHECK(scan("#").names.empty());
  CHECK(scan("#include").names.empty());
  CHECK(scan("#include <").names.empty());
  CHECK(scan("#include <a").names.empty());
  CHECK(scan("#include <a\n>").names.empty());
  CHECK(scan("#include \"\"").names.empty());
  CHECK(scan("#define X <a.h>\n#pragma once\n#included <b.h>").names.empty());
  CHECK(scan("# /* never closed").names.empty());
  CHECK(scan("#include MACRO").names.empty());
  CHECK(scan("#include MACRO").followed);
}

TEST_CASE("an inclusion that only the preprocessor can follow is told", "[compiler][cache]") {
  CHECK(scan("#include <a.h>\n#if __has_include(MACRO)").spelled);
  for (const char* source : {"#include MACRO", "%: include_next NAME(x)", "#include \"a\\\n.h\""}) {
    CAPTURE(source);
    CHECK_FALSE(scan(source).spelled);
  }
}

TEST_CASE("what looks behind the first place is told", "[compiler][cache]") {
  CHECK_FALSE(scan("#include <a.h>").all_folders);
  CHECK(scan("#include_next <a.h>").all_folders);
  CHECK(scan("#if __has_include(<a.h>)").all_folders);
  CHECK(scan("#if __has_include_next(\"a.h\")").all_folders);
}

TEST_CASE("questions for a header are found, and those that cannot be told", "[compiler][cache]") {
  CHECK(scan("#if __has_include(<a.h>)").names == names{"<a.h>"});
  CHECK(scan("#if __has_include ( \"a.h\" )").names == names{"\"a.h\""});
  CHECK(scan("#if __has_include_next(<a.h>)").names == names{"<a.h>"});
  CHECK(scan("#ifdef __has_include\n#if defined(__has_include)").followed);
  CHECK(scan("#define MY_HAS_INCLUDE(x) __has_include(x)\n#if MY_HAS_INCLUDE(<a.h>)").followed);
  CHECK(scan("#define MY_HAS_INCLUDE(x) __has_include(x)\n#if MY_HAS_INCLUDE(<a.h>)").names ==
        names{"<a.h>"});
  CHECK(scan("\t# define MY_HAS_INCLUDE(x) __has_include(x)").followed);
  CHECK_FALSE(scan("#define ASK(x) __has_include(x)\n#if ASK(<a.h>)").followed);
  CHECK_FALSE(scan("#define IS_THERE_A_HEADER(x) __has_include(x)").followed);
  CHECK_FALSE(scan("#define IS_THERE __has_include(NAME)").followed);
  CHECK(scan("#if HAS_INCLUDE_azAZ(<a.h>)").names == names{"<a.h>"});
  CHECK_FALSE(scan("#if __has_include(MACRO)").followed);
  CHECK_FALSE(scan("#if \\\n__has_include(MACRO)").followed);
}

TEST_CASE("macros that are different each time are found", "[compiler][cache]") {
  const auto reads_clock = [](const char* source) {
    return gpu::detail::include_scan(source).reads_clock();
  };
  CHECK(reads_clock("x = __TIME__;"));
  CHECK(reads_clock("__DATE__"));
  CHECK(reads_clock("puts(__TIMESTAMP__)"));
  CHECK_FALSE(reads_clock("__FILE__ __LINE__ __TIM__"));
}

}}  // namespace include_scan_test
