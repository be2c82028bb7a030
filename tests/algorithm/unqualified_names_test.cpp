// The functions of algorithms and arrays, unqualified, where all of gpu and of std is visible.

#include "support/results.hpp"

#include <gpu/algorithm.hpp>
#include <gpu/array.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>

// IWYU pragma: begin_keep
#include <algorithm>
#include <any>
#include <complex>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <stack>
#include <valarray>
#include <vector>
// IWYU pragma: end_keep

namespace unqualified_names_test {

/// An operator and vectors for `solve`.
using matrix = gpu::csr_matrix<double>;

// Each line compiles only if the name is unambiguous and overload resolution takes gpu's function.
// std has classes called `array`, `slice` and `stack`, so these three have to be qualified. The
// elementwise functions of arrays are in tests/array/operators_test.cpp.
constexpr bool are_found(gpu::stream_ref stream, gpu::array<std::complex<double>, 2>& z,
                         gpu::array<double>& x, gpu::array<int>& i, const matrix& a) {
  using namespace std;
  using namespace gpu;
  static_assert(requires {
    sum(stream, z);
    sum(stream, z, z);
    sum<complex<double>>(stream, z);
    product(stream, z);
    product(stream, z, z);
    product<complex<double>>(stream, z);
    min(stream, x);
    min(stream, x, x);
    max(stream, x);
    max(stream, x, x);
    minmax(stream, x);
    minmax(stream, x, x, x);
    argmin(stream, x);
    argmin(stream, x, i);
    argmax(stream, x);
    argmax(stream, x, i);
    count(stream, z);
    count(stream, z, i);
    count(stream, x, 1.0);
    count(stream, x, 1.0, i);
    any_of(stream, z);
    any_of(stream, z, i);
    all_of(stream, z);
    all_of(stream, z, i);
    dot(stream, z, z);
    vdot(stream, z, z);
    dot(stream, z, z, z);
    vdot(stream, z, z, z);
    norm(stream, z);
    norm(stream, z, x);
    norm<double>(stream, z);
    mean(stream, z);
    mean(stream, z, z);
    variance(stream, z);
    variance(stream, z, x);
    standard_deviation(stream, z);
    standard_deviation(stream, z, x);
    mean_variance(stream, z);
    mean_variance(stream, z, z, x);
    subset_sum(stream, z, i);
    subset_dot(stream, z, z, i);
    subset_min(stream, x, i);
    subset_max(stream, x, i);
  });
  static_assert(requires {
    sum(z);
    sum(z, axis<0>);
    sum<complex<double>>(z, axis<0>, keep_dims);
    product(z, axis<0, 1>);
    min(x);
    min(x, axis<0>, keep_dims);
    max(x, axis<0>);
    argmin(x, axis<0>);
    argmax(x, axes{0}, keep_dims);
    mean(z, axis<-1>);
    variance(z, axis<0>, variance_options{1});
    standard_deviation(z);
    norm(z);
    norm(z, axis<0>);
    any_of(z, axis<0>, keep_dims);
    all_of(z, axis<0>);
    count(z, axis<0>, keep_dims);
    dot(z, z);
    dot(x, x, axis<0>);
    vdot(z, z, axis<0>);
    nan_sum(z, axis<0>);
    nan_argmax(x);
  });
  static_assert(requires {
    inclusive_scan(stream, z, z);
    inclusive_scan(stream, z, z, "a + b");
    exclusive_scan(stream, z, z);
    exclusive_scan(stream, z, z, complex<double>(1), "a * b");
    select(stream, z, i, z);
    select(stream, z, i, z, i);
    partition(stream, z, i, z);
    partition(stream, z, i, z, i);
    unique(stream, x, x);
    unique(stream, x, x, i);
    run_length(stream, x, x, i);
    run_length(stream, x, x, i, i);
    reduce_by_key(stream, i, z, i, z);
    reduce_by_key(stream, i, z, i, z, i);
    sort(stream, x);
    sort_pairs(stream, x, z);
    argsort(stream, x, i);
    sort_segments(stream, x, i);
    sort_segments_pairs(stream, x, z, i);
    top_k(stream, x, x, i);
    search_sorted(stream, x, x, i);
    gather(stream, z, i, z);
    scatter(stream, z, i, z);
    check_indices(stream, i, 5);
    histogram(stream, x, 0.0, 1.0, i);
    histogram(stream, x, x, i);
    bincount(stream, i, i);
    bincount(stream, i, z, z);
    bincount_length(stream, i);
    solve(stream, a, x, x);
    solve(stream, a, identity_operator<double>(5), x, x);
  });
  static_assert(requires {
    empty<double>(stream, shape{2, 3});
    zeros<double>(stream, shape{2, 3});
    ones<double>(stream, shape{2, 3});
    full<double>(stream, shape{2, 3}, 5.0);
    empty_like(stream, z);
    zeros_like(stream, z);
    ones_like(stream, z);
    full_like(stream, x, 5.0);
    arange(stream, 5);
    arange(stream, 0.0, 5.0);
    eye<double>(stream, 4);
    indices(stream, shape<1>{5});
    linspace<double>(stream, 0, 1, 5);
    logspace<double>(stream, 0, 1, 5);
    from_function<double>(stream, shape<1>{5}, "i");
    assign(stream, z, z);
    assign(stream, x, 1.0);
    evaluate(stream, z);
    item(stream, x(0));
    transpose(z);
    permute_axes(z, 1, 0);
    move_axis(z, 0, 1);
    swap_axes(z, 0, 1);
    reverse(z, 0);
    expand_dims(z, 0);
    squeeze(z, 0);
    diagonal(z);
    real(z);
    imag(z);
    view_as<double>(x);
    broadcast_to(x, shape{2, 5});
    ravel(z);
    reshape(z, 3, -1);
    sliding_windows(x, 3, 0);
    z(all(), gpu::slice(0, 2));
    z(ellipsis(), new_axis());
    z(gpu::slice(to_end, before_start, -1));
  });
  static_assert(requires {
    into(x, x);
    array_equal(stream, x, x);
    allclose(stream, x, x);
    cast<float>(x);
    scalar<float>(1);
    concatenate(stream, 0, x, x);
    gpu::stack(stream, 0, x, x);
    split<2>(x);
    meshgrid(x, x);
    cumulative_sum(stream, x, 0);
    cumulative_product(stream, x, 0);
    diff(stream, x);
    cumulative_min(stream, x, 0);
    cumulative_max(stream, x, 0);
    index_along(shape<1>{5}, 0);
    matmul(stream, z, z);
    outer(stream, x, x);
    trace(stream, z);
    tril(stream, z);
    triu(stream, z);
    nonzero(stream, x);
    flat_nonzero(stream, x);
    argwhere(stream, x);
    extract(stream, i, x);
    median(stream, x);
    quantile(stream, x, 0.5);
    percentile(stream, x, 50);
    to_text(stream, x);
    repeat(stream, x, 2);
    roll(stream, x, 1);
    rot90(z);
    pad(stream, x, 1, 0.0);
    take(stream, x, i);
    sorted(stream, x);
    argsort(stream, x);
    top_k(stream, x, 2);
    unique_values(stream, x);
    unique_counts(stream, x);
    unique_inverse(stream, x);
    unique_all(stream, x);
  });
  return true;
}

TEST_CASE("names of algorithms and arrays stand beside those of std", "[algorithm][array]") {
  CHECK(&are_found != nullptr);  // compiling is the test
  using namespace std;
  using namespace gpu;
  const stream queue = test::value_of(stream::create(test::first_device()));
  const auto x = test::value_of(gpu::array<int>::from(queue, {3, 0, 2}));
  CHECK(test::value_of(any_of(queue, x)));
  CHECK_FALSE(test::value_of(all_of(queue, x)));
  CHECK(test::value_of(sum(queue, x)) == 5);
  CHECK(test::value_of(max(queue, x)) == 3);
  CHECK(test::value_of(count(queue, x, 0)) == 1);
}

}  // namespace unqualified_names_test
