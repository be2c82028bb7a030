// Products of sizes, against those of numbers of 128 bits.

#include "support/catch.hpp"

#include <gpu/core/detail/size_product.hpp>

#include <cstddef>

namespace size_product_test { namespace {

using gpu::detail::saturated_product;

constexpr std::size_t most = ~std::size_t{0};

TEST_CASE("a product that a size_t cannot hold is the largest size_t", "[core][size_product]") {
  const std::size_t factors[] = {0,
                                 1,
                                 2,
                                 3,
                                 0xffff'ffff,
                                 std::size_t{1} << 32,
                                 (std::size_t{1} << 32) + 1,
                                 std::size_t{1} << 62,
                                 std::size_t{1} << 63,
                                 most - 1,
                                 most};
  __extension__ using wide = unsigned __int128;
  for (const std::size_t a : factors) {
    for (const std::size_t b : factors) {
      const wide exact = wide{a} * b;
      CHECK(saturated_product(a, b) == (exact > most ? most : static_cast<std::size_t>(exact)));
    }
  }
}

TEST_CASE("a product of extents is 0 if one is, wherever it stands", "[core][size_product]") {
  constexpr std::size_t large = std::size_t{1} << 40;
  const std::size_t first[] = {0, large, large}, last[] = {large, large, 0}, none[] = {3, 5, 7};
  CHECK(saturated_product(first, 3) == 0);
  CHECK(saturated_product(last, 3) == 0);
  CHECK(saturated_product(last, 2) == most);
  CHECK(saturated_product(none, 3) == 105);
  CHECK(saturated_product(none, 0) == 1);
}

TEST_CASE("the lowest number has an absolute value", "[core][size_product]") {
  CHECK(gpu::detail::magnitude(-5) == 5);
  CHECK(gpu::detail::magnitude(5) == 5);
  CHECK(gpu::detail::magnitude(static_cast<std::ptrdiff_t>(std::size_t{1} << 63)) == std::size_t{1}
                                                                                         << 63);
}

TEST_CASE("dense strides are those of C order, and 0 where memory has no such stride",
          "[core][size_product]") {
  std::ptrdiff_t strides[3] = {};
  const std::size_t some[] = {2, 3, 4}, large[] = {0, most, 2};
  gpu::detail::set_dense_strides(some, strides, 3);
  CHECK(strides[0] == 12);
  CHECK(strides[1] == 4);
  CHECK(strides[2] == 1);
  gpu::detail::set_dense_strides(large, strides, 3);
  CHECK(strides[0] == 0);
  CHECK(strides[1] == 2);
  CHECK(strides[2] == 1);
}

}}  // namespace size_product_test
