#pragma once
/// \file
/// The modules that the process loaded before, as they were parsed.

#include <nogpu/driver/linked_image.hpp>
#include <nogpu/ptx/parser.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// A module, or why its text is rejected.
struct parsed_code {
  std::shared_ptr<const ptx::module> module;
  std::optional<ptx::diagnostic> error;
};

/// Keeps modules by their text, for all drivers of the process: tests load the same few over and
/// over, and parsing takes most of the time that loading does. **Threads**: any.
class parsed_modules {
 public:
  /// The bytes of text that are kept at most. With its module a text takes twenty times as much.
  static constexpr std::size_t capacity = std::size_t{2} << 20;

  /// Never destroyed, because static objects may still load modules after main.
  static parsed_modules& of_process() {
    static auto* const kept = new parsed_modules;
    return *kept;
  }

  /// Returns the module of PTX or of a linked image. `debug` is as if its target said so.
  parsed_code find_or_parse(const std::string& text, bool debug) {
    std::map<std::string, module_ptr>& known = known_[debug ? 1 : 0];
    {
      const std::lock_guard guard(mutex_);
      if (const auto found = known.find(text); found != known.end()) return {found->second, {}};
    }
    ptx::parse_result parsed = parse_code(text);
    if (!parsed) return {nullptr, std::move(parsed.error)};
    parsed.value.debug = parsed.value.debug || debug;
    auto made = std::make_shared<const ptx::module>(std::move(parsed.value));
    if (text.size() > capacity) return {std::move(made), {}};
    const std::lock_guard guard(mutex_);
    if (bytes_ + text.size() > capacity) {
      for (auto& each : known_) each.clear();
      bytes_ = 0;
    }
    const auto [kept, added] = known.emplace(text, std::move(made));  // or another thread's
    if (added) bytes_ += text.size();
    return {kept->second, {}};
  }

 private:
  using module_ptr = std::shared_ptr<const ptx::module>;

  std::mutex mutex_;
  std::map<std::string, module_ptr> known_[2];  // the second: debug
  std::size_t bytes_ = 0;
};

}}}  // namespace nogpu::v1::driver
