// SPDX-License-Identifier: BSD-3-Clause
#include "transport/combined_transport.h"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/transport.h"

namespace iocomp::transport {

PostId CombinedTransport::post(int rank, std::vector<std::byte> message,
                               std::span<const std::byte> bulk, std::size_t chunk_bytes) {
  return numbered(rank, to(rank).post(rank, std::move(message), bulk, chunk_bytes));
}

bool CombinedTransport::is_taken(PostId post) {
  return post % 2 == 0 ? here_->is_taken(post / 2) : elsewhere_->is_taken(post / 2);
}

std::optional<Incoming> CombinedTransport::poll() {
  auto incoming = here_->poll();
  return incoming ? std::move(incoming) : elsewhere_->poll();
}

FetchId CombinedTransport::fetch(int rank, std::span<std::byte> memory) {
  return numbered(rank, to(rank).fetch(rank, memory));
}

std::optional<Transport::Borrowed> CombinedTransport::borrow(
    int rank, std::size_t bytes, std::optional<std::size_t> page_remainder) {
  auto borrowed = to(rank).borrow(rank, bytes, page_remainder);
  if (borrowed) {
    borrowed->id = numbered(rank, borrowed->id);
  }
  return borrowed;
}

std::optional<FetchId> CombinedTransport::next_fetched() {
  if (const auto id = here_->next_fetched()) {
    return 2 * *id;
  }
  if (const auto id = elsewhere_->next_fetched()) {
    return 2 * *id + 1;
  }
  return std::nullopt;
}

bool CombinedTransport::progress() {
  const bool moved = here_->progress();
  return elsewhere_->progress() || moved;
}

Tally CombinedTransport::tally() const {
  Tally sum = here_->tally();
  sum.message_bytes += elsewhere_->tally().message_bytes;
  return sum;
}

}  // namespace iocomp::transport
