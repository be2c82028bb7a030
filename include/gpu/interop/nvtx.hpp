#pragma once
/// \file
/// NVTX: ranges, marks and names that profilers such as Nsight Systems show.
///
///     const gpu::nvtx_range step("step", {.color = 0xff2e7d32});  // until the end of the scope
///     gpu::nvtx_mark("converged");
///
/// A tool that listens sets NVTX_INJECTION64_PATH to its library, which is opened by the first call
/// of this header. Without a tool a call costs a comparison. NVTX has no library of its own: this
/// header speaks the protocol of NVTX 3, by which a tool fills in the functions that it wants to be
/// called, and needs none of NVIDIA's headers.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/system/mutex.hpp>
#include <gpu/system/shared_library.hpp>

#include <cuda.h>
#include <sys/syscall.h>  // IWYU pragma: keep
#include <unistd.h>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

namespace detail {

/// nvtxEventAttributes_t, as version 2 of its layout.
struct nvtx_event {
  std::uint16_t version = 3;  // of NVTX
  std::uint16_t bytes = 48;
  std::uint32_t category = 0;
  std::int32_t color_kind = 0;  // 1: alpha, red, green, blue
  std::uint32_t color = 0;
  std::int32_t payload_kind = 0;  // 2: a signed integer, 3: a double
  std::int32_t reserved = 0;
  union {
    std::int64_t integer = 0;
    double real;
  } payload;
  std::int32_t message_kind = 1;  // a string of char
  const char* message = nullptr;
};
static_assert(sizeof(nvtx_event) == 48);

/// The functions of the core with domains, in the order of NvtxCallbackIdCore2.
struct nvtx_core {
  void* none;
  void (*mark)(void* domain, const nvtx_event* event);
  std::uint64_t (*range_start)(void* domain, const nvtx_event* event);
  void (*range_end)(void* domain, std::uint64_t id);
  int (*range_push)(void* domain, const nvtx_event* event);
  int (*range_pop)(void* domain);
  void* resource_create;
  void* resource_destroy;
  void (*name_category)(void* domain, std::uint32_t category, const char* name);
  void* name_category_wide;
  void* register_string;
  void* register_string_wide;
  void* (*domain_create)(const char* name);
  void* domain_create_wide;
  void (*domain_destroy)(void* domain);
  void* initialize;
};

/// The functions that give names to objects of the driver, in the order of NvtxCallbackIdCuda.
struct nvtx_cuda {
  void* none;
  void* name_device;
  void* name_device_wide;
  void* name_context;
  void* name_context_wide;
  void (*name_stream)(CUstream stream, const char* name);
  void* name_stream_wide;
  void* name_event;
  void* name_event_wide;
};

/// The functions without domains, of which only the names of threads are used here.
struct nvtx_plain {
  void* none[14];
  void (*name_thread)(std::uint32_t thread, const char* name);
  void* name_thread_wide;
};

template <class Functions> inline constexpr unsigned nvtx_count = sizeof(Functions) / sizeof(void*);

/// What a tool has filled in.
struct nvtx_functions {
  nvtx_core core;
  nvtx_cuda cuda;
  nvtx_plain plain;
  // The protocol gives a tool lists of pointers to the pointers.
  void** core_list[nvtx_count<nvtx_core> + 1];
  void** cuda_list[nvtx_count<nvtx_cuda> + 1];
  void** plain_list[nvtx_count<nvtx_plain> + 1];
};

inline constinit nvtx_functions nvtx_state{};
inline constinit mutex nvtx_loading{};
inline constinit bool nvtx_is_loaded = false;

struct nvtx_callbacks_table {
  std::size_t bytes;
  int (*get_functions)(int module, void**** list, unsigned* count);
};
struct nvtx_version_table {
  std::size_t bytes;
  std::uint32_t version, reserved;
  void (*set_version)(std::uint32_t version);
};

/// Gives a tool the list of the functions of a module.
inline int nvtx_get_functions(int module, void**** list, unsigned* count) {
  constexpr int plain = 1, cuda = 2, core = 5;
  const auto give = [&](auto& functions, void**(&filled)[], unsigned size) {
    auto* const pointers = reinterpret_cast<void**>(&functions);
    for (unsigned i = 0; i < size; ++i) filled[i] = pointers + i;
    if (list != nullptr) *list = filled;
    if (count != nullptr) *count = size;
    return 1;
  };
  nvtx_functions& all = nvtx_state;
  switch (module) {
    case plain:
      return give(all.plain, reinterpret_cast<void**(&)[]>(all.plain_list), nvtx_count<nvtx_plain>);
    case cuda:
      return give(all.cuda, reinterpret_cast<void**(&)[]>(all.cuda_list), nvtx_count<nvtx_cuda>);
    case core:
      return give(all.core, reinterpret_cast<void**(&)[]>(all.core_list), nvtx_count<nvtx_core>);
    default: return 0;  // of OpenCL, of the CUDA runtime, of synchronization
  }
}

inline const void* nvtx_get_table(std::uint32_t wanted) {
  static constexpr nvtx_callbacks_table callbacks{sizeof callbacks, &nvtx_get_functions};
  static constexpr nvtx_version_table version{sizeof version, 3, 0, [](std::uint32_t) {}};
  constexpr std::uint32_t of_callbacks = 1, of_version = 3;
  if (wanted == of_callbacks) return &callbacks;
  return wanted == of_version ? &version : nullptr;
}

/// Opens the library of a tool, if there is one, and lets it fill in the functions.
inline void load_nvtx() noexcept {
  using initialize = int (*)(const void* (*)(std::uint32_t));
  const scoped_lock held(nvtx_loading);
  if (atomic_load<memory_order::acquire>(nvtx_is_loaded)) return;
  const char* const path = environment_variable("NVTX_INJECTION64_PATH");
  void* const library = path != nullptr && *path != '\0' ? open_library(path) : nullptr;
  const auto attach =
      library != nullptr ? find_symbol<initialize>(library, "InitializeInjectionNvtx2") : nullptr;
  if (attach != nullptr && attach(&nvtx_get_table) == 0) nvtx_state = {};
  atomic_store<memory_order::release>(nvtx_is_loaded, true);
}

/// Returns the functions, each of which is null if no tool wants to be called.
inline const nvtx_functions& nvtx() noexcept {
  if (!atomic_load<memory_order::acquire>(nvtx_is_loaded)) load_nvtx();
  return nvtx_state;
}

}  // namespace detail

/// Returns whether a tool listens to ranges.
inline bool nvtx_is_listening() noexcept { return detail::nvtx().core.range_push != nullptr; }

/// A domain: ranges and marks of one library or part of a program, which a tool shows apart. The
/// default is the global domain. Copy it freely; domains live until the process ends.
class nvtx_domain {
 public:
  constexpr nvtx_domain() noexcept = default;
  explicit nvtx_domain(const char* name) noexcept {
    if (const auto create = detail::nvtx().core.domain_create) native_ = create(name);
  }
  /// Returns the `nvtxDomainHandle_t`; null for the global domain, and if no tool listens.
  constexpr void* native() const noexcept { return native_; }

  /// Gives a number that `nvtx_options::category` has a name in this domain.
  void name_category(std::uint32_t category, const char* name) const noexcept {
    if (const auto call = detail::nvtx().core.name_category) call(native_, category, name);
  }

 private:
  void* native_ = nullptr;
};

/// How a tool shows a range or a mark.
struct nvtx_options {
  std::uint32_t color = 0;     ///< 0xAARRGGBB; 0 leaves it to the tool
  std::uint32_t category = 0;  ///< a number that groups events
  nvtx_domain domain = {};
};

namespace detail {

inline nvtx_event nvtx_event_of(const char* name, const nvtx_options& options) noexcept {
  nvtx_event event;
  event.category = options.category;
  event.color_kind = options.color != 0 ? 1 : 0;
  event.color = options.color;
  event.message = name;
  return event;
}

}  // namespace detail

/// A range of the calling thread, from construction to destruction. Ranges of a thread are nested;
/// the object must end in the thread that made it.
class [[nodiscard]] nvtx_range {
 public:
  explicit nvtx_range(const char* name, const nvtx_options& options = {}) noexcept
      : domain_{options.domain.native()} {
    const auto push = detail::nvtx().core.range_push;
    if (push == nullptr) return;
    const detail::nvtx_event event = detail::nvtx_event_of(name, options);
    push(domain_, &event);
    pushed_ = true;
  }
  nvtx_range(const nvtx_range&) = delete;
  nvtx_range& operator=(const nvtx_range&) = delete;
  ~nvtx_range() {
    const auto pop = detail::nvtx().core.range_pop;
    if (pushed_ && pop != nullptr) pop(domain_);
  }

 private:
  void* domain_;
  bool pushed_ = false;
};

/// A range of the process: it may overlap others, and end in another thread. Move-only; empty after
/// a move.
class [[nodiscard]] nvtx_process_range {
 public:
  /// Creates an empty object, to be assigned to.
  nvtx_process_range() noexcept = default;
  explicit nvtx_process_range(const char* name, const nvtx_options& options = {}) noexcept {
    const auto start = detail::nvtx().core.range_start;
    if (start == nullptr) return;
    const detail::nvtx_event event = detail::nvtx_event_of(name, options);
    handle_.reset({options.domain.native(), start(options.domain.native(), &event)});
  }

 private:
  struct started {
    void* domain = nullptr;
    std::uint64_t id = 0;
    friend bool operator==(const started&, const started&) noexcept = default;
  };
  struct end {
    void operator()(const started& range) const noexcept {
      if (const auto call = detail::nvtx().core.range_end) call(range.domain, range.id);
    }
  };
  unique_handle<started, end> handle_;
};

/// Marks a moment, with a number that the tool shows beside the name.
inline void nvtx_mark(const char* name, const nvtx_options& options = {}) noexcept {
  const auto mark = detail::nvtx().core.mark;
  if (mark == nullptr) return;
  const detail::nvtx_event event = detail::nvtx_event_of(name, options);
  mark(options.domain.native(), &event);
}
inline void nvtx_mark(const char* name, std::int64_t number,
                      const nvtx_options& options = {}) noexcept {
  const auto mark = detail::nvtx().core.mark;
  if (mark == nullptr) return;
  detail::nvtx_event event = detail::nvtx_event_of(name, options);
  event.payload_kind = 2;
  event.payload.integer = number;
  mark(options.domain.native(), &event);
}
inline void nvtx_mark(const char* name, double number, const nvtx_options& options = {}) noexcept {
  const auto mark = detail::nvtx().core.mark;
  if (mark == nullptr) return;
  detail::nvtx_event event = detail::nvtx_event_of(name, options);
  event.payload_kind = 3;
  event.payload.real = number;
  mark(options.domain.native(), &event);
}

/// Gives a stream the name under which tools show it.
inline void nvtx_name(const stream_ref& stream, const char* name) noexcept {
  if (const auto call = detail::nvtx().cuda.name_stream) call(stream.native(), name);
}

/// Gives the calling thread the name under which tools show it.
inline void nvtx_name_thread(const char* name) noexcept {
  if (const auto call = detail::nvtx().plain.name_thread)
    call(static_cast<std::uint32_t>(::syscall(SYS_gettid)), name);
}

}}  // namespace gpu::v1
