// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "mpi/under_way.h"
#include "mpi/wait.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/intake.h"
#include "server/open_files.h"
#include "server/post_office.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "trace/counters.h"
#include "transport/shared_memory/node_watch.h"
#include "transport/transport.h"

namespace iocomp::server {

/// The end of a session. A server waits until its compute ranks have said bye, it has nothing more
/// to do for their files, and the servers below it have told their counters. Then it tells the
/// server above all these counters. When all servers have, the lead tells all, and each answers its
/// compute ranks.
class Goodbyes {
 public:
  Goodbyes(Context& context, const transport::Transport& transport);

  /// A message has come.
  void heard() noexcept { last_heard_ = now_seconds(); }
  /// @return true if the client had not left before.
  bool client_left(int client);
  /// @param is_done  true if this server has nothing more to do; it waits for that until the
  /// deadline. @return true if it told the others.
  bool advance(bool is_done);
  /// The counters of a server right below, and of those below it.
  void server_left(const std::vector<double>& counters);
  /// The counters of all servers together.
  void all_left(const std::vector<double>& counters);
  /// True if nobody needs this server any more.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// The same, if not all servers have said goodbye within the deadline: some have ended, or are
  /// stopped.
  [[nodiscard]] bool is_alone() const noexcept { return is_alone_; }

 private:
  void leave_alone();
  void count();

  Context& context_;
  const transport::Transport& transport_;
  std::set<int> clients_gone_;
  double last_left_ = 0;  // time when the last client left
  bool has_told_ = false;
  int servers_gone_ = 0;  // number of servers right below that have told
  trace::Counters all_;   // summed over this server and those below it
  double began_;
  double last_heard_;
  bool is_over_ = false;
  bool is_alone_ = false;
};

/// Carries out the collective actions that the lead orders (MPI files), one after another, in its
/// order. All servers first meet at a nonblocking barrier, while the loop goes on receiving. Only
/// then comes the collective call, which waits for nobody.
class Actions {
 public:
  using Perform = std::function<void(std::uint64_t file, const protocol::ActionNote&)>;
  Actions(MPI_Comm servers, Perform perform) : servers_{servers}, perform_{std::move(perform)} {}
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { mpi::leave_to_mpi(servers_, {gate_}, nullptr); }

  void queue(std::uint64_t file, protocol::ActionNote note) {
    queue_.emplace_back(file, std::move(note));
  }

  [[nodiscard]] bool is_empty() const noexcept { return queue_.empty(); }
  /// Go on with the first action. @return true if one was carried out.
  bool advance();

 private:
  MPI_Comm servers_;
  Perform perform_;
  std::deque<std::pair<std::uint64_t, protocol::ActionNote>> queue_;
  MPI_Request gate_ = MPI_REQUEST_NULL;
};

/// Tells once what is likely if no compute rank calls iocomp after iocomp_init: a library of the
/// program waits for the servers, in a communicator that has them.
class Unheard {
 public:
  /// @param deadline_seconds  of waits; 0: none. A tenth of it passes before the message, but at
  /// most a minute.
  Unheard(bool tells, double deadline_seconds);

  /// A message has come from a compute rank.
  void heard() noexcept { is_over_ = true; }
  /// Print the message if it is due. Call it now and then.
  void look();

 private:
  bool is_over_;
  double patience_seconds_;
  double began_;
};

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
  // Null for transports that have none.
  [[nodiscard]] transport::NodeWatch* node_watch() const { return transport_.node_watch(); }
  [[nodiscard]] bool was_given_up() const {
    return node_watch() != nullptr && node_watch()->was_given_up();
  }
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
  transport::Transport& transport_;
  PostOffice post_;  // notes what fails in the next two
  std::unique_ptr<disk::Engine> engine_;
  SideJobs jobs_;
  Context context_;
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
