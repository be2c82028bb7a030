#pragma once
/// \file
/// Catch2, version 3 where it is installed, else version 2, with one set of names for the tests.

// What an assertion throws ends its test case. With a handler in each assertion the build takes a
// fifth longer.
#define CATCH_CONFIG_FAST_COMPILE

#if __has_include(<catch2/catch_test_macros.hpp>)

#  include <catch2/catch_approx.hpp>
#  include <catch2/catch_template_test_macros.hpp>
#  include <catch2/catch_test_macros.hpp>
#  include <catch2/generators/catch_generators.hpp>
#  include <catch2/generators/catch_generators_range.hpp>

using Catch::Approx;

#else

#  if !defined(__cpp_exceptions) && !defined(CATCH_CONFIG_DISABLE_EXCEPTIONS)
#    define CATCH_CONFIG_DISABLE_EXCEPTIONS
#  endif
#  include <catch2/catch.hpp>

#endif
