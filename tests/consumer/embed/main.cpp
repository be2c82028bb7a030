// Prints the device code that CMake made a part of this program.
#include <kernels/scale.cu.hpp>

#include <cstdio>

int main() { std::fputs(embedded::scale_cu, stdout); }
