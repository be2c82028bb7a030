#pragma once
/// \file
/// The function table of a library that is opened on first use: one per process, replaceable as a
/// whole, and independent of the driver's.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/system/mutex.hpp>
#include <gpu/system/process_wide.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

/// The name and position of one function in a table.
struct library_function {
  const char* name;    ///< as in the library's header
  std::size_t offset;  ///< of the member in the table, in bytes
  bool optional = false;
};

/// The environment variable by which NVRTC and nvJitLink choose their code generator. NVRTC 13
/// reads it when it is loaded, nvJitLink 13 at each link.
inline constexpr const char* generator_variable = "NV_NVVM_VERSION";

/// The value that an environment variable had when it was noted.
struct noted_variable {
  bool noted;
  bool set;
  char value[62];

  void note(const char* name) noexcept {
    if (noted) return;
    const char* found = environment_variable(name);
    set = found != nullptr;
    if (set) std::snprintf(value, sizeof value, "%s", found);
    noted = true;
  }
};

/// The state of a library, shared by the whole process. `Library` describes the library; it has
/// - `table`: pointers to its functions, followed by `unavailable`, an `errc` that says why all of
///   them are null, or 0, and `unavailable_detail`, the loader's message, or null;
/// - `functions`: a `library_function` for each of them, in order;
/// - `open(looked_in)`: opens the library, or returns null and lists where it looked;
/// - `name`, `wheel` and `part_of`: its name in messages, the name of its Python wheel, and what is
///   installed to have it; `oldest`: the first version that is supported;
/// - `absent`, `too_old` and `domain`: its errors;
/// - `find_function(library, name)`: returns one function of the open library, or null;
/// - `accept(table, reason)`: returns false for a version that is too old, and says which it is.
template <class Library> struct library_state {
  static constexpr const char* name = Library::name;

  const typename Library::table* table;  // null until first use
  mutex loading;
  unsigned users;  // threads that load the library or are in one of its functions
  typename Library::table loaded;
  typename Library::table abandoned;  // in force once the library must not be called anymore
  char detail[2048];
  noted_variable generator;

  static library_state& of_process() noexcept { return process_wide<library_state>::get(); }

  /// Rejects all calls from now on, for this reason, or for the one given before.
  void abandon(errc why) noexcept {
    if (atomic_load<memory_order::seq_cst>(table) == &abandoned) return;  // others may read it
    abandoned.unavailable = why;
    atomic_store<memory_order::seq_cst>(table, &abandoned);
  }

  /// Abandons the library if another thread of the parent was in it: its locks stay locked.
  void after_fork() noexcept {
    if (users == 0) return;
    users = 0;
    loading.reset();
    abandon(errc::process_forked);
  }

  /// Abandons the library before it is torn down, and waits for the other threads that are in it.
  static void abandon_at_exit() noexcept {
    library_state* const state = process_wide<library_state>::if_known();
    if (state == nullptr) return;
    state->abandon(errc::process_exiting);
    while (atomic_load<memory_order::seq_cst>(state->users) > uses_of_thread) ::usleep(200);
  }

  /// Abandons the library when the main thread's objects are destroyed. `exit` does that before it
  /// calls any handler, and a handler of ours would be too late: the library registers its own
  /// while it works, and those are called first.
  struct exit_watch {
    ~exit_watch() { abandon_at_exit(); }

    /// Returns the watch if this is the main thread, or null. The C library allocates memory to
    /// register the destructor and ends the process if that fails. A plugin that is opened late
    /// should not end the process, so if memory is short the exit is not watched.
    static const exit_watch* begin() noexcept {
      if (::syscall(SYS_gettid) != ::getpid()) return nullptr;
      void* volatile enough = std::malloc(4096);  // volatile: or compilers leave both calls out
      std::free(enough);
      return enough != nullptr ? &watch : nullptr;
    }
  };

  inline static thread_local constinit unsigned uses_of_thread = 0;
  inline static thread_local exit_watch watch;
  inline static const exit_watch* const watch_of_main_thread = exit_watch::begin();  // before main
};

/// Counts this thread among those that are in the library, while it lives.
template <class Library> class [[nodiscard]] library_use {
 public:
  library_use() noexcept {
    atomic_fetch_add<memory_order::seq_cst>(state_.users, 1);
    ++library_state<Library>::uses_of_thread;
  }
  library_use(const library_use&) = delete;
  library_use& operator=(const library_use&) = delete;
  ~library_use() {
    --library_state<Library>::uses_of_thread;
    atomic_fetch_sub<memory_order::release>(state_.users, 1);
  }

 private:
  library_state<Library>& state_ = library_state<Library>::of_process();
};

/// Opens the library and fills in `state.loaded`. On failure all its functions are null, and
/// `unavailable` says why.
template <class Library> void load_library(library_state<Library>& state) noexcept {
  typename Library::table& table = state.loaded;
  table = {};
  const auto refuse = [&](errc why, const text& detail) {
    std::snprintf(state.detail, sizeof state.detail, "%s", detail.c_str());
    table = {};
    table.unavailable = why;
    table.unavailable_detail = state.detail;
  };
  text_builder looked_in, reason;
  void* library = Library::open(looked_in);
  if (library == nullptr) return refuse(Library::absent, looked_in.finish());
  const char* missing = nullptr;
  for (const library_function& function : Library::functions) {
    void* found = Library::find_function(library, function.name);
    if (found == nullptr && !function.optional) missing = function.name;
    std::memcpy(reinterpret_cast<char*>(&table) + function.offset, &found, sizeof found);
  }
  if (!Library::accept(table, reason)) return refuse(Library::too_old, reason.finish());
  if (missing == nullptr) return;
  text_builder out;
  out << "the library has no " << missing;
  refuse(Library::too_old, out.finish());
}

/// Returns the table in force, or null before the first use of the library.
template <class Library> const typename Library::table* library_table_in_force() noexcept {
  return atomic_load<memory_order::seq_cst>(library_state<Library>::of_process().table);
}

/// Returns the table in force. The first call loads the library, unless a table was put in force.
template <class Library> const typename Library::table& library_table() noexcept {
  const auto* table = library_table_in_force<Library>();
  if (table != nullptr) return *table;
  using state_type = library_state<Library>;
  state_type& state = state_type::of_process();
  const library_use<Library> use;
  const scoped_lock lock(state.loading);
  table = library_table_in_force<Library>();
  if (table != nullptr) return *table;
  state.generator.note(generator_variable);
  load_library(state);
  // For an exit in another thread than the main one. Registered after the library's own handlers,
  // and hence called before them.
  on_process_exit(&state_type::abandon_at_exit);
  static_cast<void>(state_type::watch_of_main_thread);  // instantiates it
  // Fails if the process is exiting, or if a table was put in force meanwhile.
  const bool first = atomic_compare_exchange_strong<memory_order::seq_cst, memory_order::seq_cst>(
      state.table, table, &state.loaded);
  return first ? state.loaded : *table;
}

/// Puts `table` in force and returns the previous one.
template <class Library>
const typename Library::table* use_library_table(const typename Library::table* table) noexcept {
  return atomic_exchange<memory_order::acq_rel>(library_state<Library>::of_process().table, table);
}

/// Puts a table in force for a scope, for the whole process: for tests.
template <class Library> class [[nodiscard]] scoped_library_table {
 public:
  explicit scoped_library_table(const typename Library::table& table) noexcept
      : before_{use_library_table<Library>(&table)} {}
  scoped_library_table(const scoped_library_table&) = delete;
  scoped_library_table& operator=(const scoped_library_table&) = delete;
  ~scoped_library_table() { use_library_table<Library>(before_); }

 private:
  const typename Library::table* before_;
};

}}}  // namespace gpu::v1::detail
