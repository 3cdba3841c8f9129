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

namespace iocomp::transport {

/// The sign of life of a process, in the segment of its node. All zero means at work.
struct Life {
  alignas(64) std::atomic<std::uint64_t> beat;  ///< counts the rounds of a server's loop
  std::atomic<std::uint32_t> left;              ///< the process needs nobody, and does nothing more
};

/// The state that all processes of a node share, in their segment.
struct NodeState {
  static constexpr std::size_t notes = 1024;
  /// Number on the node of the server that was, plus 1.
  alignas(64) std::atomic<std::uint32_t> given_up;
  std::atomic<std::uint32_t> has_ended;  ///< it has ended; otherwise it was stopped
  std::atomic<std::uint32_t> next_note;
  std::atomic<std::uint64_t> note[notes];  ///< the last notes; 0: none
};

/// Finds out which server of the node has ended, or was stopped, lets all know, and keeps what the
/// others still know then. Obtained from a transport that has it. It looks a few
/// times a second: at descriptors of the processes, which become readable when these end, and,
/// during a wait, at their beat. A server that is only slow (waiting for a disk, starved of a
/// processor) is not given up: without a beat, it must also be stopped, as the system says. If the
/// session has several nodes, a stopped server is not given up, because nobody could go on without
/// it.
class NodeWatch {
 public:
  /// @param keeps_notes  true if all ranks of the session are on this node.
  NodeWatch(const NodeMemory& node, NodePeers& peers, bool keeps_notes);
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;
  ~NodeWatch();

  /// A server of this node that was given up. With it, all servers are.
  struct Loss {
    int rank = -1;             ///< rank in the session
    std::int64_t process = 0;  ///< process number
    bool ended = false;        ///< otherwise it was stopped, and does not go on
  };
  // Calls of a compute rank:
  /// Looks a few times a second for servers that have ended. @param waits  true if the caller waits
  /// for a server; then stopped servers are found, too.
  [[nodiscard]] std::optional<Loss> lost(bool waits);
  /// True if no server does anything more. @pre lost()
  [[nodiscard]] bool servers_are_gone() const;

  // Calls of a server:
  /// The server's loop goes round, which is its beat. @return true if the compute ranks go on
  /// without servers.
  [[nodiscard]] bool is_given_up();
  /// The same without going round; from any thread.
  [[nodiscard]] bool was_given_up() const;
  /// True if every compute rank has ended or left.
  [[nodiscard]] bool compute_ranks_are_gone() const;

  // Calls of any process:
  /// This process does nothing more for others.
  void leave();
  /// True if all ranks of the session know one another's notes: words that outlive their writer,
  /// the last thousand. Otherwise none are kept.
  [[nodiscard]] bool has_notes() const { return keeps_notes_; }
  void write_note(std::uint64_t note);
  [[nodiscard]] bool has_note(std::uint64_t note) const;

 private:
  struct Watched {  // another process
    std::size_t number = 0;
    pid_t pid = 0;
    int descriptor = -1;
    std::uint64_t beat = 0;  // at the last look
    double quiet_seconds = 0;
  };
  [[nodiscard]] Life& life(std::size_t process) const;
  [[nodiscard]] bool has_left(const Watched& one) const;
  [[nodiscard]] bool has_ended(const Watched& one) const;
  [[nodiscard]] static bool is_stopped(const Watched& one);
  // The server that was given up, if there is one.
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
