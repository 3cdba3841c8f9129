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
#include <vector>

#include "base/error.h"
#include "base/free_ranges.h"
#include "mpi/wait.h"
#include "staging/stripe_memory.h"
#include "transport/shared_memory/share_segment.h"

namespace iocomp::transport {

/// Stripes that the compute ranks of a node fill together, in a segment that all have mapped. Each
/// rank has a part of it. A rank that makes a stripe gives it memory of its own part, and gets that
/// back when the last holder has left. So each rank limits its own memory, and waits for nobody.
class NodeStripes : public staging::StripeMemory {
 public:
  struct Terms {
    std::size_t stripe_bytes = 0;  ///< the longest stripe, without its offset in a page
    std::size_t rank_bytes = 0;    ///< all stripes of one rank, at most
    std::string segment = "auto";  ///< test.segment
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
  /// The number of the longest stripes that a rank can have. Less than two are of no use.
  [[nodiscard]] static std::size_t longest_stripes(const Terms& terms) noexcept;

  /// The bytes in use for stripes that this rank has made.
  [[nodiscard]] std::size_t own_bytes() const noexcept;
  /// Set a question that is asked before memory is used: is there room for so many bytes more?
  void share_bound_with(std::function<bool(std::size_t bytes)> has_room) {
    has_bound_room_ = std::move(has_room);
  }

  [[nodiscard]] std::size_t longest_bytes() const override { return longest_bytes_; }
  [[nodiscard]] std::optional<Held> hold(const Key& key, std::size_t bytes,
                                         std::int64_t elements) override;
  [[nodiscard]] std::optional<Held> hold_open(const Key& key, std::size_t bytes) override;
  [[nodiscard]] bool has_room(const Key& key, std::size_t bytes) override;
  [[nodiscard]] bool fill(const Held& held, std::int64_t elements) override;
  [[nodiscard]] bool is_writing() const override { return !taken_.empty(); }
  void withdraw(const Held& held) override;
  [[nodiscard]] State look(const Held& held) const override;
  [[nodiscard]] Outcome outcome(const Held& held) const override;
  void tell(const Held& held, const Outcome& outcome) override;
  void leave(const Held& held) noexcept override;

 private:
  struct Table;  // lies in the segment
  struct OfRank;
  struct Slot;
  using Number = std::uint32_t;  // number of a slot, from 1; 0: none
  [[nodiscard]] static std::size_t slots_of_rank(const Terms& terms) noexcept;

  [[nodiscard]] Table& table() const noexcept;
  [[nodiscard]] OfRank& of_rank(std::size_t rank) const noexcept;
  [[nodiscard]] Number& chain_of(const Key& key) const noexcept;
  [[nodiscard]] Slot& slot(Number number) const noexcept;
  [[nodiscard]] Slot* found(const Held& held) const noexcept;
  [[nodiscard]] Number find(const Key& key) const noexcept;
  [[nodiscard]] std::optional<Held> hold(Number number, std::size_t bytes);
  [[nodiscard]] Held held(Number number) const noexcept;
  void unchain(Number number) noexcept;
  void put_back(Number number) noexcept;
  void take_back();
  [[nodiscard]] bool take_spare(std::size_t bytes);
  [[nodiscard]] bool spare_fits(std::size_t bytes) const noexcept;
  [[nodiscard]] bool reserve(std::size_t end);

  std::size_t slots_of_rank_;
  std::size_t longest_bytes_;
  double deadline_seconds_;
  NodeSegment segment_;
  std::size_t first_byte_;         // of this rank's memory, in the segment
  FreeRanges free_;                // of that memory
  std::size_t reserved_ = 0;       // of that memory; its pages exist
  std::vector<Number> unused_;     // slots of this rank
  Number spare_ = 0;               // a slot of this rank that is ready for the next stripe
  bool is_full_ = false;           // the system has no more pages
  std::set<std::uint64_t> taken_;  // stripes that this rank holds and writes as a whole
  std::function<bool(std::size_t bytes)> has_bound_room_;
};

}  // namespace iocomp::transport
