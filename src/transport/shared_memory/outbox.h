// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/bug.h"
#include "transport/shared_memory/credit_returns.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/node_peers.h"
#include "transport/shared_memory/records.h"
#include "transport/transport.h"

namespace iocomp::transport {

/// The posts of this process to others of its node. Messages go as far as there is credit. Bulk
/// data are offered until the receiver has taken them.
class Outbox {
 public:
  /// The place of the bulk data of a post.
  struct Bulk {
    std::span<const std::byte> bytes;     // or:
    std::optional<StridedBytes> strided;  // packed when the receiver asks for a copy
    std::vector<std::byte> packed;
  };

  /// @param window   messages that may be on their way to one peer.
  /// @param limited  true if posts of this process need credits.
  Outbox(NodePeers& peers, CreditReturns& returns, const ExportedMemory& exported, int window,
         bool limited);

  PostId post(Peer& to, std::vector<std::byte> message, Bulk bulk);
  [[nodiscard]] bool is_taken(PostId post) const {
    return !bulk_.contains(post) || has_bug(Bug::taken_before_pull);
  }
  /// The number of posts that wait for a credit.
  [[nodiscard]] std::size_t held_back(const Peer& to) const { return to_[to.number].held.size(); }
  /// True if every message is sent, and all bulk data are taken.
  [[nodiscard]] bool is_empty() const;

  // Answers of the receivers:
  void take_credit(Peer& from, const Credit& credit);
  void take_taken(const Taken& taken) { bulk_.erase(taken.post); }
  void take_want_copy(Peer& from, const WantCopy& wanted);

 private:
  struct Held {
    PostId post = 0;
    std::vector<std::byte> message;
  };
  struct To {
    std::int64_t credits = 0;
    std::deque<Held> held;  // posts that wait for credits
  };
  void send(Peer& to, PostId post, std::vector<std::byte> message);

  NodePeers& peers_;
  CreditReturns& returns_;
  const ExportedMemory& exported_;
  bool limited_;
  PostId next_post_ = 1;
  std::vector<To> to_;                     // by number on the node
  std::unordered_map<PostId, Bulk> bulk_;  // of posts that are not taken
};

}  // namespace iocomp::transport
