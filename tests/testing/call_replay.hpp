#pragma once
/// \file
/// Makes the calls of a recording (`trace_format::recording`) again, on another driver: shows that
/// a recording holds what that takes.

#include <gpu/driver/entry_points.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace test {

class call_replay {
 public:
  explicit call_replay(const gpu::driver::entry_points& table) : table_{table} {}

  using bytes = std::vector<unsigned char>;
  std::vector<bytes> copied_to_host;  ///< what each copy to the host brought
  std::vector<std::string> problems;  ///< calls that gave another result than in the recording

  /// Makes the call of one line.
  void play(std::string_view line) {
    call now;
    now.name = text_after(line, "\"call\": \"");
    now.in = items_after(line, "\"in\": [");
    now.out = items_after(line, "\"out\": [");
    now.result = std::atoi(std::string(line.substr(line.find("\"result\": ") + 10, 8)).c_str());
    memory_.clear();
    storage_.clear();
    for (std::string_view rest = line.substr(line.find("\"memory\": ["));;) {
      const std::size_t at = rest.find("[\"0x");
      if (at == rest.npos) break;
      rest.remove_prefix(at + 2);
      const std::uint64_t address =
          std::strtoull(std::string(rest.substr(0, 20)).c_str(), nullptr, 16);
      storage_.push_back(decoded(text_after(rest, ", \"")));
      memory_.emplace(address, &storage_.back());
    }
    for (auto& [address, block] : memory_) patch(*block);
#define GPU_DRIVER_ENTRY(member, function, version) \
  if (now.name == #function) return make(now, table_.member);
#include <gpu/driver/detail/entry_points.inc>
    problems.push_back(now.name + " is no function");
  }

 private:
  struct call {
    std::string name;
    std::vector<std::string> in, out;
    int result = 0;
  };

  static std::string text_after(std::string_view text, std::string_view key) {
    text.remove_prefix(text.find(key) + key.size());
    return std::string(text.substr(0, text.find('"')));
  }
  /// The items of a list of numbers and strings, strings without their quotes.
  static std::vector<std::string> items_after(std::string_view text, std::string_view key) {
    text.remove_prefix(text.find(key) + key.size());
    std::vector<std::string> items;
    std::string item;
    bool quoted = false, any = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quoted && c == '\\') {
        item += text[++i];
      } else if (c == '"') {
        quoted = !quoted, any = true;
      } else if (!quoted && (c == ',' || c == ']')) {
        if (any || !item.empty()) items.push_back(std::exchange(item, {}));
        any = false;
        if (c == ']') break;
      } else if (quoted || c != ' ') {
        item += c;
      }
    }
    return items;
  }
  static bytes decoded(std::string_view base64) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes out;
    unsigned bits = 0, group = 0;
    for (const char c : base64) {
      if (c == '=') break;
      group = (group << 6 | static_cast<unsigned>(alphabet.find(c))) & 0xffffff;
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      out.push_back(static_cast<unsigned char>(group >> bits));
    }
    return out;
  }

  /// What a recorded handle or address is here.
  std::uint64_t here(std::uint64_t recorded) const {
    if (const auto block = memory_.find(recorded); block != memory_.end())
      return reinterpret_cast<std::uintptr_t>(block->second->data());
    auto known = values_.upper_bound(recorded);
    if (known == values_.begin()) return recorded;
    --known;
    const bool inside = recorded >> 48 == 1 && recorded - known->first < 1u << 20;  // device memory
    return recorded == known->first || inside ? known->second + (recorded - known->first)
                                              : recorded;
  }
  void patch(bytes& block) const {
    for (std::size_t i = 0; i + 8 <= block.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, block.data() + i, 8);
      if (word < 4096) continue;
      word = here(word);
      std::memcpy(block.data() + i, &word, 8);
    }
  }

  template <class T> T argument(const std::string& written) {
    if constexpr (std::is_same_v<T, const char*>) {
      return written == "null" ? nullptr : written.c_str();
    } else if constexpr (std::is_pointer_v<T>) {
      if (written == "null") return nullptr;
      const std::uint64_t recorded = std::strtoull(written.c_str(), nullptr, 16);
      const std::uint64_t now = here(recorded);
      // An address of the other program's memory that was not read is there to be written.
      static_assert(sizeof(T) == sizeof now);
      const bool handle = recorded >> 48 == 0xc0;
      if (now == recorded && !handle && recorded > 2) return (T)scratch_.data();
      return (T)now;
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      const std::uint64_t number = std::strtoull(written.c_str(), nullptr, 0);
      return static_cast<T>(std::is_same_v<T, CUdeviceptr> ? here(number) : number);
    } else {
      T value{};
      const bytes raw = decoded(written);
      std::memcpy(&value, raw.data(), raw.size() < sizeof value ? raw.size() : sizeof value);
      return value;
    }
  }

  template <class... Arguments>
  void make(const call& now, CUresult(CUDAAPI* function)(Arguments...)) {
    make(now, function, std::index_sequence_for<Arguments...>{});
  }
  template <class... Arguments, std::size_t... I>
  void make(const call& now, CUresult(CUDAAPI* function)(Arguments...), std::index_sequence<I...>) {
    scratch_.assign(1 << 16, 0);
    if (now.in.size() != sizeof...(Arguments)) {
      problems.push_back(now.name + " has another number of arguments");
      return;
    }
    const int result = static_cast<int>(function(argument<Arguments>(now.in[I])...));
    if (result != now.result)
      problems.push_back(now.name + " gave " + std::to_string(result) + ", not " +
                         std::to_string(now.result));
    // Of all that is written to one place, the calls made here write one number or handle.
    std::uint64_t written = 0;
    std::memcpy(&written, scratch_.data(), sizeof written);
    if (!now.out.empty() && result == 0) {
      const std::uint64_t recorded = std::strtoull(now.out[0].c_str(), nullptr, 0);
      if (recorded >= 4096) values_[recorded] = written;
    }
    if (now.name.starts_with("cuMemcpyDtoH"))
      copied_to_host.emplace_back(
          scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(
                                                   std::strtoull(now.in[2].c_str(), nullptr, 0)));
  }

  const gpu::driver::entry_points& table_;
  std::map<std::uint64_t, std::uint64_t>
      values_;                              // recorded handles and addresses, as they are here
  std::map<std::uint64_t, bytes*> memory_;  // of the call, by recorded address
  std::deque<bytes> storage_;
  bytes scratch_;
};

}  // namespace test
