#pragma once
/// \file
/// Devices that cannot do something, for what the library says then.

#include "support/drivers.hpp"

#include <gpu/driver/entry_points.hpp>

namespace test {

/// The driver in force, on whose devices an attribute is 0, from construction to destruction.
class lacking_device {
 public:
  explicit lacking_device(CUdevice_attribute missing)
      : table_{prepare(missing)}, in_force_{table_} {}

 private:
  inline static CUdevice_attribute missing_;
  inline static decltype(gpu::driver::entry_points::device_get_attribute) real_;

  static gpu::driver::entry_points prepare(CUdevice_attribute missing) {
    missing_ = missing;
    real_ = driver().device_get_attribute;
    gpu::driver::entry_points table = driver();
    table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice on) {
      const CUresult code = real_(value, which, on);
      if (which == missing_) *value = 0;
      return code;
    };
    return table;
  }

  gpu::driver::entry_points table_;
  gpu::driver::scoped_entry_points in_force_;
};

}  // namespace test
