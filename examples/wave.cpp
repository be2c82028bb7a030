// A wave on a square membrane that is fixed at its rim, with arrays alone: every step is one
// expression, which runs as one kernel, and steps are captured into a graph. Writes pictures of the
// membrane, and compares the speed and the result with a kernel that is written by hand.

#include <gpu/array.hpp>
#include <gpu/gpu.hpp>
#include <gpu/graph.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using field = gpu::array<float, 2>;

constexpr int steps_of_graph = 10;

// Waves go at half a cell in each step.
gpu::result<> step(gpu::stream_ref stream, const field& now, field& before) {
  const auto part = [&](int rows, int columns) {  // what lies so many rows and columns away
    return now(gpu::slice(1 + rows, rows == 1 ? gpu::to_end : rows - 1),
               gpu::slice(1 + columns, columns == 1 ? gpu::to_end : columns - 1));
  };
  const auto around = part(-1, 0) + part(1, 0) + part(0, -1) + part(0, 1);
  const auto inside = before(gpu::slice(1, -1), gpu::slice(1, -1));
  return gpu::assign(stream, inside,  // `before` becomes what comes next
                     gpu::named("wave", part(0, 0) + 0.25f * around - inside));
}

constexpr const char* by_hand = R"(
extern "C" __global__ void wave(const float* now, float* before, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const float around = now[i - n] + now[i + n] + now[i - 1] + now[i + 1];
  before[i] = __fsub_rn(__fadd_rn(now[i], __fmul_rn(0.25f, around)), before[i]);
})";

gpu::result<field> pluck(gpu::stream_ref stream, int n) {
  // Zero at the rim, with a bump at a third of each side.
  auto made = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{n, n}));
  const auto inside = made(gpu::slice(1, -1), gpu::slice(1, -1));
  const auto away = [&](int axis) {
    return gpu::cast<float>(gpu::index_along(inside.shape(), axis)) - static_cast<float>(n) / 3;
  };
  const float width = static_cast<float>(n) / 16;
  GPU_TRY(gpu::assign(stream, inside,
                      gpu::exp(-(gpu::square(away(0)) + gpu::square(away(1))) / (width * width))));
  return made;
}

/// Runs a graph of steps so many times and returns the cells that were updated in a second.
gpu::result<double> updates_per_second(gpu::stream_ref stream, gpu::graph_exec& steps, int times,
                                       double cells) {
  GPU_TRY(stream.synchronize());
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < times; ++k) GPU_TRY(gpu::launch(stream, steps));
  GPU_TRY(stream.synchronize());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return cells * times * steps_of_graph / took.count();
}

/// Captures steps, which `one_step(now, before)` queues.
template <class Step>
gpu::result<gpu::graph_exec> capture(gpu::stream_ref stream, field& a, field& b, Step one_step) {
  auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
  for (int k = 0; k < steps_of_graph; ++k) GPU_TRY(k % 2 == 0 ? one_step(a, b) : one_step(b, a));
  const gpu::graph steps = GPU_TRY(capture.end());
  return gpu::graph_exec::instantiate(steps);
}

gpu::result<> run(int n, int frames, const std::string& prefix) {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto now = GPU_TRY(pluck(stream, n)), before = GPU_TRY(gpu::evaluate(stream, now));
  // What the graph runs is compiled before the capture.
  GPU_TRY(step(stream, now, before));
  GPU_TRY(gpu::assign(stream, before, now));
  auto steps = GPU_TRY(
      capture(stream, now, before, [&](const field& a, field& b) { return step(stream, a, b); }));

  const gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(by_hand))));
  const auto kernel = GPU_TRY((code.kernel<const float*, float*, int>("wave")));
  auto other = GPU_TRY(gpu::evaluate(stream, now)), earlier = GPU_TRY(gpu::evaluate(stream, now));
  const auto columns = static_cast<unsigned>((n + 31) / 32),
             rows = static_cast<unsigned>((n + 7) / 8);
  auto other_steps = GPU_TRY(capture(stream, other, earlier, [&](const field& a, field& b) {
    return gpu::launch(stream, {{columns, rows}, {32, 8}}, kernel, a, b, n);
  }));

  for (int frame = 0; frame < frames; ++frame) {
    const double cells = static_cast<double>(n - 2) * (n - 2);
    const int times = n / 128 + 1;
    const double arrays = GPU_TRY(updates_per_second(stream, steps, times, cells));
    const double kernels = GPU_TRY(updates_per_second(stream, other_steps, times, cells));
    const std::string name = prefix + std::to_string(frame) + ".png";
    GPU_TRY(gpu::save_png(stream, now, name,
                          {.low = -0.5, .high = 0.5, .colors = gpu::color_map::blue_white_red}));
    std::printf("%s: %.3g cell updates per second, %.3g by the kernel by hand\n", name.c_str(),
                arrays, kernels);
  }
  const bool same = GPU_TRY(gpu::array_equal(stream, now, other));
  std::printf("%d x %d cells, the same as by hand: %s\n", n, n, same ? "yes" : "no");
  return {};
}

int main(int count, char** arguments) {
  const long n = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 4096;
  const long frames = count > 2 ? std::strtol(arguments[2], nullptr, 10) : 4;
  if (count > 4 || n < 8 || n > 32768 || frames < 1 || frames > 1000) {
    std::fprintf(stderr,
                 "usage: %s [CELLS [FRAMES [PREFIX]]]\n"
                 "CELLS along each side, from 8 to 32768; pictures are PREFIX0.png, ...\n",
                 arguments[0]);
    return 2;
  }
  gpu::testing::use_cpu_driver_if_no_gpu();
  return gpu::exit_status(
      run(static_cast<int>(n), static_cast<int>(frames), count > 3 ? arguments[3] : "wave_"));
}
