// SPDX-License-Identifier: BSD-3-Clause
#include "server/post_office.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpi/peers.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "steps/tree.h"
#include "transport/transport.h"

namespace iocomp::server {

PostOffice::PostOffice(transport::Transport& transport, mpi::Peers servers, steps::Tree tree,
                       std::function<bool()> is_fenced,
                       std::function<void(std::uint64_t)> write_note)
    : Council{std::move(tree)},
      transport_{transport},
      servers_{std::move(servers)},
      is_fenced_{std::move(is_fenced)},
      write_note_{std::move(write_note)} {}

void PostOffice::to_above(Message message) {
  transport_.post(servers_.rank(tree().above()), std::move(message));
}

int PostOffice::server_of(int rank) const {
  const auto& below = tree().below();
  const auto found = std::ranges::find_if(
      below, [&](const auto& branch) { return servers_.rank(branch.first) == rank; });
  return found == below.end() ? tree().number() : found->first;
}

void PostOffice::send_down(int server, std::span<const std::byte> bundle) {
  transport_.post(servers_.rank(server), protocol::message(protocol::Kind::orders, 0, bundle));
}

void PostOffice::to_rank(int rank, std::vector<std::byte> message) {
  flush();  // notices of before go first
  if (!is_fenced_()) {
    transport_.post(rank, std::move(message));
  }
}

void PostOffice::notify(int rank, protocol::Notice notice) {
  notices_[rank].push_back(std::move(notice));
}

void PostOffice::flush() {
  for (const auto& [rank, notices] : notices_) {
    if (!is_fenced_()) {
      transport_.post(rank, protocol::encode(0, protocol::Kind::notices, notices));
    }
  }
  notices_.clear();
}

std::optional<transport::Incoming> PostOffice::take_own() {
  if (own_.empty()) {
    return std::nullopt;
  }
  transport::Incoming incoming{servers_.rank(tree().number()), std::move(own_.front())};
  own_.pop_front();
  return incoming;
}

}  // namespace iocomp::server
