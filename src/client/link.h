#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "base/log.h"
#include "client/copy_memory.h"
#include "client/run_lists.h"
#include "client/tickets.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "protocol/messages.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::client {

/// What the servers have told about a file.
struct RemoteFile {
  std::optional<protocol::Opened> opened;
  std::optional<Outcome> closed;
  Outcome failed;                            ///< the file ...
  std::int64_t failed_from = 0;              ///< ... from this step on
  std::int64_t settled = 0;                  ///< steps 0 ... settled - 1 are committed or failed
  std::map<std::int64_t, Outcome> failures;  ///< of these, the failed ones
};

/// Thrown by whoever waits for servers when these were given up: the call is to be made again, by
/// whoever carries the file then.
struct ServersLost {};

/// The compute side's end of the transport: sends to servers, takes in what they tell, and sleeps
/// in between. Without servers (synchronous mode) there is no transport; tickets and failures are
/// kept all the same.
class Link {
 public:
  Link(transport::Transport* transport, mpi::Peers servers, const mpi::WaitPolicy& policy,
       std::size_t buffer_limit_bytes);

  /// Post to a server (by number); waits while the server has not given credit for what was posted
  /// before.
  transport::PostId post(int server, std::vector<std::byte> message,
                         std::span<const std::byte> bulk = {}, std::size_t chunk_bytes = 0);

  /// The same for a block in rows, which the server reads where they lie. @pre the transport takes
  /// it.
  transport::PostId post_strided(int server, std::vector<std::byte> message,
                                 const transport::StridedBytes& bulk);

  /// Somebody else that `pump` shall move, and how to sleep until that one has something to do.
  using Sleep = std::function<void(std::chrono::nanoseconds, const std::optional<FutexWord>& word)>;
  void move_with(std::function<bool()> mover, Sleep sleep) {
    mover_ = std::move(mover);
    sleep_ = std::move(sleep);
  }

  /// Move messages both ways; true if anything moved.
  bool pump();
  /// The same for somebody who waits for other compute ranks, with the look at servers that
  /// `wait_until` has. @throws ServersLost.
  void pump_while_waiting();
  /// Set the counters that the transport keeps.
  void count_transport();
  /// Sleep until `done`. @throws Error{timed_out} with `what`, when nothing moves for the deadline.
  /// @throws ServersLost when a server was given up; after leave_servers no more.
  void wait_until(const std::function<bool()>& done, const std::function<std::string()>& what);

  /// Memory for a copy; waits until earlier copies are handed over when the limit is reached.
  /// @throws Error{out_of_staging_memory} for a copy larger than the limit.
  /// @param page_remainder  see CopyMemory::take.
  [[nodiscard]] Copy copy_buffer(std::size_t bytes, std::size_t page_remainder = 0);
  /// Whether that would not wait.
  [[nodiscard]] bool has_copy_room(std::size_t bytes) const noexcept {
    return bytes <= buffer_limit_ && buffer_used_ <= buffer_limit_ - bytes;
  }
  /// The most memory that copies may take at once.
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept { return buffer_limit_; }
  /// Keep a copy until its post is taken.
  void free_when_taken(Copy copy, transport::PostId post, std::size_t bytes);

  /// Whether a ticket has reached a state. @throws Error with the ticket's failure.
  [[nodiscard]] bool has_reached(std::uint64_t ticket, State state);
  /// Whether the caller's memory is free of all puts into a file. Settled tickets are forgotten on
  /// the way.
  [[nodiscard]] bool all_taken(std::uint64_t file);
  /// Record a failure that a call shall tell later.
  void fail(std::uint64_t file, std::uint64_t ticket, const Outcome& outcome);

  /// Something that the summary shall say.
  void note(std::string text) {
    log::info(text);
    notes_.push_back(std::move(text));
  }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// Which way something went, and why: for those who look into the trace.
  void explain(std::string text) {
    constexpr std::size_t most = 1000;
    log::info(text);
    if (choices_.size() < most) {
      choices_.push_back(std::move(text));
    }
  }
  [[nodiscard]] const std::vector<std::string>& choices() const noexcept { return choices_; }

  [[nodiscard]] RemoteFile& file(std::uint64_t key) { return files_[key]; }
  void forget(std::uint64_t key) { files_.erase(key); }
  [[nodiscard]] TicketBook& tickets() noexcept { return tickets_; }
  [[nodiscard]] FailureBook& failures() noexcept { return failures_; }
  [[nodiscard]] RunLists& run_lists() noexcept { return run_lists_; }
  [[nodiscard]] trace::Counters& counters() noexcept { return counters_; }
  [[nodiscard]] const mpi::WaitPolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] bool has_servers() const noexcept { return transport_ != nullptr && !is_left_; }
  [[nodiscard]] int servers() const noexcept { return servers_.size(); }
  [[nodiscard]] int rank_of(int server) const { return servers_.rank(server); }
  /// Whether a server was given up, and what is told about it: "server 1 (rank 3, process 123) has
  /// ended".
  [[nodiscard]] const std::optional<std::string>& loss() const noexcept { return loss_; }
  /// Nothing is asked of servers any more; what they had told is known. @pre loss()
  void leave_servers() noexcept { is_left_ = true; }
  void say_gone() {
    if (transport_ != nullptr) {
      transport_->leave();
    }
  }
  /// Sleep until no server does anything more. @return whether that came before the deadline.
  [[nodiscard]] bool wait_for_end_of_servers();
  /// A post that was not taken: its bytes lie where they were.
  [[nodiscard]] bool is_taken(transport::PostId post) { return transport_->is_taken(post); }
  /// The copy that a post was made from, if it was.
  [[nodiscard]] Copy take_copy(transport::PostId post);
  [[nodiscard]] transport::Transport* transport() noexcept { return transport_; }

  [[nodiscard]] bool is_idle() const { return transport_ == nullptr || transport_->is_idle(); }
  /// The servers' counters, once home has answered `bye`.
  [[nodiscard]] const std::optional<std::vector<double>>& farewell() const noexcept {
    return farewell_;
  }

  /// Whether servers of this node read exported memory in place.
  [[nodiscard]] bool shares_memory() const {
    return transport_ != nullptr && transport_->exports_memory();
  }
  /// Memory that servers read in place; empty where there is none. And its end.
  [[nodiscard]] std::span<std::byte> export_memory(std::size_t bytes) {
    return transport_ == nullptr ? std::span<std::byte>{} : transport_->export_memory(bytes, false);
  }
  bool withdraw_memory(const std::byte* first) {
    return transport_ != nullptr && transport_->withdraw_memory(first);
  }

 private:
  struct HeldCopy {
    Copy copy;
    transport::PostId post;
    std::size_t bytes;
  };
  void dispatch(const transport::Incoming& incoming);
  void take_notice(const protocol::Notice& notice);
  void release_copies();
  bool sleep(mpi::Nap& nap);
  bool receive();
  int wait_for_credit(int server);
  void look_for_loss(bool waits);

  transport::Transport* transport_;
  std::function<bool()> mover_;
  Sleep sleep_;
  mpi::Peers servers_;
  mpi::WaitPolicy policy_;
  std::size_t buffer_limit_;
  std::size_t buffer_used_ = 0;
  CopyMemory copy_memory_;
  std::vector<HeldCopy> copies_;  // after the memory they lie in
  TicketBook tickets_;
  FailureBook failures_;
  RunLists run_lists_;
  trace::Counters counters_;
  std::vector<std::string> notes_;
  std::vector<std::string> choices_;
  std::unordered_map<std::uint64_t, RemoteFile> files_;
  std::optional<std::vector<double>> farewell_;
  std::optional<std::string> loss_;
  bool is_left_ = false;
};

}  // namespace iocomp::client
