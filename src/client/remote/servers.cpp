// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/servers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/remote/ledger.h"
#include "client/tickets.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "transport/shared_memory/node_watch.h"
#include "transport/transport.h"

namespace iocomp::client {

using protocol::Kind;
using protocol::Notice;

bool Servers::receive() {
  bool moved = transport_->progress();
  while (const auto incoming = transport_->poll()) {
    moved = dispatch(*incoming) || moved;
  }
  if (moved) {
    std::erase_if(copies_, [this](const auto& copy) { return transport_->is_taken(copy.first); });
  }
  return moved;
}

Copy Servers::take_copy(transport::PostId post) {
  const auto found = std::ranges::find(copies_, post, &std::pair<transport::PostId, Copy>::first);
  if (found == copies_.end()) {
    return {};
  }
  Copy copy = std::move(found->second);
  copies_.erase(found);
  return copy;
}

// Messages that the servers sent before they were given up are still heard.
void Servers::look_for_loss(bool waits) {
  const auto lost = loss_ || node_watch_ == nullptr ? std::nullopt : node_watch_->lost(waits);
  if (!lost) {
    return;
  }
  while (receive()) {
  }
  loss_ = "server " + std::to_string(number_of(lost->rank)) + " (rank " +
          std::to_string(lost->rank) + ", process " + std::to_string(lost->process) + ") " +
          (lost->ended ? "has ended" : "does not respond");
}

int Servers::number_of(int rank) const {
  int number = 0;
  while (number < ranks_.size() && ranks_.rank(number) != rank) {
    ++number;
  }
  return number;
}

void Servers::ask_for_an_answer() {
  if (!are_there() || (node_watch_ != nullptr && !transport_->needs_looks())) {
    return;
  }
  silence_.ask(ranks_.size(), [this](int server) {
    (void)transport_->post(ranks_.rank(server), protocol::message(Kind::ask, 0, {}), {}, 0);
  });
}

std::optional<std::string> Servers::silent() const {
  if (!are_there() || silence_.servers().empty()) {
    return std::nullopt;
  }
  std::string told;
  for (const int server : silence_.servers()) {
    told += (told.empty() ? "server " : " and server ") + std::to_string(server) + " (rank " +
            std::to_string(rank_of(server)) + ')';
  }
  return told + (silence_.servers().size() == 1 ? " does not answer" : " do not answer");
}

bool Servers::dispatch(const transport::Incoming& incoming) {
  const auto header = protocol::check_header(incoming.message, incoming.sender);
  const auto body = protocol::body(incoming.message);
  switch (header.kind) {
    case Kind::opened:
      files_[header.file].opened = protocol::decode<protocol::Opened>(body);
      break;
    case Kind::notices:
      for (const auto& notice : protocol::decode<std::vector<protocol::Notice>>(body)) {
        take_notice(notice);
      }
      break;
    case Kind::closed:
      files_[header.file].closed = protocol::decode<Outcome>(body);
      break;
    case Kind::farewell:
      farewell_ = protocol::decode<protocol::Counters>(body);
      break;
    case Kind::here:
      silence_.answered(number_of(incoming.sender));
      return false;
    default:
      throw Error{ErrorCode::internal, "a compute rank got a message of kind " +
                                           std::to_string(static_cast<int>(header.kind))};
  }
  return true;
}

void Servers::settled(std::uint64_t key, std::int64_t step, const Outcome& outcome) {
  RemoteFile& remote = files_[key];
  remote.settled = std::max(remote.settled, step + 1);
  progress_.settled(key, step, outcome);
  if (!outcome.ok()) {
    remote.failures.emplace(step, outcome);
    ledger_.gave_up(key, step, outcome);
  }
}

void Servers::take_notice(const Notice& notice) {
  switch (notice.about) {
    case Notice::About::written:
    case Notice::About::durable:
      ledger_.advance(notice.number, notice.about);
      break;
    case Notice::About::failed:
      ledger_.fail(notice.file, notice.number, notice.outcome);
      break;
    case Notice::About::settled:
      settled(notice.file, static_cast<std::int64_t>(notice.number), notice.outcome);
      break;
    case Notice::About::file_failed:
      files_[notice.file].failed = notice.outcome;
      files_[notice.file].failed_from = static_cast<std::int64_t>(notice.number);
      progress_.lost(notice.file, static_cast<std::int64_t>(notice.number), notice.outcome);
      ledger_.lost(notice.file, static_cast<std::int64_t>(notice.number), notice.outcome);
      break;
  }
}

}  // namespace iocomp::client
