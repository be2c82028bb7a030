#pragma once
/// \file
/// Plain values as text, to be handed to child processes in their environment.

#include "support/catch.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace test {

template <class T> std::string as_hex(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  std::string hex;
  for (const unsigned char byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

/// The value that a variable of the environment was set to.
template <class T> T from_hex(const char* variable) {
  const char* const hex = std::getenv(variable);
  REQUIRE(hex != nullptr);
  REQUIRE(std::strlen(hex) == 2 * sizeof(T));
  unsigned char bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes[i] = static_cast<unsigned char>(std::stoi(std::string(hex + 2 * i, 2), nullptr, 16));
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace test
