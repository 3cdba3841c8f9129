#include "client/last_carrier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "array/cover.h"
#include "array/region.h"
#include "array/run_list.h"
#include "array/runs.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/meeting.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "mpi/handle.h"

namespace iocomp::client {

LastCarrier::LastCarrier(Setup setup, std::unique_ptr<Carrier> inner, Link& link,
                         const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      inner_{std::move(inner)},
      link_{link},
      catalogue_{catalogue},
      policy_{link.policy()},
      rank_{mpi::rank(setup_.comm)},
      definitions_{empty_digest} {
  // The others may wait for this rank's blocks to be taken, or for servers that are lost.
  policy_.meanwhile = [this] {
    setup_.has_servers ? link_.pump_while_waiting() : static_cast<void>(link_.pump());
  };
}

// What somebody may still read stays where it is.
LastCarrier::~LastCarrier() {
  inner_.reset();
  free_held();
  for (auto& held : held_) {
    static_cast<void>(new Copy{std::move(held.copy)});
  }
}

void LastCarrier::announce(const contents::Event& event, std::int64_t sequence) {
  for (const auto byte : contents::encode(event)) {
    definitions_ = mix(definitions_, std::to_integer<std::uint64_t>(byte));
  }
  inner_->announce(event, sequence);
}

void LastCarrier::put(const Block& block) {
  Ticket* ticket = link_.tickets().find(block.ticket);
  ticket->pieces = 1;  // first of all: a ticket of no pieces is settled
  free_held();
  if (!lost_.ok()) {
    link_.fail(setup_.key, block.ticket, lost_);
    return;
  }
  if (!block.buffered) {
    ticket->kept = true;
    kept_.push_back({block, nullptr});
    return;
  }
  const std::size_t bytes = copied_bytes_ + block.bytes();
  if (bytes > link_.copy_limit_bytes()) {
    throw Error{ErrorCode::out_of_staging_memory,
                "file \"" + setup_.name + "\", variable \"" + block.variable.name +
                    "\": overlap = \"last\" keeps the buffered puts of a step until its end, with "
                    "this one " +
                    format_bytes(static_cast<std::int64_t>(bytes)) + "; client.buffer_memory is " +
                    format_bytes(static_cast<std::int64_t>(link_.copy_limit_bytes())) +
                    ": put unbuffered, or raise the setting"};
  }
  Kept kept{block, Copy{new std::byte[block.bytes()]}};
  block.pack(0, array::elements(block.region), kept.copy.get());
  kept.block.lies_packed(kept.copy.get());
  copied_bytes_ = bytes;
  kept_.push_back(std::move(kept));
}

bool LastCarrier::keeps(std::uint64_t number) const {
  return std::ranges::any_of(kept_, [&](const Kept& kept) { return kept.block.ticket == number; });
}

void LastCarrier::wanted_back(std::uint64_t number) {
  if (!keeps(number)) {
    inner_->wanted_back(number);
  }
}

void LastCarrier::urge(std::uint64_t number, State state) {
  if (!keeps(number)) {
    inner_->urge(number, state);
    return;
  }
  const Ticket* ticket = link_.tickets().find(number);
  throw Error{ErrorCode::invalid_argument,
              "file \"" + setup_.name + "\", variable \"" + ticket->variable +
                  "\": overlap = \"last\" settles blocks at the end of the step; call end_step "
                  "before waiting"};
}

void LastCarrier::end_step(std::int64_t step) {
  free_held();
  if (!lost_.ok()) {
    drop_kept();
    link_.failures().told(setup_.key, lost_.story);
    throw Error{lost_.code, lost_.story};
  }
  together([&] {
    if (exchanges() && meet("end_step", step)) {
      look_for_later(step);
    }
  });
  Outcome first;
  for (std::size_t number = 0; number < kept_.size(); ++number) {
    const Block& block = kept_[number].block;
    const Outcome outcome = outcome_of([&] { hand_over(number); });
    if (!outcome.ok()) {
      const Outcome told = in_block(setup_.name, block, outcome);
      link_.fail(setup_.key, block.ticket, told);
      first = first.ok() ? told : first;
    }
  }
  kept_.clear();
  left_.clear();
  copied_bytes_ = 0;
  inner_->end_step(step);
  if (!first.ok()) {
    link_.failures().told(setup_.key, first.story);
    throw Error{first.code, first.story};
  }
}

void LastCarrier::hand_over(std::size_t number) {
  const Kept& kept = kept_[number];
  Ticket* ticket = link_.tickets().find(kept.block.ticket);
  ticket->kept = false;
  const auto left = left_.find(number);
  if (left == left_.end()) {
    inner_->put(kept.block);
  } else if (left->second->size() > 0) {
    put_left(kept.block, left->second);
  } else {
    ticket->pieces = 0;  // nothing of it is to be written
  }
  link_.tickets().settle(kept.block.ticket);
}

void LastCarrier::put_left(const Block& block, std::shared_ptr<const array::RunList> left) {
  Block rest = block;
  rest.region = left;
  rest.cover = array::cover_of(block.variable.shape, rest.region);
  const Copy copy{new std::byte[rest.bytes()]};
  std::byte* to = copy.get();
  for (std::size_t i = 0; i < left->size(); ++i) {
    const array::Run run = left->run(i);
    block.pack(array::elements_below(block.variable.shape, block.region, run.index), run.elements,
               to);
    to += static_cast<std::size_t>(run.elements) * block.element_bytes();
  }
  rest.lies_packed(copy.get());
  inner_->put(rest);
  if (!rest.buffered) {
    held_.push_back({rest.ticket, copy});
  }
  link_.run_lists().forget(*left);
}

void LastCarrier::drop_kept() {
  for (const auto& kept : kept_) {
    if (Ticket* ticket = link_.tickets().find(kept.block.ticket)) {
      ticket->kept = false;
    }
  }
  kept_.clear();
  left_.clear();
  copied_bytes_ = 0;
}

void LastCarrier::free_held() {
  if (held_.empty()) {
    return;
  }
  (void)link_.all_taken(setup_.key);
  std::erase_if(held_, [this](const Held& held) {
    const Ticket* ticket = link_.tickets().find(held.ticket);
    return ticket == nullptr || (ticket->posts.empty() && !ticket->kept);
  });
}

Outcome LastCarrier::close(std::int64_t open_step) {
  if (exchanges()) {
    (void)outcome_of([&] { together([&] { (void)meet("close", open_step); }); });
  }
  drop_kept();
  const Outcome closed = inner_->close(open_step);
  free_held();
  return lost_.ok() ? closed : lost_;
}

}  // namespace iocomp::client
