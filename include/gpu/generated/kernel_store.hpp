#pragma once
/// \file
/// `kernel_store`: generated kernels, compiled when they are first needed on a device and kept.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/source.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/system/environment.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The text of a generated program and how to compile it.
struct generated_program {
  text kernel;                  ///< the name of the `extern "C"` kernel
  sequence<text> more_kernels;  ///< those of others in the same text
  gpu::source source;
  sequence<program_header> headers;
  compile_options options;
  /// Whether the program may need CUDA's run-time types, textures or launches from device code.
  /// Without their declarations NVRTC takes less time for a small kernel (--minimal).
  bool needs_runtime_types = false;

  /// Sets the text of kernels that the library has written whole.
  void set_source(const char* file, text_builder& written) {
    source.part(file, required(written.finish()));
    options.default_device = true;
    options.standard = cpp_standard::cpp17;
  }

  program to_program() const {
    program made(source, kernel);
    for (const program_header& each : headers) made.header(each.name, each.source);
    return made;
  }
};

/// Kernels that are generated from one description. They differ by a key, for example the width of
/// vector loads, and by the device. Lookups take no lock. If two threads generate one kernel at the
/// same time, one of the two is dropped.
class kernel_store {
 public:
  constexpr kernel_store() noexcept = default;
  kernel_store(const kernel_store&) = delete;
  kernel_store& operator=(const kernel_store&) = delete;
  ~kernel_store() {
    while (first_ != nullptr) delete std::exchange(first_, first_->next);
  }

  /// Returns the kernel of `key` for a device. On the first call for both, `describe(program)`
  /// fills in a `generated_program` and returns a `result<>`, and the program is compiled and
  /// loaded. The kernel is valid as long as this object; the program's further kernels are the next
  /// elements of an array.
  /// **Errors**: those of `describe`, `compile` and `module::load`; `errc::out_of_host_memory`.
  template <class Describe>
  result<const untyped_kernel*> find(device on, std::uint64_t key, source_location where,
                                     Describe describe) {
    const slot wanted{key, driver::entry_points_generation(), on.native()};
    if (const untyped_kernel* known = look_up(wanted, head())) return known;
    return catch_bad_alloc("gpu::kernel_store", where, [&]() -> result<const untyped_kernel*> {
      generated_program described;
      GPU_TRY(describe(described));
      sequence<untyped_kernel> made = GPU_TRY(build(described, on, where));
      return add(wanted, std::move(made), where);
    });
  }

  /// Returns the kernel of `key` for a device, or null before `find` has compiled it.
  const untyped_kernel* known(device on, std::uint64_t key) const noexcept {
    return look_up({key, driver::entry_points_generation(), on.native()}, head());
  }

  /// Returns the number of kernels that were compiled.
  std::size_t size() const noexcept {
    std::size_t count = 0;
    for (const entry* e = head(); e != nullptr; e = e->next) ++count;
    return count;
  }

 private:
  /// The key of a kernel and the kernel. The generation changes when the driver table is replaced.
  struct slot {
    std::uint64_t key;
    std::uint64_t generation;
    CUdevice device;
    friend bool operator==(const slot&, const slot&) noexcept = default;
  };
  struct entry {
    slot of;
    sequence<untyped_kernel> kernels;
    entry* next;
  };

  static result<sequence<untyped_kernel>> build(generated_program& described, device on,
                                                source_location where) {
    if (described.options.architecture == architecture{}) described.options.architecture = on;
    // Options of the environment may include headers that need them, too.
    if (!described.needs_runtime_types && environment_variable("GPU_COMPILE_OPTIONS") == nullptr)
      described.options.extra.push_back("--minimal");
    const compiled_program compiled =
        GPU_TRY(compile(described.to_program(), described.options, where));
    const module loaded = GPU_TRY(module::load(compiled, where));
    sequence<untyped_kernel> kernels;
    kernels.push_back(GPU_TRY(loaded.kernel(described.kernel, where)));
    for (const text& name : described.more_kernels)
      kernels.push_back(GPU_TRY(loaded.kernel(name, where)));
    return kernels;
  }

  entry* head() const noexcept { return atomic_load<memory_order::acquire>(first_); }

  static const untyped_kernel* look_up(const slot& wanted, const entry* from) noexcept {
    for (const entry* e = from; e != nullptr; e = e->next) {
      if (e->of == wanted) return e->kernels.begin();
    }
    return nullptr;
  }

  result<const untyped_kernel*> add(const slot& of, sequence<untyped_kernel> kernels,
                                    source_location where) {
    entry* const made = new (std::nothrow) entry{of, std::move(kernels), nullptr};
    if (made == nullptr)
      return fail(out_of_host_memory_error("gpu::kernel_store", sizeof(entry), where));
    made->next = head();
    do {
      if (const untyped_kernel* known = look_up(of, made->next)) {  // another thread was faster
        delete made;
        return known;
      }
    } while (!atomic_compare_exchange_weak<memory_order::release, memory_order::acquire>(
        first_, made->next, made));
    return made->kernels.begin();
  }

  entry* first_ = nullptr;
};

/// Returns the kernel of `key` that a `Family` of the library's functions generates, as
/// `kernel_store::find` does. It is kept until the process ends.
template <class Family, class Describe>
result<const untyped_kernel*> find_generated(const char* function, const stream_ref& stream,
                                             std::uint64_t key, source_location where,
                                             Describe describe) {
  kernel_store* const store = GPU_TRY((find_shared<Family, kernel_store>(
      function, {}, where, [](kernel_store&) -> result<> { return {}; })));
  return store->find(stream.device(), key, where, describe);
}

/// Launches a generated kernel. `arguments` points to as many pointers as the kernel has
/// parameters.
inline result<> launch_generated(const stream_ref& stream, const launch_config& config,
                                 const untyped_kernel& kernel, void** arguments,
                                 source_location where) noexcept {
  return launch_packed(stream, config, kernel_access::record(kernel), arguments, where, nullptr);
}

}}}  // namespace gpu::v1::detail
