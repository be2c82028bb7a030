#pragma once
/// \file
/// What surrounds a call of NCCL: operands, groups, and waiting with a time limit.

#include <gpu/algorithm/detail/number_type.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/libraries/nccl_functions.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/axis_order.hpp>
#include <gpu/system/library_table.hpp>
#include <gpu/system/new_file.hpp>
#include <gpu/system/read_file.hpp>

#include <sched.h>

#include <time.h>
#include <unistd.h>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace gpu { inline namespace v1 {

enum class nccl_operation : int;

namespace detail {

inline constexpr int nccl_in_progress = 7;

inline std::uint64_t milliseconds_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

/// Calls `done()` until it is true or the time is over; returns whether it was true.
template <class Done> bool wait_until(std::uint32_t timeout_ms, Done done) noexcept {
  const std::uint64_t end = milliseconds_now() + timeout_ms;
  for (unsigned round = 0;; ++round) {
    if (done()) return true;
    if (milliseconds_now() >= end) return false;
    if (round < 1000) {
      ::sched_yield();
    } else {
      ::usleep(200);
    }
  }
}

/// Returns whether the last call is done.
/// **Errors**: those that NCCL has found.
inline result<bool> check_nccl(void* communicator, const char* call,
                               source_location where) noexcept {
  int found = 0;
  const int code =
      GPU_TRY(call_nccl<&nccl_functions::get_async_error>(where, communicator, &found));
  if (code != 0) return fail(nccl_error(code, "ncclCommGetAsyncError", communicator, where));
  if (found == 0 || found == nccl_in_progress) return found == 0;
  return fail(nccl_error(found, call, communicator, where));
}

inline result<> wait_for_nccl(void* communicator, const char* call, std::uint32_t timeout_ms,
                              source_location where) noexcept {
  result<bool> outcome = false;
  const bool came = wait_until(timeout_ms, [&] {
    outcome = check_nccl(communicator, call, where);
    return !outcome.has_value() || *outcome;
  });
  if (!outcome.has_value()) return fail(outcome.error());
  if (came) return {};
  text_builder words;
  words << "the other ranks did not come within " << timeout_ms
        << " ms. Check that all of them run and make the same calls, abort the communicator, or "
           "pass a longer nccl_options::timeout_ms.";
  return fail(record_error(cuda_error(error_domain::nccl, nccl_in_progress, call, where)
                               .with_details(words.finish())
                               .with_values(timeout_ms, timeout_ms)));
}

/// Waits until the stream's work is done or NCCL has found an error.
inline result<> wait_for_nccl_work(void* communicator, const stream_ref& stream,
                                   std::uint32_t timeout_ms, source_location where) noexcept {
  constexpr const char* call = "gpu::nccl_communicator::synchronize";
  result<bool> outcome = false;
  const bool came = wait_until(timeout_ms, [&] {
    outcome = stream.is_done(where);
    if (!outcome.has_value() || *outcome) return true;
    outcome = check_nccl(communicator, call, where);
    return !outcome.has_value();
  });
  if (!outcome.has_value()) return fail(outcome.error());
  if (came) return {};
  text_builder words;
  words
      << "the work of the stream was not done within " << timeout_ms
      << " ms. Check that all ranks run and make the same calls, abort the communicator, or pass a "
         "longer nccl_options::timeout_ms.";
  return fail(record_error(cuda_error(error_domain::nccl, nccl_in_progress, call, where)
                               .with_details(words.finish())
                               .with_values(timeout_ms, timeout_ms)));
}

/// The communicators with calls in the group that the thread has begun.
struct nccl_open_group {
  static constexpr unsigned most = 64;

  unsigned depth;
  unsigned count;
  struct member {
    void* communicator;
    std::uint32_t timeout_ms;
  } members[most];

  bool add(void* communicator, std::uint32_t timeout_ms) noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (members[i].communicator == communicator) return true;
    }
    if (count == most) return false;
    members[count++] = {communicator, timeout_ms};
    return true;
  }
};
inline thread_local constinit nccl_open_group nccl_group_of_thread{};

inline result<> begin_nccl_group(source_location where) noexcept {
  GPU_TRY(require_libcuda<nccl_library>("gpu::nccl_group::begin", where));
  const int code = GPU_TRY(call_nccl<&nccl_functions::group_start>(where));
  if (code != 0) return fail(nccl_error(code, "ncclGroupStart", nullptr, where));
  nccl_open_group& group = nccl_group_of_thread;
  if (group.depth++ == 0) group.count = 0;
  return {};
}

/// Makes the calls of a group, and waits until NCCL has queued them, unless `waits` is false.
inline result<> end_nccl_group(bool waits, source_location where) noexcept {
  nccl_open_group& group = nccl_group_of_thread;
  --group.depth;
  const int code = GPU_TRY(call_nccl<&nccl_functions::group_end>(where));
  if (code != 0 && code != nccl_in_progress) {
    void* const first = group.count != 0 ? group.members[0].communicator : nullptr;
    return fail(nccl_error(code, "ncclGroupEnd", first, where));
  }
  if (group.depth != 0 || code == 0 || !waits) return {};
  for (unsigned i = 0; i < group.count; ++i) {
    GPU_TRY(wait_for_nccl(group.members[i].communicator, "ncclGroupEnd",
                          group.members[i].timeout_ms, where));
  }
  return {};
}

/// Turns the code of a call into a result, and waits if NCCL goes on with it; in a group the end of
/// the group does.
inline result<> settle_nccl(int code, const char* call, void* communicator,
                            std::uint32_t timeout_ms, source_location where) noexcept {
  if (code != 0 && code != nccl_in_progress)
    return fail(nccl_error(code, call, communicator, where));
  if (nccl_group_of_thread.depth != 0) {
    if (nccl_group_of_thread.add(communicator, timeout_ms)) return {};
    text_builder words;
    words << "a group has calls of at most " << nccl_open_group::most
          << " communicators. End it, and begin another.";
    return fail(refusal(errc::invalid_argument, call, words.finish(), where,
                        nccl_open_group::most + 1, nccl_open_group::most));
  }
  return code == 0 ? result<>() : wait_for_nccl(communicator, call, timeout_ms, where);
}

/// One rank, as its owner keeps it.
struct nccl_object {
  void* native = nullptr;
  context_ref context;
  int rank = 0;
  int size = 0;
  std::uint32_t timeout_ms = 0;
  friend bool operator==(const nccl_object& a, const nccl_object& b) noexcept {
    return a.native == b.native;
  }
};

struct abort_nccl {
  void operator()(const nccl_object& object) const noexcept {
    bool aborted = false;
    const auto abort = [&]() -> result<> {
      aborted = true;
      GPU_TRY(call_nccl<&nccl_functions::abort>(source_location{}, object.native));
      return {};
    };
    const result<> done = driver::in_context(object.context.native(), source_location{}, abort);
    if (!aborted) static_cast<void>(abort());  // which may work in another context
    driver::report_at_end(done);
  }
};

/// Elements as NCCL takes them.
struct nccl_operand {
  void* address;
  std::size_t count;
  int type;
  std::size_t element_bytes;

  void* at(std::size_t index) const noexcept {
    return static_cast<unsigned char*>(address) + index * element_bytes;
  }
};

/// Returns ncclDataType_t of an element type, or -1. Complex numbers are pairs of real ones.
template <class T> constexpr int nccl_type_of() noexcept {
  if constexpr (short_number<T>) return element_type_of<T>().name == "gpu::half" ? 6 : 9;
  if constexpr (complex_number<T>) return sizeof(T) == 8 ? 7 : 8;
  if constexpr (number_kind_of<T>() == number_kind::real) return sizeof(T) == 4 ? 7 : 8;
  if constexpr (number_kind_of<T>() == number_kind::integer) {
    constexpr int is_unsigned = T(-1) < T(0) ? 0 : 1;
    if constexpr (sizeof(T) == 1) return is_unsigned;
    if constexpr (sizeof(T) == 4) return 2 + is_unsigned;
    if constexpr (sizeof(T) == 8) return 4 + is_unsigned;
  }
  return -1;
}

template <class T, int Rank>
result<> require_packed(const char* function, const array_view<T, Rank>& view,
                        source_location where) noexcept {
  GPU_TRY(view.checked(where));
  if (view.is_contiguous(axis_order::keep)) return {};
  return fail(refusal(errc::invalid_argument, function,
                      text("the elements of an operand are not one after the other in memory. Copy "
                           "the view to an array, or pass rows one by one."),
                      where));
}

/// Returns an operand whose elements are only moved.
template <class A>
result<nccl_operand> nccl_bytes(const char* function, A&& a, source_location where) noexcept {
  const auto view = array_view_of(static_cast<A&&>(a));
  GPU_TRY(require_packed(function, view, where));
  constexpr int bytes = 1;  // ncclUint8
  constexpr std::size_t size = sizeof(typename decltype(view)::value_type);
  return nccl_operand{reinterpret_cast<void*>(static_cast<std::uintptr_t>(view.native())),
                      view.size() * size, bytes, 1};
}

/// Returns an operand whose elements are combined.
template <class A>
result<nccl_operand> nccl_numbers(const char* function, nccl_operation operation, A&& a,
                                  source_location where) noexcept {
  const auto view = array_view_of(static_cast<A&&>(a));
  using element = typename decltype(view)::value_type;
  constexpr int type = nccl_type_of<element>();
  static_assert(type >= 0,
                "NCCL combines integers of 8, 32 and 64 bits, float, double, __half, "
                "__nv_bfloat16, and sums of std::complex");
  constexpr int operations = 5;
  const int number = static_cast<int>(operation);
  const bool is_known = number >= 0 && number < operations;
  const bool is_linear = number == 0 || number == 4;  // a sum or an average
  if (!is_known || (complex_number<element> && !is_linear)) {
    text_builder words;
    if (is_known) {
      words << "NCCL has no product, maximum and minimum of complex numbers. Use sum or average.";
    } else {
      words << number << " is not a valid gpu::nccl_operation. Use one of its enumerators.";
    }
    return fail(refusal(errc::invalid_argument, function, words.finish(), where));
  }
  GPU_TRY(require_packed(function, view, where));
  constexpr std::size_t numbers = complex_number<element> ? 2 : 1;
  return nccl_operand{reinterpret_cast<void*>(static_cast<std::uintptr_t>(view.native())),
                      view.size() * numbers, type, sizeof(element) / numbers};
}

/// Fails unless `tested` has `times` as many elements as `other`, and both a multiple of `parts`.
inline result<> require_counts(const char* function, const char* name, const nccl_operand& tested,
                               const nccl_operand& other, std::size_t times, std::size_t parts,
                               source_location where) noexcept {
  const bool same_type = tested.type == other.type;
  const std::size_t wanted = saturated_product(other.count, times);
  if (same_type && tested.count == wanted && other.count % parts == 0) return {};
  text_builder words;
  if (!same_type) {
    words << "in and out have elements of different types. Pass the same.";
  } else if (tested.count != wanted) {
    words << name << " has " << tested.count << (tested.type == 1 ? " bytes" : " numbers")
          << ", but " << other.count << " times " << times
          << " are needed. Pass memory of that size.";
  } else {
    words << other.count << " bytes are not a multiple of the number of ranks, " << parts
          << ". Pass as much for each rank.";
  }
  return fail(refusal(errc::size_mismatch, function, words.finish(), where, tested.count, wanted));
}

inline result<> require_nccl_rank(const char* function, int rank, int ranks,
                                  source_location where) noexcept {
  if (rank >= 0 && rank < ranks) return {};
  text_builder words;
  words << "there is no rank " << rank << ". Pass a rank from 0 to " << ranks - 1 << '.';
  return fail(refusal(errc::invalid_argument, function, words.finish(), where,
                      static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks)));
}

/// Makes a table of the functions that `find` finds by their names.
inline nccl_functions nccl_functions_from(void* (*find)(const char* name)) noexcept {
  nccl_functions table{};
  for (const library_function& function : nccl_library::functions) {
    void* const found = find(function.name);
    __builtin_memcpy(reinterpret_cast<char*>(&table) + function.offset, &found, sizeof found);
  }
  return table;
}

}  // namespace detail

inline result<nccl_id> nccl_id::create(source_location where) noexcept {
  GPU_TRY(detail::require_libcuda<detail::nccl_library>("gpu::nccl_id::create", where));
  nccl_id made;
  const int code = GPU_TRY(detail::call_nccl<&detail::nccl_functions::get_unique_id>(where, &made));
  if (code != 0) return detail::fail(detail::nccl_error(code, "ncclGetUniqueId", nullptr, where));
  return made;
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
