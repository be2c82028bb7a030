#pragma once
/// \file
/// `compile_async`, `compile_all`: compiling while something else goes on, and many programs at
/// once.

#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/detail/compile_queue.hpp>

namespace gpu::inline v0 {

namespace detail {

/// A compilation that a thread of the queue runs. A template, as all that would instantiate the
/// compiler's functions where they are only included.
template <class Program = compiled_program> struct queued_compilation : queued_work {
  program source;
  compile_request request;
  compile_cache* cache = nullptr;
  source_location where;
  result<Program> made;

  queued_compilation(const program& p, source_location w)
      : queued_work{compile_queued, destroy_queued},
        source{p},
        request{source, {}},
        where{w},
        made{Program()} {}

 private:
  result<Program> compile() const {
    return through_cache(*cache, cached_compilation<>{request, where});
  }

  // The casts are for nvcc, which takes an assignment for a result that is ignored.
  static void compile_queued(queued_work& work) noexcept {
    auto& self = static_cast<queued_compilation&>(work);
    static_cast<void>(self.made = catch_bad_alloc("gpu::compile_async", self.where,
                                                  [&] { return self.compile(); }));
  }

  static void destroy_queued(queued_work& work) noexcept {
    delete static_cast<queued_compilation*>(&work);
  }
};

/// Settles in this thread, for the architecture may be that of its current context, and leaves the
/// rest to another.
inline queued_work* start_compilation(const program& source, const compile_options& options,
                                      source_location where) {
  const no_cancellation whole;
  auto* work = new queued_compilation<compiled_program>(source, where);
  result<> settled = catch_bad_alloc("gpu::compile_async", where, [&]() -> result<> {
    work->cache = options.cache != nullptr ? options.cache : &compile_cache::of_process();
    cached_work<cached_compilation<>>::prepare(*work->cache);
    return settle(work->request, options, where);
  });
  if (settled.has_value()) {
    compile_queue().add(*work);
  } else {
    static_cast<void>(work->made = fail(detail::move(settled).error()));
    work->done = true;
  }
  return work;
}

struct pending_compilation_access;

}  // namespace detail

/// A program that is being compiled. Move-only; empty after a move or after `get`.
/// **Ownership**: its destructor waits for the compilation.
/// **Threads**: one at a time.
class [[nodiscard]] pending_compilation {
 public:
  constexpr pending_compilation() noexcept = default;
  pending_compilation(pending_compilation&& other) noexcept
      : work_{detail::exchange(other.work_, nullptr)} {}
  pending_compilation& operator=(pending_compilation&& other) noexcept {
    if (this == &other) return *this;
    drop();
    work_ = detail::exchange(other.work_, nullptr);
    return *this;
  }
  ~pending_compilation() { drop(); }

  /// Whether `get` will not wait. Never blocks. True of an empty one.
  bool ready() const noexcept {
    return work_ == nullptr || detail::compile_queue().is_done(*work_);
  }
  /// Blocks until the compilation is done.
  void wait() const noexcept {
    if (work_ != nullptr) detail::compile_queue().wait(*work_);
  }
  /// Waits, and gives what `compile` would have given.
  /// **Errors**: those of `compile`; `errc::empty_handle` where it was moved from or asked before;
  /// `errc::process_forked` in a child of the process that began the compilation.
  result<compiled_program> get(source_location where = source_location::current()) {
    constexpr const char* function = "gpu::pending_compilation::get";
    if (work_ == nullptr) {
      return detail::fail(detail::refusal(
          errc::empty_handle, function,
          text(
              "the pending_compilation is empty: it was moved from, or asked before. Ask it once."),
          where));
    }
    if (!detail::compile_queue().wait(*work_)) {
      return detail::fail(detail::refusal(
          errc::process_forked, function,
          text(
              "the compilation belongs to the process that this one was forked from. Compile after "
              "the fork."),
          where));
    }
    auto made =
        detail::move(static_cast<detail::queued_compilation<compiled_program>*>(work_)->made);
    drop();
    return made;
  }

 private:
  friend struct detail::pending_compilation_access;

  void drop() noexcept {
    if (work_ == nullptr) return;
    // What a thread of the process was at work on when this one was forked from it stays as it is.
    if (detail::compile_queue().wait(*work_)) work_->destroy(*work_);
    work_ = nullptr;
  }

  detail::queued_work* work_ = nullptr;
};

namespace detail {

struct pending_compilation_access {
  static pending_compilation make(queued_work* work) noexcept {
    pending_compilation pending;
    pending.work_ = work;
    return pending;
  }
};

}  // namespace detail

/// Compiles on another thread, of as many as there are processors, 16 at most:
///
///     gpu::pending_compilation pending = gpu::compile_async(source);
///     ...
///     const gpu::compiled_program compiled = GPU_TRY(pending.get());
///
/// `source` and `options` are copied, and the architecture is settled before this returns: it may
/// be that of this thread's current context.
/// **Errors**: all of them come from `get`. Where no thread can be started, this compiles before it
/// returns. A process that exits waits for what NVRTC is at work on, and compiles no more.
/// **Cost**: NVRTC 13.0 optimises and assembles programs side by side, but reads only one at a
/// time: programs with large headers wait for each other.
template <class Source>
  requires detail::convertible<const Source&, program>
pending_compilation compile_async(const Source& source, const compile_options& options = {},
                                  source_location where = source_location::current()) {
  return detail::pending_compilation_access::make(
      detail::start_compilation(source, options, where));
}

/// Compiles many programs on as many threads as `compile_async`, and waits for all. `sources`
/// is a range of programs or strings; the results are in its order.
/// **Errors**: each result has those of `compile`.
template <class Sources>
  requires requires(const Sources& sources) {
    requires detail::convertible<decltype(*sources.begin()), program>;
    sources.end();
  }
sequence<result<compiled_program>> compile_all(const Sources& sources,
                                               const compile_options& options = {},
                                               source_location where = source_location::current()) {
  sequence<pending_compilation> pending;
  for (const auto& source : sources) pending.push_back(compile_async(source, options, where));
  sequence<result<compiled_program>> made;
  for (pending_compilation& one : pending) made.push_back(one.get(where));
  return made;
}

}  // namespace gpu::inline v0
