#pragma once
/// \file
/// `kernel_candidates`: the kernels that a name in the source may mean.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The kernels that fit a name best.
struct kernel_candidates {
  text symbol;         ///< the first one's name in the module
  text_builder names;  ///< how to ask for each: `"sub(float*)", "sub(int*)"`
  message_list list{names};
  std::size_t count = 0;
  name_fit fit = name_fit::none;

  void add(name_fit with, const char* name, const declared_name& kernel) noexcept {
    if (with == name_fit::none || with < fit) return;
    if (with > fit) {
      fit = with;
      count = 0;
      names.finish();
      list = message_list(names);
    }
    if (count++ == 0) symbol = text(name);
    if (!list.add()) return;
    names << '"';
    kernel.write(names);
    names << '"';
  }

  /// Returns the error for a name that several kernels fit. `owner` has them: "module" or
  /// "program".
  cuda_error ambiguity(const char* function, const char* owner, string_ref asked,
                       source_location where) noexcept {
    text_builder out;
    list.finish();
    out << "the " << owner << " has " << count << " kernels that \"" << escaped{asked}
        << "\" may mean. Write which: " << names.finish() << '.';
    return refusal(errc::unknown_name, function, out.finish(), where, count, 1);
  }
};

}}}  // namespace gpu::v1::detail
