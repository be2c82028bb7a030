#pragma once
/// \file
/// `expected`: a value, or the error that explains why there is none. It is `std::expected` if the
/// standard library has it with its monadic operations, and otherwise a stand-in with the same
/// interface. The library returns `result<T>`, which is in gpu/core/result.hpp.
///
/// Translation units of C++20 and of C++23 can be linked into one program. The mangled name of a
/// function contains the types of its parameters and template arguments, but not its return type.
/// So the namespace of the stand-in has an ABI tag, which GCC and Clang add to the name of each
/// function that returns an `expected`. (With an inline namespace around the whole library, the
/// classes of the library would be different types in the two kinds of units.) The tag does not
/// cover four uses, which the library avoids: a function template that returns an `expected` as
/// `auto`; a data member of that type; a virtual function that returns one; and a static variable
/// of that type.

#include <gpu/core/detail/expected/unexpected.hpp>

#include <utility>

#if __cplusplus > 202002L  // before, no library has it, and <version> is a long list to read
#  include <version>
#endif

#if defined(__cpp_lib_expected) && __cpp_lib_expected >= 202211L

#  include <expected>
#  include <utility>

namespace gpu { inline namespace v1 {
using std::bad_expected_access;
using std::expected;
using std::in_place;
using std::in_place_t;
using std::unexpect;
using std::unexpect_t;
using std::unexpected;
}}  // namespace gpu::v1

#else

#  include <gpu/core/detail/expected/operators.hpp>  // IWYU pragma: keep

namespace gpu { inline namespace v1 {
using fallback::bad_expected_access;
using fallback::expected;
using fallback::unexpect;
using fallback::unexpect_t;
using fallback::unexpected;
using std::in_place;
using std::in_place_t;
}}  // namespace gpu::v1

#endif
