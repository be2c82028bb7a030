# Finds cuda.h, the one CUDA header that gpu needs, on the machine that builds: in
# GPU_CUDA_INCLUDE_DIR if that is set, else in the toolkit that CUDA_PATH, CUDAToolkit_ROOT or
# CUDA_HOME name, that nvcc on PATH belongs to, or that is in the usual folder, or in what the
# scripts of the source tree fetched.

function(gpu_add_cuda_headers target)
  find_program(GPU_NVCC nvcc)
  mark_as_advanced(GPU_NVCC)
  set(nvcc_root "")
  if(GPU_NVCC)
    file(REAL_PATH "${GPU_NVCC}" nvcc)
    get_filename_component(nvcc_root "${nvcc}" DIRECTORY)
    get_filename_component(nvcc_root "${nvcc_root}" DIRECTORY)
  endif()
  find_path(GPU_CUDA_INCLUDE_DIR cuda.h
    HINTS ENV CUDA_PATH "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_HOME "${nvcc_root}"
    PATHS /usr/local/cuda /opt/cuda
      "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../build/toolkit/nvidia/cu13"
    PATH_SUFFIXES include
    DOC "The folder of cuda.h")
  if(GPU_CUDA_INCLUDE_DIR)
    target_include_directories(${target} SYSTEM INTERFACE "${GPU_CUDA_INCLUDE_DIR}")
  else()
    message(STATUS "gpu: no cuda.h found; set CUDA_PATH, or GPU_CUDA_INCLUDE_DIR to its folder")
  endif()
endfunction()
