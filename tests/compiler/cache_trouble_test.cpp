// Folders on network file systems, full and failing disks: each system call that the cache makes
// fails with each error that such a file system gives. A compilation succeeds all the same, its
// result is right, and the reason is told.
//
// No server takes part, and need not: to a process, a network file system differs from a disk in
// what its calls answer, and in when. Locks are refused or have no meaning (ENOLCK, EOPNOTSUPP); a
// file is gone that was just looked up (ESTALE); that writing failed is told only by close (EIO,
// EDQUOT); a file that is open elsewhere cannot be removed (EBUSY); rename may fail, or take place
// and be reported as failed, which leaves an entry that is whole and said to be missing. Clocks
// that disagree are in cache_gather_test; entries that are cut off, mixed up or out of date in
// cache_folder_test, for whatever arrives is believed only with its digest. The cache makes no
// links, and nothing in it rests on the order in which two files are seen.

#include "compiler/cache_support.hpp"
#include "compiler/refused_calls.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache_contents.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace cache_trouble_test { namespace {

using test::fail_calls;
using test::system_calls;
using test::temporary_folder;

const char* const stored = "extern \"C\" __global__ void f(int* x) { *x = 1; }";
const char* const fresh = "extern \"C\" __global__ void g(int* x) { *x = 2; }";

#if defined(__NR_mkdir)
const system_calls make_folder = {{{__NR_mkdir, __NR_mkdirat}}};
#else
const system_calls make_folder = {{{__NR_mkdirat}}};
#endif
#if defined(__NR_renameat)
const system_calls rename_file = {{{__NR_renameat, __NR_renameat2}}};
#else
const system_calls rename_file = {{{__NR_renameat2}}};
#endif
#if defined(__NR_newfstatat)
const system_calls ask_open_file = {{{__NR_newfstatat}, 3, AT_EMPTY_PATH, AT_EMPTY_PATH},
                                    {{__NR_fstat}}};
#else
const system_calls ask_open_file = {{{__NR_fstat}}};
#endif
// The cache is alone in not following links; programs' own files are opened for reading.
const system_calls open_folder = {{{__NR_openat}, 2, O_DIRECTORY, O_DIRECTORY}};
const system_calls open_to_read = {{{__NR_openat}, 2, O_NOFOLLOW | O_CREAT, O_NOFOLLOW}};
const system_calls open_to_write = {{{__NR_openat}, 2, O_CREAT | O_EXCL, O_CREAT | O_EXCL}};
const system_calls open_lock = {
    {{__NR_openat}, 2, O_CREAT | O_EXCL | O_APPEND | O_RDWR, O_CREAT | O_RDWR}};
const system_calls open_usage = {{{__NR_openat}, 2, O_CREAT | O_APPEND, O_CREAT | O_APPEND}};
const system_calls read_file = {{{__NR_read}, 0, ~0u, 2, true}};
const system_calls write_file = {{{__NR_write}, 0, ~0u, 2, true}};
const system_calls close_file = {{{__NR_close}, 0, ~0u, 2, true}};
const system_calls take_lock = {{{__NR_fcntl}, 1, ~0u, F_OFD_SETLK}};
const system_calls stamp_file = {{{__NR_utimensat}}};
const system_calls read_counts = {{{__NR_pread64}}};
const system_calls list_folder = {{{__NR_getdents64}}};
const system_calls begin_list = {{{__NR_fcntl}, 1, ~0u, F_GETFL}};  // as fdopendir does
#if defined(__NR_unlink)
const system_calls remove_file = {{{__NR_unlink, __NR_unlinkat}}};
#else
const system_calls remove_file = {{{__NR_unlinkat}}};
#endif
#if defined(__NR_newfstatat)
const system_calls ask_by_name = {{{__NR_newfstatat}, 3, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_NOFOLLOW}};
#else
const system_calls ask_by_name = {{{__NR_fstatat64}}};
#endif

/// What is expected while calls fail: of a program that the folder has, and of one that it has not.
struct expectation {
  const char* what;
  system_calls failing;
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
     "cannot be created (",
     "/new/below"},
    {"opening the folder", open_folder, {ESTALE, EACCES}, "compiled: ", no_folder},
    {"asking for an open file's owner",
     ask_open_file,
     {ESTALE},
     "compiled: ",
     "cannot be checked for its owner ("},
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
    {"reading the counts", read_counts, {ESTALE, EIO}, "from disk", nullptr},
    {"asking for a file's age", ask_by_name, {ESTALE, EACCES}, "from disk", nullptr},
    {"opening the list of files", begin_list, {ENOMEM}, "compiled: ", nullptr, "/new"},
    {"listing the files", list_folder, {ESTALE, EIO}, "compiled: ", nullptr, "/new"},
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

/// Runs `work` in a process of its own in which calls fail; it returns what is wrong.
template <class Work> void while_failing(const system_calls& failing, int error, Work work) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!fail_calls(failing, error)) {
      std::printf("[refused: %s]\n", std::strerror(errno));
    } else if (const std::string wrong = work(); !wrong.empty()) {
      std::printf("[wrong] %s: %s\n", std::strerror(error), wrong.c_str());
    }
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
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
      while_failing(expected.failing, error, [&, error = error] {
        const std::string wrong = differences(expected, error, folder, stored_cubin, fresh_cubin);
        return wrong.empty() ? wrong : expected.what + (":\n" + wrong);
      });
      // Whatever happened, the next process has no trouble with what is left there.
      const gpu::compiled_program after = test::compile_fresh(folder, fresh);
      CHECK(after.cubin() == fresh_cubin);
      CHECK(after.origin().not_stored.empty());
    }
  }
  std::printf("[done]");
}

TEST_CASE("child: finds a damaged program that cannot be removed", "[.child]") {
  const temporary_folder folder;
  const gpu::text right = test::compile_fresh(folder.path(), stored).cubin();
  const std::string path = folder / test::programs_in(folder.path()).at(0);
  for (const int error : {EBUSY, EROFS, ESTALE, EIO}) {
    test::write_file(path, "damaged");
    while_failing(remove_file, error, [&] {
      std::string wrong;
      const gpu::compiled_program made = test::compile_fresh(folder.path(), stored);
      if (made.origin().message() != "compiled: the stored program was damaged") {
        wrong += made.origin().message().c_str();
      }
      // It is stored beside the damaged one.
      const gpu::compiled_program again = test::compile_fresh(folder.path(), stored);
      if (again.origin().message() != "from disk") wrong += again.origin().message().c_str();
      if (made.cubin() != right || again.cubin() != right) wrong += "another result";
      return wrong;
    });
    REQUIRE(std::system(("rm -f " + folder.path() + "/*").c_str()) == 0);
    test::compile_fresh(folder.path(), stored);
  }
  std::printf("[done]");
}

TEST_CASE("child: exports while the file cannot be finished", "[.child]") {
  const temporary_folder folder;
  test::compile_fresh(folder.path(), stored);
  for (const auto& [failing, error] :
       {std::pair(close_file, EDQUOT), std::pair(close_file, EIO), std::pair(write_file, ENOSPC)}) {
    while_failing(failing, error, [&, error = error] {
      gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
      const auto exported = gpu::export_programs(cache, folder / "archive");
      if (exported.has_value()) return std::string("the archive is said to be whole");
      const gpu::text message = exported.error().message();
      const bool right = exported.error() == gpu::errc::file_error &&
                         message.contains("could not be written: ") &&
                         message.contains(std::strerror(error));
      return right ? std::string() : std::string(message.c_str());
    });
  }
  std::printf("[done]");
}

TEST_CASE("errors of network file systems and full disks cost time alone", "[compiler][cache]") {
  for (const char* name : {"child: compiles while calls of its cache fail",
                           "child: finds a damaged program that cannot be removed",
                           "child: exports while the file cannot be finished"}) {
    const auto child = test::run_child(name);
    if (child.output.find("[refused: ") != std::string::npos) {
      WARN("skipped: this system lets no process refuse system calls: " << child.output);
      return;
    }
    INFO(child.output);
    CHECK(child.succeeded());
    CHECK(child.output.find("[done]") != std::string::npos);
    CHECK(child.output.find("[wrong]") == std::string::npos);
  }
}

}}  // namespace cache_trouble_test
