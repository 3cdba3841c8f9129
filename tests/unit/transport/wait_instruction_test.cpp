#include "transport/shared_memory/wait_instruction.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/error.h"

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

TEST(WaitInstruction, AutoTakesTheBestThatThereIs) {
  EXPECT_EQ(choose_wait_instruction("auto", processor(true, false)), WaitInstruction::umwait);
  EXPECT_EQ(choose_wait_instruction("auto", processor(false, true)), WaitInstruction::mwaitx);
  EXPECT_EQ(choose_wait_instruction("auto", processor(false, false)), WaitInstruction::pause);
}

TEST(WaitInstruction, LeavesThatDoNotExistSayNothing) {
  EXPECT_EQ(choose_wait_instruction("auto", processor(true, false, 6)), WaitInstruction::pause);
  EXPECT_EQ(choose_wait_instruction("auto", processor(false, true, 7, 0x80000000)),
            WaitInstruction::pause);
}

TEST(WaitInstruction, WhatIsAskedForIsTakenOrRefused) {
  EXPECT_EQ(choose_wait_instruction("pause", processor(true, true)), WaitInstruction::pause);
  EXPECT_EQ(choose_wait_instruction("mwaitx", processor(true, true)), WaitInstruction::mwaitx);
  EXPECT_THROW((void)choose_wait_instruction("umwait", processor(false, true)), Error);
  EXPECT_THROW((void)choose_wait_instruction("mwaitx", processor(true, false)), Error);
}

TEST(WaitInstruction, SpinsNoLongerThanAsked) {
  const auto best = choose_wait_instruction("auto", ask_cpuid);
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
