#pragma once
/// \file
/// The table of functions of a library that is opened when it is first needed: one for the process,
/// replaceable as a whole, and independent of the driver's.

#include <gpu/compiler/toolkit_library.hpp>
#include <gpu/core/error_code.hpp>

#include <cstddef>

namespace gpu::detail {

/// The name and position of one function in a table.
struct library_function {
  const char* name;    ///< as in the library's header
  std::size_t offset;  ///< of the member in the table, in bytes
  bool optional = false;
};

/// A library is described by a structure that has
/// - `table`: pointers to its functions, and behind them `unavailable`, an `errc` that says why all
///   of them are null, or 0, and `unavailable_detail`, what the loader said;
/// - `functions`: a `library_function` for each of them, in order;
/// - `files`: the `toolkit_library` to open;
/// - `name` and `wheel`: what people call it, and what pip does;
/// - `absent`, `too_old` and `domain`: its errors;
/// - `find_function(library, name)`: one function of the open library, or null;
/// - `accept(table, log)`: false for a version that will not do, which `log` tells.
template <class Library> struct library_state {
  const typename Library::table* table;  // null until first use
  mutex loading;
  typename Library::table loaded;
  char detail[2048];

  /// What the process has one of.
  static library_state& of_process() noexcept {
    static library_state private_state{};
    static library_state* const state = [] {
      char name[64];
      std::snprintf(name, sizeof name, "gpu-%s-%zu", Library::name, sizeof(library_state));
      void* shared = process_wide_memory(name, sizeof(library_state));
      return shared != nullptr ? static_cast<library_state*>(shared) : &private_state;
    }();
    return *state;
  }
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
  return __atomic_load_n(&library_state<Library>::of_process().table, __ATOMIC_ACQUIRE);
}

/// The table in force; the first call loads the library, where no table was put in its place.
template <class Library> const typename Library::table& library_table() noexcept {
  const auto* table = library_table_in_force<Library>();
  if (table != nullptr) return *table;
  library_state<Library>& state = library_state<Library>::of_process();
  const scoped_lock lock(state.loading);
  table = __atomic_load_n(&state.table, __ATOMIC_ACQUIRE);
  if (table == nullptr) {
    load_library<Library>(state.loaded, state.detail, sizeof state.detail);
    table = &state.loaded;
    __atomic_store_n(&state.table, table, __ATOMIC_RELEASE);
  }
  return *table;
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

}  // namespace gpu::detail
