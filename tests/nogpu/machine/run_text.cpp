#include "nogpu/machine/run_text.hpp"

#include <nogpu/machine/machine.hpp>
#include <nogpu/ptx/parser.hpp>

#include <memory>
#include <utility>

namespace machine_test {

load_result load_text(const std::string& text, address_space& memory, std::string name) {
  auto parsed = nogpu::ptx::parse(text);
  if (!parsed) {
    load_result refused;
    refused.why = load_result::failure::unsupported;
    refused.diagnostic = *parsed.error;
    return refused;
  }
  return load(std::make_shared<const nogpu::ptx::module>(std::move(parsed.value)), memory,
              {.owner = 0, .name = std::move(name)});
}

std::optional<fault> run_launch(const launch& what, address_space& memory,
                                host_processors& processors) {
  return run(what, memory, processors);
}

}  // namespace machine_test
