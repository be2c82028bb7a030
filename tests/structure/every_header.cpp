// Includes every header of the library but those of interop/.
#include "all_headers.hpp"

int every_header();

int every_header() { return static_cast<int>(gpu::driver::entry_point_count); }
