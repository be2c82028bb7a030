# The parts of the library whose code is worth compiling once for all programs that link it, instead of in
# each source: gpu::compiled has that of gpu::compile, algorithms and arrays, gpu::cpu_driver that of the CPU
# driver. Nothing is compiled unless a target links it.

function(gpu_add_compiled include_dir)
  add_library(gpu-compiled STATIC EXCLUDE_FROM_ALL "${include_dir}/gpu/gpu.cpp")
  add_library(gpu::compiled ALIAS gpu-compiled)
  target_link_libraries(gpu-compiled PUBLIC gpu::gpu)
  target_compile_definitions(gpu-compiled PUBLIC GPU_COMPILED)
  # The names before there was one for all. They are not defined after the next release.
  add_library(gpu::compiler ALIAS gpu-compiled)
  add_library(gpu::array ALIAS gpu-compiled)

  add_library(gpu-cpu-driver STATIC EXCLUDE_FROM_ALL "${include_dir}/gpu/testing/cpu_driver.cpp")
  add_library(gpu::cpu_driver ALIAS gpu-cpu-driver)
  target_link_libraries(gpu-cpu-driver PUBLIC gpu::gpu)
  target_compile_definitions(gpu-cpu-driver PUBLIC GPU_CPU_DRIVER_COMPILED)
  # Kernels run several times as fast as without optimization. With lines alone, and no types and variables
  # for debuggers, a Debug build takes two thirds of the time. It refuses to be compiled with -ffast-math.
  target_compile_options(gpu-cpu-driver PRIVATE -fno-fast-math
    $<$<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-O1> $<$<CONFIG:Debug,RelWithDebInfo>:-g1>)
endfunction()
