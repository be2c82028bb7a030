#pragma once
/// \file
/// A call of the program's code by the driver: the callable with the place it came from, and what
/// contains its failures; and how a graph keeps an object alive.

#include <gpu/driver/calls.hpp>

#include <new>  // also std::exception, for less than <exception> costs

namespace gpu::detail {

/// A callable that the driver calls through a pointer. `Function` takes nothing.
template <class Function> struct host_call {
  Function function;
  source_location where;

  /// Calls the function. What it throws, and the error of a result that it returns, goes to the
  /// error reporter: nobody else is there to receive it.
  void run() noexcept {
#if defined(__cpp_exceptions)
    try {
      call();
    } catch (const std::exception& thrown) {
      report(failure(thrown.what()));
    } catch (...) {
      report(failure("an object that is no std::exception"));
    }
#else
    call();
#endif
  }

  // As CUhostFn.
  static void CUDA_CB run_at(void* self) noexcept { static_cast<host_call*>(self)->run(); }
  static void CUDA_CB destroy_at(void* self) noexcept { delete static_cast<host_call*>(self); }

 private:
  void call() {
    if constexpr (requires { function().error(); }) {
      auto outcome = function();
      if (!outcome.has_value()) report(detail::move(outcome).error());
    } else {
      function();
    }
  }
  cuda_error failure(const char* what) noexcept {
    text_builder out;
    out << "the host function threw: " << what << ". Catch exceptions inside it.";
    return refusal(errc::callback_threw, "gpu::launch_host_function", out.finish(), where);
  }
};

inline cuda_error no_room_error(const char* function, std::size_t bytes,
                                source_location where) noexcept {
  text_builder out;
  out << "the host had no " << bytes << " bytes left for an object to keep. Free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, bytes);
}

/// Moves `value` to the heap; null where there is no room.
template <class T> T* new_from(T&& value) noexcept {
  return new (std::nothrow) T(static_cast<T&&>(value));
}

/// Gives an object to a graph, which has it destroyed when neither the graph nor what was made from
/// it needs it any more. Where that fails the object is destroyed at once.
/// (cuUserObjectCreate, cuGraphRetainUserObject)
template <class Builder = text_builder>
result<> keep_in_graph(CUgraph graph, void* object, CUhostFn destroy,
                       source_location where) noexcept {
  CUuserObject kept = nullptr;
  result<> made = driver::call<&driver::entry_points::user_object_create>(
      where, &kept, object, destroy, 1u, unsigned{CU_USER_OBJECT_NO_DESTRUCTOR_SYNC});
  if (!made.has_value()) {
    destroy(object);
    return made;
  }
  result<> retained = driver::call<&driver::entry_points::graph_retain_user_object>(
      where, graph, kept, 1u, unsigned{CU_GRAPH_USER_OBJECT_MOVE});
  if (!retained.has_value()) driver::destroy<&driver::entry_points::user_object_release>(kept, 1u);
  return retained;
}

}  // namespace gpu::detail
