// Graphs, and other things that are searched.
#include "corpus.cuh"

/// The k-th of four neighbours of a node of the graph that the input describes.
__device__ inline u32 neighbour(const u32* in, u32 node, u32 k, u32 count) {
  return (in[node] >> 8 * k ^ node * (k + 1)) % count;
}

//! breadth_first_search grid=1 block=128 in=256 out=256 input=bits compare=exact
KERNEL(breadth_first_search) {
  __shared__ u32 queue[256], head, tail, end;
  u32* const distance = out;
  const u32 t = threadIdx.x;
  for (u32 k = t; k < 256; k += 128) distance[k] = ~0u;
  __syncthreads();
  if (t == 0) {
    queue[0] = 0;
    distance[0] = 0;
    head = 0;
    tail = end = 1;
  }
  __syncthreads();
  for (u32 level = 1; head < end; ++level) {
    for (u32 at = head + t; at < end; at += 128) {
      for (u32 k = 0; k < 2; ++k) {
        const u32 next = neighbour(in, queue[at], k, 256);
        if (atomicCAS(distance + next, ~0u, level) == ~0u) queue[atomicAdd(&tail, 1)] = next;
      }
    }
    __syncthreads();
    if (t == 0) {
      head = end;
      end = tail;
    }
    __syncthreads();
  }
}

//! floyd_warshall grid=1 block=14x14 in=196 out=196 input=small compare=exact
KERNEL(floyd_warshall) {
  __shared__ u32 distance[14][14];
  const u32 row = threadIdx.y, column = threadIdx.x;
  distance[row][column] = row == column ? 0 : in[row * 14 + column] + 1;
  for (u32 k = 0; k < 14; ++k) {
    __syncthreads();
    const u32 through = distance[row][k] + distance[k][column];
    __syncthreads();
    if (through < distance[row][column]) distance[row][column] = through;
  }
  out[row * 14 + column] = distance[row][column];
}

//! union_find grid=1 block=128 in=256 out=256 input=bits compare=exact
KERNEL(union_find) {
  // Roots are the smallest member in the end, whatever the order.
  __shared__ u32 parent[256];
  const u32 t = threadIdx.x;
  for (u32 k = t; k < 256; k += 128) parent[k] = k;
  __syncthreads();
  volatile u32* const parents = parent;
  for (u32 k = t; k < 256; k += 256) {
    u32 a = k, b = neighbour(in, k, 1, 256);
    while (true) {
      while (parents[a] != a) a = parents[a];
      while (parents[b] != b) b = parents[b];
      if (a == b) break;
      if (a < b) {
        const u32 kept = a;
        a = b;
        b = kept;
      }
      const u32 old = atomicCAS(parent + a, a, b);
      if (old == a) break;
      a = old;
    }
  }
  __syncthreads();
  for (u32 k = t; k < 256; k += 128) {
    u32 root = k;
    while (parent[root] != root) root = parent[root];
    out[k] = root;
  }
}

//! bellman_ford grid=1 block=64 in=64 out=64 input=bits compare=exact
KERNEL(bellman_ford) {
  __shared__ u32 distance[64], changed;
  const u32 t = threadIdx.x;
  distance[t] = t == 0 ? 0 : 1u << 30;
  do {
    __syncthreads();
    if (t == 0) changed = 0;
    __syncthreads();
    const u32 mine = atomicAdd(distance + t, 0);
    for (u32 k = 0; k < 3; ++k) {
      const u32 to = neighbour(in, t, k, 64), length = mine + (in[t] >> 5 * k & 31) + 1;
      if (mine < 1u << 30 && length < atomicMin(distance + to, length)) atomicExch(&changed, 1);
    }
    __syncthreads();
  } while (changed);
  out[t] = distance[t];
}

//! page_rank grid=1 block=64 in=64 out=64 input=bits compare=exact
KERNEL(page_rank) {
  // Gathers from all that point here, in the order of their numbers.
  __shared__ float rank[64];
  const u32 t = threadIdx.x;
  rank[t] = 1.0f / 64;
  for (u32 round = 0; round < 5; ++round) {
    __syncthreads();
    float sum = 0;
    for (u32 k = 0; k < 64; ++k) {
      for (u32 j = 0; j < 2; ++j) {
        if (neighbour(in, k, j, 64) == t) sum += rank[k] * 0.5f;
      }
    }
    __syncthreads();
    rank[t] = 0.15f / 64 + 0.85f * sum;
  }
  out[t] = __float_as_uint(rank[t]);
}

__device__ u32 placed_queens(u32 size, u32 row, u32 columns, u32 left, u32 right) {
  if (row == size) return 1;
  u32 count = 0;
  for (u32 open = ~(columns | left | right) & ((1u << size) - 1); open != 0; open &= open - 1) {
    const u32 bit = open & (0u - open);
    count += placed_queens(size, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return count;
}

// The numbers of solutions for boards of 1 to 8, OEIS A000170.
//! queens grid=1 block=8 in=1 out=8 input=bits compare=exact published=1,0,0,2,a,4,28,5c
KERNEL(queens) { out[threadIdx.x] = placed_queens(threadIdx.x + 1, 0, 0, 0, 0); }

//! binary_search_tree grid=1 block=32 in=128 out=128 input=bits compare=exact
KERNEL(binary_search_tree) {
  // Built by one thread on the heap, searched by all.
  struct tree {
    u32 key, order;
    tree* below[2];
  };
  __shared__ tree* root;
  const u32 t = threadIdx.x;
  if (t == 0) {
    root = nullptr;
    for (u32 k = 0; k < 64; ++k) {
      tree** at = &root;
      while (*at != nullptr) at = &(*at)->below[in[k] > (*at)->key];
      *at = static_cast<tree*>(malloc(sizeof(tree)));
      **at = {in[k], k, {nullptr, nullptr}};
    }
  }
  __syncthreads();
  for (u32 k = t; k < 128; k += 32) {
    u32 depth = 0, found = 0xff;
    for (const tree* at = root; at != nullptr; ++depth) {
      if (at->key == in[k]) {
        found = at->order;
        break;
      }
      at = at->below[in[k] > at->key];
    }
    out[k] = depth << 8 | found;
  }
  __syncthreads();
  if (t == 0) {
    // Turns the tree into a list while it is freed.
    tree* rest = root;
    while (rest != nullptr) {
      if (tree* const left = rest->below[0]) {
        rest->below[0] = left->below[1];
        left->below[1] = rest;
        rest = left;
      } else {
        tree* const next = rest->below[1];
        free(rest);
        rest = next;
      }
    }
  }
}
