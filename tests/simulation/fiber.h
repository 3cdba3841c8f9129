// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <functional>

namespace simulation {

/// A function with a stack of its own, run in parts. Exceptions may be in flight where it yields.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  /// A body that has not ended is given up where it stands: nothing of it is destroyed, as in a
  /// process that was killed.
  ~Fiber();

  /// Go on with the body until it yields or ends.
  void resume();
  /// Called by the body: back to who resumed it.
  void yield();
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

 private:
  struct Exceptions {  // what the C++ ABI keeps for each thread: __cxa_eh_globals
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  using Place = std::array<void*, 5>;  // as __builtin_setjmp wants it
  static void start(unsigned low, unsigned high);
  void swap(Place& from, Place& to);
  void exchange_exceptions();

  std::function<void()> body_;
  std::byte* stack_;
  ucontext_t entry_{};  // where the body begins
  Place own_{};
  Place caller_{};
  Exceptions exceptions_;
  bool has_begun_ = false;
  bool has_ended_ = false;
};

}  // namespace simulation
