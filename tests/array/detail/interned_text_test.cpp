// Texts that expressions point at: each once, however many there are and whoever asks first.

#include <gpu/array/detail/interned_text.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace interned_text_test { namespace {

using gpu::detail::intern;

TEST_CASE("a text is found again among very many others", "[array]") {
  constexpr int count = 100000;
  const auto name = [](int i) { return "interned_text_test " + std::to_string(i); };
  std::vector<const gpu::detail::interned_text*> made;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) made.push_back(intern(name(i)));
  for (int i = 0; i < count; ++i) {
    if (intern(name(i)) != made[std::size_t(i)]) FAIL(i);
  }
  // A list would take minutes.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  for (int i = 0; i < count; ++i) {
    if (name(i) != made[std::size_t(i)]->code.c_str()) FAIL(i);
  }
  CHECK(intern("") == intern(""));
  CHECK(intern(std::string("a\0b", 3)) != intern("a"));
}

TEST_CASE("threads that intern the same texts at once get the same ones", "[array][threads]") {
  constexpr int threads = 4, count = 2000;
  std::vector<std::vector<const gpu::detail::interned_text*>> made(threads);
  std::vector<std::thread> running;
  for (auto& of_thread : made) {
    running.emplace_back([&of_thread] {
      for (int i = 0; i < count; ++i)
        of_thread.push_back(intern("interned by threads " + std::to_string(i)));
    });
  }
  for (std::thread& each : running) each.join();
  for (const auto& of_thread : made) CHECK(of_thread == made[0]);
}

}}  // namespace interned_text_test
