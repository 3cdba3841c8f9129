// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

namespace iocomp::transport {

/// How the processes of a node find out that one of them has died, and what they still know then.
/// Obtained from a transport that has it.
class Survivors {
 public:
  Survivors() = default;
  Survivors(const Survivors&) = delete;
  Survivors& operator=(const Survivors&) = delete;
  virtual ~Survivors() = default;

  /// A server of this node that was given up: with it all are.
  struct Loss {
    int rank = -1;             ///< in the session
    std::int64_t process = 0;  ///< its number
    bool ended = false;        ///< else it was stopped, and does not go on
  };
  // A compute rank:
  /// Looks a few times a second for servers that have ended. @param waits  for a server: then for
  /// those that were stopped, too.
  [[nodiscard]] virtual std::optional<Loss> lost(bool waits) = 0;
  /// Whether no server does anything more. @pre lost()
  [[nodiscard]] virtual bool servers_are_gone() const = 0;

  // A server:
  /// It goes round. @return whether the compute ranks go on without servers.
  [[nodiscard]] virtual bool is_given_up() = 0;
  /// The same without going round; from any thread.
  [[nodiscard]] virtual bool was_given_up() const = 0;
  /// Whether every compute rank has ended or left.
  [[nodiscard]] virtual bool compute_ranks_are_gone() const = 0;

  // Any process:
  /// This one does nothing more for others.
  virtual void leave() = 0;
  /// Whether all ranks of the session know one another's notes: words that outlive who wrote them,
  /// the last thousand. Else none are kept.
  [[nodiscard]] virtual bool has_notes() const = 0;
  virtual void write_note(std::uint64_t note) = 0;
  [[nodiscard]] virtual bool has_note(std::uint64_t note) const = 0;
};

}  // namespace iocomp::transport
