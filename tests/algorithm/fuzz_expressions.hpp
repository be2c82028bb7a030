#pragma once
/// \file
/// Random expressions of the parameters of a snippet, as text and as functions on the host, and
/// random layouts of the arguments.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace fuzz_test {

using algorithm_test::fixture;
using u64 = std::uint64_t;

/// A deterministic source of choices.
struct chooser {
  std::mt19937_64 engine;
  std::size_t below(std::size_t count) { return engine() % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
};

/// Elements somewhere in a larger buffer.
template <class T> struct operand {
  std::vector<T> host;
  std::optional<gpu::device_buffer<T>> memory;
  std::array<std::ptrdiff_t, 4> strides{};
  std::ptrdiff_t first = 0;

  std::size_t place(const std::vector<std::size_t>& extents, std::size_t index) const {
    std::ptrdiff_t at = first;
    for (std::size_t axis = extents.size(); axis-- > 0; index /= extents[axis])
      at += static_cast<std::ptrdiff_t>(index % extents[axis]) * strides[axis];
    return static_cast<std::size_t>(at);
  }
};

template <class T> T number(chooser& choose) {
  const auto small = static_cast<int>(choose.below(2001)) - 1000;
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(small) / T(7);
  return static_cast<T>(small);
}

/// Chooses where elements are: contiguous at any address, or with axes in any order and direction,
/// with gaps and, if they are only read, repeated.
template <class T>
operand<T> place_elements(const fixture& f, chooser& choose,
                          const std::vector<std::size_t>& extents, bool written) {
  operand<T> made;
  std::vector<std::size_t> order(extents.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) order[axis] = order.size() - 1 - axis;
  const bool plain = choose.one_in(3);
  if (!plain && choose.one_in(2)) std::shuffle(order.begin(), order.end(), choose.engine);
  std::ptrdiff_t next = 1;
  made.first = static_cast<std::ptrdiff_t>(choose.below(6));
  for (const std::size_t axis : order) {
    if (!plain && choose.one_in(4)) next += static_cast<std::ptrdiff_t>(choose.below(4));
    made.strides[axis] = next;
    next *= std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(extents[axis]));
    if (plain) continue;
    if (!written && choose.one_in(6)) {
      made.strides[axis] = 0;
    } else if (extents[axis] > 0 && choose.one_in(4)) {
      made.first += (static_cast<std::ptrdiff_t>(extents[axis]) - 1) * made.strides[axis];
      made.strides[axis] = -made.strides[axis];
    }
  }
  made.host.resize(static_cast<std::size_t>(next) + 6 + static_cast<std::size_t>(made.first));
  for (T& each : made.host) each = number<T>(choose);
  made.memory.emplace(f.upload(made.host));
  return made;
}

template <int Rank, class T>
gpu::array_view<T, Rank> view_of(operand<T>& from, const std::vector<std::size_t>& extents) {
  std::size_t sizes[Rank];
  std::ptrdiff_t strides[Rank];
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    sizes[axis] = extents[axis];
    strides[axis] = from.strides[axis];
  }
  return gpu::array_view<T, Rank>::from_native(
      from.memory->span().native() + static_cast<CUdeviceptr>(from.first) * sizeof(T), sizes,
      strides);
}

/// The arguments of all snippets: x, k, d, table and s are read.
struct arguments {
  std::vector<std::size_t> extents;
  std::size_t count = 1;
  operand<float> x;
  operand<int> k;
  operand<double> d;
  std::vector<int> table;
  std::optional<gpu::device_buffer<int>> table_memory;
  float s;
  operand<float> y;
  operand<long long> z;

  arguments(const fixture& f, chooser& choose, bool empty) {
    const std::size_t rank = 1 + choose.below(4);
    const std::size_t most = rank == 1 ? 20'000 : rank == 2 ? 140 : rank == 3 ? 24 : 9;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      extents.push_back(empty && axis == 0 ? 0 : 1 + choose.below(most));
      count *= extents.back();
    }
    x = place_elements<float>(f, choose, extents, false);
    k = place_elements<int>(f, choose, extents, false);
    d = place_elements<double>(f, choose, extents, false);
    y = place_elements<float>(f, choose, extents, true);
    z = place_elements<long long>(f, choose, extents, true);
    for (int each = 0; each < 7; ++each) table.push_back(number<int>(choose));
    table_memory.emplace(f.upload(table));
    s = number<float>(choose);
  }

  template <class T> T at(const operand<T>& of, std::size_t i) const {
    return of.host[of.place(extents, i)];
  }
};

/// An expression of one of four types, as text and as a function of the index.
template <class T> struct expression {
  std::string text;
  std::function<T(const arguments&, std::size_t)> value;
};

inline float helper(float a, float b) {
  const volatile float product = a * b;
  return product - a;
}
inline constexpr const char* preamble = "float helper(float a, float b) { return a * b - a; }";

class generator {
 public:
  explicit generator(chooser& choose) : choose_{choose} {}

  template <class T> expression<T> make(int depth) {
    if (depth == 0 || choose_.one_in(5)) return leaf<T>();
    if (choose_.one_in(6)) return chosen<T>(depth - 1);
    if constexpr (std::is_same_v<T, float>) {
      if (choose_.one_in(6)) return converted<float, double>(depth, "(float)");
      if (choose_.one_in(8)) return converted<float, unsigned>(depth, "(float)");
      if (choose_.one_in(8)) {
        auto a = make<float>(depth - 1), b = make<float>(depth - 1);
        return {"helper(" + a.text + ", " + b.text + ")", [=](const arguments& in, std::size_t i) {
                  return helper(a.value(in, i), b.value(in, i));
                }};
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      if (choose_.one_in(5)) return converted<double, float>(depth, "(double)");
      if (choose_.one_in(6)) return converted<double, long long>(depth, "(double)");
    }
    if constexpr (std::is_same_v<T, long long>) {
      if (choose_.one_in(5)) return converted<long long, unsigned>(depth, "(long long)");
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (choose_.one_in(7)) {
        auto a = make<T>(depth - 1);
        return {"sqrt(" + a.text + ")",
                [=](const arguments& in, std::size_t i) { return std::sqrt(a.value(in, i)); }};
      }
    }
    return combined<T>(depth - 1);
  }

  /// A comparison of integers, which has no unknown numbers.
  expression<bool> condition() {
    auto a = make<unsigned>(1), b = make<unsigned>(1);
    return {"(" + a.text + " % 97u < " + b.text + " % 97u)",
            [=](const arguments& in, std::size_t i) {
              return a.value(in, i) % 97 < b.value(in, i) % 97;
            }};
  }

 private:
  template <class T> expression<T> leaf() {
    const std::size_t kind = choose_.below(4);
    if constexpr (std::is_same_v<T, float>) {
      if (kind == 0) return {"s", [](const arguments& in, std::size_t) { return in.s; }};
      if (kind == 1)
        return {"(i > 0 ? x[i - 1] : x[i])",
                [](const arguments& in, std::size_t i) { return in.at(in.x, i > 0 ? i - 1 : i); }};
      return {"x[i]", [](const arguments& in, std::size_t i) { return in.at(in.x, i); }};
    } else if constexpr (std::is_same_v<T, double>) {
      if (kind == 0) return {"0.625", [](const arguments&, std::size_t) { return 0.625; }};
      return {"d[i]", [](const arguments& in, std::size_t i) { return in.at(in.d, i); }};
    } else if constexpr (std::is_same_v<T, unsigned>) {
      if (kind == 0)
        return {"(unsigned)table[i % 7]", [](const arguments& in, std::size_t i) {
                  return static_cast<unsigned>(in.table[i % 7]);
                }};
      if (kind == 1)
        return {"(unsigned)(i + 1 < n ? k[i + 1] : k[i])", [](const arguments& in, std::size_t i) {
                  return static_cast<unsigned>(in.at(in.k, i + 1 < in.count ? i + 1 : i));
                }};
      return {"(unsigned)k[i]", [](const arguments& in, std::size_t i) {
                return static_cast<unsigned>(in.at(in.k, i));
              }};
    } else {
      if (kind == 0)
        return {"n",
                [](const arguments& in, std::size_t) { return static_cast<long long>(in.count); }};
      if (kind == 1)
        return {"i", [](const arguments&, std::size_t i) { return static_cast<long long>(i); }};
      return {"(long long)k[i]", [](const arguments& in, std::size_t i) {
                return static_cast<long long>(in.at(in.k, i));
              }};
    }
  }

  template <class T> expression<T> chosen(int depth) {
    auto c = condition();
    auto a = make<T>(depth), b = make<T>(depth);
    return {"(" + c.text + " ? " + a.text + " : " + b.text + ")",
            [=](const arguments& in, std::size_t i) {
              return c.value(in, i) ? a.value(in, i) : b.value(in, i);
            }};
  }

  template <class T, class From> expression<T> converted(int depth, const char* cast) {
    auto a = make<From>(depth - 1);
    return {cast + ("(" + a.text + ")"),
            [=](const arguments& in, std::size_t i) { return static_cast<T>(a.value(in, i)); }};
  }

  template <class T> expression<T> combined(int depth) {
    auto a = make<T>(depth), b = make<T>(depth);
    const char sign = "+-*/"[choose_.below(std::is_floating_point_v<T> ? 4 : 3)];
    // Signed integers may overflow, so that they are combined as unsigned ones.
    const std::string cast = std::is_same_v<T, long long> ? "(unsigned long long)" : "";
    const std::string back = std::is_same_v<T, long long> ? "(long long)" : "";
    return {back + "(" + cast + a.text + " " + sign + " " + cast + b.text + ")",
            [=](const arguments& in, std::size_t i) {
              const T left = a.value(in, i), right = b.value(in, i);
              using work = std::conditional_t<std::is_same_v<T, long long>, u64, T>;
              const auto l = static_cast<work>(left), r = static_cast<work>(right);
              if constexpr (std::is_floating_point_v<T>) {
                if (sign == '/') return l / r;
              }
              return static_cast<T>(sign == '+' ? l + r : sign == '-' ? l - r : l * r);
            }};
  }

  chooser& choose_;
};

}  // namespace fuzz_test
