#pragma once
/// \file
/// A socket over which a test sends an open file, and a value, to the child process that it runs.

#include "support/catch.hpp"
#include "support/subprocess.hpp"

#include <gpu/memory/file_descriptor.hpp>

#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

namespace test {

namespace detail {

/// A message of a value and room for one descriptor.
template <class Value> struct descriptor_message {
  static_assert(std::is_trivially_copyable_v<Value>);

  explicit descriptor_message(Value& value) : part{&value, sizeof value} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }

  iovec part;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

}  // namespace detail

/// Both ends of a socket. What is sent waits for the child.
class descriptor_socket {
 public:
  descriptor_socket() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) == 0); }
  descriptor_socket(const descriptor_socket&) = delete;
  descriptor_socket& operator=(const descriptor_socket&) = delete;
  ~descriptor_socket() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  /// How the child finds its end: variables for `run_child`.
  environment for_child() const { return {{"TEST_SOCKET", std::to_string(ends_[1])}}; }

  template <class Value> void send(const gpu::file_descriptor& file, Value value) const {
    detail::descriptor_message<Value> message(value);
    cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
    const int number = file.native();
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof number);
    std::memcpy(CMSG_DATA(rights), &number, sizeof number);
    REQUIRE(::sendmsg(ends_[0], &message.header, 0) == static_cast<ssize_t>(sizeof value));
  }

 private:
  int ends_[2] = {};
};

/// In the child: what the parent sent.
template <class Value> gpu::file_descriptor receive_descriptor(Value& value) {
  const char* const end = std::getenv("TEST_SOCKET");
  REQUIRE(end != nullptr);
  detail::descriptor_message<Value> message(value);
  REQUIRE(::recvmsg(std::stoi(end), &message.header, 0) == static_cast<ssize_t>(sizeof value));
  const cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
  REQUIRE(rights != nullptr);
  int number = -1;
  std::memcpy(&number, CMSG_DATA(rights), sizeof number);
  return gpu::file_descriptor::adopt(number);
}

}  // namespace test
