// SPDX-License-Identifier: BSD-3-Clause
#include "base/signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace iocomp {
namespace {

int calls = 0;
extern "C" void count(int /*signal*/) { ++calls; }

TEST(SignalWatch, ASignalThatComesAfterTheProgramWasToldDoesNotEndIt) {
  {
    const SignalWatch watch{{SIGUSR1}};
    EXPECT_FALSE(watch.has_come());
    watch.ignore_afterwards();
    EXPECT_EQ(std::raise(SIGUSR1), 0);
    EXPECT_TRUE(watch.has_come());
  }
  EXPECT_EQ(std::raise(SIGUSR1), 0);
  EXPECT_EQ(std::signal(SIGUSR1, SIG_DFL), SIG_IGN);
}

TEST(SignalWatch, AHandlerOfTheProgramComesBack) {
  std::signal(SIGUSR2, &count);
  {
    const SignalWatch watch{{SIGUSR2}};
    watch.ignore_afterwards();
    EXPECT_EQ(std::raise(SIGUSR2), 0);
  }
  EXPECT_EQ(std::raise(SIGUSR2), 0);
  EXPECT_EQ(calls, 2);
  std::signal(SIGUSR2, SIG_DFL);
}

TEST(SignalWatch, TheDefaultComesBackWhereNobodyWasTold) {
  {
    const SignalWatch watch{{SIGUSR1}};
  }
  EXPECT_EQ(std::signal(SIGUSR1, SIG_DFL), SIG_DFL);
}

}  // namespace
}  // namespace iocomp
