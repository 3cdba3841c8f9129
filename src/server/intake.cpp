#include "server/intake.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/file.h"
#include "server/piece.h"
#include "staging/arena.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::server {
namespace {

constexpr int fetches_per_client = 2;  // one is written while the next is on its way
constexpr std::int64_t page = staging::Arena::page_bytes;

}  // namespace

Intake::Intake(Context& context, transport::Transport& transport, FindFile find)
    : context_{context}, transport_{transport}, find_{std::move(find)} {}

void Intake::take(int client, std::vector<std::byte> message) {
  Queued queued;
  queued.file_key = protocol::check_header(message, client).file;
  queued.message = std::move(message);
  queued.piece = protocol::decode_piece(protocol::body(queued.message));
  clients_[client].queue.push_back(std::move(queued));
  ++queued_;
}

bool Intake::advance() {
  bool moved = false;
  while (const auto id = transport_.next_fetched()) {
    complete(*id);
    moved = true;
  }
  if (queued_ == 0) {
    return moved;
  }
  // Everybody gets a turn to be first, so that a full staging memory starves nobody.
  turn_ = (turn_ + 1) % static_cast<int>(clients_.size());
  auto client = std::next(clients_.begin(), turn_);
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    moved = fetch_next(client->first, client->second) || moved;
    if (++client == clients_.end()) {
      client = clients_.begin();
    }
  }
  return moved;
}

bool Intake::begin(int client, Queued& queued) {
  if (queued.begun) {
    return true;
  }
  queued.file = find_(queued.file_key);
  if (queued.file == nullptr || !queued.file->knows(queued.piece.events)) {
    return false;  // the lead's word is on its way
  }
  queued.begun = queued.file->begin(client, queued.piece);
  return true;
}

bool Intake::fetch_next(int rank, Client& client) {
  if (client.queue.empty()) {
    return false;
  }
  Queued& queued = client.queue.front();
  if (!begin(rank, queued)) {
    return false;
  }
  if (queued.piece.chunk_elements == 0) {
    if (!take_inside(queued)) {
      return false;
    }
    client.queue.pop_front();
    --queued_;
    transport_.give_credit(rank);
    return true;
  }
  if (client.fetches >= fetches_per_client) {
    return false;
  }
  const std::int64_t count =
      std::min(queued.piece.chunk_elements, queued.piece.count - queued.next);
  Fetching fetching;
  fetching.client = rank;
  fetching.file = queued.file;
  fetching.chunk.piece = queued.begun;
  fetching.chunk.first = queued.piece.first + queued.next;
  fetching.chunk.count = count;
  std::span<std::byte> memory;
  if (queued.begun->failure.ok() && queued.file->failure().ok()) {
    if (!lease(queued, count, fetching.chunk)) {
      return false;
    }
    memory = fetching.chunk.bytes;
  }
  if (memory.empty()) {
    if (std::exchange(scratch_used_, true)) {
      return false;
    }
    fetching.drained = true;
    // The sender's element size counts: a failed file may not know the variable.
    const std::size_t bytes = queued.piece.chunk_bytes(count);
    scratch_.resize(std::max(scratch_.size(), bytes));
    memory = std::span{scratch_}.first(bytes);
  }
  queued.next += count;
  fetching.last = queued.next == queued.piece.count;
  const bool last = fetching.last;
  const auto id = transport_.fetch(rank, memory);
  fetching_.emplace(id, std::move(fetching));
  ++client.fetches;
  if (last) {
    client.queue.pop_front();
    --queued_;
  }
  return true;
}

bool Intake::lease(Queued& queued, std::int64_t count, Chunk& chunk) {
  const std::int64_t bytes = count * queued.begun->element_bytes();
  // Memory and file aligned alike (variables begin on page borders): so whole blocks can go
  // O_DIRECT.
  const std::int64_t skew = chunk.first * queued.begun->element_bytes() % page;
  auto leased = context_.arena.try_take(static_cast<std::size_t>(bytes + skew));
  if (!leased) {
    if (queued.file->settings().fail_when_full) {
      queued.file->refuse(*queued.begun, bytes);
      return true;  // no memory: to be drained
    }
    if (full_since_ == 0) {
      full_since_ = now_seconds();
    }
    return false;
  }
  if (full_since_ != 0) {
    context_.counters.add(trace::Counter::full_seconds,
                          now_seconds() - std::exchange(full_since_, 0));
  }
  chunk.lease = std::move(*leased);
  chunk.bytes =
      chunk.lease.bytes().subspan(static_cast<std::size_t>(skew), static_cast<std::size_t>(bytes));
  return true;
}

bool Intake::take_inside(Queued& queued) {
  Chunk chunk;
  chunk.piece = queued.begun;
  chunk.first = queued.piece.first;
  chunk.count = queued.piece.count;
  if (queued.begun->failure.ok() && queued.file->failure().ok()) {
    if (!lease(queued, chunk.count, chunk)) {
      return false;
    }
    if (!chunk.bytes.empty()) {
      std::memcpy(chunk.bytes.data(), queued.piece.inside.data(), chunk.bytes.size());
    }
  }
  queued.file->arrived(std::move(chunk));
  return true;
}

void Intake::complete(transport::FetchId id) {
  auto node = fetching_.extract(id);
  Fetching& done = node.mapped();
  --clients_[done.client].fetches;
  if (done.drained) {
    scratch_used_ = false;
  }
  if (done.last) {
    transport_.give_credit(done.client);
  }
  done.file->arrived(std::move(done.chunk));
}

}  // namespace iocomp::server
