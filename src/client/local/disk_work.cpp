// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/disk_work.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/free_ranges.h"
#include "base/log.h"
#include "base/worker.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/copy_memory.h"
#include "client/local/early_copy.h"
#include "client/remote/ledger.h"
#include "client/tickets.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "config/spill_folder.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/spill_file.h"
#include "trace/counters.h"
#include "writing/piece.h"
#include "writing/spill.h"
#include "writing/submit.h"

namespace iocomp::client {
namespace {

// The program waits for writes under way when it wants its memory back, so there are only a few.
// There are two workers, so that the disk has work while one waits for a lock or an fsync.
constexpr unsigned workers = 2;
constexpr std::size_t largest_request_bytes = std::size_t{16} << 20;
// Shorter memory is written while it would be copied.
constexpr std::size_t least_early_bytes = std::size_t{4} << 20;
// To look more often takes the processor from the kernel's work on the plans.
constexpr std::chrono::nanoseconds shortest_sleep = std::chrono::microseconds{20};

}  // namespace

DiskWork::DiskWork(const disk::Options& disk, Link& link, Files files)
    : disk_{disk}, link_{link}, files_{std::move(files)} {}

void DiskWork::start() {
  disk::Options engine = disk_;
  engine.workers = workers;
  engine.gives_memory_back = true;
  engine_ = disk::start_engine(engine);
  blocks_ = std::make_unique<BlockWriter>(disk_, link_);
  link_.waiting().move_with([this] { return advance(); },
                            [this](auto longest, const auto& word) {
                              engine_->wait(std::max(longest, shortest_sleep), word);
                            });
}

writing::Submit DiskWork::submitter() {
  return [this](disk::Plan plan, auto done) {
    plan.id = next_plan_++;
    underway_.emplace(plan.id, Underway{std::move(done), plan.sync});
    engine_->submit(std::move(plan));
  };
}

Lent DiskWork::lend(std::span<const std::byte> memory) {
  // Half of the memory for copies is for those that the program asks for.
  const bool is_copied = early_copier_ && memory.size() >= least_early_bytes &&
                         link_.copies().has_room(2 * memory.size());
  Copy copy = is_copied ? copy_of(memory) : Copy{};
  return {memory,
          copy ? std::make_shared<EarlyCopy>(early_copier_, memory, std::move(copy)) : nullptr};
}

Copy DiskWork::copy_of(std::span<const std::byte> memory) {
  constexpr std::size_t page = FreeRanges::page_bytes;
  const auto remainder = reinterpret_cast<std::uintptr_t>(memory.data()) % page;
  return link_.copies().has_room(memory.size() + page)
             ? link_.copies().try_take_for_disk(memory.size(), remainder)
             : Copy{};
}

void DiskWork::want_back(std::uint64_t ticket, Lent& lent) {
  if (!wanted_back_.insert(ticket).second) {
    return;
  }
  files_.submit();
  const auto early = std::exchange(lent.copy, nullptr);
  const std::size_t copied = early ? early->end() : 0;
  if (!engine_->reads(lent.memory)) {
    return;
  }
  const Copy copy = early ? early->to() : copy_of(lent.memory);
  if (!copy) {
    return;
  }
  const auto plans = engine_->move(lent.memory, {copy.get(), lent.memory.size()}, copied);
  for (const std::uint64_t plan : plans) {
    underway_.at(plan).copies.push_back(copy);
  }
  if (!plans.empty()) {
    if (!std::exchange(is_wanted_early_, true)) {
      const Outcome started =
          outcome_of([this] { early_copier_ = std::make_shared<Worker>("iocomp-copy"); });
      if (!started.ok()) {
        log::info("no thread copies arrays ahead: " + started.story);
      }
    }
    link_.counters().add(trace::Counter::late_copies, 1);
  }
}

// Gives memory back as soon as nobody reads it any more.
bool DiskWork::give_back() {
  const auto is_over = [this](std::uint64_t number) {
    Ticket* const ticket = link_.tickets().find(number);
    if (ticket == nullptr || !ticket->kept || ticket->lent.memory.empty()) {
      return true;
    }
    if (engine_->reads(ticket->lent.memory)) {
      return false;
    }
    ticket->kept = false;
    ticket->lent = {};
    link_.ledger().tell_hand_over(number);
    return true;
  };
  if (wanted_back_.empty()) {
    return false;
  }
  const bool moved = std::erase_if(wanted_back_, is_over) > 0;
  const disk::Moved copied = engine_->moved();
  link_.counters().set(trace::Counter::late_copied_bytes, static_cast<double>(copied.bytes));
  link_.counters().set(trace::Counter::late_copy_seconds, copied.seconds);
  return moved;
}

writing::Spill& DiskWork::spill(const config::Settings& settings) {
  if (!spill_) {
    auto file = std::make_unique<disk::SpillFile>(
        config::spill_folder(settings),
        static_cast<std::size_t>(settings.bytes("staging.spill_limit")), disk_);
    CopyMemory& copies = link_.copies();
    spill_ = std::make_unique<writing::Spill>(
        std::move(file),
        writing::Spill::Memory{
            .most_given_bytes = copies.limit_bytes() / 4,  // the rest is for the next puts
            .is_short = [] { return true; },
            .take =
                [&copies](writing::Chunk& chunk, std::size_t bytes, std::size_t page_remainder) {
                  const Copy copy = copies.try_take_for_disk(bytes, page_remainder);
                  chunk.bytes = chunk.own_bytes = {copy.get(), copy ? bytes : 0};
                  chunk.loan = copy;
                  return copy != nullptr;
                }},
        link_.counters());
  }
  return *spill_;
}

std::string DiskWork::engine_name() const { return engine_ ? engine_->name() : std::string{}; }

std::size_t DiskWork::request_bytes() const {
  return std::min(disk_.request_bytes, largest_request_bytes);
}

disk::Options DiskWork::options_for(const config::FileSettings& file) const {
  return file.may_overlap ? disk::without_direct(disk_) : disk_;
}

// Calls those who wait for plans that have ended.
bool DiskWork::end_plans() {
  const auto completed = engine_->take_completed();
  for (const auto& completion : completed) {
    const auto node = underway_.extract(completion.id);
    const Underway& ended = node.mapped();
    link_.counters().add(
        ended.is_sync ? trace::Counter::sync_seconds : trace::Counter::write_seconds,
        completion.seconds);
    ended.done(completion);
  }
  return !completed.empty();
}

bool DiskWork::advance() {
  files_.submit();
  bool moved = end_plans();
  moved = give_back() || moved;
  // A file that advances may wait for memory, and so come here again.
  if (!is_advancing_) {
    is_advancing_ = true;
    const Outcome outcome = outcome_of([&] { moved = files_.advance() || moved; });
    is_advancing_ = false;
    outcome.throw_unless_ok();
  }
  return moved;
}

}  // namespace iocomp::client
