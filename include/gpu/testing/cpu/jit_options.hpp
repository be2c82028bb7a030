#pragma once
/// \file
/// The options with which code is loaded: logs are written to the caller's buffers, everything that
/// tunes machine code is accepted and means nothing here.

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpu::testing::cpu {

struct jit_options {
  unsigned count = 0;
  const CUjit_option* names = nullptr;
  void** values = nullptr;

  bool valid() const noexcept { return count == 0 || (names != nullptr && values != nullptr); }

  /// Puts a text into the buffer for errors or for information, if the caller gave one, cut to its
  /// size, and its length into the option that held the size.
  void write_log(bool is_error, std::string_view text) const {
    const CUjit_option buffer_name = is_error ? CU_JIT_ERROR_LOG_BUFFER : CU_JIT_INFO_LOG_BUFFER;
    const CUjit_option size_name =
        is_error ? CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES : CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES;
    char* buffer = nullptr;
    void** size_slot = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == buffer_name) buffer = static_cast<char*>(values[i]);
      if (names[i] == size_name) size_slot = &values[i];
    }
    if (size_slot == nullptr) return;
    // The value is the number itself; only its low 32 bits count.
    const auto room =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*size_slot) & 0xffff'ffffu);
    std::size_t written = 0;
    if (buffer != nullptr && room != 0) {
      written = std::min<std::size_t>(text.size(), room - 1);
      std::memcpy(buffer, text.data(), written);
      buffer[written] = '\0';
      if (!text.empty()) ++written;
    }
    *size_slot = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written));
  }
};

}  // namespace gpu::testing::cpu
