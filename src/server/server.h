// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "mpi/wait.h"
#include "server/actions.h"
#include "server/context.h"
#include "server/goodbyes.h"
#include "server/intake.h"
#include "server/open_files.h"
#include "server/post_office.h"
#include "server/unheard.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "trace/counters.h"
#include "transport/survivors.h"
#include "transport/transport.h"

namespace iocomp::server {

/// The I/O side of a session: one loop that takes in messages and pieces, hands writes to the disk
/// engine, and sleeps when there is nothing to do. Only this loop calls MPI.
class Server {
 public:
  Server(const config::Settings& settings, const mpi::WaitPolicy& policy, const disk::Options& disk,
         Place place, transport::Transport& transport);

  enum class End {
    all_left,    ///< all compute ranks have said bye
    given_up,    ///< compute ranks went on without servers, and all have gone
    terminated,  ///< after SIGTERM: compute ranks have gone, or nothing has moved for long
    alone,       ///< compute ranks have said bye to this one, and other servers are silent
  };
  /// Serve until there is nothing more to do. SIGTERM alone ends no server: it finishes what is
  /// complete.
  End serve();

  /// True if this server has counted a failure.
  [[nodiscard]] bool had_failures() const {
    return context_.counters[trace::Counter::failures] > 0;
  }

 private:
  // The transport's survivors; null for transports that have none.
  [[nodiscard]] transport::Survivors* survivors() const { return transport_.survivors(); }
  bool round();
  bool touch_ahead();
  [[nodiscard]] bool is_done() const;
  bool write_stripes(bool moved);
  bool take_back();
  // True if something waits to be written because the rate of its file is limited.
  [[nodiscard]] bool is_held_back() const;
  void stop_writing();
  [[nodiscard]] bool is_terminated() const;
  [[nodiscard]] bool finish_after_signal(bool moved);
  // True if everything that this loop waits for ends its sleep by itself.
  [[nodiscard]] bool is_woken_for_everything() const;
  void sleep(std::chrono::nanoseconds longest);
  bool take_messages();
  bool take_completions();
  void dispatch(transport::Incoming incoming);

  struct Memory {
    staging::Arena arena;
    staging::ArenaStripes stripes{arena};
    std::size_t touched = 0;
    std::size_t touch_until = 0;
  };
  Memory memory_;  // goes last: a write of a failed step may be under way, and reads it
  std::unique_ptr<disk::Engine> engine_;
  SideJobs jobs_;
  PostOffice post_;
  Context context_;
  transport::Transport& transport_;
  OpenFiles files_;
  Intake intake_;
  Actions actions_;
  Goodbyes goodbyes_;
  Unheard unheard_;
  bool has_stripes_ = false;
  double grace_seconds_;
  double last_move_ = 0;  // time of the last move since SIGTERM
  bool has_finished_ = false;
};

}  // namespace iocomp::server
