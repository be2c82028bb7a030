#pragma once
/// \file
/// The texts of C++ standard library headers, which NVRTC does not have: most include libcu++; a
/// few that have only constants are complete.

#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/cfloat.hpp>
#include <gpu/device/embedded/math.hpp>

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

inline constexpr plain_header plain_headers[] = {
    {"cfloat", cfloat_header},  {"float.h", cfloat_header},
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
