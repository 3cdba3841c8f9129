// SPDX-License-Identifier: BSD-3-Clause
#include "base/size_signal.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

namespace iocomp {
namespace {

using If = SizeSignalHeld::If;

// A file that may have no bytes at all.
class FullFile : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGXFSZ, SIG_DFL);
    ASSERT_NE(file_, nullptr);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    limit(0);
  }
  void TearDown() override { limit(before_.rlim_cur); }

  void limit(rlim_t bytes) {
    rlimit wanted = before_;
    wanted.rlim_cur = bytes;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &wanted), 0);
  }
  // The errno of a write, or 0.
  int write() { return ::pwrite(::fileno(file_.get()), "x", 1, 0) == 1 ? 0 : errno; }

  static bool is_in(sigset_t set) { return sigismember(&set, SIGXFSZ) == 1; }
  static bool is_pending() {
    sigset_t pending;
    sigpending(&pending);
    return is_in(pending);
  }
  static bool is_blocked() {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return is_in(mask);
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
  rlimit before_{};
};

TEST_F(FullFile, EndsNobodyAndLeavesNoSignalBehind) {
  for (const If when : {If::always, If::limited, If::known_limited}) {
    {
      const SizeSignalHeld held{when};
      EXPECT_EQ(write(), EFBIG);
    }
    EXPECT_FALSE(is_blocked());
    EXPECT_FALSE(is_pending());
  }
}

TEST_F(FullFile, IsLeftToTheProgramWhereItsOwnSignalIsPending) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &only, nullptr);
  EXPECT_EQ(write(), EFBIG);
  {
    const SizeSignalHeld held;
    EXPECT_EQ(write(), EFBIG);
  }
  EXPECT_TRUE(is_pending());
  EXPECT_TRUE(is_blocked());
  std::signal(SIGXFSZ, SIG_IGN);  // drops it
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

TEST_F(FullFile, CostsNothingWhereThereIsNoLimit) {
  limit(RLIM_INFINITY);
  const SizeSignalHeld asks{If::limited};
  EXPECT_FALSE(is_blocked());
  const SizeSignalHeld knows{If::known_limited};
  EXPECT_FALSE(is_blocked());
  EXPECT_EQ(write(), 0);
}

TEST_F(FullFile, IsKnownFromTheCallThatAskedLast) {
  {
    const SizeSignalHeld asks{If::limited};
  }
  const SizeSignalHeld knows{If::known_limited};
  EXPECT_TRUE(is_blocked());
}

}  // namespace
}  // namespace iocomp
