// Allocations as values: requests, allocations, and their names in reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <nogpu/machine/memory_layout.hpp>
#include <nogpu/machine/storage.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// The kinds of allocations. The host-backed kinds have the host's own address.
enum class memory_kind : std::uint8_t {
  device,
  module_variable,
  device_heap,
  array,            // behind textures and surfaces: no pointer of a program leads there
  managed,          // host-backed
  pinned_host,      // host-backed
  registered_host,  // host-backed
  mapping,          // of physical memory at reserved addresses
};

/// The properties of an allocation to make.
struct allocation_request {
  std::uint64_t size = 0;         // bytes
  std::uint64_t alignment = 512;  // of the device address, a power of two
  memory_kind kind = memory_kind::device;
  std::uint64_t owner = 0;  // the context; 0 = every context may access it
  bool writable = true;     // for kernels; the host may always write
  bool tracked = true;      // reads of bytes never written are found
  bool counts = true;       // against the capacity of the space
  std::string site{};       // the code that made it, for reports: "main.cpp:12", "variable 'table'"
};

/// One allocation, alive or freed, as a report sees it.
struct allocation_info {
  address base = 0;
  std::uint64_t size = 0;
  memory_kind kind = memory_kind::device;
  std::uint64_t owner = 0;
  std::uint64_t id = 0;  // unique in the process's life, never zero
  bool writable = true;
  bool counts = true;
  std::string site;
  std::shared_ptr<storage> memory;
  std::uint64_t memory_offset = 0;  // the beginning of the allocation in `memory`

  address end() const noexcept { return base + size; }
  std::byte* host() const noexcept { return memory->bytes() + memory_offset; }
  std::uint8_t* shadow() const noexcept {
    return memory->shadow() ? memory->shadow() + memory_offset : nullptr;
  }
};

/// The outcome of a request to free.
enum class free_status : std::uint8_t { freed, unknown_address, not_the_base, already_freed };

/// The answer to "may I access this?": the range around the address that the answer holds for.
/// Valid while `generation` equals `address_space::generation()` and the space is held in use.
struct memory_view {
  address begin = 1;  // an empty range: begin > end
  address end = 0;
  std::byte* host = nullptr;       // of `begin`
  std::uint8_t* shadow = nullptr;  // of `begin`, null when untracked
  bool writable = false;
  std::uint64_t generation = 0;
};

namespace detail {

inline std::string hexadecimal(std::uint64_t value) {
  std::string digits;
  do digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
  while (value >>= 4);
  return "0x" + digits;
}

inline const char* name_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::device: return "device allocation";
    case memory_kind::module_variable: return "module variable";
    case memory_kind::device_heap: return "device heap block";
    case memory_kind::array: return "array";
    case memory_kind::managed: return "managed allocation";
    case memory_kind::pinned_host: return "pinned host allocation";
    case memory_kind::registered_host: return "registered host range";
    case memory_kind::mapping: return "mapping";
  }
  return "allocation";
}

inline std::string name_of(const allocation_info& info, bool freed) {
  std::string text = freed ? "the freed " : "the ";
  text += name_of(info.kind);
  text += " of " + std::to_string(info.size) + " bytes at " + hexadecimal(info.base);
  if (!info.site.empty()) text += " made by " + info.site;
  return text;
}

}  // namespace detail

}}}  // namespace nogpu::v1::machine
