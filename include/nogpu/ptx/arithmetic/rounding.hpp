#pragma once

#include <cstdint>

namespace nogpu { inline namespace v1 { namespace ptx {

/// The rounding of a result that its type cannot hold. Floating modifiers (`.rn`) and the integer
/// ones of `cvt` (`.rni`) share enumerators; the latter also mean that the result is an integer.
enum class rounding : std::uint8_t {
  nearest_even,     ///< `.rn`, `.rni`
  toward_zero,      ///< `.rz`, `.rzi`
  toward_negative,  ///< `.rm`, `.rmi`
  toward_positive,  ///< `.rp`, `.rpi`
  nearest_away,     ///< `.rna`, of `cvt` to tf32
  none,             ///< no modifier was written
};

}}}  // namespace nogpu::v1::ptx
