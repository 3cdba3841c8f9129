// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_peers.h"
#include "transport/survivors.h"

namespace iocomp::transport {

/// The sign of life of a process, in the segment of its node. All zero: at work.
struct Life {
  alignas(64) std::atomic<std::uint64_t> beat;  ///< a server's loop goes round
  std::atomic<std::uint32_t> left;              ///< it needs nobody, and does nothing more
};

/// What all processes of a node know together, in their segment.
struct NodeState {
  static constexpr std::size_t notes = 1024;
  alignas(64) std::atomic<std::uint32_t> given_up;  ///< the server, its number on the node + 1
  std::atomic<std::uint32_t> has_ended;             ///< else it was stopped
  std::atomic<std::uint32_t> next_note;
  std::atomic<std::uint64_t> note[notes];  ///< the last ones; 0: none
};

/// Finds out which server of the node has ended, or was stopped, and lets all know. Whoever looks
/// looks a few times a second: at descriptors of the processes, which become readable when these
/// end, and, while waiting, at their beat. A server that is only slow (waiting for a disk, starved
/// of a processor) is not given up: one without a beat must be stopped, as the system says. Where
/// the session has several nodes it is not given up either: nobody could go on without it.
class NodeWatch : public Survivors {
 public:
  /// @param keeps_notes  whether all ranks of the session are of this node.
  NodeWatch(const NodeMemory& node, NodePeers& peers, bool keeps_notes);
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;
  ~NodeWatch() override;

  std::optional<Loss> lost(bool waits) override;
  bool servers_are_gone() const override;
  bool is_given_up() override;
  bool was_given_up() const override;
  bool compute_ranks_are_gone() const override;
  void leave() override;
  bool has_notes() const override { return keeps_notes_; }
  void write_note(std::uint64_t note) override;
  bool has_note(std::uint64_t note) const override;

 private:
  struct Watched {  // another process
    std::size_t number = 0;
    pid_t pid = 0;
    int descriptor = -1;
    std::uint64_t beat = 0;  // when it was looked at last
    double quiet_seconds = 0;
  };
  [[nodiscard]] Life& life(std::size_t process) const;
  [[nodiscard]] bool has_left(const Watched& one) const;
  [[nodiscard]] bool has_ended(const Watched& one) const;
  [[nodiscard]] static bool is_stopped(const Watched& one);
  // The server that was given up, if one was.
  [[nodiscard]] std::optional<Loss> told() const;
  void give_up(const Watched& server, bool ended);
  void ring_servers();

  const NodeMemory& node_;
  NodePeers& peers_;
  bool keeps_notes_;
  NodeState* state_;
  Life* own_;
  std::vector<Watched> servers_;
  std::vector<Watched> compute_ranks_;
  double looked_at_ = 0;
};

}  // namespace iocomp::transport
