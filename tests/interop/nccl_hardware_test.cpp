// Two ranks of the real NCCL on two GPUs: in threads, in one thread, in two processes, and after
// the end of one of them. The oracle is arithmetic on the host.

#include "interop/nccl_ranks.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/algorithm/sum.hpp>
#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/interop/nccl.hpp>
#include <gpu/interop/nccl_id.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/shape.hpp>

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ratio>
#include <string>
#include <thread>
#include <vector>

namespace nccl_hardware_test {
namespace {

using namespace nccl_test;

constexpr int ranks = 2;

/// Returns element `i` of rank `r`: whole numbers, so that sums in any order are exact.
float element(int r, std::size_t i) {
  return static_cast<float>((i * 7 + 3) % 101) + 1000.0f * static_cast<float>(r);
}

std::vector<float> elements(int r, std::size_t first, std::size_t count) {
  std::vector<float> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = element(r, first + i);
  return made;
}

gpu::result<> expect(const std::vector<float>& found, const std::vector<float>& expected,
                     const char* what) {
  if (found == expected) return {};
  return gpu::detail::fail(gpu::detail::refusal(gpu::errc::not_converged, what, {}, {}));
}

/// Makes every collective call with `n` elements a rank, and compares with the host.
gpu::result<> call_all(rank& self, std::size_t n) {
  const int r = self.number, other = 1 - r;
  const gpu::stream& stream = self.stream;
  std::vector<float> sum(n), both;
  for (int from = 0; from < ranks; ++from) {
    const auto part = elements(from, 0, n);
    for (std::size_t i = 0; i < n; ++i) sum[i] += part[i];
    both.insert(both.end(), part.begin(), part.end());
  }
  const auto own = GPU_TRY(self.array<float>(elements(r, 0, n)));
  auto out = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{n}));
  auto pair = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{2 * n}));
  GPU_TRY(self.comm.all_reduce(stream, own, out, operation::sum));
  GPU_TRY(expect(GPU_TRY(self.host(out)), sum, "all_reduce"));
  GPU_TRY(self.comm.all_reduce(stream, own, out, operation::max));
  GPU_TRY(expect(GPU_TRY(self.host(out)), elements(1, 0, n), "all_reduce, max"));
  GPU_TRY(self.comm.all_gather(stream, own, pair));
  GPU_TRY(expect(GPU_TRY(self.host(pair)), both, "all_gather"));
  GPU_TRY(self.comm.all_reduce(stream, pair, operation::average));
  GPU_TRY(expect(GPU_TRY(self.host(pair)), both, "all_reduce, average in place"));
  GPU_TRY(self.comm.reduce_scatter(stream, pair, out, operation::sum));
  auto doubled = elements(r, 0, n);
  for (float& x : doubled) x *= 2;
  GPU_TRY(expect(GPU_TRY(self.host(out)), doubled, "reduce_scatter"));
  GPU_TRY(self.comm.reduce(stream, own, out, operation::min, 1));
  GPU_TRY(expect(GPU_TRY(self.host(out)), r == 1 ? elements(0, 0, n) : doubled, "reduce"));
  GPU_TRY(gpu::copy(stream, own, out));
  GPU_TRY(self.comm.broadcast(stream, out, 1));
  GPU_TRY(expect(GPU_TRY(self.host(out)), elements(1, 0, n), "broadcast"));
  auto swapped = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{2 * n}));
  const auto mine = GPU_TRY(self.array<float>(elements(r, 0, 2 * n)));
  GPU_TRY(self.comm.all_to_all(stream, mine, swapped));
  std::vector<float> expected;
  for (int from = 0; from < ranks; ++from) {
    const auto part = elements(from, static_cast<std::size_t>(r) * n, n);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  GPU_TRY(expect(GPU_TRY(self.host(swapped)), expected, "all_to_all"));
  gpu::nccl_group group = GPU_TRY(gpu::nccl_group::begin());
  GPU_TRY(self.comm.send(stream, own, other));
  GPU_TRY(self.comm.receive(stream, out, other));
  GPU_TRY(group.end());
  GPU_TRY(self.comm.synchronize(stream));
  return expect(GPU_TRY(self.host(out)), elements(other, 0, n), "send and receive");
}

constexpr std::size_t sizes[] = {1, 1000, (std::size_t{1} << 22) + 3};

gpu::result<> call_all_sizes(rank& self) {
  for (const std::size_t n : sizes) GPU_TRY(call_all(self, n));
  return self.comm.check();
}

bool there_is_nccl() {
  if (gpu::has_nccl()) return true;
  WARN("skipped: there is no NCCL");
  return false;
}

/// A rank of two processes, which share the id by a file that rank 0 writes.
gpu::result<rank> rank_of_process(int number, const std::string& path, std::uint32_t timeout_ms) {
  if (number == 0) GPU_TRY(GPU_TRY(gpu::nccl_id::create()).save(path));
  return make_rank(GPU_TRY(gpu::nccl_id::load(path)), number, ranks, timeout_ms);
}

std::string path_of_id() { return "/tmp/gpu-nccl-ranks-" + std::to_string(::getpid()); }

}  // namespace

TEST_CASE("NCCL: two ranks in two threads", "[interop][nccl][hardware][two_devices]") {
  if (there_is_nccl()) CHECK(run_ranks(ranks, call_all_sizes) == nothing(ranks));
}

TEST_CASE("NCCL: two ranks in one thread, captured too", "[interop][nccl][hardware][two_devices]") {
  if (!there_is_nccl()) return;
  const auto id = test::value_of(gpu::nccl_id::create());
  std::vector<rank> all;
  auto joining = test::value_of(gpu::nccl_group::begin());
  for (int r = 0; r < ranks; ++r) all.push_back(test::value_of(make_rank(id, r, ranks)));
  test::value_of(joining.end());
  const std::size_t n = 5000;
  std::vector<gpu::array<float>> arrays;
  for (const rank& each : all)
    arrays.push_back(test::value_of(each.array<float>(elements(each.number, 0, n))));
  const auto reduce = [&] {
    auto group = test::value_of(gpu::nccl_group::begin());
    for (std::size_t r = 0; r < ranks; ++r)
      test::value_of(all[r].comm.all_reduce(all[r].stream, arrays[r], operation::sum));
    test::value_of(group.end());
  };
  reduce();
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = element(0, i) + element(1, i);
  for (std::size_t r = 0; r < ranks; ++r) {
    test::value_of(all[r].comm.synchronize(all[r].stream));
    CHECK(test::value_of(all[r].host(arrays[r])) == expected);
  }
  std::vector<gpu::stream_capture> captures;
  for (const rank& each : all)
    captures.push_back(test::value_of(gpu::stream_capture::begin(each.stream)));
  reduce();
  std::vector<gpu::graph> recorded;
  for (gpu::stream_capture& each : captures) recorded.push_back(test::value_of(each.end()));
  std::vector<gpu::graph_exec> graphs;
  for (const gpu::graph& each : recorded)
    graphs.push_back(test::value_of(gpu::graph_exec::instantiate(each)));
  for (std::size_t r = 0; r < ranks; ++r) test::value_of(gpu::launch(all[r].stream, graphs[r]));
  for (float& x : expected) x *= 2;
  for (std::size_t r = 0; r < ranks; ++r) {
    test::value_of(all[r].comm.synchronize(all[r].stream));
    CHECK(test::value_of(all[r].host(arrays[r])) == expected);
  }
}

// Also for `mpirun -np 2`, which numbers its processes in the environment; ID_FILE is a new file.
TEST_CASE("child: one of two ranks", "[.child]") {
  const char* number = std::getenv("RANK");
  if (number == nullptr) number = std::getenv("OMPI_COMM_WORLD_RANK");
  rank self = test::value_of(rank_of_process(std::atoi(number), std::getenv("ID_FILE"), 60'000));
  test::value_of(call_all_sizes(self));
  test::value_of(self.comm.finish());
}

TEST_CASE("NCCL: two ranks in two processes", "[interop][nccl][hardware][two_devices]") {
  if (!there_is_nccl()) return;
  const std::string path = path_of_id();
  std::vector<test::program_outcome> outcomes(ranks);
  std::vector<std::thread> processes;
  for (std::size_t r = 0; r < ranks; ++r)
    processes.emplace_back([&, r] {
      outcomes[r] = test::run_child("child: one of two ranks",
                                    {{"RANK", std::to_string(r)}, {"ID_FILE", path}});
    });
  for (std::thread& each : processes) each.join();
  ::unlink(path.c_str());
  for (const test::program_outcome& each : outcomes) {
    INFO(each.output);
    CHECK(each.succeeded());
  }
}

/// Many large operations, which take far longer than it takes to queue them.
gpu::result<> queue_many(rank& self, const gpu::array<float>& x) {
  for (int i = 0; i < 100; ++i) GPU_TRY(self.comm.all_reduce(self.stream, x, operation::average));
  return {};
}

gpu::result<gpu::array<float>> large_array(const rank& self) {
  return gpu::ones<float>(self.stream, gpu::shape{1 << 26});
}

bool dies_within_an_operation() { return std::getenv("WITHIN") != nullptr; }

TEST_CASE("child: a rank that is killed in the middle", "[.child]") {
  rank self = test::value_of(rank_of_process(1, std::getenv("ID_FILE"), 60'000));
  const auto x = test::value_of(large_array(self));
  test::value_of(call_all(self, 1000));
  if (dies_within_an_operation()) {
    test::value_of(queue_many(self, x));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (test::value_of(self.stream.is_done())) return;  // without the signal: the test fails
  }
  ::raise(SIGKILL);
}

TEST_CASE("child: a rank that survives the other", "[.child]") {
  constexpr std::uint32_t limit_ms = 3000;
  rank self = test::value_of(rank_of_process(0, std::getenv("ID_FILE"), limit_ms));
  const auto x = test::value_of(large_array(self));
  test::value_of(call_all(self, 1000));
  const auto begin = std::chrono::steady_clock::now();
  gpu::result<> done = queue_many(self, x);
  if (done.has_value()) done = self.comm.synchronize(self.stream);
  const std::chrono::duration<double, std::milli> waited = std::chrono::steady_clock::now() - begin;
  const gpu::cuda_error error = test::error_of(done);
  CHECK(error.domain() == gpu::error_domain::nccl);
  CHECK(waited.count() < limit_ms + 1000);
  WARN("after " << waited.count() << " ms: " << error.message().c_str());
  self.comm.abort();
  // The device works on.
  test::value_of(self.stream.synchronize());
  CHECK(test::value_of(gpu::sum(self.stream, test::value_of(gpu::ones<float>(
                                                 self.stream, gpu::shape{100})))) == 100.0f);
}

namespace {

void kill_one(test::environment variables) {
  if (!there_is_nccl()) return;
  const std::string path = path_of_id();
  variables.emplace_back("ID_FILE", path);
  test::program_outcome killed;
  std::thread process(
      [&] { killed = test::run_child("child: a rank that is killed in the middle", variables); });
  const auto survivor = test::run_child("child: a rank that survives the other", variables);
  process.join();
  ::unlink(path.c_str());
  INFO(killed.output);
  CHECK(killed.signal == SIGKILL);
  INFO(survivor.output);
  CHECK(survivor.succeeded());
  const auto at = survivor.output.find("after ");
  WARN("the survivor: " << survivor.output.substr(at == std::string::npos ? 0 : at, 200));
}

}  // namespace

TEST_CASE("NCCL: a rank killed between operations is an error for the other in time",
          "[interop][nccl][hardware][two_devices]") {
  kill_one({});
}

TEST_CASE("NCCL: a rank killed within an operation is an error for the other in time",
          "[interop][nccl][hardware][two_devices]") {
  kill_one({{"WITHIN", "1"}});
}

}  // namespace nccl_hardware_test
