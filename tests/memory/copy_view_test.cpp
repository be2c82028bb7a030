// Copies of contiguous views, and what is said of others.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory.hpp>

#include <vector>

namespace copy_view_test { namespace {

using algorithm_test::fixture;

TEST_CASE("contiguous views are copied to the host and back", "[memory][copy][copy_view]") {
  const fixture f;
  auto table = test::value_of(
      gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}));
  const auto rows = table(gpu::slice(1, 3));
  std::vector<int> found(6);
  test::value_of(gpu::copy(rows, found));
  CHECK(found == std::vector<int>{4, 5, 6, 7, 8, 9});

  auto pinned = test::value_of(gpu::pinned_vector<int>::create(f.device, 3));
  test::value_of(gpu::copy(f.stream, table(3), pinned));
  test::value_of(f.stream.synchronize());
  CHECK(std::vector<int>(pinned.begin(), pinned.end()) == std::vector<int>{10, 11, 12});

  test::value_of(gpu::copy(std::vector<int>{-1, -2, -3}, table(2)));
  test::value_of(gpu::copy(f.stream, table(2), table(0)));
  test::value_of(gpu::copy(f.stream, pinned, table(1)));
  CHECK(f.download(table) == std::vector<int>{-1, -2, -3, 10, 11, 12, -1, -2, -3, 10, 11, 12});

  const auto& constant = table;
  int one[1] = {};
  test::value_of(gpu::copy(constant(1, gpu::slice(2, 3)), one));
  CHECK(one[0] == 12);
  test::value_of(gpu::copy(constant(3, 0), one));  // rank 0
  CHECK(one[0] == 10);
  // What has one element, or none, has no strides that count.
  test::value_of(gpu::copy(table(gpu::slice(2, 3), gpu::slice(1, 2)), one));
  CHECK(one[0] == -2);
  test::value_of(gpu::copy(table(gpu::all(), gpu::slice(3, 3)), std::vector<int>()));
}

TEST_CASE("a view with strides is not copied as if it had none", "[memory][copy][copy_view]") {
  const fixture f;
  auto table = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  std::vector<int> host(2);
  for (const gpu::cuda_error& error :
       {test::error_of(gpu::copy(table(gpu::all(), 1), host)),
        test::error_of(
            gpu::copy(table(gpu::slice(gpu::to_end, gpu::before_start, -1), 0), host))}) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, "gpu::copy", "the source is a view whose elements are not contiguous",
                     "gpu::evaluate(stream, view)"));
  }
  CHECK(test::says(test::error_of(gpu::copy(host, table(gpu::all(), 1))),
                   "the destination is a view", "gpu::assign(stream, view, memory)"));
  std::vector<int> all(6);
  CHECK(test::says(test::error_of(gpu::copy(gpu::transpose(table), all)), "not contiguous"));
  CHECK(test::says(test::error_of(gpu::copy(table(5), all)), "gpu::copy", "the source",
                   "index 5 is out of range"));
  CHECK(test::says(test::error_of(gpu::copy(table(1), all)), "the source has 3 elements",
                   "the destination has 6"));
  CHECK(test::error_of(gpu::copy(gpu::stream_ref(), table(0), table(1))) ==
        gpu::errc::empty_handle);
}

}}  // namespace copy_view_test
