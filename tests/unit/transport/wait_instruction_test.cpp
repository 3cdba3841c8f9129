// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/wait_instruction.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace iocomp::transport {
namespace {

// A processor that has these features, and the leaves up to those given.
Cpuid processor(bool umwait, bool mwaitx, std::uint32_t last = 7,
                std::uint32_t last_extended = 0x80000008) {
  return [=](std::uint32_t leaf, std::uint32_t sub_leaf) {
    CpuidAnswer answer;
    if (leaf == 0) {
      answer.eax = last;
    } else if (leaf == 0x80000000) {
      answer.eax = last_extended;
    } else if (leaf == 7 && sub_leaf == 0) {
      answer.ecx = umwait ? 1U << 5 : ~(1U << 5);
    } else if (leaf == 0x80000001) {
      answer.ecx = mwaitx ? 1U << 29 : ~(1U << 29);
    }
    return answer;
  };
}

TEST(WaitInstruction, TheBestThatThereIsIsTaken) {
  EXPECT_EQ(best_wait_instruction(processor(true, false)), WaitInstruction::umwait);
  EXPECT_EQ(best_wait_instruction(processor(false, true)), WaitInstruction::mwaitx);
  EXPECT_EQ(best_wait_instruction(processor(false, false)), WaitInstruction::pause);
}

TEST(WaitInstruction, LeavesThatDoNotExistSayNothing) {
  EXPECT_EQ(best_wait_instruction(processor(true, false, 6)), WaitInstruction::pause);
  EXPECT_EQ(best_wait_instruction(processor(false, true, 7, 0x80000000)), WaitInstruction::pause);
}

TEST(WaitInstruction, SpinsNoLongerThanAsked) {
  const auto best = best_wait_instruction(ask_cpuid);
  const std::atomic<std::uint64_t> word{0};
  const auto begin = std::chrono::steady_clock::now();
  spin_while(best, std::chrono::microseconds{200}, word, [] { return true; });
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::microseconds{200});
  int looks = 0;
  spin_while(best, std::chrono::hours{1}, word, [&] { return ++looks < 10; });
  EXPECT_EQ(looks, 10);
}

}  // namespace
}  // namespace iocomp::transport
