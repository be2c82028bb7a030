#pragma once
/// \file
/// The functions of NCCL, opened on first use.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

struct nccl_library;

/// ncclUniqueId. A type of the standard, so that functions that stand in for NCCL's in tests are
/// declared alike.
using nccl_unique_id = std::array<char, 128>;

/// ncclConfig_t, as it was in NCCL 2.14: later versions have more members, and take this one.
struct nccl_configuration {
  std::size_t bytes = sizeof(nccl_configuration);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

/// Pointers to functions of NCCL; all null without it. Communicators and streams are pointers, and
/// enumerators of the library are written as their values.
struct nccl_functions {
  using library = nccl_library;

  int (*get_version)(int* version);
  int (*get_unique_id)(nccl_unique_id* id);
  int (*init_rank)(void** communicator, int ranks, nccl_unique_id id, int rank,
                   void* configuration);
  int (*finalize)(void* communicator);
  int (*destroy)(void* communicator);
  int (*abort)(void* communicator);
  int (*get_async_error)(void* communicator, int* code);
  const char* (*get_last_error)(void* communicator);
  int (*group_start)();
  int (*group_end)();
  int (*all_reduce)(const void* in, void* out, std::size_t count, int type, int operation,
                    void* communicator, void* stream);
  int (*broadcast)(const void* in, void* out, std::size_t count, int type, int root,
                   void* communicator, void* stream);
  int (*reduce)(const void* in, void* out, std::size_t count, int type, int operation, int root,
                void* communicator, void* stream);
  int (*all_gather)(const void* in, void* out, std::size_t count_in, int type, void* communicator,
                    void* stream);
  int (*reduce_scatter)(const void* in, void* out, std::size_t count_out, int type, int operation,
                        void* communicator, void* stream);
  int (*send)(const void* in, std::size_t count, int type, int peer, void* communicator,
              void* stream);
  int (*receive)(void* out, std::size_t count, int type, int peer, void* communicator,
                 void* stream);

  errc unavailable;  ///< why all members are null, or 0
  const char* unavailable_detail;
};

struct nccl_library : run_time_library<nccl_library> {
  using table = nccl_functions;
  static constexpr library_function functions[] = {
      {"ncclGetVersion", offsetof(table, get_version)},
      {"ncclGetUniqueId", offsetof(table, get_unique_id)},
      {"ncclCommInitRankConfig", offsetof(table, init_rank)},
      {"ncclCommFinalize", offsetof(table, finalize)},
      {"ncclCommDestroy", offsetof(table, destroy)},
      {"ncclCommAbort", offsetof(table, abort)},
      {"ncclCommGetAsyncError", offsetof(table, get_async_error)},
      {"ncclGetLastError", offsetof(table, get_last_error)},
      {"ncclGroupStart", offsetof(table, group_start)},
      {"ncclGroupEnd", offsetof(table, group_end)},
      {"ncclAllReduce", offsetof(table, all_reduce)},
      {"ncclBroadcast", offsetof(table, broadcast)},
      {"ncclReduce", offsetof(table, reduce)},
      {"ncclAllGather", offsetof(table, all_gather)},
      {"ncclReduceScatter", offsetof(table, reduce_scatter)},
      {"ncclSend", offsetof(table, send)},
      {"ncclRecv", offsetof(table, receive)},
  };
  static constexpr const char* name = "NCCL";
  static constexpr const char* wheel = "nvidia-nccl-cu13";
  static constexpr const char* part_of = "NCCL library";
  static constexpr const char* oldest = "2.14";
  static constexpr error_domain domain = error_domain::nccl;
  static constexpr toolkit_library files{
      "GPU_NCCL", {"libnccl.so.2", "libnccl.so", "libnccl.so.2*"}, "nvidia/nccl/lib"};

  static bool accept(const table& found, text_builder& reason) noexcept {
    int version = 0;
    if (found.get_version == nullptr || found.get_version(&version) != 0) return true;
    if (version >= 21400) return true;
    reason << "this is NCCL " << version;
    return false;
  }
};

/// Returns the name of the function that a member of the table points to.
template <auto Member> const char* nccl_name() noexcept { return library_function_name<Member>(); }

/// Returns the error of a call, with what NCCL says of it.
inline cuda_error nccl_error(int code, const char* call, void* communicator,
                             source_location where) noexcept {
  const library_use<nccl_library> use;
  const auto get_last_error = library_table<nccl_library>().get_last_error;
  const char* said = get_last_error != nullptr ? get_last_error(communicator) : nullptr;
  text words;
  if (said != nullptr && *said != '\0') words = text(said);
  return record_error(
      cuda_error(error_domain::nccl, code, call, where).with_details(std::move(words)));
}

/// Calls a function of NCCL, and returns its code.
/// **Errors**: the reason why the function is missing.
template <auto Member, class... Arguments>
result<int> call_nccl(source_location where, Arguments... arguments) noexcept {
  const library_use<nccl_library> use;
  const auto function = library_table<nccl_library>().*Member;
  if (function == nullptr) return fail(library_error<nccl_library>(nccl_name<Member>(), where));
  return function(arguments...);
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

}}}  // namespace gpu::v1::detail
