// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/crew.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/node_peers.h"
#include "transport/shared_memory/records.h"
#include "transport/shared_memory/shared_mapping.h"
#include "transport/transport.h"

namespace iocomp::transport {

/// Brings in the bulk data that others of the node offer. It borrows data if the sender exports the
/// memory. Otherwise it pulls them (process_vm_readv). If the kernel refuses that, the sender
/// copies them through the ring.
class BulkReader {
 public:
  /// @param crew  the threads that copy; null: only the caller does.
  explicit BulkReader(NodePeers& peers, Crew* crew = nullptr);

  // These calls are for the next chunk that a peer offers; see Transport.
  FetchId fetch(Peer& from, std::span<std::byte> memory);
  std::optional<Transport::Borrowed> borrow(Peer& from, std::size_t bytes,
                                            std::optional<std::size_t> page_remainder);
  void give_back(FetchId chunk);
  [[nodiscard]] std::optional<FetchId> next_fetched();
  /// The ways on which the bytes came.
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  /// True if no copy is awaited, and the caller knows of every fetch that has completed.
  [[nodiscard]] bool is_idle() const;

  // Records of the senders:
  void take_offer(const Peer& from, const Offer& offer);
  void take_strided(const Peer& from, const Strided& rows);
  /// The memory for the bytes of the next copy.
  [[nodiscard]] std::span<std::byte> copy_target(const Peer& from, std::size_t bytes);
  /// The bytes of the copy are there.
  void take_copy(Peer& from);
  void forget(const Peer& from, const RegionGone& gone) {
    from_[from.number].memory.forget(gone.id);
  }

 private:
  struct Offered {
    Offer offer;
    std::uint64_t next = 0;         // bytes asked for so far
    std::optional<Strided> rows{};  // for bytes that do not lie in one piece
  };
  struct Copying {
    FetchId fetch = 0;
    PostId post = 0;
    std::span<std::byte> memory;
  };
  struct From {
    std::deque<Offered> offers;                       // those that are not asked for as a whole
    std::unordered_map<PostId, std::uint64_t> owing;  // bytes that are still needed
    std::deque<Copying> copying;                      // asked for, in this order
    ImportedMemory memory;
    bool refuses_pull = false;
  };
  struct Lent {
    std::size_t peer = 0;
    PostId post = 0;
    std::size_t bytes = 0;
    std::shared_ptr<const SharedMapping> mapping;
  };

  void add(const Peer& from, const Offered& offered);
  [[nodiscard]] ImportedMemory::View view(const Peer& from, std::size_t bytes);
  [[nodiscard]] int pull_offered(const Peer& from, const Offered& offered,
                                 std::span<std::byte> memory) const;
  [[nodiscard]] bool pulls(const Peer& from, std::span<std::byte> memory);
  void asked(const Peer& from, std::size_t bytes);
  void settle(Peer& from, PostId post, std::size_t bytes);

  NodePeers& peers_;
  Crew* crew_;
  std::vector<From> from_;  // by number on the node
  FetchId next_fetch_ = 1;
  std::unordered_map<FetchId, Lent> borrowed_;
  std::deque<FetchId> fetched_;
  Tally tally_;
};

}  // namespace iocomp::transport
