# gpu::cpu_driver: the code of the CPU driver, compiled once for all programs that link it, instead of
# half a minute in each. Nothing is compiled unless a target links it.

function(gpu_add_cpu_driver include_dir)
  add_library(gpu-cpu-driver STATIC EXCLUDE_FROM_ALL "${include_dir}/gpu/testing/cpu_driver.cpp")
  add_library(gpu::cpu_driver ALIAS gpu-cpu-driver)
  target_link_libraries(gpu-cpu-driver PUBLIC gpu::gpu)
  target_compile_definitions(gpu-cpu-driver PUBLIC GPU_CPU_DRIVER_COMPILED)
  # Kernels run several times as fast as without optimization.
  target_compile_options(gpu-cpu-driver PRIVATE
    $<$<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-O1>)
endfunction()
