// Executes the rows of a page on the CPU driver, each with each of its sets of operands.
#include "docs/show.hpp"

#include <gpu/testing/cpu_driver.hpp>

#include <cstdlib>

gpu::device device = (gpu::testing::use_cpu_driver(), gpu::device::get(0).value());
gpu::stream stream = gpu::stream::create(device).value();
int operands = 0;

int main() {
  for (const row* each = all_rows; each->name != nullptr; ++each) {
    for (const int set : each->sets) {
      operands = set;
      const gpu::result<> done = [&]() -> gpu::result<> {
        for (const auto prepare : each->prepare) GPU_TRY(prepare(set));
        return each->run(each->name);
      }();
      if (!done)
        std::printf("%s|%d|error: %s\n", each->name, set,
                    showing::escaped(done.error().message().c_str()).c_str());
    }
  }
  std::fflush(stdout);
  std::_Exit(0);  // The operands are freed with the process.
}
