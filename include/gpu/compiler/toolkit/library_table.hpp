#pragma once
/// \file
/// The table of functions of a library that is opened when it is first needed: one for the process,
/// replaceable as a whole, and independent of the driver's.

#include <gpu/compiler/toolkit/toolkit_library.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/system/process_wide.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace gpu::inline v0::detail {

/// The name and position of one function in a table.
struct library_function {
  const char* name;    ///< as in the library's header
  std::size_t offset;  ///< of the member in the table, in bytes
  bool optional = false;
};

/// The variable by which NVRTC and nvJitLink choose what generates code. NVRTC 13 reads it when it
/// is loaded, nvJitLink 13 at each link.
inline constexpr const char* generator_variable = "NV_NVVM_VERSION";

/// A variable of the environment as it was once.
struct noted_variable {
  bool noted;  // false: not yet
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

/// A library is described by a structure that has
/// - `table`: pointers to its functions, and behind them `unavailable`, an `errc` that says why all
///   of them are null, or 0, and `unavailable_detail`, what the loader said, or null;
/// - `functions`: a `library_function` for each of them, in order;
/// - `files`: the `toolkit_library` to open;
/// - `name` and `wheel`: what people call it, and what pip does;
/// - `absent`, `too_old` and `domain`: its errors;
/// - `find_function(library, name)`: one function of the open library, or null;
/// - `accept(table, log)`: false for a version that will not do, which `log` tells.
template <class Library> struct library_state {
  static constexpr const char* name = Library::name;

  const typename Library::table* table;  // null until first use
  mutex loading;
  unsigned users;  // threads that load the library or are in one of its functions
  typename Library::table loaded;
  typename Library::table abandoned;  // in force once the library has to be left alone
  char detail[2048];
  noted_variable generator;

  static library_state& of_process() noexcept { return process_wide<library_state>::get(); }

  /// Has all calls refused from now on, for this reason.
  void abandon(errc why) noexcept {
    abandoned.unavailable = why;
    __atomic_store_n(&table, &abandoned, __ATOMIC_SEQ_CST);
  }

  /// Abandons the library if another thread of the parent was in it: its locks stay locked.
  void after_fork() noexcept {
    if (users == 0) return;
    users = 0;
    loading = {};
    abandon(errc::process_forked);
  }

  /// Abandons the library before it is torn down, and waits for the other threads that are in it.
  static void abandon_at_exit() noexcept {
    library_state* const state = process_wide<library_state>::if_known();
    if (state == nullptr) return;
    state->abandon(errc::process_exiting);
    while (__atomic_load_n(&state->users, __ATOMIC_SEQ_CST) > uses_of_thread) ::usleep(200);
  }

  /// `exit` destroys the objects of its thread before it calls any handler. A library registers
  /// handlers while it works, too, and those would be called before a handler of ours.
  struct exit_watch {
    ~exit_watch() {
      if (::syscall(SYS_gettid) == ::getpid()) abandon_at_exit();  // the main thread
    }
  };

  inline static thread_local constinit unsigned uses_of_thread = 0;
  inline static thread_local exit_watch watch;
  inline static const exit_watch* const watch_of_main_thread = &watch;  // made before main
};

/// Counts this thread among those that are in the library, while it lives.
template <class Library> class [[nodiscard]] library_use {
 public:
  library_use() noexcept {
    __atomic_add_fetch(&state_.users, 1u, __ATOMIC_SEQ_CST);
    ++library_state<Library>::uses_of_thread;
  }
  library_use(const library_use&) = delete;
  library_use& operator=(const library_use&) = delete;
  ~library_use() {
    --library_state<Library>::uses_of_thread;
    __atomic_sub_fetch(&state_.users, 1u, __ATOMIC_RELEASE);
  }

 private:
  library_state<Library>& state_ = library_state<Library>::of_process();
};

/// Opens the library and fills `table`; on failure all functions are null, and `unavailable` says
/// why.
template <class Library>
void load_library(typename Library::table& table, char* detail, std::size_t size) noexcept {
  table = {};
  message_buffer log{detail, size};
  const auto refuse = [&](errc why) {
    table = {};
    table.unavailable = why;
    table.unavailable_detail = detail;
  };
  void* library = open_toolkit_library(Library::files, log);
  if (library == nullptr) return refuse(Library::absent);
  const char* missing = nullptr;
  for (const library_function& function : Library::functions) {
    void* found = Library::find_function(library, function.name);
    if (found == nullptr && !function.optional) missing = function.name;
    std::memcpy(reinterpret_cast<char*>(&table) + function.offset, &found, sizeof found);
  }
  log.clear();
  if (!Library::accept(table, log)) return refuse(Library::too_old);
  if (missing == nullptr) return;
  log.add("the library has no %s", missing);
  refuse(Library::too_old);
}

/// The table in force, or null before the first use of the library.
template <class Library> const typename Library::table* library_table_in_force() noexcept {
  return __atomic_load_n(&library_state<Library>::of_process().table, __ATOMIC_SEQ_CST);
}

/// The table in force; the first call loads the library, where no table was put in its place.
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
  load_library<Library>(state.loaded, state.detail, sizeof state.detail);
  // For an exit in another thread than the main one. Registered after the library's own handlers,
  // and hence called before them.
  on_process_exit(&state_type::abandon_at_exit);
  static_cast<void>(state_type::watch_of_main_thread);
  // Unless the process ends, or a table was put in its place.
  const bool first = __atomic_compare_exchange_n(&state.table, &table, &state.loaded, false,
                                                 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return first ? state.loaded : *table;
}

/// Puts `table` in force and returns the one before.
template <class Library>
const typename Library::table* use_library_table(const typename Library::table* table) noexcept {
  return __atomic_exchange_n(&library_state<Library>::of_process().table, table, __ATOMIC_ACQ_REL);
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

}  // namespace gpu::inline v0::detail
