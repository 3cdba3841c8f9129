// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shared_memory/node_peers.h"

namespace iocomp::transport {

/// The credits that this process owes to senders for messages that it has dealt with. They go back
/// half a window at a time, together with other records. So a sender never stands still for them,
/// and is woken rarely.
class CreditReturns {
 public:
  /// @param window  messages that a sender may have on their way.
  CreditReturns(NodePeers& peers, int window);

  /// This process has dealt with a message of `from`.
  void owe(const Peer& from);
  /// Something is sent to this peer, so the credits that it is owed go before.
  void send_with(Peer& to);
  /// Send the credits that went with nothing else.
  void send_all();

 private:
  NodePeers& peers_;
  std::int64_t half_window_;
  std::vector<std::int64_t> owed_;      // by number on the node
  std::vector<std::size_t> creditors_;  // processes that are owed half a window or more
};

}  // namespace iocomp::transport
