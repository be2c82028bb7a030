#pragma once
/// \file
/// The options with which code is loaded. Logs and times are written to the caller's buffers;
/// options that tune machine code are checked and have no effect.

#include <cuda.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

namespace nogpu { inline namespace v1 { namespace driver {

struct jit_options {
  unsigned count = 0;
  const CUjit_option* names = nullptr;
  void** values = nullptr;

  /// Checks the options, before anything else is done.
  bool valid() const noexcept {
    if (count != 0 && (names == nullptr || values == nullptr)) return false;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t value = value_at(i);
      if (static_cast<unsigned>(names[i]) >= CU_JIT_NUM_OPTIONS) return false;
      if (names[i] == CU_JIT_CACHE_MODE && value > CU_JIT_CACHE_OPTION_CA) return false;
      if (names[i] == CU_JIT_TARGET && !is_target(value)) return false;
    }
    return !(has(CU_JIT_TARGET) && has(CU_JIT_THREADS_PER_BLOCK));
  }
  bool has(CUjit_option name) const noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == name) return true;
    }
    return false;
  }
  /// Returns whether the compiler must not optimize: for level 0, or for a debugger.
  bool unoptimized() const noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == CU_JIT_OPTIMIZATION_LEVEL && value_at(i) == 0) return true;
      if (names[i] == CU_JIT_GENERATE_DEBUG_INFO && value_at(i) != 0) return true;
    }
    return false;
  }
  /// The architecture to compile for, or `otherwise`; 90 for 90a and 90f.
  std::uint32_t target(std::uint32_t otherwise) const noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == CU_JIT_TARGET) return value_at(i) & 0xffff;
    }
    return otherwise;
  }

  /// The most registers of a thread; 0 if nobody asked, or for more than a thread has.
  std::uint32_t max_registers() const noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == CU_JIT_MAX_REGISTERS) return value_at(i) <= 255 ? value_at(i) : 0;
    }
    return 0;
  }

  /// Writes a text, cut to size, to the buffer for errors or for information, if the caller passed
  /// one, and its length to the option that held the size.
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
    const std::uint32_t room = value_at(static_cast<unsigned>(size_slot - values));
    const std::size_t used = std::min<std::size_t>(text.size(), room);
    if (buffer != nullptr && room != 0) {
      const std::size_t copied = std::min<std::size_t>(text.size(), room - 1);
      std::memcpy(buffer, text.data(), copied);
      buffer[copied] = '\0';
    }
    *size_slot = reinterpret_cast<void*>(static_cast<std::uintptr_t>(used));
  }

  /// Writes the elapsed time to the option that asks for it, as the bits of a float.
  void write_wall_time(double milliseconds) const {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(milliseconds));
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == CU_JIT_WALL_TIME) {
        values[i] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));
      }
    }
  }

 private:
  /// Options are numbers stored in pointers; only the low 32 bits count.
  std::uint32_t value_at(unsigned i) const noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values[i]) & 0xffff'ffffu);
  }
  static bool is_target(std::uint32_t value) noexcept {
    constexpr std::uint32_t known[] = {30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70, 72,
                                       75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    const std::uint32_t number = value & 0xffff, variant = value >> 16;
    const bool has_variant = number >= (variant == 2 ? 100u : 90u);
    return std::find(std::begin(known), std::end(known), number) != std::end(known) &&
           (variant == 0 || (variant <= 2 && has_variant));
  }
};

}}}  // namespace nogpu::v1::driver
