# The parts of the library whose code is worth compiling once for all programs that link it, instead of in
# each source: gpu::compiler has that of gpu::compile, gpu::array that of arrays and algorithms and
# gpu::compiler with it, gpu::cpu_driver that of the CPU driver. Nothing is compiled unless a target links it.

function(gpu_add_compiled include_dir)
  add_library(gpu-compiler STATIC EXCLUDE_FROM_ALL "${include_dir}/gpu/compiler/compile.cpp")
  add_library(gpu::compiler ALIAS gpu-compiler)
  target_link_libraries(gpu-compiler PUBLIC gpu::gpu)
  target_compile_definitions(gpu-compiler PUBLIC GPU_COMPILER_COMPILED)

  add_library(gpu-array STATIC EXCLUDE_FROM_ALL "${include_dir}/gpu/array/array.cpp")
  add_library(gpu::array ALIAS gpu-array)
  target_link_libraries(gpu-array PUBLIC gpu::compiler)
  target_compile_definitions(gpu-array PUBLIC GPU_ARRAY_COMPILED)

  add_library(gpu-cpu-driver STATIC EXCLUDE_FROM_ALL "${include_dir}/gpu/testing/cpu_driver.cpp")
  add_library(gpu::cpu_driver ALIAS gpu-cpu-driver)
  target_link_libraries(gpu-cpu-driver PUBLIC gpu::gpu)
  target_compile_definitions(gpu-cpu-driver PUBLIC GPU_CPU_DRIVER_COMPILED)
  # Kernels run several times as fast as without optimization. With lines alone, and no types and variables
  # for debuggers, a Debug build takes two thirds of the time. It refuses to be compiled with -ffast-math.
  target_compile_options(gpu-cpu-driver PRIVATE -fno-fast-math
    $<$<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-O1> $<$<CONFIG:Debug,RelWithDebInfo>:-g1>)
endfunction()
