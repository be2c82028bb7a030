// Folders and files that are not as they should be: each costs time, gives the right program, and
// is told.

#include "compiler/cache_support.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache_contents.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <ios>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cache_folder_test { namespace {

using test::compile_fresh;
using test::origin_of;
using test::programs_in;
using test::read_file;
using test::set_age;
using test::temporary_folder;
using test::write_file;

const char* const source = "extern \"C\" __global__ void f(int* x) { *x = 1; }";

/// The path of the only program in a folder.
std::string only_program(const temporary_folder& folder) {
  const std::vector<std::string> names = programs_in(folder.path());
  REQUIRE(names.size() == 1);
  return folder / names[0];
}

/// Returns the number of files in a folder that are being written, or were when their process
/// ended.
std::size_t half_written(const temporary_folder& folder) {
  std::size_t count = 0;
  for (const std::string& name : test::names_in(folder.path())) {
    if (name.compare(0, 5, ".new-") == 0) ++count;
  }
  return count;
}

mode_t mode_of(const std::string& path) {
  struct stat about{};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_mode & 07777;
}

/// Sets the umask for a scope.
struct scoped_umask {
  explicit scoped_umask(mode_t bits) : before{::umask(bits)} {}
  ~scoped_umask() { ::umask(before); }
  mode_t before;
};

TEST_CASE("a stored program is for its user alone, whatever the umask", "[compiler][cache]") {
  for (const mode_t bits : {0u, 002u, 022u, 077u, 0277u, 0777u}) {
    INFO("umask " << std::oct << bits);
    const temporary_folder root;
    const std::string folder = root / "made/by/the/cache";
    {
      const scoped_umask mask(bits);
      CHECK(compile_fresh(folder, source).origin().not_stored.empty());
    }
    for (const char* made : {"made", "made/by", "made/by/the", "made/by/the/cache"}) {
      CHECK(mode_of(root / made) == 0700);
    }
    for (const std::string& name : test::names_in(folder)) {
      INFO(name);
      CHECK(mode_of(folder + '/' + name) == 0600);
    }
    CHECK(programs_in(folder).size() == 1);
    CHECK(origin_of(folder, source) == "from disk");
  }
}

TEST_CASE("a program that was cut off anywhere is dropped and made again", "[compiler][cache]") {
  const temporary_folder folder;
  const gpu::compiled_program made = compile_fresh(folder.path(), source);
  const std::string path = only_program(folder);
  const std::string whole = read_file(path);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{60},
        std::size_t{96}, std::size_t{97}, whole.size() / 2, whole.size() - 1}) {
    INFO(size << " of " << whole.size());
    write_file(path, whole.substr(0, size));
    const gpu::compiled_program again = compile_fresh(folder.path(), source);
    CHECK(again.origin().message() == "compiled: the stored program was damaged");
    CHECK(again.cubin() == made.cubin());
    CHECK(read_file(only_program(folder)) == whole);
  }
  write_file(path, whole + 'x');
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(gpu::compile(source, {.architecture = gpu::architecture::sm(90), .cache = &cache})
            ->origin()
            .message() == "compiled: the stored program was damaged");
  CHECK(cache.counters().damaged == 1);
  CHECK(cache.counters().from_disk == 0);
}

TEST_CASE("a bit that was flipped anywhere is noticed", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), source);
  const std::string path = only_program(folder);
  const std::string whole = read_file(path);
  gpu::detail::entry_kind kind{};
  gpu::detail::digest key;
  gpu::string_ref contents;
  REQUIRE(gpu::detail::read_seal(whole, kind, key, contents));
  // Each bit by the function that reads files; some of them through compile.
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    gpu::string_ref read;
    if (gpu::detail::unseal(flipped, gpu::detail::entry_kind::program, key, read)) {
      FAIL_CHECK("byte " << at);
    }
  }
  for (std::size_t at = 3; at < whole.size(); at += whole.size() / 12) {
    INFO("byte " << at);
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    write_file(path, flipped);
    CHECK(origin_of(folder.path(), source) == "compiled: the stored program was damaged");
  }
  CHECK(origin_of(folder.path(), source) == "from disk");
}

TEST_CASE("lengths that lie are found out without a digest's help", "[compiler][cache]") {
  // What a malicious file could say under a digest that is right.
  gpu::detail::byte_writer out;
  out << ~std::uint64_t{0} << std::uint64_t{1} << std::uint64_t{2};
  const gpu::text bytes = out.finish();
  gpu::detail::byte_reader in(bytes);
  gpu::detail::cache_conditions conditions;
  gpu::text name;
  CHECK_FALSE(gpu::detail::read_conditions(in, conditions, name));
  gpu::detail::byte_reader again(bytes);
  decltype(conditions.folders) list;
  again >> list;
  CHECK_FALSE(again.ok());
}

TEST_CASE("a program that is a link or no plain file is not followed", "[compiler][cache]") {
  const temporary_folder folder, elsewhere;
  compile_fresh(folder.path(), source);
  const std::string path = only_program(folder);
  const std::string whole = read_file(path);
  write_file(elsewhere / "copy", whole);
  std::remove(path.c_str());
  SECTION("a link to a program that is right") {
    REQUIRE(::symlink((elsewhere / "copy").c_str(), path.c_str()) == 0);
  }
  SECTION("a link to nothing") { REQUIRE(::symlink("/nowhere/at/all", path.c_str()) == 0); }
  SECTION("a pipe") { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }
  SECTION("a folder") { REQUIRE(::mkdir(path.c_str(), 0700) == 0); }
  CHECK(origin_of(folder.path(), source) == "compiled: the stored program was damaged");
  CHECK(origin_of(folder.path(), source) == "from disk");
  CHECK(read_file(only_program(folder)) == whole);
  CHECK(read_file(elsewhere / "copy") == whole);
}

TEST_CASE("a program that others can write is not believed", "[compiler][cache]") {
  const temporary_folder folder;
  const gpu::text right = compile_fresh(folder.path(), source).cubin();
  const std::string path = only_program(folder);
  // What somebody else would put there: whole, and not what the source says.
  std::string other = read_file(path);
  {
    gpu::detail::entry_kind kind{};
    gpu::detail::digest key;
    gpu::string_ref contents;
    REQUIRE(gpu::detail::read_seal(other, kind, key, contents));
    std::string changed(contents.data(), contents.size());
    const std::size_t at = changed.find(std::string(right.data(), right.size()));
    REQUIRE(at != std::string::npos);
    changed[at + right.size() - 1] ^= 1;
    const gpu::text sealed =
        gpu::detail::seal(kind, key, gpu::text(changed.data(), changed.size()));
    other.assign(sealed.data(), sealed.size());
  }
  for (const mode_t mode : {0660u, 0620u, 0606u, 0602u, 0666u, 0777u, 02660u}) {
    INFO("mode " << std::oct << mode);
    write_file(path, other);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    const gpu::compiled_program made = compile_fresh(folder.path(), source);
    CHECK(made.origin().message() == "compiled: the stored program was damaged");
    CHECK(made.cubin() == right);
    CHECK(origin_of(folder.path(), source) == "from disk");
    CHECK(mode_of(path) == 0600);
  }
  for (const mode_t mode : {0400u, 0440u, 0444u, 0644u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    CHECK(origin_of(folder.path(), source) == "from disk");
  }
}

TEST_CASE("the cache makes a folder of its own private", "[compiler][cache]") {
  const temporary_folder root;
  for (const mode_t mode : {0770u, 0775u, 0720u, 02775u, 0777u, 01777u, 0702u}) {
    INFO("mode " << std::oct << mode);
    const std::string folder = root.make_folder("cache" + std::to_string(mode));
    compile_fresh(folder, source);
    REQUIRE(::chmod(folder.c_str(), mode) == 0);
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
    CHECK(cache.trouble().empty());
    CHECK(origin_of(folder, source) == "from disk");
    CHECK((mode_of(folder) & 0777) == 0700);
  }
  for (const mode_t mode : {0755u, 0750u, 0711u, 0500u}) {
    const std::string folder = root.make_folder("cache" + std::to_string(mode));
    compile_fresh(folder, source);
    REQUIRE(::chmod(folder.c_str(), mode) == 0);
    CHECK(origin_of(folder, source) == "from disk");
    CHECK(mode_of(folder) == mode);
  }
  // One that the user created for the cache, with a umask of 002.
  const std::string fresh = root.make_folder("empty");
  REQUIRE(::chmod(fresh.c_str(), 0775) == 0);
  CHECK(compile_fresh(fresh, source).origin().not_stored.empty());
  CHECK(mode_of(fresh) == 0700);
  CHECK(programs_in(fresh).size() == 1);
  // One with other things in it is left as it is.
  const std::string foreign = root.make_folder("foreign");
  write_file(foreign + "/notes.txt", "mine");
  REQUIRE(::chmod(foreign.c_str(), 0775) == 0);
  CHECK(compile_fresh(foreign, source).origin().not_stored.contains("holds \"notes.txt\""));
  CHECK(mode_of(foreign) == 0775);
}

TEST_CASE("what was measured is believed of private files alone", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), source);
  gpu::text trouble, contents;
  const auto opened =
      gpu::detail::cache_folder::open(gpu::text(folder.path().c_str()), false, trouble);
  for (const std::string& name : test::names_in(folder.path())) {
    REQUIRE(::chmod((folder / name).c_str(), 0660) == 0);
    CHECK(opened.read(name.c_str(), contents) == gpu::detail::cache_folder::reading::refused);
    REQUIRE(::chmod((folder / name).c_str(), 0600) == 0);
    CHECK(opened.read(name.c_str(), contents) == gpu::detail::cache_folder::reading::done);
  }
}

TEST_CASE("child: uses folders of root as another user", "[.child]") {
  const std::string root = std::getenv("GPU_CACHE_OF_ROOT");
  REQUIRE(::seteuid(65534) == 0);
  CHECK(origin_of(root + "/shipped", source) == "from disk");
  const gpu::compiled_program other =
      compile_fresh(root + "/shipped", "extern \"C\" __global__ void g() {}");
  CHECK(other.origin().not_stored.contains("Permission denied"));
  const gpu::compiled_program shared = compile_fresh(root + "/shared", source);
  CHECK(shared.origin().kind == gpu::origin_kind::compiled);
  CHECK(shared.origin().not_stored.contains("is writable by its group"));
  CHECK(shared.origin().not_stored.contains("chmod g-w"));
  CHECK(compile_fresh(root + "/public", source)
            .origin()
            .not_stored.contains("is writable by all users"));
  CHECK(compile_fresh(root + "/entries", source).origin().reason ==
        "the stored program was damaged");
}

TEST_CASE("a cache of root that others can read is believed", "[compiler][cache]") {
  if (::geteuid() != 0) return;  // only root has such folders
  const temporary_folder root;
  REQUIRE(::chmod(root.path().c_str(), 0755) == 0);
  const std::pair<const char*, mode_t> folders[] = {
      {"shipped", 0755}, {"shared", 0775}, {"public", 0757}, {"entries", 0755}};
  for (const auto& [name, mode] : folders) {
    const std::string folder = root / name;
    compile_fresh(folder, source);
    for (const std::string& file : test::names_in(folder)) {
      const mode_t of_file = std::strcmp(name, "entries") == 0 ? 0664 : 0644;
      REQUIRE(::chmod((folder + '/' + file).c_str(), of_file) == 0);
    }
    REQUIRE(::chmod(folder.c_str(), mode) == 0);
  }
  // A process that changed its user may not be traced, which the search for leaks does.
  const auto child =
      test::run_child("child: uses folders of root as another user",
                      {{"GPU_CACHE_OF_ROOT", root.path()}, {"ASAN_OPTIONS", "detect_leaks=0"}});
  INFO(child.output);
  CHECK(child.succeeded());
}

TEST_CASE("a mark of someone else does not make a folder a cache", "[compiler][cache]") {
  if (::geteuid() != 0) return;  // only root can give files away
  const temporary_folder folder;
  write_file(folder / "gpu-cache", "");
  write_file(folder / "notes.txt", "mine");
  REQUIRE(::chown((folder / "gpu-cache").c_str(), 12345, 12345) == 0);
  CHECK(compile_fresh(folder.path(), source).origin().not_stored.contains("holds \"notes.txt\""));
}

TEST_CASE("files and folders of someone else are not believed", "[compiler][cache]") {
  if (::geteuid() != 0) return;  // only root can give files away
  const temporary_folder folder;
  compile_fresh(folder.path(), source);
  SECTION("a program") {
    REQUIRE(::chown(only_program(folder).c_str(), 12345, 12345) == 0);
    CHECK(origin_of(folder.path(), source) == "compiled: the stored program was damaged");
    CHECK(origin_of(folder.path(), source) == "from disk");
  }
  SECTION("the folder") {
    REQUIRE(::chown(folder.path().c_str(), 12345, 12345) == 0);
    const gpu::compiled_program made = compile_fresh(folder.path(), source);
    CHECK(made.cubin().size() > 64);
    CHECK(made.origin().reason.contains("belongs to user 12345"));
    CHECK(made.origin().not_stored.contains("GPU_CACHE_DIR"));
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
    CHECK(cache.trouble().contains("belongs to user 12345"));
    REQUIRE(::chown(folder.path().c_str(), 0, 0) == 0);
  }
}

TEST_CASE("a folder that anyone can write is not used", "[compiler][cache]") {
  const temporary_folder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  const gpu::compiled_program made = compile_fresh(folder.path(), source);
  CHECK(made.cubin().size() > 64);
  CHECK(made.origin().not_stored.contains("is writable by all users"));
  CHECK(made.origin().not_stored.contains("chmod o-w"));
  CHECK(test::names_in(folder.path()).empty());
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(cache.trouble().contains("chmod o-w"));
}

TEST_CASE("a folder that cannot be made or is no folder costs a compilation", "[compiler][cache]") {
  const temporary_folder root;
  write_file(root / "file", "");
  for (const char* where : {"file", "file/below"}) {
    const gpu::compiled_program made = compile_fresh(root / where, source);
    CHECK(made.cubin().size() > 64);
    CHECK(made.origin().not_stored.contains("cannot be opened"));
  }
  const gpu::compiled_program made = compile_fresh("/proc/nowhere", source);
  CHECK(made.cubin().size() > 64);
  CHECK_FALSE(made.origin().not_stored.empty());
}

/// All files of a folder, by name, with what they hold.
std::map<std::string, std::string> files_in(const temporary_folder& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& name : test::names_in(folder.path())) {
    if (name != "." && name != "..") files[name] = read_file(folder / name);
  }
  return files;
}

TEST_CASE("a folder that holds other things is left as it is", "[compiler][cache]") {
  const temporary_folder folder;
  write_file(folder / "usage", "mine: 12 bytes");
  write_file(folder / "lock", "mine");
  write_file(folder / ".new-plan", "mine");
  set_age(folder / ".new-plan", 10000);
  const auto before = files_in(folder);
  for (int i = 0; i < 2; ++i) {
    const gpu::compiled_program made = compile_fresh(folder.path(), source);
    CHECK(made.cubin().size() > 64);
    CHECK(made.origin().kind == gpu::origin_kind::compiled);
    CHECK(made.origin().not_stored.contains(folder.path().c_str()));
    CHECK(
        made.origin().not_stored.contains("holds \".new-plan\", which is not a file of the cache"));
    CHECK(made.origin().not_stored.contains("Set GPU_CACHE_DIR to an empty folder"));
  }
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(cache.trouble().contains("holds \".new-plan\""));
  CHECK(gpu::purge(cache).error() == gpu::errc::file_error);
  CHECK(gpu::list_programs(cache).error() == gpu::errc::file_error);
  CHECK(files_in(folder) == before);
}

TEST_CASE("a user's files with the names of the first version are not touched",
          "[compiler][cache]") {
  const temporary_folder folder;
  write_file(folder / "usage", "mine: 12 bytes");
  write_file(folder / "lock", "mine");
  compile_fresh(folder.path(), source);
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(gpu::purge(cache).has_value());
  CHECK(read_file(folder / "usage") == "mine: 12 bytes");
  CHECK(read_file(folder / "lock") == "mine");
}

TEST_CASE("a cache of the first version is used again", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), source);
  std::remove((folder / "gpu-cache").c_str());
  std::rename((folder / "gpu-cache-usage").c_str(), (folder / "usage").c_str());
  std::rename((folder / "gpu-cache-lock").c_str(), (folder / "lock").c_str());
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(cache.trouble().empty());
  CHECK(origin_of(folder.path(), source) == "from disk");
  // From now on other files do not matter.
  write_file(folder / "notes.txt", "mine");
  CHECK(cache.trouble().empty());
  CHECK(origin_of(folder.path(), source) == "from disk");
}

TEST_CASE("a folder that is deleted meanwhile is made again", "[compiler][cache]") {
  const temporary_folder root;
  const std::string folder = root / "cache";
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  for (int i = 0; i < 3; ++i) {
    CHECK(gpu::compile(source, options)->origin().not_stored.empty());
    CHECK(programs_in(folder).size() == 1);
    REQUIRE(std::system(("rm -rf " + folder).c_str()) == 0);
    cache.forget();
  }
}

/// Lowers a limit of the process for a scope.
struct file_size_limit {
  explicit file_size_limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit lower = before;
    lower.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before{};
};

TEST_CASE("a limit on the size of files does not end the process", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::text reason;
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{256}}) {
    const file_size_limit limit(bytes);
    reason = compile_fresh(folder.path(), source).origin().not_stored;
    CHECK(reason.contains("File too large"));
  }
  {
    // The compiler lists the headers that it opens in a file, too.
    const file_size_limit limit(0);
    const std::string with_header = std::string("#include <cuda/std/cstdint>\n") + source;
    CHECK(compile_fresh(folder.path(), with_header).cubin().size() > 64);
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
    CHECK(gpu::export_programs(cache, folder / "archive").error() == gpu::errc::file_error);
  }
  CHECK(programs_in(folder.path()).empty());
  CHECK(half_written(folder) == 0);
  // One that leaves room for programs and none for counting them.
  const file_size_limit limit(40000);
  for (int i = 0; i < 3; ++i) {
    CHECK(compile_fresh(folder.path(), std::string(source) + "// " + std::to_string(i))
              .origin()
              .not_stored.empty());
  }
  CHECK(programs_in(folder.path()).size() == 3);
}

/// Returns whether NVRTC by itself compiles a program.
bool nvrtc_compiles(const char* program, const std::string& include_folder) {
  const gpu::nvrtc::entry_points& nvrtc = gpu::nvrtc::current_entry_points();
  gpu::nvrtc::nvrtc_program raw = nullptr;
  if (nvrtc.create_program(&raw, program, "program.cu", 0, nullptr, nullptr) != 0) return false;
  const std::string option = "--include-path=" + include_folder;
  const char* const options[] = {"--gpu-architecture=sm_90", option.c_str()};
  const bool done = nvrtc.compile_program(raw, 2, options) == 0;
  nvrtc.destroy_program(&raw);
  return done;
}

TEST_CASE("child: compiles while few descriptors are free", "[.child]") {
  const temporary_folder headers, folder;
  write_file(headers / "a.h", "#include \"b.h\"\n");
  write_file(headers / "b.h", "#include \"c.h\"\n");
  write_file(headers / "c.h", "struct c {};\n");
  const std::string with_headers = std::string("#include \"a.h\"\n") + source;
  const std::string folder_of_headers = headers.path();
  REQUIRE(nvrtc_compiles(with_headers.c_str(), folder_of_headers));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit before = limit;
  limit.rlim_cur = 64;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  std::vector<int> taken;
  for (int file = 0; (file = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) {
    taken.push_back(file);
  }
  int helped = 0, stored = 0;
  for (int spare = 0; spare < 16; ++spare) {
    for (const std::string& text : {std::string(source), with_headers}) {
      const bool expected = nvrtc_compiles(text.c_str(), folder_of_headers);
      gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
      gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
      options.include_folders.push_back(folder_of_headers);
      const auto made = gpu::compile(text + "// " + std::to_string(spare), options);
      INFO(spare << " descriptors are free");
      CHECK(made.has_value() == expected);
      if (!made.has_value()) continue;
      if (made->origin().not_stored.contains("ulimit -n")) ++helped;
      if (made->origin().not_stored.empty()) ++stored;
    }
    ::close(taken.back());
    taken.pop_back();
  }
  for (const int file : taken) ::close(file);
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(helped > 0);
  CHECK(stored > 0);
}

TEST_CASE("child: compiles first while few descriptors are free", "[.child]") {
  const temporary_folder folder;
  // Each in a process of its own, in which NVRTC is not open yet.
  const auto compiles = [&](int spare, gpu::cache_use use) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit limit{64, 64};
      ::setrlimit(RLIMIT_NOFILE, &limit);
      int last = -1;
      for (int file = 0; (file = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) last = file;
      for (int i = 0; i < spare; ++i) ::close(last - i);
      gpu::compile_cache cache({.use = use, .folder = folder.path()});
      const auto made = gpu::compile(source + ("// " + std::to_string(spare)),
                                     {.architecture = gpu::architecture::sm(90), .cache = &cache});
      ::_exit(made.has_value() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return status == 0;
  };
  // Leaves notes about NVRTC, for which later processes open it when they compile.
  CHECK(compiles(40, gpu::cache_use::disk));
  for (int spare = 0; spare < 12; ++spare) {
    INFO(spare << " descriptors are free");
    const bool expected = compiles(spare, gpu::cache_use::off);
    CHECK(compiles(spare, gpu::cache_use::disk) == expected);
  }
}

TEST_CASE("a compilation does without the cache where descriptors are short", "[compiler][cache]") {
  for (const char* name : {"child: compiles while few descriptors are free",
                           "child: compiles first while few descriptors are free"}) {
    const auto child = test::run_child(name);
    INFO(child.output);
    CHECK(child.succeeded());
  }
}

TEST_CASE("a full disk costs a compilation and leaves nothing behind", "[compiler][cache]") {
  const temporary_folder folder;
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=8k,mode=0700") != 0) {
    WARN("no right to mount a small file system: " << std::strerror(errno));
    return;
  }
  std::string big(40000, ' ');
  const gpu::program program(std::string(source) + "// " + big);
  gpu::compiled_program made, again;
  {
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
    gpu::compile_options options{
        .architecture = gpu::architecture::sm(90), .line_info = true, .cache = &cache};
    std::string kernels;
    for (int i = 0; i < 20; ++i) {
      kernels += "extern \"C\" __global__ void f" + std::to_string(i) + "(int* x) { *x = 1; }\n";
    }
    made = gpu::compile(kernels, options).value();
    again = gpu::compile(kernels, options).value();
  }
  const std::vector<std::string> left = programs_in(folder.path());
  const std::size_t halves = half_written(folder);
  ::umount(folder.path().c_str());
  CHECK(made.cubin().size() > 8192);
  CHECK(made.origin().not_stored.contains("No space left"));
  CHECK(again.origin().kind == gpu::origin_kind::memory);
  CHECK(left.empty());
  CHECK(halves == 0);
}

TEST_CASE("a folder without room to write is read all the same", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), source);
  const bool mounted =
      ::mount(folder.path().c_str(), folder.path().c_str(), nullptr, MS_BIND, nullptr) == 0 &&
      ::mount(nullptr, folder.path().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) ==
          0;
  if (!mounted) {
    ::umount(folder.path().c_str());
    if (::geteuid() == 0) WARN("no right to mount read-only: " << std::strerror(errno));
    if (::geteuid() == 0) return;
    REQUIRE(::chmod(folder.path().c_str(), 0500) == 0);
  }
  const std::string found = origin_of(folder.path(), source);
  const gpu::compiled_program other =
      compile_fresh(folder.path(), "extern \"C\" __global__ void g() {}");
  if (mounted) ::umount(folder.path().c_str());
  CHECK(found == "from disk");
  CHECK(other.cubin().size() > 64);
  CHECK((other.origin().not_stored.contains("Read-only file system") ||
         other.origin().not_stored.contains("Permission denied")));
}

TEST_CASE("child: uses a cache with files that have no end", "[.child]") {
  const temporary_folder folder;
  const gpu::text right = compile_fresh(folder.path(), source).cubin();
  // All but the mark: programs, notes, the record of what is stored, and the lock.
  for (const bool pipes : {false, true}) {
    for (const std::string& name : test::names_in(folder.path())) {
      if (name == "gpu-cache") continue;
      const std::string path = folder / name;
      if (pipes) {
        std::remove(path.c_str());
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
      } else if (::truncate(path.c_str(), off_t{200} << 30) != 0) {
        return;  // the file system has a lower limit
      }
      set_age(path, 10000);  // what is written now is not the oldest
    }
    const gpu::compiled_program made = compile_fresh(folder.path(), source);
    CHECK(made.cubin() == right);
    CHECK(made.origin().message() == "compiled: the stored program was damaged");
    CHECK(made.origin().not_stored.empty());
    CHECK(origin_of(folder.path(), source) == "from disk");
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
    CHECK(gpu::list_programs(cache).value().size() == 1);
    struct stat about{};
    REQUIRE(::stat((folder / "gpu-cache-usage").c_str(), &about) == 0);
    CHECK(S_ISREG(about.st_mode));
    CHECK(about.st_size < 1000);
  }
}

TEST_CASE("files of the cache that have no end are made again", "[compiler][cache]") {
  const auto child = test::run_child("child: uses a cache with files that have no end", {},
                                     std::chrono::seconds(60));
  INFO(child.output);
  CHECK(child.succeeded());
}

TEST_CASE("a clock that goes backwards does not matter", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), source);
  const std::string path = only_program(folder);
  constexpr long ten_years = 10L * 365 * 24 * 3600;
  set_age(path, -ten_years);
  CHECK(origin_of(folder.path(), source) == "from disk");
  struct stat about{};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  CHECK(about.st_mtim.tv_sec <= ::time(nullptr) + 5);  // so that it can grow old again
  set_age(path, ten_years);
  CHECK(origin_of(folder.path(), source) == "from disk");
  REQUIRE(::stat(path.c_str(), &about) == 0);
  CHECK(about.st_mtim.tv_sec >= ::time(nullptr) - 60);
}

TEST_CASE("what a killed process left half written is taken away", "[compiler][cache]") {
  const temporary_folder folder;
  write_file(folder / ".new-1-abc-1", "half");
  write_file(folder / ".new-1-abc-2", "half");
  write_file(folder / ".new-1-abc-3", "half");
  set_age(folder / ".new-1-abc-1", 10000);
  set_age(folder / ".new-1-abc-2", -10000);
  compile_fresh(folder.path(), source);
  CHECK(read_file(folder / ".new-1-abc-1").empty());
  CHECK(read_file(folder / ".new-1-abc-2").empty());
  CHECK(read_file(folder / ".new-1-abc-3") == "half");  // its writer may be at work
}

}}  // namespace cache_folder_test
