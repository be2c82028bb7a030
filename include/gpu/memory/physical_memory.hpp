#pragma once
/// \file
/// `physical_memory`: memory that has no address until it is mapped to one.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/memory/memory_location.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// Selects a unit of physical memory; converts to `CUmemAllocationGranularity_flags` by cast.
enum class granularity : int {
  minimum = CU_MEM_ALLOC_GRANULARITY_MINIMUM,          ///< sizes must be multiples of it
  recommended = CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,  ///< sizes for the best performance
};

/// Returns the enumerator's name, such as "minimum"; null for an unknown value.
constexpr const char* name_of(granularity which) noexcept {
  using enum granularity;
  return detail::find_name(which, {{minimum, "minimum"}, {recommended, "recommended"}});
}

struct physical_memory_options {
  /// The handle types by which the memory can be shared with other processes.
  shareable_handle_types handle_types = shareable_handle_types::none;
  /// Lets the device compress the memory.
  bool compressible = false;
  /// Lets other PCI devices access the memory.
  bool gpu_direct_rdma = false;
  /// Makes memory for arrays (`map_array`), not for addresses.
  bool tile_pool = false;
};

/// The properties of physical memory.
struct physical_memory_properties {
  memory_location location;
  physical_memory_options options;
};

namespace detail {

inline CUmemAllocationProp native_properties(memory_location at,
                                             const physical_memory_options& options) noexcept {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(options.handle_types);
  wanted.location = at.native();
  wanted.allocFlags.compressionType =
      options.compressible ? CU_MEM_ALLOCATION_COMP_GENERIC : CU_MEM_ALLOCATION_COMP_NONE;
  wanted.allocFlags.gpuDirectRDMACapable = options.gpu_direct_rdma ? 1 : 0;
  wanted.allocFlags.usage = options.tile_pool ? CU_MEM_CREATE_USAGE_TILE_POOL : 0;
  return wanted;
}

/// Sets `unit` to the granularity of physical memory at `at`. (cuMemGetAllocationGranularity)
inline result<> get_granularity(memory_location at, granularity which, const char* function,
                                std::size_t& unit, source_location where) noexcept {
  GPU_TRY(require_enumerator(which, "granularity", function, where));
  if (!at.is_device() && at.type() != memory_location_type::host_numa) {
    text_builder out;
    out << "physical memory has to be on a device or on a NUMA node of the host, got " << at
        << ". Pass a device or gpu::memory_location::host_numa(node).";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  const CUmemAllocationProp wanted = native_properties(at, {});
  return explain_location(
      driver::call<&driver::entry_points::mem_get_allocation_granularity>(
          where, &unit, &wanted, static_cast<CUmemAllocationGranularity_flags>(which)),
      at, where);
}

/// Fails unless `bytes` is a multiple of `unit`, and not 0.
inline result<> check_units(std::size_t bytes, std::size_t unit, const char* what,
                            const char* function, source_location where) noexcept {
  if (bytes != 0 && bytes % unit == 0) return {};
  text_builder out;
  out << what << " of " << bytes << " bytes is not a multiple of the granularity of " << unit
      << " bytes";
  if (bytes > ~std::size_t{0} - unit) {
    out << ", and a size_t cannot hold the next multiple. Use a smaller one.";
  } else {
    out << ". Use " << (bytes / unit + 1) * unit << '.';
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, bytes, unit));
}

/// Adds to an out-of-memory error how much was requested and, for a device, how much it has.
inline cuda_error explain_no_physical_memory(cuda_error error, const memory_location& at,
                                             std::size_t bytes) noexcept {
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_OUT_OF_MEMORY)
    return error;
  CUcontext primary = nullptr;
  if (at.is_device() && find_primary_context(at.id(), primary, source_location{}).has_value()) {
    const auto on = device::from_native(at.id());
    return explain_out_of_memory(std::move(error), context_ref::from_native(primary, on), bytes);
  }
  text_builder out;
  out << "asked for " << bytes << " bytes of physical memory on " << at;
  return record_error(std::move(error).with_details(out.finish()).with_values(bytes, 0));
}

/// The driver's handle of physical memory, and its size, which the driver does not report.
struct physical_allocation {
  CUmemGenericAllocationHandle native = 0;
  std::size_t bytes = 0;
  friend bool operator==(const physical_allocation& a, const physical_allocation& b) noexcept {
    return a.native == b.native;
  }
};

struct release_physical_memory {
  void operator()(const physical_allocation& memory) const noexcept {
    driver::destroy<&driver::entry_points::mem_release>(memory.native);
  }
};

}  // namespace detail

/// Returns the granularity of physical memory at a location: sizes of memory, of address
/// reservations and of their parts are multiples of it. It is 2 MiB on current devices.
/// **Errors**: `errc::invalid_argument` for a location that cannot have physical memory, or an
/// invalid `granularity`; `errc::index_out_of_range` for a device that does not exist.
/// **Capture**: not affected. **Threads**: any. (cuMemGetAllocationGranularity)
inline result<std::size_t> granularity_of(
    memory_location at, granularity which = granularity::minimum,
    source_location where = source_location::current()) noexcept {
  std::size_t unit = 0;
  GPU_TRY(detail::get_granularity(at, which, "gpu::granularity_of", unit, where));
  return unit;
}

/// Owns memory that a `memory_mapping` maps to addresses, several times if needed. Move-only; empty
/// after a move. Mapped memory stays allocated until it is unmapped, even after this object is
/// destroyed.
/// **Capture**: not affected. **Threads**: any thread may call any member.
class physical_memory {
 public:
  /// Creates an empty object, to be assigned to.
  physical_memory() noexcept = default;

  /// Allocates `bytes` of memory, a multiple of `granularity_of(at)`, that has no address yet.
  /// (cuMemGetAllocationGranularity, cuMemCreate, cuMemRelease)
  /// **Errors**: `errc::invalid_argument` for an invalid size or location;
  /// `errc::index_out_of_range` for a device that does not exist; the driver's
  /// CUDA_ERROR_OUT_OF_MEMORY with the bytes requested and, for a device, free and total;
  /// CUDA_ERROR_NOT_SUPPORTED.
  static result<physical_memory> create(
      memory_location at, std::size_t bytes, physical_memory_options options = {},
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::physical_memory::create";
    std::size_t unit = 0;
    GPU_TRY(detail::require_flags(options.handle_types, detail::known_handle_types,
                                  "shareable_handle_types", function, where));
    GPU_TRY(detail::get_granularity(at, granularity::minimum, function, unit, where));
    GPU_TRY(detail::check_units(bytes, unit, "physical memory", function, where));
    const CUmemAllocationProp wanted = detail::native_properties(at, options);
    CUmemGenericAllocationHandle native = 0;
    result<> made =
        driver::call<&driver::entry_points::mem_create>(where, &native, bytes, &wanted, 0);
    if (!made.has_value()) {
      result<> located = detail::explain_location(std::move(made), at, where);
      return detail::fail(
          detail::explain_no_physical_memory(std::move(located).error(), at, bytes));
    }
    return physical_memory::adopt(native, bytes);
  }

  /// Opens memory that another process, or another part of this one, exported with `export_memory`.
  /// The descriptor may be closed afterwards. `bytes` is the size that the memory was created with:
  /// the driver does not report it, and maps only all of the memory.
  /// (cuMemImportFromShareableHandle)
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a descriptor that is not open;
  /// the driver's for a descriptor of something else.
  static result<physical_memory> open(const file_descriptor& from, std::size_t bytes,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require_open(from, "gpu::physical_memory::open", where));
    CUmemGenericAllocationHandle native = 0;
    result<> opened = driver::call<&driver::entry_points::mem_import_from_shareable_handle>(
        where, &native, detail::as_shareable_handle(from),
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (!opened.has_value()) {
      return detail::fail(
          detail::explain_descriptor(std::move(opened).error(), from, "physical memory"));
    }
    return physical_memory::adopt(native, bytes);
  }

  /// Takes over memory from cuMemCreate.
  static physical_memory adopt(CUmemGenericAllocationHandle native, std::size_t bytes) noexcept {
    return physical_memory{{native, bytes}};
  }
  /// Releases ownership; the caller releases the memory.
  [[nodiscard]] CUmemGenericAllocationHandle release() noexcept { return memory_.release().native; }

  CUmemGenericAllocationHandle native() const noexcept { return memory_.get().native; }
  std::size_t size_bytes() const noexcept { return memory_.get().bytes; }
  explicit operator bool() const noexcept { return static_cast<bool>(memory_); }

  /// Returns the location and the options of the memory, except `tile_pool`, which the driver does
  /// not report. Imported memory has no handle types.
  /// **Errors**: `errc::empty_handle`. (cuMemGetAllocationPropertiesFromHandle)
  result<physical_memory_properties> properties(
      source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::physical_memory::properties", where));
    CUmemAllocationProp found{};
    GPU_TRY(driver::call<&driver::entry_points::mem_get_allocation_properties_from_handle>(
        where, &found, native()));
    physical_memory_properties answer;
    answer.location = memory_location::from_native(found.location);
    answer.options.handle_types = static_cast<shareable_handle_types>(found.requestedHandleTypes);
    answer.options.compressible = found.allocFlags.compressionType != CU_MEM_ALLOCATION_COMP_NONE;
    answer.options.gpu_direct_rdma = found.allocFlags.gpuDirectRDMACapable != 0;
    return answer;
  }

  /// Fails with `errc::empty_handle` if it is empty.
  result<> require(const char* function, source_location where) const noexcept {
    if (memory_) return {};
    return detail::fail(detail::empty_handle_error(function, "physical memory", where));
  }

 private:
  explicit physical_memory(const detail::physical_allocation& owned) noexcept : memory_{owned} {}

  unique_handle<detail::physical_allocation, detail::release_physical_memory> memory_;
};

/// Makes a descriptor of physical memory for other processes on this machine. They open it with
/// `physical_memory::open`, for which they also need its size. The memory must be created with
/// `{.handle_types = shareable_handle_types::posix_file_descriptor}`.
/// **Errors**: `errc::empty_handle`; the driver's CUDA_ERROR_INVALID_VALUE, with an explanation,
/// for memory that was created without that option, or imported.
/// **Capture**: not affected. **Threads**: any. (cuMemExportToShareableHandle)
inline result<file_descriptor> export_memory(
    const physical_memory& memory, source_location where = source_location::current()) noexcept {
  GPU_TRY(memory.require("gpu::export_memory", where));
  int native = -1;
  result<> done = driver::call<&driver::entry_points::mem_export_to_shareable_handle>(
      where, &native, memory.native(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  if (done.has_value()) return file_descriptor::adopt(native);
  return detail::fail(detail::explain_code(
      std::move(done).error(), CUDA_ERROR_INVALID_VALUE,
      "only memory that was created with .handle_types = "
      "gpu::shareable_handle_types::posix_file_descriptor, and not imported, can be exported"));
}

}}  // namespace gpu::v1
