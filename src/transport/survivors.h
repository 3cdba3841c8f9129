// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

namespace iocomp::transport {

/// Finds out that a process of a node has died, and keeps what the others still know then. Obtained
/// from a transport that has it.
class Survivors {
 public:
  Survivors() = default;
  Survivors(const Survivors&) = delete;
  Survivors& operator=(const Survivors&) = delete;
  virtual ~Survivors() = default;

  /// A server of this node that was given up. With it, all servers are.
  struct Loss {
    int rank = -1;             ///< rank in the session
    std::int64_t process = 0;  ///< process number
    bool ended = false;        ///< otherwise it was stopped, and does not go on
  };
  // Calls of a compute rank:
  /// Looks a few times a second for servers that have ended. @param waits  true if the caller waits
  /// for a server; then stopped servers are found, too.
  [[nodiscard]] virtual std::optional<Loss> lost(bool waits) = 0;
  /// True if no server does anything more. @pre lost()
  [[nodiscard]] virtual bool servers_are_gone() const = 0;

  // Calls of a server:
  /// The server's loop goes round. @return true if the compute ranks go on without servers.
  [[nodiscard]] virtual bool is_given_up() = 0;
  /// The same without going round; from any thread.
  [[nodiscard]] virtual bool was_given_up() const = 0;
  /// True if every compute rank has ended or left.
  [[nodiscard]] virtual bool compute_ranks_are_gone() const = 0;

  // Calls of any process:
  /// This process does nothing more for others.
  virtual void leave() = 0;
  /// True if all ranks of the session know one another's notes: words that outlive their writer,
  /// the last thousand. Otherwise none are kept.
  [[nodiscard]] virtual bool has_notes() const = 0;
  virtual void write_note(std::uint64_t note) = 0;
  [[nodiscard]] virtual bool has_note(std::uint64_t note) const = 0;
};

}  // namespace iocomp::transport
