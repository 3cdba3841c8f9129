// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/outbox.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array/memory_box.h"
#include "transport/shared_memory/credit_returns.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/node_peers.h"
#include "transport/shared_memory/records.h"
#include "transport/transport.h"

namespace iocomp::transport {

Outbox::Outbox(NodePeers& peers, CreditReturns& returns, const ExportedMemory& exported, int window,
               bool limited)
    : peers_{peers},
      returns_{returns},
      exported_{exported},
      limited_{limited},
      to_(peers.processes(), To{.credits = window, .held = {}}) {}

PostId Outbox::post(Peer& to, std::vector<std::byte> message, Bulk bulk) {
  const PostId id = next_post_++;
  if (!bulk.bytes.empty() || bulk.strided) {
    bulk_.emplace(id, std::move(bulk));
  }
  if (limited_) {
    auto& [credits, held] = to_[to.number];
    if (credits == 0 || !held.empty()) {
      held.push_back({id, std::move(message)});
      return id;
    }
    --credits;
  }
  send(to, id, std::move(message));
  peers_.push(to);
  return id;
}

void Outbox::send(Peer& to, PostId post, std::vector<std::byte> message) {
  returns_.send_with(to);
  const auto bulk = bulk_.find(post);
  if (bulk == bulk_.end()) {
    to.channel.send(RecordKind::message, std::span<const std::byte>{}, std::move(message));
    return;
  }
  if (const auto& rows = bulk->second.strided) {
    to.channel.send(RecordKind::strided,
                    Strided{.offer = {.post = post,
                                      .address = reinterpret_cast<std::uintptr_t>(rows->array),
                                      .bytes = rows->bytes(),
                                      .region = {}},
                            .memory = rows->memory,
                            .element_bytes = rows->element_bytes,
                            .first = rows->first},
                    std::move(message));
    return;
  }
  const auto bytes = bulk->second.bytes;
  Offer offer{.post = post,
              .address = reinterpret_cast<std::uintptr_t>(bytes.data()),
              .bytes = bytes.size(),
              .region = {}};
  if (const auto place = exported_.find(bytes)) {
    offer.region = place->region;
    offer.region_offset = place->offset;
  }
  to.channel.send(RecordKind::offer, offer, std::move(message));
}

bool Outbox::is_empty() const {
  return bulk_.empty() && std::ranges::all_of(to_, [](const To& to) { return to.held.empty(); });
}

void Outbox::take_credit(Peer& from, const Credit& credit) {
  auto& [credits, held] = to_[from.number];
  credits += credit.messages;
  while (credits > 0 && !held.empty()) {
    --credits;
    auto next = std::move(held.front());
    held.pop_front();
    send(from, next.post, std::move(next.message));
  }
}

// Packs all of it at once, because a receiver that asks for one part asks for all.
void Outbox::take_want_copy(Peer& from, const WantCopy& wanted) {
  auto& [bytes, strided, packed] = bulk_.at(wanted.post);
  if (strided && packed.empty()) {
    packed.resize(strided->bytes());
    array::pack(strided->memory, strided->element_bytes, strided->array, strided->first,
                strided->count, packed.data());
    bytes = packed;
  }
  from.channel.send_copy(bytes.subspan(wanted.offset, wanted.bytes));
}

}  // namespace iocomp::transport
