// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "mpi/wait.h"
#include "staging/stripe_memory.h"
#include "transport/shared_memory/share_segment.h"

namespace iocomp::transport {

/// Stripes that the compute ranks of a node fill together, in a segment that all have mapped. It
/// has slots of one size, the same number for each rank. The rank that makes a stripe gives one of
/// its slots, and has it back when the last holder has left. So each rank bounds its own memory,
/// and waits for nobody.
class NodeStripes : public staging::StripeMemory {
 public:
  struct Terms {
    std::size_t stripe_bytes = 0;  ///< the longest, without its way into a page
    std::size_t rank_bytes = 0;    ///< of one rank's slots together, at most
    std::string segment = "auto";  ///< expert.segment
  };
  /// Make or join the stripes of a node. Collective over `node`, as is the failure.
  /// @throws Error{out_of_staging_memory} or {unsupported}.
  [[nodiscard]] static std::unique_ptr<NodeStripes> share(MPI_Comm node, const Terms& terms,
                                                          const mpi::WaitPolicy& policy);
  /// @param segment  of `segment_bytes`; its first `table_bytes` are reserved, and zero at first.
  /// @param deadline_seconds  for other ranks to let go of the lock; 0: none.
  NodeStripes(NodeSegment segment, const Terms& terms, double deadline_seconds);
  [[nodiscard]] static std::size_t segment_bytes(const Terms& terms,
                                                 std::size_t processes) noexcept;
  [[nodiscard]] static std::size_t table_bytes(const Terms& terms, std::size_t processes) noexcept;
  /// The slots that `terms` give each rank; with less than two there is no use in them.
  [[nodiscard]] static std::size_t slots_of_rank(const Terms& terms) noexcept;

  /// What this rank has in use for stripes that it has made.
  [[nodiscard]] std::size_t own_bytes() const noexcept;
  /// Ask this before a slot is taken into use: whether there is room for so many bytes more.
  void share_bound_with(std::function<bool(std::size_t bytes)> has_room) {
    has_bound_room_ = std::move(has_room);
  }

  [[nodiscard]] std::size_t longest_bytes() const override { return slot_bytes_; }
  [[nodiscard]] std::optional<Held> hold(const Key& key, std::size_t bytes,
                                         std::int64_t elements) override;
  [[nodiscard]] bool has_room(const Key& key, std::size_t bytes) override;
  [[nodiscard]] bool fill(const Held& held, std::int64_t elements) override;
  [[nodiscard]] bool is_writing() const override { return !taken_.empty(); }
  void withdraw(const Held& held) override;
  [[nodiscard]] State look(const Held& held) const override;
  [[nodiscard]] Outcome outcome(const Held& held) const override;
  void tell(const Held& held, const Outcome& outcome) override;
  void leave(const Held& held) noexcept override;

 private:
  struct Table;  // what lies in the segment
  struct OfRank;
  struct Slot;
  using Number = std::uint32_t;  // of a slot, from 1; 0: none

  [[nodiscard]] Table& table() const noexcept;
  [[nodiscard]] OfRank& of_rank(std::size_t rank) const noexcept;
  [[nodiscard]] Number& chain_of(const Key& key) const noexcept;
  [[nodiscard]] Slot& slot(Number number) const noexcept;
  [[nodiscard]] Slot* found(const Held& held) const noexcept;
  [[nodiscard]] Number find(const Key& key) const noexcept;
  [[nodiscard]] Held held(Number number) const noexcept;
  void unchain(Number number) noexcept;
  void put_back(Number number) noexcept;
  [[nodiscard]] bool take_spare();

  std::size_t slots_of_rank_;
  std::size_t slot_bytes_;
  double deadline_seconds_;
  NodeSegment segment_;
  std::size_t first_slot_;         // offset of the memory of slots in the segment
  std::size_t reserved_ = 0;       // slots of this rank whose pages are there
  Number spare_ = 0;               // a slot of this rank that is ready for the next stripe
  bool is_full_ = false;           // the system has no more pages
  std::set<std::uint64_t> taken_;  // stripes that this rank writes as a whole, and holds
  std::function<bool(std::size_t bytes)> has_bound_room_;
};

}  // namespace iocomp::transport
