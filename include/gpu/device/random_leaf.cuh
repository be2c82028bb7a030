#pragma once
/// \file
/// The elements of random numbers as operands of expressions.

#include <gpu/device/distributions.cuh>
#include <gpu/device/philox.cuh>
#include <gpu/device/poisson.cuh>
#include <gpu/device/sobol.cuh>

namespace gpu { namespace random {

struct leaf_state {
  unsigned long long seed, sequence, first;
  double a, b, c;
  unsigned long long least, count, sums, tables, shifts, points;
  unsigned long long elements, dimensions, empty_range, exhausted;
};

/// The words of an element of Philox, so many of each.
template <bool Aligned, bool Doubles, int Words> struct philox_leaf {
  static constexpr bool inverts = false;
  using numbers_type = philox_numbers<Aligned, Doubles>;
  numbers_type numbers;
  element_words<numbers_type> words;

  __device__ philox_leaf(const leaf_state& s, unsigned long long at)
      : numbers{s.seed, s.sequence << 16, s.first}, words(numbers, at * Words) {}
  philox_leaf(const philox_leaf&) = delete;
};
/// The number of an element in its dimension.
template <class Word> struct sobol_leaf {
  static constexpr bool inverts = true;
  sobol<Word> words;

  __device__ sobol_leaf(const leaf_state& s, unsigned long long at)
      : sobol_leaf(s, at / s.points, at % s.points) {}
  __device__ sobol_leaf(const leaf_state& s, unsigned long long dimension, unsigned long long point)
      : sobol_leaf((const Word*)s.tables + dimension * (32 * sizeof(Word)),
                   ((const Word*)s.shifts)[dimension], Word(s.first + point)) {}
  __device__ sobol_leaf(const Word* tables, Word shift, Word number)
      : words(tables, shift ^ sobol_number(tables, Word(number / 4), unsigned(number % 4))) {}
};

template <class T, class Source>
__device__ inline T random_bits_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  return whole<T>(own.words);
}
template <class T, class Source>
__device__ inline T uniform_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  return uniform_above<T>(own.words, T(s.a), T(s.b), T(s.c));
}
template <class T, class Source>
__device__ inline T uniform_from_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  return uniform_below<T>(own.words, T(s.a), T(s.b), T(s.c));
}
template <class T, class Source>
__device__ inline T exponential_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  return exponential<T>(own.words, T(s.a));
}
template <class T, class Source>
__device__ inline T normal_leaf(const leaf_state& s, unsigned long long at) {
  if constexpr (Source::inverts) {
    Source own(s, at);
    return of<T>::multiply_add(T(s.b), normal<T>(own.words), T(s.a));
  } else {
    Source own(s, at / 2 * 2);
    return of<T>::multiply_add(T(s.b), normal_of_pair<T>(own.words, at % 2 != 0), T(s.a));
  }
}
template <class T, class Source>
__device__ inline T log_normal_leaf(const leaf_state& s, unsigned long long at) {
  return of<T>::exp_of(normal_leaf<T, Source>(s, at));
}
template <class T, class Source>
__device__ inline bool bernoulli_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  return bernoulli(own.words, s.a);
}
template <class T, class Source>
__device__ inline long long discrete_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  return discrete(own.words, (const double*)s.sums, s.count);
}
template <class T, class Source>
__device__ inline unsigned long long uniform_integers_leaf(const leaf_state& s,
                                                           unsigned long long at) {
  Source own(s, at);
  element_sequence more(own.numbers, at);
  return integer_from(own.words, more, s.least, s.count);
}
template <class T, class Source>
__device__ inline T on_sphere_leaf(const leaf_state& s, unsigned long long at) {
  typename Source::numbers_type numbers{s.seed, s.sequence << 16, s.first};
  following_words<typename Source::numbers_type> words(
      numbers, at / s.count * (s.count + s.count % 2) * (sizeof(T) / 4));
  return on_sphere<T>(words, at % s.count, s.count);
}
template <class T, class Source>
__device__ inline double poisson_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  if constexpr (Source::inverts) {
    return poisson(own.words, s.a);
  } else {
    element_sequence drawn(own.numbers, at);
    return poisson_from(own.words.next(), drawn, s.a);
  }
}
template <class T, class Source>
__device__ inline double binomial_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  element_sequence drawn(own.numbers, at);
  return binomial(drawn, s.a, s.b);
}
template <class T, class Source>
__device__ inline T gamma_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  element_sequence drawn(own.numbers, at);
  return gamma<T>(drawn, s.a, s.b);
}
template <class T, class Source>
__device__ inline T beta_leaf(const leaf_state& s, unsigned long long at) {
  Source own(s, at);
  element_sequence drawn(own.numbers, at);
  return beta<T>(drawn, s.a, s.b);
}

}}  // namespace gpu::random
