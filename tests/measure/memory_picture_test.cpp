#include <gpu/core/sequence.hpp>
#include <gpu/measure/memory_blocks.hpp>
#include <gpu/measure/memory_picture.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>

namespace memory_picture_test {

using gpu::caching_block;

std::size_t count(const std::string& whole, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1))
    ++found;
  return found;
}

TEST_CASE("the memory of an allocator is drawn segment by segment", "[measure][picture]") {
  gpu::sequence<caching_block> blocks;
  blocks.push_back({4096, 4096, 1024, 9, true});
  blocks.push_back({4096, 5120, 3072, 9, false});
  blocks.push_back({65536, 65536, 2048, 0, false});
  const std::string picture = to_svg(blocks);
  CHECK(picture.rfind("<svg xmlns=", 0) == 0);
  CHECK(count(picture, "</svg>\n") == 1);
  CHECK(count(picture, ">1 KiB of 6 KiB in use.") == 1);
  // 640 pixels are the 4,096 bytes of the largest segment.
  CHECK(count(picture,
              "<title>1 KiB in use from byte 0</title><rect x=\"60.00\" y=\"68\" "
              "width=\"160.00\"") == 1);
  CHECK(count(picture,
              "<title>3 KiB free from byte 1024</title><rect x=\"220.00\" y=\"68\" "
              "width=\"480.00\"") == 1);
  CHECK(count(picture,
              "<title>2 KiB free from byte 0</title><rect x=\"60.00\" y=\"46\" "
              "width=\"320.00\"") == 1);
  CHECK(count(picture, ">9</text>") == 1);
  CHECK(count(picture, ">any</text>") == 1);
  CHECK(count(picture, ">4 KiB, 25 % in use</text>") == 1);
  CHECK(count(picture, ">2 KiB, 0 % in use</text>") == 1);
}

TEST_CASE("an allocator without memory has an empty picture", "[measure][picture]") {
  const std::string picture = to_svg(gpu::sequence<caching_block>{});
  CHECK(count(picture, "0 bytes of 0 bytes in use") == 1);
  CHECK(count(picture, "<title>") == 0);
  CHECK(count(picture, "</svg>") == 1);
}

}  // namespace memory_picture_test
