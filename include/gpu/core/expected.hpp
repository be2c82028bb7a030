#pragma once
/// \file
/// `expected`: a value, or the error that explains why there is none. It is `std::expected` where
/// the standard library has that with its monadic operations, else a stand-in with the same
/// interface. `result<T>`, the form the library returns, is in gpu/core/error.hpp.
///
/// Units compiled either way can be linked into one program. Types and templates that mention an
/// `expected` have it in their names already. An ordinary function that returns one has not, for
/// names leave out the return type; so the stand-in carries an ABI tag, which GCC and Clang add to
/// the name of each ordinary function that returns it. They do not see three things, which the
/// library therefore does not do: a function template that returns an `expected` as `auto`, a
/// class that is not a template with an `expected` as data member, a virtual function that
/// returns one. Nor is a static variable of an `expected` one and the same for the whole program.

#include <version>

#if defined(__cpp_lib_expected) && __cpp_lib_expected >= 202211L

#  include <expected>

namespace gpu {
using std::bad_expected_access;
using std::expected;
using std::unexpect;
using std::unexpect_t;
using std::unexpected;
}  // namespace gpu

#else

#  include <gpu/core/expected_fallback.hpp>

namespace gpu {
using fallback::bad_expected_access;
using fallback::expected;
using fallback::unexpect;
using fallback::unexpect_t;
using fallback::unexpected;
}  // namespace gpu

#endif
