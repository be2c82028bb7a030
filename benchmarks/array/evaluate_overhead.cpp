// Host time of gpu::assign of an expression beyond the launch of the same kernel, in
// instructions, over a driver whose launches do nothing: a child process assigns, and this one
// steps through it and counts. Exits with 1 if an expression of three operands takes more than the
// limit.

#include <gpu/array.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include "../stepped_process.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace {

constexpr int calls = 2;

CUresult launch_nothing(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void**, void**) {
  return CUDA_SUCCESS;
}

struct row {
  const char* name;
  long limit;
};
constexpr row rows[] = {{"y = x", 1000},
                        {"y = 2 * x + y", 1000},
                        {"y = 2 * x + sin(x) * x - x / (x + 1)", 0},
                        {"matrix = matrix + row", 0}};

/// Does each piece of work several times, with a signal behind it.
gpu::result<> work(const gpu::stream& stream, gpu::array<float>& x, gpu::array<float>& y,
                   gpu::array<float, 2>& matrix) {
  const auto repeat = [&](auto assign) -> gpu::result<> {
    for (int i = 0; i < calls; ++i) GPU_TRY(assign());
    std::raise(SIGUSR1);
    return {};
  };
  GPU_TRY(repeat([&] { return gpu::result<>(); }));
  GPU_TRY(repeat([&] { return gpu::assign(stream, y, x); }));
  GPU_TRY(repeat([&] { return gpu::assign(stream, y, 2 * x + y); }));
  GPU_TRY(repeat([&] { return gpu::assign(stream, y, 2 * x + gpu::sin(x) * x - x / (x + 1)); }));
  return repeat([&] { return gpu::assign(stream, matrix, matrix + x); });
}

gpu::result<> be_counted() {
  static gpu::testing::cpu_driver cpu;
  static gpu::driver::entry_points table = cpu.entry_points();
  gpu::driver::use_entry_points(&table);
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto x = GPU_TRY(gpu::array<float>::from(stream, {1, 2, 3, 4}));
  auto y = GPU_TRY(gpu::array<float>::from(stream, {1, 2, 3, 4}));
  auto matrix = GPU_TRY((gpu::array<float, 2>::from(stream, {{1, 2, 3, 4}, {5, 6, 7, 8}})));
  table.launch_kernel = launch_nothing;
  std::signal(SIGUSR1, SIG_IGN);
  GPU_TRY(work(stream, x, y, matrix));
  benchmark::begin_counting();
  return work(stream, x, y, matrix);
}

}  // namespace

int main() {
  const std::vector<long> sections =
      benchmark::count_instructions(1 + std::size(rows), [] { return be_counted().has_value(); });
  if (sections.empty()) {
    std::printf("instructions: not counted, this system does not let a process step another\n");
    return 0;
  }
  std::printf("instructions of an assignment if the launch does nothing\n");
  bool within = true;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const long count = (sections[1 + i] - sections[0] + calls / 2) / calls;
    std::printf("  %-38s %ld", rows[i].name, count);
    if (rows[i].limit != 0) std::printf(" of %ld", rows[i].limit);
    std::printf("\n");
    within = within && (rows[i].limit == 0 || count <= rows[i].limit);
  }
  std::printf("  within the limits: %s\n", within ? "yes" : "NO");
  return within ? 0 : 1;
}
