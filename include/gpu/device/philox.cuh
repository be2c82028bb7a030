#pragma once
/// \file
/// Philox 4x32-10. The numbers are those of cuRAND's device functions for the same seed, sequence
/// and offset.

namespace gpu {
namespace random {

/// Returns block `low` of a sequence of Philox 4x32-10: four numbers, as `curand4` has them.
__device__ inline uint4 philox_block(unsigned long long seed, unsigned long long sequence,
                                     unsigned long long low) {
  uint4 c =
      make_uint4(unsigned(low), unsigned(low >> 32), unsigned(sequence), unsigned(sequence >> 32));
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
      : seed_(numbers.seed),
        high_(0x8000000000000000ull | numbers.sequence),
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
