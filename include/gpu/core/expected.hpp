#pragma once
/// \file
/// `expected`: a value, or the error that explains why there is none. It is `std::expected` where
/// the standard library has that with its monadic operations, else a stand-in with the same
/// interface. `result<T>`, the form the library returns, is in gpu/core/error.hpp.
///
/// Units compiled either way can be linked into one program. What has an `expected` among its
/// parameters or template arguments has it in its name too. An ordinary function that merely
/// returns one has not, for names leave out the return type; so the namespace of the stand-in
/// carries an ABI tag, which GCC and Clang add to the name of such a function. (A tag rather than
/// an inline namespace around the whole library: the classes of the library stay the same types in
/// both kinds of unit, and one driver table serves both.) Four things escape it, and the library
/// does without them: a function template that returns an `expected` as `auto`; a data member of
/// that type in a class; a virtual function that returns one; a static variable of that type,
/// which would exist twice.

#if __cplusplus > 202002L  // before, no library has it, and <version> is a long list to read
#  include <version>
#endif

#if defined(__cpp_lib_expected) && __cpp_lib_expected >= 202211L

#  include <expected>

namespace gpu::inline v0 {
using std::bad_expected_access;
using std::expected;
using std::unexpect;
using std::unexpect_t;
using std::unexpected;
}  // namespace gpu::inline v0

#else

#  include <gpu/core/detail/expected/expected_void.hpp>

namespace gpu::inline v0 {
using fallback::bad_expected_access;
using fallback::expected;
using fallback::unexpect;
using fallback::unexpect_t;
using fallback::unexpected;
}  // namespace gpu::inline v0

#endif
