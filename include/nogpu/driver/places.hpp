#pragma once
/// \file
/// Locations in the program's source: call stacks are stored as small numbers, and are translated
/// to file and line only for a report.

#include <nogpu/driver/addr2line.hpp>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
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

namespace nogpu { inline namespace v1 { namespace driver {

/// The call stacks of the process, each stored once.
/// **Threads**: any member may be called from any thread.
class place_table {
 public:
  static constexpr int frames_kept = 24;
  static constexpr std::string_view marker = "call site ";

  /// Stores the stack of the calling thread. Returns a short text that refers to it: "call site 7".
  std::string remember() {
    std::array<void*, frames_kept> stack{};
    const int count = ::backtrace(stack.data(), frames_kept);
    const std::vector<void*> frames(stack.begin(), stack.begin() + count);
    const std::lock_guard lock(mutex_);
    auto found = numbers_.find(frames);
    if (found == numbers_.end()) {
      stacks_.push_back(frames);
      found = numbers_.emplace(frames, stacks_.size()).first;
    }
    return std::string(marker) + std::to_string(found->second);
  }

  /// Replaces every "call site 7" in a text by file and line, if there is debug information and the
  /// tool addr2line, otherwise by module and offset.
  std::string explain(std::string_view text) {
    std::string out;
    while (const std::size_t number = next_number(text, out)) {
      out += place(number);
    }
    return out;
  }

 private:
  static constexpr std::size_t no_number = static_cast<std::size_t>(-1);

  /// Moves the text up to the next marker from `text` to `out`, and returns the number after the
  /// marker; 0 at the end. Returns an unused number for a marker without a number.
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
    if (number > stacks_.size()) return "an unknown location";
    std::string& known = places_[number];
    if (known.empty()) known = find_place(stacks_[number - 1]);
    return known;
  }

  /// Returns the innermost call that this library did not make. Ignores frames inside of those of
  /// the library (the stack walk itself, or a sanitizer's version of it).
  static std::string find_place(const std::vector<void*>& stack) {
    std::string headers;  // the folder of gpu/ and nogpu/; "" until the first frame in these
    std::string offsets;
    for (void* each : stack) {
      Dl_info where{};
      link_map* object = nullptr;
      if (::dladdr1(each, &where, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0 ||
          object == nullptr)
        continue;
      // A return address is after the call; one byte less is inside of it. The tool expects offsets
      // from the load address in the file, which is 0 unless it was linked with -no-pie.
      const std::uintptr_t offset =
          reinterpret_cast<std::uintptr_t>(each) - 1 - std::uintptr_t{object->l_addr};
      const std::string file = *object->l_name != '\0' ? object->l_name : executable();
      // The C library called main, or started a thread: where its lines are installed, they are
      // still none of the program's.
      if (file.find("/libc.so.") != std::string::npos) continue;
      bool in_library = false;
      for (const std::string& found : lines_of(file, offset)) {
        std::string line = without_dots(found);
        if (headers.empty()) headers = folder_before(line, "nogpu/driver/places.hpp:");
        if (headers.empty()) continue;
        const bool inside =
            line.starts_with(headers + "gpu/") || line.starts_with(headers + "nogpu/");
        in_library = in_library || inside;
        if (!inside && line.find("??") == std::string::npos) return line;
      }
      if (in_library) continue;
      char text[32];
      std::snprintf(text, sizeof text, "+0x%zx", static_cast<std::size_t>(offset));
      offsets += (offsets.empty() ? "" : " < ") + file + text;
    }
    // Without debug information: the offsets of the frames in their modules.
    return offsets.empty() ? "an unknown location" : offsets;
  }

  /// Removes "." and ".." from an absolute path. Returns any other text unchanged.
  static std::string without_dots(std::string_view path) {
    if (!path.starts_with('/')) return std::string(path);
    std::string out;
    while (!path.empty()) {
      path.remove_prefix(1);  // the slash
      const std::string_view part = path.substr(0, path.find('/'));
      path.remove_prefix(part.size());
      if (part == "..") {
        out.resize(out.empty() ? 0 : out.rfind('/'));
      } else if (!part.empty() && part != ".") {
        out.append("/").append(part);
      }
    }
    return out;
  }

  /// Returns the text before `name` in `line` if it is a directory.
  static std::string folder_before(const std::string& line, std::string_view name) {
    const std::size_t at = line.rfind(name);
    return at != std::string::npos && at != 0 && line[at - 1] == '/' ? line.substr(0, at) : "";
  }

  static std::string executable() {
    std::array<char, 4096> path{};
    const ::ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
  }

  std::mutex mutex_;
  std::map<std::vector<void*>, std::size_t> numbers_;
  std::vector<std::vector<void*>> stacks_;
  std::map<std::size_t, std::string> places_;
};

}}}  // namespace nogpu::v1::driver
