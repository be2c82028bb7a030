# Finds cuda.h, the one CUDA header that gpu needs, on the machine that builds: in
# GPU_CUDA_INCLUDE_DIR if that is set, else in the toolkit that CUDA_PATH, CUDAToolkit_ROOT or
# CUDA_HOME name, that nvcc on PATH belongs to, or that is in the usual folder, or in what the
# scripts of the source tree fetched, or in NVIDIA's wheels: those of the Python environment that is
# active, and those that python3 finds.

# Sets `result` to the number in `#define CUDA_VERSION` of the cuda.h in `folder`, or to 0.
function(gpu_cuda_version folder result)
  set(line "")
  if(EXISTS "${folder}/cuda.h")
    file(STRINGS "${folder}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+" LIMIT_COUNT 1)
  endif()
  string(REGEX MATCH "[0-9]+" number "${line}")
  if(NOT number)
    set(number 0)
  endif()
  set(${result} ${number} PARENT_SCOPE)
endfunction()

# Sets `result` to the folders in which pip puts the wheels of CUDA 13.
function(gpu_cuda_wheel_folders result)
  set(folders "")
  foreach(environment "$ENV{VIRTUAL_ENV}" "$ENV{CONDA_PREFIX}")
    if(environment)
      file(GLOB found "${environment}/lib/python3*/site-packages/nvidia/cu13")
      list(APPEND folders ${found})
    endif()
  endforeach()
  find_program(GPU_PYTHON python3)
  mark_as_advanced(GPU_PYTHON)
  if(GPU_PYTHON)
    execute_process(
      COMMAND "${GPU_PYTHON}" -c "import nvidia; print(';'.join(p + '/cu13' for p in nvidia.__path__))"
      OUTPUT_VARIABLE found ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND folders ${found})
  endif()
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

# Adds the folder of cuda.h to `target`. Sets `problem` to what is wrong and what to do about it, or
# to nothing.
function(gpu_add_cuda_headers target problem)
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
  if(NOT GPU_CUDA_INCLUDE_DIR)
    gpu_cuda_wheel_folders(wheels)
    find_path(GPU_CUDA_INCLUDE_DIR cuda.h PATHS ${wheels} PATH_SUFFIXES include NO_DEFAULT_PATH)
  endif()
  set(cure "Install the CUDA Toolkit 13.0 or newer and set CUDA_PATH to its folder, or run "
    "'pip install nvidia-cuda-runtime nvidia-cuda-nvrtc', or set GPU_CUDA_INCLUDE_DIR to the folder "
    "of cuda.h.")
  string(CONCAT cure ${cure})
  if(NOT GPU_CUDA_INCLUDE_DIR)
    set(${problem} "gpu needs cuda.h, and there is none in CUDA_PATH, CUDAToolkit_ROOT, CUDA_HOME, \
/usr/local/cuda, /opt/cuda, the system's include folders, or a wheel of python3. ${cure}" PARENT_SCOPE)
    return()
  endif()
  gpu_cuda_version("${GPU_CUDA_INCLUDE_DIR}" number)
  if(number LESS 13000)
    math(EXPR major "${number} / 1000")
    math(EXPR minor "${number} % 1000 / 10")
    set(${problem} "gpu needs cuda.h of CUDA 13.0 or newer, and the one in ${GPU_CUDA_INCLUDE_DIR} is \
of CUDA ${major}.${minor}. ${cure} (The driver may be older.)" PARENT_SCOPE)
    return()
  endif()
  target_include_directories(${target} SYSTEM INTERFACE "${GPU_CUDA_INCLUDE_DIR}")
  set(${problem} "" PARENT_SCOPE)
endfunction()
