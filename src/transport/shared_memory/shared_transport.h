// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/bug.h"
#include "base/crew.h"
#include "base/futex.h"
#include "transport/shared_memory/atomics.h"
#include "transport/shared_memory/bulk_reader.h"
#include "transport/shared_memory/credit_returns.h"
#include "transport/shared_memory/doorbell.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_peers.h"
#include "transport/shared_memory/node_watch.h"
#include "transport/shared_memory/records.h"
#include "transport/shared_memory/wait_instruction.h"
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

/// The doorbell of this process. It tells who has rung, and how this process waits for a ring: it
/// looks for a few microseconds if that has paid, and then says that it sleeps.
class OwnBell {
 public:
  /// @param spin  time to look before `watch` says: sleep.
  OwnBell(const Doorbell<Atomics>& bell, std::chrono::nanoseconds spin, WaitInstruction instruction)
      : bell_{bell}, spin_{spin}, instruction_{instruction} {}

  /// Call `serve` with the number of each process that has rung. @return true if any has.
  template <typename Serve>
  bool answer(const Serve& serve) {
    bool any = false;
    for (std::size_t word = 0; word < bell_.words(); ++word) {
      for (std::uint64_t bits = bell_.take(word); bits != 0; bits &= bits - 1) {
        serve(word * Doorbell<Atomics>::peers_per_word +
              static_cast<std::size_t>(std::countr_zero(bits)));
        any = true;
      }
    }
    return any;
  }

  /// From here on a ring wakes this process. @return the word to sleep on.
  [[nodiscard]] FutexWord watch();
  /// The process is awake again.
  void unwatch() { bell_.unwatch(); }
  /// End the sleep of this process; any thread may call it.
  void rouse() { bell_.rouse(); }
  /// The number of times that this process went to sleep on its word.
  [[nodiscard]] double sleeps() const noexcept { return sleeps_; }

 private:
  [[nodiscard]] bool may_spin();

  Doorbell<Atomics> bell_;
  std::chrono::nanoseconds spin_;
  WaitInstruction instruction_;
  unsigned futile_looks_ = 0;  // in succession
  unsigned sleeps_without_look_ = 0;
  double sleeps_ = 0;
};

/// The transport between processes of one node, without MPI. Records go through a ring per pair,
/// and a sleeping process is woken through its doorbell. This class hands each call, and each
/// record that arrives, to the part whose job it is.
class SharedTransport : public Transport {
 public:
  struct Options {
    int window = 16;       ///< messages that a compute rank may have on their way to one server
    bool limited = false;  ///< true if this rank's own posts need credits: compute ranks' do
    bool exports = true;   ///< true if this process offers memory in place
    bool is_whole_session = true;      ///< true if no rank is on another node
    std::chrono::nanoseconds spin{0};  ///< time to look before `watch` says: sleep
    WaitInstruction instruction = WaitInstruction::pause;
    Crew* crew = nullptr;  ///< the threads that copy; null: only the caller does
  };
  SharedTransport(NodeMemory node, const Options& options);

  PostId post(int rank, std::vector<std::byte> message, std::span<const std::byte> bulk,
              std::size_t chunk_bytes) override;
  PostId post_strided(int rank, std::vector<std::byte> message, const StridedBytes& bulk) override;
  bool takes_strided(int /*rank*/) const override { return true; }
  bool runs_elsewhere(int rank) const override { return peers_.of_rank(rank).runs_elsewhere; }
  bool is_taken(PostId post) override { return outbox_.is_taken(post); }
  std::size_t held_back(int rank) const override { return outbox_.held_back(peers_.of_rank(rank)); }
  std::optional<Incoming> poll() override;
  void give_credit(int rank) override { returns_.owe(peers_.of_rank(rank)); }
  FetchId fetch(int rank, std::span<std::byte> memory) override {
    return reader_.fetch(peers_.of_rank(rank), memory);
  }
  bool fetches_any_size(int /*rank*/) const override { return true; }
  std::optional<Borrowed> borrow(int rank, std::size_t bytes,
                                 std::optional<std::size_t> page_remainder) override {
    return reader_.borrow(peers_.of_rank(rank), bytes, page_remainder);
  }
  void give_back(FetchId chunk) override { reader_.give_back(chunk); }
  std::optional<FetchId> next_fetched() override { return reader_.next_fetched(); }
  bool exports_memory() const override { return exports_; }
  std::span<std::byte> export_memory(std::size_t bytes, bool staged) override;
  bool withdraw_memory(const std::byte* first) override;
  bool progress() override;
  std::optional<FutexWord> watch() override { return bell_.watch(); }
  void unwatch() override { bell_.unwatch(); }
  bool needs_looks() const override { return false; }
  void rouse() override { bell_.rouse(); }
  /// Null if processes do not know one another, because nobody could see that one has ended.
  NodeWatch* node_watch() override { return node_.knows_processes ? &watch_ : nullptr; }
  Tally tally() const override;
  bool is_idle() const override;

  /// True if `rank` is a process of this node that this one talks to.
  [[nodiscard]] bool reaches(int rank) const { return peers_.have(rank); }

 private:
  class Sink;  // takes the records of one peer

  void serve(Peer& from);
  void take(Peer& from, RecordKind kind, std::vector<std::byte> bytes);

  NodeMemory node_;
  NodePeers peers_;
  ExportedMemory exported_;
  CreditReturns returns_;
  Outbox outbox_;
  BulkReader reader_;
  OwnBell bell_;
  NodeWatch watch_;
  std::deque<Incoming> arrived_;
  bool exports_;
};

}  // namespace iocomp::transport
