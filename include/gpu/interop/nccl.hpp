#pragma once
/// \file
/// NCCL: communicators of several devices, processes and machines. `nccl_communicator` is one rank;
/// `nccl_group` takes calls together.
///
///     // rank 0: auto id = GPU_TRY(gpu::nccl_id::create()), and gives its bytes to the others
///     auto comm = GPU_TRY(gpu::nccl_communicator::create(stream.context(), id, rank, ranks));
///     GPU_TRY(comm.all_reduce(stream, x, gpu::nccl_operation::sum));
///     GPU_TRY(comm.finish());
///
/// NCCL is opened by the first call. Unless `nccl_options::blocking` is set, its calls are made in
/// its mode that does not block, so a rank that is missing is an error after a time limit, and
/// nothing waits forever.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/detail/nccl_operands.hpp>
#include <gpu/interop/nccl_id.hpp>  // IWYU pragma: export
#include <gpu/libraries/nccl_functions.hpp>
#include <gpu/libraries/nccl_wait.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/system/library_table.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// How the elements of all ranks are combined. The average of integers is cut off.
enum class nccl_operation : int { sum = 0, product = 1, max = 2, min = 3, average = 4 };

/// Returns the operation's name, such as "sum"; null for any other value.
constexpr const char* name_of(nccl_operation operation) noexcept {
  using enum nccl_operation;
  return detail::find_name(
      operation,
      {{sum, "sum"}, {product, "product"}, {max, "max"}, {min, "min"}, {average, "average"}});
}

struct nccl_options {
  /// How long a call may wait for the other ranks, in milliseconds, before it is an error.
  std::uint32_t timeout_ms = 300'000;
  /// Uses NCCL's mode that blocks: its calls wait for the other ranks without a limit, and small
  /// operations take less time (docs/interop.md has figures). `synchronize` keeps the limit.
  bool blocking = false;
};

/// Takes calls of one thread together, from `begin` to `end`: sends and receives that need each
/// other, several small operations, or calls of several ranks that one thread makes. Groups nest.
/// Move-only. If a group is destroyed without `end`, its calls are made but not waited for, and an
/// error goes to the error reporter.
class [[nodiscard]] nccl_group {
 public:
  /// (ncclGroupStart)
  static result<nccl_group> begin(source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::begin_nccl_group(where));
    return nccl_group(true);
  }
  /// Makes the calls. Waits until NCCL has queued them on their streams, not until they are done.
  /// **Errors**: the first of its calls. (ncclGroupEnd)
  result<> end(source_location where = source_location::current()) noexcept {
    if (!std::exchange(is_open_, false))
      return detail::refuse_empty_handle("gpu::nccl_group::end", "nccl_group", where);
    return detail::end_nccl_group(true, where);
  }

  nccl_group(nccl_group&& other) noexcept : is_open_{std::exchange(other.is_open_, false)} {}
  nccl_group& operator=(nccl_group&&) = delete;
  ~nccl_group() {
    if (!is_open_) return;
    const result<> ended = detail::end_nccl_group(false, source_location{});
    if (!ended.has_value()) detail::report(ended.error());
  }

 private:
  explicit nccl_group(bool is_open) noexcept : is_open_{is_open} {}
  bool is_open_;
};

/// Owns one rank of a communicator, which belongs to one device. Move-only; empty after a move.
///
/// Operands are arrays, buffers, spans, and views whose elements are one after the other, in the
/// order in which they are in memory. `in` and `out` may be the same memory; otherwise they must
/// not overlap. All ranks must call the same operations in the same order.
/// **Ordering**: operations are queued on the stream, and do not wait for the device. **Capture**:
/// allowed. **Threads**: one thread at a time uses a communicator.
/// **Errors**: `errc::size_mismatch` with both sizes; `errc::invalid_argument` for a rank that is
/// not there, and for operands with gaps; `errc::wrong_context` for a stream of another device;
/// `errc::empty_handle`; those of NCCL, with what it says, such as ncclRemoteError after the end of
/// another rank; ncclInProgress if the others do not come in time.
class nccl_communicator {
 public:
  /// Creates an empty object, to be assigned to.
  nccl_communicator() noexcept = default;

  /// Joins the communicator `id` as number `rank` of `ranks`, with the device of `on`. All ranks
  /// have to call it; waits for them, but not within a group: then `nccl_group::end` does.
  /// **Errors**: also `errc::no_library` without NCCL, or on the CPU driver. **Capture**: not
  /// allowed. (ncclCommInitRankConfig)
  static result<nccl_communicator> create(
      context_or_device on, const nccl_id& id, int rank, int ranks,
      const nccl_options& options = {},
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::create";
    const context_ref context = GPU_TRY(on.resolve(function, where));
    if (ranks < 1 || rank < 0 || rank >= ranks) {
      detail::text_builder words;
      words << "rank " << rank << " of " << ranks
            << " is not possible. Pass ranks from 0 on, and how many there are.";
      return detail::fail(detail::refusal(errc::invalid_argument, function, words.finish(), where));
    }
    GPU_TRY(detail::require_libcuda<detail::nccl_library>(function, where));
    nccl_communicator made;
    detail::nccl_configuration configuration;
    configuration.blocking = options.blocking ? 1 : 0;
    GPU_TRY(driver::in_context(context.native(), where, [&]() -> result<> {
      void* native = nullptr;
      constexpr auto init = &detail::nccl_functions::init_rank;
      const int code = GPU_TRY(detail::call_nccl<init>(
          where, &native, ranks, std::bit_cast<detail::nccl_unique_id>(id), rank, &configuration));
      made.handle_.reset({native, context, rank, ranks, options.timeout_ms});
      return detail::settle_nccl(code, detail::nccl_name<init>(), native, options.timeout_ms,
                                 where);
    }));
    return made;
  }

  int rank() const noexcept { return handle_.get().rank; }
  /// Returns the number of ranks.
  int size() const noexcept { return handle_.get().size; }
  context_ref context() const noexcept { return handle_.get().context; }
  gpu::device device() const noexcept { return context().device(); }
  /// Returns the `ncclComm_t`.
  void* native() const noexcept { return handle_.get().native; }

  /// Combines the elements of all ranks, and writes the result on each.
  template <detail::viewable In, detail::viewable Out>
  result<> all_reduce(const stream_ref& stream, In&& in, Out&& out, nccl_operation operation,
                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::all_reduce";
    const auto [from, to] = GPU_TRY(detail::nccl_numbers(function, operation, static_cast<In&&>(in),
                                                         static_cast<Out&&>(out), where));
    GPU_TRY(detail::require_counts(function, "out", to, from, 1, 1, where));
    return call<&detail::nccl_functions::all_reduce>(function, stream, where, from.address,
                                                     to.address, from.count, from.type,
                                                     static_cast<int>(operation));
  }
  template <detail::viewable InOut>
  result<> all_reduce(const stream_ref& stream, InOut&& x, nccl_operation operation,
                      source_location where = source_location::current()) noexcept {
    return all_reduce(stream, x, x, operation, where);
  }

  /// Copies the elements of rank `root` to all ranks.
  template <detail::viewable InOut>
  result<> broadcast(const stream_ref& stream, InOut&& x, int root,
                     source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::broadcast";
    const auto part = GPU_TRY(detail::nccl_bytes(function, static_cast<InOut&&>(x), where));
    GPU_TRY(require_rank(function, root, where));
    return call<&detail::nccl_functions::broadcast>(function, stream, where, part.address,
                                                    part.address, part.count, part.type, root);
  }

  /// Combines the elements of all ranks, and writes the result on rank `root`. Elsewhere `out` is
  /// not used, and may be `in`.
  template <detail::viewable In, detail::viewable Out>
  result<> reduce(const stream_ref& stream, In&& in, Out&& out, nccl_operation operation, int root,
                  source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::reduce";
    const auto [from, to] = GPU_TRY(detail::nccl_numbers(function, operation, static_cast<In&&>(in),
                                                         static_cast<Out&&>(out), where));
    GPU_TRY(require_rank(function, root, where));
    if (rank() == root) GPU_TRY(detail::require_counts(function, "out", to, from, 1, 1, where));
    return call<&detail::nccl_functions::reduce>(function, stream, where, from.address, to.address,
                                                 from.count, from.type, static_cast<int>(operation),
                                                 root);
  }

  /// Writes the elements of all ranks to `out` on each, one rank after the other.
  template <detail::viewable In, detail::viewable Out>
  result<> all_gather(const stream_ref& stream, In&& in, Out&& out,
                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::all_gather";
    const auto from = GPU_TRY(detail::nccl_bytes(function, static_cast<In&&>(in), where));
    const auto to = GPU_TRY(detail::nccl_bytes(function, static_cast<Out&&>(out), where));
    GPU_TRY(detail::require_counts(function, "out", to, from, count(), 1, where));
    return call<&detail::nccl_functions::all_gather>(function, stream, where, from.address,
                                                     to.address, from.count, from.type);
  }

  /// Combines the elements of all ranks, and writes to `out` the part of this rank: part number
  /// `rank()` of `size()`.
  template <detail::viewable In, detail::viewable Out>
  result<> reduce_scatter(const stream_ref& stream, In&& in, Out&& out, nccl_operation operation,
                          source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::reduce_scatter";
    const auto [from, to] = GPU_TRY(detail::nccl_numbers(function, operation, static_cast<In&&>(in),
                                                         static_cast<Out&&>(out), where));
    GPU_TRY(detail::require_counts(function, "in", from, to, count(), 1, where));
    return call<&detail::nccl_functions::reduce_scatter>(function, stream, where, from.address,
                                                         to.address, to.count, to.type,
                                                         static_cast<int>(operation));
  }

  /// Sends part `i` of `in` to rank `i`, and writes what comes from rank `i` to part `i` of `out`.
  /// `in` and `out` must not overlap.
  template <detail::viewable In, detail::viewable Out>
  result<> all_to_all(const stream_ref& stream, In&& in, Out&& out,
                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::all_to_all";
    const auto from = GPU_TRY(detail::nccl_bytes(function, static_cast<In&&>(in), where));
    const auto to = GPU_TRY(detail::nccl_bytes(function, static_cast<Out&&>(out), where));
    GPU_TRY(detail::require_counts(function, "out", to, from, 1, count(), where));
    const std::size_t part = from.count / count();
    nccl_group group = GPU_TRY(nccl_group::begin(where));
    for (int peer = 0; peer < size(); ++peer) {
      const std::size_t first = part * static_cast<std::size_t>(peer);
      GPU_TRY(call<&detail::nccl_functions::send>(function, stream, where, from.at(first), part,
                                                  from.type, peer));
      GPU_TRY(call<&detail::nccl_functions::receive>(function, stream, where, to.at(first), part,
                                                     to.type, peer));
    }
    return group.end(where);
  }

  /// Sends elements to another rank, which has to receive as many. Sends and receives that wait for
  /// each other belong in one group.
  template <detail::viewable In>
  result<> send(const stream_ref& stream, In&& in, int to,
                source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::send";
    const auto from = GPU_TRY(detail::nccl_bytes(function, static_cast<In&&>(in), where));
    GPU_TRY(require_rank(function, to, where));
    return call<&detail::nccl_functions::send>(function, stream, where, from.address, from.count,
                                               from.type, to);
  }
  template <detail::viewable Out>
  result<> receive(const stream_ref& stream, Out&& out, int from,
                   source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::nccl_communicator::receive";
    const auto to = GPU_TRY(detail::nccl_bytes(function, static_cast<Out&&>(out), where));
    GPU_TRY(require_rank(function, from, where));
    return call<&detail::nccl_functions::receive>(function, stream, where, to.address, to.count,
                                                  to.type, from);
  }

  /// Returns the error of earlier work, if one was found: of this rank, of the network, or
  /// ncclRemoteError if another rank is gone. Then the communicator can only be aborted. Waits for
  /// nothing. (ncclCommGetAsyncError)
  result<> check(source_location where = source_location::current()) const noexcept {
    GPU_TRY(require_handle("gpu::nccl_communicator::check", where));
    return detail::check_nccl(native(), "ncclCommGetAsyncError", where).transform([](bool) {});
  }

  /// Waits until the work queued on the stream is done, asks for errors meanwhile, and gives up
  /// after the time limit. So a rank that was killed is an error here, while `stream::synchronize`
  /// would wait for it forever: `abort` the communicator then, which ends the work.
  /// **Errors**: also ncclInProgress after the time limit; those of earlier asynchronous work.
  /// **Capture**: not allowed. (cuStreamQuery, ncclCommGetAsyncError)
  result<> synchronize(const stream_ref& stream,
                       source_location where = source_location::current()) const noexcept {
    GPU_TRY(require_handle("gpu::nccl_communicator::synchronize", where));
    return detail::wait_for_nccl_work(native(), stream, handle_.get().timeout_ms, where);
  }

  /// Ends the communicator when all ranks have called this and the queued work is done. Waits for
  /// both, up to the time limit. Empty afterwards, also after an error.
  /// (ncclCommFinalize, ncclCommDestroy)
  result<> finish(source_location where = source_location::current()) noexcept {
    GPU_TRY(require_handle("gpu::nccl_communicator::finish", where));
    result<> done = driver::in_context(context().native(), where, [&]() -> result<> {
      constexpr auto finalize = &detail::nccl_functions::finalize;
      constexpr auto destroy = &detail::nccl_functions::destroy;
      const int code = GPU_TRY(detail::call_nccl<finalize>(where, native()));
      GPU_TRY(detail::settle_nccl(code, detail::nccl_name<finalize>(), native(),
                                  handle_.get().timeout_ms, where));
      const int destroyed = GPU_TRY(detail::call_nccl<destroy>(where, handle_.release().native));
      if (destroyed == 0 || destroyed == detail::nccl_in_progress) return {};
      return detail::fail(
          detail::nccl_error(destroyed, detail::nccl_name<destroy>(), nullptr, where));
    });
    abort();  // unless it is destroyed
    return done;
  }

  /// Ends the communicator at once; work that is not done is lost, and the other ranks get
  /// ncclRemoteError. Empty afterwards. The destructor does the same, and waits for no other rank.
  /// (ncclCommAbort)
  void abort() noexcept { handle_.reset(); }

  /// Gives the rank up; the caller ends it.
  [[nodiscard]] void* release() noexcept { return handle_.release().native; }

 private:
  std::size_t count() const noexcept { return static_cast<std::size_t>(size()); }

  result<> require_handle(const char* function, source_location where) const noexcept {
    if (handle_) return {};
    return detail::refuse_empty_handle(function, "nccl_communicator", where);
  }
  result<> require_rank(const char* function, int rank, source_location where) const noexcept {
    GPU_TRY(require_handle(function, where));
    return detail::require_nccl_rank(function, rank, size(), where);
  }

  template <auto Member, class... Arguments>
  result<> call(const char* function, const stream_ref& stream, source_location where,
                Arguments... arguments) noexcept {
    GPU_TRY(require_handle(function, where));
    GPU_TRY(detail::require(stream, function, where));
    if (stream.device() != device()) {
      return detail::fail(detail::wrong_context_error(function, "stream", stream.device().native(),
                                                      "communicator", device().native(), where));
    }
    const detail::nccl_object& self = handle_.get();
    return driver::in_context(stream.context().native(), where, [&]() -> result<> {
      const int code = GPU_TRY(detail::call_nccl<Member>(where, arguments..., self.native,
                                                         static_cast<void*>(stream.native())));
      return detail::settle_nccl(code, detail::nccl_name<Member>(), self.native, self.timeout_ms,
                                 where);
    });
  }

  unique_handle<detail::nccl_object, detail::abort_nccl> handle_;
};

/// Puts functions in the place of NCCL's for a scope, for the whole process: for tests, such as
///
///     const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
///
/// `find(name)` returns the function of NCCL with that name, or null.
class [[nodiscard]] scoped_nccl {
 public:
  explicit scoped_nccl(void* (*find)(const char* name)) noexcept
      : table_{detail::nccl_functions_from(find)}, in_force_{table_} {}

 private:
  detail::nccl_functions table_;
  detail::scoped_library_table<detail::nccl_library> in_force_;
};

/// Returns whether there is an NCCL that this program can use. Opens it on first use.
inline bool has_nccl() noexcept {
  return detail::require_libcuda<detail::nccl_library>("gpu::has_nccl", {}).has_value() &&
         detail::library_table<detail::nccl_library>().init_rank != nullptr;
}

}}  // namespace gpu::v1
