// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/node_stripes.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/free_ranges.h"
#include "base/futex.h"
#include "base/log.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "transport/shared_memory/share_segment.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {

/// A lock in memory that processes share, for a few instructions at a time. A process that finds it
/// taken looks for a moment and then sleeps. All zero means free.
class SharedLock {
 public:
  /// Holds a lock until it is destroyed.
  class Guard {
   public:
    /// @param deadline_seconds  0: none.
    /// @throws Error{timed_out} when its holder does not go on.
    Guard(SharedLock& lock, double deadline_seconds) : lock_{lock} { lock_.take(deadline_seconds); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { lock_.release(); }

   private:
    SharedLock& lock_;
  };

 private:
  enum : std::uint32_t { free, taken, awaited };

  void take(double deadline_seconds) {
    constexpr int looks = 100;
    constexpr std::chrono::milliseconds longest{100};
    for (int look = 0; look < looks; ++look) {
      std::uint32_t seen = free;
      if (word_.compare_exchange_weak(seen, taken, std::memory_order_acquire)) {
        return;
      }
    }
    const double began = now_seconds();
    while (word_.exchange(awaited, std::memory_order_acquire) != free) {
      futex_wait({&word_, awaited}, longest);
      if (deadline_seconds > 0 && now_seconds() - began > deadline_seconds) {
        throw Error{ErrorCode::timed_out,
                    "another rank of this node has stopped while it changed what they share"};
      }
    }
  }
  void release() noexcept {
    if (word_.exchange(free, std::memory_order_release) == awaited) {
      futex_wake(word_);
    }
  }

  std::atomic<std::uint32_t> word_;
};

namespace {

constexpr std::size_t page = FreeRanges::page_bytes;
constexpr std::size_t chains = 1024;
constexpr std::size_t story_bytes = 384;
constexpr std::size_t most_slots = 512;  // of one rank

}  // namespace

struct NodeStripes::Table {
  alignas(64) SharedLock lock;       // guards all that follows
  std::array<Number, chains> first;  // first open stripe of each chain, by hash of the key
};

struct NodeStripes::OfRank {
  alignas(64) std::atomic<std::size_t> in_use;  // bytes, by all holders of its stripes
  Number left = 0;                              // first of the slots that the last holder has left
};

struct NodeStripes::Slot {
  alignas(64) std::atomic<State> state;
  std::uint32_t generation = 0;  // counts the stripes of this slot
  std::uint32_t holders = 0;
  Number next = 0;         // next in its chain, or next of those that were left
  std::size_t offset = 0;  // in the segment
  std::size_t bytes = 0;
  Key key;
  std::int64_t left = 0;  // elements until it is full
  ErrorCode code{};
  std::array<char, story_bytes> story{};
};

std::size_t NodeStripes::longest_stripes(const Terms& terms) noexcept {
  return terms.rank_bytes / whole_pages(terms.stripe_bytes + page);
}

std::size_t NodeStripes::slots_of_rank(const Terms& terms) noexcept {
  return std::min(most_slots, terms.rank_bytes / page);
}

std::size_t NodeStripes::table_bytes(const Terms& terms, std::size_t processes) noexcept {
  return whole_pages(sizeof(Table) + processes * sizeof(OfRank) +
                     processes * slots_of_rank(terms) * sizeof(Slot));
}

std::size_t NodeStripes::segment_bytes(const Terms& terms, std::size_t processes) noexcept {
  return table_bytes(terms, processes) + processes * (terms.rank_bytes / page * page);
}

NodeStripes::NodeStripes(NodeSegment segment, const Terms& terms, double deadline_seconds)
    : slots_of_rank_{slots_of_rank(terms)},
      longest_bytes_{whole_pages(terms.stripe_bytes + page)},
      deadline_seconds_{deadline_seconds},
      segment_{std::move(segment)},
      first_byte_{table_bytes(terms, segment_.processes) +
                  segment_.self * (terms.rank_bytes / page * page)},
      free_{terms.rank_bytes / page * page} {
  for (std::size_t slot = slots_of_rank_; slot > 0; --slot) {
    unused_.push_back(static_cast<Number>(segment_.self * slots_of_rank_ + slot));
  }
}

std::unique_ptr<NodeStripes> NodeStripes::share(MPI_Comm node, const Terms& terms,
                                                const mpi::WaitPolicy& policy) {
  int processes = 0;
  mpi::check(MPI_Comm_size(node, &processes));
  const auto count = static_cast<std::size_t>(processes);
  NodeSegment segment = share_segment(node, segment_bytes(terms, count),
                                      SharedMapping::Pages::on_demand, terms.segment, policy);
  Outcome reserved;
  if (segment.self == 0 && !segment.mapping.reserve(0, table_bytes(terms, count))) {
    reserved = {ErrorCode::out_of_staging_memory, "no memory that the ranks of a node share"};
  }
  mpi::agree(node, reserved, policy, others_of_node).throw_unless_ok();
  return std::make_unique<NodeStripes>(std::move(segment), terms, policy.deadline_seconds);
}

NodeStripes::Table& NodeStripes::table() const noexcept {
  return *reinterpret_cast<Table*>(segment_.mapping.bytes().data());
}

NodeStripes::OfRank& NodeStripes::of_rank(std::size_t rank) const noexcept {
  return reinterpret_cast<OfRank*>(segment_.mapping.bytes().data() + sizeof(Table))[rank];
}

NodeStripes::Slot& NodeStripes::slot(Number number) const noexcept {
  auto* const slots =
      segment_.mapping.bytes().data() + sizeof(Table) + segment_.processes * sizeof(OfRank);
  return reinterpret_cast<Slot*>(slots)[number - 1];
}

NodeStripes::Number& NodeStripes::chain_of(const Key& key) const noexcept {
  std::uint64_t mixed = key.file;
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(key.step), static_cast<std::uint64_t>(key.begin),
        static_cast<std::uint64_t>(key.variable)}) {
    mixed = (mixed ^ value) * 0x9e3779b97f4a7c15ULL;
    mixed ^= mixed >> 29U;
  }
  return table().first[mixed % chains];
}

NodeStripes::Number NodeStripes::find(const Key& key) const noexcept {
  Number number = chain_of(key);
  while (number != 0 && slot(number).key != key) {
    number = slot(number).next;
  }
  return number;
}

staging::StripeMemory::Held NodeStripes::held(Number number) const noexcept {
  const Slot& meant = slot(number);
  return {(std::uint64_t{meant.generation} << 32U) | number,
          segment_.mapping.bytes().subspan(meant.offset, meant.bytes)};
}

// Returns null if its last holder has left.
NodeStripes::Slot* NodeStripes::found(const Held& held) const noexcept {
  Slot& meant = slot(static_cast<Number>(held.id));
  return meant.generation == held.id >> 32U ? &meant : nullptr;
}

void NodeStripes::unchain(Number number) noexcept {
  Number* link = &chain_of(slot(number).key);
  while (*link != number) {
    link = &slot(*link).next;
  }
  *link = slot(number).next;
}

void NodeStripes::put_back(Number number) noexcept {
  Slot& back = slot(number);
  OfRank& owner = of_rank((number - 1) / slots_of_rank_);
  ++back.generation;
  back.next = std::exchange(owner.left, number);
  owner.in_use.fetch_sub(back.bytes, std::memory_order_relaxed);
}

std::size_t NodeStripes::own_bytes() const noexcept {
  return of_rank(segment_.self).in_use.load(std::memory_order_relaxed);
}

// Takes back the memory of stripes that nobody holds any more.
void NodeStripes::take_back() {
  Number left = 0;
  {
    const SharedLock::Guard locked{table().lock, deadline_seconds_};
    left = std::exchange(of_rank(segment_.self).left, 0);
  }
  for (; left != 0; left = slot(left).next) {
    free_.give_back(slot(left).offset - first_byte_, slot(left).bytes);
    unused_.push_back(left);
  }
}

bool NodeStripes::spare_fits(std::size_t bytes) const noexcept {
  return spare_ != 0 && slot(spare_).bytes >= bytes &&
         slot(spare_).bytes <= whole_pages(bytes) + page;
}

// Gets a slot ready, so that its pages exist before the lock is held.
bool NodeStripes::take_spare(std::size_t bytes) {
  if (spare_fits(bytes)) {
    return true;
  }
  take_back();
  std::atomic<std::size_t>& in_use = of_rank(segment_.self).in_use;
  if (spare_ != 0) {  // of another size
    free_.give_back(slot(spare_).offset - first_byte_, slot(spare_).bytes);
    in_use.fetch_sub(slot(spare_).bytes, std::memory_order_relaxed);
    unused_.push_back(std::exchange(spare_, 0));
  }
  bytes = whole_pages(bytes);
  if (unused_.empty() || (has_bound_room_ && !has_bound_room_(bytes))) {
    return false;
  }
  const auto offset = free_.take(bytes);
  if (!offset) {
    return false;
  }
  if (!reserve(*offset + bytes)) {
    free_.give_back(*offset, bytes);
    return false;
  }
  spare_ = unused_.back();
  unused_.pop_back();
  slot(spare_).offset = first_byte_ + *offset;
  slot(spare_).bytes = bytes;
  in_use.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

// Makes the pages of this rank's memory up to `end` exist.
bool NodeStripes::reserve(std::size_t end) {
  if (end <= reserved_) {
    return true;
  }
  if (!is_full_ && !segment_.mapping.reserve(first_byte_ + reserved_, end - reserved_)) {
    is_full_ = true;
    log::warning(
        "the system has no more memory that ranks share: short runs are written one by one");
  }
  reserved_ = is_full_ ? reserved_ : end;
  return !is_full_;
}

std::optional<staging::StripeMemory::Held> NodeStripes::hold(const Key& key, std::size_t bytes,
                                                             std::int64_t elements) {
  if (bytes > longest_bytes_) {
    return std::nullopt;
  }
  do {
    const SharedLock::Guard locked{table().lock, deadline_seconds_};
    Number number = find(key);
    if (number == 0 && spare_fits(bytes)) {
      number = std::exchange(spare_, 0);
      Slot& made = slot(number);
      made.state.store(State::open, std::memory_order_relaxed);
      made.key = key;
      made.left = elements;
      made.holders = 0;
      made.next = std::exchange(chain_of(key), number);
    }
    if (number != 0) {
      return hold(number, bytes);
    }
  } while (take_spare(bytes));
  return std::nullopt;
}

std::optional<staging::StripeMemory::Held> NodeStripes::hold(Number number, std::size_t bytes) {
  if (slot(number).bytes < bytes) {
    return std::nullopt;
  }
  ++slot(number).holders;
  return held(number);
}

std::optional<staging::StripeMemory::Held> NodeStripes::hold_open(const Key& key,
                                                                  std::size_t bytes) {
  const SharedLock::Guard locked{table().lock, deadline_seconds_};
  const Number number = find(key);
  return number == 0 ? std::nullopt : hold(number, bytes);
}

bool NodeStripes::has_room(const Key& key, std::size_t bytes) {
  if (bytes > longest_bytes_) {
    return false;
  }
  {
    const SharedLock::Guard locked{table().lock, deadline_seconds_};
    if (find(key) != 0) {
      return true;
    }
  }
  return take_spare(bytes);
}

bool NodeStripes::fill(const Held& held, std::int64_t elements) {
  const SharedLock::Guard locked{table().lock, deadline_seconds_};
  Slot* const filled = found(held);
  if (filled == nullptr || filled->state.load(std::memory_order_relaxed) != State::open) {
    return false;
  }
  filled->left -= elements;
  if (filled->left > 0) {
    return false;
  }
  unchain(static_cast<Number>(held.id));
  filled->state.store(State::taken, std::memory_order_release);
  taken_.insert(held.id);
  return true;
}

void NodeStripes::withdraw(const Held& held) {
  const SharedLock::Guard locked{table().lock, deadline_seconds_};
  Slot* const meant = found(held);
  if (meant != nullptr && meant->state.load(std::memory_order_relaxed) == State::open) {
    unchain(static_cast<Number>(held.id));
    meant->state.store(State::withdrawn, std::memory_order_release);
  }
}

staging::StripeMemory::State NodeStripes::look(const Held& held) const {
  return slot(static_cast<Number>(held.id)).state.load(std::memory_order_acquire);
}

Outcome NodeStripes::outcome(const Held& held) const {
  const Slot& ended = slot(static_cast<Number>(held.id));
  return {ended.code, ended.story.data()};
}

void NodeStripes::tell(const Held& held, const Outcome& outcome) {
  const SharedLock::Guard locked{table().lock, deadline_seconds_};
  Slot* const written = found(held);
  if (written == nullptr || written->state.load(std::memory_order_relaxed) != State::taken) {
    return;
  }
  written->code = outcome.code;
  const std::size_t length = std::min(outcome.story.size(), story_bytes - 1);
  std::copy_n(outcome.story.begin(), length, written->story.begin());
  written->story[length] = '\0';
  written->state.store(State::written, std::memory_order_release);
}

// If the lock cannot be had, another rank has stopped, and the job is at its end.
void NodeStripes::leave(const Held& held) noexcept {
  taken_.erase(held.id);
  (void)outcome_of([&] {
    const SharedLock::Guard locked{table().lock, deadline_seconds_};
    const auto number = static_cast<Number>(held.id);
    Slot& left = slot(number);
    if (--left.holders > 0) {
      return;
    }
    if (left.state.load(std::memory_order_relaxed) == State::open) {
      unchain(number);
    }
    put_back(number);
  });
}

}  // namespace iocomp::transport
