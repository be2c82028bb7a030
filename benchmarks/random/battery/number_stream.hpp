#pragma once
// The sequences that engines have in device code, computed by the host: 32 bits at a time, for
// batteries of statistical tests. `agrees` compares their beginnings with cuRAND's.

#include <cstdint>
#include <cstring>

namespace number_stream {

/// Philox 4x32-10, blocks of sequence 0.
class philox {
 public:
  explicit philox(std::uint64_t seed) : seed_{seed} {}
  std::uint32_t next() {
    if (word_ == 0) make();
    const std::uint32_t result = block_[word_];
    word_ = (word_ + 1) % 4;
    return result;
  }

 private:
  void make() {
    std::uint32_t c[4] = {std::uint32_t(index_), std::uint32_t(index_ >> 32), 0, 0};
    auto key0 = std::uint32_t(seed_), key1 = std::uint32_t(seed_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
      const std::uint32_t made[4] = {std::uint32_t(p1 >> 32) ^ c[1] ^ key0, std::uint32_t(p1),
                                     std::uint32_t(p0 >> 32) ^ c[3] ^ key1, std::uint32_t(p0)};
      std::memcpy(c, made, sizeof c);
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    std::memcpy(block_, c, sizeof block_);
    ++index_;
  }
  std::uint64_t seed_, index_ = 0;
  std::uint32_t block_[4] = {};
  int word_ = 0;
};

class xorwow {
 public:
  explicit xorwow(std::uint64_t seed) {
    const std::uint32_t low = (std::uint32_t(seed) ^ 0xaad26b49u) * 1099087573u;
    const std::uint32_t high = (std::uint32_t(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    const std::uint32_t start[5] = {123456789u + low, 362436069u ^ low, 521288629u + high,
                                    88675123u ^ high, 5783321u + low};
    std::memcpy(v_, start, sizeof v_);
    weyl_ = 6615241u + low + high;
  }
  std::uint32_t next() {
    const std::uint32_t t = v_[0] ^ (v_[0] >> 2);
    for (int k = 0; k < 4; ++k) v_[k] = v_[k + 1];
    v_[4] = (v_[4] ^ (v_[4] << 4)) ^ (t ^ (t << 1));
    return v_[4] + (weyl_ += 362437u);
  }

 private:
  std::uint32_t v_[5], weyl_;
};

class mrg32k3a {
 public:
  explicit mrg32k3a(std::uint64_t seed) {
    std::uint64_t low = 1, high = 1;
    if (seed != 0) {
      low = std::uint32_t(seed) ^ 0x55555555u;
      high = std::uint32_t(seed >> 32) ^ 0xAAAAAAAAu;
    }
    a_[0] = a_[2] = 12345u * low % m1;
    a_[1] = 12345u * high % m1;
    b_[0] = b_[2] = 12345u * high % m2;
    b_[1] = 12345u * low % m2;
  }
  std::uint32_t next() {
    const std::uint64_t a = (1403580u * a_[1] + 810728u * (m1 - a_[0])) % m1;
    const std::uint64_t b = (527612u * b_[2] + 1370589u * (m2 - b_[0])) % m2;
    a_[0] = a_[1], a_[1] = a_[2], a_[2] = a;
    b_[0] = b_[1], b_[1] = b_[2], b_[2] = b;
    return std::uint32_t(double(a > b ? a - b : a + m1 - b) * 1.000000048662);
  }

 private:
  static constexpr std::uint64_t m1 = 4294967087u, m2 = 4294944443u;
  std::uint64_t a_[3], b_[3];
};

/// Whether an engine with the seed 42 begins as cuRAND's.
template <class Engine> bool begins(const std::uint32_t (&expected)[4]) {
  Engine engine(42);
  for (const std::uint32_t each : expected) {
    if (engine.next() != each) return false;
  }
  return true;
}
inline bool agrees() {
  return begins<philox>({0x9ceaf053u, 0x77f5493bu, 0x12bf50adu, 0x5742b3d7u}) &&
         begins<xorwow>({0x11ece47fu, 0x8cdacf50u, 0x2faeaeb6u, 0x8a2920e0u}) &&
         begins<mrg32k3a>({0x3b3f724du, 0xf79d7569u, 0xe33e8ecdu, 0x4c8581b9u});
}

}  // namespace number_stream
