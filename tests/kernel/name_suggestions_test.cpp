// How many of a module's kernels are listed where it has none of a name.

#include <gpu/kernel.hpp>

#include "support/results.hpp"

#include <string>

namespace name_suggestions_test {
namespace {

/// PTX of kernels with the names k1, k2, ...
std::string kernels(int count) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (int i = 1; i <= count; ++i)
    text += ".visible .entry k" + std::to_string(i) + "() { ret; }\n";
  return text;
}

TEST_CASE("an unknown kernel name lists sixteen others, and how many there are more",
          "[kernel][module]") {
  for (const int count : {1, 16, 17, 40}) {
    INFO(count << " kernels");
    const auto module = test::value_of(gpu::module::load(kernels(count)));
    const std::string words = test::error_of(module.kernel<>("k0")).message().c_str();
    INFO(words);
    const auto lists = [&](int kernel) {
      const std::string name = " k" + std::to_string(kernel);
      return words.find(name + ",") < words.size() || words.find(name + ".") < words.size();
    };
    int listed = 0;
    for (int i = 1; i <= count; ++i) {
      listed += lists(i);
      if (i < 10) CHECK(lists(i));  // nearer than most of the others
    }
    CHECK(listed == (count < 16 ? count : 16));
    const std::string more = ", and " + std::to_string(count - 16) + " more. Declare";
    CHECK((words.find(more) < words.size()) == (count > 16));
    CHECK((words.find(" more") < words.size()) == (count > 16));
  }
}

TEST_CASE("the nearest kernel is the one that takes the fewest changes", "[kernel][module]") {
  const auto module = test::value_of(gpu::module::load(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry b() { ret; }\n"
      ".visible .entry xbc() { ret; }\n.visible .entry abxyz() { ret; }\n"));
  const auto suggests = [&](const char* wanted, const char* names) {
    const std::string words = test::error_of(module.kernel<>(wanted)).message().c_str();
    INFO(words);
    CHECK(words.find(names) < words.size());
  };
  suggests("abc", "It has: xbc, b, abxyz. Declare");
  suggests("xyzbc", "It has: xbc, ");  // and then two that are equally far
}

}  // namespace
}  // namespace name_suggestions_test
