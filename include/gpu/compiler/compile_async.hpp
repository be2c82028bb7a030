#pragma once
/// \file
/// `compile_async` compiles on another thread; `compile_all` compiles many programs at once.

#include <gpu/compiler/cache/program_cache.hpp>
#include <gpu/compiler/cache/through_cache.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compile_queue.hpp>
#include <gpu/compiler/nvrtc/cached_compile.hpp>
#include <gpu/compiler/options/compile_request.hpp>
#include <gpu/compiler/options/resolve_request.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/system/no_cancellation.hpp>

#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// A compilation for a thread of the queue.
struct queued_compilation : queued_work {
  program source;
  compile_request request;
  program_cache* cache = nullptr;
  source_location where;
  result<compiled_program> made;

  queued_compilation(const program& p, source_location w)
      : queued_work{compile_queued, destroy_queued},
        source{p},
        request{source, {}},
        where{w},
        made{compiled_program()} {}

 private:
  // The casts are for nvcc, which warns that the result of the assignment is ignored.
  static void compile_queued(queued_work& work) noexcept {
    auto& self = static_cast<queued_compilation&>(work);
    static_cast<void>(self.made = catch_bad_alloc("gpu::compile_async", self.where, [&] {
                        return through_cache(*self.cache, cached_compile(self.request, self.where));
                      }));
  }

  static void destroy_queued(queued_work& work) noexcept {
    delete static_cast<queued_compilation*>(&work);
  }
};

/// Resolves the request in this thread, whose current context may decide the architecture, and
/// queues the rest.
inline queued_compilation* start_compilation(const program& source, const compile_options& options,
                                             source_location where) {
  const no_cancellation whole;
  auto* work = new queued_compilation(source, where);
  result<> resolved = catch_bad_alloc("gpu::compile_async", where, [&]() -> result<> {
    work->cache = &compile_cache_access::chosen(options.cache);
    read_toolkit_notes<nvrtc::detail::library>(*work->cache);
    return resolve_request(work->request, options, where);
  });
  if (resolved.has_value()) {
    compile_queue().add(*work);
  } else {
    static_cast<void>(work->made = fail(std::move(resolved).error()));
    work->done = true;
  }
  return work;
}

struct pending_compilation_access;

}  // namespace detail

/// A compilation on another thread. Move-only; empty after a move or after `get`.
/// **Ownership**: the destructor waits for the compilation.
/// **Threads**: one at a time.
class [[nodiscard]] pending_compilation {
 public:
  constexpr pending_compilation() noexcept = default;
  pending_compilation(pending_compilation&& other) noexcept
      : work_{std::exchange(other.work_, nullptr)} {}
  pending_compilation& operator=(pending_compilation&& other) noexcept {
    if (this == &other) return *this;
    drop();
    work_ = std::exchange(other.work_, nullptr);
    return *this;
  }
  ~pending_compilation() { drop(); }

  /// Returns whether `get` would return at once; true if empty. Never blocks.
  bool ready() const noexcept {
    return work_ == nullptr || detail::compile_queue().is_done(*work_);
  }
  /// Blocks until the compilation is done.
  void wait() const noexcept {
    if (work_ != nullptr) detail::compile_queue().wait(*work_);
  }
  /// Waits for the compilation, and returns what `compile` would have returned.
  /// **Errors**: those of `compile`; `errc::empty_handle` if the object is empty;
  /// `errc::process_forked` in a child of the process that began the compilation.
  result<compiled_program> get(source_location where = source_location::current()) {
    constexpr const char* function = "gpu::pending_compilation::get";
    if (work_ == nullptr) {
      return detail::fail(detail::refusal(
          errc::empty_handle, function,
          text(
              "the pending_compilation is empty: it was moved from, or get was called before. Call "
              "get once."),
          where));
    }
    if (!detail::compile_queue().wait(*work_)) {
      return detail::fail(detail::refusal(
          errc::process_forked, function,
          text("the compilation belongs to the parent process of this fork. Compile after the "
               "fork."),
          where));
    }
    auto made = std::move(work_->made);
    drop();
    return made;
  }

 private:
  friend struct detail::pending_compilation_access;

  void drop() noexcept {
    if (work_ == nullptr) return;
    // In a forked child, a compilation that a thread of the parent was working on is not freed.
    if (detail::compile_queue().wait(*work_)) work_->destroy(*work_);
    work_ = nullptr;
  }

  detail::queued_compilation* work_ = nullptr;
};

namespace detail {

struct pending_compilation_access {
  static pending_compilation make(queued_compilation* work) noexcept {
    pending_compilation pending;
    pending.work_ = work;
    return pending;
  }
};

}  // namespace detail

/// Compiles on another thread. There are as many threads as processors, but at most 16:
///
///     gpu::pending_compilation pending = gpu::compile_async(source);
///     ...
///     const gpu::compiled_program compiled = GPU_TRY(pending.get());
///
/// Copies `source` and `options`. The architecture is resolved before this returns: it may be that
/// of this thread's current context.
/// **Errors**: `get` returns all of them. If no thread can be started, this compiles before it
/// returns. A process that exits waits for the programs that NVRTC is compiling, and starts no
/// others.
/// **Cost**: NVRTC 13.0 optimizes and assembles programs in parallel, but parses only one at a
/// time: programs with large headers wait for each other.
template <class Source>
  requires std::is_convertible_v<const Source&, program>
pending_compilation compile_async(const Source& source, const compile_options& options = {},
                                  source_location where = source_location::current()) {
  return detail::pending_compilation_access::make(
      detail::start_compilation(source, options, where));
}

/// Compiles many programs on the threads of `compile_async`, and waits for all. `sources` is a
/// range of programs or strings; the results are in its order.
/// **Errors**: each result is one of `compile`.
template <class Sources>
  requires requires(const Sources& sources) {
    requires std::is_convertible_v<decltype(*sources.begin()), program>;
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

}}  // namespace gpu::v1
