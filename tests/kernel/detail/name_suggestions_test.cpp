// The list of a module's kernels in the error for a name that it does not have.

#include <gpu/kernel.hpp>

#include "support/results.hpp"

#include <string>
#include <vector>

namespace name_suggestions_test { namespace {

std::string entries(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += ".visible .entry " + name + "() { ret; }\n";
  return text;
}

/// PTX of kernels with the names k1, k2, ...
std::string kernels(int count) {
  std::vector<std::string> names;
  for (int i = 1; i <= count; ++i) names.push_back("k" + std::to_string(i));
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + entries(names);
}

TEST_CASE("an unknown kernel name lists ten others, and how many there are more",
          "[kernel][module]") {
  for (const int count : {1, 10, 11, 40}) {
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
      // The others are farther away. The driver decides the order of names that are equally far.
      if (lists(i)) CHECK((i < 10 || i % 10 == 0));
      if (count <= 10) CHECK(lists(i));
    }
    CHECK(listed == (count < 10 ? count : 10));
    const std::string more =
        ", ... and " + std::to_string(count - 10) + " more. If it is a template";
    CHECK((words.find(more) < words.size()) == (count > 10));
    CHECK((words.find(" more") < words.size()) == (count > 10));
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
  suggests("abc", "Available kernels: xbc, b, abxyz. If it is");
  suggests("xyzbc", "Available kernels: xbc, ");  // and then two that are equally far
}

TEST_CASE("a mangled kernel is as near as the name that it has in the source", "[kernel][module]") {
  const auto module = test::value_of(gpu::module::load(
      kernels(20) + entries({"_Z5saxpyPf", "_ZN3lib4deep5scaleIfLi4EEEvPT_",
                             "_ZN12_GLOBAL__N_16hiddenEPf", "_ZN3lib12_GLOBAL__N_15innerEi",
                             "_ZN3lib4fillINS_3boxIPFviEEEEEvNS1_IT_EE", "saxpy_all"})));
  const auto suggests = [&](const char* wanted, const char* first) {
    const std::string words = test::error_of(module.kernel<>(wanted)).message().c_str();
    INFO(words);
    CHECK(words.find(std::string("Available kernels: ") + first + ", ") < words.size());
  };
  const char* const saxpy = "saxpy(float*)";
  for (const char* wanted : {"saxpi", "axpy", "saxpyy", "::saxpi", "saxpi<float>", "other::saxpy",
                             "static_cast<void(*)(int*)>(saxpi)", "_Z5saxpiPf"}) {
    suggests(wanted, saxpy);
  }
  const char* const scale = "lib::deep::scale<float, 4>(float*)";
  for (const char* wanted : {"scal", "lib::deep::scal", "deep::scael<float>",
                             "lib::deep::scale<float, 5>", "sclae<double, 4>"}) {
    suggests(wanted, scale);
  }
  suggests("hiden", "hidden(float*)");
  suggests("inher", "lib::inner(int)");
  suggests("lib::fil<int>", "lib::fill<lib::box<void(*)(int)>>(lib::box<lib::box<void(*)(int)>>)");
  suggests("saxpy_al", "saxpy_all");
  suggests("_all", "saxpy_all");  // which has it in it
}

}}  // namespace name_suggestions_test
