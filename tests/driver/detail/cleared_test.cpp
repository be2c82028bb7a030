// Structures with a union are zeroed to the last byte before they are passed to the driver.

#include <gpu/driver/detail/cleared.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/stream_memory_operation.hpp>
#include <gpu/texture/texture_resource.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace cleared_test { namespace {

/// Returns what `make()` returns, made in memory that is full of other values.
template <class Make> auto made_in_dirt(Make make) {
  using made = decltype(make());
  struct storage {
    alignas(made) unsigned char bytes[sizeof(made)];
    made& object() { return *std::launder(reinterpret_cast<made*>(bytes)); }
  };
  storage room;
  std::memset(room.bytes, 0xa5, sizeof room.bytes);
  asm volatile("" : : "r"(room.bytes) : "memory");  // or the compiler leaves the dirt out
  ::new (static_cast<void*>(room.bytes)) made(make());
  asm volatile("" : : "r"(room.bytes) : "memory");
  return room;
}

/// Returns whether all of the object but its first bytes is zero.
template <class Object> bool is_clear_after(const Object& object, std::size_t first) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&object);
  for (std::size_t i = first; i < sizeof object; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

TEST_CASE("a cleared structure is zero to the end of its unions", "[core]") {
  CHECK(is_clear_after(made_in_dirt(&gpu::detail::cleared<CUDA_RESOURCE_DESC>).object(), 0));
  CHECK(is_clear_after(made_in_dirt(&gpu::detail::cleared<CUarrayMapInfo>).object(), 0));
  CHECK(is_clear_after(made_in_dirt(&gpu::detail::cleared<CUstreamBatchMemOpParams>).object(), 0));
}

TEST_CASE("a resource is zero beyond what names it", "[core][texture]") {
  gpu::texture_resource resource;
  resource.type = gpu::resource_type::array;
  resource.array = reinterpret_cast<CUarray>(std::uintptr_t{0x1234});
  auto room = made_in_dirt([&] { return gpu::detail::native_resource(resource); });
  CHECK(room.object().res.array.hArray == resource.array);
  CHECK(is_clear_after(room.object(), offsetof(CUDA_RESOURCE_DESC, res) + sizeof(CUarray)));
}

TEST_CASE("an operation on memory is zero beyond what it says", "[core][memory]") {
  auto room = made_in_dirt([] {
    return gpu::memory_operation::write(gpu::device_span<std::uint32_t>::from_native(64, 1), 7u);
  });
  const CUstreamBatchMemOpParams& native = room.object().native();
  CHECK(native.writeValue.value64 == 7);
  CHECK(is_clear_after(native, offsetof(CUstreamBatchMemOpParams, writeValue.flags)));
  auto flush = made_in_dirt([] { return gpu::memory_operation::flush_remote_writes(); });
  CHECK(is_clear_after(flush.object().native(), sizeof(CUstreamBatchMemOpType)));
}

}}  // namespace cleared_test
