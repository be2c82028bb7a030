#pragma once
/// \file
/// The collections of kernels' costs that are under way on a driver.

#include <nogpu/machine/cost_table.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// **Threads**: any member may be called from any thread.
class cost_collections {
 public:
  using table_ptr = std::shared_ptr<machine::cost_table>;

  machine::cost_table& begin() {
    auto table = std::make_shared<machine::cost_table>();
    const std::lock_guard lock(mutex_);
    return *under_way_.emplace_back(std::move(table));
  }
  void end(const machine::cost_table& table) {
    const std::lock_guard lock(mutex_);
    std::erase_if(under_way_, [&](const table_ptr& each) { return each.get() == &table; });
  }
  std::vector<table_ptr> under_way() const {
    const std::lock_guard lock(mutex_);
    return under_way_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<table_ptr> under_way_;
};

/// Adds what one table has to another.
inline void add_costs(const machine::cost_table& from, machine::cost_table& to) {
  for (const kernel_costs& kernel : from.report().kernels) {
    for (std::uint64_t i = 0; i < kernel.launches; ++i) to.add_launch(kernel.name);
    for (const line_costs& line : kernel.lines) to.add(kernel.name, line);
  }
}

}}}  // namespace nogpu::v1::driver
