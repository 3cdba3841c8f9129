// SPDX-License-Identifier: BSD-3-Clause
#include "server/intake.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "array/run_list.h"
#include "array/runs.h"
#include "base/clock.h"
#include "base/error.h"
#include "config/file_settings.h"
#include "contents/variable.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/served_file.h"
#include "staging/arena.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"
#include "transport/transport.h"
#include "writing/piece.h"

namespace iocomp::server {
namespace {

constexpr std::int64_t page_bytes = staging::Arena::page_bytes;
constexpr std::size_t longest_row = std::size_t{256} << 10;

// The bytes of the first pieces of a queue that travel inside their headers and lie one behind the
// other in one variable.
std::size_t bytes_in_row(const std::deque<QueuedPiece>& queue) {
  const QueuedPiece& front = queue.front();
  const contents::Variable& variable = front.begun->variable;
  std::size_t bytes = 0;
  std::int64_t next = -1;
  for (const QueuedPiece& queued : queue) {
    const protocol::Piece& piece = queued.piece;
    const bool is_alike = queued.file_key == front.file_key && piece.step == front.piece.step &&
                          piece.variable == front.piece.variable && piece.chunk_elements == 0 &&
                          piece.element_bytes == front.piece.element_bytes &&
                          (queued.region.runs != nullptr ||
                           queued.region.box.dimensions == variable.shape.dimensions);
    if (!is_alike || bytes + queued.piece.inside.size() > longest_row) {
      break;
    }
    array::RunCursor runs{variable.shape, queued.region, piece.first, piece.count};
    array::Run run;
    if (!runs.next(run) || run.elements != piece.count || (next >= 0 && run.index != next)) {
      break;
    }
    next = run.index + run.elements;
    bytes += piece.inside.size();
  }
  return bytes;
}

}  // namespace

std::span<std::byte> RowMemory::place(const std::deque<QueuedPiece>& queue, writing::Chunk& chunk) {
  const std::size_t bytes = queue.front().piece.inside.size();
  if (left_.empty()) {
    const std::size_t all = bytes_in_row(queue);
    const auto skew = static_cast<std::size_t>(first_run(chunk).index *
                                               chunk.piece->element_bytes() % page_bytes);
    if (all <= bytes || all + skew > arena_.capacity_bytes()) {
      return {};
    }
    auto leased = arena_.try_take(all + skew);
    if (!leased) {
      return {};
    }
    left_ = leased->bytes().subspan(skew);
    lease_ = std::make_shared<const staging::Lease>(std::move(*leased));
  }
  const auto memory = left_.first(bytes);
  left_ = left_.subspan(bytes);
  chunk.row = lease_;
  chunk.bytes = chunk.own_bytes = memory;
  return memory;
}

namespace {

constexpr int fetches_per_client = 2;  // one is written while the next is on its way
constexpr std::int64_t page = staging::Arena::page_bytes;
constexpr int pieces_per_turn = 64;
constexpr std::size_t small_bytes = std::size_t{64} << 10;

// Memory that the transport lends: memory of a sender that is read in place, or staging memory that
// others see. It is given back with the last copy of this.
std::shared_ptr<const void> loan(transport::Transport& transport, transport::FetchId id) {
  return {&transport, [&transport, id](const void* /*transport*/) { transport.give_back(id); }};
}

}  // namespace

Intake::Intake(Context& context, transport::Transport& transport, FindFile find,
               std::function<std::size_t()> kept_bytes)
    : context_{context},
      transport_{transport},
      find_{std::move(find)},
      kept_bytes_{std::move(kept_bytes)},
      row_{context.arena} {}

void Intake::take(int client, std::vector<std::byte> message) {
  QueuedPiece queued;
  queued.file_key = protocol::check_header(message, client).file;
  queued.message = std::move(message);
  queued.piece = protocol::decode<protocol::Piece>(protocol::body(queued.message));
  Client& from = clients_[client];
  queued.region = queued.piece.box;
  if (queued.piece.runs != 0) {
    const auto known = from.run_lists.find(queued.piece.runs);
    if (known == from.run_lists.end() || queued.piece.first != 0 ||
        queued.piece.count != known->second->elements()) {
      throw Error{ErrorCode::internal, "a piece of rank " + std::to_string(client) +
                                           " refers to the list of runs number " +
                                           std::to_string(queued.piece.runs) +
                                           ", which is not known here or is another"};
    }
    queued.region = known->second;
  }
  from.queue.push_back(std::move(queued));
  ++queued_;
}

void Intake::know_runs(int client, std::uint64_t number, array::RunList runs) {
  clients_[client].run_lists[number] = std::make_shared<const array::RunList>(std::move(runs));
}

void Intake::forget_runs(int client, std::uint64_t number) {
  clients_[client].run_lists.erase(number);
}

bool Intake::advance() {
  bool moved = false;
  while (const auto id = transport_.next_fetched()) {
    complete(*id);
    moved = true;
  }
  is_short_ = false;
  if (queued_ > 0) {
    for (auto* client : in_turn()) {
      moved = take_turn(client->first, client->second) || moved;
    }
  }
  short_since_ = !is_short_ ? 0 : short_since_ == 0 ? now_seconds() : short_since_;
  return moved;
}

// Everybody gets a turn to be first, so that a full staging memory starves nobody. Pieces that are
// put together come in the order of the file, so that stripes become full.
std::vector<std::pair<const int, Intake::Client>*> Intake::in_turn() {
  using Order = std::tuple<std::int64_t, int, std::int64_t>;  // step, variable, index
  std::vector<std::pair<Order, std::pair<const int, Client>*>> order;
  turn_ = (turn_ + 1) % static_cast<int>(clients_.size());
  auto client = std::next(clients_.begin(), turn_);
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    auto& queue = client->second.queue;
    if (!queue.empty() && begin(client->first, queue.front())) {
      const QueuedPiece& front = queue.front();
      const writing::Piece& piece = *front.begun;
      Order place{-1, 0, 0};
      if (piece.is_joined()) {
        place = {piece.step, piece.variable.id, index_of(piece, piece.first + front.next)};
      }
      order.emplace_back(place, &*client);
    }
    if (++client == clients_.end()) {
      client = clients_.begin();
    }
  }
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::pair<const int, Client>*> clients;
  std::ranges::transform(order, std::back_inserter(clients),
                         [](const auto& entry) { return entry.second; });
  return clients;
}

bool Intake::is_stuck() const {
  constexpr double patience_seconds = 0.05;
  return is_short_ && (fetching_.empty() || now_seconds() - short_since_ > patience_seconds);
}

// Takes many small pieces at a time, because a round of the server costs more than taking one.
bool Intake::take_turn(int rank, Client& client) {
  bool any = false;
  for (int taken = 0; taken < pieces_per_turn && !client.queue.empty(); ++taken) {
    const protocol::Piece& piece = client.queue.front().piece;
    const bool is_small = piece.chunk_bytes(piece.count) <= small_bytes;
    if ((taken > 0 && !is_small) || !fetch_next(rank, client)) {
      break;
    }
    any = true;
  }
  row_.end();
  return any;
}

bool Intake::begin(int client, QueuedPiece& queued) {
  if (queued.begun) {
    return true;
  }
  queued.file = find_(queued.file_key);
  if (queued.file == nullptr || !queued.file->knows(queued.piece.step, queued.piece.events)) {
    return false;  // the order of the lead is on its way
  }
  if (!queued.file->writer().admits(queued.piece.step)) {
    return false;  // its step follows one that is not written yet
  }
  queued.begun = queued.file->begin(client, queued.piece, queued.region);
  return true;
}

bool Intake::fetch_next(int rank, Client& client) {
  if (client.queue.empty()) {
    return false;
  }
  QueuedPiece& queued = client.queue.front();
  if (!begin(rank, queued)) {
    return false;
  }
  if (queued.piece.chunk_elements == 0) {
    if (!take_inside(client)) {
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
  const std::int64_t first = queued.piece.first + queued.next;
  std::int64_t count = std::min(queued.piece.chunk_elements, queued.piece.count - queued.next);
  if (transport_.fetches_any_size(rank)) {
    count = queued.file->elements_at_once(*queued.begun, first, count);
  }
  Fetching fetching;
  fetching.client = rank;
  fetching.file = queued.file;
  fetching.chunk.piece = queued.begun;
  fetching.chunk.first = first;
  fetching.chunk.count = count;
  const bool is_sound =
      queued.begun->failure.ok() && !queued.file->writer().is_lost(queued.piece.step);
  if (is_sound && !queued.file->has_room(*queued.begun, first)) {
    is_short_ = true;
    return false;
  }
  if (is_sound && borrow(rank, queued, fetching.chunk)) {
    leave_queue(client, queued, fetching);
    if (fetching.last) {
      transport_.give_credit(rank);
    }
    record(trace::What::take, {}, *fetching.file, fetching.chunk);
    fetching.file->arrived(std::move(fetching.chunk));
    return true;
  }
  std::span<std::byte> memory;
  if (is_sound && !lease(queued, fetching.chunk, memory)) {
    return false;
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
  fetching.began = now_seconds();
  const auto id = transport_.fetch(rank, memory);
  ++client.fetches;
  leave_queue(client, queued, fetching);
  fetching_.emplace(id, std::move(fetching));
  return true;
}

void Intake::leave_queue(Client& client, QueuedPiece& queued, Fetching& fetching) {
  queued.next += fetching.chunk.count;
  fetching.last = queued.next == queued.piece.count;
  if (fetching.last) {
    client.queue.pop_front();
    --queued_;
  }
}

bool Intake::borrow(int rank, const QueuedPiece& queued, writing::Chunk& chunk) {
  // Memory that stays with its sender until it is written would keep the sender waiting.
  if (!queued.file->writes_as_they_lie() || chunk.piece->variable.kept_bits > 0 ||
      queued.file->settings().when_full == config::WhenFull::spill) {
    return false;
  }
  const array::Run first = first_run(chunk);
  const std::int64_t element = chunk.piece->element_bytes();
  const bool direct =
      !chunk.piece->is_joined() && context_.disk.direct != disk::Direct::off &&
      first.elements * element >= static_cast<std::int64_t>(context_.disk.direct_from_bytes);
  // A chunk that could go O_DIRECT, but not from where it lies, is written faster from a copy.
  std::optional<std::size_t> remainder;
  if (direct) {
    remainder = static_cast<std::size_t>(first.index * element % page);
  }
  const auto borrowed =
      transport_.borrow(rank, static_cast<std::size_t>(chunk.count * element), remainder);
  if (!borrowed) {
    return false;
  }
  chunk.loan = loan(transport_, borrowed->id);
  chunk.bytes = borrowed->bytes;
  return true;
}

bool Intake::lease(QueuedPiece& queued, writing::Chunk& chunk, std::span<std::byte>& memory) {
  const std::int64_t bytes = chunk.count * queued.begun->element_bytes();
  // Memory and file are aligned alike, so that whole blocks can go O_DIRECT. Variables begin on
  // page borders.
  const std::int64_t skew = first_run(chunk).index * queued.begun->element_bytes() % page;
  auto leased = context_.arena.try_take(static_cast<std::size_t>(bytes + skew));
  if (!leased) {
    if (queued.file->settings().when_full == config::WhenFull::fail) {
      queued.file->refuse(*queued.begun, bytes);
      return true;  // without memory, it is drained
    }
    if (queued.file->writer().keeps_steps() && context_.arena.used_bytes() <= kept_bytes_()) {
      queued.file->refuse_step(*queued.begun, bytes);
      return true;
    }
    if (full_since_ == 0) {
      full_since_ = now_seconds();
    }
    is_short_ = true;
    return false;
  }
  if (full_since_ != 0) {
    trace::record(context_.counters.timeline(), trace::What::full, full_since_,
                  {.file = queued.file->name(), .step = queued.piece.step});
    context_.counters.add(trace::Counter::full_seconds,
                          now_seconds() - std::exchange(full_since_, 0));
  }
  chunk.lease = std::move(*leased);
  memory =
      chunk.lease.bytes().subspan(static_cast<std::size_t>(skew), static_cast<std::size_t>(bytes));
  chunk.bytes = chunk.own_bytes = memory;
  return true;
}

bool Intake::take_inside(Client& client) {
  QueuedPiece& queued = client.queue.front();
  writing::Chunk chunk;
  chunk.piece = queued.begun;
  chunk.first = queued.piece.first;
  chunk.count = queued.piece.count;
  if (queued.begun->failure.ok() && !queued.file->writer().is_lost(queued.piece.step)) {
    std::span<std::byte> memory = row_.place(client.queue, chunk);
    if (memory.empty() && !lease(queued, chunk, memory)) {
      return false;
    }
    if (!memory.empty()) {
      std::memcpy(memory.data(), queued.piece.inside.data(), memory.size());
    }
  }
  record(trace::What::take, {}, *queued.file, chunk);
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
  record(trace::What::pull, done.began, *done.file, done.chunk);
  done.file->arrived(std::move(done.chunk));
}

void Intake::record(trace::What what, std::optional<double> begin, const ServedFile& file,
                    const writing::Chunk& chunk) const {
  if (context_.counters.timeline() == nullptr) {
    return;
  }
  const writing::Piece& piece = *chunk.piece;
  trace::record(context_.counters.timeline(), what, begin ? *begin : now_seconds(),
                {.file = file.name(),
                 .step = piece.step,
                 .bytes = chunk.count * piece.element_bytes(),
                 .rank = piece.giver.rank,
                 .ticket = piece.giver.ticket});
}

}  // namespace iocomp::server
