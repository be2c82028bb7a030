// Views that share memory, against a count of every byte.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/sort.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace shared_elements_test {

using algorithm_test::fixture;
using gpu::detail::loop_operand;

loop_operand random_view(std::mt19937& random, int rank) {
  loop_operand made;
  made.rank = rank;
  made.contiguous = false;
  made.memory.count = 1;
  made.memory.address = 1000 + random() % 60;
  for (int axis = 0; axis < rank; ++axis) {
    made.extents[axis] = 1 + random() % 4;
    made.strides[axis] = static_cast<std::ptrdiff_t>(random() % 15) - 7;
    made.memory.count *= made.extents[axis];
  }
  return made;
}

/// The bytes of a view, each as often as elements have it.
std::multiset<std::uintptr_t> all_bytes(const loop_operand& view, std::size_t element_bytes) {
  std::multiset<std::uintptr_t> found;
  for (std::size_t i = 0; i < view.memory.count; ++i) {
    std::uintptr_t at = view.memory.address;
    std::size_t rest = i;
    for (int axis = view.rank; axis-- > 0; rest /= view.extents[axis]) {
      at += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(rest % view.extents[axis]) *
                                        view.strides[axis]) *
            element_bytes;
    }
    for (std::size_t byte = 0; byte < element_bytes; ++byte) found.insert(at + byte);
  }
  return found;
}

TEST_CASE("views that share bytes are found", "[algorithm][elementwise]") {
  std::mt19937 random(1);
  std::size_t wrong = 0, shared = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto a = random_view(random, 1 + static_cast<int>(random() % 3));
    const auto b = random_view(random, 1 + static_cast<int>(random() % 3));
    const std::size_t size = std::size_t{1} << random() % 3;
    const auto a_bytes = all_bytes(a, size), b_bytes = all_bytes(b, size);
    bool expected = false;
    for (const std::uintptr_t byte : a_bytes) expected = expected || b_bytes.count(byte) != 0;
    wrong += gpu::detail::share_bytes(a, size, b, size) != expected;
    shared += expected;
    const bool twice =
        std::set<std::uintptr_t>(a_bytes.begin(), a_bytes.end()).size() != a_bytes.size();
    wrong += gpu::detail::shares_within(a, size) != twice;
    // Of different sizes it may be said too often, but never too seldom.
    bool meets = false;
    const auto wide = all_bytes(b, 8);
    for (const std::uintptr_t byte : a_bytes) meets = meets || wide.count(byte) != 0;
    wrong += meets && !gpu::detail::share_bytes(a, size, b, 8);
  }
  CHECK(wrong == 0);
  CHECK(shared > 2000);
  CHECK(shared < 18'000);
}

TEST_CASE("parts of one matrix that have no element in common may be read and written",
          "[algorithm][elementwise]") {
  const fixture f;
  using matrix = gpu::array_view<int, 2>;
  const auto copy =
      test::value_of(gpu::elementwise<const int*, int*>::create("x, y", "y[i] = x[i]"));
  std::vector<int> host(20 * 30);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i);
  auto memory = f.upload(host);
  const auto at = memory.span().native();
  // The left half to the right half, even columns to odd ones, the rows in reverse.
  test::value_of(copy(f.stream, matrix::from_native(at, {20, 15}, {30, 1}),
                      matrix::from_native(at + 4 * 15, {20, 15}, {30, 1})));
  CHECK(f.download(memory)[19 * 30 + 29] == 19 * 30 + 14);
  test::value_of(copy(f.stream, matrix::from_native(at, {20, 15}, {30, 2}),
                      matrix::from_native(at + 4, {20, 15}, {30, 2})));
  test::value_of(copy(f.stream, matrix::from_native(at, {10, 30}, {30, 1}),
                      matrix::from_native(at + 4 * 19 * 30, {10, 30}, {-30, 1})));
  const auto refused =
      test::error_of(copy(f.stream, matrix::from_native(at, {11, 30}, {30, 1}),
                          matrix::from_native(at + 4 * 19 * 30, {11, 30}, {-30, 1})));
  CHECK(test::says(refused, "y is written and overlaps x"));
  const auto twice = test::error_of(copy(f.stream, matrix::from_native(at, {3, 4}, {4, 1}),
                                         matrix::from_native(at + 400, {3, 4}, {2, 1})));
  CHECK(test::says(twice, "several elements of its view are at one address"));
}

TEST_CASE("memory that a kernel could not read is refused", "[algorithm][elementwise]") {
  const fixture f;
  const auto look_up = test::value_of(
      gpu::elementwise<gpu::raw<const float*>, float*>::create("table, y", "y[i] = table[0]"));
  auto table = f.upload(std::vector<float>{1}), y = f.make<float>(10);
  const auto odd = gpu::device_span<float>::from_native(y.span().native() + 1, 5);
  const auto unaligned = test::error_of(look_up(f.stream, table, odd));
  CHECK(unaligned == gpu::errc::invalid_argument);
  CHECK(test::says(unaligned, "y begins at an address that is 1 more than a multiple of 4",
                   "aligned so"));
  CHECK(test::says(test::error_of(gpu::sort(f.stream, odd)), "gpu::sort", "keys begins"));
  const auto moved = std::move(table);
  const auto empty = test::error_of(look_up(f.stream, table, y));
  CHECK(empty == gpu::errc::empty_handle);
  CHECK(test::says(empty, "table"));
}

}  // namespace shared_elements_test
