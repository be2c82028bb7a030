#pragma once
/// \file
/// The texts of the engines of random numbers for device code: `<gpu/device/philox.hpp>` and so on,
/// which `<gpu/random.hpp>` includes. The numbers are those of cuRAND's device functions for the
/// same seed, sequence and offset.

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr char philox_header_name[] = "gpu/device/philox.hpp";
inline constexpr char philox_header[] = R"gpu(#ifndef GPU_DEVICE_PHILOX_HPP
#define GPU_DEVICE_PHILOX_HPP

namespace gpu {
namespace random {

/// Returns block `low` of a sequence of Philox 4x32-10: four numbers, as `curand4` has them.
__device__ inline uint4 philox_block(unsigned long long seed, unsigned long long sequence,
                                     unsigned long long low) {
  uint4 c = make_uint4(unsigned(low), unsigned(low >> 32), unsigned(sequence),
                       unsigned(sequence >> 32));
  unsigned key0 = unsigned(seed), key1 = unsigned(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    // Both halves of a product are one instruction. Products of 64 bits would be two.
    c = make_uint4(__umulhi(0xCD9E8D57u, c.z) ^ c.y ^ key0, 0xCD9E8D57u * c.z,
                   __umulhi(0xD2511F53u, c.x) ^ c.w ^ key1, 0xD2511F53u * c.x);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

__device__ inline unsigned word_of(const uint4& block, unsigned word) {
  return word == 0 ? block.x : word == 1 ? block.y : word == 2 ? block.z : block.w;
}

}  // namespace random

/// A `gpu::philox` of the host, as a kernel receives it.
struct philox_state {
  unsigned long long seed, sequence, offset;
};

/// Philox 4x32-10: 2^64 sequences of 2^66 numbers for each seed.
class philox {
 public:
  /// As `curand_init(seed, sequence, offset, ...)`.
  __device__ explicit philox(unsigned long long seed, unsigned long long sequence = 0,
                             unsigned long long offset = 0)
      : seed_(seed), sequence_(sequence), low_(offset / 4), word_(unsigned(offset % 4)) {
    block_ = random::philox_block(seed_, sequence_, low_);
  }
  /// Makes the generator number `index` of what the host has passed: each thread takes its own.
  __device__ philox(const philox_state& state, unsigned long long index)
      : philox(state.seed, state.sequence + index, state.offset) {}

  /// Returns 32 random bits.
  __device__ unsigned next() {
    const unsigned result = random::word_of(block_, word_);
    if (++word_ == 4) {
      word_ = 0;
      block_ = random::philox_block(seed_, sequence_, ++low_);
    }
    return result;
  }

  /// Skips `count` numbers.
  __device__ void skip(unsigned long long count) {
    const unsigned words = word_ + unsigned(count % 4);
    low_ += count / 4 + words / 4;
    word_ = words % 4;
    block_ = random::philox_block(seed_, sequence_, low_);
  }
  /// Goes on at the same place of the sequence `count` sequences further on.
  __device__ void skip_sequence(unsigned long long count) {
    sequence_ += count;
    block_ = random::philox_block(seed_, sequence_, low_);
  }

 private:
  unsigned long long seed_, sequence_, low_;
  unsigned word_;
  uint4 block_;
};

namespace random {

/// The numbers of an engine of the host: number n is in block n / 4, and block q is block q / 65536
/// of sequence q mod 65536. If Doubles, two blocks of a sequence follow each other, as in cuRAND:
/// blocks 2q and 2q + 1 are two blocks of sequence q mod 65536. `sequence` is a multiple of 65536.
/// If Aligned, `first` counts blocks.
template <bool Aligned, bool Doubles> struct philox_numbers {
  unsigned long long seed, sequence, first;

  __device__ unsigned word(unsigned long long n) const {
    const unsigned long long at = Aligned ? n : first + n;
    const unsigned long long block = Aligned ? first + n / 4 : at / 4;
    const unsigned long long column = Doubles ? block / 2 : block;
    const unsigned long long row = Doubles ? block >> 17 << 1 | (block & 1) : block >> 16;
    return word_of(philox_block(seed, sequence | (column & 0xffff), row), unsigned(at % 4));
  }
  /// Returns the number of an element in the order of the engine.
  __device__ unsigned long long place(unsigned long long n) const {
    return Aligned ? first * 4 + n : first + n;
  }
};

/// Returns an index that fits in an Index. From fewer bits the compiler sees that elements of one
/// group have one block, which is then computed once.
template <class Index> __device__ inline unsigned long long narrowed(long long index) {
  return sizeof(Index) == 4 ? (unsigned long long)(unsigned)index : (unsigned long long)index;
}

/// The words of one element, one after the other: 1, 2 or 4 of them, from a multiple of that on.
template <class Numbers> class element_words {
 public:
  __device__ element_words(const Numbers& numbers, unsigned long long first)
      : numbers_(numbers), first_(first) {}
  __device__ unsigned next() { return numbers_.word(first_ | used_++); }

 private:
  const Numbers& numbers_;
  unsigned long long first_;
  unsigned used_ = 0;
};

/// The same of any number.
template <class Numbers> class following_words {
 public:
  __device__ following_words(const Numbers& numbers, unsigned long long first)
      : numbers_(numbers), next_(first) {}
  __device__ unsigned next() { return numbers_.word(next_++); }

 private:
  const Numbers& numbers_;
  unsigned long long next_;
};

/// A sequence of its own for one element of an engine of the host, for methods that draw until a
/// number is accepted. The highest bit of the counter keeps it apart from all other numbers.
class element_sequence {
 public:
  template <class Numbers>
  __device__ element_sequence(const Numbers& numbers, unsigned long long element)
      : seed_(numbers.seed), high_(0x8000000000000000ull | numbers.sequence),
        low_(numbers.place(element)) {}
  __device__ unsigned next() {
    if (word_ == 0) block_ = philox_block(seed_, high_++, low_);
    const unsigned result = word_of(block_, word_);
    word_ = (word_ + 1) % 4;
    return result;
  }

 private:
  unsigned long long seed_, high_, low_;
  unsigned word_ = 0;
  uint4 block_;
};

}  // namespace random
}  // namespace gpu
#endif
)gpu";

inline constexpr char xorwow_header_name[] = "gpu/device/xorwow.hpp";
inline constexpr char xorwow_header[] = R"gpu(#ifndef GPU_DEVICE_XORWOW_HPP
#define GPU_DEVICE_XORWOW_HPP
#include <gpu/device/random_jumps.hpp>

namespace gpu {

/// XORWOW of Marsaglia: sequences that are 2^67 numbers apart.
class xorwow {
 public:
  /// As `curand_init(seed, sequence, offset, ...)`.
  __device__ explicit xorwow(unsigned long long seed, unsigned long long sequence = 0,
                             unsigned long long offset = 0) {
    const unsigned low = (unsigned(seed) ^ 0xaad26b49u) * 1099087573u;
    const unsigned high = (unsigned(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    v_[0] = 123456789u + low;
    v_[1] = 362436069u ^ low;
    v_[2] = 521288629u + high;
    v_[3] = 88675123u ^ high;
    v_[4] = 5783321u + low;
    weyl_ = 6615241u + low + high;
    skip_sequence(sequence);
    skip(offset);
  }

  /// Returns 32 random bits.
  __device__ unsigned next() {
    step();
    return v_[4] + weyl_;
  }

  /// Skips `count` numbers.
  __device__ void skip(unsigned long long count) {
    jump(0, count);
    weyl_ += 362437u * unsigned(count);
  }
  /// Skips `count` times 2^67 numbers.
  __device__ void skip_sequence(unsigned long long count) { jump(67, count); }

 private:
  __device__ void step() {
    const unsigned t = v_[0] ^ (v_[0] >> 2);
    v_[0] = v_[1];
    v_[1] = v_[2];
    v_[2] = v_[3];
    v_[3] = v_[4];
    v_[4] = (v_[4] ^ (v_[4] << 4)) ^ (t ^ (t << 1));
    weyl_ += 362437u;
  }

  /// Advances by count * 2^first: for each bit by a polynomial of the transition. Not inlined, for the
  /// sake of the time that it takes to compile.
  __device__ __noinline__ void jump(int first, unsigned long long count) {
    const unsigned weyl = weyl_;
    for (; count != 0; count &= count - 1) {
      const unsigned* const polynomial = random::xorwow_jumps[first + __ffsll(count) - 1];
      unsigned sum[5] = {};
      for (int word = 0; word < 5; ++word) {
        unsigned bits = polynomial[word];
        for (int bit = 0; bit < 32; ++bit, bits >>= 1) {
          const unsigned mask = 0u - (bits & 1u);
#pragma unroll
          for (int k = 0; k < 5; ++k) sum[k] ^= v_[k] & mask;
          step();
        }
      }
#pragma unroll
      for (int k = 0; k < 5; ++k) v_[k] = sum[k];
    }
    weyl_ = weyl;
  }

  unsigned v_[5];
  unsigned weyl_;
};

}  // namespace gpu
#endif
)gpu";

inline constexpr char mrg32k3a_header_name[] = "gpu/device/mrg32k3a.hpp";
inline constexpr char mrg32k3a_header[] = R"gpu(#ifndef GPU_DEVICE_MRG32K3A_HPP
#define GPU_DEVICE_MRG32K3A_HPP
#include <gpu/device/random_jumps.hpp>

namespace gpu {

/// MRG32k3a of L'Ecuyer: sequences that are 2^76 numbers apart.
class mrg32k3a {
 public:
  /// As `curand_init(seed, sequence, offset, ...)`.
  __device__ explicit mrg32k3a(unsigned long long seed, unsigned long long sequence = 0,
                               unsigned long long offset = 0) {
    unsigned long long low = 1, high = 1;
    if (seed != 0) {
      low = unsigned(seed) ^ 0x55555555u;
      high = unsigned(seed >> 32) ^ 0xAAAAAAAAu;
    }
    a_[0] = a_[2] = 12345u * low % m1;
    a_[1] = 12345u * high % m1;
    b_[0] = b_[2] = 12345u * high % m2;
    b_[1] = 12345u * low % m2;
    skip_sequence(sequence);
    skip(offset);
  }

  /// Returns a number from 1 to 4294967087, all of them equally likely.
  __device__ unsigned next_state() {
    step();
    const unsigned long long difference = a_[2] > b_[2] ? a_[2] - b_[2] : a_[2] + m1 - b_[2];
    return unsigned(difference);
  }
  /// Returns 32 bits: the number scaled to the range of `unsigned`, as by `curand`.
  __device__ unsigned next() { return unsigned(next_state() * 1.000000048662); }

  /// Skips `count` numbers.
  __device__ void skip(unsigned long long count) { jump(0, count); }
  /// Skips `count` times 2^76 numbers, as cuRAND's `skipahead_subsequence`.
  __device__ void skip_sequence(unsigned long long count) { jump(76, count); }
  /// Skips `count` times 2^127 numbers, as cuRAND's `skipahead_sequence`.
  __device__ void skip_stream(unsigned long long count) { jump(127, count); }

 private:
  static constexpr unsigned long long m1 = 4294967087u, m2 = 4294944443u;

  __device__ void step() {
    const unsigned long long a = (1403580u * a_[1] + 810728u * (m1 - a_[0])) % m1;
    const unsigned long long b = (527612u * b_[2] + 1370589u * (m2 - b_[0])) % m2;
    a_[0] = a_[1];
    a_[1] = a_[2];
    a_[2] = a;
    b_[0] = b_[1];
    b_[1] = b_[2];
    b_[2] = b;
  }

  /// Advances by count * 2^first: for each bit by a polynomial of the transition. Not inlined, for the
  /// sake of the time that it takes to compile.
  __device__ __noinline__ void jump(int first, unsigned long long count) {
    for (; count != 0; count &= count - 1) {
      const unsigned* const c = random::mrg32k3a_jumps[first + __ffsll(count) - 1];
      unsigned long long a[3] = {}, b[3] = {};
      for (int power = 0; power < 3; ++power) {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          a[k] = (a[k] + c[power] * a_[k] % m1) % m1;
          b[k] = (b[k] + c[3 + power] * b_[k] % m2) % m2;
        }
        step();
      }
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        a_[k] = a[k];
        b_[k] = b[k];
      }
    }
  }

  unsigned long long a_[3], b_[3];
};

// In (0, 1], as `curand_uniform` and `curand_uniform_double` have them: from one number.
__device__ inline float unit32(mrg32k3a& engine) {
  return float(engine.next_state() * 2.3283065498378288e-10);
}
__device__ inline double unit53(mrg32k3a& engine) {
  return engine.next_state() * 2.3283065498378288e-10;
}
__device__ inline unsigned long long bits53(mrg32k3a& engine) {
  return (unsigned long long)(unit53(engine) * 9007199254740992.0);
}

}  // namespace gpu
#endif
)gpu";

}}}  // namespace gpu::v1::detail
