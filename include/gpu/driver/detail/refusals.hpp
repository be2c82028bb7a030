#pragma once
/// \file
/// The errors that many functions share: an empty handle, handles of different contexts, and values
/// that are not enumerators.

#include <cstddef>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the error for a handle that was moved from, released or never filled; `what` names it
/// ("stream", or with an article: "the operand").
inline cuda_error empty_handle_error(const char* function, const char* what,
                                     source_location where) noexcept {
  text_builder out;
  out << (__builtin_strncmp(what, "the ", 4) == 0 ? "" : "the ") << what
      << " is empty: it was moved from, released or never filled. Use the object that owns it now, "
         "or create a new one.";
  return refusal(errc::empty_handle, function, out.finish(), where);
}

/// Returns the same error as a result: one call, so that the check of a handle can be inlined.
inline result<> refuse_empty_handle(const char* function, const char* what,
                                    source_location where) noexcept {
  return fail(empty_handle_error(function, what, where));
}

/// Returns the error for objects of different contexts. The values are the two devices.
inline cuda_error wrong_context_error(const char* function, const char* first,
                                      CUdevice first_device, const char* second,
                                      CUdevice second_device, source_location where) noexcept {
  text_builder out;
  out << "the " << first << " belongs to device " << first_device << ", the " << second << " to ";
  if (first_device == second_device) out << "another context of ";
  out << "device " << second_device << ". Make both in the same context.";
  return refusal(errc::wrong_context, function, out.finish(), where,
                 static_cast<std::uint64_t>(first_device),
                 static_cast<std::uint64_t>(second_device));
}

/// Fails with `errc::invalid_argument` unless `value` is an enumerator of `gpu::type`, which is so
/// if `name_of` knows it.
template <class Enum>
result<> require_enumerator(Enum value, const char* type, const char* function,
                            source_location where) noexcept {
  if (name_of(value) != nullptr) return {};
  text_builder out;
  out << static_cast<std::int64_t>(value) << " is not a valid gpu::" << type
      << "; pass one of its enumerators.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                      static_cast<std::uint64_t>(value)));
}

/// Fails with `errc::invalid_argument` if there are more `what` than one call takes.
inline result<> require_at_most(std::size_t count, std::size_t most, const char* what,
                                const char* function, source_location where) noexcept {
  if (count <= most) return {};
  text_builder out;
  out << count << ' ' << what << " are more than the limit of " << most
      << " in one call. Use several calls.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, count, most));
}

/// Fails with `errc::invalid_argument` if flags have bits that are not among the `known` ones.
template <class Flags>
result<> require_flags(Flags flags, unsigned known, const char* type, const char* function,
                       source_location where) noexcept {
  const auto bits = static_cast<unsigned>(flags);
  if ((bits & ~known) == 0) return {};
  text_builder out;
  out << bits << " has bits outside of gpu::" << type << "; combine its enumerators.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, bits, known));
}

}}}  // namespace gpu::v1::detail
