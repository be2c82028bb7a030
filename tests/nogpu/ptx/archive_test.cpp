#include <nogpu/ptx/archive.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host_objects.hpp"
#include "support/catch.hpp"

namespace archive_test { namespace {

namespace ptx = nogpu::ptx;
using namespace ptx_test;

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// "name=contents" for each file, or "damaged".
std::vector<std::string> files_of(const std::string& archive) {
  std::vector<ptx::archive_member> members;
  if (!ptx::read_archive(bytes_of(archive), members)) return {"damaged"};
  std::vector<std::string> files;
  for (const auto& each : members) files.push_back(each.name + "=" + text_of(each.contents));
  return files;
}

TEST_CASE("files of archives have their names and contents", "[ptx]") {
  using list = std::vector<std::string>;
  const std::string all = archive_of({{"a.o", "odd"}, {"a_name_of_many_letters.o", "even"}});
  CHECK(files_of(all) == list{"a.o=odd", "a_name_of_many_letters.o=even"});
  CHECK(files_of(all + std::string(64, '\0')) == list{"a.o=odd", "a_name_of_many_letters.o=even"});
  CHECK(files_of("!<arch>\n").empty());
  const std::string bsd =
      "!<arch>\n" + member_of("#1/20", std::string("__.SYMDEF SORTED\0\0\0\0table", 25)) +
      member_of("#1/8", std::string("b.o\0\0\0\0\0", 8) + "it") + member_of("c.o", "c");
  CHECK(files_of(bsd) == list{"b.o=it", "c.o=c"});
  CHECK(files_of("!<thin>\n") == list{"damaged"});
  CHECK(files_of("") == list{"damaged"});
  CHECK(files_of("!<arch>\n" + member_of("/7", "no such name")) == list{"damaged"});
  // Cut off anywhere but between two files, it is damaged; no damaged byte does harm.
  std::size_t whole = 0;
  for (std::size_t size = 0; size < all.size(); ++size)
    whole += files_of(all.substr(0, size)) != list{"damaged"} ? 1 : 0;
  CHECK(whole <= 6);
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::string damaged = all;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    (void)files_of(damaged);
  }
}

TEST_CASE("the fat binaries of an object are found in its sections", "[ptx]") {
  const std::string one = fatbin_of("// one"), two = fatbin_of("// two", true, 80),
                    code = fatbin_of("code", false);
  const auto texts = [](const std::string& object) {
    std::vector<std::string> found;
    for (const auto& each : ptx::texts_of_object(bytes_of(object), 90))
      found.push_back(each ? each.text : each.error->text);
    return found;
  };
  using list = std::vector<std::string>;
  const std::string object = object_of({{".text", "host"}, {"__nv_relfatbin", one + two}});
  CHECK(texts(object) == list{"// one", "// two"});
  CHECK(texts(object_of({{".nv_fatbin", two + std::string(16, '\0') + one}})) ==
        list{"// two", "// one"});
  CHECK(texts(object_of({{".text", "host"}})).empty());
  CHECK(texts(one) == list{"// one"});
  REQUIRE(texts(object_of({{"__nv_relfatbin", code}})).size() == 1);
  CHECK(texts(object_of({{"__nv_relfatbin", code}}))[0].find("code=compute_90") !=
        std::string::npos);
  CHECK(texts("neither of the two kinds") == list{"this is not an object file with GPU code"});
  CHECK(texts("short") == list{"this is not an object file with GPU code"});
  const list damaged{"this object file is truncated or damaged"};
  CHECK(texts(object.substr(0, object.size() - 1)) == damaged);
  CHECK(texts(object_of({{"__nv_relfatbin", one.substr(0, one.size() - 1)}})) == damaged);
  std::string endless = one;  // whose size overflows to 0
  endless.replace(8, 8, std::string("\xf0\xff\xff\xff\xff\xff\xff\xff", 8));
  REQUIRE(ptx::fatbin_size(endless.data()) == 0);
  CHECK(texts(object_of({{"__nv_relfatbin", endless}})) == damaged);
  for (std::size_t at = 0; at < object.size(); ++at) {
    std::string changed = object;
    changed[at] = static_cast<char>(changed[at] ^ 0x5a);
    (void)texts(changed);
  }
}

}}  // namespace archive_test
