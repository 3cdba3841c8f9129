// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/credit_returns.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "transport/shared_memory/node_peers.h"
#include "transport/shared_memory/records.h"

namespace iocomp::transport {

CreditReturns::CreditReturns(NodePeers& peers, int window)
    : peers_{peers}, half_window_{std::max(1, window / 2)}, owed_(peers.processes()) {}

void CreditReturns::owe(const Peer& from) {
  if (++owed_[from.number] == half_window_) {
    creditors_.push_back(from.number);
  }
}

void CreditReturns::send_with(Peer& to) {
  if (owed_[to.number] >= half_window_) {
    to.channel.send(RecordKind::credit, Credit{std::exchange(owed_[to.number], 0)});
  }
}

void CreditReturns::send_all() {
  for (const std::size_t number : creditors_) {
    Peer& to = peers_.numbered(number);
    send_with(to);
    peers_.push(to);
  }
  creditors_.clear();
}

}  // namespace iocomp::transport
