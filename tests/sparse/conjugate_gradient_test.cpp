// Conjugate gradients against known solutions and residuals computed in double on the host.

#include "sparse/sparse_fixture.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace conjugate_gradient_test {

using sparse_test::exact;
using sparse_test::fixture;
using sparse_test::triplets;

/// The 5-point Laplacian of a square grid, with -1 + 0.5i on one side of the diagonal if complex.
template <class T> triplets<T> poisson(int side) {
  const auto n = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  triplets<T> made{n, n, {}, {}, {}};
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      const int own = i * side + j;
      made.add(own, own, sparse_test::number<T>(4.5, 0));
      const auto couple = [&](int other) {
        made.add(own, other, sparse_test::number<T>(-1, 0.25));
        made.add(other, own, sparse_test::number<T>(-1, -0.25));
      };
      if (i + 1 < side) couple(own + side);
      if (j + 1 < side) couple(own + 1);
    }
  }
  return made;
}

template <class T> gpu::csr_matrix<T> make_matrix(const fixture& f, const triplets<T>& of) {
  return test::value_of(gpu::csr_matrix<T>::from_triplets(f.stream, {of.rows, of.columns}, of.row,
                                                          of.column, of.value));
}

template <class T>
double residual_on_host(const triplets<T>& of, const std::vector<T>& x, const std::vector<T>& b) {
  const auto product = of.times(x);
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    sum += std::norm(sparse_test::as_exact(b[i]) - product[i]);
  return std::sqrt(sum);
}

template <class T> double norm_of(const std::vector<T>& b) {
  double sum = 0;
  for (const T& each : b) sum += std::norm(sparse_test::as_exact(each));
  return std::sqrt(sum);
}

TEMPLATE_TEST_CASE("conjugate gradients solve a system to the tolerance",
                   "[algorithm][conjugate_gradient]", float, double, std::complex<float>,
                   std::complex<double>) {
  const fixture f;
  const auto of = poisson<TestType>(12);
  const auto matrix = make_matrix(f, of);
  const auto host_b = sparse_test::random_vector<TestType>(of.rows, 4);
  const auto b = f.upload(host_b);
  auto x = f.upload(sparse_test::random_vector<TestType>(of.rows, 5));
  const auto done =
      test::value_of(gpu::solve(f.stream, matrix, b, x, {.relative_tolerance = 1e-5}));
  CHECK(done.converged);
  CHECK(done.iterations > 5);
  CHECK(done.iterations < 100);
  CHECK(done.residual <= done.goal);
  CHECK(std::fabs(done.goal / (1e-5 * norm_of(host_b)) - 1) < 1e-6);
  CHECK(residual_on_host(of, f.download(x), host_b) < 2e-5 * norm_of(host_b));
}

TEST_CASE("a preconditioner saves iterations", "[algorithm][conjugate_gradient]") {
  const fixture f;
  // Rows and columns scaled differently, which the diagonal undoes.
  auto of = poisson<double>(10);
  const auto scale = [](int i) { return 1.0 + 1000.0 * (i % 7); };
  for (std::size_t k = 0; k < of.row.size(); ++k)
    of.value[k] *= scale(of.row[k]) * scale(of.column[k]);
  const auto matrix = make_matrix(f, of);
  const auto host_b = sparse_test::random_vector<double>(of.rows, 4);
  const auto b = f.upload(host_b);
  auto x = f.upload(std::vector<double>(of.rows)), other = f.upload(std::vector<double>(of.rows));
  const auto diagonal = test::value_of(matrix.diagonal(f.stream));
  const auto jacobi =
      test::value_of(gpu::diagonal_operator<double>::inverse_of(f.stream, diagonal));
  const auto without = test::value_of(
      gpu::solve(f.stream, matrix, b, x, {.relative_tolerance = 1e-8, .most_iterations = 10'000}));
  const auto with =
      test::value_of(gpu::solve(f.stream, matrix, jacobi, b, other, {.relative_tolerance = 1e-8}));
  CHECK(2 * with.iterations < without.iterations);
  CHECK(residual_on_host(of, f.download(other), host_b) < 2e-8 * norm_of(host_b));
}

TEST_CASE("a solve can be watched, and has the same bits however it is run",
          "[algorithm][conjugate_gradient]") {
  const fixture f;
  const auto of = poisson<float>(9);
  const auto matrix = make_matrix(f, of);
  const auto host_b = sparse_test::random_vector<float>(of.rows, 6);
  const auto b = f.upload(host_b);
  auto x = f.upload(std::vector<float>(of.rows)), y = f.upload(std::vector<float>(of.rows));
  using solver = gpu::conjugate_gradient<gpu::csr_matrix<float>>;
  auto whole = test::value_of(solver::create(f.stream, matrix));
  test::value_of(whole.reset(b, x));
  const auto done = test::value_of(whole.run());
  const auto history = whole.residuals();
  REQUIRE(history.size() == done.iterations + 1);
  CHECK(std::fabs(history.front() / norm_of(host_b) - 1) < 1e-6);
  CHECK(history.back() == done.residual);
  for (std::size_t k = 0; k + 1 < history.size(); ++k) CHECK(history[k] > done.goal);

  // By single steps, and more of them than are needed.
  auto steps = test::value_of(solver::create(f.stream, matrix));
  test::value_of(steps.reset(b, y));
  for (std::size_t k = 0; k < done.iterations + 20; ++k) {
    test::value_of(steps.one_iteration());
    if (k == 2) {
      const auto now = test::value_of(steps.progress());
      CHECK(now.iterations == 3);
      CHECK(now.residual == history[3]);
      CHECK_FALSE(now.converged);
    }
  }
  const auto last = test::value_of(steps.progress());
  CHECK(last.converged);
  CHECK(last.iterations == done.iterations);
  CHECK(steps.residuals() == history);
  const auto first = f.download(x), second = f.download(y);
  CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) == 0);

  // A state is used again.
  test::value_of(gpu::fill(f.stream, x, 0.0f));
  test::value_of(whole.reset(b, x, {.relative_tolerance = 1e-2}));
  CHECK(test::value_of(whole.run()).iterations < done.iterations);
  CHECK(whole.residuals().back() <= 1e-2 * norm_of(host_b) * 1.001);
}

TEST_CASE("zero right-hand sides and exact guesses take no iteration",
          "[algorithm][conjugate_gradient]") {
  const fixture f;
  const auto matrix = make_matrix(f, triplets<double>{2, 2, {0, 1}, {0, 1}, {2, 4}});
  const auto solve = [&](std::vector<double> b, std::vector<double> guess) {
    const auto right = f.upload(b);
    auto x = f.upload(guess);
    const auto done = test::value_of(gpu::solve(f.stream, matrix, right, x));
    return std::pair(done, f.download(x));
  };
  const auto [zero, of_zero] = solve({0, 0}, {0, 0});
  CHECK(zero.converged);
  CHECK(zero.iterations == 0);
  CHECK(zero.residual == 0);
  CHECK(of_zero == std::vector<double>{0, 0});
  const auto [known, of_known] = solve({2, 8}, {1, 2});
  CHECK(known.iterations == 0);
  CHECK(of_known == std::vector<double>{1, 2});
  const auto [to_zero, of_guess] = solve({0, 0}, {5, -3});
  CHECK(to_zero.converged);
  CHECK(to_zero.iterations <= 2);
  CHECK(std::fabs(of_guess[0]) + std::fabs(of_guess[1]) < 1e-5);

  const auto empty = make_matrix(f, triplets<double>{0, 0, {}, {}, {}});
  auto none = f.make<double>(0), nothing = f.make<double>(0);
  CHECK(test::value_of(gpu::solve(f.stream, empty, none, nothing)).converged);
  const auto single = make_matrix(f, triplets<double>{1, 1, {0}, {0}, {8}});
  const auto b = f.upload(std::vector<double>{4});
  auto x = f.upload(std::vector<double>{0});
  CHECK(test::value_of(gpu::solve(f.stream, single, b, x)).iterations == 1);
  CHECK(f.download(x) == std::vector<double>{0.5});
}

TEST_CASE("a solve that does not converge says how far it came, and can go on",
          "[algorithm][conjugate_gradient]") {
  const fixture f;
  const auto of = poisson<double>(20);
  const auto matrix = make_matrix(f, of);
  const auto b = f.upload(sparse_test::random_vector<double>(of.rows, 7));
  auto x = f.upload(std::vector<double>(of.rows));
  using solver = gpu::conjugate_gradient<gpu::csr_matrix<double>>;
  auto state = test::value_of(solver::create(f.stream, matrix));
  test::value_of(state.reset(b, x, {.relative_tolerance = 1e-9, .most_iterations = 11}));
  const auto error = test::error_of(state.run());
  CHECK(error == gpu::errc::not_converged);
  CHECK(test::says(error, "gpu::conjugate_gradient::run", "after 11 iterations",
                   "most_iterations is 11", "run() again"));
  CHECK(state.residuals().size() == 12);
  std::size_t runs = 1;
  auto last = state.run();
  while (!last.has_value() && ++runs < 20) last = state.run();
  CHECK(test::value_of(last).converged);
  auto other = f.upload(std::vector<double>(of.rows));
  const auto whole =
      test::value_of(gpu::solve(f.stream, matrix, b, other, {.relative_tolerance = 1e-9}));
  CHECK(whole.iterations == last->iterations);
  CHECK(f.download(x) == f.download(other));
  test::value_of(state.reset(b, other, {.most_iterations = 0}));
  CHECK(test::value_of(state.run()).iterations == 0);  // the guess is good enough
}

TEST_CASE("a matrix that is not positive definite is found out",
          "[algorithm][conjugate_gradient]") {
  const fixture f;
  const auto b = f.upload(std::vector<double>{1, 2});
  auto x = f.upload(std::vector<double>{0, 0});
  const auto indefinite = make_matrix(f, triplets<double>{2, 2, {0, 1}, {0, 1}, {1, -3}});
  const auto error = test::error_of(gpu::solve(f.stream, indefinite, b, x));
  CHECK(error == gpu::errc::not_converged);
  CHECK(test::says(error, "after 0 iterations", "p A p is -11", "not positive definite"));
  CHECK(f.download(x) == std::vector<double>{0, 0});

  const auto fine = make_matrix(f, triplets<double>{2, 2, {0, 1}, {0, 1}, {1, 3}});
  const auto negative = f.upload(std::vector<double>{-1, -1});
  const auto bad = test::value_of(gpu::diagonal_operator<double>::create(f.stream, negative));
  const auto preconditioner = test::error_of(gpu::solve(f.stream, fine, bad, b, x));
  CHECK(preconditioner == gpu::errc::not_converged);
  CHECK(test::says(preconditioner, "the preconditioner is not symmetric positive definite"));

  for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto broken = f.upload(std::vector<double>{1, wrong});
    const auto not_finite = test::error_of(gpu::solve(f.stream, fine, broken, x));
    CHECK(not_finite == gpu::errc::not_converged);
    CHECK(test::says(not_finite, "not finite"));
  }
}

TEST_CASE("a right-hand side whose square is no double is not taken for zero",
          "[algorithm][conjugate_gradient]") {
  const fixture f;
  const auto matrix = make_matrix(f, triplets<double>{2, 2, {0, 1}, {0, 1}, {2, 4}});
  for (const double tiny : {1e-200, 1e-157, 5e-324}) {
    const auto b = f.upload(std::vector<double>{0, tiny});
    auto x = f.upload(std::vector<double>{0, 0});
    const auto error = test::error_of(gpu::solve(f.stream, matrix, b, x));
    CHECK(error == gpu::errc::not_converged);
    CHECK(test::says(error, "the right-hand side is below 2.2e-308", "a power of two"));
    CHECK(
        test::value_of(gpu::solve(f.stream, matrix, b, x, {.absolute_tolerance = 1e-9})).converged);
  }
  const auto numbers =
      make_matrix(f, triplets<std::complex<double>>{2, 2, {0, 1}, {0, 1}, {{2, 0}, {4, 0}}});
  const auto b = f.upload(std::vector<std::complex<double>>{{0, 1e-200}, {0, 0}});
  auto x = f.upload(std::vector<std::complex<double>>(2));
  CHECK(test::error_of(gpu::solve(f.stream, numbers, b, x)) == gpu::errc::not_converged);

  // The smallest that floats have is large enough as a double.
  const auto floats = make_matrix(f, triplets<float>{1, 1, {0}, {0}, {1}});
  const auto least = f.upload(std::vector<float>{1e-45f});
  auto solution = f.upload(std::vector<float>{0});
  test::value_of(gpu::solve(f.stream, floats, least, solution));
  CHECK(f.download(solution) == std::vector<float>{1e-45f});
}

TEST_CASE("a solver refuses what does not fit", "[algorithm][conjugate_gradient]") {
  const fixture f;
  using solver = gpu::conjugate_gradient<gpu::csr_matrix<float>>;
  const auto wide = make_matrix(f, triplets<float>{2, 3, {0}, {0}, {1}});
  const auto shape = test::error_of(solver::create(f.stream, wide));
  CHECK(shape == gpu::errc::invalid_argument);
  CHECK(test::says(shape, "2 x 3", "square matrix"));
  const auto matrix = make_matrix(f, triplets<float>{2, 2, {0, 1}, {0, 1}, {1, 1}});
  const gpu::identity_operator<float> large(5);
  const auto other = test::error_of(solver::create(f.stream, matrix, large));
  CHECK(other == gpu::errc::size_mismatch);
  CHECK(test::says(other, "the preconditioner is 5 x 5", "2 x 2"));
  auto state = test::value_of(solver::create(f.stream, matrix));
  CHECK(test::says(test::error_of(state.run()), "no solve was started", "Call reset"));
  CHECK(test::error_of(state.one_iteration()) == gpu::errc::invalid_argument);
  CHECK(test::error_of(state.progress()) == gpu::errc::invalid_argument);
  auto two = f.upload(std::vector<float>{0, 0}), b = f.upload(std::vector<float>{1, 1});
  auto three = f.make<float>(3);
  CHECK(test::says(test::error_of(state.reset(b, three)), "x has 3 elements", "2 columns"));
  CHECK(test::says(test::error_of(state.reset(three, two)), "b has 3 elements", "2 rows"));
  CHECK(test::says(test::error_of(state.reset(b, b)), "b and x overlap"));
  for (const double wrong : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto tolerance = test::error_of(state.reset(b, two, {.relative_tolerance = wrong}));
    CHECK(tolerance == gpu::errc::invalid_argument);
    CHECK(test::says(tolerance, "relative_tolerance is", "from 0 to 1e150"));
  }
  test::value_of(state.reset(b, two));
  auto moved = std::move(state);
  CHECK(test::error_of(state.run()) == gpu::errc::empty_handle);  // NOLINT
  CHECK(test::error_of(state.reset(b, two)) == gpu::errc::empty_handle);
  CHECK(test::value_of(moved.run()).iterations == 1);
}

TEST_CASE("each call of a solve may fail", "[algorithm][conjugate_gradient][cpu][thorough]") {
  const auto solve = [](std::size_t n, int iterations) -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    // Page-locked memory is freed in the current context.
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto b = GPU_TRY(gpu::device_buffer<float>::create(stream, n));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, n));
    GPU_TRY(gpu::fill(stream, b, 1.0f));
    GPU_TRY(gpu::fill(stream, x, 0.0f));
    const auto matrix = GPU_TRY(gpu::diagonal_operator<float>::create(stream, b));
    auto solver =
        GPU_TRY((gpu::conjugate_gradient<gpu::diagonal_operator<float>>::create(stream, matrix)));
    GPU_TRY(solver.reset(b, x));
    for (int k = 0; k < iterations; ++k) GPU_TRY(solver.one_iteration());
    static_cast<void>(GPU_TRY(solver.progress()));
    return stream.synchronize();
  };
  // One iteration makes the calls of all. The eighth sends numbers to the host, for which there
  // need be no elements.
  const std::pair<std::size_t, int> sizes[] = {{6, 1}, {0, 9}};
  for (const auto& size : sizes) {
    CAPTURE(size.first);
    const auto run = [&] { return solve(size.first, size.second); };
    for (int k = 0; k < 2; ++k) test::value_of(run());
    CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent", "cuCtxGetCurrent"}) == "");
  }
}

}  // namespace conjugate_gradient_test
