#pragma once
/// \file
/// The refusals that many functions share: an empty handle, handles that do not go together, and
/// values that are none of an enumeration.

#include <gpu/core/result.hpp>

#include <cuda.h>

namespace gpu::inline v0::detail {

/// `what` ("stream", say) was moved from, released or never filled.
[[gnu::cold, gnu::noinline]] inline cuda_error empty_handle_error(const char* function,
                                                                  const char* what,
                                                                  source_location where) noexcept {
  text_builder out;
  out << "the " << what
      << " is empty: it was moved from, released or never filled. Use the object that owns it now, "
         "or create a new one.";
  return refusal(errc::empty_handle, function, out.finish(), where);
}

/// The same as a whole result: one call, so that what asks for a handle can be inlined.
[[gnu::cold, gnu::noinline]] inline result<> refuse_empty_handle(const char* function,
                                                                 const char* what,
                                                                 source_location where) noexcept {
  return fail(empty_handle_error(function, what, where));
}

/// `first` and `second` belong to different contexts. The values are the two devices.
[[gnu::cold, gnu::noinline]] inline cuda_error wrong_context_error(
    const char* function, const char* first, CUdevice first_device, const char* second,
    CUdevice second_device, source_location where) noexcept {
  text_builder out;
  out << "the " << first << " belongs to device " << first_device << ", the " << second << " to ";
  if (first_device == second_device) out << "another context of ";
  out << "device " << second_device << ". Make both in the same context.";
  return refusal(errc::wrong_context, function, out.finish(), where,
                 static_cast<std::uint64_t>(first_device),
                 static_cast<std::uint64_t>(second_device));
}

/// The library's own records found no room.
[[gnu::cold, gnu::noinline]] inline cuda_error out_of_host_memory_error(
    const char* function, std::size_t bytes, source_location where) noexcept {
  text_builder out;
  out << "the host had no " << bytes << " bytes left for bookkeeping. Free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, bytes);
}

/// A text of these characters.
/// **Errors**: `errc::out_of_host_memory`.
template <class Text>
result<Text> copied_text(const char* characters, std::size_t size, const char* function,
                         source_location where) noexcept {
  Text made(characters, size);
  if (made.lost()) return fail(out_of_host_memory_error(function, size, where));
  return made;
}

/// `errc::invalid_argument` unless `value` is an enumerator of `gpu::type`, as its name tells.
template <class Enum>
result<> require_enumerator(Enum value, const char* type, const char* function,
                            source_location where) noexcept {
  if (name_of(value) != nullptr) [[likely]]
    return {};
  text_builder out;
  out << static_cast<std::int64_t>(value) << " is no gpu::" << type
      << ". Use one of its enumerators.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                      static_cast<std::uint64_t>(value)));
}

/// The same for bits that are to be among the `known` ones of a set of flags.
template <class Flags>
result<> require_flags(Flags flags, unsigned known, const char* type, const char* function,
                       source_location where) noexcept {
  const auto bits = static_cast<unsigned>(flags);
  if ((bits & ~known) == 0) [[likely]]
    return {};
  text_builder out;
  out << bits << " has bits that are no gpu::" << type << ". Combine its enumerators.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, bits, known));
}

}  // namespace gpu::inline v0::detail
