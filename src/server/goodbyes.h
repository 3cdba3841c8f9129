// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <vector>

#include "base/clock.h"
#include "server/context.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::server {

/// The end of a session: when all compute ranks of this server have said bye, it has nothing more
/// to do for their files, and the servers below it have said so, it tells the one above what they
/// counted. When all have, the lead tells all, and each answers its compute ranks.
class Goodbyes {
 public:
  Goodbyes(Context& context, const transport::Transport& transport);

  /// Somebody has sent something.
  void heard() noexcept { last_heard_ = now_seconds(); }
  /// @return whether it had not left before.
  bool client_left(int client);
  /// @param is_done  whether this server has nothing more to do; it waits for that until the
  /// deadline. @return whether it spoke.
  bool advance(bool is_done);
  /// One right below, and those below it, counted this.
  void server_left(const std::vector<double>& counters);
  /// All servers together counted this.
  void all_left(const std::vector<double>& counters);
  /// Whether nobody needs this server any more.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// The same where not all servers have come to say goodbye within the deadline: some have ended,
  /// or are stopped.
  [[nodiscard]] bool is_alone() const noexcept { return is_alone_; }

 private:
  void leave_alone();
  void count();

  Context& context_;
  const transport::Transport& transport_;
  std::set<int> clients_gone_;
  double last_left_ = 0;  // when the last client did
  bool has_told_ = false;
  int servers_gone_ = 0;  // of those right below
  trace::Counters all_;   // summed over these and those below them
  double began_;
  double last_heard_;
  bool is_over_ = false;
  bool is_alone_ = false;
};

}  // namespace iocomp::server
