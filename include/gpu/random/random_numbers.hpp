#pragma once
/// \file
/// `random_numbers`: numbers of a distribution that an engine has reserved. `assign` writes them to
/// elements that are there, `evaluate` makes an array of them.

#include <gpu/array/array.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/detail/random_kernel.hpp>
#include <gpu/random/detail/random_request.hpp>
#include <gpu/random/engines.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {
struct random_access;
}

/// Numbers of the type `T` that the engine has reserved, not yet computed: functions such as
/// `gpu::normal<float>(engine, shape)` return them. It is a value: evaluated twice, it gives the
/// same numbers twice. Element `i` in C order has the same value on every device, for every layout
/// and address of the result, and however many threads compute it.
template <class T, int Rank, class Engine> class random_numbers {
 public:
  using value_type = T;
  static constexpr int rank = Rank;

  gpu::shape<Rank> shape() const noexcept { return shape_; }
  std::size_t size() const noexcept { return shape_.size(); }

 private:
  friend detail::random_access;
  random_numbers(const gpu::shape<Rank>& extents, const detail::random_request& request) noexcept
      : shape_{extents}, request_{request} {}

  gpu::shape<Rank> shape_;
  detail::random_request request_;
};

namespace detail {

struct random_access {
  template <class Engine> static random_source source_of(const Engine& engine) noexcept {
    if constexpr (counts_on_device<Engine>) {
      return {engine_kind::philox_in_memory,
              {engine.seed(), engine.sequence()},
              philox::name,
              philox::sequences,
              copy_end_of(engine.blocks_)};
    } else if constexpr (is_quasi_random<Engine>) {
      return {engine.bits == 32 ? engine_kind::sobol32 : engine_kind::sobol64,
              {},
              Engine::name,
              1,
              copy_end_of(engine.tables_),
              copy_end_of(engine.shifts_)};
    } else if constexpr (is_stored_engine<Engine>) {
      return {
          engine_kind::mt19937, {}, Engine::name, Engine::sequences, copy_end_of(engine.memory_)};
    } else {
      constexpr engine_kind kind = std::same_as<Engine, philox>   ? engine_kind::philox
                                   : std::same_as<Engine, xorwow> ? engine_kind::xorwow
                                                                  : engine_kind::mrg32k3a;
      return {kind, {}, Engine::name, Engine::sequences};
    }
  }
  template <class T, class Engine, int Rank>
  static random_numbers<T, Rank, Engine> make(Engine& engine, const shape<Rank>& extents,
                                              const random_distribution& distribution) noexcept;
  template <class T, int Rank, class Engine>
  static const random_request& request(const random_numbers<T, Rank, Engine>& numbers) noexcept {
    return numbers.request_;
  }
};

template <class T, class Engine, int Rank>
random_numbers<T, Rank, Engine> random_access::make(
    Engine& engine, const shape<Rank>& extents, const random_distribution& distribution) noexcept {
  static_assert(number<T> && !complex_number<T>,
                "random numbers are bool, integers, float, double, __half or __nv_bfloat16");
  random_request request{distribution, random_element_of<T>(), source_of(engine), extents.size()};
  if constexpr (counts_on_device<Engine>) {
    request.reserve_from(request.source.position);  // the place in memory goes on by a kernel
  } else {
    request.reserve_from(engine_access::position(engine));
  }
  return random_numbers<T, Rank, Engine>(extents, request);
}

}  // namespace detail

/// Writes random numbers to the elements of `out`: an array, a view, a buffer or a span, with the
/// type and the shape of the numbers.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::size_mismatch` with both shapes; `errc::invalid_argument` for parameters that the
/// distribution cannot have, and for an engine with fewer numbers or sequences; the reason of a
/// faulty view; `errc::wrong_context`; `errc::empty_handle`; those of `compile` at the first call.
/// **Cost**: one launch; nothing is allocated. **Capture**: allowed; each launch of the graph then
/// writes the same numbers.
template <detail::viewable Out, class T, int Rank, class Engine>
result<> assign(const stream_ref& stream, Out&& out, const random_numbers<T, Rank, Engine>& numbers,
                source_location where = source_location::current()) {
  static_assert(std::same_as<detail::viewed_element_t<Out>, T>,
                "gpu::assign: the elements of `out` are of another type than the random numbers, "
                "or const; name their type, as in gpu::normal<float>(engine, shape)");
  static_assert(detail::viewed_rank<Out> == Rank,
                "gpu::assign: `out` has another number of axes than the random numbers");
  const detail::random_request& request = detail::random_access::request(numbers);
  const auto target = detail::array_view_of(static_cast<Out&&>(out));
  GPU_TRY(detail::require_sound(request.recipe().function, "out", target, where));
  if (!(target.shape() == numbers.shape())) {
    detail::text_builder sentence;
    sentence << "out has the shape ";
    detail::write_shape(sentence, target.shape());
    sentence << ", but the random numbers have ";
    detail::write_shape(sentence, numbers.shape());
    sentence << ". Ask for numbers of the shape of out.";
    return detail::fail(
        detail::refusal(errc::size_mismatch, request.recipe().function, sentence.finish(), where));
  }
  return detail::run_random(request, stream, detail::operand_of(target, out), where);
}

/// Makes an array of random numbers, which belongs to `stream`.
/// **Errors**: those of `assign` and of `device_buffer::create`. **Capture**: allowed; the memory
/// then belongs to the graph.
template <class T, int Rank, class Engine>
result<array<T, Rank>> evaluate(const stream_ref& stream,
                                const random_numbers<T, Rank, Engine>& numbers,
                                source_location where = source_location::current()) {
  auto made = GPU_TRY((array<T, Rank>::adopt(
      GPU_TRY(device_buffer<T>::create(stream, numbers.size(), where)), numbers.shape(), where)));
  GPU_TRY(gpu::assign(stream, made, numbers, where));
  return made;
}

}}  // namespace gpu::v1
