#pragma once
/// \file
/// Where in the program something was made: call stacks remembered as small numbers, and told as
/// file and line when somebody reads a report.

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
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
    while (const std::size_t number = next_number(text, out)) {
      look_up({number});
      out += place(number);
    }
    return out;
  }

  /// The same for many texts, in place: addr2line reads all debug information at each call, so it
  /// is asked about everything at once.
  void explain(const std::vector<std::string*>& texts) {
    std::vector<std::size_t> numbers;
    for (const std::string* each : texts) {
      std::string_view rest = *each;
      std::string skipped;
      while (const std::size_t number = next_number(rest, skipped)) numbers.push_back(number);
    }
    look_up(numbers);
    for (std::string* each : texts) *each = explain(*each);
  }

 private:
  static constexpr std::size_t no_number = static_cast<std::size_t>(-1);

  /// Takes the text up to the next marker off `text`, adds it to `out`, and gives the number behind
  /// the marker; 0 at the end. A marker without a number gives one that no place has.
  static std::size_t next_number(std::string_view& text, std::string& out) {
    const std::size_t at = text.find(marker);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + marker.size());
    std::size_t number = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      number = number * 10 + static_cast<std::size_t>(text.front() - '0');
      text.remove_prefix(1);
    }
    return number == 0 ? no_number : number;
  }

  std::string place(std::size_t number) {
    const std::lock_guard lock(mutex_);
    const auto known = places_.find(number);
    return known != places_.end() ? known->second : "an unknown place";
  }

  /// Finds the places of all numbers that are not known yet.
  void look_up(const std::vector<std::size_t>& numbers) {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> wanted;
    std::vector<const std::vector<void*>*> stacks;
    for (const std::size_t number : numbers) {
      const bool exists = number != 0 && number <= stacks_.size();
      if (!exists || !places_.emplace(number, std::string()).second) continue;
      wanted.push_back(number);
      stacks.push_back(&stacks_[number - 1]);
    }
    const std::vector<std::vector<frame>> located = locate(stacks);
    for (std::size_t i = 0; i < wanted.size(); ++i) places_[wanted[i]] = find_place(located[i]);
  }

  /// A frame of a call stack as a program file has it.
  struct frame {
    std::string file;
    std::uintptr_t offset = 0;
    std::vector<std::string> lines;  // file:line, the innermost inlined function first
  };
  struct frame_place {
    std::size_t stack = 0;
    std::size_t frame = 0;
  };

  /// The innermost call that was not made by this library. What runs inside of the library's own
  /// frames (the stack walk itself, a sanitizer's version of it) does not count.
  static std::string find_place(const std::vector<frame>& frames) {
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

  /// The frames of each stack with what addr2line says about them; one question for each program
  /// file.
  static std::vector<std::vector<frame>> locate(
      const std::vector<const std::vector<void*>*>& stacks) {
    std::vector<std::vector<frame>> located(stacks.size());
    std::map<std::string, std::vector<frame_place>> by_file;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      for (void* each : *stacks[i]) {
        Dl_info where{};
        if (::dladdr(each, &where) == 0 || where.dli_fname == nullptr) continue;
        // A return address points behind the call; one byte less is inside of it.
        const auto address = reinterpret_cast<std::uintptr_t>(each) - 1;
        std::string file = where.dli_fname;
        if (file.find('/') == std::string::npos) file = executable();
        by_file[file].push_back({i, located[i].size()});
        located[i].push_back(
            {file, address - reinterpret_cast<std::uintptr_t>(where.dli_fbase), {}});
      }
    }
    for (const auto& [file, members] : by_file) {
      // A command has to stay within what the system takes.
      constexpr std::size_t most = 2000;
      for (std::size_t first = 0; first < members.size(); first += most) {
        const std::size_t last = std::min(first + most, members.size());
        std::vector<frame*> frames;
        for (std::size_t i = first; i < last; ++i)
          frames.push_back(&located[members[i].stack][members[i].frame]);
        ask_addr2line(file, frames);
      }
    }
    return located;
  }

  static std::string executable() {
    std::array<char, 4096> path{};
    const ::ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
  }

  static void ask_addr2line(const std::string& file, const std::vector<frame*>& frames) {
    if (file.empty() || file.find('\'') != std::string::npos) return;
    std::string command = "addr2line -a -i -e '" + file + "'";
    for (const frame* each : frames) {
      char address[32];
      std::snprintf(address, sizeof address, " 0x%zx", static_cast<std::size_t>(each->offset));
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
      } else if (next != 0 && next <= frames.size()) {
        frames[next - 1]->lines.push_back(std::move(line));
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
