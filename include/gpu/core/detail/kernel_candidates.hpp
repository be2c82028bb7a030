#pragma once
/// \file
/// `kernel_candidates`: the kernels that a name in the source may mean.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/error.hpp>

namespace gpu::inline v1::detail {

/// The kernels that fit a name best.
struct kernel_candidates {
  static constexpr unsigned most_listed = 16;
  text symbol;        ///< the first one's name in the module
  text_builder list;  ///< how to ask for each: `"sub(float*)", "sub(int*)"`
  unsigned count = 0;
  name_fit fit = name_fit::none;

  void add(name_fit with, const char* name, const declared_name& kernel) noexcept {
    if (with == name_fit::none || with < fit) return;
    if (with > fit) {
      fit = with;
      count = 0;
      list.finish();
    }
    if (count++ == 0) symbol = text(name);
    if (count > most_listed) return;
    list << (count == 1 ? "\"" : ", \"");
    kernel.write(list);
    list << '"';
  }

  /// Returns the error for a name that several kernels fit. `owner` has them: "module" or
  /// "program".
  cuda_error ambiguity(const char* function, const char* owner, string_ref asked,
                       source_location where) noexcept {
    text_builder out;
    out << "the " << owner << " has " << count << " kernels that \"" << asked
        << "\" may mean. Write which: " << list.finish();
    if (count > most_listed) out << ", and " << count - most_listed << " more";
    out << '.';
    return refusal(errc::unknown_name, function, out.finish(), where, count, 1);
  }
};

}  // namespace gpu::inline v1::detail
