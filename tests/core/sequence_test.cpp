#include <gpu/core/sequence.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sequence_test {
namespace {

/// Counts how many there are.
struct counted {
  inline static int alive = 0;
  int value = 0;
  counted() { ++alive; }
  explicit counted(int v) : value{v} { ++alive; }
  counted(const counted& other) : value{other.value} { ++alive; }
  counted(counted&& other) noexcept : value{other.value} {
    other.value = -1;
    ++alive;
  }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&& other) noexcept {
    value = other.value;
    other.value = -1;
    return *this;
  }
  ~counted() { --alive; }
  friend bool operator==(const counted&, const counted&) = default;
};

struct node {
  gpu::sequence<node> children;
  int value = 0;
};

template <class T> std::vector<T> as_vector(const gpu::sequence<T>& s) {
  return std::vector<T>(s.begin(), s.end());
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<gpu::sequence<std::string>>);
static_assert(std::is_nothrow_move_assignable_v<gpu::sequence<std::string>>);
static_assert(!std::is_convertible_v<std::size_t, gpu::sequence<int>>);
static_assert(std::is_convertible_v<std::vector<const char*>, gpu::sequence<std::string>>);
static_assert(!std::is_convertible_v<std::vector<std::string>, gpu::sequence<int>>);

TEST_CASE("sequence: does what std::vector does", "[core]") {
  std::mt19937 random(7);
  gpu::sequence<std::string> ours;
  std::vector<std::string> theirs;
  for (int step = 0; step < 3000; ++step) {
    const std::string value(random() % 40, static_cast<char>('a' + random() % 26));
    switch (random() % 12) {
      case 0:
        if (!theirs.empty()) {
          ours.pop_back();
          theirs.pop_back();
        }
        break;
      case 1:
        if (!theirs.empty()) {
          const std::size_t at = random() % theirs.size();
          ours.erase(ours.begin() + at);
          theirs.erase(theirs.begin() + static_cast<std::ptrdiff_t>(at));
        }
        break;
      case 2:
        if (random() % 30 == 0) {
          ours.clear();
          theirs.clear();
        }
        break;
      case 3: {
        const std::size_t size = theirs.size() + random() % 5;
        ours.resize(size);
        theirs.resize(size);
        break;
      }
      case 4: {
        const gpu::sequence<std::string> copy = ours;
        ours = copy;
        break;
      }
      case 5: {
        gpu::sequence<std::string> moved = std::move(ours);
        CHECK(ours.empty());
        ours = std::move(moved);
        break;
      }
      default: ours.push_back(value); theirs.push_back(value);
    }
    REQUIRE(ours.size() == theirs.size());
    REQUIRE(as_vector(ours) == theirs);
    if (!theirs.empty()) {
      REQUIRE(ours.front() == theirs.front());
      REQUIRE(ours.back() == theirs.back());
    }
  }
}

TEST_CASE("sequence: an element of its own can be put at the end", "[core]") {
  gpu::sequence<std::string> s{std::string(100, 'x')};
  for (int i = 0; i < 100; ++i) s.push_back(s[0]);
  for (const std::string& element : s) CHECK(element == std::string(100, 'x'));
  gpu::sequence<std::string> t;
  for (int i = 0; i < 100; ++i) t.emplace_back(static_cast<std::size_t>(i), 'y');
  CHECK(t.back() == std::string(99, 'y'));
}

TEST_CASE("sequence: every element is destroyed, once", "[core]") {
  {
    gpu::sequence<counted> s(5);
    CHECK(counted::alive == 5);
    for (int i = 0; i < 20; ++i) s.emplace_back(i);
    CHECK(counted::alive == 25);
    const gpu::sequence<counted> copy = s;
    CHECK(copy == s);
    CHECK(counted::alive == 50);
    s.erase(s.begin());
    CHECK(counted::alive == 49);
    s.assign(3, counted(9));
    CHECK(counted::alive == 28);
    CHECK(s[2].value == 9);
    s.resize(1);
    CHECK(counted::alive == 26);
    s = copy;
    CHECK(counted::alive == 50);
    gpu::sequence<counted>& same = s;
    s = same;
    s = std::move(same);
    CHECK(s.size() == 25);
    CHECK(counted::alive == 50);
  }
  CHECK(counted::alive == 0);
}

TEST_CASE("sequence: from what lies in memory, and of itself", "[core]") {
  const std::vector<int> numbers = {3, 1, 2};
  CHECK(as_vector(gpu::sequence<int>(numbers)) == numbers);
  CHECK(as_vector(gpu::sequence<int>(std::array<int, 3>{3, 1, 2})) == numbers);
  CHECK(gpu::sequence<int>{3, 1, 2} == gpu::sequence<int>(numbers));
  CHECK_FALSE(gpu::sequence<int>{3, 1} == gpu::sequence<int>(numbers));
  CHECK_FALSE(gpu::sequence<int>{3, 1, 3} == gpu::sequence<int>(numbers));
  node tree;
  tree.children.push_back(node{{}, 4});
  tree.children.push_back(tree);
  CHECK(tree.children[1].children[0].value == 4);
}

}  // namespace sequence_test
