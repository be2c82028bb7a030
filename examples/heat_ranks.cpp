// The heat equation on a plate whose rows are divided among ranks, one for each device. In each
// step a rank exchanges the rows at its rim with its neighbors, by NCCL; the heat that is left is
// summed over all ranks. At the end rank 0 compares the plate with the same steps on the host.
//
//     heat_ranks [ranks [rows per rank [steps]]]    ranks are threads of this program; 0: one a
//     device mpirun -n 4 heat_ranks                        one rank in each process, where there
//     are GPUs
//
// Without a GPU the ranks are devices of the CPU driver, and a stand-in for NCCL moves the rows.

#include <gpu/algorithm/sum.hpp>
#include <gpu/array.hpp>
#include <gpu/gpu.hpp>
#include <gpu/interop/nccl.hpp>
#include <gpu/testing/cpu_driver.hpp>
#include <gpu/testing/nccl_stand_in.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

constexpr double pace = 0.2;  // of the diffusion, in grid points squared for each step

struct job {
  int ranks = 0;
  int rows = 16;   // of each rank
  int steps = 40;  // each exchanges the rims once
  int columns() const { return ranks * rows; }
};

// A hot spot in the upper left, at rows and columns of the whole plate.
double first_heat(const job& of, int row, int column) {
  const double side = of.columns();
  const double dx = (column + 0.5) / side - 0.3, dy = (row + 0.5) / side - 0.4;
  return std::exp(-30 * (dx * dx + dy * dy));
}

// The rows of a rank, between one row above and one below, which are its neighbors' or the rim.
std::vector<double> rows_of(const job& of, int first, int count) {
  std::vector<double> rows;
  for (int row = first - 1; row <= first + count; ++row) {
    const bool outside = row < 0 || row >= of.columns();
    for (int column = 0; column < of.columns(); ++column)
      rows.push_back(outside ? 0 : first_heat(of, row, column));
  }
  return rows;
}

gpu::result<> exchange_rims(gpu::nccl_communicator& comm, const gpu::stream& stream,
                            gpu::array<double, 2>& plate, int rows) {
  gpu::nccl_group group = GPU_TRY(gpu::nccl_group::begin());
  const int above = comm.rank() - 1, below = comm.rank() + 1;
  if (above >= 0) {
    GPU_TRY(comm.send(stream, plate(1), above));
    GPU_TRY(comm.receive(stream, plate(0), above));
  }
  if (below < comm.size()) {
    GPU_TRY(comm.send(stream, plate(rows), below));
    GPU_TRY(comm.receive(stream, plate(rows + 1), below));
  }
  return group.end();
}

// The heat of the whole plate, on every rank.
gpu::result<double> total_heat(gpu::nccl_communicator& comm, const gpu::stream& stream,
                               const gpu::array_view<double, 2>& own) {
  const std::vector<double> part{GPU_TRY(gpu::sum(stream, own))};
  auto total = GPU_TRY(gpu::array<double>::from(stream, part));
  GPU_TRY(comm.all_reduce(stream, total, gpu::nccl_operation::sum));
  std::vector<double> host(1);
  GPU_TRY(stream.synchronize());
  GPU_TRY(gpu::copy(total, host));
  return host[0];
}

// The same steps for the whole plate on the host.
double difference_from_host(const job& of, const std::vector<double>& found) {
  const int n = of.columns();
  std::vector<double> plate = rows_of(of, 0, n), next = plate;
  for (int step = 0; step < of.steps; ++step) {
    for (int row = 1; row <= n; ++row) {
      for (int column = 1; column + 1 < n; ++column) {
        const auto at = [&](int i, int j) { return plate[static_cast<std::size_t>(i * n + j)]; };
        next[static_cast<std::size_t>(row * n + column)] =
            at(row, column) +
            pace * (at(row - 1, column) + at(row + 1, column) + at(row, column - 1) +
                    at(row, column + 1) - 4.0 * at(row, column));
      }
    }
    std::swap(plate, next);
  }
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::abs(found[i] - plate[i + static_cast<std::size_t>(n)]));
  return largest;
}

// Equal plates have equal digests, however many ranks computed them.
std::size_t digest_of(const std::vector<double>& plate) {
  const auto* bytes = reinterpret_cast<const char*>(plate.data());
  return std::hash<std::string_view>()({bytes, plate.size() * sizeof(double)});
}

gpu::result<> run_rank(const job& of, const gpu::nccl_id& id, int rank, int device_number) {
  const gpu::device device = GPU_TRY(gpu::device::get(device_number));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto comm = GPU_TRY(gpu::nccl_communicator::create(device, id, rank, of.ranks));

  const std::size_t rows = static_cast<std::size_t>(of.rows);
  const std::size_t columns = static_cast<std::size_t>(of.columns());
  const std::vector<double> first = rows_of(of, rank * of.rows, of.rows);
  auto plate = GPU_TRY((gpu::array<double, 2>::from(stream, first, {rows + 2, columns})));
  auto next = GPU_TRY((gpu::array<double, 2>::from(stream, first, {rows + 2, columns})));
  const gpu::slice own(1, of.rows + 1), inner(1, of.columns() - 1);
  for (int step = 0; step < of.steps; ++step) {
    GPU_TRY(exchange_rims(comm, stream, plate, of.rows));
    const auto here = plate(own, inner);
    const auto around =
        plate(gpu::slice(0, of.rows), inner) + plate(gpu::slice(2, of.rows + 2), inner) +
        plate(own, gpu::slice(0, of.columns() - 2)) + plate(own, gpu::slice(2, of.columns()));
    GPU_TRY(gpu::assign(stream, next(own, inner), here + pace * (around - 4.0 * here)));
    std::swap(plate, next);
    if (step % 10 == 9) {
      const double heat = GPU_TRY(total_heat(comm, stream, plate(own)));
      if (rank == 0) std::printf("after %3d steps: heat %.6f\n", step + 1, heat);
    }
  }

  auto whole = GPU_TRY(gpu::empty<double>(stream, gpu::shape{columns, columns}));
  GPU_TRY(comm.all_gather(stream, plate(own), whole));
  std::vector<double> host(whole.size());
  GPU_TRY(stream.synchronize());
  GPU_TRY(gpu::copy(whole, host));
  if (rank == 0)
    std::printf("%d ranks, %d x %d points: at most %.1e from the host; digest %016zx\n", of.ranks,
                of.columns(), of.columns(), difference_from_host(of, host), digest_of(host));
  return comm.finish();
}

int number_in(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : otherwise;
}

gpu::result<> run(const job& asked) {
  job of = asked;
  // Open MPI, and launchers like it, number the processes in the environment.
  const int processes = number_in("OMPI_COMM_WORLD_SIZE", 1);
  if (processes > 1) {
    of.ranks = processes;
    const int rank = number_in("OMPI_COMM_WORLD_RANK", 0);
    const char* const job_name = std::getenv("PMIX_NAMESPACE");
    const std::string path =
        std::string("/tmp/heat_ranks-") + (job_name != nullptr ? job_name : "id");
    if (rank == 0) GPU_TRY(GPU_TRY(gpu::nccl_id::create()).save(path));
    const gpu::nccl_id id = GPU_TRY(gpu::nccl_id::load(path));
    GPU_TRY(run_rank(of, id, rank, number_in("OMPI_COMM_WORLD_LOCAL_RANK", 0)));
    if (rank == 0) std::remove(path.c_str());
    return {};
  }
  if (of.ranks == 0) of.ranks = GPU_TRY(gpu::device::count());
  const gpu::nccl_id id = GPU_TRY(gpu::nccl_id::create());
  std::vector<gpu::result<>> outcomes(static_cast<std::size_t>(of.ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < of.ranks; ++rank) {
    threads.emplace_back(
        [&, rank] { outcomes[static_cast<std::size_t>(rank)] = run_rank(of, id, rank, rank); });
  }
  for (std::thread& each : threads) each.join();
  for (const gpu::result<>& each : outcomes) {
    if (!each.has_value()) return each;
  }
  return {};
}

int main(int count, char** arguments) {
  job of;
  int* const numbers[] = {&of.ranks, &of.rows, &of.steps};
  for (int i = 1; i < count; ++i) {
    if (i <= 3) *numbers[i - 1] = std::atoi(arguments[i]);
    if (i <= 3 && *numbers[i - 1] >= (i == 1 ? 0 : 1) && *numbers[i - 1] <= 100'000) continue;
    std::fprintf(stderr, "usage: heat_ranks [ranks [rows per rank [steps]]]\n");
    return 2;
  }
  const unsigned devices = of.ranks != 0 ? static_cast<unsigned>(of.ranks) : 4;
  std::unique_ptr<gpu::scoped_nccl> stand_in;
  if (gpu::testing::use_cpu_driver_if_no_gpu({.devices = devices}))
    stand_in = std::make_unique<gpu::scoped_nccl>(&gpu::testing::nccl_stand_in);
  return gpu::exit_status(run(of));
}
