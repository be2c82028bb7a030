// What functions of the library share: each state once, however many ask at once.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/generated/shared_states.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace shared_states_test { namespace {

using gpu::detail::find_shared;

struct family;
struct other_family;

template <class Family> int* find(gpu::detail::shared_key key, int value) {
  return *find_shared<Family, int>("test", key, gpu::source_location::current(),
                                   [&](int& made) -> gpu::result<> {
                                     made = value;
                                     return {};
                                   });
}

TEST_CASE("a state is found by its text, by its width and by its family", "[algorithm]") {
  int* const first = find<family>({"a"}, 1);
  CHECK(find<family>({"a"}, 2) == first);
  CHECK(*first == 1);
  CHECK(*find<family>({"b"}, 3) == 3);
  CHECK(*find<family>({"a", true}, 4) == 4);
  CHECK(*find<family>({{"a\0", 2}}, 5) == 5);
  CHECK(*find<family>({}, 6) == 6);
  CHECK(*find<other_family>({"a"}, 7) == 7);
  CHECK(find<family>({"a"}, 8) == first);
}

TEST_CASE("a state that could not be described is described again", "[algorithm]") {
  const auto failed = find_shared<family, int>(
      "test", {"later"}, gpu::source_location::current(), [](int&) -> gpu::result<> {
        return gpu::detail::fail(
            gpu::detail::out_of_host_memory_error("test", 1, gpu::source_location::current()));
      });
  CHECK(failed.error() == gpu::errc::out_of_host_memory);
  CHECK(*find<family>({"later"}, 9) == 9);
}

TEST_CASE("threads that ask at once share states", "[algorithm][threads]") {
  constexpr int threads = 4, count = 500;
  std::vector<std::vector<int*>> made(threads);
  std::vector<std::thread> running;
  for (auto& of_thread : made) {
    running.emplace_back([&of_thread] {
      for (int i = 0; i < count; ++i)
        of_thread.push_back(find<family>({"shared by threads " + std::to_string(i)}, i));
    });
  }
  for (std::thread& each : running) each.join();
  for (const auto& of_thread : made) CHECK(of_thread == made[0]);
  for (int i = 0; i < count; ++i) CHECK(*made[0][std::size_t(i)] == i);
}

}}  // namespace shared_states_test
