#pragma once
/// \file
/// Arrays and ranks as NCCL takes them, and what it does not take.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

enum class nccl_operation : int;

namespace detail {

/// Elements as NCCL takes them.
struct nccl_operand {
  void* address;
  std::size_t count;
  int type;
  std::size_t element_bytes;

  void* at(std::size_t index) const noexcept {
    return static_cast<unsigned char*>(address) + index * element_bytes;
  }
};

/// Returns ncclDataType_t of an element type, or -1. Complex numbers are pairs of real ones.
template <class T> constexpr int nccl_type_of() noexcept {
  if constexpr (short_number<T>) return element_type_of<T>().name == "gpu::half" ? 6 : 9;
  if constexpr (complex_number<T>) return sizeof(T) == 8 ? 7 : 8;
  if constexpr (number_kind_of<T>() == number_kind::real) return sizeof(T) == 4 ? 7 : 8;
  if constexpr (number_kind_of<T>() == number_kind::integer) {
    constexpr int is_unsigned = T(-1) < T(0) ? 0 : 1;
    if constexpr (sizeof(T) == 1) return is_unsigned;
    if constexpr (sizeof(T) == 4) return 2 + is_unsigned;
    if constexpr (sizeof(T) == 8) return 4 + is_unsigned;
  }
  return -1;
}

template <class T, int Rank>
result<> require_packed(const char* function, const array_view<T, Rank>& view,
                        source_location where) noexcept {
  GPU_TRY(view.checked(where));
  if (view.is_contiguous(axis_order::keep)) return {};
  return fail(refusal(errc::invalid_argument, function,
                      text("the elements of an operand are not one after the other in memory. Copy "
                           "the view to an array, or pass rows one by one."),
                      where));
}

/// Returns an operand whose elements are only moved.
template <class A>
result<nccl_operand> nccl_bytes(const char* function, A&& a, source_location where) noexcept {
  const auto view = array_view_of(static_cast<A&&>(a));
  GPU_TRY(require_packed(function, view, where));
  constexpr int bytes = 1;  // ncclUint8
  constexpr std::size_t size = sizeof(typename decltype(view)::value_type);
  return nccl_operand{reinterpret_cast<void*>(static_cast<std::uintptr_t>(view.native())),
                      view.size() * size, bytes, 1};
}

/// Returns an operand whose elements are combined.
template <class A>
result<nccl_operand> nccl_numbers(const char* function, nccl_operation operation, A&& a,
                                  source_location where) noexcept {
  const auto view = array_view_of(static_cast<A&&>(a));
  using element = typename decltype(view)::value_type;
  constexpr int type = nccl_type_of<element>();
  static_assert(type >= 0,
                "NCCL combines integers of 8, 32 and 64 bits, float, double, __half, "
                "__nv_bfloat16, and sums of std::complex");
  constexpr int operations = 5;
  const int number = static_cast<int>(operation);
  const bool is_known = number >= 0 && number < operations;
  const bool is_linear = number == 0 || number == 4;  // a sum or an average
  if (!is_known || (complex_number<element> && !is_linear)) {
    text_builder words;
    if (is_known) {
      words << "NCCL has no product, maximum and minimum of complex numbers. Use sum or average.";
    } else {
      words << number << " is not a valid gpu::nccl_operation. Use one of its enumerators.";
    }
    return fail(refusal(errc::invalid_argument, function, words.finish(), where));
  }
  GPU_TRY(require_packed(function, view, where));
  constexpr std::size_t numbers = complex_number<element> ? 2 : 1;
  return nccl_operand{reinterpret_cast<void*>(static_cast<std::uintptr_t>(view.native())),
                      view.size() * numbers, type, sizeof(element) / numbers};
}

/// The operands of a function that combines elements.
struct nccl_operands {
  nccl_operand from, to;
};
template <class In, class Out>
result<nccl_operands> nccl_numbers(const char* function, nccl_operation operation, In&& in,
                                   Out&& out, source_location where) noexcept {
  const auto from = GPU_TRY(nccl_numbers(function, operation, static_cast<In&&>(in), where));
  const auto to = GPU_TRY(nccl_numbers(function, operation, static_cast<Out&&>(out), where));
  return nccl_operands{from, to};
}

/// Fails unless `tested` has `times` as many elements as `other`, and both a multiple of `parts`.
inline result<> require_counts(const char* function, const char* name, const nccl_operand& tested,
                               const nccl_operand& other, std::size_t times, std::size_t parts,
                               source_location where) noexcept {
  const bool same_type = tested.type == other.type;
  const std::size_t wanted = saturated_product(other.count, times);
  if (same_type && tested.count == wanted && other.count % parts == 0) return {};
  text_builder words;
  if (!same_type) {
    words << "in and out have elements of different types. Pass the same.";
  } else if (tested.count != wanted) {
    words << name << " has " << tested.count << (tested.type == 1 ? " bytes" : " numbers")
          << ", but " << other.count << " times " << times
          << " are needed. Pass memory of that size.";
  } else {
    words << other.count << " bytes are not a multiple of the number of ranks, " << parts
          << ". Pass as much for each rank.";
  }
  return fail(refusal(errc::size_mismatch, function, words.finish(), where, tested.count, wanted));
}

inline result<> require_nccl_rank(const char* function, int rank, int ranks,
                                  source_location where) noexcept {
  if (rank >= 0 && rank < ranks) return {};
  text_builder words;
  words << "there is no rank " << rank << ". Pass a rank from 0 to " << ranks - 1 << '.';
  return fail(refusal(errc::invalid_argument, function, words.finish(), where,
                      static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks)));
}

}  // namespace detail
}}  // namespace gpu::v1
