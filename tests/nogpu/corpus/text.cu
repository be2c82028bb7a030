// Sequences of characters.
#include "corpus.cuh"

__device__ inline u8 letter(const u32* in, u32 k) { return static_cast<u8>(in[k] % 4 + 'a'); }

//! levenshtein grid=1 block=32 in=64 out=64 input=small compare=exact
KERNEL(levenshtein) {
  // Along the diagonals: each lane has a row and hands its value down.
  const u32 lane = threadIdx.x;
  const u8 mine = letter(in, lane);
  u32 left = lane + 1, diagonal = lane, result = 0;
  for (u32 step = 0; step < 63; ++step) {
    const u32 above_now = __shfl_up_sync(0xffffffff, left, 1);
    const s32 column = static_cast<s32>(step) - static_cast<s32>(lane);
    const bool active = column >= 0 && column < 32;
    const u32 above = lane == 0 ? static_cast<u32>(column) + 1 : above_now;
    if (active) {
      const u32 cost = mine != letter(in, 32 + static_cast<u32>(column));
      const u32 value = min(min(left, above) + 1, diagonal + cost);
      diagonal = above;
      left = value;
      result = value;
    }
  }
  out[lane] = result;
  out[32 + lane] = diagonal;
}

// kitten and sitting, Saturday and Sunday: 3 and 3.
//! levenshtein_of_words grid=1 block=2 in=1 out=2 input=bits compare=exact published=3,3
KERNEL(levenshtein_of_words) {
  const char* const words[2][2] = {{"kitten", "sitting"}, {"Saturday", "Sunday"}};
  const char *a = words[threadIdx.x][0], *b = words[threadIdx.x][1];
  u32 row[16];
  for (u32 k = 0; k < 16; ++k) row[k] = k;
  u32 length = 0;
  for (u32 i = 0; a[i] != '\0'; ++i) {
    u32 diagonal = row[0]++;
    for (length = 0; b[length] != '\0'; ++length) {
      const u32 kept = row[length + 1];
      row[length + 1] = min(min(row[length], kept) + 1, diagonal + (a[i] != b[length]));
      diagonal = kept;
    }
  }
  out[threadIdx.x] = row[length];
}

//! string_search grid=1 block=128 in=256 out=128 input=small compare=exact
KERNEL(string_search) {
  const char* const patterns[4] = {"ab", "cad", "bb", "dac"};
  u32 found = 0;
  for (u32 p = 0; p < 4; ++p) {
    for (u32 half = 0; half < 2; ++half) {
      u32 k = 0;
      while (patterns[p][k] != '\0' &&
             letter(in, (2 * threadIdx.x + half + k) % 256) == patterns[p][k])
        ++k;
      found |= static_cast<u32>(patterns[p][k] == '\0') << (2 * p + half);
    }
  }
  out[threadIdx.x] = found;
}

//! longest_common_subsequence grid=1 block=16 in=256 out=16 input=small compare=exact
KERNEL(longest_common_subsequence) {
  u8 row[33] = {};
  for (u32 i = 0; i < 32; ++i) {
    u8 diagonal = 0;
    for (u32 j = 0; j < 32; ++j) {
      const u8 above = row[j + 1];
      row[j + 1] =
          letter(in, (threadIdx.x * 9 + i) % 256) == letter(in, (threadIdx.x * 5 + 128 + j) % 256)
              ? static_cast<u8>(diagonal + 1)
              : max(above, row[j]);
      diagonal = above;
    }
  }
  out[threadIdx.x] = row[32];
}

//! base64 grid=1 block=64 in=48 out=64 input=bits compare=exact
KERNEL(base64) {
  const char* const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const u8* bytes = reinterpret_cast<const u8*>(in) + threadIdx.x * 3;
  const u32 group = static_cast<u32>(bytes[0]) << 16 | static_cast<u32>(bytes[1]) << 8 | bytes[2];
  u32 encoded = 0;
  for (u32 k = 0; k < 4; ++k)
    encoded |= static_cast<u32>(alphabet[group >> (18 - 6 * k) & 63]) << 8 * k;
  out[threadIdx.x] = encoded;
}

//! numbers_printed_and_read grid=1 block=32 in=32 out=128 input=bits compare=exact
KERNEL(numbers_printed_and_read) {
  char digits[16];
  s32 x = static_cast<s32>(in[threadIdx.x]);
  u32 magnitude = x < 0 ? 0u - static_cast<u32>(x) : static_cast<u32>(x), count = 0;
  do digits[count++] = static_cast<char>('0' + magnitude % 10);
  while ((magnitude /= 10) != 0);
  if (x < 0) digits[count++] = '-';
  u32 packed[3] = {};
  for (u32 k = 0; k < count; ++k) {
    packed[k / 4] |= static_cast<u32>(static_cast<u8>(digits[count - 1 - k])) << k % 4 * 8;
  }
  for (u32 k = 0; k < 3; ++k) out[threadIdx.x * 4 + k] = packed[k];
  u32 read = 0;
  for (u32 k = count; k-- > 0;) {
    if (digits[k] != '-') read = read * 10 + static_cast<u32>(digits[k] - '0');
  }
  out[threadIdx.x * 4 + 3] = x < 0 ? 0u - read : read;
}

//! run_lengths grid=1 block=1 in=64 out=128 input=small compare=exact
KERNEL(run_lengths) {
  u32 runs = 0;
  for (u32 k = 0; k < 64;) {
    const u32 value = in[k] % 2;
    u32 end = k;
    while (end < 64 && in[end] % 2 == value) ++end;
    out[runs++] = value << 16 | (end - k);
    k = end;
  }
}

//! burrows_wheeler grid=1 block=32 in=32 out=32 input=small compare=exact
KERNEL(burrows_wheeler) {
  // Each lane finds the rank of its rotation by comparing it with all others.
  __shared__ u8 characters[32];
  const u32 t = threadIdx.x;
  characters[t] = letter(in, t);
  __syncwarp();
  u32 rank = 0;
  for (u32 other = 0; other < 32; ++other) {
    u32 k = 0;
    while (k < 32 && characters[(t + k) % 32] == characters[(other + k) % 32]) ++k;
    const bool less = k == 32 ? other < t : characters[(other + k) % 32] < characters[(t + k) % 32];
    rank += less;
  }
  out[rank] = static_cast<u32>(characters[(t + 31) % 32]) << 8 | t;
}
