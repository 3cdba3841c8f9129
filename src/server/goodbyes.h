// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <vector>

#include "base/clock.h"
#include "server/context.h"
#include "trace/counters.h"
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

}  // namespace iocomp::server
