#pragma once
/// \file
/// The kernels of the corpus, as their sources list them: the `//!` lines above each say how it is
/// launched, what it gets, and how its results are compared.

#include <gpu/core/dims.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>
#include <vector>

namespace corpus {

struct kernel_entry {
  std::string name;
  gpu::dims grid, block, cluster;
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  std::size_t input_words = 0, output_words = 0;
  std::string input;    ///< what inputs.hpp makes
  std::string compare;  ///< what comparison.hpp understands
  std::string image;    ///< the object that images.hpp makes, if any
  std::string tensor;   ///< the tensor map that tensors.hpp makes, if any
  /// What the literature gives as the result; empty for most.
  std::vector<std::uint32_t> published;
};

struct family {
  std::string name;
  std::string source;
  std::vector<kernel_entry> kernels;
};

/// The folder of the sources: that of this file, or GPU_CORPUS where the program has moved.
inline std::string folder() {
  if (const char* asked = std::getenv("GPU_CORPUS")) return std::string(asked) + '/';
  const std::string here = __FILE__;
  return here.substr(0, here.rfind('/') + 1);
}

/// All of a file, or an empty string.
inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

namespace detail {

inline gpu::dims parse_dims(const std::string& text) {
  std::uint32_t extents[3] = {1, 1, 1};
  std::istringstream stream(text);
  std::string part;
  for (std::uint32_t& extent : extents) {
    if (!std::getline(stream, part, 'x')) break;
    extent = static_cast<std::uint32_t>(std::stoul(part));
  }
  return {extents[0], extents[1], extents[2]};
}

inline void set(kernel_entry& entry, const std::string& key, const std::string& value) {
  if (key == "grid") entry.grid = parse_dims(value);
  if (key == "block") entry.block = parse_dims(value);
  if (key == "cluster") entry.cluster = parse_dims(value);
  if (key == "shared") entry.shared_bytes = static_cast<std::uint32_t>(std::stoul(value));
  if (key == "cooperative") entry.cooperative = value == "1";
  if (key == "in") entry.input_words = std::stoul(value);
  if (key == "out") entry.output_words = std::stoul(value);
  if (key == "input") entry.input = value;
  if (key == "compare") entry.compare = value;
  if (key == "image") entry.image = value;
  if (key == "tensor") entry.tensor = value;
  if (key == "published") {
    std::istringstream words(value);
    for (std::string word; std::getline(words, word, ',');) {
      entry.published.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
    }
  }
}

}  // namespace detail

/// The family in `<name>.cu`. A `//!` line without a name continues the one before it.
inline family read_family(const std::string& name) {
  family read{name, contents(folder() + name + ".cu"), {}};
  std::istringstream lines(read.source);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("//!", 0) != 0) continue;
    std::istringstream words(line.substr(3));
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        read.kernels.emplace_back().name = word;
      } else if (!read.kernels.empty()) {
        detail::set(read.kernels.back(), word.substr(0, equals), word.substr(equals + 1));
      }
    }
  }
  return read;
}

}  // namespace corpus
