// Pictures of graphs, and what is said where one cannot be written.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/graph/graph_dot.hpp>
#include <gpu/graph/node_description.hpp>

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace graph_dot_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

TEST_CASE("graph: it can be drawn", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  value_of(f.graph.add(a, gpu::empty_node{}));
  const std::string path = "/tmp/gpu_graph_test_" + std::to_string(::getpid()) + ".dot";
  value_of(gpu::write_dot(f.graph, path.c_str()));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str().find("digraph") != std::string::npos);
  CHECK(text.str().find("->") != std::string::npos);
  std::remove(path.c_str());
  static unsigned told;
  gpu::driver::entry_points table = test::driver();
  table.graph_debug_dot_print = [](CUgraph, const char*, unsigned flags) {
    told = flags;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  using show = gpu::graph_dot_flags;
  value_of(gpu::write_dot(f.graph, "/dev/null", show::handles | show::kernel_node_attributes));
  CHECK(told ==
        (CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES | CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES));
  value_of(gpu::write_dot(f.graph, "/dev/null", show::conditional_node_params));
  const gpu::cuda_error error = error_of(gpu::write_dot(f.graph, "/dev/null", show{1u << 16}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::write_dot", "65536 has bits outside of gpu::graph_dot_flags"));
}

/// An empty folder, removed with what is in it by the name of `file`.
struct folder {
  std::string name = "/tmp/gpu_graph_dot_test_" + std::to_string(::getpid());
  std::string file = name + "/graph.dot";

  folder() { REQUIRE(::mkdir(name.c_str(), 0755) == 0); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::remove(file.c_str());
    ::rmdir(name.c_str());
  }
};

/// For its lifetime the process is nobody who may do everything, where it can be somebody else.
struct without_privileges {
  uid_t before = ::geteuid();
  bool done = before != 0 || ::seteuid(65534) == 0;

  without_privileges() = default;
  without_privileges(const without_privileges&) = delete;
  without_privileges& operator=(const without_privileges&) = delete;
  ~without_privileges() { static_cast<void>(::seteuid(before)); }
};

TEST_CASE("graph: a picture that cannot be written is refused before the driver is asked",
          "[graph][refusals]") {
  graph_fixture f;
  const folder in;
  const test::noted_calls<&gpu::driver::entry_points::graph_debug_dot_print> asked;
  const auto refused = [&](const char* path, auto... words) {
    const gpu::cuda_error error = error_of(gpu::write_dot(f.graph, path));
    CHECK(says(error, "gpu::write_dot", "graph_dot_test.cpp", words...));
    return error;
  };
  CHECK(refused(nullptr, "the path is null", "such as \"graph.dot\"") ==
        gpu::errc::invalid_argument);
  CHECK(refused("", "the path is empty", "such as \"graph.dot\"") == gpu::errc::invalid_argument);
  CHECK(refused("/no/such/graph.dot", "\"/no/such/graph.dot\" cannot be written",
                "its directory \"/no/such\" does not exist; create it, or pass another.") ==
        gpu::errc::file_error);
  CHECK(refused("no such folder/graph.dot", "its directory \"no such folder\" does not exist") ==
        gpu::errc::file_error);
  CHECK(refused((in.name + "/new/").c_str(), "/new\" does not exist") == gpu::errc::file_error);
  CHECK(refused(in.name.c_str(), in.name.c_str(),
                "is a directory; pass the name of a file in it.") == gpu::errc::file_error);
  CHECK(refused("/dev/null/graph.dot", "\"/dev/null/graph.dot\" cannot be written",
                "Not a directory", "name of another file") == gpu::errc::file_error);
  REQUIRE(::chmod(in.name.c_str(), 0555) == 0);
  {
    const without_privileges scope;
    if (scope.done) {
      CHECK(refused(in.file.c_str(), in.name.c_str(), "is not writable: Permission denied",
                    "pass a file in another directory") == gpu::errc::file_error);
    }
  }
  REQUIRE(::chmod(in.name.c_str(), 0755) == 0);
  std::ofstream(in.file) << "kept";
  REQUIRE(::chmod(in.file.c_str(), 0444) == 0);
  {
    const without_privileges scope;
    if (scope.done) {
      CHECK(refused(in.file.c_str(), in.file.c_str(), "cannot be written: Permission denied") ==
            gpu::errc::file_error);
    }
  }
  CHECK(asked.count() == 0);
  std::string text;
  std::ifstream(in.file) >> text;
  CHECK(text == "kept");
}

TEST_CASE("graph: a picture is written to a name, to a link and over a file", "[graph]") {
  graph_fixture f;
  const folder in;
  value_of(gpu::write_dot(f.graph, in.file.c_str()));
  value_of(gpu::write_dot(f.graph, in.file.c_str()));
  REQUIRE(std::remove(in.file.c_str()) == 0);
  const std::string link = in.name + "/link";
  REQUIRE(::symlink(in.file.c_str(), link.c_str()) == 0);
  value_of(gpu::write_dot(f.graph, link.c_str()));  // to what is not there yet
  CHECK(std::ifstream(in.file).good());
  REQUIRE(std::remove(in.file.c_str()) == 0);
  char before[4096];
  REQUIRE(::getcwd(before, sizeof before) != nullptr);
  REQUIRE(::chdir(in.name.c_str()) == 0);
  const auto here = gpu::write_dot(f.graph, "graph.dot");
  REQUIRE(::chdir(before) == 0);
  value_of(here);
  CHECK(std::ifstream(in.file).good());
  std::remove(link.c_str());
}

}  // namespace graph_dot_test
