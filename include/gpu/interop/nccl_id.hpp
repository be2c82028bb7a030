#pragma once
/// \file
/// `nccl_id`: names a communicator of NCCL before it exists.

#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nccl_functions.hpp>
#include <gpu/libraries/nccl_wait.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/system/new_file.hpp>
#include <gpu/system/read_file.hpp>

#include <bit>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 {

/// Names a communicator before it exists: 128 bytes, which one rank makes and all ranks share, by
/// MPI, a file (`save` and `load`) or memory. Copy it freely. (ncclUniqueId)
struct nccl_id {
  char bytes[128] = {};

  /// Makes an id, on one rank. It listens on a port of this machine until the communicator is made.
  /// **Errors**: `errc::no_library` without NCCL, or on the CPU driver; those of NCCL.
  /// (ncclGetUniqueId)
  static result<nccl_id> create(source_location where = source_location::current()) noexcept;

  /// Writes the id to a file, which appears when it is complete. For ranks that share a file
  /// system.
  /// **Errors**: `errc::file_error`.
  result<> save(string_ref path, source_location where = source_location::current()) const noexcept;
  /// Reads an id from a file, and waits until it is there. Remove the file before the next run.
  /// **Errors**: `errc::file_error` after `timeout_ms` milliseconds.
  static result<nccl_id> load(string_ref path, std::uint32_t timeout_ms = 60'000,
                              source_location where = source_location::current()) noexcept;
};

inline result<nccl_id> nccl_id::create(source_location where) noexcept {
  GPU_TRY(detail::require_libcuda<detail::nccl_library>("gpu::nccl_id::create", where));
  detail::nccl_unique_id made{};
  const int code = GPU_TRY(detail::call_nccl<&detail::nccl_functions::get_unique_id>(where, &made));
  if (code != 0) return detail::fail(detail::nccl_error(code, "ncclGetUniqueId", nullptr, where));
  return std::bit_cast<nccl_id>(made);
}

inline result<> nccl_id::save(string_ref path, source_location where) const noexcept {
  detail::new_file file;
  int failure = file.open(path.to_text());
  if (failure == 0) failure = file.write(bytes, sizeof bytes);
  if (failure == 0) failure = file.commit();
  if (failure == 0) return {};
  detail::text_builder words;
  words << '"' << detail::escaped{path} << "\" could not be written: " << std::strerror(failure)
        << '.';
  return detail::fail(
      detail::refusal(errc::file_error, "gpu::nccl_id::save", words.finish(), where));
}

inline result<nccl_id> nccl_id::load(string_ref path, std::uint32_t timeout_ms,
                                     source_location where) noexcept {
  nccl_id found;
  text contents;
  result<> read = {};
  const bool came = detail::wait_until(timeout_ms, [&] {
    read = detail::read_file("gpu::nccl_id::load", path, contents, source_location{},
                             sizeof found.bytes);
    return read.has_value() && contents.size() == sizeof found.bytes;
  });
  if (came) {
    std::memcpy(found.bytes, contents.data(), sizeof found.bytes);
    return found;
  }
  detail::text_builder words;
  words << '"' << detail::escaped{path} << "\" did not have an id within " << timeout_ms
        << " ms. Check that rank 0 runs, and that it saves the id under the same path.";
  return detail::fail(
      detail::refusal(errc::file_error, "gpu::nccl_id::load", words.finish(), where));
}

}}  // namespace gpu::v1
