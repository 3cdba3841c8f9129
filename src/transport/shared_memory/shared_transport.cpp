#include "transport/shared_memory/shared_transport.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "base/log.h"
#include "transport/shared_memory/byte_ring.h"
#include "transport/shared_memory/channel.h"
#include "transport/shared_memory/doorbell.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/peer.h"
#include "transport/shared_memory/records.h"
#include "transport/shared_memory/wait_instruction.h"

namespace iocomp::transport {

namespace {

// As the system tells at the start; a process that is not bound may run anywhere.
bool is_apart(pid_t process) {
  cpu_set_t own;
  cpu_set_t other;
  cpu_set_t both;
  if (sched_getaffinity(0, sizeof own, &own) != 0 ||
      sched_getaffinity(process, sizeof other, &other) != 0) {
    return false;
  }
  CPU_AND(&both, &own, &other);
  return CPU_COUNT(&both) == 0;
}

}  // namespace

SharedTransport::SharedTransport(NodeMemory node, const Options& options)
    : node_{std::move(node)}, options_{options}, bell_{bell_of(node_.self)}, watch_{node_} {
  for (std::size_t process = 0; process < node_.plan.processes(); ++process) {
    peers_.push_back(node_.plan.talk(node_.self, process) ? meet(process) : nullptr);
    if (peers_.back()) {
      numbers_.emplace(peers_.back()->rank, process);
    }
  }
}

Doorbell<Atomics> SharedTransport::bell_of(std::size_t process) const {
  std::byte* const segment = node_.segment.bytes().data();
  auto* const state = reinterpret_cast<BellState<Atomics>*>(segment + node_.plan.bell(process));
  auto* const bits = reinterpret_cast<BellBits<Atomics>*>(segment + node_.plan.bell_bits(process));
  return {*state, {bits, node_.plan.bit_words()}};
}

std::unique_ptr<Peer> SharedTransport::meet(std::size_t process) const {
  std::byte* const segment = node_.segment.bytes().data();
  const auto ring = [&](std::size_t from, std::size_t to) {
    auto* const ends =
        reinterpret_cast<RingEnds<Atomics>*>(segment + node_.plan.ring_ends(from, to));
    return ByteRing<Atomics>{*ends, segment + node_.plan.ring_memory(from, to),
                             node_.plan.ring_bytes()};
  };
  return std::make_unique<Peer>(
      Peer{.rank = node_.ranks[process],
           .number = process,
           .pid = node_.pids[process],
           .runs_elsewhere = is_apart(node_.pids[process]),
           .channel = Channel{ring(node_.self, process), ring(process, node_.self)},
           .bell = bell_of(process),
           .credits = options_.window,
           .held = {},
           .offers = {},
           .owing = {},
           .copying = {},
           .memory = {}});
}

PostId SharedTransport::post(int rank, std::vector<std::byte> message,
                             std::span<const std::byte> bulk, std::size_t /*chunk_bytes*/) {
  return post(rank, std::move(message), Bulk{.bytes = bulk, .strided = {}, .packed = {}});
}

PostId SharedTransport::post_strided(int rank, std::vector<std::byte> message,
                                     const StridedBytes& bulk) {
  return post(rank, std::move(message), Bulk{.bytes = {}, .strided = bulk, .packed = {}});
}

PostId SharedTransport::post(int rank, std::vector<std::byte> message, Bulk bulk) {
  Peer& to = peer(rank);
  const PostId id = next_post_++;
  if (!bulk.bytes.empty() || bulk.strided) {
    bulk_.emplace(id, std::move(bulk));
  }
  if (options_.limited) {
    if (to.credits == 0 || !to.held.empty()) {
      to.held.push_back({id, std::move(message)});
      return id;
    }
    --to.credits;
  }
  send(to, id, std::move(message));
  push(to);
  return id;
}

void SharedTransport::send(Peer& to, PostId post, std::vector<std::byte> message) {
  send_credit(to);
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

void SharedTransport::push(Peer& to) {
  if (to.channel.push()) {
    ring(to);
  }
}

void SharedTransport::ring(Peer& other) { tally_.wake_ups += other.bell.ring(node_.self) ? 1 : 0; }

std::size_t SharedTransport::held_back(int rank) const {
  return peers_[numbers_.at(rank)]->held.size();
}

std::optional<Incoming> SharedTransport::poll() {
  if (arrived_.empty()) {
    return std::nullopt;
  }
  Incoming incoming = std::move(arrived_.front());
  arrived_.pop_front();
  return incoming;
}

void SharedTransport::give_credit(int rank) {
  Peer& from = peer(rank);
  // Half a window at a time, and with what else there is to send: the sender never stands still
  // for it, and is woken rarely. What is not sent with a message, the next progress sends.
  if (++from.owed_credits == std::max(1, options_.window / 2)) {
    creditors_.push_back(from.number);
  }
}

void SharedTransport::send_credit(Peer& to) {
  if (to.owed_credits >= std::max(1, options_.window / 2)) {
    to.channel.send(RecordKind::credit, Credit{std::exchange(to.owed_credits, 0)});
  }
}

void SharedTransport::take_credit(Peer& from, std::int64_t messages) {
  from.credits += messages;
  while (from.credits > 0 && !from.held.empty()) {
    --from.credits;
    auto next = std::move(from.held.front());
    from.held.pop_front();
    send(from, next.post, std::move(next.message));
  }
}

bool SharedTransport::progress() {
  bool moved = false;
  for (const std::size_t number : creditors_) {
    send_credit(*peers_[number]);
    push(*peers_[number]);
  }
  creditors_.clear();
  for (std::size_t word = 0; word < bell_.words(); ++word) {
    for (std::uint64_t bits = bell_.take(word); bits != 0; bits &= bits - 1) {
      const auto number = word * Doorbell<Atomics>::peers_per_word +
                          static_cast<std::size_t>(std::countr_zero(bits));
      serve(*peers_[number]);
      moved = true;
    }
  }
  return moved;
}

// Looking pays only where the other side is at work on another core. After some looks in vain it is
// tried now and then only.
bool SharedTransport::may_spin() {
  constexpr unsigned enough = 4;
  constexpr unsigned seldom = 32;
  return futile_looks_ < enough || ++sleeps_without_look_ % seldom == 0;
}

std::optional<FutexWord> SharedTransport::watch() {
  if (options_.spin > std::chrono::nanoseconds{0} && may_spin()) {
    spin_while(options_.instruction, options_.spin, bell_.first_bits(),
               [this] { return !bell_.has_rung(); });
    futile_looks_ = bell_.has_rung() ? 0 : futile_looks_ + 1;
  }
  const std::uint32_t seen = bell_.watch();
  tally_.sleeps += bell_.has_rung() ? 0 : 1;
  return FutexWord{&bell_.word(), seen};
}

std::span<std::byte> SharedTransport::export_memory(std::size_t bytes, bool staged) {
  if (!options_.exports) {
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
  for (const auto& other : peers_) {
    if (other) {
      other->channel.send(RecordKind::region_gone, RegionGone{id});
      push(*other);
    }
  }
  return true;
}

std::optional<Transport::Loss> SharedTransport::lost(bool waits) {
  const auto look = watch_.look(waits);
  if (look.is_new) {
    rouse_all();
  }
  if (look.is_quiet) {  // whoever sleeps shows no beat: it is woken for one
    for (const auto& other : peers_) {
      if (other && node_.plan.serves(other->number)) {
        ring(*other);
      }
    }
  }
  return look.loss;
}

bool SharedTransport::is_given_up() {
  watch_.beat();
  return watch_.is_given_up();
}

void SharedTransport::leave() {
  watch_.leave();
  rouse_all();
}

void SharedTransport::rouse_all() {
  for (std::size_t process = 0; process < node_.plan.processes(); ++process) {
    if (process != node_.self) {
      bell_of(process).rouse();
    }
  }
}

bool SharedTransport::is_idle() const {
  return bulk_.empty() && fetched_.empty() &&
         std::all_of(peers_.begin(), peers_.end(), [](const auto& other) {
           return !other || (other->held.empty() && other->copying.empty() &&
                             other->channel.has_pushed_all());
         });
}

}  // namespace iocomp::transport
