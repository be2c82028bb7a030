// Processes that compile through one cache's folder while others of them are killed at any moment,
// a header changes under them, and, in the second half, the folder is too small. Shows that no
// result is wrong, and in the first half that none is lost once it was stored.
//
// What they compile with is no NVRTC but a table that copies a number out of the source, so that
// the time goes into the cache.

#include <gpu/compiler/compile.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int programs = 48, workers = 8;

/// What all processes see.
struct board {
  std::atomic<long> from_disk, compiled, wrong, lost, kills;
  std::atomic<int> header_before, header_after;  // the header has one of the values between
  std::atomic<int> stored[programs];             // a process was told that it is in the folder
  std::atomic<bool> small;
};
board* shared = nullptr;
std::string folder, headers;

std::string read_text(const std::string& path) {
  std::string contents;
  if (std::FILE* file = std::fopen(path.c_str(), "rb")) {
    char block[4096];
    std::size_t got = 0;
    while ((got = std::fread(block, 1, sizeof block, file)) > 0) contents.append(block, got);
    std::fclose(file);
  }
  return contents;
}

void replace_file(const std::string& path, const std::string& contents) {
  const std::string temporary = path + ".new";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  std::fwrite(contents.data(), 1, contents.size(), file);
  std::fclose(file);
  std::rename(temporary.c_str(), path.c_str());
}

/// A program of the table: its source, and what it was compiled to.
struct copied_program {
  std::string source, product;
};

gpu::nvrtc::entry_points copying_table() {
  gpu::nvrtc::entry_points table{};
  table.version = [](int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return 0;
  };
  table.get_num_supported_archs = [](int* count) { return *count = 1, 0; };
  table.get_supported_archs = [](int* numbers) { return *numbers = 90, 0; };
  table.create_program = [](gpu::nvrtc::nvrtc_program* made, const char* source, const char*, int,
                            const char* const*, const char* const*) {
    *made = new copied_program{source, {}};
    return 0;
  };
  table.destroy_program = [](gpu::nvrtc::nvrtc_program* p) {
    delete static_cast<copied_program*>(*p);
    return 0;
  };
  table.compile_program = [](gpu::nvrtc::nvrtc_program p, int, const char* const*) {
    auto& program = *static_cast<copied_program*>(p);
    program.product = program.source;
    if (program.source.find("#include") == 0) program.product = read_text(headers + "/value.h");
    program.product += std::string(20000, 'x');
    ::usleep(500);
    return 0;
  };
  table.get_program_log_size = [](gpu::nvrtc::nvrtc_program, std::size_t* size) {
    return *size = 0, 0;
  };
  table.get_program_log = [](gpu::nvrtc::nvrtc_program, char*) { return 0; };
  table.get_ptx_size = [](gpu::nvrtc::nvrtc_program p, std::size_t* size) {
    return *size = static_cast<copied_program*>(p)->product.size(), 0;
  };
  table.get_ptx = [](gpu::nvrtc::nvrtc_program p, char* to) {
    const std::string& product = static_cast<copied_program*>(p)->product;
    std::memcpy(to, product.data(), product.size());
    return 0;
  };
  return table;
}

[[noreturn]] void work(unsigned seed) {
  static const gpu::nvrtc::entry_points table = copying_table();
  gpu::nvrtc::use_entry_points(&table);
  std::mt19937 random(seed);
  for (;;) {
    gpu::compile_cache cache({.use = gpu::cache_use::disk,
                              .folder = folder,
                              .folder_limit = shared->small ? 400'000u : 400'000'000u});
    const int number = static_cast<int>(random() % (programs + 4));
    const bool with_header = number >= programs;
    const std::string source = with_header ? "#include <value.h>\n// " + std::to_string(number)
                                           : "// " + std::to_string(number) + "\n";
    const bool was_stored = !with_header && shared->stored[number] && !shared->small;
    const int before = shared->header_before;
    const auto made = gpu::compile(source, {.architecture = gpu::architecture::compute(90),
                                            .include_folders = {headers},
                                            .toolkit_headers = false,
                                            .cache = &cache});
    const int after = shared->header_after;
    bool right = made.has_value() && made->ptx().size() > 20000;
    if (right && with_header) {
      const int value = std::atoi(made->ptx().c_str() + 3);
      right = value >= before && value <= after;
    } else if (right) {
      right = std::strncmp(made->ptx().c_str(), source.c_str(), source.size()) == 0;
    }
    if (!right) {
      ++shared->wrong;
      std::fprintf(
          stderr, "wrong: %s\n",
          made.has_value() ? made->origin().message().c_str() : made.error().message().c_str());
      continue;
    }
    const bool from_disk = made->origin().kind == gpu::origin_kind::disk;
    ++(from_disk ? shared->from_disk : shared->compiled);
    if (was_stored && !from_disk && !shared->small) {
      ++shared->lost;
      std::fprintf(stderr, "lost: %s\n", made->origin().message().c_str());
    }
    if (!with_header && made->origin().not_stored.empty()) shared->stored[number] = 1;
  }
}

pid_t start(unsigned seed) {
  const pid_t child = ::fork();
  if (child == 0) work(seed);
  return child;
}

}  // namespace

int main(int argc, char** argv) {
  const long seconds = argc > 1 ? std::atol(argv[1]) : 60;
  char root[] = "/tmp/gpu_cache_stress_XXXXXX";
  if (::mkdtemp(root) == nullptr) return 2;
  folder = std::string(root) + "/cache";
  headers = root;
  shared = static_cast<board*>(
      ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  replace_file(headers + "/value.h", "// 1\n");
  shared->header_before = shared->header_after = 1;

  std::mt19937 random(2024);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < workers; ++i) children.push_back(start(i));
  const std::time_t begin = std::time(nullptr);
  for (unsigned round = workers; std::time(nullptr) - begin < seconds; ++round) {
    ::usleep(static_cast<unsigned>(random() % 6000));
    pid_t& victim = children[random() % children.size()];
    ::kill(victim, SIGKILL);
    ::waitpid(victim, nullptr, 0);
    ++shared->kills;
    if (round % 64 == 0) {
      const int value = shared->header_after + 1;
      shared->header_after = value;
      replace_file(headers + "/value.h", "// " + std::to_string(value) + "\n");
      shared->header_before = value;
    }
    if (std::time(nullptr) - begin >= seconds / 2) shared->small = true;
    victim = start(round);
  }
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  std::printf("%ld killed, %ld from disk, %ld compiled, %ld wrong, %ld lost\n",
              shared->kills.load(), shared->from_disk.load(), shared->compiled.load(),
              shared->wrong.load(), shared->lost.load());
  const std::string clean = std::string("rm -rf ") + root;
  if (std::system(clean.c_str()) != 0) return 2;
  return shared->wrong == 0 && shared->lost == 0 && shared->from_disk > 100 ? 0 : 1;
}
