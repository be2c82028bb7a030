#pragma once
/// \file
/// `random_writer`: writes the snippet of a kernel that makes random numbers.

#include <gpu/core/text.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/detail/random_element.hpp>
#include <gpu/random/detail/random_request.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Writes the text of a kernel.
class random_writer {
 public:
  random_writer(const random_request& request, bool aligned) noexcept
      : request_{request}, aligned_{aligned} {}

  text preamble() const {
    text_builder out;
    out << "#include <gpu/device/philox.cuh>\n#include <gpu/device/poisson.cuh>\n";
    if (!request_.source.counts()) {
      out << "#include <gpu/device/" << (inverts() ? "sobol" : request_.source.name) << ".cuh>\n";
    }
    if (request_.source.is_stored()) out << "#include <gpu/device/stored_words.cuh>\n";
    out << "using real = " << (makes_doubles() ? "double" : "float") << ";\n";
    return out.finish();
  }

  /// Copies the table of a kernel's arguments to shared memory.
  text before() const {
    if (!request_.is_tabulated()) return {};
    return text(
        "__shared__ gpu::random::poisson_entries found;\n"
        "found.fill(table);\n");
  }

  /// Returns the snippet that is tried for all elements of a group before `body`; empty if there is
  /// none.
  text quick() const {
    text_builder out;
    if (request_.is_tabulated() && request_.source.counts()) write_counted(out, true);
    return out.finish();
  }
  text body() const {
    text_builder out;
    if (request_.source.counts()) {
      write_counted(out, false);
    } else if (request_.source.is_quasi_random()) {
      write_quasi_random(out);
    } else if (request_.source.is_stored()) {
      write_stored(out);
    } else {
      write_interleaved(out);
    }
    return out.finish();
  }

 private:
  /// Whether a normal number is made of one number, by the inverse of its distribution function.
  bool inverts() const noexcept {
    return request_.source.is_quasi_random() || request_.source.is_stored();
  }
  bool makes_doubles() const noexcept { return request_.element.is_double(); }

  /// The element with the index i is a function of i.
  void write_counted(text_builder& out, bool quickly) const {
    const bool doubles = request_.in_order_of_doubles();
    const char* const type = doubles    ? "gpu::random::philox_numbers<true, true>"
                             : aligned_ ? "gpu::random::philox_numbers<true, false>"
                                        : "gpu::random::philox_numbers<false, false>";
    const bool in_memory = request_.source.kind == engine_kind::philox_in_memory;
    out << "const " << type << " numbers{seed, sequence, "
        << (!in_memory ? "first"
            : doubles  ? "(*place + 131071) / 131072 * 131072"
                       : "*place")
        << "};\nconst unsigned long long at = gpu::random::narrowed<gpu_index>(i);\n";
    const unsigned words = request_.words();
    const bool draws = request_.recipe().draws_until_accepted;
    if (!draws || is_poisson()) {
      const bool point = request_.distribution.kind == random_kind::on_sphere;
      out << "gpu::random::" << (point ? "following" : "element") << "_words<" << type
          << "> words(numbers, ";
      if (request_.recipe().in_pairs) {
        out << "at / 2 * " << 2 * words;
      } else if (point) {
        out << "at / count * (count + count % 2) * " << words;
      } else {
        out << "at * " << words;
      }
      out << ");\n";
    }
    if (!quickly && (draws || request_.distribution.kind == random_kind::integers))
      out << "gpu::random::element_sequence own(numbers, at);\n";
    if (is_poisson()) out << "const unsigned drawn = words.next();\n";
    if (request_.recipe().in_pairs)
      out << "const real z = gpu::random::normal_of_pair<real>(words, at % 2 != 0);\n";
    write_element(out, "i", quickly);
  }

  /// The element with the index i is a coordinate of a point.
  void write_quasi_random(text_builder& out) const {
    const char* const word = request_.source.word_type();
    const int bits = request_.source.kind == engine_kind::sobol32 ? 32 : 64;
    // `rows` is the number of points. If that is a multiple of four, so is the number of the first
    // of four elements.
    out << "using word = " << word << ";\nusing index = gpu::random::unsigned_index<gpu_index>;\n";
    if (aligned_) {
      out << "const index four = index(i) / 4, points = index(rows) / 4, dimension = four / "
             "points;\n"
             "const word high = word(first) / 4 + (four - dimension * points);\n"
             "const unsigned low = unsigned(i) % 4;\n";
    } else {
      out << "const index points = index(rows), dimension = index(i) / points;\n"
             "const word number = word(first) + (index(i) - dimension * points);\n"
             "const word high = number / 4;\nconst unsigned low = unsigned(number) % 4;\n";
    }
    // The object gives this one number, and does not go on by direction vectors.
    out << "const word* const tables = (const word*)place + dimension * " << 4 * bits
        << ";\ngpu::sobol<word> words(tables, ((const word*)shifts)[dimension] ^ "
           "gpu::random::sobol_number(tables, high, low));\n"
        << "auto& own = words;\n";
    if (request_.recipe().in_pairs) out << "const real z = gpu::normal<real>(words);\n";
    write_element(out, "i");
  }

  /// The words of the element with the index i follow each other.
  void write_stored(text_builder& out) const {
    const bool seeds = request_.seeds_sequences();
    out << "stored_words " << (seeds ? "stored" : "words") << "(place, first + i * "
        << request_.words_of_unit() << ");\n";
    if (seeds) write_seeded(out, "stored");
    if (seeds) out << "auto& words = own;\n";
    if (request_.recipe().in_pairs) out << "const real z = gpu::normal<real>(words);\n";
    write_element(out, "i");
  }

  /// A thread takes every 4,096th element of a part, all of them from one sequence.
  void write_interleaved(text_builder& out) const {
    const bool pairs = request_.recipe().in_pairs;
    out << "const unsigned long long lane = i % 4096, part = i / 4096;\n"
        << "gpu::" << request_.source.name
        << " words(seed, sequence + (first + lane) % 4096, (first + lane) / 4096 + part * rows * "
        << request_.words_of_unit() << ");\n"
        << "const unsigned long long units = " << (pairs ? "(n + 1) / 2" : "n")
        << ";\nunsigned long long unit = part * rows * 4096 + lane;\n"
        << "for (unsigned long long row = 0; row < rows && unit < units; ++row, unit += 4096) {\n";
    if (request_.seeds_sequences()) write_seeded(out, "words");
    if (pairs) {
      out << "const auto both = gpu::normal_pair<real>(words);\n"
             "for (int k = 0; k < 2 && 2 * unit + k < n; ++k) {\n"
             "const real z = k == 0 ? both.x : both.y;\n";
      write_element(out, "2 * unit + k");
      out << ";\n}\n";
    } else {
      write_element(out, "unit");
    }
    out << ";\n}";
  }

  bool is_poisson() const noexcept { return request_.distribution.kind == random_kind::poisson; }

  /// Starts a sequence for one element.
  static void write_seeded(text_builder& out, const char* words) {
    out << "const unsigned long long drawn = gpu::random::bits64(" << words
        << ");\ngpu::philox own(drawn);\n";
  }

  void write_element(text_builder& out, const char* index, bool quickly = false) const {
    const random_element& element = request_.element;
    out << "out[" << index << "] = (" << element.type.name << ')';
    if (element.is_short()) out << "(float)";
    out << '(';
    const random_kind kind = request_.distribution.kind;
    if (kind == random_kind::bits) {
      out << "gpu::random::whole<" << element.type.name << ">(words)";
    } else if (element.is_short() &&
               (kind == random_kind::uniform || kind == random_kind::uniform_from)) {
      // As many bits as a 16-bit number has. In a range where numbers are less dense, some would
      // still be rounded to the end that is excluded, of which `c` is the neighbor.
      const bool above = kind == random_kind::uniform;
      const int digits = element.short_digits();
      out << (above ? "fmaxf" : "fminf")
          << "((real)a + (real)(b - a) * ((float)((gpu::random::whole<unsigned>(words) >> "
          << 32 - digits << ')' << (above ? " + 1" : "") << ") / " << (1 << digits)
          << "), (real)c)";
    } else if (request_.is_tabulated()) {
      out << (quickly ? "gpu::random::poisson_quickly(found, drawn, undecided)"
                      : "gpu::random::poisson_by_table(found, (unsigned)drawn, own, a)");
    } else if (is_poisson()) {
      const bool may_be_nan = element.is_integer && request_.distribution.has_means;
      out << (may_be_nan ? "gpu::random::whole_count(" : "(")
          << (request_.source.is_quasi_random()
                  ? "gpu::poisson(own, "
                  : "gpu::random::poisson_from((unsigned)drawn, own, ");
      if (request_.distribution.has_means)
        out << "(double)means[" << index << ']';
      else
        out << 'a';
      out << "))";
    } else {
      out << request_.recipe().value;
    }
    out << ')';
  }

  const random_request& request_;
  bool aligned_;
};

}}}  // namespace gpu::v1::detail
