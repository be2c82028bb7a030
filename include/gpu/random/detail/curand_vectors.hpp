#pragma once
/// \file
/// The direction vectors and scramble constants of cuRAND's library, which is opened at run time.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The dimensions for which cuRAND has vectors.
inline constexpr std::size_t curand_dimensions = 20000;

inline constexpr toolkit_library curand_library{
    "GPU_CURAND", {"libcurand.so.10", "libcurand.so"}, "nvidia/curand/lib"};

/// Memory of the library: as many direction vectors for each dimension as a Word has bits, and a
/// constant for each dimension.
template <class Word> struct curand_vectors {
  const Word* vectors;
  const Word* constants;  ///< null for vectors that are not scrambled

  /// **Errors**: `errc::not_supported` if the library is not there, with the places where it was
  /// looked for.
  static result<curand_vectors> find(bool scrambled, source_location where) noexcept {
    constexpr bool wide = sizeof(Word) == 8;
    // curandDirectionVectorSet: 101 to 104.
    const int set = (wide ? 103 : 101) + (scrambled ? 1 : 0);
    using getter = int (*)(const Word** vectors, int set);
    using getter_of_constants = int (*)(const Word** constants);
    text_builder looked_in;
    void* const library = open_toolkit_library(curand_library, looked_in);
    if (library == nullptr) return refuse("it was not found in ", looked_in.finish(), where);
    const auto get = find_symbol<getter>(
        library, wide ? "curandGetDirectionVectors64" : "curandGetDirectionVectors32");
    const auto get_constants = find_symbol<getter_of_constants>(
        library, wide ? "curandGetScrambleConstants64" : "curandGetScrambleConstants32");
    curand_vectors found{nullptr, nullptr};
    if (get == nullptr || get_constants == nullptr || get(&found.vectors, set) != 0 ||
        (scrambled && get_constants(&found.constants) != 0)) {
      return refuse("the one that was found does not have them", text(), where);
    }
    return found;
  }

 private:
  static unexpected<cuda_error> refuse(const char* reason, const text& places,
                                       source_location where) noexcept {
    text_builder out;
    out << "the direction vectors are in cuRAND's library, but " << reason << places
        << ". Install it (libcurand of the CUDA Toolkit, or the wheel nvidia-curand) or name its "
           "file by GPU_CURAND, or pass direction vectors of your own to from_vectors.";
    return fail(refusal(errc::not_supported, "gpu::sobol::from_curand", out.finish(), where));
  }
};

}}}  // namespace gpu::v1::detail
