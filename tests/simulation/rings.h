// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <liburing.h>

#include <cstdint>
#include <map>
#include <memory>

#include "system.h"
#include "world.h"

namespace simulation {

class Machine;

/// The kernel's side of io_uring: takes requests out of the rings of processes, carries them out on
/// the Machine at some later moment, in any order, and puts answers in. What fails returns a
/// negative errno.
class Rings {
 public:
  Rings(World& world, Machine& machine);
  ~Rings();
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;

  [[nodiscard]] int set_up(unsigned places, io_uring& ring, io_uring_params& wish,
                           System::Rings known);
  void remove(io_uring& ring);
  /// The process has ended: what it had asked for is done now, or never.
  void end(int process);

  /// The thread that runs has ended, and another one goes on in its place: what it had asked for
  /// and has not begun is cancelled.
  void end_thread();

  /// @return how many requests were taken.
  [[nodiscard]] int submit(io_uring& ring);
  /// The same, then sleep until there is an answer.
  [[nodiscard]] int submit_and_wait(io_uring& ring, Nanoseconds until);
  /// Let the kernel show answers that it has.
  void show_answers(io_uring& ring);

 private:
  struct Work;
  struct Ring;
  [[nodiscard]] Ring& of(const io_uring& ring);
  void begin(const std::shared_ptr<Work>& work);
  void carry_out(const std::shared_ptr<Work>& work);
  [[nodiscard]] std::int64_t result_of(const Work& work);
  void complete(const std::shared_ptr<Work>& work, std::int64_t result);
  void cancel(const std::shared_ptr<Work>& work);
  void give_up(Ring& ring);

  World& world_;
  Machine& machine_;
  std::map<int, std::unique_ptr<Ring>> rings_;  // by descriptor
  int next_ = 1 << 26;
};

}  // namespace simulation
