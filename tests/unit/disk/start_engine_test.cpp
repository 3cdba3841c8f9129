// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <iostream>
#include <string>

#include "base/error.h"
#include "disk/engine.h"

namespace iocomp::disk {
namespace {

// As container runtimes do.
bool forbid(unsigned call, int error) {
  std::array<sock_filter, 4> steps{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog filter{.len = steps.size(), .filter = steps.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// In a process of its own: what is forbidden stays forbidden.
[[noreturn]] void tell_engine(EngineKind kind, int error, unsigned call = SYS_io_uring_setup) {
  if (!forbid(call, error)) {
    ::_exit(2);
  }
  try {
    std::cerr << "<" << start_engine({.engine = kind})->name() << ">\n";
    ::_exit(0);
  } catch (const Error& refusal) {
    std::cerr << "<" << refusal.what() << ">\n";
    ::_exit(1);
  }
}

bool has_io_uring() {
  try {
    (void)start_engine({.engine = EngineKind::uring});
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(StartEngine, TakesThreadsWhenTheyAreAskedFor) {
  EXPECT_EQ(start_engine({.engine = EngineKind::threads})->name(), "threads");
}

TEST(StartEngine, TakesIoUringWhereItIsAllowed) {
  if (!has_io_uring()) {
    GTEST_SKIP() << start_engine({})->name();
  }
  EXPECT_EQ(start_engine({})->name(), "io_uring");
}

TEST(StartEngine, TakesThreadsWhereIoUringIsForbiddenAndSaysWhy) {
  if (!has_io_uring()) {
    GTEST_SKIP() << start_engine({})->name();
  }
  EXPECT_EXIT(tell_engine(EngineKind::automatic, EPERM), testing::ExitedWithCode(0),
              "<threads .io_uring: Operation not permitted.>");
  EXPECT_EXIT(tell_engine(EngineKind::automatic, ENOSYS), testing::ExitedWithCode(0),
              "<threads .io_uring: Function not implemented.>");
}

TEST(StartEngine, TakesThreadsWhereARingTakesNoRequests) {
  if (!has_io_uring()) {
    GTEST_SKIP() << start_engine({})->name();
  }
  EXPECT_EXIT(tell_engine(EngineKind::automatic, EPERM, SYS_io_uring_enter),
              testing::ExitedWithCode(0), "<threads .io_uring: Operation not permitted.>");
}

TEST(StartEngine, RefusesIoUringWhereItIsForbidden) {
  if (!has_io_uring()) {
    GTEST_SKIP() << start_engine({})->name();
  }
  EXPECT_EXIT(tell_engine(EngineKind::uring, EPERM), testing::ExitedWithCode(1),
              "<disk.engine = .uring. is impossible here .io_uring: Operation not permitted.; "
              ".auto. takes threads>");
}

}  // namespace
}  // namespace iocomp::disk
