#pragma once
/// \file
/// System calls that fail from now on: what a network file system, a full disk or a crowded machine
/// would answer.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>  // IWYU pragma: keep
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

/// Some of the calls of one system call: those whose argument, masked, is as given.
struct system_call {
  std::vector<int> numbers;  // the C library may choose between several
  unsigned argument = 0;
  std::uint32_t mask = 0, value = 0;
  bool above = false;  // the argument is more than `value`
};

using system_calls = std::vector<system_call>;

/// Has these calls of this process fail from now on. False where the system refuses that.
inline bool fail_calls(const system_calls& all, int error) {
  std::vector<sock_filter> program;
  const auto add = [&](unsigned code, std::uint32_t k, unsigned char yes = 0,
                       unsigned char no = 0) {
    program.push_back({static_cast<unsigned short>(code), yes, no, k});
  };
  const std::uint32_t refuse = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  for (const system_call& which : all) {
    for (const int number : which.numbers) {
      add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
      add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
          which.mask != 0 ? 4 : 1);  // past this call's lines
      if (which.mask != 0) {
        const std::size_t argument = offsetof(seccomp_data, args) + 8 * which.argument;
        add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(argument));
        add(BPF_ALU | BPF_AND | BPF_K, which.mask);
        add(which.above ? BPF_JMP | BPF_JGT | BPF_K : BPF_JMP | BPF_JEQ | BPF_K, which.value, 0, 1);
      }
      add(BPF_RET | BPF_K, refuse);
    }
  }
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

}  // namespace test
