#pragma once
/// \file
/// `jit_options`: options of the driver's PTX compiler; `jit_report`: its messages and figures.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/text.hpp>

#include <gpu/driver/detail/cuda_header.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace gpu { inline namespace v1 {

/// The target of the driver's PTX compiler: the device of the context, or a compute capability. The
/// suffix `a` is for code with features of one architecture only, `f` for those of a family.
/// Converts to `CUjit_target` by cast.
enum class jit_target : std::uint32_t {
  of_context = 0,
  compute_30 = CU_TARGET_COMPUTE_30,
  compute_32 = CU_TARGET_COMPUTE_32,
  compute_35 = CU_TARGET_COMPUTE_35,
  compute_37 = CU_TARGET_COMPUTE_37,
  compute_50 = CU_TARGET_COMPUTE_50,
  compute_52 = CU_TARGET_COMPUTE_52,
  compute_53 = CU_TARGET_COMPUTE_53,
  compute_60 = CU_TARGET_COMPUTE_60,
  compute_61 = CU_TARGET_COMPUTE_61,
  compute_62 = CU_TARGET_COMPUTE_62,
  compute_70 = CU_TARGET_COMPUTE_70,
  compute_72 = CU_TARGET_COMPUTE_72,
  compute_75 = CU_TARGET_COMPUTE_75,
  compute_80 = CU_TARGET_COMPUTE_80,
  compute_86 = CU_TARGET_COMPUTE_86,
  compute_87 = CU_TARGET_COMPUTE_87,
  compute_89 = CU_TARGET_COMPUTE_89,
  compute_90 = CU_TARGET_COMPUTE_90,
  compute_100 = CU_TARGET_COMPUTE_100,
  compute_103 = CU_TARGET_COMPUTE_103,
  compute_110 = CU_TARGET_COMPUTE_110,
  compute_120 = CU_TARGET_COMPUTE_120,
  compute_121 = CU_TARGET_COMPUTE_121,
  compute_90a = CU_TARGET_COMPUTE_90A,
  compute_100a = CU_TARGET_COMPUTE_100A,
  compute_103a = CU_TARGET_COMPUTE_103A,
  compute_110a = CU_TARGET_COMPUTE_110A,
  compute_120a = CU_TARGET_COMPUTE_120A,
  compute_121a = CU_TARGET_COMPUTE_121A,
  compute_100f = CU_TARGET_COMPUTE_100F,
  compute_103f = CU_TARGET_COMPUTE_103F,
  compute_110f = CU_TARGET_COMPUTE_110F,
  compute_120f = CU_TARGET_COMPUTE_120F,
  compute_121f = CU_TARGET_COMPUTE_121F,
};

/// Returns the target's name, such as "compute_121f", or null for a value that is not valid.
constexpr const char* name_of(jit_target target) noexcept {
  using enum jit_target;
  return detail::find_name(target, {{of_context, "of_context"},     {compute_30, "compute_30"},
                                    {compute_32, "compute_32"},     {compute_35, "compute_35"},
                                    {compute_37, "compute_37"},     {compute_50, "compute_50"},
                                    {compute_52, "compute_52"},     {compute_53, "compute_53"},
                                    {compute_60, "compute_60"},     {compute_61, "compute_61"},
                                    {compute_62, "compute_62"},     {compute_70, "compute_70"},
                                    {compute_72, "compute_72"},     {compute_75, "compute_75"},
                                    {compute_80, "compute_80"},     {compute_86, "compute_86"},
                                    {compute_87, "compute_87"},     {compute_89, "compute_89"},
                                    {compute_90, "compute_90"},     {compute_100, "compute_100"},
                                    {compute_103, "compute_103"},   {compute_110, "compute_110"},
                                    {compute_120, "compute_120"},   {compute_121, "compute_121"},
                                    {compute_90a, "compute_90a"},   {compute_100a, "compute_100a"},
                                    {compute_103a, "compute_103a"}, {compute_110a, "compute_110a"},
                                    {compute_120a, "compute_120a"}, {compute_121a, "compute_121a"},
                                    {compute_100f, "compute_100f"}, {compute_103f, "compute_103f"},
                                    {compute_110f, "compute_110f"}, {compute_120f, "compute_120f"},
                                    {compute_121f, "compute_121f"}});
}

/// The code of a fatbin that the driver uses if it has no machine code for exactly this device.
enum class jit_fallback : std::uint32_t {
  prefer_ptx = CU_PREFER_PTX,        ///< compiles the PTX
  prefer_binary = CU_PREFER_BINARY,  ///< uses machine code of a compatible, older device
};

/// Returns the fallback's name, such as "prefer_binary", or null for a value that is not valid.
constexpr const char* name_of(jit_fallback fallback) noexcept {
  using enum jit_fallback;
  return detail::find_name(fallback,
                           {{prefer_ptx, "prefer_ptx"}, {prefer_binary, "prefer_binary"}});
}

/// The caches that loads from global memory use (-dlcm).
enum class jit_cache_mode : std::uint32_t {
  unspecified = CU_JIT_CACHE_OPTION_NONE,
  l2_only = CU_JIT_CACHE_OPTION_CG,  ///< cached globally
  l1 = CU_JIT_CACHE_OPTION_CA,       ///< cached at all levels
};

/// Returns the mode's name, such as "l1", or null for a value that is not valid.
constexpr const char* name_of(jit_cache_mode mode) noexcept {
  using enum jit_cache_mode;
  return detail::find_name(mode, {{unspecified, "unspecified"}, {l2_only, "l2_only"}, {l1, "l1"}});
}

/// The messages and figures of the driver's compiler, whether the load succeeds or not.
struct jit_report {
  text info;               ///< warnings; registers and memory of each kernel, if `verbose`
  text errors;             ///< why the image was rejected
  float milliseconds = 0;  ///< spent in the driver's compiler and linker
  /// The block size that the code was compiled for, if `jit_options::threads_per_block` was set.
  std::uint32_t threads_per_block = 0;
};

/// Options of the driver's PTX compiler, which runs when a module is loaded. They do not affect
/// machine code. A zero or a `false` means the driver's default.
///
///     gpu::jit_report report;
///     gpu::module::load(ptx, {.max_registers = 32, .verbose = true, .report = &report});
struct jit_options {
  std::uint32_t max_registers = 0;  ///< of a thread
  /// Limits the registers so that blocks of at least that many threads can be launched. Cannot be
  /// combined with `target`.
  std::uint32_t threads_per_block = 0;
  std::uint32_t max_threads_per_block = 0;          ///< the largest block that will be launched
  std::uint32_t min_blocks_per_multiprocessor = 0;  ///< requires `max_threads_per_block`
  bool override_directives = false;                 ///< the four above override those in the PTX
  int optimization_level = 4;                       ///< from 0 (fast to compile) to 4 (fast code)
  jit_target target = jit_target::of_context;
  jit_fallback fallback = jit_fallback::prefer_ptx;
  jit_cache_mode cache_mode = jit_cache_mode::unspecified;
  bool debug = false;                  ///< debug information
  bool line_info = false;              ///< line information for profilers
  bool position_independent = false;   ///< position-independent code
  std::uint32_t compiler_threads = 1;  ///< 0: one for each core of the host
  bool verbose = false;                ///< `jit_report::info` lists the resources of each kernel
  std::size_t log_capacity = 65536;    ///< bytes of each log; longer ones are truncated
  jit_report* report = nullptr;        ///< filled by the load, whether it succeeds or not
};

namespace detail {

/// Options as the driver takes them: numbers are passed as pointers.
struct jit_arguments {
  static constexpr unsigned capacity = 24;
  CUjit_option names[capacity];
  void* values[capacity];
  unsigned count = 0;

  void add(CUjit_option name, void* value) noexcept {
    names[count] = name;
    values[count++] = value;
  }
  void add(CUjit_option name, std::uint64_t value) noexcept {
    add(name, reinterpret_cast<void*>(value));
  }
  /// Returns the value that the driver wrote for an option, or 0.
  std::uint32_t value_of(CUjit_option name) const noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == name) {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values[i]));
      }
    }
    return 0;
  }
};

/// Adds the options that differ from the driver's defaults.
inline void add_jit_options(jit_arguments& to, const jit_options& options) noexcept {
  const auto add = [&](CUjit_option name, std::uint64_t value) {
    if (value != 0) to.add(name, value);
  };
  add(CU_JIT_MAX_REGISTERS, options.max_registers);
  add(CU_JIT_THREADS_PER_BLOCK, options.threads_per_block);
  add(CU_JIT_MAX_THREADS_PER_BLOCK, options.max_threads_per_block);
  add(CU_JIT_MIN_CTA_PER_SM, options.min_blocks_per_multiprocessor);
  add(CU_JIT_OVERRIDE_DIRECTIVE_VALUES, options.override_directives);
  if (options.optimization_level != 4) {
    to.add(CU_JIT_OPTIMIZATION_LEVEL, static_cast<std::uint64_t>(options.optimization_level));
  }
  add(CU_JIT_TARGET, static_cast<std::uint64_t>(options.target));
  add(CU_JIT_FALLBACK_STRATEGY, static_cast<std::uint64_t>(options.fallback));
  add(CU_JIT_CACHE_MODE, static_cast<std::uint64_t>(options.cache_mode));
  add(CU_JIT_GENERATE_DEBUG_INFO, options.debug);
  add(CU_JIT_GENERATE_LINE_INFO, options.line_info);
  add(CU_JIT_POSITION_INDEPENDENT_CODE, options.position_independent);
  if (options.compiler_threads != 1)
    to.add(CU_JIT_SPLIT_COMPILE, std::uint64_t{options.compiler_threads});
  add(CU_JIT_LOG_VERBOSE, options.verbose);
}

/// The driver's two logs and its timer, in memory that does not move: the driver writes to it when
/// it compiles, which may happen as long as the library lives.
struct jit_log {
  jit_arguments arguments;
  std::size_t capacity = 0;
  char* info() noexcept { return reinterpret_cast<char*>(this + 1); }
  char* errors() noexcept { return info() + capacity; }

  static constexpr std::size_t usable(std::size_t capacity) noexcept {
    return capacity < 2 ? 2 : capacity > 0x7fff'ffff ? 0x7fff'ffff : capacity;
  }
  /// Returns the bytes of an object with logs of `capacity` bytes.
  static constexpr std::size_t bytes(std::size_t capacity) noexcept {
    return sizeof(jit_log) + 2 * usable(capacity);
  }
  /// Returns null if memory runs out.
  static jit_log* create(std::size_t capacity) noexcept {
    // Zeroed, so that each log is terminated wherever the driver stops writing.
    char* const memory = new (std::nothrow) char[bytes(capacity)]();
    if (memory == nullptr) return nullptr;
    auto* made = ::new (static_cast<void*>(memory)) jit_log;
    made->capacity = usable(capacity);
    const auto size = made->capacity - 1;
    made->arguments.add(CU_JIT_INFO_LOG_BUFFER, made->info());
    made->arguments.add(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, size);
    made->arguments.add(CU_JIT_ERROR_LOG_BUFFER, made->errors());
    made->arguments.add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size);
    made->arguments.add(CU_JIT_WALL_TIME, std::uint64_t{0});
    return made;
  }
  static void destroy(jit_log* log) noexcept { delete[] reinterpret_cast<char*>(log); }

  void read(jit_report& report) noexcept {
    report.info = text(info());
    report.errors = text(errors());
    const std::uint32_t time = arguments.value_of(CU_JIT_WALL_TIME);
    std::memcpy(&report.milliseconds, &time, sizeof time);
    report.threads_per_block = arguments.value_of(CU_JIT_THREADS_PER_BLOCK);
  }
};

}  // namespace detail
}}  // namespace gpu::v1
