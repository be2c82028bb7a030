#pragma once
/// \file
/// `result<T>`: a value or a `cuda_error`. Every fallible function of the library returns one.

#include <gpu/core/detail/bad_access.hpp>  // IWYU pragma: keep
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>     // IWYU pragma: export
#include <gpu/core/expected.hpp>  // IWYU pragma: export

#include <utility>

#if defined(__CUDACC__) && defined(__NVCC__)
#  include <new>
#endif

namespace gpu { inline namespace v1 {

/// A `T`, or the error because of which the function could not return one. `[[nodiscard]]`. Without
/// a value, `value()` throws `bad_expected_access<cuda_error>`, whose `what()` is the error's
/// message and whose `error()` is the error.
template <class T = void> using result = expected<T, cuda_error>;

namespace detail {

/// Returns the `unexpected` that converts to any failed `result`.
inline unexpected<cuda_error> fail(cuda_error error) noexcept {
  return unexpected<cuda_error>(std::move(error));
}

/// The same as `result<>`, but one type in C++20 and C++23: what functions return that sources of
/// one standard define and sources of the other call (see gpu/core/detail/compiled.hpp).
class [[nodiscard]] stable_result {
 public:
  stable_result() noexcept : error_{no_error()} {}
  stable_result(unexpected<cuda_error> failure) noexcept
      : error_{std::move(failure).error()}, has_value_{false} {}
  stable_result(result<> outcome) noexcept
      : error_{outcome.has_value() ? no_error() : std::move(outcome).error()},
        has_value_{outcome.has_value()} {}

  operator result<>() && noexcept {
    if (has_value()) return {};
    return fail(std::move(error_));
  }
  bool has_value() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value(); }
  cuda_error&& error() && noexcept { return std::move(error_); }

 private:
  cuda_error error_;
  bool has_value_ = true;
};

template <class T> inline constexpr bool is_result = false;
template <class T> inline constexpr bool is_result<expected<T, cuda_error>> = true;

/// Does not compile, and says why: among arguments of these types is a result in place of its
/// value.
template <class... Arguments> constexpr void refuse_result() noexcept {
  static_assert(
      always_false<Arguments...>,
      "this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it");
}

/// The return value of `GPU_TRY` on failure, which converts to every `result`. If the function
/// returns another type, or a lambda does not state its return type, the compiler's error message
/// contains this name.
struct GPU_TRY_needs_a_function_or_lambda_with_return_type_gpu_result {
  cuda_error error;

  template <class T, class E> operator expected<T, E>() && noexcept {
    return unexpected<cuda_error>(std::move(error));
  }
  operator stable_result() && noexcept { return unexpected<cuda_error>(std::move(error)); }
};

/// Moves the error out, for `GPU_TRY`. One call keeps the macro, which is used in hundreds of
/// functions, cheap to compile.
template <class Result>
GPU_TRY_needs_a_function_or_lambda_with_return_type_gpu_result failure_of(Result& r) noexcept {
  return {std::move(r).error()};
}

/// Moves the value out, for `GPU_TRY`; returns nothing for `result<void>`.
template <class T> T take_value(result<T>& r) noexcept {
  if constexpr (!__is_same(T, void)) return *std::move(r);
}
inline void take_value(stable_result&) noexcept {}

#if defined(__CUDACC__) && defined(__NVCC__)

/// Holds a result that an `owned_result` destroys.
template <class Result> struct bare_result {
  alignas(Result) unsigned char bytes[sizeof(Result)];

  explicit bare_result(Result&& held) noexcept {
    ::new (static_cast<void*>(bytes)) Result(static_cast<Result&&>(held));
  }
  bare_result(const bare_result&) = delete;
  bare_result& operator=(const bare_result&) = delete;
};
template <class Result> bare_result<Result> bare(Result held) noexcept {
  return bare_result<Result>(static_cast<Result&&>(held));
}

template <class Result> struct owned_result {
  bare_result<Result>& bare;

  Result& get() noexcept { return *std::launder(reinterpret_cast<Result*>(bare.bytes)); }
  ~owned_result() { get().~Result(); }
};
template <class Result> owned_result(bare_result<Result>&) -> owned_result<Result>;

#endif

}  // namespace detail
}}  // namespace gpu::v1

/// Yields the value of a `result`, or returns its error from the enclosing function:
///
///     gpu::stream stream = GPU_TRY(gpu::stream::create(device));
///
/// The function has to return a `result`, which a lambda has to state: `[&]() -> gpu::result<> {
/// ... }`; for `main` there is `exit_status`. The only macro of the interface. It uses the
/// statement expressions of GCC and Clang, and can be nested. In the braces of an array or an
/// aggregate only the first value may be a GPU_TRY: compilers do not destroy the elements before
/// one that fails. Put the values into variables first.
#define GPU_TRY(...) GPU_DETAIL_TRY(__COUNTER__, __VA_ARGS__)

// The number keeps a GPU_TRY inside another from shadowing its variable.
#define GPU_DETAIL_TRY(number, ...) GPU_DETAIL_TRY_AS(number, __VA_ARGS__)
#if defined(__CUDACC__) && defined(__NVCC__)
// The front end of nvcc 13.0 crashes on a variable with a destructor whose initializer can return
// and has a temporary with a destructor, as in `GPU_TRY(f(GPU_TRY(g())))` written as for the other
// compilers.
#  define GPU_DETAIL_TRY_AS(number, ...)                                         \
    (__extension__({                                                             \
      auto gpu_try_bare_##number = ::gpu::detail::bare(__VA_ARGS__);             \
      ::gpu::detail::owned_result gpu_try_owned_##number{gpu_try_bare_##number}; \
      auto& gpu_try_result_##number = gpu_try_owned_##number.get();              \
      if (!gpu_try_result_##number.has_value()) {                                \
        return ::gpu::detail::failure_of(gpu_try_result_##number);               \
      }                                                                          \
      ::gpu::detail::take_value(gpu_try_result_##number);                        \
    }))
#else
#  define GPU_DETAIL_TRY_AS(number, ...)                                                       \
    (__extension__({                                                                           \
      auto gpu_try_result_##number = (__VA_ARGS__);                                            \
      if (!gpu_try_result_##number) return ::gpu::detail::failure_of(gpu_try_result_##number); \
      ::gpu::detail::take_value(gpu_try_result_##number);                                      \
    }))
#endif
