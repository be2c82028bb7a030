#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/pinned_span.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/ranges.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <ios>
#include <iterator>
#include <limits>
#include <list>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinned_vector_test {

using gpu::pinned_flags;
using gpu::pinned_vector;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<pinned_vector<int>>);
static_assert(std::is_nothrow_move_constructible_v<pinned_vector<int>>);
static_assert(std::is_nothrow_move_assignable_v<pinned_vector<int>>);
static_assert(std::is_nothrow_swappable_v<pinned_vector<int>>);
static_assert(gpu::pinned_range<pinned_vector<int>&>);
static_assert(gpu::pinned_range<const pinned_vector<int>&>);
static_assert(!gpu::pinned_range<pinned_vector<int>>);
static_assert(!gpu::pinned_range<const pinned_vector<int>>);
static_assert(gpu::host_range<pinned_vector<int>>);
static_assert(gpu::host_range<const pinned_vector<int>&>);
static_assert(std::is_convertible_v<pinned_vector<int>&, gpu::pinned_span<int>>);
static_assert(std::is_convertible_v<const pinned_vector<int>&, gpu::pinned_span<const int>>);
static_assert(!std::is_convertible_v<pinned_vector<int>, gpu::pinned_span<const int>>);

namespace {

std::vector<int> contents(const pinned_vector<int>& v) { return {v.begin(), v.end()}; }

/// The flags that the driver knows of, or its refusal of memory that is not page-locked.
gpu::result<unsigned> raw_flags(const pinned_vector<int>& v) {
  const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(v.context()));
  unsigned flags = 0;
  GPU_TRY(gpu::driver::call<&gpu::driver::entry_points::mem_host_get_flags>(
      gpu::source_location(), &flags, const_cast<int*>(v.data())));
  return flags;
}

}  // namespace

TEST_CASE("pinned_vector: made of as many values", "[memory][pinned_vector]") {
  const gpu::device device = test::first_device();
  const pinned_vector<int> v = value_of(pinned_vector<int>::create(device, 5));
  CHECK(contents(v) == std::vector<int>(5));
  CHECK(v.size_bytes() == 20);
  CHECK(v.capacity() >= 5);
  CHECK(raw_flags(v).has_value());
  CHECK(v.context() == value_of(gpu::context::primary(device)));

  const pinned_vector<int> empty = value_of(pinned_vector<int>::create(device));
  CHECK(empty.empty());
  CHECK(empty.begin() == empty.end());
  CHECK(empty.capacity() == 0);
}

TEST_CASE("pinned_vector: does what a std::vector does", "[memory][pinned_vector]") {
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device()));
  std::vector<int> w;
  const std::list<int> list{7, 8, 9};
  const auto same = [&] {
    CHECK(contents(v) == w);
    CHECK(v.size() == w.size());
    CHECK(v.capacity() >= v.size());
  };
  for (int i = 0; i < 100; ++i) {
    REQUIRE(v.push_back(i).has_value());
    w.push_back(i);
  }
  same();
  v.pop_back();
  w.pop_back();
  CHECK(v.front() == w.front());
  CHECK(v.back() == w.back());
  CHECK(v[50] == w[50]);
  REQUIRE(v.resize(10).has_value());
  w.resize(10);
  same();
  REQUIRE(v.resize(20, -1).has_value());
  w.resize(20, -1);
  same();
  CHECK(value_of(v.insert(v.begin() + 3, 42)) == v.begin() + 3);
  w.insert(w.begin() + 3, 42);
  same();
  CHECK(*value_of(v.insert(v.end(), std::size_t{3}, 43)) == 43);
  w.insert(w.end(), 3, 43);
  same();
  CHECK(*value_of(v.insert(v.begin(), list.begin(), list.end())) == 7);
  w.insert(w.begin(), list.begin(), list.end());
  same();
  CHECK(v.erase(v.begin() + 2) == v.begin() + 2);
  w.erase(w.begin() + 2);
  same();
  CHECK(v.erase(v.begin() + 1, v.begin() + 5) == v.begin() + 1);
  w.erase(w.begin() + 1, w.begin() + 5);
  same();
  const int* after = v.erase(v.end() - 2, v.end());
  CHECK(after == v.end());
  w.erase(w.end() - 2, w.end());
  same();
  REQUIRE(v.assign(5, 6).has_value());
  w.assign(5, 6);
  same();
  REQUIRE(v.assign(list.begin(), list.end()).has_value());
  w.assign(list.begin(), list.end());
  same();
  std::sort(v.begin(), v.end(), std::greater<int>());
  std::sort(w.begin(), w.end(), std::greater<int>());
  same();
  v.clear();
  w.clear();
  same();
}

TEST_CASE("pinned_vector: iterators that go through once give all they have",
          "[memory][pinned_vector]") {
  using words = std::istream_iterator<int>;
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device()));
  std::istringstream four("1 2 3 4"), none, seven("5 6 7 8 9 10 11"), two("12 13"), three("1 2 3");
  REQUIRE(v.assign(words(four), words()).has_value());
  std::vector<int> w{1, 2, 3, 4};
  CHECK(contents(v) == w);
  CHECK(value_of(v.insert(v.begin() + 1, words(none), words())) == v.begin() + 1);
  CHECK(contents(v) == w);
  CHECK(*value_of(v.insert(v.begin() + 1, words(seven), words())) == 5);
  w.insert(w.begin() + 1, {5, 6, 7, 8, 9, 10, 11});
  CHECK(contents(v) == w);
  CHECK(*value_of(v.insert(v.end(), words(two), words())) == 12);
  w.insert(w.end(), {12, 13});
  CHECK(contents(v) == w);
  const std::size_t room = v.capacity();
  REQUIRE(v.assign(words(three), words()).has_value());
  CHECK(contents(v) == std::vector<int>{1, 2, 3});
  CHECK(v.capacity() >= room);
  REQUIRE(v.assign({4, 5}).has_value());
  CHECK(contents(v) == std::vector<int>{4, 5});
  REQUIRE(v.assign(words(none), words()).has_value());
  CHECK(v.empty());
}

TEST_CASE("pinned_vector: stays as it was where memory ends amid a single pass",
          "[memory][pinned_vector]") {
  using words = std::istream_iterator<int>;
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device()));
  REQUIRE(v.reserve(4).has_value());
  REQUIRE(v.assign({1, 2}).has_value());
  gpu::driver::entry_points full = test::driver();
  full.mem_host_alloc = [](void**, std::size_t, unsigned) { return CUDA_ERROR_OUT_OF_MEMORY; };
  gpu::driver::scoped_entry_points in_force(full);
  std::istringstream a("3 4 5 6"), b("3 4 5 6");
  CHECK(error_of(v.assign(words(a), words())).code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(contents(v) == std::vector<int>{1, 2});
  CHECK(error_of(v.insert(v.begin(), words(b), words())).code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(contents(v) == std::vector<int>{1, 2});
}

#if defined(__cpp_exceptions)

/// Counts up from 0, and throws in place of 3.
struct throwing {
  using difference_type = std::ptrdiff_t;
  int at = 0;
  int operator*() const { return at != 3 ? at : throw std::out_of_range("three"); }
  throwing& operator++() {
    ++at;
    return *this;
  }
  bool operator==(const throwing&) const = default;
};
struct throwing_far : throwing {
  friend std::ptrdiff_t operator-(throwing_far a, throwing_far b) { return a.at - b.at; }
};

TEST_CASE("pinned_vector: what an iterator throws leaves it whole", "[memory][pinned_vector]") {
  using words = std::istream_iterator<int>;
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device()));
  for (const std::size_t room : {4u, 64u}) {  // with growing and without
    REQUIRE(v.reserve(room).has_value());
    REQUIRE(v.assign({7, 8, 9}).has_value());
    CHECK_THROWS_AS(v.assign(throwing{0}, throwing{9}), std::out_of_range);
    CHECK(contents(v) == std::vector<int>{7, 8, 9});
    CHECK_THROWS_AS(v.insert(v.begin() + 1, throwing{0}, throwing{9}), std::out_of_range);
    CHECK(contents(v) == std::vector<int>{7, 8, 9});
    CHECK_THROWS_AS(v.insert(v.begin() + 1, throwing_far{{0}}, throwing_far{{20}}),
                    std::out_of_range);
    CHECK(contents(v) == std::vector<int>{7, 8, 9});
    CHECK_THROWS_AS(v.assign(throwing_far{{1}}, throwing_far{{20}}), std::out_of_range);
    CHECK(contents(v) == std::vector<int>{1, 2, 9});
    std::istringstream wrong("4 5 six");
    wrong.exceptions(std::ios::failbit | std::ios::badbit);
    CHECK_THROWS_AS(v.assign(words(wrong), words()), std::ios::failure);
    CHECK(contents(v) == std::vector<int>{1, 2, 9});
  }
  struct unmade {
    unmade() { throw std::out_of_range("unmade"); }
  };
  const gpu::device device = test::first_device();
  CHECK_THROWS_AS(pinned_vector<unmade>::create(device, 1), std::out_of_range);
  pinned_vector<unmade> none = value_of(pinned_vector<unmade>::create(device));
  CHECK_THROWS_AS(none.resize(1), std::out_of_range);
  CHECK(none.empty());
  REQUIRE(v.assign(throwing_far{{4}}, throwing_far{{8}}).has_value());
  REQUIRE(v.insert(v.end(), throwing{1}, throwing{3}).has_value());
  CHECK(contents(v) == std::vector<int>{4, 5, 6, 7, 1, 2});
}

#endif

static_assert(noexcept(std::declval<pinned_vector<int>&>().assign(
    std::vector<int>::const_iterator(), std::vector<int>::const_iterator())));
static_assert(noexcept(std::declval<pinned_vector<int>&>().insert(nullptr,
                                                                  std::list<int>::iterator(),
                                                                  std::list<int>::iterator())));
static_assert(!noexcept(std::declval<pinned_vector<int>&>().assign(std::istream_iterator<int>(),
                                                                   std::istream_iterator<int>())));

TEST_CASE("pinned_vector: an element of its own can be added", "[memory][pinned_vector]") {
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device()));
  REQUIRE(v.push_back(11).has_value());
  REQUIRE(v.shrink_to_fit().has_value());
  REQUIRE(v.capacity() == v.size());
  REQUIRE(v.push_back(v.front()).has_value());
  REQUIRE(v.insert(v.begin(), v.back()).has_value());
  REQUIRE(v.assign(4, v[1]).has_value());
  CHECK(contents(v) == std::vector<int>(4, 11));
}

TEST_CASE("pinned_vector: an element is put together where it is added",
          "[memory][pinned_vector]") {
  struct point {
    int x;
    float y;
    bool operator==(const point&) const = default;
  };
  pinned_vector<point> v = value_of(pinned_vector<point>::create(test::first_device()));
  REQUIRE(v.push_back({1, 2.0f}).has_value());
  CHECK(*value_of(v.insert(v.begin(), {3, 4.0f})) == point{3, 4.0f});
  CHECK(v.size() == 2);
  CHECK(v.back() == point{1, 2.0f});
}

/// Has no default constructor.
struct numbered {
  explicit numbered(int n) noexcept : number{n} {}
  bool operator==(const numbered&) const = default;
  int number;
};

template <class T, class... Counted>
concept creates_of = requires(gpu::device device, Counted... counted) {
  pinned_vector<T>::create(device, counted...);
};
template <class T>
concept resizes = requires(pinned_vector<T>& v) { v.resize(2); };
static_assert(creates_of<int, std::size_t> && resizes<int>);
static_assert(creates_of<numbered> && creates_of<numbered, pinned_flags>);
static_assert(!creates_of<numbered, std::size_t> && !resizes<numbered>);

TEST_CASE("pinned_vector: elements need no default constructor", "[memory][pinned_vector]") {
  const gpu::device device = test::first_device();
  auto v = value_of(pinned_vector<numbered>::create(device));
  CHECK(v.empty());
  REQUIRE(v.resize(2, numbered(3)).has_value());
  REQUIRE(v.push_back(numbered(4)).has_value());
  REQUIRE(v.insert(v.begin(), numbered(2)).has_value());
  const std::vector<numbered> w{numbered(2), numbered(3), numbered(3), numbered(4)};
  CHECK(std::equal(v.begin(), v.end(), w.begin(), w.end()));
  const std::vector<int> numbers{5, 6};
  REQUIRE(v.assign(numbers.begin(), numbers.end()).has_value());
  CHECK(v.back() == numbered(6));
  auto copied = value_of(gpu::device_buffer<numbered>::create(device, 2));
  REQUIRE(gpu::copy(v, copied).has_value());

  const gpu::context_ref context = value_of(gpu::context::primary(device));
  CHECK(value_of(pinned_vector<numbered>::create(context, pinned_flags::mapped)).flags() ==
        pinned_flags::mapped);
  const gpu::cuda_error flags =
      error_of(pinned_vector<numbered>::create(device, static_cast<gpu::pinned_flags>(8)));
  CHECK(says(flags, "gpu::pinned_vector::create", "8 has bits outside of gpu::pinned_flags"));
  CHECK(error_of(pinned_vector<numbered>::create(gpu::context_ref())) == gpu::errc::empty_handle);
}

TEST_CASE("pinned_vector: room is made once and given back", "[memory][pinned_vector]") {
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device(), 3));
  REQUIRE(v.reserve(100).has_value());
  CHECK(v.capacity() == 100);
  const int* place = v.data();
  REQUIRE(v.resize(100, 4).has_value());
  CHECK(v.data() == place);
  REQUIRE(v.reserve(100).has_value());
  REQUIRE(v.reserve(50).has_value());
  CHECK(v.capacity() == 100);
  CHECK(v.data() == place);
  REQUIRE(v.resize(2).has_value());
  REQUIRE(v.shrink_to_fit().has_value());
  CHECK(v.capacity() == 2);
  CHECK(contents(v) == std::vector<int>(2));
  v.clear();
  REQUIRE(v.shrink_to_fit().has_value());
  CHECK(v.capacity() == 0);
}

TEST_CASE("pinned_vector: growing moves each element about once", "[memory][pinned_vector]") {
  pinned_vector<char> v = value_of(pinned_vector<char>::create(test::first_device()));
  std::size_t moves = 0;
  const char* place = nullptr;
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(v.push_back('x').has_value());
    moves += v.data() != place;
    place = v.data();
  }
  CHECK(moves <= 14);
}

TEST_CASE("pinned_vector: moving, swapping, comparing", "[memory][pinned_vector]") {
  const gpu::device device = test::first_device();
  pinned_vector<int> a = value_of(pinned_vector<int>::create(device, 3));
  pinned_vector<int> b = value_of(pinned_vector<int>::create(device, 3));
  CHECK(a == b);
  a[1] = 5;
  CHECK(!(a == b));
  const int* place = a.data();
  pinned_vector<int> c = std::move(a);
  CHECK(c.data() == place);
  CHECK(a.size() == 0);
  CHECK(a.capacity() == 0);
  swap(b, c);
  CHECK(b.data() == place);
  c = std::move(b);
  CHECK(c[1] == 5);
  pinned_vector<int>& self = c;
  c = std::move(self);
  CHECK(c[1] == 5);
  REQUIRE(c.resize(2).has_value());
  CHECK(!(c == value_of(pinned_vector<int>::create(device, 3))));
}

TEST_CASE("pinned_vector: goes backwards as a std::vector", "[memory][pinned_vector]") {
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device()));
  CHECK(v.rbegin() == v.rend());
  REQUIRE(v.assign({3, 1, 4, 1, 5}).has_value());
  std::vector<int> w{3, 1, 4, 1, 5};
  const pinned_vector<int>& fixed = v;
  CHECK(std::vector<int>(v.rbegin(), v.rend()) == std::vector<int>(w.rbegin(), w.rend()));
  CHECK(std::vector<int>(fixed.rbegin(), fixed.rend()) == std::vector<int>(w.rbegin(), w.rend()));
  CHECK(std::equal(v.crbegin(), v.crend(), w.crbegin(), w.crend()));
  static_assert(std::is_same_v<pinned_vector<int>::reverse_iterator, decltype(v.rbegin())>);
  static_assert(std::is_same_v<pinned_vector<int>::const_reverse_iterator, decltype(v.crbegin())>);
  static_assert(std::is_same_v<decltype(fixed.rend()), decltype(v.crend())>);
  *v.rbegin() = 9;
  *w.rbegin() = 9;
  std::sort(v.rbegin(), v.rend() - 1);
  std::sort(w.rbegin(), w.rend() - 1);
  CHECK(contents(v) == w);
  CHECK(std::find(v.rbegin(), v.rend(), 9).base() == v.begin() + 2);
}

TEST_CASE("pinned_vector: ordered as a std::vector", "[memory][pinned_vector]") {
  const gpu::device device = test::first_device();
  const auto ordered_alike = [&]<class T>(const std::vector<std::vector<T>>& lists) {
    for (const std::vector<T>& x : lists) {
      for (const std::vector<T>& y : lists) {
        pinned_vector<T> a = value_of(pinned_vector<T>::create(device));
        pinned_vector<T> b = value_of(pinned_vector<T>::create(device));
        REQUIRE(a.assign(x.begin(), x.end()).has_value());
        REQUIRE(b.assign(y.begin(), y.end()).has_value());
        static_assert(std::is_same_v<decltype(a <=> b), decltype(x <=> y)>);
        CHECK(((a <=> b) == (x <=> y)));
        CHECK((a < b) == (x < y));
        CHECK((a <= b) == (x <= y));
        CHECK((a > b) == (x > y));
        CHECK((a >= b) == (x >= y));
        CHECK((a == b) == (x == y));
        CHECK((a != b) == (x != y));
      }
    }
  };
  ordered_alike(std::vector<std::vector<int>>{{}, {1}, {1, 2}, {1, 3}, {2}, {-1, 9, 9}});
  // Bytes are told apart as numbers, not as what memcmp makes of them.
  ordered_alike(std::vector<std::vector<signed char>>{{-1}, {1}, {-1, 1}, {0}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ordered_alike(std::vector<std::vector<double>>{{1, nan}, {1, 2}, {nan}, {0.0}, {-0.0, 1}});

  struct unordered {
    int value;
  };
  static_assert(!std::three_way_comparable<pinned_vector<unordered>>);
}

TEST_CASE("pinned_vector: a moved-from one refuses to grow", "[memory][pinned_vector]") {
  pinned_vector<int> a = value_of(pinned_vector<int>::create(test::first_device(), 3));
  const pinned_vector<int> taken = std::move(a);
  const gpu::cuda_error error = error_of(a.push_back(1));
  CHECK(error == gpu::errc::empty_handle);
  CHECK(says(error, "gpu::pinned_vector", "moved from"));
  CHECK(error_of(a.mapped_span()) == gpu::errc::empty_handle);
}

TEST_CASE("pinned_vector: its flags reach the driver", "[memory][pinned_vector]") {
  pinned_vector<int> v = value_of(pinned_vector<int>::create(
      test::first_device(), 10, pinned_flags::portable | pinned_flags::mapped));
  const unsigned flags = value_of(raw_flags(v));
  CHECK((flags & CU_MEMHOSTALLOC_DEVICEMAP) != 0);
  CHECK(v.flags() == (pinned_flags::portable | pinned_flags::mapped));
  const auto given = [](pinned_flags wanted) {
    const test::noted_calls<&gpu::driver::entry_points::mem_host_alloc> noted;
    const auto made = value_of(pinned_vector<int>::create(test::first_device(), 10, wanted));
    CHECK(made.flags() == wanted);
    return noted.last<2>();
  };
  CHECK(given(pinned_flags::none) == 0);
  CHECK(given(pinned_flags::portable) == CU_MEMHOSTALLOC_PORTABLE);
  CHECK(given(pinned_flags::mapped) == CU_MEMHOSTALLOC_DEVICEMAP);
  CHECK(given(pinned_flags::write_combined) == CU_MEMHOSTALLOC_WRITECOMBINED);
}

TEST_CASE("pinned_vector: mapped memory has a device address", "[memory][pinned_vector]") {
  const gpu::device device = test::first_device();
  pinned_vector<int> v = value_of(pinned_vector<int>::create(device, 10, pinned_flags::mapped));
  const gpu::device_span<int> mapped = value_of(v.mapped_span());
  CHECK(mapped.size() == 10);
  for (int i = 0; i < 10; ++i) v[static_cast<std::size_t>(i)] = i * i;
  std::vector<int> seen(10);
  REQUIRE(copy(mapped, seen).has_value());
  CHECK(seen == contents(v));

  pinned_vector<int> unmapped = value_of(pinned_vector<int>::create(device, 10));
  const gpu::cuda_error error = error_of(unmapped.mapped_span());
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "pinned_flags::mapped"));
  pinned_vector<int> empty = value_of(pinned_vector<int>::create(device, 0, pinned_flags::mapped));
  CHECK(value_of(empty.mapped_span()).empty());
}

TEST_CASE("pinned_vector: flags that there are not are refused", "[memory][pinned_vector]") {
  const gpu::cuda_error error = error_of(
      pinned_vector<int>::create(test::first_device(), 10, static_cast<gpu::pinned_flags>(8)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "8 has bits outside of gpu::pinned_flags"));
}

TEST_CASE("pinned_vector: too many elements", "[memory][pinned_vector]") {
  pinned_vector<double> v = value_of(pinned_vector<double>::create(test::first_device(), 3));
  const gpu::cuda_error error = error_of(v.reserve(~std::size_t{0} / 4));
  CHECK(error == gpu::errc::size_overflow);
  CHECK(says(error, "gpu::pinned_vector", "8 bytes"));
  CHECK(error_of(v.resize(~std::size_t{0})) == gpu::errc::size_overflow);
  CHECK(error_of(v.assign(~std::size_t{0}, 1.0)) == gpu::errc::size_overflow);
  CHECK(error_of(v.insert(v.end(), ~std::size_t{0}, 1.0)) == gpu::errc::size_overflow);
  CHECK(v.size() == 3);
}

TEST_CASE("pinned_vector: out of memory says how much was asked", "[memory][pinned_vector]") {
  pinned_vector<int> v = value_of(pinned_vector<int>::create(test::first_device(), 3));
  v[0] = 1;
  gpu::driver::entry_points full = test::driver();
  full.mem_host_alloc = [](void**, std::size_t, unsigned) { return CUDA_ERROR_OUT_OF_MEMORY; };
  gpu::driver::scoped_entry_points in_force(full);
  const gpu::cuda_error error = error_of(v.reserve(1000));
  CHECK(error.kind() == gpu::error_kind::memory);
  CHECK(error.asked() == 4000);
  CHECK(says(error, "cuMemHostAlloc", "4000 bytes of page-locked"));
  CHECK(v.size() == 3);
  CHECK(v[0] == 1);
}

TEST_CASE("pinned_vector: gives its memory back once", "[memory][pinned_vector][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  REQUIRE(pinned_vector<int>::create(device, 1).has_value());
  const std::size_t before = driver.live_objects();
  {
    pinned_vector<int> v = value_of(pinned_vector<int>::create(device, 3));
    CHECK(driver.live_objects() == before + 1);
    REQUIRE(v.reserve(1000).has_value());
    CHECK(driver.live_objects() == before + 1);
    pinned_vector<int> w = std::move(v);
    const gpu::pinned_span<int> raw = w.release();
    CHECK(w.empty());
    CHECK(w.capacity() == 0);
    CHECK(driver.live_objects() == before + 1);
    const pinned_vector<int> again = pinned_vector<int>::adopt(w.context(), raw);
    CHECK(again.size() == 3);
  }
  CHECK(driver.live_objects() == before);
}

TEST_CASE("pinned_vector: each driver call may fail", "[memory][pinned_vector][faults][cpu]") {
  const auto operation = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    pinned_vector<int> v = GPU_TRY(pinned_vector<int>::create(device, 3, pinned_flags::mapped));
    GPU_TRY(v.mapped_span());
    GPU_TRY(v.push_back(1));
    GPU_TRY(v.shrink_to_fit());
    GPU_TRY(v.insert(v.begin(), 2));
    GPU_TRY(v.reserve(100));
    return v.assign(200, 4);
  };
  CHECK(test::sweep(operation, {"cuCtxGetCurrent"}) == "");
}

}  // namespace pinned_vector_test
