#pragma once
/// \file
/// `architecture`: what device code is compiled for.

#include <gpu/driver/device.hpp>

namespace gpu::inline v0 {

/// What device code is compiled for: a real architecture, whose machine code runs at once, or a
/// virtual one, whose PTX the driver compiles when it is loaded.
class architecture {
 public:
  enum class kind_type : unsigned char { of_device, real, virtual_ };

  /// That of the thread's current context, or of device 0 where there is none.
  constexpr architecture() noexcept = default;
  /// That of a device.
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
  /// As in `sm_90`; the device's index, or -1 for the default, where the kind is `of_device`.
  constexpr int number() const noexcept { return number_; }
  /// The letter behind the number, or 0.
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
template <class Builder> inline void write_architecture(Builder& out, gpu::architecture a) {
  out << (a.kind() == architecture::kind_type::real ? "sm_" : "compute_") << a.number();
  if (a.variant() != '\0') out << a.variant();
}

}  // namespace detail
}  // namespace gpu::inline v0
