#pragma once
/// \file
/// What the process has one of: the driver table in force, the record of launches, and the hook for
/// errors that no caller can receive.

#include <gpu/core/error.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/system/operating_system.hpp>

namespace gpu::inline v0 {

/// Receives errors that arise where none can be returned: in destructors.
/// **Threads**: called in the thread that destroys; must not throw.
using error_reporter = void (*)(const cuda_error& error);

namespace detail {

struct open_capture;
struct shared_object;
struct shared_event;

/// A kernel that a module has handed out, and what keeps it loaded: see
/// kernel/detail/shared_object.hpp.
struct live_kernel {
  CUkernel native;
  shared_object* code;
  live_kernel* next;
};

/// What modules, programs and graphs share.
struct live_objects {
  mutex lock;
  live_kernel* kernels[64];  // of lists, by the handle
  shared_event* events;      // a list of those that graphs have in nodes
  shared_object* unwanted;   // a list of what nobody needs, to be ended
  open_capture* captures;    // a list of those going on, for whose graphs it has to wait
};

/// What a driver call looks at. Until the state of the process is found, and in it until a table is
/// in force, this is a table of null pointers: so a call asks for its function alone.
struct process_front {
  const driver::entry_points* table;
  struct process_state* state;  // what this is the front of, once it is found
};

struct process_state : process_front {
  // cuLaunchKernel of the table, or a function that refuses, and null only before the first table:
  // so a launch need not ask.
  decltype(&::cuLaunchKernel) launch_kernel;
  std::uint64_t generation;      // of the table: grows when it is replaced
  std::int64_t own_contexts;     // how many there are that are not primary
  error_reporter reporter;       // null: print to stderr
  bool (*leave_event)(CUevent);  // to graphs that need it; null while none does
  mutex loading;
  bool is_loading;                // by a thread that has the lock
  driver::entry_points unloaded;  // in force before the first use
  driver::entry_points loaded;
  driver::entry_points forked;
  driver::entry_points exiting;
  bool hooks_set;
  char detail[256];
  live_objects objects;
  launch_ring launches;
};

template <class State> State* find_process_state() noexcept {
  static State private_state;  // without braces: they would name a thousand zeros
  State* const shared = process_wide_state<State>("driver");
  State* const found = shared != nullptr ? shared : &private_state;
  std::uint64_t untouched = 0;
  __atomic_compare_exchange_n(&found->launches.next, &untouched, std::uint64_t{1}, false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  const driver::entry_points* none = nullptr;
  __atomic_compare_exchange_n(&found->table, &none, &found->unloaded, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  __atomic_store_n(&found->state, found, __ATOMIC_RELEASE);
  return found;
}

inline constinit process_front unknown_process{&driver::detail::null_entry_points, nullptr};

/// Beside the variable that guards itself, whose test is longer.
inline constinit process_front* known_process = &unknown_process;

template <class State> void leave_driver_to_parent() noexcept;

/// No thread waits for another here, for a forked child has none that could go on.
template <class State> [[gnu::cold, gnu::noinline]] State* process_state_on_first_use() noexcept {
  State* const state = find_process_state<State>();
  pin_library_of(&leave_driver_to_parent<State>);
  on_fork_in_child(&leave_driver_to_parent<State>);
  process_front* known = &unknown_process;
  __atomic_compare_exchange_n(&known_process, &known, state, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  process_front* const front = __atomic_load_n(&known_process, __ATOMIC_ACQUIRE);
  return front->state;
}

/// The state of the process; the same object in all its shared libraries.
template <class State = process_state>
[[gnu::always_inline]] inline State& state_of_process() noexcept {
  process_front* const known = __atomic_load_n(&known_process, __ATOMIC_ACQUIRE);
  State* state = known->state;
  if (state == nullptr) [[unlikely]]
    state = process_state_on_first_use<State>();
  return *state;
}

/// Stands in where a table has no cuLaunchKernel; who launches then asks the table why.
inline CUresult refuse_launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned, CUstream, void**, void**) noexcept {
  return CUDA_ERROR_NOT_INITIALIZED;
}

/// Returns the table before. Null stands for none.
template <class State>
const driver::entry_points* put_in_force(State& state, const driver::entry_points* table) noexcept {
  const bool launches = table != nullptr && table->launch_kernel != nullptr;
  __atomic_store_n(&state.launch_kernel, launches ? table->launch_kernel : &refuse_launch,
                   __ATOMIC_RELEASE);
  const driver::entry_points* before = __atomic_exchange_n(
      &state.table, table != nullptr ? table : &state.unloaded, __ATOMIC_ACQ_REL);
  return before != &state.unloaded ? before : nullptr;
}

/// Where the parent had no driver that could be used, the child has none for the same reason; where
/// it had not looked for one, the child may.
template <class State> void leave_driver_to_parent() noexcept {
  process_front* const front = __atomic_load_n(&known_process, __ATOMIC_ACQUIRE);
  State* const state = front->state;
  if (state == nullptr) return;
  state->objects = {};  // another thread of the parent may have been at it
  state->loading = {};
  const driver::entry_points* table = __atomic_load_n(&state->table, __ATOMIC_ACQUIRE);
  if (table == &state->unloaded && !state->is_loading) return;
  if (table->unavailable != errc{} || table->start_failure != CUDA_SUCCESS) return;
  state->forked.unavailable = errc::process_forked;
  put_in_force(*state, &state->forked);
}

template <class State> void leave_driver_alone() noexcept {
  State& state = state_of_process<State>();
  state.exiting.unavailable = errc::process_exiting;
  put_in_force(state, &state.exiting);
}

/// Registered when the first table comes into force, after libcuda registered its own exit
/// handlers, and hence run before them.
template <class State> void set_process_hooks(State& state) noexcept {
  if (state.hooks_set) return;
  state.hooks_set = true;
  on_process_exit(&leave_driver_alone<State>);
}

/// Opens libcuda.so.1 and fills `table`; on failure all members are null, and `unavailable` or
/// `start_failure` says why.
template <class Table>
void load_entry_points(Table& table, char* detail, std::size_t size) noexcept {
  const auto refuse = [&](errc why) {
    table = {};
    table.unavailable = why;
    table.unavailable_detail = detail;
  };
  const auto refuse_without = [&](const char* function) {
    format_into(detail, size, "it has no %s", function);
    refuse(errc::no_driver);
  };
  void* library = open_library("libcuda.so.1");
  if (library == nullptr) {
    format_into(detail, size, "%s", open_library_failure());
    return refuse(errc::no_driver);
  }
  const auto version_of =
      find_symbol<decltype(&::cuDriverGetVersion)>(library, "cuDriverGetVersion");
  const auto resolve = find_symbol<decltype(&::cuGetProcAddress)>(library, "cuGetProcAddress_v2");
  if (version_of == nullptr) return refuse_without("cuDriverGetVersion");
  int version = 0;
  if (const CUresult code = version_of(&version); code != CUDA_SUCCESS) {  // a stub's
    refuse(errc{});
    table.start_failure = code;
    table.unavailable_detail = "cuDriverGetVersion";
    return;
  }
  if (version < 12000) {
    format_into(detail, size, "this driver supports CUDA %d.%d", version / 1000,
                version % 1000 / 10);
    return refuse(errc::driver_too_old);
  }
  if (resolve == nullptr) return refuse_without("cuGetProcAddress_v2");
  for (std::size_t i = 0; i < driver::entry_point_count; ++i) {
    const driver::entry_point_info entry = driver::entry_point_list[i];
    void* function = nullptr;
    CUdriverProcAddressQueryResult found{};
    const CUresult code =
        resolve(entry.name, &function, entry.version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
    if (code != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS) function = nullptr;
    __builtin_memcpy(reinterpret_cast<char*>(&table) + entry.offset, &function, sizeof function);
  }
  if (table.init == nullptr) refuse_without("cuInit");
}

/// Calls cuInit. What it says is kept, for the driver's other calls would answer
/// CUDA_ERROR_NOT_INITIALIZED, whatever the reason.
template <class Table> void start_driver(Table& table) noexcept {
  if (table.init == nullptr) return;
  const CUresult code = table.init(0);
  if (code == CUDA_SUCCESS) return;
  const auto version_of = table.driver_get_version;
  table = {};
  table.driver_get_version = version_of;
  table.start_failure = code;
  table.unavailable_detail = "cuInit";
}

/// The table in force, which is loaded where there is none yet.
template <class Table = driver::entry_points>
[[gnu::cold, gnu::noinline]] const Table& entry_points_on_first_use() noexcept {
  process_state& state = state_of_process();
  const Table* table = __atomic_load_n(&state.table, __ATOMIC_ACQUIRE);
  if (table != &state.unloaded) return *table;
  const scoped_lock lock(state.loading);
  table = __atomic_load_n(&state.table, __ATOMIC_ACQUIRE);
  if (table == &state.unloaded) {
    state.is_loading = true;
    load_entry_points(state.loaded, state.detail, sizeof state.detail);
    start_driver(state.loaded);
    state.is_loading = false;
    set_process_hooks(state);
    table = &state.loaded;
    put_in_force(state, table);
  }
  return *table;
}

/// Tells the reporter about an error that arose in a destructor.
template <class Builder = text_builder> void report(const cuda_error& error) noexcept {
  if (error_reporter reporter = __atomic_load_n(&state_of_process().reporter, __ATOMIC_ACQUIRE)) {
    reporter(error);
  } else {
    Builder line;
    line << "gpu: " << error.template message<Builder>() << '\n';
    const text whole = line.finish();
    write_to_stderr(whole.data(), whole.size());
  }
}

}  // namespace detail

/// Sets who hears of errors in destructors, for the whole process; null prints them to stderr, as
/// it is at the start. Returns the one before. **Threads**: may be called at any time.
template <class Reporter = error_reporter>
Reporter set_error_reporter(error_reporter reporter) noexcept {
  return __atomic_exchange_n(&detail::state_of_process().reporter, reporter, __ATOMIC_ACQ_REL);
}

namespace driver {

/// The table in force; the first call loads the driver, where no table was put in its place.
/// Never fails: without a driver all members are null, and `unavailable` or `start_failure` says
/// why.
/// **Threads**: any number may call it at once; the driver is loaded once.
template <class Table = entry_points> inline const Table& current_entry_points() noexcept {
  return gpu::detail::entry_points_on_first_use<Table>();
}

/// Tells tables apart that follow each other, even at one address. What the library remembers about
/// a driver it keeps with this number.
template <class Number = std::uint64_t> inline Number entry_points_generation() noexcept {
  return __atomic_load_n(&gpu::detail::state_of_process().generation, __ATOMIC_ACQUIRE);
}

/// Puts `table` in force for the whole process, from now to its end; returns the one before, or
/// null where the driver had not been used yet. `table` has to outlive all use and stay as it is;
/// null goes back to loading libcuda on the next call. Objects of the old table must not be used or
/// destroyed under the new one, unless it passes their calls on.
template <class Table = entry_points>
const Table* use_entry_points(const entry_points* table) noexcept {
  auto& state = gpu::detail::state_of_process();
  const gpu::detail::scoped_lock lock(state.loading);
  gpu::detail::set_process_hooks(state);
  const Table* before = gpu::detail::put_in_force(state, table);
  __atomic_add_fetch(&state.generation, 1u, __ATOMIC_ACQ_REL);
  return before;
}

namespace detail {

template <class Table> class [[nodiscard]] scoped_table {
 public:
  explicit scoped_table(const Table& table) noexcept : before_{use_entry_points(&table)} {}
  scoped_table(const scoped_table&) = delete;
  scoped_table& operator=(const scoped_table&) = delete;
  ~scoped_table() { use_entry_points(before_); }

 private:
  const Table* before_;
};

}  // namespace detail

/// Puts a table in force for a scope, for the whole process: for tests.
using scoped_entry_points = detail::scoped_table<entry_points>;

}  // namespace driver
}  // namespace gpu::inline v0
