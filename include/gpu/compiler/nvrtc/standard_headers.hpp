#pragma once
/// \file
/// The texts of C++ standard library headers, which NVRTC does not have: most include libcu++; a
/// few that have only constants are complete.

#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// The headers with a counterpart for device code in libcu++, in `cuda/std/`.
inline constexpr const char* libcuxx_headers[] = {"algorithm",
                                                  "array",
                                                  "atomic",
                                                  "barrier",
                                                  "bit",
                                                  "bitset",
                                                  "chrono",
                                                  "climits",
                                                  "cmath",
                                                  "complex",
                                                  "concepts",
                                                  "cstdint",
                                                  "cstdlib",
                                                  "cstring",
                                                  "ctime",
                                                  "expected",
                                                  "functional",
                                                  "iterator",
                                                  "latch",
                                                  "limits",
                                                  "mdspan",
                                                  "memory",
                                                  "new",
                                                  "numbers",
                                                  "numeric",
                                                  "optional",
                                                  "ranges",
                                                  "ratio",
                                                  "span",
                                                  "tuple",
                                                  "cstddef",
                                                  "type_traits",
                                                  "utility",
                                                  "variant",
                                                  "semaphore",
                                                  "version",
                                                  "stdint.h",
                                                  "initializer_list",
                                                  "limits.h",
                                                  "stddef.h",
                                                  "source_location"};

/// A header whose text is complete.
struct plain_header {
  const char* name;
  const char* source;
};

inline constexpr char empty_header[] = "#pragma once\nnamespace std {}\n";

inline constexpr char float_header[] = R"(#pragma once
#define FLT_RADIX 2
#define DECIMAL_DIG 17
#define FLT_EVAL_METHOD 0
#define FLT_ROUNDS 1
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_DECIMAL_DIG 9
#define FLT_MIN_EXP (-125)
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_EXP 128
#define FLT_MAX_10_EXP 38
#define FLT_MAX 3.40282346638528859812e+38f
#define FLT_MIN 1.17549435082228750797e-38f
#define FLT_TRUE_MIN 1.40129846432481707092e-45f
#define FLT_EPSILON 1.1920928955078125e-7f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_DECIMAL_DIG 17
#define DBL_MIN_EXP (-1021)
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_EXP 1024
#define DBL_MAX_10_EXP 308
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_TRUE_MIN 4.94065645841246544177e-324
#define DBL_EPSILON 2.2204460492503130808e-16
)";

/// Has no functions, because NVRTC has them built in.
inline constexpr char math_header[] = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
)";

inline constexpr plain_header plain_headers[] = {
    {"cfloat", float_header},   {"float.h", float_header},
    {"math.h", math_header},    {"assert.h", empty_header},
    {"cassert", empty_header},  {"stdio.h", "#pragma once\n"},
    {"stdlib.h", empty_header}, {"cstdio", "#pragma once\nnamespace std { using ::printf; }\n"},
    {"string.h", empty_header}, {"time.h", empty_header}};

/// Returns a header that includes the counterpart of `name` in libcu++, or fails with what to do if
/// libcu++ lacks it.
inline text libcuxx_header(string_ref name) {
  const bool of_c = name == "stdint.h" || name == "limits.h" || name == "stddef.h";
  text_builder counterpart;
  if (of_c) counterpart << 'c';
  counterpart << name.substring(0, of_c ? name.size() - 2 : name.size());
  const text there = required(counterpart.finish());
  text_builder out;
  out << "#pragma once\n";
  if (there == "cmath") out << "#undef INFINITY\n#undef NAN\n";  // libcu++ has its own
  out << "#if __has_include(<cuda/std/" << there << ">)\n#include <cuda/std/" << there
      << ">\n#elif __has_include(<cuda/std/__" << there << "_>)\n#include <cuda/std/__" << there
      << "_>\n"
         "#else\n#error <"
      << name << "> is taken from libcu++, and neither <cuda/std/" << there
      << "> nor a similar header was found. Install the headers of CCCL, which come with the CUDA "
         "toolkit, or add their folder to the include folders.\n"
         "#endif\n"
         "namespace cuda { namespace std {} }\n"
         "namespace std { using namespace cuda::std; }\n";
  if (there == "cstddef") {
    out << "#undef offsetof\n"  // that of libcu++ is not a constant
           "#define offsetof(type, member) __INTADDR__(&(static_cast<type*>(nullptr)->member))\n";
  }
  if (there == "cmath") out << "#include <math.h>\n";
  return required(out.finish());
}

/// Returns the text of the standard header `name`, or an empty text if it is unknown.
inline text standard_header(string_ref name) {
  for (const char* known : libcuxx_headers) {
    if (name == known) return libcuxx_header(name);
  }
  for (const plain_header& known : plain_headers) {
    if (name == known.name) return required(text(known.source));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
