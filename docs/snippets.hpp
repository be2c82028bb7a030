// What the snippets of the documents take for granted: tests/structure/documents puts this before
// each of them and compiles it.
#pragma once

#include <gpu/gpu.hpp>

#include <cstdio>
#include <vector>

extern gpu::device device;
extern gpu::context_ref context;
extern gpu::stream stream;
extern gpu::stream other_stream;
extern gpu::event event;
extern gpu::module code;
extern std::size_t n;
extern std::vector<float> host, result;
extern gpu::device_buffer<float> x, y;
extern gpu::kernel<float, const float*, float*, std::size_t> saxpy;
extern const char* source;
