#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/cover.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/agreement.h"
#include "client/kernel_carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "trace/counters.h"

namespace iocomp::client {
// One fsync at a time, for all steps that are written by then; of files per step one for each.
bool KernelCarrier::sync_steps() {
  if (is_syncing_ || !lost_.ok()) {
    return false;
  }
  std::int64_t until = next_sync_;
  for (auto step = steps_.find(until); step != steps_.end(); step = steps_.find(until)) {
    const Step& next = step->second;
    const bool is_written = next.ended && next.kept.empty() && next.writing == 0;
    if (!is_written || (per_step_ && until > next_sync_)) {
      break;
    }
    ++until;
  }
  if (until == next_sync_) {
    return false;
  }
  const std::int64_t target = publication_.target_of(next_sync_);
  is_syncing_ = true;
  files_.writer(target).sync([this, here = is_here_, until](const Outcome& outcome) {
    if (*here) {
      is_syncing_ = false;
      synced(until, outcome);
    }
  });
  return true;
}

void KernelCarrier::synced(std::int64_t until, const Outcome& outcome) {
  for (; next_sync_ < until; ++next_sync_) {
    Step& step = steps_[next_sync_];
    step.is_synced = true;
    const Outcome told = in_file(outcome, next_sync_);
    if (!told.ok() && step.failure.ok()) {
      step.failure = told;
    }
    for (const std::uint64_t number : step.tickets) {
      Ticket* ticket = link_.tickets().find(number);
      if (ticket != nullptr && outcome.ok()) {
        ticket->durable = ticket->pieces;
        link_.tickets().settle(number);
      } else if (ticket != nullptr) {
        link_.fail(setup_.key, number, told);
      }
    }
    step.tickets.clear();
  }
}

void KernelCarrier::sync_for(std::uint64_t number) {
  const auto until_written = [this, number] {
    const Ticket* ticket = link_.tickets().find(number);
    return ticket == nullptr || !ticket->failure.ok() || ticket->written == ticket->pieces;
  };
  link_.wait_until(until_written, [this] { return what("a block"); });
  const Ticket* ticket = link_.tickets().find(number);
  if (ticket == nullptr || !ticket->failure.ok() || ticket->settled()) {
    return;
  }
  const std::int64_t when = ticket->step;
  files_.writer(publication_.target_of(when))
      .sync([this, here = is_here_, number, when](const Outcome& outcome) {
        Ticket* open = *here ? link_.tickets().find(number) : nullptr;
        if (open != nullptr && outcome.ok()) {
          open->durable = open->pieces;
          link_.tickets().settle(number);
        } else if (open != nullptr) {
          link_.fail(setup_.key, number, in_file(outcome, when));
        }
      });
}

bool KernelCarrier::agree_on_steps() {
  bool moved = false;
  while (lost_.ok()) {
    if (agreement_) {
      if (!agreement_->advance() || !is_whole()) {
        return moved;
      }
      agreed();
    } else {
      const auto step = steps_.find(agreed_);
      if (step == steps_.end() || !step->second.is_synced) {
        return moved;
      }
      auto mine = ended_step(agreed_);
      mine.extra = step->second.end;
      mine.sums.resize(mine.flags.size() * array::CoverWords{}.size());
      for (const auto& [variable, cover] : step->second.variables) {
        const auto words = array::words_of(cover);
        std::ranges::copy(words, mine.sums.begin() + variable * std::ssize(words));
      }
      agreement_ = std::make_unique<Agreement>(setup_.circle, setup_.members, std::move(mine));
    }
    moved = true;
  }
  return moved;
}

// Whether all is known and done that a step needs beside what the ranks have put.
bool KernelCarrier::is_whole() {
  if (!agreement_->outcome().ok()) {
    return true;
  }
  if (!setup_.format->offsets_by_layout() && placed_until_ <= agreed_) {
    return false;  // this rank has put nothing, and learns later where the others have
  }
  return is_filled();
}

void KernelCarrier::agreed() {
  const auto agreement = std::exchange(agreement_, nullptr);
  const auto filling = std::exchange(filling_, std::nullopt);
  Step& step = steps_[agreed_];
  step.agreed = agreement->outcome();
  if (step.agreed.code == ErrorCode::inconsistent_calls) {
    lose(step.agreed);
    return;
  }
  if (step.agreed.ok() && filling) {
    step.agreed = in_file(filling->outcome, agreed_);
  }
  if (step.agreed.ok()) {
    step.end = agreement->extra();
    for (const auto& [variable, cover] : put_in_step(*agreement)) {
      files_.note_contents(variable, agreed_);
    }
  }
  holes_.forget_until(++agreed_);
}

std::map<int, array::Cover> KernelCarrier::put_in_step(const Agreement& agreement) {
  const auto& flags = agreement.flags();
  array::CoverWords words{};
  std::map<int, array::Cover> put;
  for (int variable = 0; variable < static_cast<int>(flags.size()); ++variable) {
    if (flags[static_cast<std::size_t>(variable)] != 0) {
      std::copy_n(agreement.sums().begin() + std::ssize(words) * variable, words.size(),
                  words.begin());
      put.emplace(variable, array::cover_from(words));
    }
  }
  return put;
}

void KernelCarrier::fail_step(std::int64_t step, const Outcome& outcome) {
  failed_.emplace(step, outcome);
  link_.failures().add(setup_.key, outcome);
  files_.drop_step(step);
  if (is_first() && !dropped_.contains(step)) {
    const auto job = publication_.drop_step(step);
    if (per_step_) {
      job();
    }
  }
  if (!per_step_) {
    return;
  }
  link_.tickets().for_each([&](std::uint64_t, Ticket& ticket) {
    if (ticket.file == setup_.key && ticket.step == step && ticket.failure.ok() &&
        ticket.durable < ticket.pieces) {
      ticket.failure = outcome;  // its bytes are gone with the file
    }
  });
}

void KernelCarrier::lose(const Outcome& why) {
  if (!lost_.ok()) {
    return;
  }
  if (is_first() && why.code == ErrorCode::inconsistent_calls) {
    keep_agreed_steps();
  }
  lost_ = in_file(why);
  link_.failures().add(setup_.key, lost_);
  (void)write_kept();  // fails them
  link_.tickets().for_each([&](std::uint64_t, Ticket& ticket) {
    if (ticket.file == setup_.key && ticket.failure.ok() && ticket.durable < ticket.pieces) {
      ticket.failure = lost_;
    }
  });
}

// A step that failed can be agreed on before its round of places has ended; nobody may leave then.
void KernelCarrier::wait_for_all_steps() {
  link_.wait_until([&] { return !lost_.ok() || (agreed_ >= ended_ && placing_.is_idle()); },
                   [&] { return what("the end of step " + std::to_string(ended_ - 1)); });
}

void KernelCarrier::wait_step(std::int64_t step) {
  is_in_a_hurry_ = true;
  const Outcome waited = outcome_of([&] {
    link_.wait_until([&] { return settled_ > step || !lost_.ok(); },
                     [&] { return what("the commit of step " + std::to_string(step)); });
  });
  is_in_a_hurry_ = false;
  if (!waited.ok()) {
    throw Error{waited.code, waited.story};
  }
  const auto failure = failed_.find(step);
  const Outcome outcome = failure != failed_.end() ? failure->second
                          : settled_ <= step       ? lost_
                                                   : Outcome{};
  if (!outcome.ok()) {
    link_.failures().told(setup_.key, outcome.story);
    throw Error{outcome.code, outcome.story};
  }
}

Outcome KernelCarrier::meet_to_close(std::int64_t open_step, std::int64_t& puts) {
  Agreement::Mine mine;
  mine.call = {"close", setup_.key, setup_.name, open_step, definitions_, last_definition_};
  const auto open = steps_.find(open_step);
  mine.extra = open != steps_.end() && !open->second.variables.empty() ? 1 : 0;
  Agreement meeting{setup_.circle, setup_.members, std::move(mine)};
  const Outcome met = outcome_of([&] {
    link_.wait_until([&] { return meeting.advance(); }, [&] { return what("the closing"); });
  });
  puts = meeting.extra();
  return met.ok() ? meeting.outcome() : met;
}

Outcome KernelCarrier::close(std::int64_t open_step) {
  std::int64_t puts = 0;
  Outcome outcome = outcome_of([&] { wait_for_all_steps(); });
  if (outcome.ok() && lost_.ok()) {
    outcome = meet_to_close(open_step, puts);
  }
  if (!outcome.ok()) {
    lose(outcome);
  } else if (lost_.ok() && puts != 0) {
    outcome = outcome_of([&] {
      end_step(open_step);
      wait_for_all_steps();
    });
  }
  // The program may have its memory back, whatever happened.
  const Outcome written = outcome_of([&] {
    const auto is_written = [this] {
      return std::ranges::all_of(steps_, [](const auto& s) { return s.second.writing == 0; });
    };
    link_.wait_until(is_written, [&] { return what("the last blocks"); });
  });
  if (!lost_.ok()) {
    if (is_first()) {
      publication_.abandon_file()();
    }
    return lost_;
  }
  outcome = outcome.ok() ? written : outcome;
  const Outcome finished = finish_file();
  return outcome.ok() ? finished : outcome;
}

}  // namespace iocomp::client
