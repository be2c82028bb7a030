// Prints the place that a leak list would name in a program without debug information, whose CPU
// driver has it: an offset in this program's file, and no line of what called `main`.
#include <string>

std::string place_of_caller();

#ifdef GPU_PLACES_OF_LIBRARY
#  include <nogpu/driver/places.hpp>

std::string place_of_caller() {
  nogpu::driver::place_table places;
  const std::string here = places.remember();
  return places.explain(here);
}
#else
#  include <cstdio>

int main() { std::printf("%s\n", place_of_caller().c_str()); }
#endif
