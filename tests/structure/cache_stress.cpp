// Processes that compile and link through one cache's folder while others of them are killed at any
// moment, a header changes under them, and, in the second half, the folder is too small. Shows that
// no result is wrong, and in the first half that none is lost once it was stored.
//
// What they compile and link with is no NVRTC and no nvJitLink but tables that copy what they are
// given, so that the time goes into the cache.

#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/link.hpp>

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

// Programs without a header, links, and programs with one, in this order.
constexpr int programs = 48, links = 24, with_header = 4, workers = 8;

/// Counts of the origins of programs.
struct tally {
  std::atomic<long> from_disk, made;
};

/// The memory that all processes share.
struct board {
  tally compiling, linking;
  std::atomic<long> wrong, lost, kills;
  std::atomic<int> header_before, header_after;  // the header has one of the values between
  std::atomic<int> stored[programs + links];     // a process was told that it is in the folder
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

/// What a table makes: of which bytes, and the product.
struct copied_code {
  std::string given, product;
};

constexpr std::size_t padding = 20000;  // so that writing takes a while

copied_code& code_of(void* handle) { return *static_cast<copied_code*>(handle); }
int destroy_code(void** handle) {
  delete &code_of(*handle);
  return 0;
}
int product_size(void* handle, std::size_t* size) {
  *size = code_of(handle).product.size();
  return 0;
}
int product(void* handle, char* to) {
  const std::string& made = code_of(handle).product;
  std::memcpy(to, made.data(), made.size());
  return 0;
}
int finish(void* handle) {
  copied_code& code = code_of(handle);
  const bool has_header = code.given.rfind("#include", 0) == 0;
  code.product = (has_header ? read_text(headers + "/value.h") : code.given);
  code.product.append(padding, 'x');
  ::usleep(500);
  return 0;
}
int no_log_size(void*, std::size_t* size) {
  *size = 0;
  return 0;
}
int no_log(void*, char*) { return 0; }

gpu::nvrtc::entry_points copying_nvrtc() {
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
    *made = new copied_code{source, {}};
    return 0;
  };
  table.compile_program = [](gpu::nvrtc::nvrtc_program program, int, const char* const*) {
    return finish(program);
  };
  table.destroy_program = destroy_code;
  table.get_program_log_size = no_log_size;
  table.get_program_log = no_log;
  table.get_ptx_size = product_size;
  table.get_ptx = product;
  return table;
}

gpu::nvjitlink::entry_points copying_nvjitlink() {
  gpu::nvjitlink::entry_points table{};
  table.version = [](unsigned* major, unsigned* minor) {
    *major = 13;
    *minor = 0;
    return 0;
  };
  table.create = [](gpu::nvjitlink::nvjitlink_handle* made, std::uint32_t, const char* const*) {
    *made = new copied_code;
    return 0;
  };
  table.add_data = [](gpu::nvjitlink::nvjitlink_handle link, int, const void* bytes,
                      std::size_t size, const char*) {
    code_of(link).given.append(static_cast<const char*>(bytes), size);
    return 0;
  };
  table.complete = finish;
  table.destroy = destroy_code;
  table.get_error_log_size = table.get_info_log_size = no_log_size;
  table.get_error_log = table.get_info_log = no_log;
  table.get_linked_cubin_size = product_size;
  table.get_linked_cubin = product;
  return table;
}

/// The outcome of one compilation or link.
struct outcome {
  gpu::text product;
  gpu::program_origin origin;
  std::string error;
};

outcome compiled(const std::string& source, gpu::compile_cache& cache) {
  const auto made = gpu::compile(source, {.architecture = gpu::architecture::compute(90),
                                          .include_folders = {headers},
                                          .toolkit_headers = false,
                                          .cache = &cache});
  if (!made.has_value()) return {{}, {}, made.error().message().c_str()};
  return {made->ptx(), made->origin(), {}};
}

outcome linked(const std::string& first, const std::string& second, gpu::compile_cache& cache) {
  const auto made = gpu::link({{first, "first"}, {second, "second"}},
                              {.architecture = gpu::architecture::sm(90), .cache = &cache});
  if (!made.has_value()) return {{}, {}, made.error().message().c_str()};
  return {made->cubin(), made->origin(), {}};
}

/// Returns whether a product is what was given, with nothing but the padding behind it.
bool is_copy(const gpu::text& product, const std::string& given) {
  return product == (given + std::string(padding, 'x')).c_str();
}

[[noreturn]] void work(unsigned seed) {
  static const gpu::nvrtc::entry_points nvrtc = copying_nvrtc();
  static const gpu::nvjitlink::entry_points nvjitlink = copying_nvjitlink();
  gpu::nvrtc::use_entry_points(&nvrtc);
  gpu::nvjitlink::use_entry_points(&nvjitlink);
  std::mt19937 random(seed);
  for (;;) {
    gpu::compile_cache cache({.use = gpu::cache_use::disk,
                              .folder = folder,
                              .folder_limit = shared->small ? 400'000u : 400'000'000u});
    const int number = static_cast<int>(random() % (programs + links + with_header));
    const bool is_link = number >= programs && number < programs + links;
    const bool has_header = number >= programs + links;
    const bool was_stored = !has_header && shared->stored[number] && !shared->small;
    const std::string words = std::to_string(number) + "\n";
    outcome made;
    bool right = false;
    if (is_link) {
      const std::string begin = ".version 9.0\n.target sm_90\n.address_size 64\n// ";
      const std::string first = begin + words, second = begin + "second of " + words;
      made = linked(first, second, cache);
      right = is_copy(made.product, first + second);
    } else if (has_header) {
      const int before = shared->header_before;
      made = compiled("#include <value.h>\n// " + words, cache);
      const int after = shared->header_after;
      const int value = made.product.size() > padding ? std::atoi(made.product.c_str() + 3) : -1;
      right = value >= before && value <= after &&
              is_copy(made.product, "// " + std::to_string(value) + "\n");
    } else {
      made = compiled("// " + words, cache);
      right = is_copy(made.product, "// " + words);
    }
    if (!right) {
      ++shared->wrong;
      std::fprintf(stderr, "wrong: %d: %s%s\n", number, made.origin.message().c_str(),
                   made.error.c_str());
      continue;
    }
    const bool from_disk = made.origin.kind == gpu::origin_kind::disk;
    tally& counts = is_link ? shared->linking : shared->compiling;
    ++(from_disk ? counts.from_disk : counts.made);
    if (was_stored && !from_disk && !shared->small) {
      ++shared->lost;
      std::fprintf(stderr, "lost: %d: %s\n", number, made.origin.message().c_str());
    }
    if (!has_header && made.origin.not_stored.empty()) shared->stored[number] = 1;
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

  const auto report = [](const char* what, const tally& counts) {
    std::printf("%s: %ld from disk, %ld made\n", what, counts.from_disk.load(), counts.made.load());
    return counts.from_disk > 100 && counts.made > 100;
  };
  const bool busy = report("programs", shared->compiling) & report("links", shared->linking);
  std::printf("%ld killed, %ld wrong, %ld lost\n", shared->kills.load(), shared->wrong.load(),
              shared->lost.load());
  const std::string clean = std::string("rm -rf ") + root;
  if (std::system(clean.c_str()) != 0) return 2;
  return shared->wrong == 0 && shared->lost == 0 && busy ? 0 : 1;
}
