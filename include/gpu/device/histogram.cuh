#pragma once
/// \file
/// The kernels of `histogram` and `bincount`.

namespace gpu { namespace histograms {

/// The arguments, as the host has them.
struct call {
  const void* x;
  unsigned long long n;
  void* counts;
  const void* edges;  ///< null for bins of equal width
  double low, high;
  int bins;
  int copies;        ///< of each counter in shared memory; a power of two
  int edges_shared;  ///< whether the edges are copied to shared memory, after the counters
};

/// Bins of equal width: bin k has low + k width <= x < low + (k + 1) width, computed in double, and
/// the last one includes `high`. A functor of bins returns -1 for an element that is in no bin.
struct even_bins {
  double low, high, width, scale;
  int bins;

  __device__ explicit even_bins(const call& c)
      : low(c.low),
        high(c.high),
        width((c.high - c.low) / c.bins),
        scale(1 / width),
        bins(c.bins) {}

  __device__ double edge(int k) const { return low + k * width; }

  __device__ int find(double x) const {
    if (!(x >= low && x <= high)) return -1;
    const int k = min(int((x - low) * scale), bins - 1);
    // The product is rounded, so that the bin may be the next or the one before.
    if (x < edge(k)) return k - 1;
    return k < bins - 1 && x >= edge(k + 1) ? k + 1 : k;
  }
  template <class T> __device__ int operator()(T x) const { return find(double(x)); }
};

/// The same bins for elements that are floats exactly: computed in float, unless that is too close
/// to an edge.
struct even_bins_of_floats : even_bins {
  float first, last;    ///< the floats in range
  float start, factor;  ///< of the position among the bins
  float margin;         ///< how far a position in float is from the exact one, at most

  __device__ explicit even_bins_of_floats(const call& c)
      : even_bins(c),
        first(__double2float_ru(low)),
        last(__double2float_rd(high)),
        start(float(low)),
        factor(float(scale)) {
    const double of_rounding = bins * 3 * 0x1p-24 + (fabs(low) + fabs(high)) * scale * 0x1p-51;
    const double of_parameters = fabs(factor - scale) * (high - low) + fabs(start - low) * scale;
    margin = float(1.125 * (of_rounding + of_parameters));
  }
  template <class T> __device__ int operator()(T value) const {
    const float x = float(value);
    if (!(x >= first && x <= last)) return -1;
    const float at = (x - start) * factor;
    const int k = int(at);
    const float rest = at - float(k);
    return rest > margin && rest < 1 - margin ? k : find(x);
  }
};

/// Bins between edges: edges[k] <= x < edges[k + 1]; the last edge belongs to the last bin.
template <class Edge> struct bins_of_edges {
  const Edge* edges;
  int bins;

  template <class T> __device__ int operator()(T value) const {
    const Edge x = Edge(value);
    int not_after = 0, left = bins + 1;  // how many edges are not after x
    while (left > 0) {
      const int half = left / 2;
      if (edges[not_after + half] <= x) {
        not_after += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    if (not_after <= bins) return not_after - 1;
    return x <= edges[bins] ? bins - 1 : -1;
  }
};

/// A bin for each integer from 0 on.
struct bins_of_integers {
  int bins;

  __device__ explicit bins_of_integers(const call& c) : bins(c.bins) {}
  template <class T> __device__ int operator()(T x) const {
    // A negative number is a very large one without sign.
    return (unsigned long long)(x) < (unsigned long long)(bins) ? int(x) : -1;
  }
};

/// Calls `use(x)` for each element once. Elements are loaded 16 bytes at a time, whatever the first
/// address is; the last block takes the elements before and after the whole groups.
template <int Threads, int Loads, class T, class Use>
__device__ inline void for_each(const T* x, unsigned long long n, Use use) {
  constexpr int width = 16 / int(sizeof(T));
  struct group {
    T at[width];
  };
  const unsigned long long behind_boundary = (unsigned long long)(x) % 16 / sizeof(T);
  const unsigned long long head =
      behind_boundary == 0 ? 0 : min(n, (unsigned long long)(width)-behind_boundary);
  const uint4* const groups = reinterpret_cast<const uint4*>(x + head);
  const unsigned long long count = (n - head) / width;
  const unsigned long long turn = (unsigned long long)(Threads)*Loads;
  const auto use_group = [&](const uint4& raw) {
    group loaded;
    memcpy(&loaded, &raw, 16);
#pragma unroll
    for (int k = 0; k < width; ++k) use(loaded.at[k]);
  };
  for (unsigned long long start = blockIdx.x * turn; start < count; start += gridDim.x * turn) {
    if (start + turn <= count) {
      uint4 raw[Loads];
#pragma unroll
      for (int l = 0; l < Loads; ++l) raw[l] = groups[start + l * Threads + threadIdx.x];
#pragma unroll
      for (int l = 0; l < Loads; ++l) use_group(raw[l]);
    } else {
      for (unsigned long long g = start + threadIdx.x; g < count; g += Threads)
        use_group(groups[g]);
    }
  }
  if (blockIdx.x == gridDim.x - 1) {
    const unsigned long long tail = head + count * width;
    if (threadIdx.x < head) use(x[threadIdx.x]);
    if (threadIdx.x < n - tail) use(x[tail + threadIdx.x]);
  }
}

/// Counters of a block in shared memory. There are several copies of each, side by side, and
/// neighboring lanes count in different ones: so lanes with equal elements disturb each other less,
/// and with 32 copies each lane has a bank of its own.
template <int Threads> struct shared_counters {
  unsigned* counters;
  int slots, copies;

  __device__ void clear() const {
    for (int k = threadIdx.x; k < slots * copies; k += Threads) counters[k] = 0;
    __syncthreads();
  }
  __device__ void add(int slot) const {
    atomicAdd(&counters[slot * copies + (threadIdx.x & (copies - 1))], 1u);
  }
  /// Calls `use(slot, total)` for each slot that is not empty.
  template <class Use> __device__ void finish(Use use) const {
    __syncthreads();
    for (int slot = threadIdx.x; slot < slots; slot += Threads) {
      unsigned total = 0;
      for (int k = 0; k < copies; ++k)
        total += counters[slot * copies + ((threadIdx.x + k) & (copies - 1))];
      if (total != 0) use(slot, total);
    }
  }
};

/// Returns the functor of bins, with edges in shared memory if they fit.
template <class Bins> __device__ inline Bins make_bins(const call& c, void*, const Bins*) {
  return Bins(c);
}
template <class Edge>
__device__ inline bins_of_edges<Edge> make_bins(const call& c, void* memory,
                                                const bins_of_edges<Edge>*) {
  const Edge* const edges = static_cast<const Edge*>(c.edges);
  if (!c.edges_shared) return {edges, c.bins};
  Edge* const copied = static_cast<Edge*>(memory);
  for (int k = threadIdx.x; k <= c.bins; k += blockDim.x) copied[k] = edges[k];
  __syncthreads();
  return {copied, c.bins};
}

/// Counts the elements of each bin in shared memory, and adds the counts to `counts`. Elements of
/// one byte are counted by their value first.
template <class T, class Bins, class Count, int Threads, int Loads>
__device__ inline void count_in_shared(const call& c) {
  extern __shared__ unsigned long long gpu_histogram_memory[];
  constexpr bool by_value = sizeof(T) == 1;
  const shared_counters<Threads> counters{reinterpret_cast<unsigned*>(gpu_histogram_memory),
                                          by_value ? 256 : c.bins, c.copies};
  const int used = (counters.slots * c.copies + 1) / 2;
  counters.clear();
  const Bins bins = make_bins(c, gpu_histogram_memory + used, static_cast<const Bins*>(nullptr));
  for_each<Threads, Loads>(static_cast<const T*>(c.x), c.n, [&](T x) {
    if constexpr (by_value) {
      counters.add((unsigned char)(x));
    } else {
      const int bin = bins(x);
      if (bin >= 0) counters.add(bin);
    }
  });
  counters.finish([&](int slot, unsigned total) {
    const int bin = by_value ? bins(T(slot)) : slot;
    if (bin >= 0) atomicAdd(static_cast<Count*>(c.counts) + bin, Count(total));
  });
}

/// Counts in global memory, for bins that are too many for shared memory.
template <class T, class Bins, class Count, int Threads, int Loads>
__device__ inline void count_in_global(const call& c) {
  const Bins bins = make_bins(c, nullptr, static_cast<const Bins*>(nullptr));
  for_each<Threads, Loads>(static_cast<const T*>(c.x), c.n, [&](T x) {
    const int bin = bins(x);
    if (bin >= 0) atomicAdd(static_cast<Count*>(c.counts) + bin, Count(1));
  });
}

}}  // namespace gpu::histograms
