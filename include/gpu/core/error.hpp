#pragma once
/// \file
/// `cuda_error`: what went wrong, in which call, where in the user's source, and what to do about
/// it.

#include <gpu/core/detail/error_advice.hpp>
#include <gpu/core/detail/error_names.hpp>
#include <gpu/core/detail/known_codes.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/thread_key.hpp>
#include <gpu/core/error_code.hpp>  // IWYU pragma: export
#include <gpu/core/text.hpp>

#include <cstdint>
#include <gpu/core/source_location.hpp>  // IWYU pragma: export
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// An error of the driver, of NVRTC or of this library, as a value.
/// **Cost**: moves without allocating; the text is composed when `message` is called.
/// **Threads**: a value like any other; copies are independent.
class cuda_error {
 public:
  constexpr cuda_error(error_domain domain, int code, const char* call,
                       source_location where) noexcept
      : domain_{domain}, code_{code}, call_{call}, where_{where} {}

  // Errors are moved in hundreds of places; out of line they take less of a program
  // (benchmarks/program_cost).
  cuda_error(const cuda_error&) noexcept = default;
  [[gnu::cold, gnu::noinline]] cuda_error(cuda_error&&) noexcept = default;
  cuda_error& operator=(const cuda_error&) noexcept = default;
  cuda_error& operator=(cuda_error&&) noexcept = default;
  ~cuda_error() = default;

  /// Returns who reported the error.
  error_domain domain() const noexcept { return domain_; }
  /// Returns the code. Its type depends on `domain()`: `CUresult`, `nvrtcResult`,
  /// `nvJitLinkResult`, `curandStatus_t`, `cublasStatus_t`, `ncclResult_t`,
  /// `cufftResult`, `cusolverStatus_t`, `cusparseStatus_t` or `errc`.
  int code() const noexcept { return code_; }
  /// Returns the name of the code's enumerator, such as `CUDA_ERROR_OUT_OF_MEMORY`.
  const char* name() const noexcept {
    const char* known = detail::error_code_name(domain_, code_);
    return known != nullptr ? known : "unknown";
  }
  /// Returns the function that failed: a driver or NVRTC call, or the function of `gpu` that
  /// rejected its arguments.
  const char* call() const noexcept { return call_; }
  /// Returns the location in the user's source that called the failing function of `gpu`.
  source_location where() const noexcept { return where_; }
  /// Return the rejected value and the limit that it exceeds, or 0 if neither applies.
  std::uint64_t asked() const noexcept { return asked_; }
  std::uint64_t limit() const noexcept { return limit_; }
  /// Returns what is known beyond the code: why the arguments were rejected, or a compiler's log.
  const text& details() const noexcept { return details_; }

  error_kind kind() const noexcept;
  /// Returns whether the error is sticky: the context is lost, and every later call on it fails
  /// with this error. Restart the process, or destroy the context if it is not the primary one.
  bool is_sticky() const noexcept;

  /// Composes a text of a few lines: the call, the code, the values, what to do, and the location
  /// in the source.
  text message() const noexcept;

  cuda_error&& with_details(text details) && noexcept {
    details_ = detail::without_control_characters(std::move(details));
    return std::move(*this);
  }
  cuda_error&& with_values(std::uint64_t asked, std::uint64_t limit) && noexcept {
    asked_ = asked;
    limit_ = limit;
    return std::move(*this);
  }

  friend bool operator==(const cuda_error& e, errc code) noexcept {
    return e.domain_ == error_domain::gpu && e.code_ == static_cast<int>(code);
  }
  /// Compares domain and code, but not location and values.
  friend bool operator==(const cuda_error& a, const cuda_error& b) noexcept {
    return a.domain_ == b.domain_ && a.code_ == b.code_;
  }

 private:
  error_domain domain_;
  int code_;
  const char* call_;
  source_location where_;
  std::uint64_t asked_ = 0;
  std::uint64_t limit_ = 0;
  text details_;
};

inline bool cuda_error::is_sticky() const noexcept {
  using detail::driver_code;
  if (domain_ != error_domain::driver) return false;
  switch (static_cast<driver_code>(code_)) {
    case driver_code::ecc_uncorrectable:
    case driver_code::nvlink_uncorrectable:
    case driver_code::contained:
    case driver_code::illegal_address:
    case driver_code::launch_timeout:
    case driver_code::context_is_destroyed:
    case driver_code::assertion:
    case driver_code::hardware_stack_error:
    case driver_code::illegal_instruction:
    case driver_code::misaligned_address:
    case driver_code::invalid_address_space:
    case driver_code::invalid_pc:
    case driver_code::launch_failed:
    case driver_code::tensor_memory_leak:
    case driver_code::mps_client_terminated: return true;
    default: return false;
  }
}

inline error_kind cuda_error::kind() const noexcept {
  using detail::driver_code;
  switch (domain_) {
    case error_domain::driver:
      switch (static_cast<driver_code>(code_)) {
        case driver_code::out_of_memory: return error_kind::memory;
        case driver_code::launch_out_of_resources:
        case driver_code::launch_incompatible_texturing: return error_kind::launch;
        case driver_code::stub_library:
        case driver_code::call_requires_newer_driver:
        case driver_code::device_unavailable:
        case driver_code::no_device:
        case driver_code::no_binary_for_gpu:
        case driver_code::jit_compiler_not_found:
        case driver_code::unsupported_ptx_version:
        case driver_code::file_not_found:
        case driver_code::shared_object_init_failed:
        case driver_code::operating_system:
        case driver_code::not_ready:
        case driver_code::not_supported:
        case driver_code::system_not_ready:
        case driver_code::system_driver_mismatch:
        case driver_code::compat_not_supported_on_device:
        case driver_code::mps_connection_failed:
        case driver_code::mps_rpc_failure:
        case driver_code::mps_server_not_ready:
        case driver_code::mps_max_clients_reached:
        case driver_code::mps_max_connections_reached:
        case driver_code::unknown:
        case driver_code::ecc_uncorrectable:
        case driver_code::nvlink_uncorrectable: return error_kind::runtime;
        case driver_code::context_is_destroyed: return error_kind::logic;
        case driver_code::invalid_image:
        case driver_code::invalid_ptx:
        case driver_code::invalid_source: return error_kind::compile;
        default: return is_sticky() ? error_kind::launch : error_kind::logic;
      }
    case error_domain::nvrtc:
      return code_ == static_cast<int>(detail::nvrtc_code::out_of_memory) ? error_kind::memory
                                                                          : error_kind::compile;
    case error_domain::nvjitlink: return error_kind::compile;
    case error_domain::cublas:
      return code_ == static_cast<int>(detail::cublas_code::alloc_failed) ? error_kind::memory
                                                                          : error_kind::runtime;
    case error_domain::cufft:
      return code_ == static_cast<int>(detail::cufft_code::alloc_failed) ? error_kind::memory
                                                                         : error_kind::runtime;
    case error_domain::cusolver:
      return code_ == static_cast<int>(detail::cusolver_code::alloc_failed) ? error_kind::memory
                                                                            : error_kind::runtime;
    case error_domain::cusparse:
      return code_ == static_cast<int>(detail::cusparse_code::alloc_failed) ? error_kind::memory
                                                                            : error_kind::runtime;
    case error_domain::nccl:
    case error_domain::curand: return error_kind::runtime;
    case error_domain::gpu: break;
  }
  switch (static_cast<errc>(code_)) {
    case errc::out_of_host_memory: return error_kind::memory;
    case errc::invalid_launch:
    case errc::argument_mismatch: return error_kind::launch;
    case errc::compile_failed:
    case errc::invalid_image:
    case errc::link_failed: return error_kind::compile;
    case errc::no_driver:
    case errc::driver_too_old:
    case errc::not_supported:
    case errc::no_nvrtc:
    case errc::nvrtc_too_old:
    case errc::no_nvjitlink:
    case errc::nvjitlink_too_old:
    case errc::no_library:
    case errc::library_too_old:
    case errc::process_forked:
    case errc::process_exiting:
    case errc::file_error: return error_kind::runtime;
    default: return error_kind::logic;
  }
}

inline text cuda_error::message() const noexcept {
  detail::text_builder out;
  out << call_ << ": " << name() << " (" << code_ << ')';
  if (!details_.empty()) out << ": " << details_;
  if (const char* advice = detail::error_advice(domain_, code_)) {
    const bool sentence_ended = !details_.empty() && details_.end()[-1] == '.';
    const bool line_ended = !details_.empty() && details_.end()[-1] == '\n';
    out << (line_ended ? "" : sentence_ended ? " " : ". ") << advice;
  }
  if (where_.line() != 0) out << " [" << where_.file_name() << ':' << where_.line() << ']';
  return out.finish();
}

namespace detail {

inline void delete_last_error(void* error) noexcept { delete static_cast<cuda_error*>(error); }

/// The last error of each thread, for gpu/core/last_error.hpp: a `cuda_error`, or null before the
/// first error. After `take_last_error` the error's call is null.
inline constinit thread_key last_error_key{&delete_last_error};

inline cuda_error no_error() noexcept { return {error_domain::gpu, 0, nullptr, source_location{}}; }

/// Returns the last error of the thread, or one without a call.
inline cuda_error last_error() noexcept {
  const auto* const known = static_cast<const cuda_error*>(last_error_key.get());
  return known != nullptr ? *known : no_error();
}

/// Makes `error` the last error of the thread. The first error of a thread needs an allocation, and
/// is not recorded if that fails.
inline void set_last_error(const cuda_error& error) noexcept {
  if (auto* const known = static_cast<cuda_error*>(last_error_key.get())) {
    *known = error;
  } else if (error.call() != nullptr) {
    auto* const first = new (std::nothrow) cuda_error(error);
    if (first != nullptr && !last_error_key.set(first)) delete first;
  }
}

/// Records an error that is returned to the program. An error without a location is not: it goes to
/// the error reporter, or the library recovers from it.
[[gnu::cold]] inline cuda_error record_error(cuda_error error) noexcept {
  if (error.where().line() != 0) set_last_error(error);
  return error;
}

/// Returns the error of a function that rejects its arguments. `sentence` says what is wrong with
/// which value, what the limit is, and what to do.
[[gnu::cold]] inline cuda_error refusal(errc code, const char* function, text sentence,
                                        source_location where, std::uint64_t asked = 0,
                                        std::uint64_t limit = 0) noexcept {
  return record_error(cuda_error(error_domain::gpu, static_cast<int>(code), function, where)
                          .with_details(std::move(sentence))
                          .with_values(asked, limit));
}

}  // namespace detail
}}  // namespace gpu::v1
