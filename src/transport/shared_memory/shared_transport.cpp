// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/shared_transport.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/memory_box.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/log.h"
#include "transport/shared_memory/channel.h"
#include "transport/shared_memory/credit_returns.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_peers.h"
#include "transport/shared_memory/records.h"
#include "transport/shared_memory/wait_instruction.h"
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

// Looking pays only if the other side is at work on another core. After some unsuccessful looks it
// is tried only now and then.
bool OwnBell::may_spin() {
  constexpr unsigned enough = 4;
  constexpr unsigned seldom = 32;
  return futile_looks_ < enough || ++sleeps_without_look_ % seldom == 0;
}

FutexWord OwnBell::watch() {
  if (spin_ > std::chrono::nanoseconds{0} && may_spin()) {
    spin_while(instruction_, spin_, bell_.first_bits(), [this] { return !bell_.has_rung(); });
    futile_looks_ = bell_.has_rung() ? 0 : futile_looks_ + 1;
  }
  const std::uint32_t seen = bell_.watch();
  sleeps_ += bell_.has_rung() ? 0 : 1;
  return FutexWord{&bell_.word(), seen};
}

namespace {

/// The fixed part of a record.
template <typename Fixed>
Fixed fixed(const std::vector<std::byte>& bytes) {
  Fixed value;
  if (bytes.size() < sizeof value) {
    throw Error{ErrorCode::internal, "a record of " + std::to_string(bytes.size()) +
                                         " bytes came through the node's segment"};
  }
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Returns the message that the bulk data belong to, which lies behind the fixed part.
std::vector<std::byte> message_after(std::size_t fixed_bytes, std::vector<std::byte> record) {
  record.erase(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(fixed_bytes));
  return record;
}

}  // namespace

class SharedTransport::Sink : public RecordSink {
 public:
  Sink(SharedTransport& transport, Peer& from) : transport_{transport}, from_{from} {}
  void take(RecordKind kind, std::vector<std::byte> bytes) override {
    transport_.take(from_, kind, std::move(bytes));
  }
  std::span<std::byte> copy_target(std::size_t bytes) override {
    return transport_.reader_.copy_target(from_, bytes);
  }

 private:
  SharedTransport& transport_;
  Peer& from_;
};

SharedTransport::SharedTransport(NodeMemory node, const Options& options)
    : node_{std::move(node)},
      peers_{node_},
      returns_{peers_, options.window},
      outbox_{peers_, returns_, exported_, options.window, options.limited},
      reader_{peers_, options.crew},
      bell_{peers_.bell_of(node_.self), options.spin, options.instruction},
      watch_{node_, peers_, options.is_whole_session},
      exports_{options.exports} {}

PostId SharedTransport::post(int rank, std::vector<std::byte> message,
                             std::span<const std::byte> bulk, std::size_t /*chunk_bytes*/) {
  return outbox_.post(peers_.of_rank(rank), std::move(message),
                      {.bytes = bulk, .strided = {}, .packed = {}});
}

PostId SharedTransport::post_strided(int rank, std::vector<std::byte> message,
                                     const StridedBytes& bulk) {
  return outbox_.post(peers_.of_rank(rank), std::move(message),
                      {.bytes = {}, .strided = bulk, .packed = {}});
}

std::optional<Incoming> SharedTransport::poll() {
  if (arrived_.empty()) {
    return std::nullopt;
  }
  Incoming incoming = std::move(arrived_.front());
  arrived_.pop_front();
  return incoming;
}

std::span<std::byte> SharedTransport::export_memory(std::size_t bytes, bool staged) {
  if (!exports_) {
    return {};
  }
  std::span<std::byte> memory;
  const Outcome made = outcome_of([&] { memory = exported_.add(bytes, staged); });
  if (!made.ok()) {
    log::warning(made.story + "; private memory is used instead, and servers copy from it");
  }
  return memory;
}

bool SharedTransport::withdraw_memory(const std::byte* first) {
  const std::uint64_t id = exported_.remove(first);
  if (id == 0) {
    return false;
  }
  peers_.for_each([&](Peer& peer) {
    peer.channel.send(RecordKind::region_gone, RegionGone{id});
    peers_.push(peer);
  });
  return true;
}

bool SharedTransport::progress() {
  returns_.send_all();
  return bell_.answer([this](std::size_t process) { serve(peers_.numbered(process)); });
}

void SharedTransport::serve(Peer& from) {
  Sink sink{*this, from};
  const bool starved = from.channel.pull(sink);
  // It may have rung because there is room again in the other direction.
  if (from.channel.push() || starved) {
    peers_.ring(from);
  }
}

void SharedTransport::take(Peer& from, RecordKind kind, std::vector<std::byte> bytes) {
  switch (kind) {
    case RecordKind::message:
      arrived_.push_back({from.rank, std::move(bytes)});
      break;
    case RecordKind::offer:
      reader_.take_offer(from, fixed<Offer>(bytes));
      arrived_.push_back({from.rank, message_after(sizeof(Offer), std::move(bytes))});
      break;
    case RecordKind::strided:
      reader_.take_strided(from, fixed<Strided>(bytes));
      arrived_.push_back({from.rank, message_after(sizeof(Strided), std::move(bytes))});
      break;
    case RecordKind::taken:
      outbox_.take_taken(fixed<Taken>(bytes));
      break;
    case RecordKind::credit:
      outbox_.take_credit(from, fixed<Credit>(bytes));
      break;
    case RecordKind::want_copy:
      outbox_.take_want_copy(from, fixed<WantCopy>(bytes));
      break;
    case RecordKind::copy:
      reader_.take_copy(from);
      break;
    case RecordKind::region_gone:
      reader_.forget(from, fixed<RegionGone>(bytes));
      break;
    default:
      throw Error{ErrorCode::internal, "a record of kind " +
                                           std::to_string(static_cast<unsigned>(kind)) +
                                           " came through the node's segment"};
  }
}

Tally SharedTransport::tally() const {
  Tally sum = reader_.tally();
  sum.sleeps = bell_.sleeps();
  sum.wake_ups = peers_.wake_ups();
  return sum;
}

bool SharedTransport::is_idle() const {
  return outbox_.is_empty() && reader_.is_idle() && peers_.have_pushed_all();
}

}  // namespace iocomp::transport
