#pragma once
/// \file
/// Calls of the program's functions by the driver, which catch exceptions and remember the source
/// location; and objects that a graph keeps alive.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/error_reporter.hpp>

#include <cstddef>
#include <exception>
#include <new>  // also std::exception, for less than <exception> costs
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Words for an error about a callable that threw: what it did, and what to do.
struct thrown_by {
  const char* deed;
  const char* cure;
};
inline constexpr thrown_by the_call{"the host function", "Catch exceptions inside it."};
inline constexpr thrown_by its_copy{"copying the host function", "Move it in instead."};

inline cuda_error callback_error(const char* function, const thrown_by& by, const char* what,
                                 source_location where) noexcept {
  text_builder out;
  out << by.deed << " threw: " << what << ". " << by.cure;
  return refusal(errc::callback_threw, function, out.finish(), where);
}

/// Calls `work()` in a thread of the driver's. Exceptions and errors of the result that it returns
/// go to the error reporter, because no caller could receive them.
template <class Work>
void run_contained(Work work, const char* function, source_location where) noexcept {
  const auto run = [&] {
    if constexpr (requires { work().error(); }) {
      auto outcome = work();
      if (!outcome.has_value()) report(std::move(outcome).error());
    } else {
      work();
    }
  };
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (const std::exception& thrown) {
    report(callback_error(function, the_call, thrown.what(), where));
  } catch (...) {
    report(callback_error(function, the_call, "an object that is not a std::exception", where));
  }
#else
  (void)function;
  (void)where;
  run();
#endif
}

/// A callable that the driver calls through a pointer. `Function` takes nothing.
template <class Function> struct host_call {
  static_assert(noexcept(std::declval<Function&>().~Function()),
                "gpu: the destructor of a host function may throw, in a thread of the driver's, "
                "where nothing could catch it; make it noexcept");
  Function function;
  const char* given_to;  ///< the function of `gpu` that the program gave it to
  source_location where;

  void run() noexcept {
    run_contained([this]() -> decltype(auto) { return function(); }, given_to, where);
  }

  // As CUhostFn.
  static void CUDA_CB run_at(void* self) noexcept { static_cast<host_call*>(self)->run(); }
  static void CUDA_CB destroy_at(void* self) noexcept { delete static_cast<host_call*>(self); }
};

inline cuda_error no_room_error(const char* function, std::size_t bytes,
                                source_location where) noexcept {
  text_builder out;
  out << "the host had no " << bytes << " bytes left for an object to keep. Free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, bytes);
}

/// Sets `made` to a call of `function`, which is copied or moved to the heap.
template <class Call, class Function>
result<> make_host_call(Call*& made, Function&& function, const char* given_to,
                        source_location where) noexcept {
#if defined(__cpp_exceptions)
  try {
    made = new (std::nothrow) Call{static_cast<Function&&>(function), given_to, where};
  } catch (const std::bad_alloc&) {
    made = nullptr;
  } catch (const std::exception& thrown) {
    return fail(callback_error(given_to, its_copy, thrown.what(), where));
  } catch (...) {
    return fail(
        callback_error(given_to, its_copy, "an object that is not a std::exception", where));
  }
#else
  made = new (std::nothrow) Call{static_cast<Function&&>(function), given_to, where};
#endif
  if (made == nullptr) return fail(no_room_error(given_to, sizeof(Call), where));
  return {};
}

/// Gives an object to a graph. The driver destroys it when neither the graph nor anything made from
/// it needs it any more. If the call fails, the object is destroyed at once. (cuUserObjectCreate,
/// cuGraphRetainUserObject)
inline result<> keep_in_graph(CUgraph graph, void* object, CUhostFn destroy,
                              source_location where) noexcept {
  CUuserObject kept = nullptr;
  result<> made = driver::call<&driver::entry_points::user_object_create>(
      where, &kept, object, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (!made.has_value()) {
    destroy(object);
    return made;
  }
  result<> retained = driver::call<&driver::entry_points::graph_retain_user_object>(
      where, graph, kept, 1, CU_GRAPH_USER_OBJECT_MOVE);
  if (!retained.has_value()) driver::destroy<&driver::entry_points::user_object_release>(kept, 1);
  return retained;
}

}}}  // namespace gpu::v1::detail
