#pragma once
/// \file
/// `expected`: a value, or the error that explains why there is none. It is `std::expected` where
/// the standard library has that with its monadic operations, else a stand-in with the same
/// interface. `result<T>`, the form the library returns, is in gpu/core/error.hpp.
///
/// Units compiled either way can be linked into one program. A type or function template that
/// mentions an `expected` has it in its name. An ordinary function that returns one has not, for
/// names do not cover the return type; hence the stand-in is marked with an ABI tag, which GCC and
/// Clang add to the name of every function that returns it.

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
