#pragma once
/// \file
/// `cuda_error`: what went wrong, in which call, where in the user's source, and what to do.

#include <gpu/core/detail/error_advice.hpp>
#include <gpu/core/detail/error_names.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>

#include <cstdint>
#include <gpu/core/detail/utility.hpp>
#include <gpu/core/source_location.hpp>

namespace gpu::inline v0 {

/// An error of the driver, of NVRTC or of this library, as a value.
/// **Cost**: moves without allocating; the sentence is put together when `message` is called.
/// **Threads**: a value like any other; copies are independent.
class cuda_error {
 public:
  constexpr cuda_error(error_domain domain, int code, const char* call,
                       source_location where) noexcept
      : domain_{domain}, code_{code}, call_{call}, where_{where} {}

  /// Who reported it.
  error_domain domain() const noexcept { return domain_; }
  /// The code, to be read as `domain` says: a `CUresult`, an `nvrtcResult`, an `nvJitLinkResult`,
  /// an `errc`.
  int code() const noexcept { return code_; }
  /// The code's enumerator, such as `CUDA_ERROR_OUT_OF_MEMORY`.
  const char* name() const noexcept {
    const char* known = detail::error_code_name(domain_, code_);
    return known != nullptr ? known : "unknown";
  }
  /// The function that failed: a driver or NVRTC call, or the function of `gpu` that refused.
  const char* call() const noexcept { return call_; }
  /// Where the user's source called the function of `gpu` that failed.
  source_location where() const noexcept { return where_; }
  /// The value that was refused and the limit that it broke, where there are such; else 0.
  std::uint64_t asked() const noexcept { return asked_; }
  std::uint64_t limit() const noexcept { return limit_; }
  /// What is known beyond the code: the sentence of a refusal, the log of a compilation.
  const text& details() const noexcept { return details_; }

  error_kind kind() const noexcept;
  /// Whether the context is lost: every later call on it gives this error again, until the process
  /// (or the context, where it is not the primary one) is made anew.
  bool is_sticky() const noexcept;

  /// The whole story in a few lines: call, code, values, what to do, and the place in the source.
  text message() const noexcept;

  cuda_error&& with_details(text details) && noexcept {
    details_ = detail::move(details);
    return detail::move(*this);
  }
  cuda_error&& with_values(std::uint64_t asked, std::uint64_t limit) && noexcept {
    asked_ = asked;
    limit_ = limit;
    return detail::move(*this);
  }

  friend bool operator==(const cuda_error& e, errc code) noexcept {
    return e.domain_ == error_domain::gpu && e.code_ == static_cast<int>(code);
  }
  /// Same domain and code; the place and the values do not matter.
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
  if (domain_ != error_domain::driver) return false;
  switch (code_) {
    case 214:  // ECC_UNCORRECTABLE
    case 220:  // NVLINK_UNCORRECTABLE
    case 226:  // CONTAINED
    case 700:  // ILLEGAL_ADDRESS
    case 702:  // LAUNCH_TIMEOUT
    case 709:  // CONTEXT_IS_DESTROYED
    case 710:  // ASSERT
    case 714:  // HARDWARE_STACK_ERROR
    case 715:  // ILLEGAL_INSTRUCTION
    case 716:  // MISALIGNED_ADDRESS
    case 717:  // INVALID_ADDRESS_SPACE
    case 718:  // INVALID_PC
    case 719:  // LAUNCH_FAILED
    case 721:  // TENSOR_MEMORY_LEAK
    case 810:  // MPS_CLIENT_TERMINATED
      return true;
    default:
      return false;
  }
}

inline error_kind cuda_error::kind() const noexcept {
  switch (domain_) {
    case error_domain::driver:
      switch (code_) {
        case 2:
          return error_kind::memory;
        case 701:
        case 703:
          return error_kind::launch;
        case 34:
        case 36:
        case 46:
        case 100:
        case 209:
        case 221:
        case 222:
        case 301:
        case 303:
        case 304:
        case 600:
        case 801:
        case 802:
        case 803:
        case 804:
        case 805:
        case 806:
        case 807:
        case 808:
        case 809:
        case 999:
          return error_kind::runtime;
        case 200:
        case 218:
        case 300:
          return error_kind::compile;
        default:
          break;
      }
      if (code_ == 214 || code_ == 220) return error_kind::runtime;
      if (code_ == 709) return error_kind::logic;
      return is_sticky() ? error_kind::launch : error_kind::logic;
    case error_domain::nvrtc:
      return code_ == 1 ? error_kind::memory : error_kind::compile;
    case error_domain::nvjitlink:
      return error_kind::compile;
    case error_domain::curand:
      return error_kind::runtime;
    case error_domain::gpu:
      break;
  }
  switch (static_cast<errc>(code_)) {
    case errc::out_of_host_memory:
      return error_kind::memory;
    case errc::invalid_launch:
    case errc::argument_mismatch:
      return error_kind::launch;
    case errc::compile_failed:
    case errc::invalid_image:
    case errc::link_failed:
      return error_kind::compile;
    case errc::no_driver:
    case errc::driver_too_old:
    case errc::not_supported:
    case errc::no_nvrtc:
    case errc::nvrtc_too_old:
    case errc::no_nvjitlink:
    case errc::nvjitlink_too_old:
    case errc::process_forked:
    case errc::process_exiting:
    case errc::file_error:
      return error_kind::runtime;
    default:
      return error_kind::logic;
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

/// Of a thread, which may still make errors when its objects are gone: in destructors of others.
inline thread_local bool last_error_is_gone = false;

/// The last error made in a thread, for gpu/core/last_error.hpp; one of no call where there is
/// none.
struct last_error_slot {
  cuda_error error{error_domain::gpu, 0, nullptr, source_location{}};

  ~last_error_slot() { last_error_is_gone = true; }
};
inline thread_local last_error_slot last_error_of_thread;

/// Notes an error on its way to the program. One without a place is no answer to the program: it
/// goes to the error reporter, or there is another way.
[[gnu::cold, gnu::noinline]] inline cuda_error noted_error(cuda_error error) noexcept {
  if (error.where().line() != 0 && !last_error_is_gone) last_error_of_thread.error = error;
  return error;
}

/// A refusal of this library's own: `sentence` names the value, the limit and the cure.
inline cuda_error refusal(errc code, const char* function, text sentence, source_location where,
                          std::uint64_t asked = 0, std::uint64_t limit = 0) noexcept {
  return noted_error(cuda_error(error_domain::gpu, static_cast<int>(code), function, where)
                         .with_details(detail::move(sentence))
                         .with_values(asked, limit));
}

}  // namespace detail
}  // namespace gpu::inline v0
