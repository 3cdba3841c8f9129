// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/own_bell.h"

#include <chrono>
#include <cstdint>

#include "base/futex.h"
#include "transport/shared_memory/wait_instruction.h"

namespace iocomp::transport {

// Looking pays only if the other side is at work on another core. After some unsuccessful looks it
// is tried only now and then.
bool OwnBell::may_spin() {
  constexpr unsigned enough = 4;
  constexpr unsigned seldom = 32;
  return futile_looks_ < enough || ++sleeps_without_look_ % seldom == 0;
}

FutexWord OwnBell::watch() {
  if (spin_ > std::chrono::nanoseconds{0} && may_spin()) {
    spin_while(instruction_, spin_, bell_.first_bits(), [this] { return !bell_.has_rung(); });
    futile_looks_ = bell_.has_rung() ? 0 : futile_looks_ + 1;
  }
  const std::uint32_t seen = bell_.watch();
  sleeps_ += bell_.has_rung() ? 0 : 1;
  return FutexWord{&bell_.word(), seen};
}

}  // namespace iocomp::transport
