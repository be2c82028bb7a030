// Compiled twice, with and without GPU_SECOND_SOURCE, and linked into one program, where every
// function of the library then is defined twice: all of them have to be inline.
#include "all_headers.hpp"

int second_source();

#if defined(GPU_SECOND_SOURCE)
int second_source() { return static_cast<int>(gpu::driver::entry_point_count); }
#else
int main() { return second_source() == static_cast<int>(gpu::driver::entry_point_count) ? 0 : 1; }
#endif
