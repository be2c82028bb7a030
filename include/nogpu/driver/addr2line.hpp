#pragma once
/// \file
/// The tool addr2line, kept running: it takes seconds to read the debug information of a large
/// program, and then answers at once.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// Runs addr2line for one program file. Without the tool, addresses have no lines.
class addr2line {
 public:
  /// Returns the path of the tool, which is in a directory of the system; PATH is not searched.
  static const char* tool_path() noexcept {
    const char* const usual = "/usr/bin/addr2line";
    const char* const own = "/usr/local/bin/addr2line";
    return ::access(usual, X_OK) != 0 && ::access(own, X_OK) == 0 ? own : usual;
  }

  explicit addr2line(const std::string& file) : owner_{::getpid()} {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    std::string words[] = {tool_path(), "-a", "-i", "-e", file};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                         words[3].data(), words[4].data(), nullptr};
    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const bool runs =
        ::posix_spawn(&tool_, words[0].c_str(), &actions, nullptr, arguments, environ) == 0;
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    socket_ = ends[0];
    if (!runs) close();
  }
  addr2line(const addr2line&) = delete;
  addr2line& operator=(const addr2line&) = delete;
  ~addr2line() {
    if (socket_ >= 0 && is_of_this_process()) {
      ::kill(tool_, SIGKILL);
      ::waitpid(tool_, nullptr, 0);
    }
    close();
  }

  /// Returns whether it can be asked: not in a forked process, which shares the connection; not
  /// after memory ran out in the middle of an answer; not if the tool could not be started.
  bool can_be_asked() const noexcept { return socket_ >= 0 && !asking_ && is_of_this_process(); }

  /// file:line of an address, the innermost inlined function first.
  std::vector<std::string> lines(std::uintptr_t address) {
    // addr2line does not print the number of lines, so an unused address marks the end.
    constexpr std::string_view end = "0xffffffffffffffff";
    char question[64];
    std::snprintf(question, sizeof question, "0x%zx\n%s\n", address, end.data());
    std::vector<std::string> found;
    std::string line;
    asking_ = true;
    if (!send(question) || !receive(line)) return found;  // the address again
    while (receive(line) && line != end) {
      if (const std::size_t note = line.find(" (discriminator"); note != std::string::npos)
        line.resize(note);
      found.push_back(std::move(line));
    }
    receive(line);
    asking_ = false;
    return found;
  }

 private:
  bool is_of_this_process() const noexcept { return owner_ == ::getpid(); }

  bool send(std::string_view text) {
    while (socket_ >= 0 && !text.empty()) {
      const ::ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        text.remove_prefix(static_cast<std::size_t>(sent));
      } else {
        close();
      }
    }
    return socket_ >= 0;
  }

  /// Reads the next line, without its end; false if the tool has ended.
  bool receive(std::string& line) {
    std::size_t length = 0;
    while ((length = unread_.find('\n')) == std::string::npos) {
      char buffer[4096];
      const ::ssize_t size = socket_ < 0 ? 0 : ::recv(socket_, buffer, sizeof buffer, 0);
      if (size <= 0) {
        close();
        return false;
      }
      unread_.append(buffer, static_cast<std::size_t>(size));
    }
    line = unread_.substr(0, length);
    unread_.erase(0, length + 1);
    return true;
  }

  void close() noexcept {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  ::pid_t owner_;
  ::pid_t tool_ = 0;
  int socket_ = -1;
  bool asking_ = false;  // from a question to the end of its answer
  std::string unread_;
};

/// file:line of an address of a program file. Threads: any.
inline std::vector<std::string> lines_of(const std::string& file, std::uintptr_t address) {
  static std::mutex mutex;
  // Never destroyed: leaks are listed when the process ends, too. The tools end with the process.
  static auto& tools = *new std::map<std::string, std::unique_ptr<addr2line>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<addr2line>& tool = tools[file];
  if (!tool || !tool->can_be_asked()) tool = std::make_unique<addr2line>(file);
  return tool->lines(address);
}

}}}  // namespace nogpu::v1::driver
