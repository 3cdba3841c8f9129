// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "steps/council.h"
#include "steps/tree.h"

namespace iocomp::client {

/// The members of a file that write it themselves, in a tree under the lead, which is the first of
/// them. Reports go up from member to member, and orders come down, all by messages of its own.
/// Nobody waits.
class PeerCouncil : public steps::Council {
 public:
  struct Setup {
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<int> ranks{};  ///< of the members in `comm`; empty: all
    int tag = 0;               ///< nobody else uses it on `comm`
    int width = 32;            ///< members that report to each
  };
  struct Received {
    int from = 0;  ///< the member below that reports; for an order: the lead
    bool is_order = false;
    Message message;
  };
  explicit PeerCouncil(Setup setup);
  ~PeerCouncil() override;

  [[nodiscard]] int member() const noexcept { return tree().number(); }
  /// The number of members that report through this one, which is one of them.
  [[nodiscard]] int members_from_here() const noexcept { return tree().here().size(); }
  /// The same for a member right below.
  [[nodiscard]] int members_from(int member) const;

  /// Send a report to the member above. @pre this is not the lead.
  void report(Message message);

  /// From now on this member only passes messages on.
  void leave();
  /// Take the last messages of those below. @return true if all of them have left, and nothing that
  /// was sent needs this member any more. Then the communicator may go.
  [[nodiscard]] bool have_all_left();

  /// The next message for this member. Messages for others were passed on before.
  [[nodiscard]] std::optional<Received> take();

 private:
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    Message message;
  };
  [[nodiscard]] static steps::Tree tree_of(const Setup& setup);
  [[nodiscard]] int rank_of(int member) const;
  [[nodiscard]] int member_of(int rank) const;
  void send_down(int member, std::span<const std::byte> bundle) override;
  void take_order(Message order) override { own_.push_back(std::move(order)); }
  void send(int member, Message message);
  void forget_sent();

  Setup setup_;
  int left_ = 0;             // number of those right below that have
  std::deque<Message> own_;  // orders for this member
  std::deque<Sending> sending_;
};

}  // namespace iocomp::client
