// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "protocol/header.h"
#include "protocol/messages.h"
#include "transport/transport.h"

namespace iocomp {

/// The end of a transport at which a test sits: what is sent it finds in `sent`, and what it puts
/// into `inbox` and `offered` comes in.
class Wire : public transport::Transport {
 public:
  struct Sent {
    int rank = -1;
    protocol::Bytes message;
  };

  /// The messages of a kind that were sent to a rank, without the header.
  [[nodiscard]] std::vector<protocol::Bytes> bodies(int rank, protocol::Kind kind) const {
    std::vector<protocol::Bytes> found;
    for (const auto& one : sent) {
      if (one.rank == rank && protocol::check_header(one.message, 0).kind == kind) {
        const auto body = protocol::body(one.message);
        found.emplace_back(body.begin(), body.end());
      }
    }
    return found;
  }

  transport::PostId post(int rank, std::vector<std::byte> message,
                         std::span<const std::byte> /*bulk*/ = {},
                         std::size_t /*chunk_bytes*/ = 0) override {
    sent.push_back({rank, std::move(message)});
    return sent.size();
  }
  [[nodiscard]] bool is_taken(transport::PostId post) override { return post <= taken; }
  [[nodiscard]] std::size_t held_back(int /*rank*/) const override { return 0; }
  [[nodiscard]] std::optional<transport::Incoming> poll() override {
    if (inbox.empty()) {
      return std::nullopt;
    }
    auto first = std::move(inbox.front());
    inbox.pop_front();
    return first;
  }
  void give_credit(int rank) override { ++credits[rank]; }
  transport::FetchId fetch(int rank, std::span<std::byte> memory) override {
    auto& bytes = offered[rank];
    std::copy_n(bytes.begin(), memory.size(), memory.begin());
    bytes.erase(bytes.begin(), bytes.begin() + std::ssize(memory));
    fetched.push_back(++fetches);
    return fetches;
  }
  std::optional<Borrowed> borrow(int rank, std::size_t bytes,
                                 std::optional<std::size_t> /*page_remainder*/) override {
    if (!lends) {
      return std::nullopt;
    }
    auto& from = offered[rank];
    auto& memory = lent[++fetches];
    memory.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes));
    from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes));
    return Borrowed{fetches, memory};
  }
  void give_back(transport::FetchId chunk) override { lent.erase(chunk); }
  [[nodiscard]] std::optional<transport::FetchId> next_fetched() override {
    if (holds_fetches || fetched.empty()) {
      return std::nullopt;
    }
    const auto first = fetched.front();
    fetched.pop_front();
    return first;
  }
  bool progress() override { return false; }
  [[nodiscard]] bool is_idle() const override { return true; }

  std::vector<Sent> sent;
  transport::PostId taken = 0;  ///< posts up to this one
  std::deque<transport::Incoming> inbox;
  std::map<int, std::vector<std::byte>> offered;  ///< by rank, in the order of its chunks
  std::map<int, int> credits;                     ///< by rank
  transport::FetchId fetches = 0;
  std::deque<transport::FetchId> fetched;  ///< those that nobody has heard of
  bool holds_fetches = false;              ///< nobody hears of any
  bool lends = false;                      ///< what is offered is read where it lies
  std::map<transport::FetchId, std::vector<std::byte>> lent;  ///< and not given back
};

}  // namespace iocomp
