// What a generator of text may get wrong: ; [a;b] ${not_a_variable} @nor_this@ \n \\ )" )gpu" "quoted" äöü
#define LINES(a, b) a; \
  b
extern "C" __global__ void scale(float* x, float by) { x[blockIdx.x] *= by; /* %d %s */ }
