#pragma once
/// \file
/// The type that `bool` has in memory. A byte of a file, of memory that was something else, or of
/// another library can be neither 0 nor 1, and C++ does not define what such a `bool` is. As in
/// NumPy, every byte but 0 is true.

namespace gpu {

/// A bool in memory, whose byte can be any. All bytes but 0 are true.
struct boolean {
  unsigned char byte;

  boolean() = default;
  __device__ explicit boolean(bool value) : byte(value) {}
  __device__ operator bool() const { return byte != 0; }

  __device__ boolean& operator=(bool value) { return byte = value, *this; }
  __device__ boolean& operator|=(bool value) { return *this = *this || value; }
  __device__ boolean& operator&=(bool value) { return *this = *this && value; }
  __device__ boolean& operator^=(bool value) { return *this = *this != value; }
  __device__ boolean& operator+=(bool value) { return *this |= value; }
  __device__ boolean& operator*=(bool value) { return *this &= value; }
};

}  // namespace gpu
