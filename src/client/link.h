// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/crew.h"
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
  [[nodiscard]] Journal& journal() noexcept { return journal_; }
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
  void wait_until(const std::function<bool()>& done, const std::function<std::string()>& what) {
    waiting_.wait_until(done, what);
  }
  [[nodiscard]] const mpi::WaitPolicy& policy() const noexcept { return waiting_.policy(); }
  [[nodiscard]] TicketBook& tickets() noexcept { return ledger_.tickets(); }
  [[nodiscard]] FailureBook& failures() noexcept { return ledger_.failures(); }
  [[nodiscard]] bool has_servers() const noexcept { return servers_.are_there(); }
  [[nodiscard]] transport::Transport* transport() noexcept { return transport_; }
  /// True if a message to a server goes out at once.
  [[nodiscard]] bool has_credit(int server) const {
    return !servers_.loss() && transport_->held_back(servers_.rank_of(server)) == 0;
  }
  [[nodiscard]] RemoteFile& file(std::uint64_t key) { return servers_.file(key); }
  [[nodiscard]] const std::optional<std::string>& loss() const noexcept { return servers_.loss(); }

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
