// Damaged images are found before the driver is asked: every length of a cut cubin, and garbage.

#include <gpu/compiler.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/kernel/detail/image.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace image_test { namespace {

using gpu::detail::check_image;
using gpu::detail::image_kind;
using gpu::detail::kind_of_image;

gpu::result<> check(gpu::bytes_ref image) {
  return check_image(image, gpu::source_location::current());
}

std::string cubin() {
  const auto compiled = gpu::compile("extern \"C\" __global__ void f(int* x) { *x = 1; }",
                                     {.architecture = gpu::architecture::sm(90)});
  if (!compiled.has_value()) FAIL(compiled.error().message().c_str());
  return std::string(compiled->cubin().data(), compiled->cubin().size());
}

TEST_CASE("a whole cubin is accepted, and no part of it", "[kernel][image]") {
  const std::string whole = cubin();
  CHECK(kind_of_image(whole) == image_kind::cubin);
  CHECK(check(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = check(gpu::bytes_ref(whole.data(), size));
    REQUIRE_FALSE(cut.has_value());
    REQUIRE(cut.error() == gpu::errc::invalid_image);
    REQUIRE(cut.error().asked() == size);
  }
  const auto half = check(gpu::bytes_ref(whole.data(), whole.size() / 2));
  CHECK(half.error().details().contains("truncated"));
  CHECK(half.error().details().contains(std::to_string(whole.size()).c_str()));
}

TEST_CASE("flipped bits in a cubin never lead outside of it", "[kernel][image]") {
  const std::string whole = cubin();
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> damaged(whole.begin(), whole.end());
    for (int flips = 0; flips < 3; ++flips) {
      // Mostly in the header and the section table, where the offsets are.
      const std::size_t at = random() % (round % 2 == 0 ? 64 : damaged.size());
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    }
    const auto checked = check(damaged);
    if (!checked.has_value()) REQUIRE(checked.error() == gpu::errc::invalid_image);
  }
}

TEST_CASE("garbage is told from images", "[kernel][image]") {
  CHECK(check(gpu::bytes_ref()).error() == gpu::errc::invalid_image);
  CHECK(check("").error() == gpu::errc::invalid_image);
  CHECK(check("").error().details().contains(
      "the image has no bytes. Pass a complete cubin, fatbin or PTX."));
  CHECK(check("hello").error() == gpu::errc::invalid_image);
  CHECK(check("hello").error().details().contains(
      "the image of 5 bytes is not a cubin, a fatbin or PTX. Pass a complete cubin"));
  CHECK(check(gpu::bytes_ref(" \n.version 8.0", 2)).error().details().contains("is not a cubin"));
  CHECK(check(std::string(100, '\0')).error() == gpu::errc::invalid_image);
  CHECK(check("\177ELF").error() == gpu::errc::invalid_image);
  CHECK(check("\177ELF").error().details().contains("the cubin of 4 bytes"));
  // An ELF file of another machine: this one's.
  std::string elf(64, '\0');
  elf.replace(0, 5, "\177ELF\2");
  elf[18] = 62;
  CHECK(check(elf).error().details().contains("not CUDA's"));
}

TEST_CASE("PTX is known by its first character", "[kernel][image]") {
  CHECK(kind_of_image("// comment\n.version 8.0") == image_kind::ptx);
  CHECK(kind_of_image(" \r\n\t.version 8.0") == image_kind::ptx);
  CHECK(check(".version 8.0").has_value());
  CHECK(check(gpu::bytes_ref(".version 8.0\0\0x", 14)).has_value());
  const auto zero = check(std::string(".version\0 8.0", 13));
  REQUIRE_FALSE(zero.has_value());
  CHECK(zero.error().details().contains("zero byte at 8 of 13"));
}

TEST_CASE("a fatbin has the size that its header states", "[kernel][image]") {
  std::string fatbin(16 + 40, '\0');
  const std::uint32_t magic = 0xba55ed50;
  const std::uint16_t version = 1, header = 16;
  const std::uint64_t size = 40;
  std::memcpy(fatbin.data(), &magic, 4);
  std::memcpy(fatbin.data() + 4, &version, 2);
  std::memcpy(fatbin.data() + 6, &header, 2);
  std::memcpy(fatbin.data() + 8, &size, 8);
  CHECK(kind_of_image(fatbin) == image_kind::fatbin);
  CHECK(check(fatbin).has_value());
  for (std::size_t cut = 4; cut < fatbin.size(); ++cut) {
    const auto part = check(fatbin.substr(0, cut));
    REQUIRE_FALSE(part.has_value());
    CHECK(part.error() == gpu::errc::invalid_image);
    CHECK(part.error().details().contains("the fatbin "));
  }
  const std::uint64_t huge = ~std::uint64_t{0};
  std::memcpy(fatbin.data() + 8, &huge, 8);
  CHECK(check(fatbin).error().details().contains("truncated"));
}

}}  // namespace image_test
