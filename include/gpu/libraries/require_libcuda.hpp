#pragma once
/// \file
/// Finds out whether a library of CUDA works on the driver in force.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/system/library_table.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns whether a library would use the driver in force, which is libcuda. A table that a test
/// put in force works on every driver.
template <class Library> bool works_on_driver() noexcept {
  const auto* table = library_table_in_force<Library>();
  return (table != nullptr && table != &library_state<Library>::of_process().loaded) ||
         driver::uses_libcuda();
}

/// Fails with `errc::no_library` if the library would use another driver than the program does.
template <class Library>
result<> require_libcuda(const char* function, source_location where) noexcept {
  if (works_on_driver<Library>() || driver::current_entry_points().init == nullptr) return {};
  text_builder out;
  out << Library::name
      << " works with the NVIDIA driver alone, and this program runs on another, such as the CPU "
         "driver. Run it on a GPU, or do without "
      << Library::name << '.';
  return fail(refusal(errc::no_library, function, out.finish(), where));
}

}}}  // namespace gpu::v1::detail
