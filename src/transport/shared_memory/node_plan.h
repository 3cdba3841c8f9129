// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace iocomp::transport {

/// The layout of the segment of a node. It has a doorbell and a sign of life for each process, the
/// state that all share, and a ring for each ordered pair of processes that talk: a compute rank
/// and a server, or two servers. Plain arithmetic from the roles, the same in all processes.
class NodePlan {
 public:
  /// @param serves  for each process of the node, true if it is a server.
  explicit NodePlan(std::vector<bool> serves);

  [[nodiscard]] std::size_t processes() const noexcept { return serves_.size(); }
  [[nodiscard]] bool serves(std::size_t process) const { return serves_[process]; }
  [[nodiscard]] bool talk(std::size_t one, std::size_t other) const {
    return one != other && (serves_[one] || serves_[other]);
  }
  [[nodiscard]] std::size_t bit_words() const noexcept { return (processes() + 63) / 64; }
  /// The size of each ring, a power of two. If there are many rings, they are small, so that a full
  /// node stays small.
  [[nodiscard]] std::size_t ring_bytes() const noexcept { return ring_bytes_; }
  [[nodiscard]] std::size_t rings() const noexcept { return rings_; }

  // Offsets in the segment.
  [[nodiscard]] std::size_t life(std::size_t process) const noexcept;
  [[nodiscard]] std::size_t state() const noexcept;
  [[nodiscard]] std::size_t bell(std::size_t process) const noexcept;
  [[nodiscard]] std::size_t bell_bits(std::size_t process) const noexcept;
  /// @pre talk(from, to)
  [[nodiscard]] std::size_t ring_ends(std::size_t from, std::size_t to) const;
  [[nodiscard]] std::size_t ring_memory(std::size_t from, std::size_t to) const;
  /// The size of the segment, in whole pages.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  [[nodiscard]] std::size_t ring(std::size_t from, std::size_t to) const;
  [[nodiscard]] std::size_t first_ring_ends() const noexcept;

  std::vector<bool> serves_;
  std::vector<std::size_t> servers_before_;  // number of servers before each process
  std::vector<std::size_t> first_ring_;      // first ring of each process as a sender
  std::size_t servers_ = 0;
  std::size_t rings_ = 0;
  std::size_t ring_bytes_ = 0;
};

}  // namespace iocomp::transport
