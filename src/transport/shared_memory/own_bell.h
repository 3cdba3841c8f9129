// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/futex.h"
#include "transport/shared_memory/atomics.h"
#include "transport/shared_memory/doorbell.h"
#include "transport/shared_memory/wait_instruction.h"

namespace iocomp::transport {

/// The doorbell of this process. It tells who has rung, and how this process waits for a ring: it
/// looks for a few microseconds if that has paid, and then says that it sleeps.
class OwnBell {
 public:
  /// @param spin  time to look before `watch` says: sleep.
  OwnBell(const Doorbell<Atomics>& bell, std::chrono::nanoseconds spin, WaitInstruction instruction)
      : bell_{bell}, spin_{spin}, instruction_{instruction} {}

  /// Call `serve` with the number of each process that has rung. @return true if any has.
  template <typename Serve>
  bool answer(const Serve& serve) {
    bool any = false;
    for (std::size_t word = 0; word < bell_.words(); ++word) {
      for (std::uint64_t bits = bell_.take(word); bits != 0; bits &= bits - 1) {
        serve(word * Doorbell<Atomics>::peers_per_word +
              static_cast<std::size_t>(std::countr_zero(bits)));
        any = true;
      }
    }
    return any;
  }

  /// From here on a ring wakes this process. @return the word to sleep on.
  [[nodiscard]] FutexWord watch();
  /// The process is awake again.
  void unwatch() { bell_.unwatch(); }
  /// End the sleep of this process; any thread may call it.
  void rouse() { bell_.rouse(); }
  /// The number of times that this process went to sleep on its word.
  [[nodiscard]] double sleeps() const noexcept { return sleeps_; }

 private:
  [[nodiscard]] bool may_spin();

  Doorbell<Atomics> bell_;
  std::chrono::nanoseconds spin_;
  WaitInstruction instruction_;
  unsigned futile_looks_ = 0;  // in succession
  unsigned sleeps_without_look_ = 0;
  double sleeps_ = 0;
};

}  // namespace iocomp::transport
