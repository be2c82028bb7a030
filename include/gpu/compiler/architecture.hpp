#pragma once
/// \file
/// `architecture`: the GPU architecture that device code is compiled for.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The architecture that device code is compiled for: a real one, whose machine code runs at once,
/// or a virtual one, whose PTX the driver compiles when it is loaded.
class architecture {
 public:
  enum class kind_type : unsigned char { of_device, real, virtual_ };

  /// The architecture of the thread's current context, or of device 0 without one.
  constexpr architecture() noexcept = default;
  /// The architecture of a device.
  constexpr architecture(device of) noexcept : number_{of.native()} {}

  /// Machine code: `sm(90)` is `sm_90`, and `sm(90, 'a')` is `sm_90a`. The PTX comes with it.
  static constexpr architecture sm(int number, char variant = '\0') noexcept {
    return architecture{kind_type::real, number, variant};
  }
  /// PTX alone: `compute(90)` is `compute_90`.
  static constexpr architecture compute(int number, char variant = '\0') noexcept {
    return architecture{kind_type::virtual_, number, variant};
  }

  constexpr kind_type kind() const noexcept { return kind_; }
  /// Returns 90 for `sm_90`. If the kind is `of_device`, returns the device's index, or -1 for the
  /// default.
  constexpr int number() const noexcept { return number_; }
  /// Returns the letter after the number, or 0.
  constexpr char variant() const noexcept { return variant_; }
  friend constexpr bool operator==(const architecture&, const architecture&) noexcept = default;

 private:
  constexpr architecture(kind_type kind, int number, char variant) noexcept
      : kind_{kind}, variant_{variant}, number_{number} {}

  kind_type kind_ = kind_type::of_device;
  char variant_ = '\0';
  int number_ = -1;
};

namespace detail {

/// Writes `sm_90a` or `compute_90`.
inline void write_architecture(text_builder& out, gpu::architecture a) noexcept {
  out << (a.kind() == architecture::kind_type::real ? "sm_" : "compute_") << a.number();
  if (a.variant() != '\0') out << a.variant();
}

/// Reads `sm_90`, `sm_90a` or `compute_90`. Returns false for anything else.
inline bool parse_architecture(string_ref written, architecture& parsed) noexcept {
  const bool real = starts_with(written, "sm_");
  if (!real && !starts_with(written, "compute_")) return false;
  const std::size_t prefix = real ? 3 : 8;
  int number = 0;
  std::size_t at = prefix;
  for (; at < written.size() && is_digit(written[at]) && number < 10000; ++at) {
    number = number * 10 + (written[at] - '0');
  }
  const char variant = at < written.size() ? written[at] : '\0';
  if (at == prefix || written.size() - at > 1) return false;
  parsed = real ? architecture::sm(number, variant) : architecture::compute(number, variant);
  return true;
}

}  // namespace detail
}}  // namespace gpu::v1
