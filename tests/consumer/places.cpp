// Prints the place in this file that a leak list would name, and its line: alike, unless the
// file's folder is taken for the library's, or the program was linked in a way that moves
// addresses.
#include <nogpu/driver/places.hpp>

#include <cstdio>

int main() {
  nogpu::driver::place_table places;
  const std::string here = places.remember();
  const int line = __LINE__ - 1;
  std::printf("%s\n%s:%d\n", places.explain(here).c_str(), __FILE__, line);
}
