#include "support/catch.hpp"
#include "support/host_memory.hpp"

#include <gpu/core/text.hpp>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace text_test {

using gpu::text;
using gpu::detail::text_builder;

static_assert(sizeof(text) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<text>);
static_assert(std::is_nothrow_move_constructible_v<text>);

TEST_CASE("text: holds what it was made from", "[core][text]") {
  CHECK(text().empty());
  CHECK(text().begin() == gpu::detail::no_characters);  // so that `end` is at the same address
  CHECK(text("").size() == 0);
  CHECK(text(nullptr).empty());
  CHECK(std::string(text().c_str()).empty());
  const text t("grid");
  CHECK(t == "grid");
  CHECK(t.size() == 4);
  CHECK(t.c_str()[4] == '\0');
  CHECK(std::string(t.begin(), t.end()) == "grid");
  CHECK(t.contains("ri"));
  CHECK(!t.contains("block"));
  CHECK(text("a\0b", 3).size() == 3);
  CHECK(text("a\0b", 3) == text("a\0b", 3));
  CHECK(!(text("a\0b", 3) == text("a\0c", 3)));
}

TEST_CASE("text: copies share, moves take", "[core][text]") {
  text a("stream");
  const text b = a;
  CHECK(b.c_str() == a.c_str());
  const text c = std::move(a);
  CHECK(a.empty());
  CHECK(c == b);
  a = c;
  CHECK(a == "stream");
  text& self = a;
  a = self;
  CHECK(a == "stream");
  a = text("other");
  CHECK(a == "other");
  CHECK(b == "stream");
}

TEST_CASE("text: becomes what has a pointer and a size", "[core][text]") {
  const text t("event");
  CHECK(static_cast<std::string>(t) == "event");
  CHECK(static_cast<std::string_view>(t) == "event");
}

TEST_CASE("text: copies are used in many threads", "[core][text]") {
  const text shared("shared between threads");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([shared] {
      for (int n = 0; n < 10000; ++n) {
        text copy = shared;
        if (copy.size() != 22) std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared == "shared between threads");
}

TEST_CASE("text_builder: numbers as printf prints them", "[core][text]") {
  const auto written = [](auto value) {
    text_builder out;
    out << value;
    return std::string(out.finish().c_str());
  };
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{7}, std::int64_t{-7}, std::int64_t{1234567890123},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    CHECK(written(value) == std::to_string(value));
  }
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(written(std::int8_t{-128}) == "-128");
  CHECK(written('x') == "x");
}

TEST_CASE("text_builder: pieces of any length", "[core][text]") {
  text_builder out;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    out << "block " << i << ", " << text("thread ") << i << '\n';
    expected += "block " + std::to_string(i) + ", thread " + std::to_string(i) + "\n";
  }
  CHECK(out.size() == expected.size());
  const text all = out.finish();
  CHECK(static_cast<std::string>(all) == expected);
  CHECK(out.size() == 0);
  CHECK(out.finish().empty());
  out << "anew";
  CHECK(out.finish() == "anew");
  out << static_cast<const char*>(nullptr);
  CHECK(out.finish().empty());
}

TEST_CASE("text: without memory it is lost, not empty", "[core][text]") {
  if (!test::failing_allocation::possible()) return;
  const auto is_lost = [](const text& t) {
    return t.lost() && !t.empty() && t.size() == std::string(t.c_str()).size();
  };
  const test::failing_allocation lasting(0, {.lasting = true});
  const text made("grid");
  text_builder out;
  out << "block " << 7;
  const text built = out.finish();
  const test::spared_allocations spared;
  CHECK(is_lost(made));
  CHECK(is_lost(built));
  text copy = made;
  CHECK(is_lost(copy));
  CHECK(is_lost(text(std::move(copy))));
  copy = text("grid");
  CHECK_FALSE(copy.lost());
  CHECK_FALSE(text().lost());
  CHECK_FALSE(text("", 0).lost());
  out << "anew";
  CHECK(out.finish() == "anew");
}

TEST_CASE("text_builder: one piece that is missing loses the whole", "[core][text]") {
  if (!test::failing_allocation::possible()) return;
  text_builder out;
  out << "block ";
  {
    const test::failing_allocation failing(0);
    out << text_builder().finish() << std::string(1000, 'x').c_str();
  }
  out << " thread";
  CHECK(out.finish().lost());
}

TEST_CASE("text: what cannot be done without throws as a container does", "[core][text]") {
  CHECK(gpu::detail::required(text("grid")) == "grid");
  CHECK(gpu::detail::required(text()).empty());
#if defined(__cpp_exceptions)
  if (!test::failing_allocation::possible_for_throwing()) return;
  text lost;
  {
    const test::failing_allocation failing(0);
    lost = text("grid");
  }
  CHECK_THROWS_AS(gpu::detail::required(lost), std::bad_alloc);
#endif
}

}  // namespace text_test
