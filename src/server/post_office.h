// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpi/peers.h"
#include "protocol/messages.h"
#include "steps/council.h"
#include "steps/tree.h"
#include "transport/transport.h"

namespace iocomp::server {

/// Sends the messages of a server: reports and orders along the tree of servers (to itself without
/// MPI), answers to compute ranks, and notices. Notices are collected and sent once per round of
/// the loop. A fenced server sends nothing, because compute ranks that go on without it would each
/// hear something else.
class PostOffice : public steps::Council {
 public:
  /// @param is_fenced   true if the compute ranks go on without servers.
  /// @param write_note  keeps a note for them. Both are called from any thread.
  PostOffice(transport::Transport& transport, mpi::Peers servers, steps::Tree tree,
             std::function<bool()> is_fenced, std::function<void(std::uint64_t)> write_note);

  /// A report for the lead, which this server joins first with those of the servers below it.
  void report(Message message) { own_.push_back(std::move(message)); }
  /// Send joined reports up. @pre this is not the lead
  void to_above(Message message);
  /// The number of the server right below that sent a report, or of this server.
  [[nodiscard]] int server_of(int rank) const;
  /// @param rank  session rank of a compute rank.
  void to_rank(int rank, std::vector<std::byte> message);
  void notify(int rank, protocol::Notice notice);
  /// Note something that the compute ranks must know if this server ends.
  void write_note(std::uint64_t note) {
    if (!is_fenced_()) {
      write_failure(note);
    }
  }
  /// The same for a failure, which they must know in any case; from any thread.
  void write_failure(std::uint64_t note) { write_note_(note); }
  /// Send the notices collected so far.
  void flush();

  /// The next message of this server to itself.
  [[nodiscard]] std::optional<transport::Incoming> take_own();
  [[nodiscard]] bool has_own() const noexcept { return !own_.empty(); }

 private:
  void send_down(int server, std::span<const std::byte> bundle) override;
  void take_order(Message order) override { own_.push_back(std::move(order)); }

  transport::Transport& transport_;
  mpi::Peers servers_;
  std::function<bool()> is_fenced_;
  std::function<void(std::uint64_t)> write_note_;
  std::deque<Message> own_;
  std::map<int, std::vector<protocol::Notice>> notices_;
};

}  // namespace iocomp::server
