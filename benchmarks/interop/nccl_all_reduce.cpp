// Time of all-reduce over two or more GPUs, one thread for all ranks, from 1 KiB to 1 GiB, beside
// the raw calls of NCCL on the same communicators. As nccl-tests has it: many operations in a row
// are queued and waited for, in place and out of place, and the bus bandwidth is that of the bytes
// which each link has to carry: bytes / time * 2 (ranks - 1) / ranks. Exit code 1 where ours takes
// more than 1 % and 1 us more where the calls block; where they do not, NCCL starts a thread for
// each group, and times vary by several us.

#include "interleaved.hpp"

#include <gpu/array.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/nccl.hpp>
#include <gpu/libraries/nccl_functions.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/system/library_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using benchmark::need;

struct rank {
  gpu::stream stream;
  gpu::nccl_communicator comm;
  gpu::array<float> in, out;
};

std::vector<rank> join_all(int ranks, std::size_t most, bool blocking) {
  const gpu::nccl_id id = need(gpu::nccl_id::create());
  std::vector<rank> all(static_cast<std::size_t>(ranks));
  gpu::nccl_group group = need(gpu::nccl_group::begin());
  for (int r = 0; r < ranks; ++r) {
    rank& self = all[static_cast<std::size_t>(r)];
    const gpu::device device = need(gpu::device::get(r));
    self.stream = need(gpu::stream::create(device));
    self.comm = need(gpu::nccl_communicator::create(device, id, r, ranks, {.blocking = blocking}));
  }
  need(group.end());
  for (rank& self : all) {
    self.in = need(gpu::zeros<float>(self.stream, gpu::shape{most}));
    self.out = need(gpu::zeros<float>(self.stream, gpu::shape{most}));
  }
  return all;
}

void synchronize(const std::vector<rank>& all) {
  for (const rank& self : all) need(self.stream.synchronize());
}

void need_nccl(int code) {
  constexpr int in_progress = 7;
  if (code == 0 || code == in_progress) return;
  std::fprintf(stderr, "a raw call of NCCL failed with code %d\n", code);
  std::exit(2);
}

/// All ranks' calls of one all-reduce, as a program without this library makes them.
void reduce_raw(const gpu::detail::nccl_functions& nccl, std::vector<rank>& all, std::size_t count,
                bool in_place, bool blocking) {
  constexpr int type_float = 7, operation_sum = 0;
  need_nccl(nccl.group_start());
  for (rank& self : all) {
    float* const out = self.out.data();
    need_nccl(nccl.all_reduce(in_place ? out : self.in.data(), out, count, type_float,
                              operation_sum, self.comm.native(), self.stream.native()));
  }
  need_nccl(nccl.group_end());
  if (blocking) return;
  for (rank& self : all) {
    int state = 7;  // ncclInProgress
    while (state == 7) need_nccl(nccl.get_async_error(self.comm.native(), &state));
    need_nccl(state);
  }
}

void reduce_ours(std::vector<rank>& all, std::size_t count, bool in_place) {
  gpu::nccl_group group = need(gpu::nccl_group::begin());
  for (rank& self : all) {
    const auto part = gpu::slice(0, static_cast<std::ptrdiff_t>(count));
    const auto out = self.out(part);
    const auto in = in_place ? out : self.in(part);
    need(self.comm.all_reduce(self.stream, in, out, gpu::nccl_operation::sum));
  }
  need(group.end());
}

/// Measures all sizes on communicators of one mode; returns whether all are within the limit.
bool measure(int ranks, bool blocking) {
  constexpr std::size_t most = (std::size_t{1} << 30) / sizeof(float);
  std::vector<rank> all = join_all(ranks, most, blocking);
  const gpu::detail::nccl_functions& nccl = gpu::detail::library_table<gpu::detail::nccl_library>();
  const double share = 2.0 * (ranks - 1) / ranks;
  std::printf("%d ranks, all-reduce of floats, sum; calls %s\n", ranks,
              blocking ? "block" : "do not block");
  std::printf("%12s  %-12s %12s %12s %8s %12s %12s\n", "bytes", "", "raw, us", "gpu, us", "ratio",
              "GB/s", "bus GB/s");
  bool good = true;
  for (std::size_t bytes = 1024; bytes <= most * sizeof(float); bytes *= 4) {
    const std::size_t count = bytes / sizeof(float);
    const int calls = bytes <= std::size_t{1} << 20 ? 100 : bytes <= std::size_t{1} << 26 ? 20 : 5;
    for (const bool in_place : {false, true}) {
      const auto times = benchmark::interleaved(
          40, 1,
          [&] {
            for (int i = 0; i < calls; ++i) reduce_raw(nccl, all, count, in_place, blocking);
            synchronize(all);
          },
          [&] {
            for (int i = 0; i < calls; ++i) reduce_ours(all, count, in_place);
            synchronize(all);
          },
          [&] { synchronize(all); });
      const double raw = times.raw / calls / 1000, ours = times.ours / calls / 1000;
      const bool within = !blocking || ours - raw <= std::max(raw * 0.01, 1.0);
      const double rate = static_cast<double>(bytes) / ours / 1000;
      std::printf("%12zu  %-12s %12.2f %12.2f %8.4f %12.1f %12.1f%s\n", bytes,
                  in_place ? "in place" : "out of place", raw, ours, ours / raw, rate, rate * share,
                  within ? "" : "   ABOVE");
      good = good && within;
    }
  }
  for (rank& self : all) self.comm.abort();
  return good;
}

}  // namespace

int main() {
  const benchmark::machine machine;
  const int ranks = need(gpu::device::count());
  if (!machine.has_gpu || ranks < 2 || !gpu::has_nccl()) {
    std::printf("left out: %s\n",
                machine.has_gpu && ranks >= 2 ? "there is no NCCL" : "there are not two GPUs");
    return 0;
  }
  bool good = true;
  for (const bool blocking : {true, false}) good = measure(ranks, blocking) && good;
  return good ? 0 : 1;
}
