// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace iocomp::transport {

/// The way a processor passes the few microseconds before its process goes to sleep.
enum class WaitInstruction {
  pause,   ///< a hint in a loop: every processor has it
  umwait,  ///< Intel's WAITPKG: a light sleep until a line of memory changes
  mwaitx,  ///< AMD's
};

/// The answer of CPUID to a leaf and sub-leaf.
struct CpuidAnswer {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
using Cpuid = std::function<CpuidAnswer(std::uint32_t leaf, std::uint32_t sub_leaf)>;

/// The best wait instruction of the processor.
[[nodiscard]] WaitInstruction best_wait_instruction(const Cpuid& cpuid);
/// Ask this processor. The answer is all zero on processors without CPUID.
[[nodiscard]] CpuidAnswer ask_cpuid(std::uint32_t leaf, std::uint32_t sub_leaf) noexcept;

/// Let the processor wait a moment: at most `longest`, or until the line of `watched` is written
/// to. It looks at `idle` between arming and waiting.
void wait_a_moment(WaitInstruction instruction, std::chrono::nanoseconds longest,
                   const volatile void* watched, const std::function<bool()>& idle) noexcept;

/// Wait while `idle`, at most `longest`.
template <typename Word, typename Idle>
void spin_while(WaitInstruction instruction, std::chrono::nanoseconds longest, const Word& watched,
                const Idle& idle) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (idle()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds{0}) {
      return;
    }
    wait_a_moment(instruction, left, &watched, idle);
  }
}

}  // namespace iocomp::transport
