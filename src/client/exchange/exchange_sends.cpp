// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange_sends.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "client/exchange/exchange_parts.h"
#include "mpi/error.h"

namespace iocomp::client {
namespace {

// The limit is for each aggregator. A limit for all of them together could make ranks wait in a
// circle.
constexpr int sends_at_once = 4;

}  // namespace

bool ExchangeSends::advance() {
  bool moved = end_sends();
  for (auto& [to, outbound] : outbound_) {
    while (outbound.open < sends_at_once && outbound.next < outbound.parts.size()) {
      send(to, outbound);
      moved = true;
    }
  }
  return moved;
}

bool ExchangeSends::is_done() const {
  return sending_.empty() && std::ranges::all_of(outbound_, [](const auto& to) {
           return to.second.next == to.second.parts.size();
         });
}

void ExchangeSends::send(int to, Outbound& outbound) {
  const ExchangedPart& part = outbound.parts[outbound.next++];
  Sending& sending = sending_.emplace_back(Sending{.to = to, .packed = {}});
  const auto bytes = bytes_of(part, sending.packed);
  mpi::check(MPI_Isend(bytes.data(), checked_cast<int>(bytes.size()), MPI_BYTE, to, part_tag, comm_,
                       &requests_.emplace_back(MPI_REQUEST_NULL)));
  ++outbound.open;
}

bool ExchangeSends::end_sends() {
  if (take_ended(requests_).empty()) {
    return false;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) {
      --outbound_[sending_[i].to].open;
    } else if (kept++ != i) {
      requests_[kept - 1] = requests_[i];
      sending_[kept - 1] = std::move(sending_[i]);
    }
  }
  requests_.resize(kept);
  sending_.resize(kept);
  return true;
}

}  // namespace iocomp::client
