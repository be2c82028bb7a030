#pragma once
/// \file
/// Where in the program something was made: call stacks remembered as small numbers, and told as
/// file and line when somebody reads a report.

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace gpu::testing::cpu {

/// Call stacks of the process, each kept once.
/// Threads: any member from any thread.
class place_table {
 public:
  static constexpr int frames_kept = 12;
  static constexpr std::string_view marker = "call site ";

  /// A short text that stands for the stack of the calling thread: "call site 7".
  std::string remember() {
    std::array<void*, frames_kept> stack{};
    const int count = ::backtrace(stack.data(), frames_kept);
    const std::vector<void*> frames(stack.begin(), stack.begin() + count);
    const std::lock_guard lock(mutex_);
    const auto [found, added] = numbers_.emplace(frames, stacks_.size() + 1);
    if (added) stacks_.push_back(frames);
    return std::string(marker) + std::to_string(found->second);
  }

  /// The text with every "call site 7" replaced by the place in the program's source, where the
  /// debug information and the tool addr2line give one, or else by module and offset.
  std::string explain(std::string_view text) {
    std::string out;
    for (;;) {
      const std::size_t at = text.find(marker);
      if (at == std::string_view::npos) return out.append(text);
      out.append(text.substr(0, at));
      text.remove_prefix(at + marker.size());
      std::size_t number = 0;
      while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        number = number * 10 + static_cast<std::size_t>(text.front() - '0');
        text.remove_prefix(1);
      }
      out += place(number);
    }
  }

 private:
  std::string place(std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (number == 0 || number > stacks_.size()) return "an unknown place";
    if (const auto known = places_.find(number); known != places_.end()) return known->second;
    std::string text = find_place(stacks_[number - 1]);
    places_.emplace(number, text);
    return text;
  }

  /// The innermost call that was not made by this library.
  static std::string find_place(const std::vector<void*>& stack) {
    std::string fallback;
    for (void* frame : stack) {
      Dl_info where{};
      if (::dladdr(frame, &where) == 0 || where.dli_fname == nullptr) continue;
      // A return address points behind the call; one byte less is inside of it.
      const auto address = reinterpret_cast<std::uintptr_t>(frame) - 1;
      const auto base = reinterpret_cast<std::uintptr_t>(where.dli_fbase);
      std::string file = where.dli_fname;
      if (file.find('/') == std::string::npos) file = "/proc/self/exe";
      for (const std::string& line : ask_addr2line(file, address - base))
        if (line.find("/gpu/") == std::string::npos && line.find("??") == std::string::npos)
          return line;
      char offset[32];
      std::snprintf(offset, sizeof offset, "+0x%zx", static_cast<std::size_t>(address - base));
      fallback = std::string(where.dli_fname) + offset;
    }
    return fallback.empty() ? "an unknown place" : fallback;
  }

  /// File and line of an address in a program file, the innermost inlined function first.
  static std::vector<std::string> ask_addr2line(const std::string& file, std::uintptr_t offset) {
    std::vector<std::string> lines;
    if (file.find('\'') != std::string::npos) return lines;
    std::string path = file;
    if (path == "/proc/self/exe") {  // which would be the shell's
      std::array<char, 4096> target{};
      const ::ssize_t length = ::readlink("/proc/self/exe", target.data(), target.size() - 1);
      if (length <= 0) return lines;
      path.assign(target.data(), static_cast<std::size_t>(length));
    }
    char address[32];
    std::snprintf(address, sizeof address, "0x%zx", static_cast<std::size_t>(offset));
    const std::string command = "addr2line -i -e '" + path + "' " + address + " 2>/dev/null";
    std::FILE* answer = ::popen(command.c_str(), "re");
    if (answer == nullptr) return lines;
    std::array<char, 2048> buffer{};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), answer) != nullptr) {
      std::string line = buffer.data();
      while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
      if (const std::size_t note = line.find(" (discriminator"); note != std::string::npos)
        line.resize(note);
      lines.push_back(std::move(line));
    }
    ::pclose(answer);
    return lines;
  }

  std::mutex mutex_;
  std::map<std::vector<void*>, std::size_t> numbers_;
  std::vector<std::vector<void*>> stacks_;
  std::map<std::size_t, std::string> places_;
};

}  // namespace gpu::testing::cpu
