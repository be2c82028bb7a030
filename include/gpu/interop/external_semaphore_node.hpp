#pragma once
/// \file
/// Nodes that signal external semaphores or wait for them: they order a graph and the work of other
/// interfaces.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/interop/external_semaphore.hpp>
#include <gpu/memory/ranges.hpp>

#include <cuda.h>
#include <concepts>
#include <initializer_list>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

template <class Operation> class semaphore_node {
  static constexpr bool signals = std::same_as<Operation, semaphore_signal>;

 public:
  static constexpr graph_node_kind node_kind = signals ? graph_node_kind::external_semaphores_signal
                                                       : graph_node_kind::external_semaphores_wait;

  semaphore_node(std::initializer_list<Operation> all) : all_(all) { make_native(); }
  /// Takes any other contiguous range of signals or waits.
  template <host_range Operations> explicit semaphore_node(const Operations& all) : all_(all) {
    make_native();
  }

 private:
  void make_native() {
    for (const Operation& each : all_) {
      semaphores_.push_back(each.semaphore.native());
      parameters_.push_back(native_parameters(each));
    }
  }

  friend struct node_access;
  result<> describe(node_parameters& to, context_ref context, source_location where) noexcept {
    constexpr const char* function =
        signals ? "gpu::semaphore_signal_node" : "gpu::semaphore_wait_node";
    GPU_TRY(check_semaphores(function, all_.begin(), all_.size(), context, where));
    if (all_.empty()) {
      return fail(refusal(errc::invalid_argument, function,
                          text("the node has no semaphore. Name at least one."), where));
    }
    const auto fill = [this](auto& native) {
      native.extSemArray = semaphores_.begin();
      native.paramsArray = parameters_.begin();
      native.numExtSems = static_cast<unsigned>(all_.size());
    };
    if constexpr (signals) {
      fill(to.native.extSemSignal);
    } else {
      fill(to.native.extSemWait);
    }
    return {};
  }

  sequence<Operation> all_;
  sequence<CUexternalSemaphore> semaphores_;
  sequence<decltype(native_parameters(std::declval<const Operation&>()))> parameters_;
};

}  // namespace detail

/// Signals semaphores at each launch:
///
///     GPU_TRY(graph.add({}, gpu::semaphore_signal_node{{semaphore, 2}}));
///
/// In an executable graph, the semaphores and values can change, but not their number. They must
/// live as long as the graph and its executable graphs: see `graph::keep`.
/// **Errors**: as `gpu::signal`; `errc::invalid_argument` for a node without semaphores.
using semaphore_signal_node = detail::semaphore_node<semaphore_signal>;

/// Waits for semaphores at each launch, as `semaphore_signal_node` signals them.
/// **Errors**: as `gpu::wait`; `errc::invalid_argument` for a node without semaphores.
using semaphore_wait_node = detail::semaphore_node<semaphore_wait>;

}}  // namespace gpu::v1
