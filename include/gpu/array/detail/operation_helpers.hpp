#pragma once
/// \file
/// Device functions that the texts of some operations call. A kernel has those that it needs. They
/// are no header of `gpu/device/`: one with all of them takes NVRTC 2 ms of 30 longer, and its
/// `#include` in a preamble 7 ms more, because such a program is compiled without `--minimal`.

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr char take_helper[] =
    R"gpu(__device__ inline long long gpu_taken(const long long index, const long long size) {
  return index < 0 ? index + size : index;
}
__device__ inline unsigned long long gpu_taken(const unsigned long long index, const long long) {
  return index;
})gpu";

/// For values of the types of that header, which parameters of the kernel need not have.
inline constexpr char numbers_include[] = "#include <gpu/device/numbers.cuh>";

/// As Python and NumPy divide: the remainder has the sign of the divisor. An integer divided by 0
/// is 0.
inline constexpr char remainder_helper[] =
    R"gpu(template <class T> __device__ T gpu_remainder(const T a, const T b) {
  if constexpr (T(1) / T(2) == T(0)) {
    if (b == 0 || (T(-1) < T(0) && b == T(-1))) return 0;
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const T rest = fmod(a, b);
    if (b == 0 || rest != rest) return rest;
    if (rest == 0) return copysign(T(0), b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }
}
)gpu";

inline constexpr char floor_divide_helper[] =
    R"gpu(template <class T> __device__ T gpu_floor_divide(const T a, const T b) {
  if constexpr (T(1) / T(2) == T(0)) {
    if (b == 0) return 0;
    if (T(-1) < T(0) && b == T(-1)) return T(0ull - (unsigned long long)a);
    const T quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  } else {
    if (b == 0) return a / b;
    const T rest = fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return copysign(T(0), a / b);
    const T whole = floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
  }
}
)gpu";

inline constexpr char invert_helper[] =
    R"gpu(template <class T> __device__ T gpu_invert(const T a) { return T(~a); }
__device__ bool gpu_invert(const bool a) { return !a; }
)gpu";

/// Shifts by as many bits as there are, or more, leave nothing but copies of the sign.
inline constexpr char shift_helper[] =
    R"gpu(template <class T> __device__ T gpu_shift_left(const T a, const T b) {
  return (unsigned long long)b < 8 * sizeof(T) ? T((unsigned long long)a << b) : T(0);
}
template <class T> __device__ T gpu_shift_right(const T a, const T b) {
  return (unsigned long long)b < 8 * sizeof(T) ? T(a >> b) : a < 0 ? T(-1) : T(0);
}
)gpu";

/// Returns a number with the sign of the difference of two integers, of which one may be too large
/// for the other's type.
inline constexpr char order_helper[] =
    R"gpu(__device__ int gpu_order(const unsigned long long a, const long long b) {
  return b < 0 ? 1 : a < (unsigned long long)b ? -1 : a != (unsigned long long)b;
}
__device__ int gpu_order(const long long a, const unsigned long long b) { return -gpu_order(b, a); }
)gpu";

/// NaN, if one of the two is NaN.
inline constexpr char extreme_helper[] =
    R"gpu(template <class T> __device__ T gpu_minimum(const T a, const T b) {
  return a < b || a != a ? a : b;
}
template <class T> __device__ T gpu_maximum(const T a, const T b) {
  return a > b || a != a ? a : b;
}
)gpu";

/// The other number, if one of the two is NaN.
inline constexpr char other_extreme_helper[] =
    R"gpu(template <class T> __device__ T gpu_fmin(const T a, const T b) {
  return a <= b || b != b ? a : b;
}
template <class T> __device__ T gpu_fmax(const T a, const T b) {
  return a >= b || b != b ? a : b;
}
)gpu";

/// The smallest integer stays as it is.
inline constexpr char abs_helper[] =
    R"gpu(template <class T> __device__ T gpu_abs(const T a) {
  return a < T(0) ? T(0ull - (unsigned long long)a) : a;
}
__device__ float gpu_abs(const float a) { return fabsf(a); }
__device__ double gpu_abs(const double a) { return fabs(a); }
)gpu";

inline constexpr char sign_helper[] =
    R"gpu(template <class T> __device__ T gpu_sign(const T a) {
  return a > T(0) ? T(1) : a < T(0) ? T(-1) : a == T(0) ? T(0) : a;
}
)gpu";

inline constexpr char isnan_helper[] =
    R"gpu(template <class T> __device__ bool gpu_isnan(const T a) { return a != a; }
)gpu";

inline constexpr char isinf_helper[] =
    R"gpu(template <class T> __device__ bool gpu_isinf(const T a) { return a == a && a - a != a - a; }
)gpu";

inline constexpr char isfinite_helper[] =
    R"gpu(template <class T> __device__ bool gpu_isfinite(const T a) { return a - a == a - a; }
)gpu";

inline constexpr char signbit_helper[] =
    R"gpu(template <class T> __device__ bool gpu_signbit(const T a) { return a < T(0); }
__device__ bool gpu_signbit(const float a) { return __float_as_int(a) < 0; }
__device__ bool gpu_signbit(const double a) { return __double_as_longlong(a) < 0; }
)gpu";

inline constexpr char significand_helper[] =
    R"gpu(template <class T> __device__ T gpu_significand(const T a) {
  int exponent;
  return frexp(a, &exponent);
}
)gpu";

inline constexpr char exponent_helper[] =
    R"gpu(template <class T> __device__ int gpu_exponent(const T a) {
  int exponent = 0;
  frexp(a, &exponent);
  return isfinite(a) ? exponent : 0;
}
)gpu";

/// The part behind the point, with the sign of the number; 0 of an infinity.
inline constexpr char fraction_helper[] =
    R"gpu(template <class T> __device__ T gpu_fraction(const T a) {
  return copysign(isinf(a) ? T(0) : a - trunc(a), a);
}
)gpu";

/// Exponents outside of these bounds make an infinity or 0 of every number.
inline constexpr char ldexp_helper[] =
    R"gpu(template <class T> __device__ T gpu_ldexp(const T a, const long long n) {
  return ldexp(a, n < -5000 ? -5000 : n > 5000 ? 5000 : (int)n);
}
template <class T> __device__ T gpu_ldexp(const T a, const unsigned long long n) {
  return ldexp(a, n > 5000 ? 5000 : (int)n);
}
)gpu";

/// The index in a leaf for an index in a larger shape, along some of whose axes the leaf repeats.
inline constexpr char repeated_helper[] =
    R"gpu(struct gpu_repeated {
  long long extent[8], stride[8];
  __device__ long long at(long long index) const {
    long long found = 0;
#pragma unroll 1  // 64-bit divisions are long
    for (int axis = 7; axis >= 0 && index != 0; --axis) {
      found += index % extent[axis] * stride[axis];
      index /= extent[axis];
    }
    return found;
  }
};
)gpu";

}}}  // namespace gpu::v1::detail
