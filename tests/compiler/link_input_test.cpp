// Inputs of a link: recognized by their bytes, read from files, and refused by name where nothing
// can be made of it.

#include "compiler/cache_support.hpp"
#include "compiler/link_support.hpp"
#include "support/drivers.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/linked_program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel/module.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace link_input_test { namespace {

using test::compile;
using test::kernels;
using test::math;
using test::ptx_of;
using test::run;
using test::temporary_folder;
using test::value_of;
using test::write_file;

TEST_CASE("inputs that nothing can be made of are refused by name", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  const auto link = [&](const gpu::link_input& input) {
    return test::error_of(gpu::link({input}, {.architecture = target}));
  };
  const gpu::cuda_error none = test::error_of(gpu::link({}, {.architecture = target}));
  CHECK(none == gpu::errc::invalid_argument);
  CHECK(test::says(none, "nothing to link"));
  for (const char* garbage : {"", "hello", "\177EL"}) {
    const gpu::cuda_error error = link({garbage, "junk"});
    CHECK(error == gpu::errc::invalid_image);
    CHECK(test::says(error, "junk"));
  }
  const gpu::text cubin = compile(math, false, target).cubin();
  for (const std::size_t size : {std::size_t{4}, std::size_t{63}, std::size_t{1000}}) {
    const gpu::cuda_error error = link({gpu::bytes_ref(cubin.data(), size), "cut"});
    CHECK(error == gpu::errc::invalid_image);
    CHECK(test::says(error, "cut: "));
  }
  const gpu::compiled_program alone =
      value_of(gpu::compile("extern \"C\" __global__ void f() {}", {.architecture = target}));
  const gpu::cuda_error executable = link({alone.cubin(), "finished"});
  CHECK(executable == gpu::errc::link_failed);
  CHECK(test::says(executable, "finished is machine code that cannot be linked again"));
  CHECK(gpu::link({alone}, {.architecture = target}).has_value());  // its PTX is linked
  CHECK(link({gpu::compiled_program(), "moved"}) == gpu::errc::empty_handle);
  const gpu::cuda_error broken =
      link({".version 8.0\n.target sm_80\n.address_size 64\n.entry f() { add.no %r; }", "broken"});
  CHECK(broken.domain() == gpu::error_domain::nvjitlink);
  CHECK(test::says(broken, "PTX_COMPILE", "broken"));
}

TEST_CASE("inputs are told apart by how they begin", "[compiler][link]") {
  using kind = gpu::link_input_kind;
  const auto target = gpu::architecture::sm(90);
  CHECK(gpu::link_input(compile(math, false, target)).kind() == kind::program);
  CHECK(gpu::link_input(compile(math, false, target).cubin()).kind() == kind::cubin);
  CHECK(gpu::link_input(compile(math, true, target).lto_ir()).kind() == kind::lto_ir);
  CHECK(gpu::link_input(ptx_of(math)).kind() == kind::ptx);
  CHECK(gpu::link_input("!<arch>\nmember").kind() == kind::library);
  const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  CHECK(gpu::link_input(gpu::bytes_ref(fatbin, sizeof fatbin)).kind() == kind::fatbin);
  unsigned char object[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  object[18] = 62;  // x86-64
  CHECK(gpu::link_input(gpu::bytes_ref(object, sizeof object)).kind() == kind::object);
}

TEST_CASE("an input is read from a file", "[compiler][link]") {
  const temporary_folder folder;
  const std::string path = folder / "math.ptx";
  write_file(path, ptx_of(math).c_str());
  const gpu::link_input input = value_of(gpu::link_input::from_file(path.c_str()));
  std::remove(path.c_str());
  CHECK(input.name() == path.c_str());
  const gpu::linked_program linked = value_of(gpu::link({input, compile(kernels, false)}));
  CHECK(run(value_of(gpu::module::load(linked))) == 52);
  const gpu::cuda_error missing = test::error_of(gpu::link_input::from_file(path.c_str()));
  CHECK(missing == gpu::errc::file_error);
  CHECK(test::says(missing, path.c_str()));
}

TEST_CASE("fatbins, objects and archives of nvcc's are linked", "[compiler][link]") {
  const char* toolkit = std::getenv("CUDA_PATH");
  const std::string nvcc =
      std::string(toolkit != nullptr ? toolkit : "/usr/local/cuda") + "/bin/nvcc";
  if (::access(nvcc.c_str(), X_OK) != 0) {
    WARN("skipped: there is no " << nvcc);
    return;
  }
  const temporary_folder folder;
  write_file(folder / "math.cu", math);
  const auto make = [&](const std::string& options, const char* name) {
    REQUIRE(std::system((nvcc + " -arch=compute_80 " + options + " " + (folder / "math.cu") +
                         " -o " + (folder / name))
                            .c_str()) == 0);
    return value_of(gpu::link_input::from_file((folder / name).c_str()));
  };
  const gpu::link_input fatbin = make("-rdc=true -fatbin", "math.fatbin"),
                        object = make("-dc", "math.o");
  CHECK(fatbin.kind() == gpu::link_input_kind::fatbin);
  CHECK(object.kind() == gpu::link_input_kind::object);
  // An archive is its members, each after a line of text.
  const std::string member(object.image().data(), object.image().size());
  char line[61];
  std::snprintf(line, sizeof line, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", "math.o/", 0, 0, 0, "100644",
                member.size());
  write_file(folder / "math.a",
             "!<arch>\n" + std::string(line) + member + (member.size() % 2 != 0 ? "\n" : ""));
  const gpu::link_input archive = value_of(gpu::link_input::from_file((folder / "math.a").c_str()));
  CHECK(archive.kind() == gpu::link_input_kind::library);

  const auto target = gpu::architecture::sm(90);
  const gpu::link_input user(compile(kernels, false, target), "kernels");
  CHECK(test::error_of(gpu::link({user}, {.architecture = target})) == gpu::errc::link_failed);
  for (const gpu::link_input& input : {fatbin, object, archive}) {
    const gpu::linked_program linked = value_of(gpu::link({user, input}, {.architecture = target}));
    CHECK(linked.cubin().size() > 64);
    if (!test::on_hardware()) continue;  // a driver of another device can do nothing with it
    CHECK(run(value_of(gpu::module::load(linked))) == 52);
  }
}

}}  // namespace link_input_test
