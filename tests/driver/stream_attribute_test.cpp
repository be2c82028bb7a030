#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/driver/stream_attribute.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace stream_attribute_test {

using attribute = gpu::stream_attribute;
using test::error_of;
using test::says;
using test::value_of;

static_assert(std::is_same_v<gpu::stream_attribute_t<attribute::priority>, int>);
static_assert(std::is_same_v<gpu::stream_attribute_t<attribute::access_policy_window>,
                             gpu::access_policy_window>);

namespace {

CUstreamAttrValue raw(const gpu::stream& stream, attribute which) {
  CUstreamAttrValue value{};
  REQUIRE(test::driver().stream_get_attribute(stream.native(), static_cast<CUstreamAttrID>(which),
                                              &value) == CUDA_SUCCESS);
  return value;
}

}  // namespace

TEST_CASE("stream attribute: each is what was set", "[driver][stream]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  CHECK(value_of(gpu::attribute<attribute::synchronization_policy>(stream)) ==
        gpu::synchronization_policy::automatic);
  CHECK(value_of(gpu::attribute<attribute::access_policy_window>(stream)).bytes == 0);
  CHECK(value_of(gpu::attribute<attribute::memory_sync_domain_map>(stream)) ==
        gpu::memory_sync_domain_map{});
  CHECK(value_of(gpu::attribute<attribute::memory_sync_domain>(stream)) ==
        gpu::memory_sync_domain::default_);

  value_of(gpu::set_attribute<attribute::synchronization_policy>(
      stream, gpu::synchronization_policy::yield));
  CHECK(value_of(gpu::attribute<attribute::synchronization_policy>(stream)) ==
        gpu::synchronization_policy::yield);
  CHECK(raw(stream, attribute::synchronization_policy).syncPolicy == CU_SYNC_POLICY_YIELD);

  value_of(gpu::set_attribute<attribute::priority>(stream, -3));
  CHECK(value_of(gpu::attribute<attribute::priority>(stream)) == -3);
  CHECK(value_of(stream.priority()) == -3);
  value_of(gpu::set_attribute<attribute::priority>(stream, -100));  // the driver clamps
  CHECK(value_of(stream.priority()) == -5);

  const auto memory = value_of(gpu::device_buffer<char>::create(test::first_device(), 4096));
  const gpu::access_policy_window window{.base = memory.span().native(),
                                         .bytes = 4096,
                                         .hit_ratio = 0.5f,
                                         .hit = gpu::access_property::persisting,
                                         .miss = gpu::access_property::streaming};
  value_of(gpu::set_attribute<attribute::access_policy_window>(stream, window));
  CHECK(value_of(gpu::attribute<attribute::access_policy_window>(stream)) == window);
  const CUaccessPolicyWindow held = raw(stream, attribute::access_policy_window).accessPolicyWindow;
  CHECK(reinterpret_cast<CUdeviceptr>(held.base_ptr) == window.base);
  CHECK(held.num_bytes == 4096);
  CHECK(held.hitRatio == 0.5f);
  CHECK(held.hitProp == CU_ACCESS_PROPERTY_PERSISTING);
  CHECK(held.missProp == CU_ACCESS_PROPERTY_STREAMING);
  for (const float share : {0.0f, 1.0f}) {
    gpu::access_policy_window all_or_none = window;
    all_or_none.hit_ratio = share;
    value_of(gpu::set_attribute<attribute::access_policy_window>(stream, all_or_none));
    CHECK(raw(stream, attribute::access_policy_window).accessPolicyWindow.hitRatio == share);
  }

  value_of(gpu::set_attribute<attribute::memory_sync_domain_map>(stream, {0, 2}));
  CHECK(value_of(gpu::attribute<attribute::memory_sync_domain_map>(stream)).remote == 2);
  value_of(
      gpu::set_attribute<attribute::memory_sync_domain>(stream, gpu::memory_sync_domain::remote));
  CHECK(value_of(gpu::attribute<attribute::memory_sync_domain>(stream)) ==
        gpu::memory_sync_domain::remote);
  CHECK(raw(stream, attribute::memory_sync_domain).memSyncDomain ==
        CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

TEST_CASE("stream attribute: all can be copied at once", "[driver][stream]") {
  const gpu::stream from = value_of(gpu::stream::create(test::first_device(), {.priority = -2}));
  const gpu::stream to = value_of(gpu::stream::create(test::first_device()));
  value_of(gpu::set_attribute<attribute::synchronization_policy>(
      from, gpu::synchronization_policy::blocking_sync));
  value_of(gpu::copy_attributes(from, to));
  CHECK(value_of(gpu::attribute<attribute::synchronization_policy>(to)) ==
        gpu::synchronization_policy::blocking_sync);
  CHECK(value_of(to.priority()) == value_of(from.priority()));
  const gpu::context own = value_of(gpu::context::create(test::first_device()));
  const gpu::stream other = value_of(gpu::stream::create(own));
  CHECK(error_of(gpu::copy_attributes(from, other)) == gpu::errc::wrong_context);
  CHECK(error_of(gpu::copy_attributes(gpu::stream_ref{}, to)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::copy_attributes(to, gpu::stream_ref{})) == gpu::errc::empty_handle);
}

TEST_CASE("stream attribute: default streams have them too", "[driver][stream]") {
  const gpu::memory_sync_domain_map usual{0, 1};
  const gpu::stream_ref streams[] = {
      value_of(gpu::stream_ref::legacy_default(test::first_device())),
      value_of(gpu::stream_ref::per_thread_default(test::first_device()))};
  for (const gpu::stream_ref stream : streams) {
    CHECK(gpu::set_attribute<attribute::memory_sync_domain_map>(stream, usual).has_value());
  }
}

TEST_CASE("stream attribute: what no stream can have is refused with a sentence",
          "[driver][stream]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const auto window = [&](gpu::access_policy_window w) {
    return error_of(gpu::set_attribute<attribute::access_policy_window>(stream, w));
  };
  CHECK(says(window({.hit_ratio = 1.5f}), "gpu::set_attribute", "hit ratio", "is 1.5, not between",
             "Give the share"));
  CHECK(says(window({.hit_ratio = -0.25f}), "is -0.25, not between 0 and 1"));
  CHECK(says(window({.hit_ratio = std::nextafter(1.0f, 2.0f)}), "is 1.00000012, not between"));
  CHECK(says(window({.hit_ratio = std::nanf("")}), "nan, not between 0 and 1"));
  CHECK(says(window({.miss = gpu::access_property::persisting}), "cannot be persisting",
             "Use normal or streaming"));
  CHECK(says(window({.hit = gpu::access_property{9}}), "9 is not a valid gpu::access_property"));
  CHECK(says(window({.miss = gpu::access_property{-7}}), "-7 is not a valid gpu::access_property"));
  CHECK(window({.hit_ratio = 2}) == gpu::errc::invalid_argument);
  CHECK(window({.miss = gpu::access_property::persisting}) == gpu::errc::invalid_argument);
  const auto most = [](CUdevice_attribute which) {
    int value = 0;
    REQUIRE(test::driver().device_get_attribute(&value, which, test::first_device().native()) ==
            CUDA_SUCCESS);
    return value;
  };
  const int window_limit = most(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
  const gpu::cuda_error large = window({.bytes = std::size_t{1} << 40});
  CHECK(says(error_of(gpu::take_last_error()), "window of 1099511627776 bytes is more than the "));
  CHECK(large.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(large.asked() == std::size_t{1} << 40);
  CHECK(large.limit() == static_cast<std::uint64_t>(window_limit));
  CHECK(says(large, "window of 1099511627776 bytes is more than the ",
             (std::to_string(window_limit) + " of device 0. Use no more").c_str()));
  const int domains = most(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
  const gpu::cuda_error domain =
      error_of(gpu::set_attribute<attribute::memory_sync_domain_map>(stream, {1, 99}));
  CHECK(domain.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(domain.limit() == static_cast<std::uint64_t>(domains));
  CHECK(says(domain, "domain 99 of a memory_sync_domain_map",
             (std::to_string(domains) + " of device 0. Use no more").c_str()));
  gpu::cuda_error error = error_of(gpu::set_attribute<attribute::synchronization_policy>(
      stream, gpu::synchronization_policy{9}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(error.asked() == 9);
  CHECK(says(error, "gpu::set_attribute", "9 is not a valid gpu::synchronization_policy",
             "stream_attribute_test.cpp"));
  error = error_of(
      gpu::set_attribute<attribute::memory_sync_domain>(stream, gpu::memory_sync_domain{5}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "5 is not a valid gpu::memory_sync_domain", "pass one of its enumerators"));
  CHECK(error_of(gpu::attribute<attribute::priority>(gpu::stream_ref{})) ==
        gpu::errc::empty_handle);
  CHECK(error_of(gpu::set_attribute<attribute::priority>(gpu::stream_ref{}, 0)) ==
        gpu::errc::empty_handle);
}

TEST_CASE("stream attribute: every value has a name", "[driver][stream]") {
  const auto name = []<class Enum>(Enum value) { return std::string(gpu::name_of(value)); };
  CHECK(name(attribute{CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW}) == "access_policy_window");
  CHECK(name(attribute{CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY}) == "synchronization_policy");
  CHECK(name(attribute{CU_STREAM_ATTRIBUTE_PRIORITY}) == "priority");
  CHECK(name(attribute{CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP}) == "memory_sync_domain_map");
  CHECK(name(attribute{CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN}) == "memory_sync_domain");
  CHECK(gpu::name_of(attribute{99}) == nullptr);
  CHECK(name(gpu::access_property{CU_ACCESS_PROPERTY_NORMAL}) == "normal");
  CHECK(name(gpu::access_property{CU_ACCESS_PROPERTY_STREAMING}) == "streaming");
  CHECK(name(gpu::access_property{CU_ACCESS_PROPERTY_PERSISTING}) == "persisting");
  CHECK(gpu::name_of(gpu::access_property{3}) == nullptr);
  CHECK(name(gpu::synchronization_policy{CU_SYNC_POLICY_AUTO}) == "automatic");
  CHECK(name(gpu::synchronization_policy{CU_SYNC_POLICY_SPIN}) == "spin");
  CHECK(name(gpu::synchronization_policy{CU_SYNC_POLICY_YIELD}) == "yield");
  CHECK(name(gpu::synchronization_policy{CU_SYNC_POLICY_BLOCKING_SYNC}) == "blocking_sync");
  CHECK(gpu::name_of(gpu::synchronization_policy{0}) == nullptr);
  CHECK(name(gpu::memory_sync_domain{CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT}) == "default");
  CHECK(name(gpu::memory_sync_domain{CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE}) == "remote");
  CHECK(gpu::name_of(gpu::memory_sync_domain{2}) == nullptr);
}

TEST_CASE("stream attribute: each driver call may fail", "[driver][stream][faults][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream from = GPU_TRY(gpu::stream::create(device));
          const gpu::stream to = GPU_TRY(gpu::stream::create(device));
          GPU_TRY(gpu::set_attribute<attribute::priority>(from, -1));
          GPU_TRY(gpu::attribute<attribute::priority>(from));
          GPU_TRY(gpu::copy_attributes(from, to));
          return {};
        }) == "");
}

}  // namespace stream_attribute_test
