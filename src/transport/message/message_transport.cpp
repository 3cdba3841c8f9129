// SPDX-License-Identifier: BSD-3-Clause
#include "transport/message/message_transport.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/checked.h"
#include "base/error.h"
#include "mpi/error.h"
#include "mpi/under_way.h"

namespace iocomp::transport {
namespace {

constexpr int control_tag = 1;
constexpr int bulk_tag = 2;
constexpr int credit_tag = 3;

}  // namespace

MessageTransport::MessageTransport(MPI_Comm comm, int window, bool limited)
    : comm_{comm}, window_{window}, limited_{limited} {}

MessageTransport::~MessageTransport() {
  // Normally nothing is left. After a failure the job is going down.
  for (auto& request : send_requests_) {
    MPI_Cancel(&request);
  }
  mpi::leave_to_mpi(comm_, send_requests_, std::make_shared<std::vector<Sent>>(std::move(sent_)));
}

PostId MessageTransport::post(int rank, std::vector<std::byte> message,
                              std::span<const std::byte> bulk, std::size_t chunk_bytes) {
  Outgoing outgoing{next_post_++, std::move(message), bulk, chunk_bytes};
  const PostId id = outgoing.id;
  if (!bulk.empty()) {
    chunks_left_[id] = (bulk.size() + chunk_bytes - 1) / chunk_bytes;
  }
  if (limited_) {
    auto [entry, fresh] = peers_.try_emplace(rank);
    Peer& peer = entry->second;
    if (fresh) {
      peer.credits = window_;
    }
    if (peer.credits == 0 || !peer.held.empty()) {
      peer.held.push_back(std::move(outgoing));
      return id;
    }
    --peer.credits;
  }
  send(rank, std::move(outgoing));
  return id;
}

void MessageTransport::send(int rank, Outgoing outgoing) {
  const std::span<const std::byte> message{outgoing.message};
  start_send(rank, control_tag, message, {0, std::move(outgoing.message)});
  auto left = outgoing.bulk;
  while (!left.empty()) {
    const auto chunk = left.first(std::min(left.size(), outgoing.chunk_bytes));
    start_send(rank, bulk_tag, chunk, {outgoing.id, {}});
    left = left.subspan(chunk.size());
  }
}

void MessageTransport::start_send(int rank, int tag, std::span<const std::byte> bytes, Sent sent) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Isend(bytes.data(), checked_cast<int>(bytes.size()), MPI_BYTE, rank, tag, comm_,
                       &request));
  send_requests_.push_back(request);
  sent_.push_back(std::move(sent));
}

bool MessageTransport::is_taken(PostId post) {
  return !chunks_left_.contains(post) || has_bug(Bug::taken_too_early);
}

std::size_t MessageTransport::held_back(int rank) const {
  const auto peer = peers_.find(rank);
  return peer == peers_.end() ? 0 : peer->second.held.size();
}

std::optional<Incoming> MessageTransport::receive(int tag) {
  int found = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status;
  mpi::check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &found, &handle, &status));
  if (found == 0) {
    return std::nullopt;
  }
  int bytes = 0;
  mpi::check(MPI_Get_count(&status, MPI_BYTE, &bytes));
  Incoming incoming{status.MPI_SOURCE, std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  // This does not wait. The message was matched and is small, so its sender has nothing more to do.
  mpi::check(MPI_Mrecv(incoming.message.data(), bytes, MPI_BYTE, &handle, &status));
  return incoming;
}

std::optional<Incoming> MessageTransport::poll() { return receive(control_tag); }

void MessageTransport::give_credit(int rank) {
  Peer& peer = peers_[rank];
  ++peer.owed_credits;
  // Credits go back half a window at a time. So the sender never stands still for them, and they
  // cost few messages.
  if (peer.owed_credits < std::max<std::int64_t>(1, window_ / 2)) {
    return;
  }
  std::vector<std::byte> message(sizeof peer.owed_credits);
  std::memcpy(message.data(), &peer.owed_credits, message.size());
  const std::span<const std::byte> bytes{message};
  if (!has_bug(Bug::credit_lost)) {
    start_send(rank, credit_tag, bytes, {0, std::move(message)});
  }
  peer.owed_credits = 0;
}

bool MessageTransport::receive_credits() {
  bool any = false;
  while (auto incoming = receive(credit_tag)) {
    std::int64_t credits = 0;
    std::memcpy(&credits, incoming->message.data(), sizeof credits);
    Peer& peer = peers_[incoming->sender];
    peer.credits += credits;
    while (peer.credits > 0 && !peer.held.empty()) {
      --peer.credits;
      Outgoing next = std::move(peer.held.front());
      peer.held.pop_front();
      send(incoming->sender, std::move(next));
    }
    any = true;
  }
  return any;
}

FetchId MessageTransport::fetch(int rank, std::span<std::byte> memory) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Irecv(memory.data(), checked_cast<int>(memory.size()), MPI_BYTE, rank, bulk_tag,
                       comm_, &request));
  fetch_requests_.push_back(request);
  fetching_.emplace_back(next_fetch_, memory.size());
  return next_fetch_++;
}

std::optional<FetchId> MessageTransport::next_fetched() {
  if (fetched_.empty()) {
    return std::nullopt;
  }
  const FetchId id = fetched_.front();
  fetched_.pop_front();
  return id;
}

bool MessageTransport::progress() {
  const bool sent = test_sends();
  const bool fetched = test_fetches();
  const bool credited = limited_ && receive_credits();
  return sent || fetched || credited;
}

bool MessageTransport::test_sends() {
  if (send_requests_.empty()) {
    return false;
  }
  completed_.resize(send_requests_.size());
  int count = 0;
  mpi::check(MPI_Testsome(static_cast<int>(send_requests_.size()), send_requests_.data(), &count,
                          completed_.data(), MPI_STATUSES_IGNORE));
  if (count <= 0) {
    return false;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto bulk = chunks_left_.find(sent_[static_cast<std::size_t>(completed_[i])].bulk_of);
    if (bulk != chunks_left_.end() && --bulk->second == 0) {
      chunks_left_.erase(bulk);
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < send_requests_.size(); ++i) {
    if (send_requests_[i] != MPI_REQUEST_NULL) {
      if (kept != i) {
        send_requests_[kept] = send_requests_[i];
        sent_[kept] = std::move(sent_[i]);
      }
      ++kept;
    }
  }
  send_requests_.resize(kept);
  sent_.resize(kept);
  return true;
}

bool MessageTransport::test_fetches() {
  if (fetch_requests_.empty()) {
    return false;
  }
  completed_.resize(fetch_requests_.size());
  statuses_.resize(fetch_requests_.size());
  int count = 0;
  mpi::check(MPI_Testsome(static_cast<int>(fetch_requests_.size()), fetch_requests_.data(), &count,
                          completed_.data(), statuses_.data()));
  if (count <= 0) {
    return false;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto& [id, expected] = fetching_[static_cast<std::size_t>(completed_[i])];
    int bytes = 0;
    mpi::check(MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes));
    if (static_cast<std::size_t>(bytes) != expected) {
      throw Error{ErrorCode::internal, "a chunk of " + std::to_string(bytes) +
                                           " bytes came from rank " +
                                           std::to_string(statuses_[i].MPI_SOURCE) + ", expected " +
                                           std::to_string(expected)};
    }
    tally_.message_bytes += static_cast<double>(expected);
    fetched_.push_back(id);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < fetch_requests_.size(); ++i) {
    if (fetch_requests_[i] != MPI_REQUEST_NULL) {
      fetch_requests_[kept] = fetch_requests_[i];
      fetching_[kept] = fetching_[i];
      ++kept;
    }
  }
  fetch_requests_.resize(kept);
  fetching_.resize(kept);
  return true;
}

bool MessageTransport::is_idle() const {
  return send_requests_.empty() && fetch_requests_.empty() && fetched_.empty() &&
         std::all_of(peers_.begin(), peers_.end(),
                     [](const auto& entry) { return entry.second.held.empty(); });
}

}  // namespace iocomp::transport
