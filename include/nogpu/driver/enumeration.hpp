#pragma once
/// \file
/// Reads enumerators that a caller of the driver passed.

#include <cstring>

namespace nogpu { inline namespace v1 { namespace driver {

/// Reads a value that the program passed as an enumerator. It may be out of range, so loading it as
/// an enumerator would be undefined.
template <class Enumeration> unsigned number_of(const Enumeration& written) noexcept {
  unsigned number = 0;
  static_assert(sizeof number == sizeof written);
  std::memcpy(&number, &written, sizeof number);
  return number;
}

}}}  // namespace nogpu::v1::driver
