#pragma once
/// \file
/// Results recorded on a GPU: `recorded/<family>.txt`, a line that says where, then each kernel's
/// name and its words in hexadecimal.

#include "manifest.hpp"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace corpus {

struct recording {
  std::string origin;  ///< device, driver and compiler
  std::map<std::string, std::vector<std::uint32_t>> results;
};

inline recording read_recording(const std::string& family) {
  recording read;
  std::istringstream lines(contents(folder() + "recorded/" + family + ".txt"));
  std::vector<std::uint32_t>* current = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# ", 0) == 0) {
      read.origin = line.substr(2);
    } else if (!line.empty() && line[0] != ' ') {
      current = &read.results[line];
    } else if (current != nullptr) {
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        current->push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
      }
    }
  }
  return read;
}

/// Writes `<folder>/<family>.txt`; tells whether that worked.
inline bool write_recording(const std::string& folder, const std::string& family,
                            const recording& made) {
  std::ofstream file(folder + '/' + family + ".txt");
  file << "# " << made.origin << '\n';
  for (const auto& [name, words] : made.results) {
    file << name;
    for (std::size_t k = 0; k < words.size(); ++k) {
      char text[16];
      std::snprintf(text, sizeof text, "%s%08x", k % 8 == 0 ? "\n " : " ", words[k]);
      file << text;
    }
    file << '\n';
  }
  return static_cast<bool>(file.flush());
}

}  // namespace corpus
