#pragma once
/// \file
/// `cuda_error`: what went wrong, in which call, where in the user's source, and what to do about
/// it.

#include <gpu/core/detail/gpu_errors.hpp>  // IWYU pragma: keep
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
    const char* known = domain_.name_of(code_);
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

  error_kind kind() const noexcept { return domain_.kind_of(code_); }
  /// Returns whether the error is sticky: the context is lost, and every later call on it fails
  /// with this error. Restart the process, or destroy the context if it is not the primary one.
  bool is_sticky() const noexcept { return domain_.is_sticky(code_); }

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

inline text cuda_error::message() const noexcept {
  detail::text_builder out;
  out << call_ << ": " << name() << " (" << code_ << ')';
  if (!details_.empty()) out << ": " << details_;
  if (const char* advice = domain_.advice_for(code_)) {
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
