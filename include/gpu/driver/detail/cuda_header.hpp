#pragma once
/// \file
/// `cuda.h`, if it is new enough. The interface of CUDA 13.0 renamed structures and gave functions
/// other parameters, so with older headers every second declaration would be an error.

#include <cuda.h>  // IWYU pragma: export

#if CUDA_VERSION < 13000
#  error \
      "gpu needs the headers of CUDA 13.0 or newer, and this cuda.h is older. Put a newer one first: -I with the include folder of a CUDA 13 toolkit, or of the wheel that 'pip install nvidia-cuda-runtime' brings. The driver may be older: 12.0 is enough."
// Ends the compilation here; an #error alone would be followed by hundreds.
#  include <cuda.h of CUDA 13.0 or newer>
#endif
