#include "client/council/peer_council.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "mpi/error.h"

namespace iocomp::client {
namespace {

constexpr int to_everybody = -1;
constexpr int to_lead = -2;
constexpr int goodbye = -3;
constexpr std::size_t address_bytes = sizeof(std::int64_t);  // behind the message

std::shared_ptr<const PeerCouncil::Message> addressed(PeerCouncil::Message message, int to) {
  const std::int64_t address = to;
  const std::size_t bytes = message.size();
  message.resize(bytes + address_bytes);
  std::memcpy(message.data() + bytes, &address, address_bytes);
  return std::make_shared<const PeerCouncil::Message>(std::move(message));
}

int address_of(const PeerCouncil::Message& message) {
  std::int64_t address = 0;
  std::memcpy(&address, message.data() + message.size() - address_bytes, address_bytes);
  return static_cast<int>(address);
}

}  // namespace

PeerCouncil::PeerCouncil(Setup setup) : setup_{std::move(setup)} {
  int rank = 0;
  mpi::check(MPI_Comm_rank(setup_.comm, &rank));
  mpi::check(MPI_Comm_size(setup_.comm, &members_));
  if (!setup_.ranks.empty()) {
    members_ = checked_cast<int>(setup_.ranks.size());
  }
  member_ = member_of(rank);
}

// What nobody has taken may still be read by the MPI.
PeerCouncil::~PeerCouncil() {
  static auto& never_freed = *new std::vector<std::shared_ptr<const Message>>;
  forget_sent();
  for (auto& sending : sending_) {
    never_freed.push_back(std::move(sending.message));
    MPI_Request_free(&sending.request);
  }
}

int PeerCouncil::rank_of(int member) const {
  return setup_.ranks.empty() ? member : setup_.ranks.at(static_cast<std::size_t>(member));
}

int PeerCouncil::member_of(int rank) const {
  const auto found = std::ranges::find(setup_.ranks, rank);
  return setup_.ranks.empty() ? rank : static_cast<int>(found - setup_.ranks.begin());
}

std::vector<int> PeerCouncil::below(int member) const {
  std::vector<int> all;
  const std::int64_t first = std::int64_t{setup_.width} * member + 1;
  for (std::int64_t one = first; one < std::min<std::int64_t>(first + setup_.width, members_);
       ++one) {
    all.push_back(static_cast<int>(one));
  }
  return all;
}

int PeerCouncil::members_from(int member) const {
  int all = 1;
  for (const int one : below(member)) {
    all += members_from(one);
  }
  return all;
}

void PeerCouncil::send(int member, std::shared_ptr<const Message> message) {
  forget_sent();
  auto& sending = sending_.emplace_back();
  sending.message = std::move(message);
  mpi::check(MPI_Isend(sending.message->data(), checked_cast<int>(sending.message->size()),
                       MPI_BYTE, rank_of(member), setup_.tag, setup_.comm, &sending.request));
}

void PeerCouncil::forget_sent() {
  std::erase_if(sending_, [](Sending& sending) {
    int done = 0;
    mpi::check(MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  });
}

// The MPI must not free a communicator on which somebody has not received what was sent: what a
// member said before its goodbye comes before it.
void PeerCouncil::leave() {
  if (member_ != 0) {
    send(above(member_), addressed({}, goodbye));
  }
}

bool PeerCouncil::have_all_left() {
  while (take()) {
  }
  forget_sent();
  return sending_.empty() && left_ == static_cast<int>(below(member_).size());
}

void PeerCouncil::report(Message message) {
  send(above(member_), addressed(std::move(message), to_lead));
}

void PeerCouncil::to_all(Message message) {
  own_.push_back(message);
  pass_down(addressed(std::move(message), to_everybody), to_everybody);
}

void PeerCouncil::to_writer(int writer, Message message) {
  if (writer == member_) {
    own_.push_back(std::move(message));
  } else {
    pass_down(addressed(std::move(message), writer), writer);
  }
}

// Orders for one member go the way that those for all go, so that none overtakes another.
void PeerCouncil::pass_down(const std::shared_ptr<const Message>& message, int to) {
  if (to == to_everybody) {
    for (const int one : below(member_)) {
      send(one, message);
    }
    return;
  }
  int next = to;
  while (above(next) != member_) {
    next = above(next);
  }
  send(next, message);
}

std::optional<PeerCouncil::Received> PeerCouncil::take() {
  if (!own_.empty()) {
    Received received{0, true, std::move(own_.front())};
    own_.pop_front();
    return received;
  }
  while (members_ > 1) {
    int has_come = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    mpi::check(MPI_Improbe(MPI_ANY_SOURCE, setup_.tag, setup_.comm, &has_come, &handle, &status));
    if (has_come == 0) {
      break;
    }
    int bytes = 0;
    mpi::check(MPI_Get_count(&status, MPI_BYTE, &bytes));
    Message message(static_cast<std::size_t>(bytes));
    mpi::check(MPI_Mrecv(message.data(), bytes, MPI_BYTE, &handle, &status));
    const int to = address_of(message);
    if (to == goodbye) {
      ++left_;
      continue;
    }
    if (to != to_lead && to != member_) {
      pass_down(std::make_shared<const Message>(message), to);
    }
    message.resize(message.size() - address_bytes);
    if (to < 0 || to == member_) {
      return Received{member_of(status.MPI_SOURCE), to != to_lead, std::move(message)};
    }
  }
  return std::nullopt;
}

}  // namespace iocomp::client
