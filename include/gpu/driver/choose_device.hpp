#pragma once
/// \file
/// Finds a device by requirements, by UUID, by environment variables, or by a file of the user.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/system/read_file.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// The least that a chosen device has. A member that is left out requires nothing.
struct device_requirements {
  gpu::compute_capability compute_capability = {};  ///< at least
  std::size_t total_memory = 0;                     ///< at least, in bytes
  std::size_t shared_memory_per_block = 0;  ///< at least, in bytes, for a kernel that opts in
  int multiprocessors = 0;                  ///< at least
  bool memory_pools = false;
  bool managed_memory = false;  ///< usable by host and device at the same time
  bool cooperative_launch = false;
  bool cluster_launch = false;
};

namespace detail {

/// Sets `value` to a figure of a device.
template <class Number>
result<> read_figure(device of, CUdevice_attribute which, Number& value,
                     source_location where) noexcept {
  int answer = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(where, &answer, which,
                                                                    of.native()));
  value = answer < 0 ? Number{} : static_cast<Number>(answer);
  return {};
}

/// Sets `meets` to whether a device meets the requirements, and adds to `lacking` what it lacks.
inline result<> check_device(const device_requirements& wanted, device candidate, bool& meets,
                             text_builder& lacking, source_location where) noexcept {
  meets = true;
  const auto at_least = [&](const char* what, std::size_t has, std::size_t wants,
                            const char* unit) {
    if (has >= wants) return;
    meets = false;
    lacking << ", " << what << ' ' << has << unit << " of " << wants;
  };
  compute_capability has;
  std::size_t memory = 0, shared = 0, multiprocessors = 0;
  GPU_TRY(read_figure(candidate, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, has.major, where));
  GPU_TRY(read_figure(candidate, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, has.minor, where));
  GPU_TRY(
      read_figure(candidate, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, shared, where));
  GPU_TRY(read_figure(candidate, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, multiprocessors, where));
  GPU_TRY(
      driver::call<&driver::entry_points::device_total_mem>(where, &memory, candidate.native()));
  if (has < wanted.compute_capability) {
    meets = false;
    lacking << ", compute capability " << has.major << '.' << has.minor << " of "
            << wanted.compute_capability.major << '.' << wanted.compute_capability.minor;
  }
  at_least("memory", memory, wanted.total_memory, " bytes");
  at_least("shared memory per block", shared, wanted.shared_memory_per_block, " bytes");
  at_least("multiprocessors", multiprocessors,
           static_cast<std::size_t>(wanted.multiprocessors < 0 ? 0 : wanted.multiprocessors), "");

  struct ability {
    const char* name;
    bool wanted;
    CUdevice_attribute attribute;
  };
  const ability abilities[] = {
      {"memory pools", wanted.memory_pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
      {"concurrent managed memory", wanted.managed_memory,
       CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
      {"cooperative launch", wanted.cooperative_launch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
      {"cluster launch", wanted.cluster_launch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH}};
  for (const ability& asked : abilities) {
    int able = 1;
    if (asked.wanted) GPU_TRY(read_figure(candidate, asked.attribute, able, where));
    if (able != 0) continue;
    meets = false;
    lacking << ", no " << asked.name;
  }
  return {};
}

/// Sets `speed` to multiprocessors times clock rate.
inline result<> measure_device(device candidate, std::uint64_t& speed,
                               source_location where) noexcept {
  std::uint64_t multiprocessors = 0, rate = 0;
  GPU_TRY(read_figure(candidate, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, multiprocessors, where));
  GPU_TRY(read_figure(candidate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, rate, where));
  speed = multiprocessors * rate;
  return {};
}

}  // namespace detail

/// Returns the device that meets the requirements. Of several it is the one with the highest
/// product of multiprocessors and clock rate, and the first of equal ones:
///
///     gpu::choose_device({.compute_capability = {9, 0}, .total_memory = 32ull << 30});
///
/// **Errors**: `errc::not_supported` if none does, with what each device lacks;
/// `errc::index_out_of_range` if the machine has no device. **Capture**: not affected. **Threads**:
/// any. (cuDeviceGetAttribute, cuDeviceTotalMem; the runtime's cudaChooseDevice)
inline result<device> choose_device(const device_requirements& wanted = {},
                                    source_location where = source_location::current()) noexcept {
  const int count = GPU_TRY(device::count(where));
  detail::text_builder shortcomings;
  int best = -1;
  std::uint64_t best_speed = 0;
  for (int index = 0; index < count; ++index) {
    const device candidate = GPU_TRY(device::get(index, where));
    detail::text_builder lacking;
    bool meets = false;
    GPU_TRY(detail::check_device(wanted, candidate, meets, lacking, where));
    if (!meets) {
      shortcomings << "; device " << index << " (" << GPU_TRY(candidate.name(where)) << ')'
                   << lacking.finish();
      continue;
    }
    std::uint64_t speed = 0;
    GPU_TRY(detail::measure_device(candidate, speed, where));
    if (best < 0 || speed > best_speed) {
      best = index;
      best_speed = speed;
    }
  }
  if (best >= 0 || count == 0) return device::get(best < 0 ? 0 : best, where);
  detail::text_builder out;
  out << "none of the " << count << " devices meets the requirements" << shortcomings.finish()
      << ". Ask for less, or run on a machine with such a device.";
  return detail::fail(detail::refusal(errc::not_supported, "gpu::choose_device", out.finish(),
                                      where, static_cast<std::uint64_t>(count)));
}

namespace detail {

/// Returns whether `text` is the UUID as nvidia-smi writes it, `GPU-` and hexadecimal digits in
/// groups, or its beginning with at least one digit.
inline bool begins_uuid(const char* text, const device_uuid& uuid) noexcept {
  if (__builtin_strncmp(text, "GPU-", 4) != 0) return false;
  std::size_t digit = 0;
  for (const char* at = text + 4; *at != '\0'; ++at) {
    if (*at == '-') continue;
    const int value = *at >= '0' && *at <= '9'   ? *at - '0'
                      : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                      : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                                 : -1;
    if (value < 0 || digit == 32) return false;
    const int byte = uuid.bytes[digit / 2];
    if (value != (digit % 2 == 0 ? byte >> 4 : byte & 15)) return false;
    ++digit;
  }
  return digit != 0;
}

}  // namespace detail

/// Returns the device with this UUID, written as nvidia-smi does. A beginning is enough if only one
/// device has it. (cuDeviceGetUuid)
/// **Errors**: `errc::invalid_argument` if no device has it, or more than one.
/// **Capture**: not affected. **Threads**: any.
inline result<device> find_device_by_uuid(
    const char* uuid, source_location where = source_location::current()) noexcept {
  if (uuid == nullptr) uuid = "";  // for the message below
  const int count = GPU_TRY(device::count(where));
  int found = -1, matches = 0;
  for (int index = 0; index < count; ++index) {
    const device candidate = GPU_TRY(device::get(index, where));
    if (!detail::begins_uuid(uuid, GPU_TRY(candidate.uuid(where)))) continue;
    found = index;
    ++matches;
  }
  if (matches == 1) return device::get(found, where);
  detail::text_builder out;
  out << matches << " of " << count << " devices have a UUID that begins with \""
      << detail::escaped{uuid}
      << "\". Write it as nvidia-smi -L does, with as many digits as it takes.";
  return detail::fail(detail::refusal(errc::invalid_argument, "gpu::find_device_by_uuid",
                                      out.finish(), where, static_cast<std::uint64_t>(matches), 1));
}

namespace detail {

/// The name of a device, and who gave it: `"CUDA_DEVICE is"`. Nobody did if `origin` is empty.
struct named_device {
  text origin;
  text name;
};

/// Sets `named` to the name in the environment, or else in a file in the home directory.
/// **Errors**: those of a file that cannot be read; `errc::out_of_host_memory`.
inline result<> find_named_device(named_device& named, source_location where) noexcept {
  constexpr const char* function = "gpu::default_device";
  const auto set = [&](const char* origin, const char* verb, string_ref name) -> result<> {
    text_builder out;
    out << origin << verb;
    named = {out.finish(), name.to_text()};
    if (!named.origin.lost() && !named.name.lost()) return {};
    return fail(out_of_host_memory_error(function, name.size(), where));
  };
  for (const char* variable : {"GPU_DEVICE", "CUDA_DEVICE"}) {
    const char* chosen = environment_variable(variable);
    if (chosen != nullptr && *chosen != '\0') return set(variable, " is", chosen);
  }
  const char* home = environment_variable("HOME");
  if (home == nullptr || *home != '/') return {};
  for (const char* file : {"/.cuda_device", "/.cuda-device"}) {
    text_builder path;
    path << home << file;
    const text name = path.finish();
    if (name.lost()) return fail(out_of_host_memory_error(function, 0, where));
    if (!file_exists(name.c_str())) continue;
    text contents;
    constexpr std::uint64_t most_bytes = 4096;
    GPU_TRY(read_file(function, name, contents, where, most_bytes));
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    const char *first = contents.begin(), *last = contents.end();
    while (first != last && blank(*first)) ++first;
    while (first != last && blank(last[-1])) --last;
    return set(name.c_str(), " holds", {first, static_cast<std::size_t>(last - first)});
  }
  return {};
}

/// Returns the device of that name.
inline result<device> device_of_name(const named_device& named, source_location where) noexcept {
  const char* chosen = named.name.c_str();
  text_builder out;
  out << named.origin << " \"" << escaped{chosen} << '"';
  int index = 0;
  const char* at = chosen;
  for (; *at >= '0' && *at <= '9' && index < 100000; ++at) index = index * 10 + (*at - '0');
  const bool is_index = *at == '\0' && at != chosen;
  while (*at != '\0' && *at != ':') ++at;
  if (!is_index && *chosen != 'G' && *at == '\0') {
    out << ", which does not name a device. Set it to an index such as 0, a PCI address such as "
           "0000:3b:00.0, or a "
           "UUID such as GPU-8f6d2a71.";
    return fail(refusal(errc::invalid_argument, "gpu::default_device", out.finish(), where));
  }
  result<device> found = is_index         ? device::get(index, where)
                         : *chosen == 'G' ? find_device_by_uuid(chosen, where)
                                          : device::from_pci_bus_id(chosen, where);
  if (found.has_value()) return found;
  cuda_error error = std::move(found).error();
  if (error == errc::index_out_of_range || error == errc::invalid_argument) {
    out << ": " << error.details();
    error = record_error(std::move(error).with_details(out.finish()));
  }
  return fail(std::move(error));
}

}  // namespace detail

/// Returns the device that the environment variable GPU_DEVICE names, or else CUDA_DEVICE, or else
/// the file `~/.cuda_device` or `~/.cuda-device`: by index, by PCI bus id or by UUID. If none of
/// them is there, or the variables are empty, it is device 0. `default_context` tries all devices.
/// **Errors**: those of `device::get`, `device::from_pci_bus_id` and `find_device_by_uuid`, with
/// the variable or the file and what it says; `errc::file_error` if the file cannot be read.
/// **Capture**: not affected. **Threads**: any, while no thread changes the environment.
inline result<device> default_device(source_location where = source_location::current()) noexcept {
  detail::named_device named;
  GPU_TRY(detail::find_named_device(named, where));
  return named.origin.empty() ? device::get(0, where) : detail::device_of_name(named, where);
}

}}  // namespace gpu::v1
