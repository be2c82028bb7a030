#pragma once
/// \file
/// Random numbers as operands of expressions: leaves whose state is where the numbers are.

#include <gpu/array/leaf.hpp>
#include <gpu/compiler/instance.hpp>
#include <gpu/random/detail/random_kernel.hpp>

namespace gpu::inline v0::detail {

/// `gpu::random::leaf_state` of the preamble.
struct random_leaf_state {
  std::uint64_t seed, sequence, first;
  std::uint64_t exhausted;  ///< for the check
  double a, b, c;
};

inline constexpr char random_leaf_preamble[] = R"gpu(#include <gpu/device/distributions.hpp>
#include <gpu/device/philox.hpp>
namespace gpu {
namespace random {

struct leaf_state {
  unsigned long long seed, sequence, first, exhausted;
  double a, b, c;
};

/// The words of an element, or of a pair of elements.
template <class T, bool Aligned> struct leaf_words {
  using numbers_type = philox_numbers<Aligned, sizeof(T) == 8>;
  numbers_type numbers;
  element_words<numbers_type> words;

  __device__ leaf_words(const leaf_state& s, unsigned long long first)
      : numbers{s.seed, s.sequence << 16, s.first}, words(numbers, first * (sizeof(T) / 4)) {}
  leaf_words(const leaf_words&) = delete;
};

template <class T, bool Aligned>
__device__ inline T uniform_leaf(const leaf_state& s, unsigned long long at) {
  leaf_words<T, Aligned> own(s, at);
  return uniform_above<T>(own.words, T(s.a), T(s.b), T(s.c));
}
template <class T, bool Aligned>
__device__ inline T uniform_from_leaf(const leaf_state& s, unsigned long long at) {
  leaf_words<T, Aligned> own(s, at);
  return uniform_below<T>(own.words, T(s.a), T(s.b), T(s.c));
}
template <class T, bool Aligned>
__device__ inline T exponential_leaf(const leaf_state& s, unsigned long long at) {
  leaf_words<T, Aligned> own(s, at);
  return exponential<T>(own.words, T(s.a));
}
template <class T, bool Aligned>
__device__ inline T normal_leaf(const leaf_state& s, unsigned long long at) {
  leaf_words<T, Aligned> own(s, at / 2 * 2);
  return of<T>::multiply_add(T(s.b), normal_of_pair<T>(own.words, at % 2 != 0), T(s.a));
}
template <class T, bool Aligned>
__device__ inline T log_normal_leaf(const leaf_state& s, unsigned long long at) {
  return of<T>::exp_of(normal_leaf<T, Aligned>(s, at));
}

}  // namespace random
}  // namespace gpu
)gpu";

/// Checks the state of a leaf of this kind.
template <random_kind Kind>
result<> check_random_leaf(const void* bytes, source_location where) noexcept {
  random_leaf_state state;
  __builtin_memcpy(&state, bytes, sizeof state);
  random_request request{{.kind = Kind, .a = state.a, .b = state.b},
                         {},
                         {engine_kind::philox, {}, philox::name, philox::sequences},
                         1};
  request.source.position.sequence = state.sequence;
  request.source.position.exhausted = state.exhausted != 0;
  GPU_TRY(check_distribution(request.distribution, request.element, where));
  return check_source(request, where);
}

/// The name of a kind in device code: that of its function, without `gpu::`.
template <random_kind Kind>
inline constexpr const char* leaf_name = recipe_of(Kind).function + sizeof("gpu::") - 1;

/// The expression for one element. `Which` says which numbers: floats that begin within a block of
/// four numbers, floats that begin at one, or doubles.
template <random_kind Kind, int Which> consteval joined_name<128> write_leaf() noexcept {
  constexpr const char* arguments[] = {"float, false", "float, true", "double, true"};
  joined_name<128> joined;
  for (const char* part : {"gpu::random::", leaf_name<Kind>, "_leaf<", arguments[Which],
                           ">($s, gpu::random::narrowed<gpu_index>($i))"}) {
    joined.add(part, __builtin_strlen(part));
  }
  return joined;
}
template <random_kind Kind, int Which>
inline constexpr joined_name<128> leaf_text = write_leaf<Kind, Which>();

template <random_kind Kind, int Which>
inline constexpr leaf_description random_leaf{.name = leaf_name<Kind>,
                                              .state_type = "gpu::random::leaf_state",
                                              .preamble = random_leaf_preamble,
                                              .text = leaf_text<Kind, Which>.characters,
                                              .check = &check_random_leaf<Kind>};

/// Returns the description and the state of a leaf for these numbers.
template <random_kind Kind>
const leaf_description& describe_leaf(const random_request& request,
                                      random_leaf_state& state) noexcept {
  const engine_position& at = request.source.position;
  const bool aligned = at.offset % 4 == 0;
  state = {at.seed,
           at.sequence,
           aligned ? at.offset / 4 : at.offset,
           at.exhausted ? 1u : 0u,
           request.distribution.a,
           request.distribution.b,
           excluded_limit(request)};
  if (request.element.is_double()) return random_leaf<Kind, 2>;
  return aligned ? random_leaf<Kind, 1> : random_leaf<Kind, 0>;
}

}  // namespace gpu::inline v0::detail
