// file_statistics [--column NAME|NUMBER] [--bins NUMBER] [FILE]: statistics of a column of numbers.
//
// Numbers stream through two pinned buffers to the GPU while the file is read. There one reduction
// of a structure finds count, range, mean and variance, a histogram counts, and a sort gives
// quantiles. Fields are separated by commas, semicolons or blanks; a first line without a number in
// the column has names; empty lines and those that begin with '#' are skipped. Without FILE the
// program makes one. Exit code: 0, or 1 if the file cannot be used or the output not written, 2 for
// a wrong call, 3 if the GPU or the compiler gave an error.

#include <gpu/algorithm.hpp>
#include <gpu/algorithm/sort.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

struct moments {
  double count, minimum, maximum, mean, squares;  // squares: of the distances from the mean
};
template <> struct gpu::device_name<moments> {
  static constexpr const char* value = "moments";
  static constexpr const char* definition =
      "struct moments { double count, minimum, maximum, mean, squares; };";
};

namespace {

constexpr std::size_t chunk_numbers = std::size_t{1} << 15;
constexpr std::array<double, 5> quantiles{0.05, 0.25, 0.5, 0.75, 0.95};

struct options {
  std::string column = "1";
  std::size_t bins = 16;
  const char* path = nullptr;
};

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

/// Shows on a terminal how much of the file is read, and removes the line at the end.
class progress_bar {
 public:
  explicit progress_bar(double total) : total_{total}, shown_{::isatty(STDERR_FILENO) != 0} {}
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void show(double done) {
    const int percent = total_ > 0 ? static_cast<int>(100 * done / total_) : 100;
    if (!shown_ || percent == last_) return;
    last_ = percent;
    std::fputs("\rreading [", stderr);
    for (int k = 0; k < 40; ++k) std::fputs(k < percent * 40 / 100 ? "█" : " ", stderr);
    std::fprintf(stderr, "] %3d %%", percent);
  }

 private:
  double total_;
  bool shown_;
  int last_ = -1;
};

/// Takes the numbers of one column from the lines of a file. If something is wrong, `problem` is
/// set to a sentence with the place.
struct column_reader {
  std::string name;  // of the file
  std::string column;
  std::size_t position = 0;  // of the column, from 1; 0 if it is not known yet
  std::size_t line_number = 0;
  std::string problem = {};

  /// Returns field number `wanted` of a line, from 1; null if there are fewer.
  static std::optional<std::string_view> field(std::string_view line, std::size_t wanted) {
    const char* const blanks = " \t\r";
    for (std::size_t number = 1;; ++number) {
      line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
      const std::string_view found = line.substr(0, line.find_first_of(",; \t\r"));
      if (number == wanted)
        return found.empty() && line.empty() ? std::nullopt : std::optional{found};
      line.remove_prefix(found.size());
      line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
      if (line.empty()) return std::nullopt;
      if (line[0] == ',' || line[0] == ';') line.remove_prefix(1);
    }
  }
  static std::optional<double> number_in(std::string_view field) {
    double value = 0;
    const char* const end = field.data() + field.size();
    const auto [rest, error] = std::from_chars(field.data(), end, value);
    if (error != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
    return value;
  }

  void complain(std::string_view line, std::string_view at, const std::string& what) {
    problem = name + ":" + std::to_string(line_number) + ":" +
              std::to_string(at.data() - line.data() + 1) + ": " + what;
  }

  /// Finds the column in the first line. Returns whether that line has names.
  bool find_column(std::string_view line) {
    const auto numbered = std::from_chars(column.data(), column.data() + column.size(), position);
    if (numbered.ec == std::errc() && numbered.ptr == column.data() + column.size() &&
        position > 0) {
      const auto first = field(line, position);
      return first && !number_in(*first);
    }
    for (position = 1; const auto each = field(line, position); ++position) {
      if (*each == column) return true;
    }
    complain(line, line, "no column is called \"" + column + "\"");
    return true;
  }

  /// Returns the number of a line; null if it has none, or if there is a problem.
  std::optional<double> read(std::string_view line) {
    ++line_number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos || line[begin] == '#') return std::nullopt;
    if (position == 0 && find_column(line)) return std::nullopt;
    const auto found = field(line, position);
    if (!found) {
      complain(line, line.substr(line.size()),
               "the line has no column " + std::to_string(position));
      return std::nullopt;
    }
    const auto value = number_in(*found);
    if (!value) complain(line, *found, "\"" + std::string(*found) + "\" is not a finite number");
    return value;
  }
};

/// One of two pinned buffers that numbers pass through in turn.
struct lane {
  gpu::stream stream;
  gpu::pinned_vector<double> host;

  static gpu::result<lane> create(gpu::device device) {
    gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto host = GPU_TRY(gpu::pinned_vector<double>::create(device, chunk_numbers));
    return lane{std::move(stream), std::move(host)};
  }
};

/// Collects numbers in device memory.
struct uploader {
  std::array<lane, 2> lanes;
  gpu::growing_buffer<double> numbers;
  std::size_t turn = 0, filled = 0;

  static gpu::result<uploader> create(gpu::device device, std::size_t most) {
    // Each in a variable: a braced list does not destroy its first elements if a later one fails.
    auto first = GPU_TRY(lane::create(device));
    auto second = GPU_TRY(lane::create(device));
    auto numbers = GPU_TRY(gpu::growing_buffer<double>::create(device, most));
    return uploader{{std::move(first), std::move(second)}, std::move(numbers)};
  }
  gpu::result<> add(double number) {
    lanes[turn].host[filled++] = number;
    return filled == chunk_numbers ? flush() : gpu::result<>{};
  }
  /// Queues the copy of a buffer, and waits until the other one is free.
  gpu::result<> flush() {
    lane& full = lanes[turn];
    const std::size_t before = numbers.size();
    GPU_TRY(numbers.resize(before + filled));
    GPU_TRY(gpu::copy(full.stream, full.host.first(filled), numbers.span().subspan(before)));
    filled = 0;
    turn = 1 - turn;
    return lanes[turn].stream.synchronize();
  }
  gpu::result<> finish() {
    GPU_TRY(flush());
    return lanes[1 - turn].stream.synchronize();
  }
};

/// Reads the column of a file to the device. Where the file is wrong `reader.problem` says so.
gpu::result<> read_numbers(std::FILE* file, double size, column_reader& reader, uploader& to) {
  progress_bar progress(size);
  std::vector<char> block(std::size_t{1} << 20);
  std::string rest;  // the beginning of a line whose end is not read yet
  double done = 0;
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file)) {
    rest.append(block.data(), got);
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != rest.npos; begin = end + 1) {
      const auto number = reader.read(std::string_view(rest).substr(begin, end - begin));
      if (!reader.problem.empty()) return {};
      if (number) GPU_TRY(to.add(*number));
    }
    rest.erase(0, begin);
    progress.show(done += static_cast<double>(got));
  }
  if (std::ferror(file) != 0) {
    reader.problem = reader.name + ": " + std::strerror(errno);
    return {};
  }
  if (const auto number = rest.empty() ? std::nullopt : reader.read(rest)) GPU_TRY(to.add(*number));
  return to.finish();
}

struct report {
  moments values;
  std::array<double, quantiles.size()> at_quantiles;
  double low, high;  // of the histogram
  std::vector<std::uint64_t> counts;
};

/// Computes everything on the GPU. Sorts the numbers.
gpu::result<report> analyze(gpu::stream_ref stream, gpu::device_span<double> x, std::size_t bins) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto find_moments = GPU_TRY((gpu::reduction<moments, const double*>::create(
      {.parameters = "x",
       .map = "moments{1, x[i], x[i], x[i], 0}",
       .reduce = "combine(a, b)",
       .neutral = {0, infinity, -infinity, 0, 0},
       .options = {.name = "find_moments", .preamble = R"(
         moments combine(const moments& a, const moments& b) {
           const double count = a.count + b.count, distance = b.mean - a.mean;
           const double share = count > 0 ? b.count / count : 0;
           return {count, min(a.minimum, b.minimum), max(a.maximum, b.maximum),
                   a.mean + distance * share,
                   a.squares + b.squares + distance * distance * a.count * share};
         })"}})));
  report made{};
  made.values = GPU_TRY(find_moments(stream, x));
  made.low = made.values.minimum;
  made.high = made.values.maximum;
  if (made.low == made.high) {
    made.low -= 0.5;
    made.high += 0.5;
  }
  auto counts = GPU_TRY(gpu::device_buffer<std::uint64_t>::create(stream, bins));
  GPU_TRY(gpu::histogram(stream, x, made.low, made.high, counts));
  made.counts.resize(bins);
  GPU_TRY(gpu::copy(counts, made.counts));  // waits for all that is queued

  GPU_TRY(gpu::sort(stream, x));
  std::array<std::uint64_t, 2 * quantiles.size()> neighbors{};
  for (std::size_t q = 0; q < quantiles.size(); ++q) {
    neighbors[2 * q] = static_cast<std::uint64_t>(quantiles[q] * static_cast<double>(x.size() - 1));
    neighbors[2 * q + 1] = std::min<std::uint64_t>(neighbors[2 * q] + 1, x.size() - 1);
  }
  auto indices = GPU_TRY(gpu::device_buffer<std::uint64_t>::create(stream, neighbors.size()));
  auto found = GPU_TRY(gpu::device_buffer<double>::create(stream, neighbors.size()));
  GPU_TRY(gpu::copy(neighbors, indices));
  GPU_TRY(gpu::gather(stream, x, indices, found));
  std::array<double, neighbors.size()> sorted{};
  GPU_TRY(gpu::copy(found, sorted));
  for (std::size_t q = 0; q < quantiles.size(); ++q) {
    const double place = quantiles[q] * static_cast<double>(x.size() - 1);
    made.at_quantiles[q] = std::lerp(sorted[2 * q], sorted[2 * q + 1], place - std::floor(place));
  }
  return made;
}

/// Returns a bar of up to 40 characters, in steps of an eighth.
std::string bar(double share) {
  constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto steps = static_cast<std::size_t>(std::lround(share * 320));
  std::string made;
  for (std::size_t k = 0; k < steps / 8; ++k) made += "█";
  return made + eighths[steps % 8];
}

void print(const std::string& name, const report& r) {
  const moments& v = r.values;
  const auto row = [](const char* what, double value) {
    std::printf("  %-9s %15.8g\n", what, value);
  };
  std::printf("%s\n  %-9s %15.0f\n", name.c_str(), "count", v.count);
  row("minimum", v.minimum);
  row("maximum", v.maximum);
  row("mean", v.mean);
  if (v.count > 1) row("variance", v.squares / (v.count - 1));
  for (std::size_t q = 0; q < quantiles.size(); ++q) {
    const std::string what = std::to_string(std::lround(100 * quantiles[q])) + " %";
    row(quantiles[q] == 0.5 ? "median" : what.c_str(), r.at_quantiles[q]);
  }
  std::uint64_t most = 1;
  for (const std::uint64_t count : r.counts) most = std::max(most, count);
  const double width = (r.high - r.low) / static_cast<double>(r.counts.size());
  for (std::size_t k = 0; k < r.counts.size(); ++k) {
    const double share = static_cast<double>(r.counts[k]) / static_cast<double>(most);
    std::printf("  from %12.6g %10llu %s\n", r.low + static_cast<double>(k) * width,
                static_cast<unsigned long long>(r.counts[k]), bar(share).c_str());
  }
}

/// Makes a file with two columns, the second one from a normal distribution; null if that fails.
file_handle make_file() {
  file_handle made(std::tmpfile());
  if (!made) return made;
  std::mt19937_64 engine(42);
  std::normal_distribution<double> normal(100, 15);
  bool good = std::fputs("number,value\n", made.get()) >= 0;
  for (int k = 1; k <= 20'000 && good; ++k)
    good = std::fprintf(made.get(), "%d,%.6f\n", k, normal(engine)) > 0;
  if (!good || std::fseek(made.get(), 0, SEEK_SET) != 0) made.reset();
  return made;
}

/// Returns the exit code.
gpu::result<int> run(const options& chosen) {
  const file_handle file =
      chosen.path != nullptr ? file_handle(std::fopen(chosen.path, "r")) : make_file();
  column_reader reader{chosen.path != nullptr ? chosen.path : "made file", chosen.column};
  struct stat status{};
  if (!file || ::fstat(::fileno(file.get()), &status) != 0) {
    reader.problem = reader.name + ": " + std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    reader.problem = reader.name + ": not a regular file";
  } else if (status.st_size != 0) {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const auto size = static_cast<std::size_t>(status.st_size);
    auto to = GPU_TRY(uploader::create(device, size / 2 + 1));  // a digit and the end of a line
    GPU_TRY(read_numbers(file.get(), static_cast<double>(size), reader, to));
    if (reader.problem.empty() && to.numbers.size() != 0) {
      print(reader.name, GPU_TRY(analyze(to.lanes[0].stream, to.numbers.span(), chosen.bins)));
      return 0;
    }
  }
  if (reader.problem.empty()) reader.problem = reader.name + ": no numbers";
  std::fprintf(stderr, "file_statistics: %s\n", reader.problem.c_str());
  return 1;
}

constexpr const char* usage =
    "usage: file_statistics [--column NAME|NUMBER] [--bins NUMBER] [FILE]\n";

/// Returns the options; null for a wrong call.
std::optional<options> read_options(int count, char** arguments) {
  options made;
  for (int k = 1; k < count; ++k) {
    const std::string_view each = arguments[k];
    const bool has_value = k + 1 < count;
    if (each == "--column" && has_value) {
      made.column = arguments[++k];
    } else if (each == "--bins" && has_value) {
      const std::string_view value = arguments[++k];
      const auto read = std::from_chars(value.data(), value.data() + value.size(), made.bins);
      if (read.ec != std::errc() || *read.ptr != '\0' || made.bins < 1 || made.bins > 1000)
        return std::nullopt;
    } else if (each.starts_with("--") || made.path != nullptr) {
      return std::nullopt;
    } else {
      made.path = arguments[k];
    }
  }
  if (made.path == nullptr && made.column == "1") made.column = "value";
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0)
    return std::fputs(usage, stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
  const std::optional<options> chosen = read_options(argc, argv);
  if (!chosen) {
    std::fputs(usage, stderr);
    return 2;
  }
  gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::result<int> code = run(*chosen);
  if (!code) {
    std::fprintf(stderr, "file_statistics: %s\n", code.error().message().c_str());
    return 3;
  }
  // The stream alone says whether an earlier write failed.
  const int error = std::fflush(stdout) != 0 ? errno : std::ferror(stdout) != 0 ? EIO : 0;
  if (error != 0) {
    std::fprintf(stderr, "file_statistics: standard output: %s\n", std::strerror(error));
    return 1;
  }
  return *code;
}
