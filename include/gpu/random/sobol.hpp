#pragma once
/// \file
/// `sobol32` and `sobol64`: Sobol's sequences of low discrepancy, plain and scrambled.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random/detail/curand_vectors.hpp>
#include <gpu/random/detail/engine_position.hpp>
#include <gpu/random/detail/sobol_numbers.hpp>
#include <gpu/random/engines.hpp>
#include <gpu/random/random_numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// Options of `sobol32::create` and `sobol64::create`.
struct sobol_options {
  std::uint64_t offset = 0;  ///< points to skip
  bool scrambled = false;    ///< by a random matrix for each dimension, and a random shift
  std::uint64_t seed = 0;    ///< of the scrambling
};

/// Sobol's sequence in several dimensions: points that fill the unit cube more evenly than random
/// ones, so that means over them converge faster. Numbers of it are asked for in the shape of
/// dimensions by points: a fill takes as many points as its elements are times the dimensions, and
/// first all coordinates in dimension 0, then all in dimension 1, as cuRAND has them. `gpu::
/// transpose` of the result has a point in each row. Owns tables in device memory, made of the
/// direction vectors, which must live as long as work that uses them. Move-only.
template <class Word> class sobol_engine {
 public:
  static constexpr unsigned bits = 8 * sizeof(Word);
  static constexpr const char* name = bits == 32 ? "sobol32" : "sobol64";
  /// Those in the table of the library, and those of cuRAND's library.
  static constexpr std::size_t most_dimensions = detail::sobol_dimensions;
  static constexpr std::size_t most_dimensions_of_curand = detail::curand_dimensions;

  /// Makes the sequence with the direction numbers of Joe and Kuo: in up to `most_dimensions` from
  /// a table, in up to `most_dimensions_of_curand` if cuRAND's library, which is opened at run
  /// time, is there. Scrambled points keep their evenness: the bits of each coordinate are
  /// multiplied by a random lower triangular matrix, and a random number is added to them, both
  /// made by Philox.
  /// **Ordering**: waits for the stream. **Errors**: `errc::invalid_argument` for no dimensions, or
  /// more than there are; `errc::not_supported` for more than are in the table without cuRAND's
  /// library; `errc::out_of_host_memory`; those of `device_buffer::create`. **Capture**: not
  /// allowed.
  static result<sobol_engine> create(const stream_ref& stream, std::size_t dimensions,
                                     const sobol_options& options = {},
                                     source_location where = source_location::current()) {
    GPU_TRY(require_dimensions("gpu::sobol::create", dimensions, where));
    return detail::catch_bad_alloc("gpu::sobol::create", where, [&]() -> result<sobol_engine> {
      sequence<Word> vectors, shifts;
      vectors.reserve(dimensions * bits);
      if (dimensions <= most_dimensions) {
        detail::add_direction_vectors(vectors, dimensions);
      } else {
        const auto found = GPU_TRY(detail::curand_vectors<Word>::find(false, where));
        for (std::size_t k = 0; k < dimensions * bits; ++k) vectors.push_back(found.vectors[k]);
      }
      shifts.assign(dimensions, 0);
      if (options.scrambled) scramble(vectors, shifts, options.seed);
      return upload(stream, vectors.data(), shifts.data(), dimensions, options.offset, where);
    });
  }

  /// Makes the sequence with the direction vectors of cuRAND's library, which is opened at run
  /// time; if scrambled, with its scrambled vectors and its scramble constants: then the numbers
  /// are those of `CURAND_RNG_QUASI_SCRAMBLED_SOBOL32` or 64. The seed plays no role.
  /// **Errors**: `errc::not_supported` without that library; else those of `create`.
  static result<sobol_engine> from_curand(const stream_ref& stream, std::size_t dimensions,
                                          const sobol_options& options = {},
                                          source_location where = source_location::current()) {
    GPU_TRY(require_dimensions("gpu::sobol::from_curand", dimensions, where));
    const auto found = GPU_TRY(detail::curand_vectors<Word>::find(options.scrambled, where));
    return detail::catch_bad_alloc("gpu::sobol::from_curand", where, [&]() -> result<sobol_engine> {
      sequence<Word> none;
      if (!options.scrambled) none.assign(dimensions, 0);
      return upload(stream, found.vectors, options.scrambled ? found.constants : none.begin(),
                    dimensions, options.offset, where);
    });
  }

  /// Makes a sequence with direction vectors of the caller, `bits` for each dimension, and a shift
  /// for each: host ranges.
  /// **Errors**: `errc::size_mismatch`; those of `device_buffer::create`.
  template <host_range Vectors, host_range Shifts>
  static result<sobol_engine> from_vectors(const stream_ref& stream, const Vectors& vectors,
                                           const Shifts& shifts, std::uint64_t offset = 0,
                                           source_location where = source_location::current()) {
    static_assert(
        sizeof(*detail::data_of(vectors)) == sizeof(Word) &&
            sizeof(*detail::data_of(shifts)) == sizeof(Word),
        "gpu::sobol::from_vectors: vectors and shifts have the bits of the engine's numbers");
    const std::size_t count = detail::size_of(vectors), dimensions = detail::size_of(shifts);
    if (dimensions == 0 || count != dimensions * bits) {
      detail::text_builder out;
      out << "there are " << count << " direction vectors and " << dimensions
          << " shifts. Pass a shift for each dimension, 0 for a plain sequence, and " << bits
          << " vectors.";
      return detail::fail(detail::refusal(errc::size_mismatch, "gpu::sobol::from_vectors",
                                          out.finish(), where, count, dimensions * bits));
    }
    return detail::catch_bad_alloc(
        "gpu::sobol::from_vectors", where, [&]() -> result<sobol_engine> {
          return upload(stream, detail::data_of(vectors), detail::data_of(shifts), dimensions,
                        offset, where);
        });
  }

  std::size_t dimensions() const noexcept { return shifts_.size(); }
  /// Returns how many points are used.
  std::uint64_t offset() const noexcept { return position_.offset; }
  /// Skips `count` points. **Cost**: an addition.
  void skip(std::uint64_t count) noexcept { position_.reserve(count); }

 private:
  friend detail::engine_access;
  friend detail::random_access;

  sobol_engine(array<Word, 2>&& tables, array<Word>&& shifts, std::uint64_t offset) noexcept
      : tables_{std::move(tables)}, shifts_{std::move(shifts)}, position_{0, 0, offset} {}

  static result<> require_dimensions(const char* function, std::size_t dimensions,
                                     source_location where) noexcept {
    if (dimensions != 0 && dimensions <= most_dimensions_of_curand) return {};
    detail::text_builder out;
    out << dimensions << " dimensions were asked for, but there are direction numbers for 1 to "
        << most_dimensions << ", and with cuRAND's library to " << most_dimensions_of_curand
        << ". Pass direction vectors of your own to from_vectors for more.";
    return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                        dimensions, most_dimensions_of_curand));
  }

  static result<sobol_engine> upload(const stream_ref& stream, const void* vectors,
                                     const void* shifts, std::size_t dimensions,
                                     std::uint64_t offset, source_location where) {
    constexpr std::size_t words = std::size_t{4} * bits;
    const sequence<Word> tables = make_tables(static_cast<const Word*>(vectors), dimensions);
    auto on_device = GPU_TRY((gpu::empty<Word>(stream, gpu::shape<2>{dimensions, words}, where)));
    auto shifts_on_device = GPU_TRY((gpu::empty<Word>(stream, gpu::shape<1>{dimensions}, where)));
    GPU_TRY(
        detail::upload(stream, tables.data(), detail::copy_end_of(on_device), sizeof(Word), where));
    GPU_TRY(
        detail::upload(stream, shifts, detail::copy_end_of(shifts_on_device), sizeof(Word), where));
    return sobol_engine(std::move(on_device), std::move(shifts_on_device), offset);
  }

  /// Returns for each dimension and each four bits of a number what the 16 cases contribute to the
  /// coordinate. Vector k belongs to bit k of the Gray code, which is the sum of bits k and k + 1
  /// of the number.
  static sequence<Word> make_tables(const Word* vectors, std::size_t dimensions) {
    sequence<Word> tables;
    tables.reserve(dimensions * 4 * bits);
    for (const Word* own = vectors; own != vectors + dimensions * bits; own += bits) {
      for (unsigned first = 0; first < bits; first += 4) {
        for (unsigned set = 0; set < 16; ++set) {
          Word sum = 0;
          for (unsigned k = first; k < first + 4; ++k) {
            if ((set >> (k - first) & 1) != 0) sum ^= k == 0 ? own[0] : own[k] ^ own[k - 1];
          }
          tables.push_back(sum);
        }
      }
    }
    return tables;
  }

  /// Multiplies each vector, as a column of bits from the highest on, by a lower triangular matrix
  /// with ones on its diagonal.
  static void scramble(sequence<Word>& vectors, sequence<Word>& shifts, std::uint64_t seed) {
    for (std::size_t dimension = 0; dimension < shifts.size(); ++dimension) {
      std::uint64_t place = 0;
      const auto random = [&] {
        return static_cast<Word>(detail::philox_words(seed, dimension, place++));
      };
      Word columns[bits];  // column k has ones at bit k and random bits below
      for (unsigned bit = 0; bit < bits; ++bit) {
        const Word diagonal = Word{1} << (bits - 1 - bit);
        columns[bit] = diagonal | (random() & (diagonal - 1));
      }
      for (unsigned k = 0; k < bits; ++k) {
        Word& vector = vectors[dimension * bits + k];
        Word product = 0;
        for (unsigned bit = 0; bit < bits; ++bit) {
          if ((vector >> (bits - 1 - bit) & 1u) != 0) product ^= columns[bit];
        }
        vector = product;
      }
      shifts[dimension] = random();
    }
  }

  array<Word, 2> tables_;  ///< of each dimension, one for each bit
  array<Word> shifts_;
  detail::engine_position position_;
};

using sobol32 = sobol_engine<std::uint32_t>;
using sobol64 = sobol_engine<std::uint64_t>;

namespace detail {

template <class Word> inline constexpr bool is_engine<sobol_engine<Word>> = true;
template <class Word> inline constexpr bool is_quasi_random<sobol_engine<Word>> = true;

}  // namespace detail
}}  // namespace gpu::v1
