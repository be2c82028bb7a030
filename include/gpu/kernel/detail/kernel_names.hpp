#pragma once
/// \file
/// The names of a library's kernels, and the one that a name in the source means.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/kernel_candidates.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>

#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

struct delete_kernels {
  void operator()(CUkernel* kernels) const noexcept { delete[] kernels; }
};

/// Calls `visit(name)` for each kernel of the library, with the name in the module. Drivers before
/// CUDA 12.4 do not list kernels; there it does nothing.
template <class Visit>
result<> for_each_kernel_name(CUlibrary library, source_location where, Visit visit) noexcept {
  const driver::entry_points& table = driver::current_entry_points();
  if (table.library_get_kernel_count == nullptr || table.library_enumerate_kernels == nullptr ||
      table.kernel_get_name == nullptr) {
    return {};
  }
  unsigned count = 0;
  GPU_TRY(driver::call<&driver::entry_points::library_get_kernel_count>(where, &count, library));
  if (count == 0) return {};
  const unique_handle<CUkernel*, delete_kernels> kernels(new (std::nothrow) CUkernel[count]);
  if (!kernels) {
    return fail(out_of_host_memory_error("gpu::module::kernel", count * sizeof(CUkernel), where));
  }
  GPU_TRY(driver::call<&driver::entry_points::library_enumerate_kernels>(where, kernels.get(),
                                                                         count, library));
  for (unsigned i = 0; i < count; ++i) {
    const char* name = nullptr;
    GPU_TRY(driver::call<&driver::entry_points::kernel_get_name>(where, &name, kernels.get()[i]));
    if (name != nullptr) visit(name);
  }
  return {};
}

/// Returns the name in the module of the kernel that `asked` means: its name in the source, without
/// what distinguishes it from others if it alone fits; an empty text if no kernel fits.
/// **Errors**: `errc::unknown_name`, with a list, if several fit.
inline result<text> symbol_of_kernel(CUlibrary library, string_ref asked,
                                     source_location where) noexcept {
  const declared_name wanted = split_declaration(asked);
  kernel_candidates found;
  bool lost = wanted.lost();
  GPU_TRY(for_each_kernel_name(library, where, [&](const char* name) {
    const declared_name kernel = split_symbol(name);
    lost = lost || kernel.lost();
    found.add(fit_of(wanted, kernel), name, kernel);
  }));
  if (lost || found.symbol.lost()) {
    return fail(out_of_host_memory_error("gpu::module::kernel", asked.size(), where));
  }
  if (found.count < 2) return std::move(found.symbol);
  return fail(found.ambiguity("gpu::module::kernel", "module", asked, where));
}

}}}  // namespace gpu::v1::detail
