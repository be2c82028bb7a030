// Misuse of the driver's handles that must not compile, each beside a use that does.

#include <gpu/driver.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/graph.hpp>

#include <utility>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

template <bool NoThrow> struct with_destructor {
  ~with_destructor() noexcept(NoThrow) {}
  void operator()() const {}
};

inline gpu::result<> misuse(gpu::device device) {
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  gpu::event event = GPU_TRY(gpu::event::create(device));

#if GPU_REJECTED == 1
  // expect 1: deleted
  const gpu::stream_ref dangling = GPU_TRY(gpu::stream::create(device));
#elif GPU_REJECTED == 2
  // expect 2: deleted
  const gpu::event_ref dangling = GPU_TRY(gpu::event::create(device));
#elif GPU_REJECTED == 3
  // expect 3: deleted
  gpu::stream twice = stream;
#elif GPU_REJECTED == 4
  // expect 4: conversion
  gpu::stream_ref none = nullptr;
#elif GPU_REJECTED == 5
  // expect 5: conversion
  gpu::stream_ref zero = 0;
#elif GPU_REJECTED == 6
  // expect 6: no matching function for call to
  GPU_TRY(gpu::record(event, stream));
#elif GPU_REJECTED == 7
  // expect 7: deleted
  const gpu::context_ref dangling = GPU_TRY(gpu::context::create(device));
#elif GPU_REJECTED == 8
  // expect 8: conversion
  gpu::stream_ref raw = stream.native();
#elif GPU_REJECTED == 9
  // expect 9: the destructor of a host function may throw
  GPU_TRY(gpu::launch_host_function(stream, with_destructor<false>()));
#elif GPU_REJECTED == 10
  // expect 10: the destructor of a host function may throw
  gpu::graph graph = GPU_TRY(gpu::graph::create(device));
  GPU_TRY(graph.add({}, gpu::host_node(with_destructor<false>())));
#elif GPU_REJECTED == 11
  // expect 11: the destructor of a host function may throw
  GPU_TRY(gpu::launch_host_function(stream, [held = with_destructor<false>()] {}));
#else
  GPU_TRY(gpu::launch_host_function(stream, with_destructor<true>()));
  GPU_TRY(gpu::launch_host_function(stream, [held = with_destructor<true>()] {}));
  gpu::graph graph = GPU_TRY(gpu::graph::create(device));
  GPU_TRY(graph.add({}, gpu::host_node(with_destructor<true>())));
  const gpu::stream_ref name = stream;
  const gpu::stream moved = std::move(stream);
  GPU_TRY(gpu::record(name, event));
#endif
  return {};
}
