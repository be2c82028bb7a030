// Misuse of expressions of arrays that must not compile, each beside a use that does.

#include <gpu/array.hpp>

#include <complex>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

gpu::result<gpu::array<float>> make_array();

struct named {
  int value;
};
namespace {
struct hidden {
  int value;
};
}  // namespace

inline gpu::result<> misuse([[maybe_unused]] gpu::stream_ref stream, gpu::array<float>& x,
                            [[maybe_unused]] gpu::array<int>& n,
                            [[maybe_unused]] gpu::array<std::complex<float>>& z,
                            [[maybe_unused]] gpu::array<bool>& b,
                            [[maybe_unused]] gpu::array<named>& s) {
#if GPU_REJECTED == 1
  // expect 1: it is neither true nor false
  if (x == x) return {};
#elif GPU_REJECTED == 2
  // expect 2: give the array a name first
  GPU_TRY(gpu::assign(stream, x, GPU_TRY(make_array()) + 1));
#elif GPU_REJECTED == 3
  // expect 3: use gpu::true_divide
  GPU_TRY(gpu::evaluate(stream, n / 2));
#elif GPU_REJECTED == 4
  // expect 4: use gpu::remainder
  GPU_TRY(gpu::evaluate(stream, n % 2));
#elif GPU_REJECTED == 5
  // expect 5: this operation has no meaning for bool
  GPU_TRY(gpu::evaluate(stream, b - b));
#elif GPU_REJECTED == 6
  // expect 6: have no bits
  GPU_TRY(gpu::evaluate(stream, x & 1));
#elif GPU_REJECTED == 7
  // expect 7: does not take complex numbers
  GPU_TRY(gpu::evaluate(stream, z < z));
#elif GPU_REJECTED == 8
  // expect 8: use std::sin and the like
  static_cast<void>(gpu::sin(1.0));
#elif GPU_REJECTED == 9
  // expect 9: complex numbers are not converted to others
  GPU_TRY(gpu::assign(stream, x, z + 1));
#elif GPU_REJECTED == 10
  // expect 10: more axes than
  GPU_TRY(gpu::assign(stream, x, gpu::expand_dims(x, 0) + 1));
#elif GPU_REJECTED == 11
  // expect 11: the elements of `out` are const
  GPU_TRY(gpu::assign(stream, gpu::array_view<const float>(x), x + 1));
#elif GPU_REJECTED == 12
  // expect 12: convert integers with gpu::cast
  GPU_TRY(gpu::evaluate(stream, gpu::fma(n, n, n)));
#elif GPU_REJECTED == 13
  // expect 13: the array has no such axis
  GPU_TRY(gpu::evaluate(stream, gpu::sum(x, gpu::axis<1>)));
#elif GPU_REJECTED == 14
  // expect 14: an axis is named twice
  GPU_TRY(gpu::evaluate(stream, gpu::sum(z + gpu::expand_dims(z, 1), gpu::axis<0, -2>)));
#elif GPU_REJECTED == 15
  // expect 15: over more axes than the array has
  GPU_TRY(gpu::evaluate(stream, gpu::sum(x, gpu::axes{0, 1})));
#elif GPU_REJECTED == 16
  // expect 16: numbers that can be compared
  GPU_TRY(gpu::evaluate(stream, gpu::min(z, gpu::axis<0>)));
#elif GPU_REJECTED == 17
  // expect 17: a cumulative function cannot be an operand of an expression
  GPU_TRY(gpu::evaluate(stream, 2 * gpu::cumulative_sum(x, 0) + 1));
#elif GPU_REJECTED == 18
  // expect 18: a cumulative function cannot be an operand of an expression
  GPU_TRY(gpu::evaluate(stream, gpu::cumulative_max(x * x, gpu::axis<0>) - x));
#elif GPU_REJECTED == 19
  // expect 19: device code cannot name it
  GPU_TRY(gpu::evaluate(stream, gpu::array_view<hidden>()));
#elif GPU_REJECTED == 20
  // expect 20: write gpu::zeros<T>(stream, shape)
  gpu::array<float, 1> made(4);
#elif GPU_REJECTED == 21
  // expect 21: write gpu::zeros<T>(stream, shape)
  gpu::array<float, 2> made(gpu::shape{3, 4});
#elif GPU_REJECTED == 22
  // expect 22: write gpu::zeros<T>(stream, shape)
  gpu::array<float, 2> made(stream, gpu::shape{3, 4});
#elif GPU_REJECTED == 23
  // expect 23: write GPU_TRY(gpu::evaluate(stream, expression))
  // within 23: 28 lines
  gpu::array<float> made = x + 1;
#elif GPU_REJECTED == 24
  // expect 24: write gpu::assign(stream, array, expression)
  // within 24: 28 lines
  x = x + 1;
#elif GPU_REJECTED == 25
  // expect 25: write gpu::assign(stream, array, array + operand)
  // within 25: 30 lines
  x += 1;
#elif GPU_REJECTED == 26
  // expect 26: write array(index)
  // within 26: 28 lines
  (void)(x[0]);
#elif GPU_REJECTED == 27
  // expect 27: write gpu::extract(stream, mask, array)
  // within 27: 28 lines
  (void)(x(x > 0));
#elif GPU_REJECTED == 28
  // expect 28: write gpu::extract(stream, mask, array)
  // within 28: 28 lines
  (void)(x(b));
#elif GPU_REJECTED == 29
  // expect 29: and index that
  // within 29: 36 lines
  (void)((x + 1)(0));
#elif GPU_REJECTED == 30
  // expect 30: give it an array with a name first
  // within 30: 100 lines
  GPU_TRY(gpu::sorted(stream, -x, 0));
#elif GPU_REJECTED == 31
  // expect 31: give it an array with a name first
  // within 31: 100 lines
  GPU_TRY(gpu::extract(stream, x > 0, x));
#elif GPU_REJECTED == 32
  // expect 32: give it an array with a name first
  // within 32: 100 lines
  GPU_TRY(gpu::to_text(stream, x + 1));
#elif GPU_REJECTED == 33
  // expect 33: give it an array with a name first
  // within 33: 100 lines
  GPU_TRY(gpu::evaluate(stream, gpu::take(x, n + 1, 0)));
#elif GPU_REJECTED == 34
  // expect 34: evaluate it first
  // within 34: 100 lines
  GPU_TRY(gpu::sum(stream, x * x));
#elif GPU_REJECTED == 35
  // expect 35: both operands have elements of one type
  // within 35: 100 lines
  GPU_TRY(gpu::matmul(stream, x, n));
#elif GPU_REJECTED == 36
  // expect 36: the joined arrays have elements of one type
  // within 36: 100 lines
  GPU_TRY(gpu::concatenate(stream, 0, x, n));
#elif GPU_REJECTED == 37
  // expect 37: more indices than the view has axes
  // within 37: 30 lines
  (void)(x(0, 0));
#elif GPU_REJECTED == 38
  // expect 38: the stream is missing; write gpu::evaluate(stream, expression)
  // within 38: 60 lines
  const auto made = GPU_TRY(gpu::evaluate(x + 1));
#elif GPU_REJECTED == 39
  // expect 39: the stream is missing; write gpu::assign(stream, array, value)
  // within 39: 60 lines
  GPU_TRY(gpu::assign(x, x + 1));
#elif GPU_REJECTED == 40
  // expect 40: the stream is missing; write gpu::item(stream, element)
  // within 40: 60 lines
  const float first = GPU_TRY(gpu::item(x(0)));
#elif GPU_REJECTED == 41
  // expect 41: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 41: 100 lines
  const auto made = make_array();
  GPU_TRY(gpu::sorted(stream, made));
#elif GPU_REJECTED == 42
  // expect 42: this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it
  // within 42: 100 lines
  const auto made = make_array();
  GPU_TRY(gpu::evaluate(stream, made));
#else
  GPU_TRY(gpu::evaluate(stream, s));
  const auto sums = GPU_TRY(gpu::cumulative_sum(stream, x * x, 0));
  GPU_TRY(gpu::evaluate(stream, 2 * sums + 1));
  [[maybe_unused]] const auto zeros = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{3, 4}));
  GPU_TRY(gpu::evaluate(stream, gpu::sum(x, gpu::axis<-1>) + gpu::sum(z, gpu::axes{0})));
  GPU_TRY(gpu::evaluate(stream, x == x));
  auto made = GPU_TRY(make_array());
  made = GPU_TRY(gpu::evaluate(stream, x + 1));
  const auto positive = GPU_TRY(gpu::evaluate(stream, x > 0));
  GPU_TRY(gpu::extract(stream, positive, x));
  GPU_TRY(gpu::evaluate(stream, gpu::take(x, n, 0)));
  GPU_TRY(gpu::sum(stream, x));
  GPU_TRY(gpu::item(stream, x(0)));
  GPU_TRY(gpu::matmul(stream, x, made));
  GPU_TRY(gpu::concatenate(stream, 0, x, made));
  GPU_TRY(gpu::assign(stream, x, made + 1));
  GPU_TRY(gpu::evaluate(stream, gpu::true_divide(n, 2)));
  GPU_TRY(gpu::evaluate(stream, gpu::remainder(n, 2)));
  GPU_TRY(gpu::evaluate(stream, b ^ b));
  GPU_TRY(gpu::evaluate(stream, n & 1));
  GPU_TRY(gpu::evaluate(stream, gpu::sin(x) < 0.5));
  GPU_TRY(gpu::assign(stream, x, gpu::real(z + 1)));
  GPU_TRY(gpu::assign(stream, gpu::expand_dims(x, 0), x + 1));
  GPU_TRY(gpu::evaluate(stream, gpu::fma(x, n, 2)));
#endif
  return {};
}
