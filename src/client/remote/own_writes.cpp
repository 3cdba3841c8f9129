// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/own_writes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/runs.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "staging/arena.h"

namespace iocomp::client {
namespace {

std::int64_t place_in_variable(const Block& block) {
  array::RunCursor runs{block.variable.shape, block.region, 0, array::elements(block.region)};
  array::Run first;
  (void)runs.next(first);
  return first.index * static_cast<std::int64_t>(block.element_bytes());
}

}  // namespace

OwnWrites::OwnWrites(Setup setup, BlockWriter& blocks, Link& link,
                     const contents::Catalogue& catalogue)
    : setup_{std::move(setup)}, blocks_{blocks}, link_{link}, catalogue_{catalogue} {}

const char* OwnWrites::obstacle(const Block& block) const {
  if (block.bytes() < setup_.least_bytes) {
    return "blocks are shorter than transport.kernel_from";
  }
  if (waited_for_.contains(block.variable.id)) {
    return "the program waited for their memory";
  }
  if (!array::is_contiguous(block.variable.shape, block.region)) {
    return "blocks are not contiguous in the file";
  }
  if (block.buffered) {
    return "puts are buffered";
  }
  if (!block.is_dense()) {
    return "blocks are not contiguous in memory";
  }
  constexpr auto page = staging::Arena::page_bytes;
  const std::int64_t offset =
      catalogue_.layout().offset(block.variable.id, block.step) + place_in_variable(block);
  if (reinterpret_cast<std::uintptr_t>(block.first_value()) % page !=
      static_cast<std::uintptr_t>(offset) % page) {
    return "memory and file are not aligned alike (iocomp_alloc)";
  }
  return nullptr;
}

bool OwnWrites::takes(const Block& block) {
  const char* const why_not = obstacle(block);
  if (explained_.insert(block.variable.id).second) {
    const std::string of_file = "file \"" + setup_.name + "\", variable \"" + block.variable.name;
    link_.explain(why_not == nullptr ? of_file + "\": by the kernel, blocks of " +
                                           format_bytes(static_cast<std::int64_t>(block.bytes()))
                                     : of_file + "\": by servers, " + why_not);
  }
  return why_not == nullptr;
}

void OwnWrites::put(const Block& block) {
  Ticket* ticket = link_.tickets().find(block.ticket);
  ticket->pieces = 1;
  ticket->kept = true;
  Step& step = steps_[block.step];
  ++step.writing;
  step.untold.push_back({.variable = block.variable.id,
                         .rank = setup_.rank,
                         .part = {block.region, 0, array::elements(block.region)}});
  const Outcome begun = outcome_of([&] {
    const std::int64_t offset = catalogue_.layout().offset(block.variable.id, block.step);
    (void)blocks_.write(block, *setup_.writer, offset, false,
                        [this, here = is_here_, block](const Outcome& outcome) {
                          if (*here) {
                            written(block, outcome);
                          }
                        });
    setup_.writer->submit();
  });
  if (!begun.ok()) {
    written(block, begun);
  }
}

// Every block counts, waited for or not.
void OwnWrites::count_wait(const Block& block) {
  constexpr double pulled_per_second = 4.0 * (1 << 30);  // by a server, about
  constexpr int enough = 2;
  Waits& waits = waits_[block.variable.id];
  ++waits.blocks;
  waits.bytes += static_cast<double>(block.bytes());
  if (const auto since = wanted_back_.extract(block.ticket); !since.empty()) {
    waits.seconds += now_seconds() - since.mapped();
  }
  if (waits.blocks >= enough && waits.seconds > waits.bytes / pulled_per_second &&
      waited_for_.insert(block.variable.id).second) {
    constexpr double milliseconds = 1e3;
    link_.explain("file \"" + setup_.name + "\", variable \"" + block.variable.name +
                  "\": by servers after step " + std::to_string(catalogue_.number(block.step)) +
                  ", because the program waited " +
                  std::to_string(static_cast<int>(milliseconds * waits.seconds)) +
                  " ms for the memory of " + std::to_string(waits.blocks) + " blocks");
  }
}

void OwnWrites::written(const Block& block, const Outcome& outcome) {
  count_wait(block);
  Step& step = steps_[block.step];
  --step.writing;
  Ticket* ticket = link_.tickets().find(block.ticket);
  if (ticket != nullptr) {
    ticket->kept = false;
    link_.ledger().tell_hand_over(block.ticket);
  }
  if (!outcome.ok()) {
    const Outcome told =
        in_block(setup_.name, block.variable.name, catalogue_.number(block.step), outcome);
    link_.fail(setup_.key, block.ticket, told);
    step.failure = step.failure.ok() ? told : step.failure;
    return;
  }
  if (ticket != nullptr && ticket->failure.ok()) {
    ticket->written = ticket->pieces;
  }
  step.written.push_back(block.ticket);
}

void OwnWrites::finish_without_server() {
  has_server_ = false;
  const auto is_written = [this] {
    return !is_syncing_ &&
           std::ranges::all_of(steps_, [](const auto& step) { return step.second.writing == 0; });
  };
  link_.wait_until(is_written,
                   [this] { return "the kernel to write blocks of file \"" + setup_.name + '"'; });
}

bool OwnWrites::advance() {
  if (!has_server_) {
    return false;
  }
  const bool moved = sync();
  return tell() || moved;
}

// Of what is written in steps that have ended, or that somebody waits for.
bool OwnWrites::sync() {
  if (is_syncing_) {
    return false;
  }
  std::map<std::int64_t, std::vector<std::uint64_t>> tickets;
  for (auto& [number, step] : steps_) {
    const bool is_complete = number < ended_ && step.writing == 0;
    if (!step.written.empty() && (is_complete || is_in_a_hurry_)) {
      tickets.emplace(number, std::exchange(step.written, {}));
    }
  }
  if (tickets.empty()) {
    return false;
  }
  is_in_a_hurry_ = false;
  is_syncing_ = true;
  setup_.writer->sync([this, here = is_here_, tickets](const Outcome& outcome) {
    if (*here) {
      is_syncing_ = false;
      synced(tickets, outcome);
    }
  });
  return true;
}

void OwnWrites::synced(const std::map<std::int64_t, std::vector<std::uint64_t>>& tickets,
                       const Outcome& outcome) {
  for (const auto& [number, of_step] : tickets) {
    const Outcome told{outcome.code, "file \"" + setup_.name + "\", step " +
                                         std::to_string(catalogue_.number(number)) + ": " +
                                         outcome.story};
    for (const std::uint64_t ticket : of_step) {
      Ticket* open = link_.tickets().find(ticket);
      if (!outcome.ok()) {
        link_.fail(setup_.key, ticket, told);
      } else if (open != nullptr) {
        open->durable = open->pieces;
        link_.tickets().settle(ticket);
      }
    }
    Step& step = steps_[number];
    if (!outcome.ok() && step.failure.ok()) {
      step.failure = told;
    }
  }
}

// The server is told once per step, when nothing of it is owed any more.
bool OwnWrites::tell() {
  bool any = false;
  for (auto step = steps_.begin(); step != steps_.end();) {
    const Step& own = step->second;
    const bool is_over =
        step->first < ended_ && own.writing == 0 && own.written.empty() && !is_syncing_;
    if (!is_over || !link_.has_credit(setup_.home)) {  // this comes from waiting: it must not wait
      ++step;
      continue;
    }
    auto message =
        protocol::encode(setup_.key, protocol::OwnWritten{step->first, own.failure, own.untold});
    step = steps_.erase(step);
    link_.post(setup_.home, std::move(message));
    any = true;
  }
  return any;
}

}  // namespace iocomp::client
