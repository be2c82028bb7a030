#pragma once
/// \file
/// Records the arguments with which one of the driver's functions is called.

#include <gpu/driver/entry_points.hpp>

#include <cstddef>
#include <tuple>
#include <vector>

namespace test {

/// Notes the arguments of each call of one function, such as `&entry_points::event_create`, from
/// construction to destruction. The driver answers the calls; or, with `pass_on` false, success.
template <auto Member> class noted_calls;
template <class... Arguments, CUresult (*gpu::driver::entry_points::*Member)(Arguments...)>
class noted_calls<Member> {
 public:
  explicit noted_calls(bool pass_on = true) : in_force_{prepare(table_, pass_on)} {}
  noted_calls(const noted_calls&) = delete;
  noted_calls& operator=(const noted_calls&) = delete;

  std::size_t count() const { return all.size(); }
  /// An argument of the last call, from 0.
  template <std::size_t Index> auto last() const {
    REQUIRE_FALSE(all.empty());
    return std::get<Index>(all.back());
  }

 private:
  static const gpu::driver::entry_points& prepare(gpu::driver::entry_points& table, bool pass_on) {
    table = gpu::driver::current_entry_points();
    real = pass_on ? table.*Member : nullptr;
    all.clear();
    table.*Member = [](Arguments... arguments) {
      all.emplace_back(arguments...);
      return real == nullptr ? CUDA_SUCCESS : real(arguments...);
    };
    return table;
  }

  inline static CUresult (*real)(Arguments...) = nullptr;
  inline static std::vector<std::tuple<Arguments...>> all;

  gpu::driver::entry_points table_{};
  gpu::driver::scoped_entry_points in_force_;
};

}  // namespace test
