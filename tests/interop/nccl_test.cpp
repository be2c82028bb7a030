// Communicators of NCCL: several ranks over the CPU driver's devices and the stand-in, against sums
// on the host; and one rank of the real NCCL on a GPU.

#include "interop/failing_calls.hpp"
#include "interop/nccl_ranks.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/interop/nccl.hpp>
#include <gpu/interop/nccl_id.hpp>
#include <gpu/libraries/nccl_functions.hpp>
#include <gpu/libraries/nccl_wait.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/memory/stream_memory_operation.hpp>
#include <gpu/system/library_table.hpp>
#include <gpu/testing/nccl_stand_in.hpp>

#include <cuda_fp16.h>

#include <unistd.h>

#include <chrono>
#include <complex>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nccl_test {
namespace {

/// Fails a rank whose numbers are not those expected.
template <class T>
gpu::result<> expect(const std::vector<T>& found, const std::vector<T>& expected,
                     const char* what) {
  if (found == expected) return {};
  return gpu::detail::fail(gpu::detail::refusal(gpu::errc::not_converged, what, {}, {}));
}

constexpr int count = 3;
const test::cpu_driver_options four_devices{.devices = 4};

gpu::result<> combine_numbers(rank& self) {
  const int r = self.number;
  const auto a = GPU_TRY(self.array<int>({r + 1, 10 * r, -r}));
  auto sum = GPU_TRY(gpu::zeros<int>(self.stream, gpu::shape{3}));
  GPU_TRY(self.comm.all_reduce(self.stream, a, sum, operation::sum));
  GPU_TRY(expect(GPU_TRY(self.host(sum)), {6, 30, -3}, "sum"));
  GPU_TRY(self.comm.all_reduce(self.stream, a, sum, operation::product));
  GPU_TRY(expect(GPU_TRY(self.host(sum)), {6, 0, 0}, "product"));
  GPU_TRY(self.comm.all_reduce(self.stream, a, sum, operation::max));
  GPU_TRY(expect(GPU_TRY(self.host(sum)), {3, 20, 0}, "max"));
  auto own = GPU_TRY(self.array<double>({r + 0.5, 3.0 * r}));
  GPU_TRY(self.comm.all_reduce(self.stream, own, operation::average));
  GPU_TRY(expect(GPU_TRY(self.host(own)), {1.5, 3.0}, "average in place"));
  auto halves = GPU_TRY(self.array<__half>({__half(1.0f / 1024), __half(static_cast<float>(r))}));
  GPU_TRY(self.comm.all_reduce(self.stream, halves, operation::sum));
  const auto found = GPU_TRY(self.host(halves));
  GPU_TRY(expect<float>({found[0], found[1]}, {3.0f / 1024, 3.0f}, "halves"));
  using number = std::complex<float>;
  const float x = static_cast<float>(r);
  auto z = GPU_TRY(self.array<number>({{x, -1.0f}}));
  GPU_TRY(self.comm.all_reduce(self.stream, z, operation::sum));
  GPU_TRY(expect(GPU_TRY(self.host(z)), {number(3, -3)}, "complex"));
  auto out = GPU_TRY(gpu::full<int>(self.stream, gpu::shape{3}, 7));
  GPU_TRY(self.comm.reduce(self.stream, a, out, operation::min, 1));
  GPU_TRY(expect(GPU_TRY(self.host(out)),
                 r == 1 ? std::vector<int>{1, 0, -2} : std::vector<int>{7, 7, 7}, "reduce"));
  const auto parts = GPU_TRY(self.array<long long>({1, 2, 3, 4, 5, 6 + r}));
  auto part = GPU_TRY(gpu::zeros<long long>(self.stream, gpu::shape{2}));
  GPU_TRY(self.comm.reduce_scatter(self.stream, parts, part, operation::sum));
  const std::vector<long long> all{3, 6, 9, 12, 15, 21};
  return expect(GPU_TRY(self.host(part)), {all.begin() + 2 * r, all.begin() + 2 * r + 2},
                "reduce_scatter");
}

struct pixel {
  short x, y, z;
  bool operator==(const pixel&) const = default;
};

gpu::result<> move_elements(rank& self) {
  const int r = self.number;
  const short s = static_cast<short>(r);
  auto pixels = GPU_TRY(self.array<pixel>({{s, 1, 2}, {3, s, 5}}));
  GPU_TRY(self.comm.broadcast(self.stream, pixels, 2));
  GPU_TRY(expect(GPU_TRY(self.host(pixels)), {pixel{2, 1, 2}, pixel{3, 2, 5}}, "broadcast"));
  const auto own = GPU_TRY(self.array<int>({r, r * r}));
  auto gathered = GPU_TRY(gpu::zeros<int>(self.stream, gpu::shape{6}));
  GPU_TRY(self.comm.all_gather(self.stream, own, gathered));
  GPU_TRY(expect(GPU_TRY(self.host(gathered)), {0, 0, 1, 1, 2, 4}, "all_gather"));
  const auto rows = GPU_TRY(self.array<int>({10 * r, 10 * r + 1, 10 * r + 2}));
  auto columns = GPU_TRY(gpu::zeros<int>(self.stream, gpu::shape{3}));
  GPU_TRY(self.comm.all_to_all(self.stream, rows, columns));
  GPU_TRY(expect(GPU_TRY(self.host(columns)), {r, 10 + r, 20 + r}, "all_to_all"));
  // Around a ring, with parts of an array.
  auto ring = GPU_TRY(self.array<float>({static_cast<float>(r), 0, 9}));
  gpu::nccl_group group = GPU_TRY(gpu::nccl_group::begin());
  GPU_TRY(self.comm.send(self.stream, ring(gpu::slice(0, 1)), (r + 1) % count));
  GPU_TRY(self.comm.receive(self.stream, ring(gpu::slice(1, 2)), (r + count - 1) % count));
  GPU_TRY(group.end());
  GPU_TRY(self.comm.check());
  return expect(GPU_TRY(self.host(ring)),
                {static_cast<float>(r), static_cast<float>((r + count - 1) % count), 9}, "ring");
}

}  // namespace

TEST_CASE("NCCL: numbers of all ranks are combined", "[interop][nccl][cpu][threads]") {
  const test::own_cpu_driver driver(four_devices);
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  CHECK(run_ranks(count, combine_numbers) == nothing(count));
}

TEST_CASE("NCCL: elements are moved between ranks", "[interop][nccl][cpu][threads]") {
  const test::own_cpu_driver driver(four_devices);
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  CHECK(run_ranks(count, move_elements) == nothing(count));
}

TEST_CASE("NCCL: one thread has several ranks, in groups", "[interop][nccl][cpu]") {
  const test::own_cpu_driver driver(four_devices);
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  const auto id = test::value_of(gpu::nccl_id::create());
  std::vector<rank> ranks;
  {
    auto joining = test::value_of(gpu::nccl_group::begin());
    for (int r = 0; r < 4; ++r) ranks.push_back(test::value_of(make_rank(id, r, 4)));
    test::value_of(joining.end());
    CHECK(test::error_of(joining.end()) == gpu::errc::empty_handle);
  }
  std::vector<gpu::array<float>> arrays;
  for (const rank& each : ranks)
    arrays.push_back(test::value_of(
        gpu::full<float>(each.stream, gpu::shape{5}, static_cast<float>(each.number + 1))));
  {
    auto outer = test::value_of(gpu::nccl_group::begin());
    auto inner = test::value_of(gpu::nccl_group::begin());
    for (std::size_t r = 0; r < 4; ++r)
      test::value_of(ranks[r].comm.all_reduce(ranks[r].stream, arrays[r], operation::sum));
    test::value_of(inner.end());
    test::value_of(outer.end());
  }
  for (std::size_t r = 0; r < 4; ++r) {
    CHECK(test::value_of(ranks[r].host(arrays[r])) == std::vector<float>(5, 10));
    CHECK(ranks[r].comm.rank() == static_cast<int>(r));
    CHECK(ranks[r].comm.size() == 4);
  }
  {
    // A group that is left early makes its calls: here one without its counterpart.
    const test::reported_errors reported;
    static_cast<void>(test::value_of(gpu::nccl_group::begin()));
    CHECK(reported.count() == 0);
  }
  gpu::nccl_communicator moved = std::move(ranks[0].comm);
  CHECK(ranks[0].comm.native() == nullptr);
  CHECK(test::error_of(ranks[0].comm.check()) == gpu::errc::empty_handle);
  moved.abort();
  CHECK(moved.native() == nullptr);
}

TEST_CASE("NCCL: an id is shared by a file", "[interop][nccl]") {
  const std::string path = "/tmp/gpu-nccl-id-" + std::to_string(::getpid());
  gpu::nccl_id id;
  for (int i = 0; i < 128; ++i) id.bytes[i] = static_cast<char>(i * 5);
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    static_cast<void>(id.save(path));
  });
  const auto loaded = gpu::nccl_id::load(path, 60'000);
  late.join();
  ::unlink(path.c_str());
  REQUIRE(loaded.has_value());
  CHECK(std::memcmp(loaded->bytes, id.bytes, sizeof id.bytes) == 0);
  const auto missing = test::error_of(gpu::nccl_id::load(path, 1));
  CHECK(missing == gpu::errc::file_error);
  CHECK(test::says(missing, "did not have an id within 1 ms", "rank 0 runs"));
  CHECK(test::says(test::error_of(id.save("/nowhere/id")), "could not be written: No such file"));
}

TEST_CASE("NCCL: calls that do not fit name the ranks", "[interop][nccl][cpu][threads]") {
  const test::own_cpu_driver driver(four_devices);
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  const auto said = run_ranks(2, [](rank& self) -> gpu::result<> {
    auto a = GPU_TRY(gpu::zeros<int>(self.stream, gpu::shape{self.number + 4}));
    return self.comm.all_reduce(self.stream, a, operation::sum);
  });
  for (const std::string& each : said) {
    CHECK(each.find("ncclAllReduce: ncclInvalidUsage (5)") != std::string::npos);
    CHECK(each.find("rank 0 calls ncclAllReduce with 4 elements of type 2, and rank 1 calls "
                    "ncclAllReduce with 5") != std::string::npos);
  }
}

TEST_CASE("NCCL: a rank that aborts ends the others", "[interop][nccl][cpu][threads]") {
  const test::own_cpu_driver driver(four_devices);
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  const auto said = run_ranks(2, [](rank& self) -> gpu::result<> {
    auto a = GPU_TRY(gpu::zeros<int>(self.stream, gpu::shape{4}));
    if (self.number == 0) return self.comm.all_reduce(self.stream, a, operation::sum);
    GPU_TRY(self.comm.check());
    self.comm.abort();
    return {};
  });
  CHECK(said[0].find("ncclRemoteError (6): ") != std::string::npos);
  CHECK(said[0].find("abort the communicator") != std::string::npos);
  CHECK(said[1].find("nccl_communicator") != std::string::npos);  // it was empty at the end
}

TEST_CASE("NCCL: a missing rank is an error in time", "[interop][nccl][cpu]") {
  const test::own_cpu_driver driver(four_devices);
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  const auto id = test::value_of(gpu::nccl_id::create());
  const auto error = test::error_of(make_rank(id, 0, 2, 20));
  CHECK(error.domain() == gpu::error_domain::nccl);
  CHECK(error.kind() == gpu::error_kind::runtime);
  CHECK(test::says(error, "ncclCommInitRankConfig: ncclInProgress", "did not come within 20 ms",
                   "nccl_options::timeout_ms"));
}

TEST_CASE("NCCL: work that does not end is an error in time", "[interop][nccl][cpu]") {
  const test::own_cpu_driver driver({.devices = 2, .deferred = true});
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  rank self = test::value_of(make_rank(test::value_of(gpu::nccl_id::create()), 0, 1, 30));
  auto flag = test::value_of(gpu::pinned_vector<unsigned>::create(self.comm.device(), 1));
  flag[0] = 0;
  test::value_of(gpu::perform(self.stream, gpu::memory_operation::wait(flag, 1u)));
  const auto error = test::error_of(self.comm.synchronize(self.stream));
  CHECK(error.domain() == gpu::error_domain::nccl);
  CHECK(test::says(error, "nccl_communicator::synchronize: ncclInProgress",
                   "was not done within 30 ms", "abort the communicator"));
  __atomic_store_n(flag.data(), 1u, __ATOMIC_RELEASE);
  test::value_of(self.stream.synchronize());
  test::value_of(self.comm.synchronize(self.stream));
  test::value_of(self.comm.finish());
  CHECK(test::error_of(self.comm.synchronize(self.stream)) == gpu::errc::empty_handle);
}

TEST_CASE("NCCL: what does not fit is refused with a sentence", "[interop][nccl][cpu]") {
  const test::own_cpu_driver driver(four_devices);
  const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
  const auto id = test::value_of(gpu::nccl_id::create());
  CHECK(test::says(test::error_of(make_rank(id, 2, 2)), "rank 2 of 2 is not possible"));
  rank self = test::value_of(make_rank(id, 0, 1));
  auto& comm = self.comm;
  const auto other = test::value_of(gpu::stream::create(test::value_of(gpu::device::get(1))));
  auto a = test::value_of(gpu::zeros<float>(self.stream, gpu::shape{4, 6}));
  auto b = test::value_of(gpu::zeros<float>(self.stream, gpu::shape{5}));
  auto z = test::value_of(gpu::zeros<std::complex<float>>(self.stream, gpu::shape{5}));
  const auto sum = operation::sum;
  CHECK(test::error_of(comm.all_reduce(other, a, sum)) == gpu::errc::wrong_context);
  CHECK(test::says(test::error_of(comm.all_reduce(self.stream, a, b, sum)),
                   "out has 5 numbers, but 24 times 1 are needed"));
  CHECK(test::says(test::error_of(comm.all_reduce(self.stream, b, z, sum)), "out has 10 numbers"));
  auto i = test::value_of(gpu::zeros<int>(self.stream, gpu::shape{5}));
  CHECK(test::says(test::error_of(comm.all_reduce(self.stream, b, i, sum)), "different types"));
  CHECK(test::says(test::error_of(comm.all_reduce(self.stream, z, operation::max)),
                   "no product, maximum and minimum of complex"));
  CHECK(test::says(test::error_of(comm.all_reduce(self.stream, b, static_cast<operation>(9))),
                   "9 is not a valid gpu::nccl_operation"));
  CHECK(test::says(test::error_of(comm.all_reduce(self.stream, a(gpu::all(), 0), sum)),
                   "not one after the other"));
  CHECK(test::error_of(comm.broadcast(self.stream, a(9), 0)) == gpu::errc::index_out_of_range);
  CHECK(test::says(test::error_of(comm.send(self.stream, b, 1)),
                   "no rank 1. Pass a rank from 0 to 0"));
  CHECK(test::error_of(comm.receive(self.stream, b, -1)) == gpu::errc::invalid_argument);
  CHECK(test::error_of(comm.all_reduce(gpu::stream_ref(), b, sum)) == gpu::errc::empty_handle);
  auto capture = test::value_of(gpu::stream_capture::begin(self.stream));
  CHECK(test::says(test::error_of(comm.all_reduce(self.stream, b, sum)), "cannot be captured"));
  static_cast<void>(capture.end());
}

/// Stands for one function, and fails in its turn.
template <auto Member> struct failing;
template <class... Arguments, int (*gpu::detail::nccl_functions::*Member)(Arguments...)>
struct failing<Member> {
  inline static int (*original)(Arguments...) = nullptr;
  static int call(Arguments... arguments) {
    return test::calls_of_library().fails() ? 3 : original(arguments...);
  }
  static void put(gpu::detail::nccl_functions& table) {
    original = table.*Member;
    table.*Member = &call;
  }
};

gpu::result<> everything() {
  rank self = GPU_TRY(make_rank(GPU_TRY(gpu::nccl_id::create()), 0, 1));
  auto a = GPU_TRY(gpu::ones<int>(self.stream, gpu::shape{4}));
  auto b = GPU_TRY(gpu::zeros<int>(self.stream, gpu::shape{4}));
  GPU_TRY(self.comm.all_reduce(self.stream, a, b, operation::sum));
  GPU_TRY(self.comm.broadcast(self.stream, a, 0));
  GPU_TRY(self.comm.reduce(self.stream, a, b, operation::max, 0));
  GPU_TRY(self.comm.all_gather(self.stream, a, b));
  GPU_TRY(self.comm.reduce_scatter(self.stream, a, b, operation::average));
  GPU_TRY(self.comm.all_to_all(self.stream, a, b));
  GPU_TRY(self.comm.synchronize(self.stream));
  GPU_TRY(expect(GPU_TRY(self.host(b)), {1, 1, 1, 1}, "all"));
  return self.comm.finish();
}

TEST_CASE("NCCL: each of its calls fails in turn", "[interop][nccl][cpu]") {
  const test::own_cpu_driver driver(four_devices);
  using functions = gpu::detail::nccl_functions;
  functions table = gpu::detail::nccl_functions_from(&gpu::testing::nccl_stand_in);
  failing<&functions::get_unique_id>::put(table);
  failing<&functions::init_rank>::put(table);
  failing<&functions::finalize>::put(table);
  failing<&functions::group_start>::put(table);
  failing<&functions::group_end>::put(table);
  failing<&functions::all_reduce>::put(table);
  failing<&functions::broadcast>::put(table);
  failing<&functions::reduce>::put(table);
  failing<&functions::all_gather>::put(table);
  failing<&functions::reduce_scatter>::put(table);
  failing<&functions::send>::put(table);
  failing<&functions::receive>::put(table);
  failing<&functions::get_async_error>::put(table);
  const gpu::detail::scoped_library_table<gpu::detail::nccl_library> in_force(table);
  const test::reported_errors reported;
  const int calls = test::sweep_library(everything, [](const gpu::result<>& done, int) {
    const gpu::cuda_error error = test::error_of(done);
    CHECK(error.domain() == gpu::error_domain::nccl);
    CHECK(test::says(error, "ncclInternalError (3)"));
    // What began in a group that failed is over for this thread.
    gpu::testing::nccl::open_group::of_thread() = {};
    gpu::detail::nccl_group_of_thread = {};
  });
  CHECK(calls >= 12);
}

TEST_CASE("NCCL: driver calls fail in turn", "[interop][nccl][cpu]") {
  // A library that does nothing, since the stand-in asks the driver itself.
  static int live = 0;
  gpu::detail::nccl_functions table{};
  table.get_unique_id = [](gpu::detail::nccl_unique_id*) { return 0; };
  table.init_rank = [](void** made, int, gpu::detail::nccl_unique_id, int, void*) {
    *made = &live;
    ++live;
    return 0;
  };
  table.finalize = [](void*) { return 0; };
  table.destroy = table.abort = [](void*) {
    --live;
    return 0;
  };
  const gpu::detail::scoped_library_table<gpu::detail::nccl_library> in_force(table);
  CHECK(test::sweep(
            []() -> gpu::result<> {
              rank self = GPU_TRY(make_rank(GPU_TRY(gpu::nccl_id::create()), 0, 1));
              return self.comm.finish();
            },
            {"cuCtxGetCurrent", "cuCtxPushCurrent"}) == "");
  CHECK(live == 0);
}

TEST_CASE("child: there is no NCCL", "[.child]") {
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  table.unavailable_detail = "libcuda.so.1";  // as if it were
  const gpu::driver::scoped_entry_points real(table);
  CHECK_FALSE(gpu::has_nccl());
  for (const auto& error :
       {test::error_of(gpu::nccl_id::create()), test::error_of(gpu::nccl_group::begin()),
        test::error_of(make_rank(gpu::nccl_id(), 0, 1))}) {
    CHECK(error == gpu::errc::no_library);
    CHECK(test::says(error, "the library NCCL was not found", "/nowhere/libnccl.so", "GPU_NCCL",
                     "pip install nvidia-nccl-cu13"));
  }
}

TEST_CASE("NCCL: without the library its calls say so", "[interop][nccl]") {
  const auto found =
      test::run_child("child: there is no NCCL", {{"GPU_NCCL", "/nowhere/libnccl.so"}});
  INFO(found.output);
  CHECK(found.succeeded());
}

TEST_CASE("NCCL: it does not work on the CPU driver", "[interop][nccl][cpu]") {
  CHECK_FALSE(gpu::has_nccl());
  CHECK(test::says(test::error_of(gpu::nccl_id::create()), "works with the NVIDIA driver alone"));
}

TEST_CASE("NCCL: one rank of the real library", "[interop][nccl][hardware]") {
  if (!gpu::has_nccl()) {
    WARN("skipped: there is no NCCL");
    return;
  }
  test::value_of(everything());
  rank self = test::value_of(make_rank(test::value_of(gpu::nccl_id::create()), 0, 1));
  auto a = test::value_of(gpu::full<float>(self.stream, gpu::shape{1000}, 3.0f));
  auto b = test::value_of(gpu::zeros<float>(self.stream, gpu::shape{1000}));
  test::value_of(self.stream.synchronize());
  auto capture = test::value_of(gpu::stream_capture::begin(self.stream));
  test::value_of(self.comm.all_reduce(self.stream, a, b, operation::sum));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(self.stream, executable));
  CHECK(test::value_of(self.host(b)) == std::vector<float>(1000, 3));
  test::value_of(self.comm.check());
  const auto error = test::error_of(gpu::nccl_communicator::create(
      test::first_device(), test::value_of(gpu::nccl_id::create()), 0, 2, {.timeout_ms = 500}));
  CHECK(test::says(error, "did not come within 500 ms"));
}

}  // namespace nccl_test
