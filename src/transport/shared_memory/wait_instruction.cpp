// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/wait_instruction.h"

#include <chrono>
#include <cstdint>
#include <functional>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace iocomp::transport {
namespace {

constexpr std::uint32_t extended = 0x80000000;

bool has_umwait(const Cpuid& cpuid) {
  constexpr std::uint32_t waitpkg = 1U << 5;
  return cpuid(0, 0).eax >= 7 && (cpuid(7, 0).ecx & waitpkg) != 0;
}

bool has_mwaitx(const Cpuid& cpuid) {
  constexpr std::uint32_t monitorx = 1U << 29;
  return cpuid(extended, 0).eax > extended && (cpuid(extended + 1, 0).ecx & monitorx) != 0;
}

#if defined(__x86_64__)

// Both instructions wait in units of the time-stamp counter. A shorter wait does no harm, because
// the caller looks at the clock again.
constexpr std::uint64_t ticks_per_nanosecond = 1;

__attribute__((target("waitpkg"))) void umwait(std::uint64_t ticks, const volatile void* watched,
                                               const std::function<bool()>& idle) {
  constexpr unsigned light = 1;  // C0.1: awake sooner
  _umonitor(const_cast<void*>(watched));
  if (idle()) {
    _umwait(light, __rdtsc() + ticks);
  }
}

__attribute__((target("mwaitx"))) void mwaitx(std::uint32_t ticks, const volatile void* watched,
                                              const std::function<bool()>& idle) {
  constexpr unsigned with_timer = 2;
  constexpr unsigned light = 0xf0;  // stay in C0
  _mm_monitorx(const_cast<void*>(watched), 0, 0);
  if (idle()) {
    _mm_mwaitx(with_timer, light, ticks);
  }
}

#endif

}  // namespace

WaitInstruction best_wait_instruction(const Cpuid& cpuid) {
  if (has_umwait(cpuid)) {
    return WaitInstruction::umwait;
  }
  return has_mwaitx(cpuid) ? WaitInstruction::mwaitx : WaitInstruction::pause;
}

CpuidAnswer ask_cpuid(std::uint32_t leaf, std::uint32_t sub_leaf) noexcept {
  CpuidAnswer answer;
#if defined(__x86_64__)
  __cpuid_count(leaf, sub_leaf, answer.eax, answer.ebx, answer.ecx, answer.edx);
#else
  (void)leaf;
  (void)sub_leaf;
#endif
  return answer;
}

void wait_a_moment(WaitInstruction instruction, std::chrono::nanoseconds longest,
                   const volatile void* watched, const std::function<bool()>& idle) noexcept {
#if defined(__x86_64__)
  const std::uint64_t ticks = static_cast<std::uint64_t>(longest.count()) * ticks_per_nanosecond;
  switch (instruction) {
    case WaitInstruction::umwait:
      umwait(ticks, watched, idle);
      break;
    case WaitInstruction::mwaitx:
      mwaitx(static_cast<std::uint32_t>(ticks), watched, idle);
      break;
    default:
      _mm_pause();
  }
#else
  (void)instruction;
  (void)longest;
  (void)watched;
  (void)idle;
#if defined(__aarch64__)
  asm volatile("yield");
#endif
#endif
}

}  // namespace iocomp::transport
