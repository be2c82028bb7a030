// Compile gpu/gpu.cpp instead: this source is not there after the next release.

#include <gpu/gpu.cpp>  // IWYU pragma: keep
