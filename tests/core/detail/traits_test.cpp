/// Which types are numbers to the library, whatever extensions the compiler has. It passes by
/// compiling.

#include <gpu/core/detail/traits.hpp>

#include <cstddef>
#include <cstdint>
#if __has_include(<stdfloat>)
#  include <stdfloat>
#endif

namespace traits_test { namespace {

using gpu::detail::plain_number;
using gpu::detail::standard_float;
using gpu::detail::word_integer;

enum class color { red };

static_assert(word_integer<bool> && word_integer<const char> && word_integer<wchar_t>);
static_assert(word_integer<std::int8_t> && word_integer<std::uint64_t> && word_integer<long long>);
static_assert(!word_integer<color> && !word_integer<float> && !word_integer<void*>);
static_assert(standard_float<float> && standard_float<const double> && standard_float<long double>);
static_assert(!standard_float<int>);
static_assert(plain_number<int> && plain_number<double> && !plain_number<std::byte>);

// To the standard's traits these are numbers, too: the first with GNU extensions.
__extension__ typedef __int128 wide_integer;
static_assert(!word_integer<wide_integer> && !plain_number<wide_integer>);
#if defined(__STDCPP_FLOAT16_T__)
static_assert(!standard_float<std::float16_t> && !plain_number<std::float16_t>);
#endif

}}  // namespace traits_test
