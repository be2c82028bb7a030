// Conversions of arguments to the types of parameters: which are allowed, and their values.

#include <gpu/core/kernel_argument.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>

namespace kernel_argument_test { namespace {

struct array_on_device {
  float* where;
};

struct pod {
  int a;
};

enum class color : int { red };

}}  // namespace kernel_argument_test

template <> struct gpu::kernel_argument<kernel_argument_test::array_on_device> {
  using array = kernel_argument_test::array_on_device;
  using pod = kernel_argument_test::pod;
  static float* pointer(array& a) noexcept { return a.where; }
  static const float* pointer(const array& a) noexcept { return a.where; }
  static void pointer(const array&&) = delete;
  static pod value(const array&) noexcept { return pod{5}; }
};

namespace kernel_argument_test { namespace {

using gpu::kernel_argument_for;

// Numbers: widening, changes of sign and of precision pass; what could make another number does
// not.
static_assert(kernel_argument_for<int, int>);
static_assert(kernel_argument_for<int&, long long>);
static_assert(kernel_argument_for<int, unsigned>);
static_assert(kernel_argument_for<int, float>);
static_assert(kernel_argument_for<double, float>);
static_assert(kernel_argument_for<float, double>);
static_assert(kernel_argument_for<bool, int>);
static_assert(!kernel_argument_for<long long, int>);
static_assert(!kernel_argument_for<unsigned long, unsigned>);
static_assert(!kernel_argument_for<double, int>);
static_assert(!kernel_argument_for<float, long long>);
static_assert(!kernel_argument_for<int, bool>);
static_assert(!kernel_argument_for<int*, bool>);

// Pointers and classes as in C++.
static_assert(kernel_argument_for<float*, const float*>);
static_assert(kernel_argument_for<float*, void*>);
static_assert(kernel_argument_for<std::nullptr_t, float*>);
static_assert(!kernel_argument_for<const float*, float*>);
static_assert(!kernel_argument_for<double*, float*>);
static_assert(!kernel_argument_for<int, float*>);
static_assert(kernel_argument_for<pod&, pod>);
static_assert(!kernel_argument_for<pod, int>);
static_assert(kernel_argument_for<color, color>);
static_assert(!kernel_argument_for<int, color>);
static_assert(!kernel_argument_for<std::string, std::string>);
static_assert(!kernel_argument_for<const char (&)[4], int>);

// A type that stands for device memory: a pointer where that is asked for, else its value; const
// where it is const; never as a temporary.
static_assert(kernel_argument_for<array_on_device&, float*>);
static_assert(kernel_argument_for<array_on_device&, const float*>);
static_assert(kernel_argument_for<const array_on_device&, const float*>);
static_assert(!kernel_argument_for<const array_on_device&, float*>);
static_assert(!kernel_argument_for<array_on_device, float*>);
static_assert(!kernel_argument_for<array_on_device&, double*>);
static_assert(kernel_argument_for<array_on_device&, pod>);
static_assert(!kernel_argument_for<array_on_device&, int>);

TEST_CASE("parameters get the converted value", "[core][kernel_argument]") {
  float storage = 0;
  array_on_device array{&storage};
  CHECK(gpu::detail::pass_as<float*>(array) == &storage);
  CHECK(gpu::detail::pass_as<pod>(array).a == 5);
  CHECK(gpu::detail::pass_as<float>(7) == 7.0f);
  CHECK(gpu::detail::pass_as<unsigned>(-1) == 0xffffffffu);
  CHECK(gpu::detail::pass_as<float*>(nullptr) == nullptr);
  CHECK(gpu::detail::pass_as<const void*>(&storage) == &storage);
}

}}  // namespace kernel_argument_test
