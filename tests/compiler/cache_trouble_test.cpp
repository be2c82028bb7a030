// Folders on network file systems, full and failing disks: each system call that the cache makes
// fails with each error that such a file system gives. A compilation succeeds all the same, its
// result is right, and the reason is told.

#include "compiler/cache_support.hpp"
#include "support/subprocess.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

namespace {

using test::temporary_folder;

const char* const stored = "extern \"C\" __global__ void f(int* x) { *x = 1; }";
const char* const fresh = "extern \"C\" __global__ void g(int* x) { *x = 2; }";

/// Some of the calls of one system call: those whose argument, masked, is as given.
struct call {
  std::vector<int> numbers;  // the C library may choose between several
  unsigned argument = 0;
  std::uint32_t mask = 0, value = 0;
  bool above = false;  // the argument is more than `value`
};

using calls = std::vector<call>;

#if defined(__NR_mkdir)
const calls make_folder = {{{__NR_mkdir, __NR_mkdirat}}};
#else
const calls make_folder = {{{__NR_mkdirat}}};
#endif
#if defined(__NR_renameat)
const calls rename_file = {{{__NR_renameat, __NR_renameat2}}};
#else
const calls rename_file = {{{__NR_renameat2}}};
#endif
#if defined(__NR_newfstatat)
const calls ask_open_file = {{{__NR_newfstatat}, 3, AT_EMPTY_PATH, AT_EMPTY_PATH}, {{__NR_fstat}}};
#else
const calls ask_open_file = {{{__NR_fstat}}};
#endif
// The cache is alone in not following links; programs' own files are opened for reading.
const calls open_folder = {{{__NR_openat}, 2, O_DIRECTORY, O_DIRECTORY}};
const calls open_to_read = {{{__NR_openat}, 2, O_NOFOLLOW | O_CREAT, O_NOFOLLOW}};
const calls open_to_write = {{{__NR_openat}, 2, O_CREAT | O_EXCL, O_CREAT | O_EXCL}};
const calls open_lock = {
    {{__NR_openat}, 2, O_CREAT | O_EXCL | O_APPEND | O_RDWR, O_CREAT | O_RDWR}};
const calls open_usage = {{{__NR_openat}, 2, O_CREAT | O_APPEND, O_CREAT | O_APPEND}};
const calls read_file = {{{__NR_read}, 0, ~0u, 2, true}};
const calls write_file = {{{__NR_write}, 0, ~0u, 2, true}};
const calls close_file = {{{__NR_close}, 0, ~0u, 2, true}};
const calls take_lock = {{{__NR_fcntl}, 1, ~0u, F_OFD_SETLK}};
const calls stamp_file = {{{__NR_utimensat}}};

/// Has these calls of this process fail from now on. False where the system refuses that.
bool fail_calls(const calls& all, int error) {
  std::vector<sock_filter> program;
  const auto add = [&](unsigned code, std::uint32_t k, unsigned char yes = 0,
                       unsigned char no = 0) {
    program.push_back({static_cast<unsigned short>(code), yes, no, k});
  };
  const std::uint32_t refuse = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  for (const call& which : all) {
    for (const int number : which.numbers) {
      add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
      add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
          which.mask != 0 ? 4 : 1);  // past this call's lines
      if (which.mask != 0) {
        const std::size_t argument = offsetof(seccomp_data, args) + 8 * which.argument;
        add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(argument));
        add(BPF_ALU | BPF_AND | BPF_K, which.mask);
        add(BPF_JMP | (which.above ? BPF_JGT : BPF_JEQ) | BPF_K, which.value, 0, 1);
      }
      add(BPF_RET | BPF_K, refuse);
    }
  }
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

/// What is expected while calls fail: of a program that the folder has, and of one that it has not.
struct expectation {
  const char* what;
  calls failing;
  std::vector<int> errors;
  const char* of_stored;       // the start of its origin
  const char* why_not_stored;  // in the new one's origin, followed by the error; null: it is
  const char* below = "";      // the folder of the new ones
};

const char* const compiled_anew = "compiled: the stored program could not be read: ";
const char* const no_folder = "cannot be opened (";
const char* const not_written = "cannot be written: ";

const std::vector<expectation> expectations = {
    {"making the folder",
     make_folder,
     {EROFS, EDQUOT},
     "compiled: ",
     "cannot be made (",
     "/new/below"},
    {"opening the folder", open_folder, {ESTALE, EACCES}, "compiled: ", no_folder},
    {"asking for an open file's owner",
     ask_open_file,
     {ESTALE},
     "compiled: ",
     "cannot be asked for its owner ("},
    {"opening a program", open_to_read, {ESTALE, EIO}, compiled_anew, nullptr},
    {"reading", read_file, {ESTALE, EIO}, compiled_anew, nullptr},
    {"stamping what was used", stamp_file, {EROFS}, "from disk", nullptr},
    {"opening the lock", open_lock, {EROFS, EDQUOT}, "from disk", nullptr},
    {"taking the lock", take_lock, {ENOLCK, EOPNOTSUPP, EIO, ESTALE}, "from disk", nullptr},
    {"creating a file", open_to_write, {ENOSPC, EDQUOT, EROFS, ESTALE}, "from disk", not_written},
    {"writing", write_file, {ENOSPC, EDQUOT, EIO}, "from disk", not_written},
    {"closing", close_file, {EDQUOT, EIO}, "from disk", not_written},
    {"renaming", rename_file, {ESTALE, EIO, EDQUOT}, "from disk", not_written},
    {"counting what is stored", open_usage, {EROFS, EDQUOT}, "from disk", nullptr},
};

/// Compiles both while calls fail; returns what is wrong, a line each.
std::string differences(const expectation& expected, int error, const std::string& folder,
                        const gpu::text& stored_cubin, const gpu::text& fresh_cubin) {
  std::string wrong;
  const auto check = [&](bool right, const char* what, const gpu::compiled_program& made) {
    if (right) return;
    wrong += std::string(what) + ": " + made.origin().message().c_str() + "\n";
  };
  const std::string why = std::strerror(error);
  for (const char* source : {stored, fresh}) {
    const bool first = source == stored;
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
    const auto made =
        gpu::compile(source, {.architecture = gpu::architecture::sm(90), .cache = &cache});
    if (!made.has_value()) return made.error().message().c_str();
    check(made->cubin() == (first ? stored_cubin : fresh_cubin), "another result", *made);
    const std::string origin = made->origin().message().c_str();
    const std::string not_stored = made->origin().not_stored.c_str();
    const gpu::cache_counters counters = cache.counters();
    check(counters.from_disk + counters.compiled == 1 && counters.damaged == 0, "counters", *made);
    if (first) {
      check(origin.rfind(expected.of_stored, 0) == 0, "the stored one", *made);
      const bool from_disk = origin.rfind("from disk", 0) == 0;
      check(counters.from_disk == (from_disk ? 1u : 0u), "counters of disk", *made);
      if (expected.of_stored == compiled_anew) {
        check(origin.find(why) != std::string::npos, "the reason", *made);
      }
    } else if (expected.why_not_stored == nullptr) {
      check(not_stored.empty() && counters.stored == 1, "the new one is stored", *made);
    } else {
      check(not_stored.find(expected.why_not_stored) != std::string::npos, "why not", *made);
      check(counters.stored == 0, "counters of stored", *made);
      check(not_stored.find(why) != std::string::npos, "the error", *made);
    }
  }
  return wrong;
}

TEST_CASE("child: compiles while calls of its cache fail", "[.child]") {
  const temporary_folder root;
  const auto bare = [](const char* source) {
    return gpu::compile(source, {.architecture = gpu::architecture::sm(90)}).value().cubin();
  };
  const gpu::text stored_cubin = bare(stored), fresh_cubin = bare(fresh);
  int folders = 0;
  for (const expectation& expected : expectations) {
    for (const int error : expected.errors) {
      std::string folder = root / std::to_string(++folders);
      test::compile_fresh(folder, stored);
      // So old that its use is noted.
      test::set_age(folder + '/' + test::programs_in(folder).at(0), 10000);
      folder += expected.below;
      std::fflush(stdout);
      const pid_t child = ::fork();
      if (child == 0) {
        if (!fail_calls(expected.failing, error)) {
          std::printf("[refused: %s]\n", std::strerror(errno));
        } else {
          const std::string wrong = differences(expected, error, folder, stored_cubin, fresh_cubin);
          if (!wrong.empty()) {
            std::printf("[wrong] %s, %s:\n%s", expected.what, std::strerror(error), wrong.c_str());
          }
        }
        std::fflush(stdout);
        ::_exit(0);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      CHECK(status == 0);
      // Whatever happened, the next process has no trouble with what is left there.
      const gpu::compiled_program after = test::compile_fresh(folder, fresh);
      CHECK(after.cubin() == fresh_cubin);
      CHECK(after.origin().not_stored.empty());
    }
  }
  std::printf("[done]");
}

TEST_CASE("errors of network file systems and full disks cost time alone", "[compiler][cache]") {
  const auto child = test::run_child("child: compiles while calls of its cache fail");
  if (child.output.find("[refused: ") != std::string::npos) {
    WARN("skipped: this system lets no process refuse system calls: " << child.output);
    return;
  }
  INFO(child.output);
  CHECK(child.succeeded());
  CHECK(child.output.find("[done]") != std::string::npos);
  CHECK(child.output.find("[wrong]") == std::string::npos);
}

}  // namespace
