#pragma once
/// \file
/// How the stand-in for NCCL combines elements: in the order of the ranks, numbers of 16 bits in
/// float.

#include <nogpu/ptx/arithmetic/default_environment.hpp>
#include <nogpu/ptx/arithmetic/half_bits.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace gpu { inline namespace v1 { namespace testing::nccl {

/// ncclRedOp_t.
enum class operation : int { sum, product, max, min, average };

/// Returns the bytes of an element of ncclDataType_t; 0 for an unknown type.
constexpr std::size_t element_bytes(int type) noexcept {
  constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return type >= 0 && type < 10 ? bytes[type] : 0;
}

using bytes = std::vector<unsigned char>;

template <class T> T combined(T a, T b, operation how) noexcept {
  switch (how) {
    case operation::product:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      } else {
        return a * b;
      }
    case operation::max: return a < b ? b : a;
    case operation::min: return b < a ? b : a;
    case operation::sum:
    case operation::average: break;
  }
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

/// Combines elements that are stored as `T` and computed as `Value`.
template <class T, class Value, class Load, class Store>
bytes combine_as(const std::vector<bytes>& parts, operation how, Load load, Store store) {
  bytes result(parts[0].size());
  for (std::size_t at = 0; at < result.size(); at += sizeof(T)) {
    const auto value = [&](std::size_t rank) {
      T element;
      std::memcpy(&element, parts[rank].data() + at, sizeof element);
      return load(element);
    };
    Value sum = value(0);
    for (std::size_t rank = 1; rank < parts.size(); ++rank) sum = combined(sum, value(rank), how);
    if (how == operation::average) sum = static_cast<Value>(sum / static_cast<Value>(parts.size()));
    const T stored = store(sum);
    std::memcpy(result.data() + at, &stored, sizeof stored);
  }
  return result;
}

template <class T> bytes combine_plain(const std::vector<bytes>& parts, operation how) {
  const auto same = [](T value) { return value; };
  return combine_as<T, T>(parts, how, same, same);
}

template <class Half> bytes combine_halves(const std::vector<bytes>& parts, operation how) {
  return combine_as<Half, float>(
      parts, how, [](Half value) { return nogpu::ptx::to_float(value); },
      [](float value) { return nogpu::ptx::detail::to_half<Half>(value); });
}

/// Combines what the ranks have, element by element.
inline bytes combine(const std::vector<bytes>& parts, int type, operation how) {
  const nogpu::ptx::default_environment environment;
  switch (type) {
    case 0: return combine_plain<std::int8_t>(parts, how);
    case 1: return combine_plain<std::uint8_t>(parts, how);
    case 2: return combine_plain<std::int32_t>(parts, how);
    case 3: return combine_plain<std::uint32_t>(parts, how);
    case 4: return combine_plain<std::int64_t>(parts, how);
    case 5: return combine_plain<std::uint64_t>(parts, how);
    case 6: return combine_halves<nogpu::ptx::f16>(parts, how);
    case 7: return combine_plain<float>(parts, how);
    case 8: return combine_plain<double>(parts, how);
    case 9: return combine_halves<nogpu::ptx::bf16>(parts, how);
    default: return {};
  }
}

}}}  // namespace gpu::v1::testing::nccl
