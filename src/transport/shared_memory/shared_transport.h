#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/futex.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_watch.h"
#include "transport/shared_memory/peer.h"
#include "transport/shared_memory/wait_instruction.h"
#include "transport/transport.h"

namespace iocomp::transport {

/// The transport between processes of one node, without MPI: records go through a ring per pair,
/// whoever sleeps is woken through its doorbell. Bulk data are read in place where the sender
/// exports the memory, else pulled by the receiver (process_vm_readv), else, where the kernel
/// refuses that, copied by the sender through the ring.
class SharedTransport : public Transport {
 public:
  struct Options {
    int window = 16;       ///< messages that a compute rank may have on their way to one server
    bool limited = false;  ///< whether this rank's own posts need credits: compute ranks' do
    bool exports = true;   ///< whether this process offers memory in place
    std::chrono::nanoseconds spin{0};  ///< looks for so long before `watch` says: sleep
    WaitInstruction instruction = WaitInstruction::pause;
  };
  SharedTransport(NodeMemory node, const Options& options);

  PostId post(int rank, std::vector<std::byte> message, std::span<const std::byte> bulk,
              std::size_t chunk_bytes) override;
  PostId post_strided(int rank, std::vector<std::byte> message, const StridedBytes& bulk) override;
  bool takes_strided(int /*rank*/) const override { return true; }
  bool runs_elsewhere(int rank) const override { return peers_[numbers_.at(rank)]->runs_elsewhere; }
  bool is_taken(PostId post) override { return !bulk_.contains(post); }
  std::size_t held_back(int rank) const override;
  std::optional<Incoming> poll() override;
  void give_credit(int rank) override;
  FetchId fetch(int rank, std::span<std::byte> memory) override;
  bool fetches_any_size(int /*rank*/) const override { return true; }
  std::optional<Borrowed> borrow(int rank, std::size_t bytes,
                                 std::optional<std::size_t> page_remainder) override;
  void give_back(FetchId chunk) override;
  std::optional<FetchId> next_fetched() override;
  bool exports_memory() const override { return options_.exports; }
  std::span<std::byte> export_memory(std::size_t bytes, bool staged) override;
  bool withdraw_memory(const std::byte* first) override;
  bool progress() override;
  std::optional<FutexWord> watch() override;
  void unwatch() override { bell_.unwatch(); }
  bool needs_looks() const override { return false; }
  void rouse() override { bell_.rouse(); }
  std::optional<Loss> lost(bool waits) override;
  bool servers_are_gone() const override { return watch_.servers_are_gone(); }
  bool is_given_up() override;
  void leave() override;
  bool compute_ranks_are_gone() const override { return watch_.compute_ranks_are_gone(); }
  bool has_notes() const override { return true; }
  void write_note(std::uint64_t note) override { watch_.write_note(note); }
  bool has_note(std::uint64_t note) const override { return watch_.has_note(note); }
  Tally tally() const override { return tally_; }
  bool is_idle() const override;

  /// Whether `rank` is a process of this node that this one talks to.
  [[nodiscard]] bool reaches(int rank) const { return numbers_.contains(rank); }

 private:
  class Sink;  // takes the records of one peer
  struct Bulk {
    std::span<const std::byte> bytes;     // or:
    std::optional<StridedBytes> strided;  // packed when the receiver asks for a copy
    std::vector<std::byte> packed;

    [[nodiscard]] std::span<const std::byte> copied(std::uint64_t offset, std::uint64_t count);
  };
  struct Lent {
    std::size_t peer = 0;
    PostId post = 0;
    std::size_t bytes = 0;
    std::shared_ptr<const SharedMapping> mapping;
  };

  [[nodiscard]] Doorbell<Atomics> bell_of(std::size_t process) const;
  [[nodiscard]] std::unique_ptr<Peer> meet(std::size_t process) const;
  [[nodiscard]] Peer& peer(int rank) { return *peers_[numbers_.at(rank)]; }
  PostId post(int rank, std::vector<std::byte> message, Bulk bulk);
  void send(Peer& to, PostId post, std::vector<std::byte> message);
  void push(Peer& to);
  void rouse_all();
  void ring(Peer& other);
  void serve(Peer& from);
  void take(Peer& from, RecordKind kind, std::vector<std::byte> bytes);
  void take_offer(Peer& from, const Peer::Offered& offered, std::size_t fixed_bytes,
                  std::vector<std::byte> record);
  void take_credit(Peer& from, std::int64_t messages);
  void send_credit(Peer& to);
  [[nodiscard]] bool may_spin();
  [[nodiscard]] ImportedMemory::View view(Peer& from, std::size_t bytes);
  void asked(Peer& from, std::size_t bytes);
  void settle(Peer& from, PostId post, std::size_t bytes);

  NodeMemory node_;
  Options options_;
  Doorbell<Atomics> bell_;
  NodeWatch watch_;
  std::vector<std::unique_ptr<Peer>> peers_;      // by number on the node; some are nothing
  std::unordered_map<int, std::size_t> numbers_;  // on the node, by session rank
  PostId next_post_ = 1;
  FetchId next_fetch_ = 1;
  std::unordered_map<PostId, Bulk> bulk_;  // of posts that are not taken
  std::unordered_map<FetchId, Lent> borrowed_;
  std::vector<std::size_t> creditors_;  // processes that are owed half a window or more
  std::deque<Incoming> arrived_;
  std::deque<FetchId> fetched_;
  unsigned futile_looks_ = 0;  // one after the other
  unsigned sleeps_without_look_ = 0;
  ExportedMemory exported_;
  Tally tally_;
};

}  // namespace iocomp::transport
