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
  static constexpr int frames_kept = 24;
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

  /// A frame of a call stack as a program file has it.
  struct frame {
    std::string file;
    std::uintptr_t offset = 0;
    std::vector<std::string> lines;  // file:line, the innermost inlined function first
  };

  /// The innermost call that was not made by this library. What runs inside of the library's own
  /// frames (the stack walk itself, a sanitizer's version of it) does not count.
  static std::string find_place(const std::vector<void*>& stack) {
    std::vector<frame> frames = locate(stack);
    bool in_library = false;
    for (const frame& each : frames) {
      for (const std::string& line : each.lines) {
        const bool own = line.find("/gpu/") != std::string::npos;
        if (!own && in_library && line.find("??") == std::string::npos) return line;
        in_library = in_library || own;
      }
    }
    // Without debug information: where the outermost frames of the program lie.
    std::string text;
    for (const frame& each : frames) {
      char offset[32];
      std::snprintf(offset, sizeof offset, "+0x%zx", static_cast<std::size_t>(each.offset));
      text += (text.empty() ? "" : " < ") + each.file + offset;
    }
    return text.empty() ? "an unknown place" : text;
  }

  /// The frames with what addr2line says about them; one question for each program file.
  static std::vector<frame> locate(const std::vector<void*>& stack) {
    std::vector<frame> frames;
    std::map<std::string, std::vector<std::size_t>> by_file;
    for (void* each : stack) {
      Dl_info where{};
      if (::dladdr(each, &where) == 0 || where.dli_fname == nullptr) continue;
      // A return address points behind the call; one byte less is inside of it.
      const auto address = reinterpret_cast<std::uintptr_t>(each) - 1;
      std::string file = where.dli_fname;
      if (file.find('/') == std::string::npos) file = executable();
      by_file[file].push_back(frames.size());
      frames.push_back({file, address - reinterpret_cast<std::uintptr_t>(where.dli_fbase), {}});
    }
    for (const auto& [file, members] : by_file) ask_addr2line(file, members, frames);
    return frames;
  }

  static std::string executable() {
    std::array<char, 4096> path{};
    const ::ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
  }

  static void ask_addr2line(const std::string& file, const std::vector<std::size_t>& members,
                            std::vector<frame>& frames) {
    if (file.empty() || file.find('\'') != std::string::npos) return;
    std::string command = "addr2line -a -i -e '" + file + "'";
    for (const std::size_t each : members) {
      char address[32];
      std::snprintf(address, sizeof address, " 0x%zx",
                    static_cast<std::size_t>(frames[each].offset));
      command += address;
    }
    command += " 2>/dev/null";
    std::FILE* answer = ::popen(command.c_str(), "re");
    if (answer == nullptr) return;
    std::array<char, 4096> buffer{};
    std::size_t next = 0;  // each answer begins with the address
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), answer) != nullptr) {
      std::string line = buffer.data();
      while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
      if (const std::size_t note = line.find(" (discriminator"); note != std::string::npos)
        line.resize(note);
      if (line.starts_with("0x") && line.find(':') == std::string::npos) {
        ++next;
      } else if (next != 0 && next <= members.size()) {
        frames[members[next - 1]].lines.push_back(std::move(line));
      }
    }
    ::pclose(answer);
  }

  std::mutex mutex_;
  std::map<std::vector<void*>, std::size_t> numbers_;
  std::vector<std::vector<void*>> stacks_;
  std::map<std::size_t, std::string> places_;
};

}  // namespace gpu::testing::cpu
