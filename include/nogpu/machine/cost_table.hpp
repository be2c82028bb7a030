// Costs of kernels by line, as they are collected from several threads and launches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include <nogpu/kernel_costs.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// **Threads**: any member may be called from any thread.
class cost_table {
 public:
  cost_table() = default;
  cost_table(const cost_table&) = delete;
  cost_table& operator=(const cost_table&) = delete;

  void add_launch(const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    ++kernels_[kernel].launches;
  }
  void add(const std::string& kernel, const line_costs& line) {
    const std::lock_guard lock(mutex_);
    kernels_[kernel].lines[{line.file, line.line, line.instruction}] += line.counts;
  }

  /// Returns everything so far, in the order of a report.
  cost_report report() const {
    cost_report out;
    const std::lock_guard lock(mutex_);
    for (const auto& [name, found] : kernels_) {
      kernel_costs& kernel = out.kernels.emplace_back();
      kernel.name = name;
      kernel.launches = found.launches;
      for (const auto& [place, counts] : found.lines)
        kernel.lines.push_back(
            {std::get<0>(place), std::get<1>(place), std::get<2>(place), counts});
      std::stable_sort(kernel.lines.begin(), kernel.lines.end(),
                       [](const line_costs& a, const line_costs& b) {
                         return a.counts.cost() > b.counts.cost();
                       });
    }
    std::stable_sort(out.kernels.begin(), out.kernels.end(),
                     [](const kernel_costs& a, const kernel_costs& b) {
                       return a.total().cost() > b.total().cost();
                     });
    return out;
  }

 private:
  using line_place = std::tuple<std::string, unsigned, std::string>;  // file, line, instruction
  struct kernel_counts {
    std::uint64_t launches = 0;
    std::map<line_place, cost_counts> lines;
  };

  mutable std::mutex mutex_;
  std::map<std::string, kernel_counts> kernels_;
};

}}}  // namespace nogpu::v1::machine
