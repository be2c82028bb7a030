#pragma once
/// \file
/// Writes and launches the kernels of `histogram` and `bincount`.

#include <gpu/algorithm/sort/sort_call.hpp>
#include <gpu/algorithm/sort/sort_program.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/detail/written_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/boolean.hpp>
#include <gpu/device/embedded/histogram.hpp>
#include <gpu/device/embedded/numbers.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/fill.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// The ways to find the bin of an element.
enum class bin_kind : unsigned char {
  even,      ///< bins of equal width
  edges,     ///< between edges of the type of the elements
  doubles,   ///< between edges that are `double`s
  integers,  ///< a bin for each integer
};

/// A type of elements that are counted. Types with the same name for the device share a kernel.
struct counted_element {
  string_ref name;  ///< in device code
  sort_key key;
  bool is_signed;
};

template <class T> constexpr counted_element counted_element_of() noexcept {
  counted_element made{element_type_of<T>().name, sort_key_of<T>(), std::is_signed_v<T>};
  if constexpr (std::same_as<T, bool>) made.name = "gpu::boolean";
  return made;
}

/// The form of a kernel: kernels with equal forms are the same.
struct histogram_form {
  counted_element element;
  bin_kind kind;
  bool wide;       ///< counts have 64 bits
  bool in_shared;  ///< bins are counted in shared memory

  std::uint64_t store_key() const noexcept {
    std::uint64_t packed = element.key.bytes;
    packed = packed << 8 | element.key.exponent;
    packed = packed << 8 | static_cast<std::uint64_t>(kind);
    return packed << 3 | (element.is_signed ? 4u : 0u) | (wide ? 2u : 0u) | (in_shared ? 1u : 0u);
  }
};

// Tuning parameters. benchmarks/algorithm/lookup.cu measures their effect.

inline constexpr unsigned histogram_threads = 512;
/// Groups of 16 bytes that a thread loads before it counts them.
inline constexpr unsigned histogram_loads = 4;
/// Blocks that a multiprocessor holds at once.
inline constexpr unsigned histogram_blocks_per_multiprocessor = 2;
/// Bytes of shared memory of a block: for the copies of counters, and in all.
inline constexpr std::uint64_t most_copied_bytes = 32 << 10;
inline constexpr std::uint64_t most_shared_bytes = 48 << 10;

inline result<> write_histogram(const histogram_form& form, generated_program& program) {
  text_builder out;
  program.headers.push_back({histogram_header_name, histogram_header});
  if (starts_with(form.element.name, "gpu::")) {
    program.headers.push_back({boolean_header_name, boolean_header});
    program.headers.push_back({numbers_header_name, numbers_header});
  }
  write_includes(out, program);
  text_builder name;
  name << (form.kind == bin_kind::integers ? "gpu_bincount_" : "gpu_histogram_")
       << form.element.key.name;
  program.kernel = required(name.finish());
  out << "extern \"C\" __global__ void __launch_bounds__(" << histogram_threads << ", "
      << histogram_blocks_per_multiprocessor << ") " << program.kernel
      << "(const __grid_constant__ gpu::histograms::call c) {\n  using namespace gpu::histograms;\n"
         "  count_in_"
      << (form.in_shared ? "shared<" : "global<") << form.element.name << ", ";
  switch (form.kind) {
    case bin_kind::even: {
      const bool is_float =
          form.element.key.exponent > bool_exponent && form.element.key.bytes <= 4;
      out << (is_float ? "even_bins_of_floats" : "even_bins");
      break;
    }
    case bin_kind::edges: out << "bins_of_edges<" << form.element.name << '>'; break;
    case bin_kind::doubles: out << "bins_of_edges<double>"; break;
    case bin_kind::integers: out << "bins_of_integers"; break;
  }
  out << ", " << (form.wide ? "unsigned long long, " : "unsigned, ") << histogram_threads << ", "
      << histogram_loads << ">(c);\n}\n";
  program.set_source("gpu_histogram.cu", out);
  program.options.fused_multiply_add = false;  // edges are rounded as on the host
  return {};
}

struct histogram_kernels;

/// The elements to count, the bins and the counts. `edges` has no name if there are none.
struct histogram_request {
  const char* function;
  const stream_ref& stream;
  source_location where;
  counted_element element;
  bin_kind kind;
  named_elements x;
  named_indices counts;
  named_elements edges = {};
  double low = 0, high = 0;

  const named_elements& bins() const noexcept { return counts.elements; }
};

/// Describes what `histogram` and `bincount` count, and where.
template <class X, class Counts>
histogram_request request_counts(const char* function, const stream_ref& stream, X& x,
                                 bin_kind kind, Counts& counts, source_location where) noexcept {
  return {function,
          stream,
          where,
          counted_element_of<std::remove_const_t<element_t<X>>>(),
          kind,
          name_elements("x", x),
          name_indices("counts", counts)};
}

/// `gpu::histograms::call`.
struct histogram_arguments {
  CUdeviceptr x;
  std::uint64_t n;
  CUdeviceptr counts, edges;
  double low, high;
  int bins, copies, edges_shared;
};

/// Chooses how often counters are in shared memory and what else is there. Returns the bytes; 0 if
/// the counters do not fit.
inline std::uint64_t share_memory(const histogram_request& request,
                                  histogram_arguments& arguments) noexcept {
  const std::uint64_t slots = request.element.key.bytes == 1 ? 256 : request.bins().count();
  if (slots * sizeof(std::uint32_t) > most_shared_bytes) return 0;
  const std::uint64_t edges = request.edges.count() * request.edges.element_bytes;
  const auto bytes = [&](std::uint64_t copies) { return (slots * copies + 1) / 2 * 8; };
  std::uint64_t copies = 32;
  while (copies > 1 && (bytes(copies) > most_copied_bytes ||
                        (edges <= most_copied_bytes && bytes(copies) + edges > most_shared_bytes)))
    copies /= 2;
  arguments.copies = static_cast<int>(copies);
  arguments.edges_shared = edges != 0 && bytes(copies) + edges <= most_shared_bytes;
  return bytes(copies) + (arguments.edges_shared != 0 ? edges : 0);
}

inline result<> clear_bins(const stream_ref& stream, const named_elements& bins,
                           source_location where) noexcept {
  copy_end bytes = bins.memory;
  bytes.count *= bins.element_bytes;
  return fill_on(stream, bytes, 0, 1, where);
}

/// Fails if there are more bins than kernels number. `cure` says what to do with parts of a range.
inline result<> require_numbered(const char* function, const named_elements& bins, const char* cure,
                                 source_location where) {
  constexpr std::uint64_t most = 0x7fff'fffe;
  if (bins.count() <= most) return {};
  text_builder out;
  out << bins.name << " has " << bins.count() << " elements, but there can be at most " << most
      << " bins. " << cure << " parts of the range one after the other.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, bins.count(), most));
}

/// Counts. The arguments are checked.
inline result<> run_histogram(const histogram_request& request) {
  GPU_TRY(clear_bins(request.stream, request.bins(), request.where));
  const std::uint64_t n = request.x.count();
  if (n == 0 || request.bins().count() == 0) return {};
  histogram_arguments arguments{};
  arguments.x = request.x.memory.device_address();
  arguments.n = n;
  arguments.counts = request.bins().memory.device_address();
  arguments.edges = request.edges.memory.device_address();
  arguments.low = request.low;
  arguments.high = request.high;
  arguments.bins = static_cast<int>(request.bins().count());
  const std::uint64_t shared = share_memory(request, arguments);
  const histogram_form form{request.element, request.kind, request.bins().element_bytes == 8,
                            shared != 0};
  const untyped_kernel* const kernel = GPU_TRY(find_generated<histogram_kernels>(
      request.function, request.stream, form.store_key(), request.where,
      [&](generated_program& program) { return write_histogram(form, program); }));
  const int multiprocessors = GPU_TRY(
      attribute<device_attribute::multiprocessor_count>(request.stream.device(), request.where));
  const std::uint64_t most =
      static_cast<unsigned>(multiprocessors) * histogram_blocks_per_multiprocessor;
  const std::uint64_t tile = histogram_threads * histogram_loads * 16u / request.element.key.bytes;
  std::uint64_t blocks = (n - 1) / tile + 1;
  if (blocks > most) blocks = most;
  const std::uint64_t least = (n >> 31) + 1;  // a block counts with 32 bits
  if (blocks < least) blocks = least;
  void* pointers[] = {&arguments};
  return launch_generated(request.stream,
                          {.grid = static_cast<std::uint32_t>(blocks),
                           .block = histogram_threads,
                           .shared_bytes = static_cast<std::uint32_t>(shared)},
                          *kernel, pointers, request.where);
}

/// Checks the ranges of elements and counts.
inline result<> check_counts(const histogram_request& request) {
  const char* const function = request.function;
  const source_location where = request.where;
  GPU_TRY(require(request.stream, function, where));
  GPU_TRY(require_usable(function, request.stream, request.x, where));
  GPU_TRY(require_usable(function, request.stream, request.bins(), where));
  GPU_TRY(require_disjoint(function, request.x, request.bins(), where));
  GPU_TRY(require_numbered(function, request.bins(), "Count", where));
  const std::uint64_t largest = request.counts.most - 1;
  if (request.x.count() <= largest) return {};
  text_builder out;
  out << "all of the " << request.x.count()
      << " elements could fall into one bin, but an element of counts holds at most " << largest
      << ". Use counts of 64 bits.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, request.x.count(), largest));
}

/// Returns an `errc::invalid_argument` with a sentence that is made of parts.
template <class... Parts>
unexpected<cuda_error> refuse_bins(source_location where, const Parts&... parts) noexcept {
  text_builder out;
  (out << ... << parts);
  return fail(refusal(errc::invalid_argument, "gpu::histogram", out.finish(), where));
}

inline result<> require_bins(const histogram_request& request) {
  if (request.bins().count() != 0) return {};
  return fail(refusal(errc::invalid_argument, request.function,
                      text("counts has 0 elements, but a histogram has at least 1 bin. Pass an "
                           "element for each bin."),
                      request.where, 0, 1));
}

/// Counts in bins of equal width.
inline result<> run_even_histogram(const histogram_request& request) {
  const source_location where = request.where;
  const double low = request.low, high = request.high;
  GPU_TRY(check_counts(request));
  GPU_TRY(require_bins(request));
  const double range = high - low;
  if (!ieee_number(range).is_finite()) {
    return refuse_bins(where, "the range from ", low, " to ", high,
                       " is not finite. Pass numbers that are finite, and not farther apart than "
                       "the largest double.");
  }
  if (!(low < high)) {
    return refuse_bins(where, "low is ", low, " and high is ", high,
                       ", but low must be less than high.");
  }
  const double width = range / static_cast<double>(request.bins().count());
  if (!(uncombined(low + width) > low && uncombined(high - width) < high &&
        ieee_number(1 / width).is_finite())) {
    return refuse_bins(where, "the range from ", low, " to ", high, " is too small for ",
                       request.bins().count(), " bins: they would have a width of ", width,
                       ". Pass fewer counts or a larger range.");
  }
  return run_histogram(request);
}

/// Counts between edges.
inline result<> run_edge_histogram(const histogram_request& request) {
  const char* const function = request.function;
  GPU_TRY(check_counts(request));
  GPU_TRY(require_bins(request));
  GPU_TRY(require_usable(function, request.stream, request.edges, request.where));
  const std::size_t edges = request.edges.count(), bins = request.bins().count();
  if (edges != bins + 1) {
    text_builder out;
    out << "edges has " << edges << " elements, but counts has " << bins << ": " << bins
        << " bins have " << bins + 1 << " edges.";
    return fail(refusal(errc::size_mismatch, function, out.finish(), request.where, edges, bins));
  }
  GPU_TRY(require_disjoint(function, request.edges, request.bins(), request.where));
  return run_histogram(request);
}

}}}  // namespace gpu::v1::detail
