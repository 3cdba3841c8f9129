#include <cerrno>
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
#include "base/log.h"
#include "transport/shared_memory/channel.h"
#include "transport/shared_memory/peer.h"
#include "transport/shared_memory/pull.h"
#include "transport/shared_memory/records.h"
#include "transport/shared_memory/shared_transport.h"

namespace iocomp::transport {
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

int pull_rows(pid_t process, const Strided& rows, std::uint64_t next, std::span<std::byte> memory) {
  if (next % rows.element_bytes != 0 || memory.size() % rows.element_bytes != 0) {
    throw Error{ErrorCode::internal, "a part of an element was asked for"};
  }
  const auto first = rows.first + static_cast<std::int64_t>(next / rows.element_bytes);
  return pull_strided(process, rows.offer.address, rows.memory, rows.element_bytes, first, memory);
}

}  // namespace

class SharedTransport::Sink : public RecordSink {
 public:
  Sink(SharedTransport& transport, Peer& from) : transport_{transport}, from_{from} {}
  void take(RecordKind kind, std::vector<std::byte> bytes) override {
    transport_.take(from_, kind, std::move(bytes));
  }
  std::span<std::byte> copy_target(std::size_t bytes) override {
    if (from_.copying.empty() || from_.copying.front().memory.size() != bytes) {
      throw Error{ErrorCode::internal, "rank " + std::to_string(from_.rank) + " sent a copy of " +
                                           std::to_string(bytes) + " bytes that nobody asked for"};
    }
    return from_.copying.front().memory;
  }

 private:
  SharedTransport& transport_;
  Peer& from_;
};

void SharedTransport::serve(Peer& from) {
  Sink sink{*this, from};
  const bool starved = from.channel.pull(sink);
  // It may have rung because there is room again in the other direction.
  if (from.channel.push() || starved) {
    ring(from);
  }
}

// What follows the fixed part is the message that the bulk data belong to.
void SharedTransport::take_offer(Peer& from, const Peer::Offered& offered, std::size_t fixed_bytes,
                                 std::vector<std::byte> record) {
  from.offers.push_back(offered);
  from.owing.emplace(offered.offer.post, offered.offer.bytes);
  record.erase(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(fixed_bytes));
  arrived_.push_back({from.rank, std::move(record)});
}

void SharedTransport::take(Peer& from, RecordKind kind, std::vector<std::byte> bytes) {
  switch (kind) {
    case RecordKind::message:
      arrived_.push_back({from.rank, std::move(bytes)});
      break;
    case RecordKind::offer: {
      const auto offer = fixed<Offer>(bytes);
      take_offer(from, {.offer = offer}, sizeof offer, std::move(bytes));
      break;
    }
    case RecordKind::strided: {
      const auto rows = fixed<Strided>(bytes);
      take_offer(from, {.offer = rows.offer, .rows = rows}, sizeof rows, std::move(bytes));
      break;
    }
    case RecordKind::taken:
      bulk_.erase(fixed<Taken>(bytes).post);
      break;
    case RecordKind::credit:
      take_credit(from, fixed<Credit>(bytes).messages);
      break;
    case RecordKind::want_copy: {
      const auto wanted = fixed<WantCopy>(bytes);
      from.channel.send_copy(bulk_.at(wanted.post).copied(wanted.offset, wanted.bytes));
      break;
    }
    case RecordKind::copy: {
      const auto done = from.copying.front();
      from.copying.pop_front();
      tally_.message_bytes += static_cast<double>(done.memory.size());
      fetched_.push_back(done.fetch);
      settle(from, done.post, done.memory.size());
      break;
    }
    case RecordKind::region_gone:
      from.memory.forget(fixed<RegionGone>(bytes).id);
      break;
    default:
      throw Error{ErrorCode::internal, "a record of kind " +
                                           std::to_string(static_cast<unsigned>(kind)) +
                                           " came through the node's segment"};
  }
}

// All of it at once: who is asked for one part is asked for all.
std::span<const std::byte> SharedTransport::Bulk::copied(std::uint64_t offset,
                                                         std::uint64_t count) {
  if (strided && packed.empty()) {
    packed.resize(strided->bytes());
    array::pack(strided->memory, strided->element_bytes, strided->array, strided->first,
                strided->count, packed.data());
    bytes = packed;
  }
  return bytes.subspan(offset, count);
}

// The next `bytes` that the peer offers, where this process can see them.
ImportedMemory::View SharedTransport::view(Peer& from, std::size_t bytes) {
  const auto& [offer, next, rows] = from.offers.front();
  return offer.region.id == 0
             ? ImportedMemory::View{}
             : from.memory.view(from.pid, offer.region, offer.region_offset + next, bytes);
}

void SharedTransport::asked(Peer& from, std::size_t bytes) {
  auto& [offer, next, rows] = from.offers.front();
  next += bytes;
  if (next == offer.bytes) {
    from.offers.pop_front();
  }
}

void SharedTransport::settle(Peer& from, PostId post, std::size_t bytes) {
  const auto owing = from.owing.find(post);
  owing->second -= bytes;
  if (owing->second == 0) {
    from.owing.erase(owing);
    from.channel.send(RecordKind::taken, Taken{post});
    push(from);
  }
}

FetchId SharedTransport::fetch(int rank, std::span<std::byte> memory) {
  Peer& from = peer(rank);
  if (from.offers.empty() ||
      memory.size() > from.offers.front().offer.bytes - from.offers.front().next) {
    throw Error{ErrorCode::internal, "a chunk of " + std::to_string(memory.size()) +
                                         " bytes was asked for that rank " + std::to_string(rank) +
                                         " does not offer"};
  }
  const FetchId id = next_fetch_++;
  const auto [offer, next, rows] = from.offers.front();
  const auto seen = view(from, memory.size()).bytes;
  asked(from, memory.size());
  const auto bytes = static_cast<double>(memory.size());
  if (!seen.empty()) {
    std::memcpy(memory.data(), seen.data(), seen.size());
    (offer.region.staged != 0 ? tally_.staged_bytes : tally_.pulled_bytes) += bytes;
  } else {
    const int refusal = from.refuses_pull ? EPERM
                        : rows            ? pull_rows(from.pid, *rows, next, memory)
                                          : pull(from.pid, offer.address + next, memory);
    if (refusal != 0) {
      const bool for_good = refusal == EPERM || refusal == ENOSYS;
      if (for_good && !std::exchange(from.refuses_pull, true)) {
        log::warning("reading the memory of rank " + std::to_string(rank) + " is refused (" +
                     std::strerror(refusal) + "); it copies through the node's segment instead");
      }
      from.copying.push_back({id, offer.post, memory});
      from.channel.send(RecordKind::want_copy, WantCopy{offer.post, next, memory.size()});
      push(from);
      return id;
    }
    tally_.pulled_bytes += bytes;
  }
  fetched_.push_back(id);
  settle(from, offer.post, memory.size());
  return id;
}

std::optional<Transport::Borrowed> SharedTransport::borrow(
    int rank, std::size_t bytes, std::optional<std::size_t> page_remainder) {
  Peer& from = peer(rank);
  auto [seen, mapping] = from.offers.empty() ? ImportedMemory::View{} : view(from, bytes);
  if (seen.empty() ||
      (page_remainder &&
       reinterpret_cast<std::uintptr_t>(seen.data()) % page_bytes != *page_remainder)) {
    return std::nullopt;
  }
  const Offer& offer = from.offers.front().offer;
  const FetchId id = next_fetch_++;
  borrowed_.emplace(id, Lent{from.number, offer.post, bytes, std::move(mapping)});
  (offer.region.staged != 0 ? tally_.staged_bytes : tally_.in_place_bytes) +=
      static_cast<double>(bytes);
  asked(from, bytes);
  return Borrowed{id, seen};
}

void SharedTransport::give_back(FetchId chunk) {
  const auto node = borrowed_.extract(chunk);
  if (node.empty()) {
    return;
  }
  const Lent& lent = node.mapped();
  settle(*peers_[lent.peer], lent.post, lent.bytes);
}

std::optional<FetchId> SharedTransport::next_fetched() {
  if (fetched_.empty()) {
    return std::nullopt;
  }
  const FetchId id = fetched_.front();
  fetched_.pop_front();
  return id;
}

}  // namespace iocomp::transport
