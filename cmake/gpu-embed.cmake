# gpu_embed(TARGET FILE...): makes files of device code part of a program, as text. For the file
# kernels/saxpy.cu the sources of TARGET can write
#
#   #include <kernels/saxpy.cu.hpp>
#   gpu::compile(gpu::program(embedded::saxpy_cu, "kernels/saxpy.cu"))
#
# Characters of the file's name that cannot be in an identifier become underscores. The text follows
# the file: it is read when the program is built.

# Also the script that the build runs, once for each file.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ "${FROM}" contents)
  # No text contains its own digest.
  string(MD5 delimiter "${contents}")
  string(SUBSTRING "${delimiter}" 0 16 delimiter)
  file(WRITE "${TO}" "#pragma once\n// Written by gpu_embed from ${FROM}.\n\n\
namespace embedded {\ninline constexpr char ${NAME}[] = R\"${delimiter}(${contents})${delimiter}\";\n}\n")
  return()
endif()

function(gpu_embed target)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/gpu-embed/${target}")
  foreach(file ${ARGN})
    get_filename_component(from "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME)
    if(IS_ABSOLUTE "${file}")
      set(header "${folder}/${name}.hpp")
    else()
      set(header "${folder}/${file}.hpp")
    endif()
    string(MAKE_C_IDENTIFIER "${name}" name)
    add_custom_command(OUTPUT "${header}"
      COMMAND ${CMAKE_COMMAND} "-DFROM=${from}" "-DTO=${header}" -DNAME=${name}
        -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
      DEPENDS "${from}" "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" VERBATIM)
    target_sources(${target} PRIVATE "${header}")
  endforeach()
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
