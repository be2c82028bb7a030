#include <nogpu/machine/shared_memory.hpp>

#include "support/catch.hpp"

namespace shared_memory_test {

using namespace nogpu::machine;

namespace {

/// Threads 0 and 1 are of one warp, 40 is of another.
struct fixture {
  shared_memory shared;
  fixture() { shared.reset(0, 64, true, true); }
  bool write(std::uint16_t thread, std::uint32_t block = 0, std::uint16_t warp = 0,
             bool unchanged = false) {
    return shared.note_write(0, 4, {block, warp, thread}, unchanged).race;
  }
  bool read(std::uint16_t thread, std::uint32_t block = 0, std::uint16_t warp = 0) {
    return shared.note_read(0, 4, {block, warp, thread}).race;
  }
  bool atomic(std::uint16_t thread, std::uint32_t block = 0, std::uint16_t warp = 0) {
    return shared.note_atomic(0, 4, {block, warp, thread}).race;
  }
};

}  // namespace

TEST_CASE("threads race when no barrier lies between", "[shared_memory]") {
  SECTION("write, then read by another warp") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(f.read(40));
  }
  SECTION("write, then read after a barrier of the block") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(40, 1));
  }
  SECTION("write, then read by the same thread") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(0));
    CHECK(!f.write(0));
  }
  SECTION("two writes") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(f.write(1));
  }
  SECTION("two writes of the same value") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.write(40, 0, 0, true));
  }
  SECTION("read, then write by another") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(1, 1));
    CHECK(f.write(40, 1));
  }
  SECTION("many readers, one of which writes") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(1, 1));
    CHECK(!f.read(40, 1));
    CHECK(f.write(1, 1));
  }
  SECTION("two readers of a warp, the last one writes") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(0, 1));
    CHECK(!f.read(1, 1));
    CHECK(!f.read(1, 1));
    CHECK(f.write(1, 1));
  }
}

TEST_CASE("an atomic does not hide the plain write before it", "[shared_memory]") {
  SECTION("of the same thread, from its warp") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.atomic(0));
    CHECK(f.atomic(1));
  }
  SECTION("of the same thread, from another warp") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.atomic(0));
    CHECK(f.atomic(40));
  }
  SECTION("of the same warp, which a warp barrier orders, from another warp") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.atomic(0, 0, 1));
    CHECK(!f.atomic(1, 0, 1));
    CHECK(f.atomic(40));
  }
  SECTION("once a barrier of the block lies between") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.atomic(0, 1));
    CHECK(!f.atomic(40, 1));
    CHECK(f.read(1, 1));
  }
}

TEST_CASE("a warp barrier orders the threads of its warp alone", "[shared_memory]") {
  SECTION("same warp") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(1, 0, 1));
    CHECK(!f.write(0, 0, 2));
  }
  SECTION("another warp") {
    fixture f;
    CHECK(!f.write(0, 0, 0));
    CHECK(f.read(40, 0, 1));
  }
  SECTION("several readers of the same warp, then a write") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(0, 1));
    CHECK(!f.read(1, 1));
    CHECK(!f.write(0, 1, 1));
  }
  SECTION("readers of two warps, then a write by one of them") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(!f.read(0, 1));
    CHECK(!f.read(40, 1));
    CHECK(f.write(0, 1, 1));
  }
}

TEST_CASE("atomic operations race with plain accesses alone", "[shared_memory]") {
  SECTION("with each other") {
    fixture f;
    CHECK(!f.atomic(0));
    CHECK(!f.atomic(40));
  }
  SECTION("with the write before") {
    fixture f;
    CHECK(!f.write(0));
    CHECK(f.atomic(40));
  }
  SECTION("with the read after") {
    fixture f;
    CHECK(!f.atomic(0));
    CHECK(f.read(40));
  }
  SECTION("with the read after a barrier") {
    fixture f;
    CHECK(!f.atomic(0));
    CHECK(!f.read(40, 1));
  }
}

TEST_CASE("bytes that nobody wrote are known", "[shared_memory]") {
  fixture f;
  CHECK(f.shared.note_read(0, 4, {}).unwritten);
  f.shared.note_unordered(0, 2);
  const auto found = f.shared.note_read(0, 4, {});
  CHECK(found.unwritten);
  CHECK(found.offset == 2);
  (void)f.shared.note_write(0, 4, {}, false);
  CHECK(!f.shared.note_read(0, 4, {}).unwritten);
}

}  // namespace shared_memory_test
