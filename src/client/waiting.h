// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/futex.h"
#include "client/remote/servers.h"
#include "mpi/wait.h"
#include "trace/counters.h"

namespace iocomp::client {

/// Thrown by a wait for servers when they were given up. The call is made again, by whoever carries
/// the file then.
struct ServersLost {};

/// Moves what can be moved on this rank, and sleeps if there is nothing to move.
class Waiting {
 public:
  /// @param counters  their timeline is told of each wait.
  Waiting(const mpi::WaitPolicy& policy, Servers& servers, const trace::Counters& counters)
      : policy_{policy}, servers_{servers}, counters_{counters} {
    policy_.held_back_until = held_back_until_;
  }

  /// The bandwidth of a file is limited, so its writers may be busy for so many seconds more.
  void hold_back(double seconds);

  /// Somebody else that `pump` moves, and a way to sleep until that one has something to do.
  using Sleep = std::function<void(std::chrono::nanoseconds, const std::optional<FutexWord>& word)>;
  void move_with(std::function<bool()> mover, Sleep sleep);

  /// Move messages both ways, and that mover. @return true if anything moved.
  bool pump();
  /// Sleep until `done`. @throws Error{timed_out} with `what`, if nothing moves for the deadline,
  /// or at once if a server is known to be silent.
  /// @throws ServersLost when a server was given up; after Servers::leave no more.
  void wait_until(const std::function<bool()>& done, const std::function<std::string()>& what);
  /// Sleep until no server does anything more. @return true if that came before the deadline.
  [[nodiscard]] bool wait_for_end_of_servers();

  [[nodiscard]] const mpi::WaitPolicy& policy() const noexcept { return policy_; }

 private:
  bool sleep(mpi::Nap& nap);
  void check(mpi::Deadline& deadline, const std::function<std::string()>& what);

  mpi::WaitPolicy policy_;
  std::shared_ptr<double> held_back_until_ = std::make_shared<double>(0);
  Servers& servers_;
  const trace::Counters& counters_;
  std::function<bool()> mover_;
  Sleep sleep_;
};

}  // namespace iocomp::client
