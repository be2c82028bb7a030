#include <nogpu/driver/parsed_modules.hpp>

#include "nogpu/driver/driver_fixture.hpp"
#include "nogpu/ptx/sample.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace parsed_modules_test {

namespace cpu = nogpu::driver;
namespace ptx = nogpu::ptx;

TEST_CASE("the module of a text that was parsed before is the same one", "[cpu]") {
  cpu::parsed_modules kept;
  const std::string text = ptx_test::kernel("ret;"), other = ptx_test::kernel("bar.sync 0; ret;");
  const cpu::parsed_code first = kept.find_or_parse(text, false);
  REQUIRE(first.module != nullptr);
  CHECK_FALSE(first.error.has_value());
  CHECK(kept.find_or_parse(text, false).module == first.module);
  CHECK(kept.find_or_parse(other, false).module != first.module);

  const cpu::parsed_code debug = kept.find_or_parse(text, true);
  CHECK(debug.module != first.module);
  CHECK(debug.module->debug);
  CHECK_FALSE(first.module->debug);
  CHECK(kept.find_or_parse(text, true).module == debug.module);
}

TEST_CASE("a text that is rejected is rejected again, with its reason", "[cpu]") {
  cpu::parsed_modules kept;
  for (int i = 0; i < 2; ++i) {
    const cpu::parsed_code bad =
        kept.find_or_parse(ptx_test::kernel("no.such.instruction;"), false);
    CHECK(bad.module == nullptr);
    REQUIRE(bad.error.has_value());
    CHECK(bad.error->line == 6);
  }
}

TEST_CASE("parsed modules beyond the capacity are dropped, unless they are in use", "[cpu]") {
  cpu::parsed_modules kept;
  const auto module_of = [&](char letter, std::size_t size) {
    return kept.find_or_parse(ptx_test::kernel("ret;") + "//" + std::string(size, letter), false)
        .module;
  };
  const std::size_t quarter = cpu::parsed_modules::capacity / 4;
  const std::weak_ptr<const ptx::module> first = module_of('a', quarter);
  const std::shared_ptr<const ptx::module> used = module_of('b', quarter);
  CHECK_FALSE(first.expired());
  for (const char letter : {'c', 'd', 'e'}) CHECK(module_of(letter, quarter) != nullptr);
  CHECK(first.expired());
  CHECK(used.use_count() == 1);
  CHECK(used->functions.size() == 1);
  const std::weak_ptr<const ptx::module> last = module_of('e', quarter);
  const std::weak_ptr<const ptx::module> too_large = module_of('f', 4 * quarter);
  CHECK(too_large.expired());
  CHECK_FALSE(last.expired());
}

TEST_CASE("threads that parse one text get one module", "[cpu][threads]") {
  cpu::parsed_modules kept;
  const std::string texts[] = {ptx_test::kernel("ret;"), ptx_test::kernel("bar.sync 0; ret;")};
  std::vector<cpu::parsed_code> found(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] { found[t] = kept.find_or_parse(texts[t % 2], false); });
  for (std::thread& each : threads) each.join();
  REQUIRE(found[0].module != nullptr);
  REQUIRE(found[1].module != nullptr);
  CHECK(found[0].module != found[1].module);
  for (std::size_t t = 2; t < found.size(); ++t) CHECK(found[t].module == found[t % 2].module);
}

TEST_CASE("modules of one text have variables of their own", "[cpu]") {
  const test::driver_fixture f;
  const std::string text =
      std::string(ptx_test::module_head) + ".visible .global .align 4 .u32 v = 7;\n";
  CUmodule modules[2] = {};
  CUdeviceptr addresses[2] = {};
  for (int i = 0; i < 2; ++i) {
    std::size_t size = 0;
    REQUIRE(f.cu.module_load_data(&modules[i], text.c_str()) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_get_global(&addresses[i], &size, modules[i], "v") == CUDA_SUCCESS);
  }
  CHECK(addresses[0] != addresses[1]);
  const unsigned changed = 8;
  REQUIRE(f.cu.memcpy_htod(addresses[0], &changed, sizeof changed) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_unload(modules[0]) == CUDA_SUCCESS);
  unsigned seen = 0;
  REQUIRE(f.cu.memcpy_dtoh(&seen, addresses[1], sizeof seen) == CUDA_SUCCESS);
  CHECK(seen == 7);
  CHECK(f.cu.module_unload(modules[1]) == CUDA_SUCCESS);
}

}  // namespace parsed_modules_test
