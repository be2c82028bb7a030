// Names under which newcomers look for what the library calls otherwise: the first error of the
// compiler says what to write.

#include <gpu/gpu.hpp>
#include <gpu/memory/pinned_buffer.hpp>

#include <vector>

gpu::result<> use(gpu::device device, gpu::stream& stream, gpu::event& start, gpu::event& stop,
                  gpu::graph& graph, gpu::graph_exec& exec, gpu::module& code,
                  gpu::kernel<float*> kernel, gpu::device_buffer<float>& x,
                  std::vector<float>& host, [[maybe_unused]] gpu::compiled_program& program) {
  GPU_TRY(gpu::record(stream, start));
  GPU_TRY(gpu::wait(stream, start));
  GPU_TRY(gpu::elapsed(start, stop));
  GPU_TRY(device.synchronize());
  [[maybe_unused]] const gpu::device_properties all = GPU_TRY(device.properties());
  GPU_TRY(gpu::launch(stream, {1, 32}, kernel, x));
  exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
  GPU_TRY(gpu::launch(stream, exec));
  GPU_TRY(code.global<float>("variable", device));
  GPU_TRY(gpu::copy(x, host));
  GPU_TRY(gpu::device_buffer<float>::create(stream, 4));

#ifdef GPU_REJECTED
#  if GPU_REJECTED == 1
  // expect 1: write gpu::record(stream, event)
  // within 1: 16 lines
  (void)(start.record(stream));
#  elif GPU_REJECTED == 2
  // expect 2: write gpu::record(stream, event)
  // within 2: 16 lines
  (void)(start.record());
#  elif GPU_REJECTED == 3
  // expect 3: write gpu::record(stream, event)
  // within 3: 16 lines
  (void)(stream.record(start));
#  elif GPU_REJECTED == 4
  // expect 4: write gpu::wait(stream, event)
  // within 4: 16 lines
  (void)(stream.wait(start));
#  elif GPU_REJECTED == 5
  // expect 5: write gpu::wait(stream, event)
  // within 5: 16 lines
  (void)(stream.wait_for_event(start));
#  elif GPU_REJECTED == 6
  // expect 6: write gpu::wait(stream, event)
  // within 6: 16 lines
  (void)(start.wait(stream));
#  elif GPU_REJECTED == 7
  // expect 7: write gpu::elapsed(start, stop)
  // within 7: 16 lines
  (void)(stop - start);
#  elif GPU_REJECTED == 8
  // expect 8: write gpu::elapsed(start, stop)
  // within 8: 16 lines
  (void)(stop.time_since(start));
#  elif GPU_REJECTED == 9
  // expect 9: write gpu::elapsed(start, stop)
  // within 9: 16 lines
  (void)(start.time_till(stop));
#  elif GPU_REJECTED == 10
  // expect 10: write event.is_done()
  // within 10: 16 lines
  (void)(start.query());
#  elif GPU_REJECTED == 11
  // expect 11: write stream.is_done()
  // within 11: 16 lines
  (void)(stream.query());
#  elif GPU_REJECTED == 12
  // expect 12: write gpu::launch(stream, {blocks, threads}, kernel, ...)
  // within 12: 16 lines
  (void)(stream.launch(kernel, x));
#  elif GPU_REJECTED == 13
  // expect 13: write gpu::launch(stream, {blocks, threads}, kernel, ...)
  // within 13: 16 lines
  (void)(kernel(x));
#  elif GPU_REJECTED == 14
  // expect 14: write gpu::attribute<gpu::device_attribute::NAME>(device)
  // within 14: 16 lines
  (void)(device.attribute(1));
#  elif GPU_REJECTED == 15
  // expect 15: write gpu::fill(stream, destination, value)
  // within 15: 16 lines
  (void)(gpu::fill(x, 0.0f));
#  elif GPU_REJECTED == 16
  // expect 16: write gpu::fill(stream, buffer, value)
  // within 16: 16 lines
  (void)(x.fill(0.0f));
#  elif GPU_REJECTED == 17
  // expect 17: write gpu::copy(buffer, host)
  // within 17: 16 lines
  (void)(x.copy_to(host));
#  elif GPU_REJECTED == 18
  // expect 18: write gpu::copy(host, buffer)
  // within 18: 16 lines
  (void)(x.copy_from(host));
#  elif GPU_REJECTED == 19
  // expect 19: write gpu::graph_exec::instantiate(graph)
  // within 19: 16 lines
  (void)(graph.instantiate());
#  elif GPU_REJECTED == 20
  // expect 20: write gpu::graph_exec::instantiate(graph)
  // within 20: 16 lines
  (void)(gpu::graph_exec::create(graph));
#  elif GPU_REJECTED == 21
  // expect 21: write gpu::launch(stream, exec)
  // within 21: 16 lines
  (void)(graph.launch(stream));
#  elif GPU_REJECTED == 22
  // expect 22: write gpu::launch(stream, exec)
  // within 22: 16 lines
  (void)(exec.launch(stream));
#  elif GPU_REJECTED == 23
  // expect 23: write module.global<T>(name, device)
  // within 23: 16 lines
  (void)(code.variable<float>("variable"));
#  elif GPU_REJECTED == 24
  // expect 24: write module.global<T>(name, device)
  // within 24: 16 lines
  (void)(code.get_global("variable"));
#  elif GPU_REJECTED == 25
  // expect 25: write module.kernel<Parameters...>(name)
  // within 25: 16 lines
  (void)(code.get_function("kernel"));
#  elif GPU_REJECTED == 26
  // expect 26: write capture = gpu::stream_capture::begin(stream)
  // within 26: 16 lines
  (void)(gpu::capture(stream, [] {}));
#  elif GPU_REJECTED == 27
  // expect 27: write gpu::pinned_vector<T>::create(device, count)
  // within 27: 16 lines
  (void)(gpu::pinned_buffer<float>::create(device, 4));
#  elif GPU_REJECTED == 28
  // expect 28: write gpu::device::get(index)
  // within 28: 16 lines
  gpu::device first(0);
#  elif GPU_REJECTED == 29
  // expect 29: write gpu::stream::create(device)
  // within 29: 16 lines
  gpu::stream made(device);
#  elif GPU_REJECTED == 30
  // expect 30: write gpu::stream::create(device)
  // within 30: 16 lines
  (void)(gpu::stream::create());
#  elif GPU_REJECTED == 31
  // expect 31: write gpu::event::create(device)
  // within 31: 16 lines
  gpu::event made(device);
#  elif GPU_REJECTED == 32
  // expect 32: write gpu::event::create(device)
  // within 32: 16 lines
  (void)(gpu::event::create());
#  elif GPU_REJECTED == 33
  // expect 33: write gpu::context::create(device), or pass the device itself
  // within 33: 16 lines
  gpu::context made(device);
#  elif GPU_REJECTED == 34
  // expect 34: write gpu::device_buffer<T>::create(stream, count)
  // within 34: 16 lines
  gpu::device_buffer<float> made(4);
#  elif GPU_REJECTED == 35
  // expect 35: write gpu::device_buffer<T>::create(stream, count)
  // within 35: 16 lines
  gpu::device_buffer<float> made(device, 4);
#  elif GPU_REJECTED == 36
  // expect 36: write gpu::device_buffer<T>::create(stream, count)
  // within 36: 16 lines
  gpu::device_buffer<float> made(stream, 4);
#  elif GPU_REJECTED == 37
  // expect 37: write gpu::device_buffer<T>::create(stream, count)
  // within 37: 16 lines
  (void)(gpu::device_buffer<float>::create(4));
#  elif GPU_REJECTED == 38
  // expect 38: write gpu::managed_buffer<T>::create(device, count)
  // within 38: 16 lines
  gpu::managed_buffer<float> made(4);
#  elif GPU_REJECTED == 39
  // expect 39: write gpu::pinned_vector<T>::create(device, count)
  // within 39: 16 lines
  gpu::pinned_vector<float> made(4);
#  elif GPU_REJECTED == 40
  // expect 40: write gpu::pinned_vector<T>::create(device, count)
  // within 40: 16 lines
  (void)(gpu::pinned_vector<float>::create(4));
#  elif GPU_REJECTED == 41
  // expect 41: write gpu::module::load(program)
  // within 41: 16 lines
  gpu::module made("kernels.ptx");
#  elif GPU_REJECTED == 42
  // expect 42: write gpu::module::load(program)
  // within 42: 16 lines
  gpu::module made(program);
#  elif GPU_REJECTED == 43
  // expect 43: the host cannot access device memory: write gpu::copy(buffer, host)
  // within 43: 16 lines
  (void)(x[0]);
#  elif GPU_REJECTED == 44
  // expect 44: write module.global<T>(name, device)
  // within 44: 40 lines
  [[maybe_unused]] auto found = GPU_TRY(code.variable<float>("variable"));
#  endif
#endif
  return {};
}
