// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/shared_memory/atomics.h"
#include "transport/shared_memory/channel.h"
#include "transport/shared_memory/doorbell.h"
#include "transport/shared_memory/join_node.h"

namespace iocomp::transport {

/// Another process of the node, and the way to reach it.
struct Peer {
  int rank = -1;           ///< rank in the session
  std::size_t number = 0;  ///< number on the node
  pid_t pid = 0;
  bool runs_elsewhere = false;  ///< runs on none of this process's hardware threads
  Channel channel;
  Doorbell<Atomics> bell;
};

/// The processes of the node that this one talks to.
class NodePeers {
 public:
  explicit NodePeers(const NodeMemory& node);

  /// The number of processes of the node, with this one and those that it does not talk to.
  [[nodiscard]] std::size_t processes() const noexcept { return peers_.size(); }
  [[nodiscard]] bool have(int rank) const { return numbers_.contains(rank); }
  [[nodiscard]] Peer& of_rank(int rank) const { return *peers_[numbers_.at(rank)]; }
  [[nodiscard]] Peer& numbered(std::size_t process) const { return *peers_[process]; }
  template <typename Do>
  void for_each(const Do& action) const {
    for (const auto& peer : peers_) {
      if (peer) {
        action(*peer);
      }
    }
  }

  /// Send records that wait for the peer, and ring it if there were any.
  void push(Peer& to) {
    if (to.channel.push()) {
      ring(to);
    }
  }
  void ring(Peer& peer) { wake_ups_ += peer.bell.ring(node_.self) ? 1 : 0; }
  /// Wake every other process of the node that sleeps.
  void rouse_all() const;
  /// True if nothing waits for room in a ring.
  [[nodiscard]] bool have_pushed_all() const;
  /// The number of times that a peer was woken.
  [[nodiscard]] double wake_ups() const noexcept { return wake_ups_; }

  /// The bell of any process of the node, this one included.
  [[nodiscard]] Doorbell<Atomics> bell_of(std::size_t process) const;

 private:
  [[nodiscard]] std::unique_ptr<Peer> meet(std::size_t process) const;

  const NodeMemory& node_;
  std::vector<std::unique_ptr<Peer>> peers_;      // by number on the node; some are null
  std::unordered_map<int, std::size_t> numbers_;  // on the node, by session rank
  double wake_ups_ = 0;
};

}  // namespace iocomp::transport
