#!/usr/bin/env python3
# Compiles programs that include one device header each, twice, as NVRTC compiles kernels. Prints errors and warnings.
# usage: device_code.py NVRTC HEADER...    NVRTC: the library; HEADER: as in an #include

import ctypes
import sys

OPTIONS = [b"-Iinclude", b"-arch=sm_90", b"-std=c++17"]


# Returns what NVRTC says of a program with this header.
def compile(nvrtc, header):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    source = f"#include <{header}>\n" * 2
    options = (ctypes.c_char_p * len(OPTIONS))(*OPTIONS)
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"twice.cu", 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options) != 0
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or ("it does not compile\n" if failed else "")


nvrtc, found_any = ctypes.CDLL(sys.argv[1]), False
for header in sys.argv[2:]:
    log = compile(nvrtc, header)
    if log:
        print(f"{header}: {log}")
        found_any = True
sys.exit(found_any)
