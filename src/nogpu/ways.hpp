#pragma once
/// \file
/// The ways in which an exported function is answered, as functions.inc names them.

#include "driver.hpp"

#include <cuda.h>

namespace nogpu::libcuda {

/// Calls the function of the driver that has these parameters.
template <auto Member> struct forward {
  template <class... Arguments> static CUresult run(Arguments... arguments) noexcept {
    return ask<Member>(arguments...);
  }
};

/// Calls a function of this library.
template <auto Function> struct call {
  template <class... Arguments> static CUresult run(Arguments... arguments) noexcept {
    return Function(arguments...);
  }
};

/// Null stands for the stream of the calling thread in functions whose names end in _ptsz.
template <class Argument> Argument for_thread(Argument argument) noexcept { return argument; }
inline CUstream for_thread(CUstream stream) noexcept {
  return stream != nullptr ? stream : CU_STREAM_PER_THREAD;
}

/// The same way as `Way`, with the stream of the calling thread in place of a null stream.
template <class Way> struct per_thread {
  template <class... Arguments> static CUresult run(Arguments... arguments) noexcept {
    return Way::run(for_thread(arguments)...);
  }
};

/// A function without a stream, whose name ends in _ptds: calls its form with one, for the stream
/// of the calling thread.
template <auto AsyncMember> struct queued {
  template <class... Arguments> static CUresult run(Arguments... arguments) noexcept {
    return ask<AsyncMember>(arguments..., CU_STREAM_PER_THREAD);
  }
};

/// The same, and waits for that stream.
template <auto AsyncMember> struct waiting {
  template <class... Arguments> static CUresult run(Arguments... arguments) noexcept {
    const CUresult queued = ask<AsyncMember>(arguments..., CU_STREAM_PER_THREAD);
    return queued != CUDA_SUCCESS ? queued : ask<&table::stream_synchronize>(CU_STREAM_PER_THREAD);
  }
};

}  // namespace nogpu::libcuda
