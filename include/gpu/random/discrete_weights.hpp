#pragma once
/// \file
/// `discrete_weights` and `discrete`: indices that are chosen with given weights.

#include <gpu/array/array.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/written_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/engines.hpp>
#include <gpu/random/random_operand.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// Weights of the numbers from 0 to `size() - 1`, in device memory. Move-only; must live until the
/// numbers are computed.
class discrete_weights {
 public:
  /// Makes it of a host range of numbers, which need not add up to 1.
  /// **Ordering**: waits for the stream. **Errors**: `errc::invalid_argument` for no weights, a
  /// weight that is negative or not finite, and weights that are all 0; `errc::out_of_host_memory`;
  /// those of `device_buffer::create`. **Capture**: not allowed.
  template <host_range Weights>
  static result<discrete_weights> create(const stream_ref& stream, const Weights& weights,
                                         source_location where = source_location::current()) {
    return detail::catch_bad_alloc(
        "gpu::discrete_weights::create", where, [&]() -> result<discrete_weights> {
          sequence<double> sums;
          double sum = 0;
          const std::size_t count = detail::size_of(weights);
          for (std::size_t k = 0; k < count; ++k) {
            const auto weight = static_cast<double>(detail::data_of(weights)[k]);
            sum = detail::uncombined(sum + weight);
            if (!(detail::ieee_number(weight) >= 0 && detail::is_finite(sum)))
              return refuse(k, weight, where);
            sums.push_back(sum);
          }
          if (!(sum > 0)) {
            return detail::fail(detail::refusal(
                errc::invalid_argument, "gpu::discrete_weights::create",
                text(count == 0
                         ? "there are no weights. Pass at least one."
                         : "all weights are 0, so there is nothing to choose. Pass one that is "
                           "greater than 0."),
                where));
          }
          // A uniform number times the sum needs digits, which subnormal numbers do not have.
          if (sum < 1e-280) {
            for (double& each : sums) each *= 0x1p600;
          }
          return discrete_weights(GPU_TRY(array<double>::from(stream, sums, where)));
        });
  }

  std::size_t size() const noexcept { return sums_.size(); }

 private:
  template <class T, detail::random_engine Engine, int Rank>
  friend auto discrete(Engine& engine, const shape<Rank>& extents,
                       const discrete_weights& weights) noexcept;

  explicit discrete_weights(array<double>&& sums) noexcept : sums_{std::move(sums)} {}

  static unexpected<cuda_error> refuse(std::size_t k, double weight,
                                       source_location where) noexcept {
    detail::text_builder out;
    out << "weight " << k << " is " << weight
        << ", but weights must be at least 0 and have a finite sum.";
    return detail::fail(detail::refusal(errc::invalid_argument, "gpu::discrete_weights::create",
                                        out.finish(), where, k));
  }

  array<double> sums_;  ///< of all weights up to each one
};

/// Integers from 0 on, each with its weight.
template <class T, detail::random_engine Engine, int Rank>
auto discrete(Engine& engine, const shape<Rank>& extents,
              const discrete_weights& weights) noexcept {
  detail::random_distribution d{.kind = detail::random_kind::discrete};
  d.count = weights.size();
  d.sums = detail::copy_end_of(weights.sums_);
  return detail::make_numbers<T, detail::random_kind::discrete>(engine, extents, d);
}
template <class T, detail::random_engine Engine, int Rank>
void discrete(Engine& engine, const shape<Rank>& extents,
              const discrete_weights&& weights) = delete;  // the numbers are computed later

}}  // namespace gpu::v1
