#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/hash.hpp>

#include "support/results.hpp"

#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace hash_test {

using test::value_of;

TEST_CASE("hash: names of devices, contexts, streams and events are keys", "[interop]") {
  const gpu::device device = test::first_device();
  std::unordered_map<gpu::device, int> seen;
  ++seen[device];
  ++seen[gpu::device::from_native(0)];
  ++seen[gpu::device::from_native(1)];
  CHECK(seen.size() == 2);
  CHECK(seen[device] == 2);

  const gpu::stream a = value_of(gpu::stream::create(device));
  const gpu::stream b = value_of(gpu::stream::create(device));
  const std::unordered_set<gpu::stream_ref> streams{a, b, a};
  CHECK(streams.size() == 2);
  CHECK(streams.count(b) == 1);
  const gpu::event event = value_of(gpu::event::create(device));
  CHECK(std::hash<gpu::event_ref>{}(event) == std::hash<CUevent>{}(event.native()));
  const gpu::context_ref context = value_of(gpu::context::primary(device));
  CHECK(std::unordered_set<gpu::context_ref>{context, a.context()}.size() == 1);
}

}  // namespace hash_test
