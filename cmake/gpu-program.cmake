# How the programs of this repository are compiled. GPU_WERROR is for compilers that are known, as CI's
# are: a newer one warns of more, and whoever builds with it has done nothing wrong. GPU_SANITIZE
# names the sanitizers to build with.

option(GPU_WERROR "Make warnings errors" OFF)
set(GPU_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them")

function(gpu_program target)
  target_link_libraries(${target} PRIVATE gpu::gpu)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow)
  if(GPU_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # GCC 12 warns of overlapping copies inside std::string where it inlines a lot (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(GPU_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${GPU_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${GPU_SANITIZE})
  endif()
endfunction()
