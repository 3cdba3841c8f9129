// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "base/error.h"
#include "client/local/copy_memory.h"
#include "client/remote/ledger.h"
#include "client/remote/run_lists.h"
#include "client/remote/servers.h"
#include "client/tickets.h"
#include "client/waiting.h"
#include "device/gpu_memory.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "steps/predecessors.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::client {

/// Texts that a rank tells at the end of a session.
class Journal {
 public:
  /// Add a text to the summary.
  void note(std::string text);
  /// The same, of something that the program or its settings can do better: told at once, too.
  void warn(std::string text);
  /// Explain which way something went, for those who look into the trace. The first thousand stay.
  void explain(std::string text);

  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] const std::vector<std::string>& choices() const noexcept { return choices_; }

 private:
  std::vector<std::string> notes_;
  std::vector<std::string> choices_;
};

/// The parts that all files of a rank share. Each part does its own job. The link does what takes
/// several of them: it posts within the servers' credit, and copies within the bound.
class Link {
 public:
  /// @param transport  null without servers (synchronous mode); tickets and failures are kept all
  /// the same.
  Link(transport::Transport* transport, mpi::Peers servers, const mpi::WaitPolicy& policy,
       std::size_t buffer_limit_bytes);

  /// Set the threads that this rank divides requests among; null, as at first: only itself.
  void work_with(Crew* threads) noexcept { crew_ = threads; }
  [[nodiscard]] Crew* crew() const noexcept { return crew_; }

  // The parts:
  [[nodiscard]] Ledger& ledger() noexcept { return ledger_; }
  [[nodiscard]] Servers& server_side() noexcept { return servers_; }
  [[nodiscard]] steps::Progress& progress() noexcept { return progress_; }
  [[nodiscard]] Waiting& waiting() noexcept { return waiting_; }
  [[nodiscard]] CopyMemory& copies() noexcept { return copies_; }
  [[nodiscard]] RunLists& run_lists() noexcept { return run_lists_; }
  [[nodiscard]] trace::Counters& counters() noexcept { return counters_; }
  [[nodiscard]] device::GpuMemory& gpu_memory() noexcept { return gpu_memory_; }

  /// Post to a server (by number). Waits while the server has not given credit for earlier posts.
  transport::PostId post(int server, std::vector<std::byte> message,
                         std::span<const std::byte> bulk = {}, std::size_t chunk_bytes = 0);
  /// The same for a block in rows, which the server reads where they lie. @pre the transport takes
  /// it.
  transport::PostId post_strided(int server, std::vector<std::byte> message,
                                 const transport::StridedBytes& bulk);

  /// Memory for a copy. When the bound is reached, it waits while servers or the disk have copies
  /// to give back. If they have none, it exceeds the bound, because nothing would end the wait.
  /// @throws Error{out_of_staging_memory} for a copy larger than the bound.
  /// @param page_remainder  see CopyMemory::take.
  [[nodiscard]] Copy copy_buffer(std::size_t bytes, std::size_t page_remainder = 0);

  /// Set the counters that the transport and the threads keep.
  void count_transport();
  /// Nothing more is asked of servers, and they may know it: this rank went on without them.
  void say_gone() { servers_.say_gone(); }

  // These calls are for memory that servers of this node read in place.
  [[nodiscard]] bool shares_memory() const {
    return transport_ != nullptr && transport_->exports_memory();
  }
  /// Empty if there is none.
  [[nodiscard]] std::span<std::byte> export_memory(std::size_t bytes) {
    return transport_ == nullptr ? std::span<std::byte>{} : transport_->export_memory(bytes, false);
  }
  bool withdraw_memory(const std::byte* first) {
    return transport_ != nullptr && transport_->withdraw_memory(first);
  }

  // These calls, which carriers make most, are passed on to the part that answers.
  bool pump() { return waiting_.pump(); }
  void pump_while_waiting() { waiting_.pump_while_waiting(); }
  void wait_until(const std::function<bool()>& done, const std::function<std::string()>& what) {
    waiting_.wait_until(done, what);
  }
  void move_with(std::function<bool()> mover, Waiting::Sleep sleep) {
    waiting_.move_with(std::move(mover), std::move(sleep));
  }
  [[nodiscard]] bool wait_for_end_of_servers() { return waiting_.wait_for_end_of_servers(); }
  [[nodiscard]] const mpi::WaitPolicy& policy() const noexcept { return waiting_.policy(); }

  [[nodiscard]] TicketBook& tickets() noexcept { return ledger_.tickets(); }
  [[nodiscard]] FailureBook& failures() noexcept { return ledger_.failures(); }
  [[nodiscard]] bool has_reached(std::uint64_t ticket, State state) {
    return ledger_.has_reached(ticket, state);
  }
  [[nodiscard]] bool all_taken(std::uint64_t file) { return ledger_.all_taken(file); }
  void fail(std::uint64_t file, std::uint64_t ticket, const Outcome& outcome) {
    ledger_.fail(file, ticket, outcome);
  }
  void note(std::string text) { journal_.note(std::move(text)); }
  void warn(std::string text) { journal_.warn(std::move(text)); }
  void explain(std::string text) { journal_.explain(std::move(text)); }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return journal_.notes(); }
  [[nodiscard]] const std::vector<std::string>& choices() const noexcept {
    return journal_.choices();
  }

  [[nodiscard]] bool has_copy_room(std::size_t bytes) const noexcept {
    return copies_.has_room(bytes);
  }
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept { return copies_.limit_bytes(); }
  void free_when_taken(Copy copy, transport::PostId post) {
    servers_.keep_until_taken(std::move(copy), post);
  }
  [[nodiscard]] Copy take_copy(transport::PostId post) { return servers_.take_copy(post); }

  [[nodiscard]] bool has_servers() const noexcept { return servers_.are_there(); }
  [[nodiscard]] int servers() const noexcept { return servers_.count(); }
  [[nodiscard]] int rank_of(int server) const { return servers_.rank_of(server); }
  [[nodiscard]] transport::Transport* transport() noexcept { return transport_; }
  /// True if a message to a server goes out at once.
  [[nodiscard]] bool has_credit(int server) const {
    return !servers_.loss() && transport_->held_back(servers_.rank_of(server)) == 0;
  }
  [[nodiscard]] bool is_taken(transport::PostId post) { return transport_->is_taken(post); }
  [[nodiscard]] RemoteFile& file(std::uint64_t key) { return servers_.file(key); }
  void forget(std::uint64_t key) { servers_.forget(key); }
  [[nodiscard]] const std::optional<std::string>& loss() const noexcept { return servers_.loss(); }
  void leave_servers() noexcept { servers_.leave(); }
  void forget_copies() noexcept { servers_.forget_copies(); }
  [[nodiscard]] bool is_idle() const { return servers_.is_idle(); }
  [[nodiscard]] const std::optional<std::vector<double>>& farewell() const noexcept {
    return servers_.farewell();
  }

 private:
  int wait_for_credit(int server);

  transport::Transport* transport_;
  Crew* crew_ = nullptr;
  trace::Counters counters_;
  Journal journal_;
  Ledger ledger_;
  CopyMemory copies_;
  steps::Progress progress_;
  Servers servers_;  // after the memory of the copies that it keeps
  Waiting waiting_;
  RunLists run_lists_;
  device::GpuMemory gpu_memory_;
};

}  // namespace iocomp::client
