// Draws a histogram of each distribution beside its exact density or probabilities, as an SVG file
// on the standard output. scripts/random-pictures runs it.

#include <gpu/random.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

constexpr std::size_t count = 1 << 16;
constexpr gpu::shape<1> all{count};

/// A picture: numbers, the range that is shown, in so many bars, and the density of real numbers or
/// the probability of integers.
struct panel {
  const char* title;
  double from, to;
  int bars;
  bool integers;
  std::function<double(double)> expected;
};

constexpr int width = 220, height = 120, columns = 3;

void draw(const panel& p, const std::vector<double>& x, int index) {
  std::vector<double> densities(static_cast<std::size_t>(p.bars));
  const double bar = (p.to - p.from) / p.bars;
  for (const double each : x) {
    const double place = std::floor((each - p.from) / bar);
    if (place >= 0 && place < p.bars)
      densities[static_cast<std::size_t>(place)] += 1 / bar / static_cast<double>(x.size());
  }
  double highest = 0;
  for (const double each : densities) highest = each > highest ? each : highest;
  const double scale = 95 / highest, wide = 200.0 / p.bars;
  std::printf("<g transform=\"translate(%d %d)\">\n<text y=\"-4\">%s</text>\n<path d=\"M0 100",
              index % columns * width + 12, index / columns * (height + 22) + 22, p.title);
  for (const double each : densities) std::printf("V%.1fh%.2f", 100 - each * scale, wide);
  std::printf("V100z\" class=\"b\"/>\n");
  if (p.integers) {
    for (int k = 0; k < p.bars; ++k) {
      std::printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\"/>\n", (k + 0.5) * wide,
                  100 - p.expected(p.from + (k + 0.5) * bar) * scale);
    }
  } else {
    for (int k = 0; k <= 50; ++k) {
      double y = 100 - p.expected(p.from + (p.to - p.from) * (k + 0.01) / 50.02) * scale;
      if (!(y > 0)) y = 0;
      std::printf("%s%d %.1f", k == 0 ? "<path d=\"M" : k == 1 ? "L" : " ", 4 * k, y);
    }
    std::printf("\" class=\"d\"/>\n");
  }
  std::printf("<text y=\"111\">%g</text><text x=\"200\" y=\"111\" class=\"e\">%g</text>\n</g>\n",
              p.integers ? p.from + 0.5 : p.from, p.integers ? p.to - 0.5 : p.to);
}

template <class Numbers>
gpu::result<std::vector<double>> values(const gpu::stream& stream, const Numbers& numbers) {
  const auto made = GPU_TRY(gpu::evaluate(stream, numbers));
  std::vector<typename Numbers::value_type> host(made.size());
  GPU_TRY(gpu::copy(made, host));
  return std::vector<double>(host.begin(), host.end());
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

gpu::result<> draw_all() {
  const auto stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
  gpu::philox engine(2024);
  const double pi = 3.14159265358979323846;
  std::printf(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" "
      "font-size=\"10\">\n<!-- made by scripts/random-pictures -->\n<style>.b{fill:#9ec5e8}"
      ".d{fill:none;stroke:#b03a2e}circle{fill:#b03a2e}.e{text-anchor:end}</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      columns * width + 4, 4 * (height + 22) + 4);
  int index = 0;
  const auto add = [&](const panel& p, const auto& numbers) -> gpu::result<> {
    draw(p, GPU_TRY(values(stream, numbers)), index++);
    return {};
  };
  GPU_TRY(add({"uniform, -1 to 1", -1.25, 1.25, 50, false,
               [](double x) { return std::abs(x) < 1 ? 0.5 : 0.0; }},
              gpu::uniform<float>(engine, all, -1, 1)));
  GPU_TRY(add({"uniform_integers, 1 to 6", 0.5, 6.5, 6, true, [](double) { return 1. / 6; }},
              gpu::uniform_integers<int>(engine, all, 1, 6)));
  GPU_TRY(add({"normal", -4, 4, 50, false,
               [&](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * pi); }},
              gpu::normal<float>(engine, all)));
  GPU_TRY(add({"log_normal, 0, 0.5", 0, 4, 50, false,
               [&](double x) {
                 return std::exp(-2 * std::log(x) * std::log(x)) / (0.5 * x * std::sqrt(2 * pi));
               }},
              gpu::log_normal<float>(engine, all, 0, 0.5)));
  GPU_TRY(add({"exponential", 0, 6, 50, false, [](double x) { return std::exp(-x); }},
              gpu::exponential<float>(engine, all)));
  GPU_TRY(
      add({"gamma, shape 3", 0, 12, 50, false, [](double x) { return x * x * std::exp(-x) / 2; }},
          gpu::gamma<float>(engine, all, 3)));
  GPU_TRY(add({"beta, 2, 5", 0, 1, 50, false, [](double x) { return 30 * x * std::pow(1 - x, 4); }},
              gpu::beta<float>(engine, all, 2, 5)));
  GPU_TRY(add({"poisson, mean 7.5", -0.5, 20.5, 21, true,
               [](double k) { return std::exp(k * std::log(7.5) - 7.5 - std::lgamma(k + 1)); }},
              gpu::poisson<int>(engine, all, 7.5)));
  GPU_TRY(add({"binomial, 20 trials, 0.3", -0.5, 15.5, 16, true,
               [](double k) {
                 return std::exp(log_choose(20, k) + k * std::log(0.3) + (20 - k) * std::log(0.7));
               }},
              gpu::binomial<int>(engine, all, 20, 0.3)));
  GPU_TRY(add({"bernoulli, 0.3", -0.5, 1.5, 2, true, [](double k) { return k > 0.5 ? 0.3 : 0.7; }},
              gpu::bernoulli<int>(engine, all, 0.3)));
  const double host[] = {4, 1, 3, 0, 2};
  const auto weights = GPU_TRY(gpu::discrete_weights::create(stream, host));
  GPU_TRY(add({"discrete, weights 4, 1, 3, 0, 2", -0.5, 4.5, 5, true,
               [&](double k) { return host[std::lround(k)] / 10; }},
              gpu::discrete<int>(engine, all, weights)));
  const auto points = GPU_TRY(values(stream, gpu::on_sphere<float>(engine, gpu::shape{count, 2})));
  draw({"on_sphere, a coordinate of points on a circle", -1, 1, 50, false,
        [&](double x) { return 1 / (pi * std::sqrt(1 - x * x)); }},
       points, index++);
  std::printf("</svg>\n");
  return {};
}

}  // namespace

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::result<> outcome = draw_all();
  if (outcome) return 0;
  std::fprintf(stderr, "%s\n", outcome.error().message().c_str());
  return 1;
}
