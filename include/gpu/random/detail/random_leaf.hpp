#pragma once
/// \file
/// Random numbers as operands of expressions: leaves whose state is where the numbers are.

#include <gpu/array/leaf.hpp>
#include <gpu/compiler/instance.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/random/detail/engine_position.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/detail/random_kernel.hpp>
#include <gpu/random/detail/random_request.hpp>
#include <gpu/random/engines.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// `gpu::random::leaf_state` of `<gpu/device/random_leaf.cuh>`.
struct random_leaf_state {
  std::uint64_t seed, sequence, first;
  ieee_number a, b, c;  ///< their bytes are those of doubles
  std::uint64_t least, count;
  std::uint64_t sums;                                          ///< of weights
  std::uint64_t tables, shifts;                                ///< of Sobol's sequences
  std::uint64_t points;                                        ///< of them in each dimension
  std::uint64_t elements, dimensions, empty_range, exhausted;  ///< for the check
};

/// Where the numbers of a leaf come from, in C++: what its text depends on, beside the type.
struct leaf_source {
  engine_kind engine;
  bool aligned, doubles;
  unsigned words;
};

/// The name of a kind in device code: that of its function, without `gpu::`.
template <random_kind Kind>
inline constexpr const char* leaf_name = recipe_of(Kind).function + sizeof("gpu::") - 1;

/// The expression for one element.
template <random_kind Kind, bool Wide, leaf_source From>
consteval joined_name<160> write_leaf() noexcept {
  constexpr const char* real = Kind == random_kind::bits
                                   ? (Wide ? "unsigned long long" : "unsigned")
                                   : (Wide ? "double" : "float");
  constexpr bool philox = From.engine == engine_kind::philox;
  constexpr const char* source = philox ? "gpu::random::philox_leaf<"
                                 : From.engine == engine_kind::sobol32
                                     ? "gpu::random::sobol_leaf<unsigned>"
                                     : "gpu::random::sobol_leaf<unsigned long long>";
  constexpr const char* arguments[] = {"false, false, 1>", "false, false, 2>", "true, false, 1>",
                                       "true, false, 2>",  "false, true, 2>",  "true, true, 2>"};
  constexpr int which = From.doubles ? (From.aligned ? 5 : 4)
                                     : (From.aligned ? 2 : 0) + static_cast<int>(From.words) - 1;
  joined_name<160> joined;
  for (const char* part :
       {"gpu::random::", leaf_name<Kind>, "_leaf<", real, ", ", source,
        philox ? arguments[which] : "", ">($s, gpu::random::narrowed<gpu_index>($i))"}) {
    joined.add(part, __builtin_strlen(part));
  }
  return joined;
}
template <random_kind Kind, bool Wide, leaf_source From>
inline constexpr joined_name<160> leaf_text = write_leaf<Kind, Wide, From>();

/// Checks the state of a leaf of this kind.
template <random_kind Kind, class T, engine_kind Engine>
result<> check_random_leaf(const void* bytes, source_location where) noexcept {
  random_leaf_state s;
  __builtin_memcpy(&s, bytes, sizeof s);
  random_request request{
      {.kind = Kind, .a = s.a, .b = s.b, .first = s.least, .count = s.count},
      random_element_of<T>(),
      {Engine, {0, s.sequence, s.first, s.exhausted != 0}, philox::name, philox::sequences},
      s.elements};
  request.distribution.empty_range = s.empty_range != 0;
  const char* function = request.recipe().function;
  if (Kind == random_kind::discrete && s.sums == 0 && s.elements != 0)
    return fail(empty_handle_error(function, "weights", where));
  if (request.source.is_quasi_random()) {
    if (s.dimensions == 0) return fail(empty_handle_error(function, "engine", where));
    request.source.shifts.count = s.dimensions;
    request.used = s.elements / s.dimensions;
  }
  GPU_TRY(check_distribution(request.distribution, request.element, where));
  return check_source(request, where);
}

/// Whether the functions of a leaf compute in double, or make 64 bits.
template <random_kind Kind, class T>
inline constexpr bool is_wide_leaf =
    sizeof(T) == 8 && (standard_float<T> || Kind == random_kind::bits);

template <random_kind Kind, class T, leaf_source From>
inline constexpr leaf_description random_leaf{
    .name = leaf_name<Kind>,
    .state_type = "gpu::random::leaf_state",
    .preamble = "#include <gpu/device/random_leaf.cuh>\n",
    .text = leaf_text<Kind, is_wide_leaf<Kind, T>, From>.characters,
    .check = &check_random_leaf<Kind, T, From.engine>};

/// Returns the description and the state of a leaf for these numbers.
template <random_kind Kind, class T, engine_kind Engine>
const leaf_description& describe_leaf(const random_request& request,
                                      random_leaf_state& state) noexcept {
  const engine_position& at = request.source.position;
  const random_distribution& d = request.distribution;
  const bool aligned = Engine == engine_kind::philox && at.offset % 4 == 0;
  const std::uint64_t dimensions = request.source.shifts.count;
  state = {at.seed,
           at.sequence,
           aligned ? at.offset / 4 : at.offset,
           d.a,
           d.b,
           excluded_limit(request),
           d.first,
           d.count,
           d.sums.device_address(),
           Engine == engine_kind::philox ? 0 : request.source.place.device_address(),
           request.source.shifts.device_address(),
           dimensions == 0 ? 0 : request.count / dimensions,
           request.count,
           dimensions,
           d.empty_range ? 1u : 0u,
           at.exhausted ? 1u : 0u};
  if constexpr (Engine != engine_kind::philox) {
    return random_leaf<Kind, T, leaf_source{Engine, false, false, 1}>;
  } else {
    // The words of an element by its type, or, of `uniform_integers`, by their number.
    constexpr random_request typical{{.kind = Kind, .count = 1},
                                     random_element_of<T>(),
                                     {engine_kind::philox, {}, philox::name, philox::sequences},
                                     1};
    constexpr bool doubles = typical.in_order_of_doubles();
    constexpr unsigned words = typical.words();
    if constexpr (Kind == random_kind::integers) {
      if (request.words() == 2) {
        return aligned ? random_leaf<Kind, T, leaf_source{Engine, true, false, 2}>
                       : random_leaf<Kind, T, leaf_source{Engine, false, false, 2}>;
      }
    }
    return aligned ? random_leaf<Kind, T, leaf_source{Engine, true, doubles, words}>
                   : random_leaf<Kind, T, leaf_source{Engine, false, doubles, words}>;
  }
}

}}}  // namespace gpu::v1::detail
