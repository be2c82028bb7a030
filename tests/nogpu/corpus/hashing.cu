// Hashes, ciphers and generators; those with published vectors are held against them too.
#include "corpus.cuh"

__constant__ u32 sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ inline u32 rotated(u32 x, u32 k) { return __funnelshift_r(x, x, k); }

/// The SHA-256 of one block of 16 words that is padded already.
__device__ void sha256(const u32* block, u32* digest) {
  u32 w[64], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (u32 k = 0; k < 16; ++k) w[k] = block[k];
  for (u32 k = 16; k < 64; ++k) {
    const u32 a = w[k - 15], b = w[k - 2];
    w[k] = w[k - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[k - 7] +
           (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  for (u32 k = 0; k < 8; ++k) digest[k] = s[k];
  for (u32 k = 0; k < 64; ++k) {
    const u32 first = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_constants[k] + w[k];
    const u32 second = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (u32 j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += first;
    s[0] = first + second;
  }
  for (u32 k = 0; k < 8; ++k) digest[k] += s[k];
}

// FIPS 180-4, the message "abc".
//! sha256_of_abc grid=1 block=1 in=1 out=8 input=bits compare=exact
//!     published=ba7816bf,8f01cfea,414140de,5dae2223,b00361a3,96177a9c,b410ff61,f20015ad
KERNEL(sha256_of_abc) {
  u32 block[16] = {0x61626380};
  block[15] = 24;
  sha256(block, out);
}

//! sha256_of_words grid=1 block=32 in=256 out=256 input=bits compare=exact
KERNEL(sha256_of_words) {
  u32 block[16] = {};
  for (u32 k = 0; k < 8; ++k) block[k] = in[threadIdx.x * 8 + k];
  block[8] = 0x80000000;
  block[15] = 256;
  sha256(block, out + threadIdx.x * 8);
}

__device__ void philox(u32* counter, u32 key0, u32 key1) {
  for (u32 k = 0; k < 10; ++k) {
    const u64 a = u64{0xd2511f53} * counter[0], b = u64{0xcd9e8d57} * counter[2];
    const u32 next[4] = {static_cast<u32>(b >> 32) ^ counter[1] ^ key0, static_cast<u32>(b),
                         static_cast<u32>(a >> 32) ^ counter[3] ^ key1, static_cast<u32>(a)};
    for (u32 j = 0; j < 4; ++j) counter[j] = next[j];
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
}

// Random123's known answers for Philox 4x32-10: zeros, ones, digits of pi.
//! philox_known_answers grid=1 block=3 in=1 out=12 input=bits compare=exact
//!     published=6627e8d5,e169c58d,bc57ac4c,9b00dbd8,408f276d,41c83b0e
//!     published=a20bc7c6,6d5451fd,d16cfe09,94fdcceb,5001e420,24126ea1
KERNEL(philox_known_answers) {
  const u32 inputs[3][6] = {
      {},
      {~0u, ~0u, ~0u, ~0u, ~0u, ~0u},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}};
  const u32 t = threadIdx.x;
  for (u32 k = 0; k < 4; ++k) out[4 * t + k] = inputs[t][k];
  philox(out + 4 * t, inputs[t][4], inputs[t][5]);
}

//! philox_uniform grid=1 block=64 in=4 out=256 input=bits compare=exact
KERNEL(philox_uniform) {
  u32 counter[4] = {threadIdx.x, in[0], in[1], 0};
  philox(counter, in[2], in[3]);
  for (u32 k = 0; k < 4; ++k) {
    out[4 * threadIdx.x + k] = __float_as_uint(static_cast<float>(counter[k] >> 8) * 0x1p-24f);
  }
}

// RFC 8439, section 2.3.2.
//! chacha20_block grid=1 block=1 in=1 out=16 input=bits compare=exact
//!     published=e4e7f110,15593bd1,1fdd0f50,c47120a3,c7f4d1c7,0368c033
//!     published=9aaa2204,4e6cd4c3,466482d2,09aa9f07,05d7c214,a2028bd9
//!     published=d19c12b5,b94e16de,e883d0cb,4e3c50a2
KERNEL(chacha20_block) {
  u32 initial[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0, 0,          0,          0,
                     0,          0,          0,          0,          1, 0x09000000, 0x4a000000, 0};
  for (u32 k = 0; k < 8; ++k) initial[4 + k] = 0x03020100 + 0x04040404 * k;
  for (u32 k = 0; k < 16; ++k) out[k] = initial[k];
  const auto quarter = [&](u32 a, u32 b, u32 c, u32 d) {
    out[a] += out[b], out[d] = rotated(out[d] ^ out[a], 16);
    out[c] += out[d], out[b] = rotated(out[b] ^ out[c], 20);
    out[a] += out[b], out[d] = rotated(out[d] ^ out[a], 24);
    out[c] += out[d], out[b] = rotated(out[b] ^ out[c], 25);
  };
  for (u32 k = 0; k < 10; ++k) {
    for (u32 j = 0; j < 4; ++j) quarter(j, 4 + j, 8 + j, 12 + j);
    for (u32 j = 0; j < 4; ++j) quarter(j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
  }
  for (u32 k = 0; k < 16; ++k) out[k] += initial[k];
}

// The check value of CRC-32 and of CRC-32C: that of "123456789".
//! crc32_check_values grid=1 block=2 in=1 out=2 input=bits compare=exact
//! published=cbf43926,e3069283
KERNEL(crc32_check_values) {
  const u32 polynomial = threadIdx.x == 0 ? 0xedb88320 : 0x82f63b78;
  u32 crc = ~0u;
  for (const char* at = "123456789"; *at != '\0'; ++at) {
    crc ^= static_cast<u8>(*at);
    for (u32 k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
  }
  out[threadIdx.x] = ~crc;
}

//! crc32_by_table grid=1 block=256 in=256 out=256 input=bits compare=exact
KERNEL(crc32_by_table) {
  __shared__ u32 table[256];
  u32 entry = threadIdx.x;
  for (u32 k = 0; k < 8; ++k) entry = entry >> 1 ^ (entry & 1 ? 0xedb88320 : 0);
  table[threadIdx.x] = entry;
  __syncthreads();
  const u8* bytes = reinterpret_cast<const u8*>(in) + threadIdx.x;
  u32 crc = ~0u;
  for (u32 k = 0; k < 64; ++k) crc = crc >> 8 ^ table[(crc ^ bytes[k]) & 255];
  out[threadIdx.x] = ~crc;
}

//! xoshiro grid=1 block=32 in=128 out=256 input=bits compare=exact
KERNEL(xoshiro) {
  u32 s[4];
  for (u32 k = 0; k < 4; ++k) s[k] = in[threadIdx.x * 4 + k];
  for (u32 k = 0; k < 8; ++k) {
    for (u32 skipped = 0; skipped < 5; ++skipped) {
      const u32 result = rotated(s[1] * 5, 25) * 9, shifted = s[1] << 9;
      s[2] ^= s[0];
      s[3] ^= s[1];
      s[1] ^= s[2];
      s[0] ^= s[3];
      s[2] ^= shifted;
      s[3] = rotated(s[3], 21);
      if (skipped == 4) out[k * 32 + threadIdx.x] = result;
    }
  }
}

//! hash_table grid=1 block=128 in=256 out=256 input=small compare=exact
KERNEL(hash_table) {
  // Open addressing with compare-and-swap. Where a key lands depends on the order; what it counts
  // and sums does not.
  __shared__ u32 keys[512], counts[512], sums[512];
  const u32 t = threadIdx.x;
  for (u32 k = t; k < 512; k += 128) {
    keys[k] = ~0u;
    counts[k] = sums[k] = 0;
  }
  __syncthreads();
  const auto find = [&](u32 key, bool insert) {
    u32 at = key * 0x9e3779b1u >> 23;
    while (true) {
      const u32 found = insert ? atomicCAS(keys + at, ~0u, key) : keys[at];
      if (found == key || found == ~0u) return at;
      at = (at + 1) % 512;
    }
  };
  for (u32 k = t; k < 256; k += 128) {
    const u32 at = find(in[k], true);
    atomicAdd(counts + at, 1);
    atomicAdd(sums + at, k);
  }
  __syncthreads();
  for (u32 k = t; k < 256; k += 128) {
    const u32 at = find(k, false);
    out[k] = counts[at] << 16 | sums[at];
  }
}
