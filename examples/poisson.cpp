// Solves Poisson's equation on a square by conjugate gradients: the temperature of a plate whose
// rim is kept at 0, with two hot spots and a cold one. Prints how the residual falls, and writes
// the solution as a picture.

#include <gpu/gpu.hpp>
#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct solution {
  std::vector<double> values;
  std::vector<double> residuals;
  double goal = 0;
};

// The matrix of the 5-point stencil: 4 on the diagonal, -1 for each neighbor.
gpu::result<gpu::csr_matrix<double>> make_matrix(gpu::stream_ref stream, int side) {
  std::vector<int> rows, columns;
  std::vector<double> values;
  const auto add = [&](int row, int column, double value) {
    rows.push_back(row);
    columns.push_back(column);
    values.push_back(value);
  };
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int own = y * side + x;
      add(own, own, 4);
      if (x > 0) add(own, own - 1, -1);
      if (x + 1 < side) add(own, own + 1, -1);
      if (y > 0) add(own, own - side, -1);
      if (y + 1 < side) add(own, own + side, -1);
    }
  }
  const auto n = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  return gpu::csr_matrix<double>::from_triplets(stream, {n, n}, rows, columns, values);
}

std::vector<double> make_heat(int side) {
  std::vector<double> heat;
  const auto spot = [&](int x, int y, double at_x, double at_y) {
    const double dx = (x + 0.5) / side - at_x, dy = (y + 0.5) / side - at_y;
    return std::exp(-200 * (dx * dx + dy * dy));
  };
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      heat.push_back(spot(x, y, 0.3, 0.35) + spot(x, y, 0.7, 0.6) - spot(x, y, 0.35, 0.75));
    }
  }
  return heat;
}

gpu::result<solution> solve(int side, double tolerance) {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto matrix = GPU_TRY(make_matrix(stream, side));
  auto diagonal = GPU_TRY(matrix.diagonal(stream));
  auto jacobi = GPU_TRY(gpu::diagonal_operator<double>::inverse_of(stream, diagonal));

  solution found;
  found.values.resize(matrix.shape().rows);
  auto b = GPU_TRY(gpu::device_buffer<double>::create(device, found.values.size()));
  auto x = GPU_TRY(gpu::device_buffer<double>::create(device, found.values.size()));
  GPU_TRY(gpu::copy(make_heat(side), b));
  GPU_TRY(gpu::copy(found.values, x));  // the guess is 0

  using solver_type =
      gpu::conjugate_gradient<gpu::csr_matrix<double>, gpu::diagonal_operator<double>>;
  auto solver = GPU_TRY(solver_type::create(stream, matrix, jacobi));
  GPU_TRY(solver.reset(b, x,
                       {.relative_tolerance = tolerance,
                        .most_iterations = 20 * static_cast<std::size_t>(side) + 100}));
  const gpu::conjugate_gradient_progress done = GPU_TRY(solver.run());
  GPU_TRY(gpu::copy(x, found.values));
  found.residuals.assign(solver.residuals().begin(), solver.residuals().end());
  found.goal = done.goal;
  return found;
}

// A bar for every few iterations, on a logarithmic scale.
void print_history(const solution& of) {
  const std::size_t last = of.residuals.size() - 1, step = last / 16 + 1;
  // One below a tenth of the goal, such as 0, counts as that.
  const auto height_of = [&](std::size_t k) {
    return std::log10(std::max(of.residuals[k], of.goal / 10));
  };
  const double first = height_of(0), lowest = height_of(last);
  for (std::size_t k = 0; k <= last; k = k == last ? last + 1 : std::min(k + step, last)) {
    const double height = (height_of(k) - lowest) / std::max(first - lowest, 1e-9);
    const auto length = static_cast<std::size_t>(50 * std::clamp(height, 0.0, 1.0)) + 1;
    std::printf("%6zu %10.3e %s\n", k, of.residuals[k], std::string(length, '#').c_str());
  }
}

// A color for a value from -1 to 1: blue, white in the middle, red.
void color_of(double value, unsigned char* rgb) {
  const auto part = [](double x) {
    return static_cast<unsigned char>(255 * std::clamp(x, 0.0, 1.0));
  };
  rgb[0] = part(1 + value);
  rgb[1] = part(1 - std::fabs(value));
  rgb[2] = part(1 - value);
}

bool write_picture(const char* name, int side, const std::vector<double>& values) {
  double largest = 1e-300;
  for (const double each : values) largest = std::max(largest, std::fabs(each));
  std::vector<unsigned char> pixels(3 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) color_of(values[i] / largest, &pixels[3 * i]);
  std::FILE* const file = std::fopen(name, "wb");
  if (file == nullptr) {
    std::perror(name);
    return false;
  }
  bool written = std::fprintf(file, "P6\n%d %d\n255\n", side, side) > 0 &&
                 std::fwrite(pixels.data(), 1, pixels.size(), file) == pixels.size();
  written = std::fclose(file) == 0 && written;
  if (!written) std::perror(name);
  return written;
}

int main(int count, char** arguments) {
  long side = 48;
  double tolerance = 1e-8;
  bool valid = count <= 4;
  char* end = nullptr;
  if (count > 1) {
    side = std::strtol(arguments[1], &end, 10);
    valid = valid && end != arguments[1] && *end == '\0' && side >= 1 && side <= 10'000;
  }
  if (count > 2) {
    tolerance = std::strtod(arguments[2], &end);
    valid = valid && end != arguments[2] && *end == '\0' && tolerance > 0 && tolerance < 1;
  }
  if (!valid) {
    std::fprintf(stderr,
                 "usage: %s [SIDE [TOLERANCE [PICTURE.ppm]]]\n"
                 "SIDE is from 1 to 10000 points, TOLERANCE between 0 and 1.\n",
                 arguments[0]);
    return 2;
  }
  gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::result<solution> found = solve(static_cast<int>(side), tolerance);
  if (!found) {
    std::fprintf(stderr, "%s\n", found.error().message().c_str());
    return 1;
  }
  print_history(*found);
  std::printf("%ld x %ld points, %zu iterations, residual %.3e of %.3e allowed\n", side, side,
              found->residuals.size() - 1, found->residuals.back(), found->goal);
  if (count > 3 && !write_picture(arguments[3], static_cast<int>(side), found->values)) return 1;
  if (std::fflush(stdout) != 0) {
    std::perror("standard output");
    return 1;
  }
  return 0;
}
