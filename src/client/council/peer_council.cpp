// SPDX-License-Identifier: BSD-3-Clause
#include "client/council/peer_council.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "mpi/error.h"
#include "mpi/under_way.h"
#include "steps/tree.h"

namespace iocomp::client {
namespace {

// The kind of a message; it stands at its end.
enum class Word : std::int64_t { report = 1, orders = 2, goodbye = 3 };

PeerCouncil::Message with(Word word, std::span<const std::byte> message) {
  PeerCouncil::Message all(message.size() + sizeof word);
  std::ranges::copy(message, all.begin());
  std::memcpy(all.data() + message.size(), &word, sizeof word);
  return all;
}

Word take_word(PeerCouncil::Message& message) {
  Word word{};
  message.resize(message.size() - sizeof word);
  std::memcpy(&word, message.data() + message.size(), sizeof word);
  return word;
}

}  // namespace

steps::Tree PeerCouncil::tree_of(const Setup& setup) {
  int members = checked_cast<int>(setup.ranks.size());
  int member = 0;
  mpi::check(MPI_Comm_rank(setup.comm, &member));
  if (setup.ranks.empty()) {
    mpi::check(MPI_Comm_size(setup.comm, &members));
  } else {
    member = checked_cast<int>(std::ranges::find(setup.ranks, member) - setup.ranks.begin());
  }
  return {members, setup.width, member};
}

PeerCouncil::PeerCouncil(Setup setup) : Council{tree_of(setup)}, setup_{std::move(setup)} {}

// MPI may still read messages that nobody has taken.
PeerCouncil::~PeerCouncil() {
  forget_sent();
  for (auto& sending : sending_) {
    mpi::leave_to_mpi(setup_.comm, {sending.request},
                      std::make_shared<Message>(std::move(sending.message)));
  }
}

int PeerCouncil::rank_of(int member) const {
  return setup_.ranks.empty() ? member : setup_.ranks.at(static_cast<std::size_t>(member));
}

int PeerCouncil::member_of(int rank) const {
  const auto found = std::ranges::find(setup_.ranks, rank);
  return setup_.ranks.empty() ? rank : static_cast<int>(found - setup_.ranks.begin());
}

int PeerCouncil::members_from(int member) const {
  return std::ranges::find(tree().below(), member, &steps::Tree::Branch::first)->size();
}

void PeerCouncil::send(int member, Message message) {
  forget_sent();
  auto& sending = sending_.emplace_back();
  sending.message = std::move(message);
  mpi::check(MPI_Isend(sending.message.data(), checked_cast<int>(sending.message.size()), MPI_BYTE,
                       rank_of(member), setup_.tag, setup_.comm, &sending.request));
}

void PeerCouncil::send_down(int member, std::span<const std::byte> bundle) {
  send(member, with(Word::orders, bundle));
}

// Forgets in the order of sending, which is about that of arrival. To ask for all of them costs
// more than to keep some for a while.
void PeerCouncil::forget_sent() {
  for (int done = 1; !sending_.empty() && done != 0;) {
    mpi::check(MPI_Test(&sending_.front().request, &done, MPI_STATUS_IGNORE));
    if (done != 0) {
      sending_.pop_front();
    }
  }
}

// MPI must not free a communicator on which a message was sent and not received. Messages of a
// member arrive before its goodbye.
void PeerCouncil::leave() {
  if (member() != 0) {
    send(tree().above(), with(Word::goodbye, {}));
  }
}

bool PeerCouncil::have_all_left() {
  while (take()) {
  }
  forget_sent();
  return sending_.empty() && left_ == std::ssize(tree().below());
}

void PeerCouncil::report(Message message) { send(tree().above(), with(Word::report, message)); }

std::optional<PeerCouncil::Received> PeerCouncil::take() {
  while (own_.empty() && writers() > 1) {
    int has_come = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    mpi::check(MPI_Improbe(MPI_ANY_SOURCE, setup_.tag, setup_.comm, &has_come, &handle, &status));
    if (has_come == 0) {
      return std::nullopt;
    }
    int bytes = 0;
    mpi::check(MPI_Get_count(&status, MPI_BYTE, &bytes));
    Message message(static_cast<std::size_t>(bytes));
    mpi::check(MPI_Mrecv(message.data(), bytes, MPI_BYTE, &handle, &status));
    switch (take_word(message)) {
      case Word::goodbye:
        ++left_;
        break;
      case Word::orders:
        pass_down(message);
        break;
      case Word::report:
        return Received{member_of(status.MPI_SOURCE), false, std::move(message)};
    }
  }
  if (own_.empty()) {
    return std::nullopt;
  }
  Received received{0, true, std::move(own_.front())};
  own_.pop_front();
  return received;
}

}  // namespace iocomp::client
