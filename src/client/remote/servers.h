// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/remote/ledger.h"
#include "client/remote/silence.h"
#include "client/tickets.h"
#include "mpi/peers.h"
#include "protocol/messages.h"
#include "steps/predecessors.h"
#include "transport/shared_memory/node_watch.h"
#include "transport/transport.h"

namespace iocomp::client {

/// The state of a file as the servers have told it.
struct RemoteFile {
  std::optional<protocol::Opened> opened;
  std::optional<Outcome> closed;
  Outcome failed;                            ///< the file ...
  std::int64_t failed_from = 0;              ///< ... from this step on
  std::int64_t settled = 0;                  ///< steps 0 ... settled - 1 are committed or failed
  std::map<std::int64_t, Outcome> failures;  ///< failed ones among these
};

/// The servers as this rank sees them. It knows what they have told, what they still read of this
/// rank, and whether one was lost. Without servers (synchronous mode) there is no transport.
/// Nothing here waits.
class Servers {
 public:
  Servers(transport::Transport* transport, mpi::Peers ranks, Ledger& ledger,
          steps::Progress& progress)
      : transport_{transport},
        node_watch_{transport == nullptr ? nullptr : transport->node_watch()},
        ranks_{std::move(ranks)},
        ledger_{ledger},
        progress_{progress} {}

  /// True if servers may be asked anything.
  [[nodiscard]] bool are_there() const noexcept { return transport_ != nullptr && !is_left_; }
  [[nodiscard]] int count() const noexcept { return ranks_.size(); }
  /// The rank of a server in the session.
  [[nodiscard]] int rank_of(int server) const { return ranks_.rank(server); }
  [[nodiscard]] transport::Transport* transport() noexcept { return transport_; }

  /// Take in what has come. @return true if anything moved.
  bool receive();
  [[nodiscard]] RemoteFile& file(std::uint64_t key) { return files_[key]; }
  /// A step is committed or has failed, as a server tells, or has noted.
  void settled(std::uint64_t key, std::int64_t step, const Outcome& outcome);
  void forget(std::uint64_t key) { files_.erase(key); }
  /// The servers' counters, after home has answered `bye`.
  [[nodiscard]] const std::optional<std::vector<double>>& farewell() const noexcept {
    return farewell_;
  }
  /// True if nothing that was sent to them is on its way.
  [[nodiscard]] bool is_idle() const { return transport_ == nullptr || transport_->is_idle(); }

  /// Keep a copy until its post is taken.
  void keep_until_taken(Copy copy, transport::PostId post) {
    copies_.emplace_back(post, std::move(copy));
  }
  [[nodiscard]] bool have_copies() const noexcept { return !copies_.empty(); }
  /// The copy that a post was made from, if there is one.
  [[nodiscard]] Copy take_copy(transport::PostId post);

  /// @param waits  true if the caller waits for a server; then stopped servers are found, too.
  void look_for_loss(bool waits);
  /// The reason if a server was given up: "server 1 (rank 3, process 123) has ended". What the
  /// servers had told before is known.
  [[nodiscard]] const std::optional<std::string>& loss() const noexcept { return loss_; }
  // These calls are for servers whose end the transport does not notice:
  /// A wait gets long: ask the servers to answer.
  void ask_for_an_answer();
  /// A wait was given up. A server that has not answered is silent until it does.
  void conclude_silence() { silence_.conclude(); }
  /// Names the silent servers: "server 1 (rank 3) does not answer".
  [[nodiscard]] std::optional<std::string> silent() const;
  [[nodiscard]] bool is_silent(int server) const { return silence_.servers().contains(server); }

  /// True if they have ended, were stopped, or have left. @pre loss()
  [[nodiscard]] bool are_gone() const { return node_watch_->servers_are_gone(); }
  /// True if they leave notes for this rank; and if one of the notes is this.
  [[nodiscard]] bool leave_notes() const {
    return node_watch_ != nullptr && node_watch_->has_notes();
  }
  [[nodiscard]] bool have_noted(std::uint64_t note) const {
    return node_watch_ != nullptr && node_watch_->has_note(note);
  }
  /// This rank does nothing more for the servers, and they may know it.
  void say_gone() {
    if (node_watch_ != nullptr) {
      node_watch_->leave();
    }
  }
  /// Ask nothing of the servers any more. @pre loss()
  void leave() noexcept { is_left_ = true; }
  /// Forget the copies that nobody has taken over, because nobody tells when they were read.
  void forget_copies() noexcept { copies_.clear(); }

 private:
  /// @return true if it moves anything.
  bool dispatch(const transport::Incoming& incoming);
  [[nodiscard]] int number_of(int rank) const;
  void take_notice(const protocol::Notice& notice);

  transport::Transport* transport_;
  transport::NodeWatch* node_watch_;  // some transports have none
  mpi::Peers ranks_;
  Ledger& ledger_;
  steps::Progress& progress_;
  std::unordered_map<std::uint64_t, RemoteFile> files_;
  std::vector<std::pair<transport::PostId, Copy>> copies_;
  std::optional<std::vector<double>> farewell_;
  std::optional<std::string> loss_;
  Silence silence_;
  bool is_left_ = false;
};

}  // namespace iocomp::client
