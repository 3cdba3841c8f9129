// SPDX-License-Identifier: BSD-3-Clause
#include "steps/coordinator.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "steps/coverage.h"
#include "steps/ended.h"
#include "steps/ends.h"
#include "steps/orders.h"
#include "steps/predecessors.h"
#include "steps/put_log.h"

namespace iocomp::steps {

namespace {

// Sorts checksums by variable, and those of one variable by box. So the order does not depend on
// who has spoken first.
std::map<std::int32_t, contents::BlockSums> by_variable(std::vector<PutSum> sums) {
  std::ranges::sort(sums, [](const PutSum& a, const PutSum& b) {
    return std::tie(a.variable, a.block.box.start, a.block.box.count) <
           std::tie(b.variable, b.block.box.start, b.block.box.count);
  });
  std::map<std::int32_t, contents::BlockSums> sorted;
  for (auto first = sums.begin(); first != sums.end();) {
    const auto last = std::ranges::find_if(
        first, sums.end(), [&](const PutSum& sum) { return sum.variable != first->variable; });
    auto blocks = std::make_shared<std::vector<contents::BlockSum>>();
    std::ranges::transform(first, last, std::back_inserter(*blocks), &PutSum::block);
    sorted.emplace(first->variable, std::move(blocks));
    first = last;
  }
  return sorted;
}

}  // namespace

Coordinator::Coordinator(Setup setup, const contents::Catalogue& catalogue, const Progress& others)
    : setup_{std::move(setup)},
      ends_{setup_.members,
            [this](const Difference& difference) {
              failed(different_calls(setup_.file_name, difference.what), difference.from_step);
            }},
      catalogue_{catalogue},
      others_{others},
      coverage_{catalogue, setup_.may_overlap},
      next_{setup_.first_step},
      committed_{setup_.committed} {}

std::optional<Order> Coordinator::next_order() {
  if (orders_.empty()) {
    return std::nullopt;
  }
  Order next = std::move(orders_.front());
  orders_.pop_front();
  return next;
}

void Coordinator::ended(const Ended& ended, const std::string& who) {
  if (const auto sum = ends_.end(ended, who)) {
    ended_by_all(*sum);
  }
}

void Coordinator::ended_by_all(const Ended& sum) {
  if (sum.step < next_ || steps_.contains(sum.step)) {
    return;  // it had ended already
  }
  if (sum.step - next_ > most_unsettled) {
    throw Error{ErrorCode::internal, "step " + std::to_string(sum.step) + " ends while step " +
                                         std::to_string(next_) + " has not settled"};
  }
  Step& step = steps_[sum.step];
  step.sum = sum;
  if (const auto time = catalogue_.known_time(sum.step)) {
    step.sum.variables.add(*time, {});  // if nobody has put it, it is filled
  }
  auto look = coverage_.look(sum.step, step.sum.variables);
  step.unsure = std::move(look.unsure);
  step.unput = std::move(look.unput);
  if (step.sum.unfinished > 0) {
    step.failure = unfinished(setup_.file_name, catalogue_.number(sum.step));
  }
  if (setup_.asks_writers) {
    ask(sum.step, step, true);
  } else {
    take_done(sum.step);
  }
}

void Coordinator::ask(std::int64_t number, const Step& step, bool ends_stripes) {
  Expect expect{number, std::vector<std::int64_t>(static_cast<std::size_t>(setup_.writers)),
                step.unsure, ends_stripes};
  for (const auto& [writer, pieces] : step.sum.pieces) {
    if (writer < 0 || writer >= setup_.writers) {
      throw Error{ErrorCode::internal, "pieces of step " + std::to_string(number) +
                                           " went to writer " + std::to_string(writer) + " of " +
                                           std::to_string(setup_.writers)};
    }
    expect.pieces[static_cast<std::size_t>(writer)] += pieces;
  }
  orders_.emplace_back(std::move(expect));
}

void Coordinator::closed(const Ended& ended, const std::string& who) {
  const auto sum = ends_.close(ended, who);
  if (!sum) {
    return;
  }
  if (sum->has_puts()) {
    ended_by_all(*sum);
  }
  ended_ = sum->step + (sum->has_puts() ? 1 : 0);
  advance();
}

void Coordinator::put(std::int64_t step, std::vector<PutRecord> puts) {
  if (const auto found = steps_.find(step); found != steps_.end()) {
    std::ranges::move(puts, std::back_inserter(found->second.puts));
  }
}

void Coordinator::done(std::int64_t number, const Outcome& outcome, int writers) {
  if (number < next_) {
    return;  // the step has settled
  }
  Said& said = said_[number];
  said.done += writers;
  if (!outcome.ok() && said.failure.ok()) {
    said.failure = outcome;
  }
  take_done(number);
}

// Only this function decides that a step is durable at all writers, covered and filled.
void Coordinator::take_done(std::int64_t number) {
  const auto found = steps_.find(number);
  const auto said = said_.find(number);
  if (found == steps_.end() || said == said_.end() || said->second.done < setup_.writers) {
    return;
  }
  Step& step = found->second;
  if (step.failure.ok()) {
    step.failure = said->second.failure;
  }
  said_.erase(said);
  if (!step.failure.ok() || is_lost(number)) {
    complete(number);
  } else if (!setup_.asks_writers && !step.unsure.empty() &&
             !std::exchange(step.are_puts_asked_for, true)) {
    ask(number, step, false);
  } else if (!step.unsure.empty()) {
    look(number, step);
  } else {
    whole(number, step);
  }
}

// True if writers that reported unasked may still have to write stripes that nobody has made full.
bool Coordinator::has_stripes(const Step& step) const {
  return !setup_.asks_writers && step.sum.unclaimed != 0 &&
         !has_bug(Bug::unclaimed_stripe_forgotten);
}

bool Coordinator::has_values(const Step& step) {
  return std::ranges::any_of(step.sum.variables,
                             [](const auto& put) { return put.second.elements > 0; });
}

// The holes of a step are known unless the step has failed. They are filled before stripes end,
// because most of these become full by it.
void Coordinator::whole(std::int64_t number, Step& step) {
  Holes& holes = step.unput.holes;
  if (setup_.fills_gaps && has_stripes(step)) {
    holes.merge(step.unput.gaps);
  }
  if (!holes.empty() && setup_.fills_in_turn && number != next_) {
    step.waits_for_turn = true;
  } else if (!holes.empty() && !has_bug(Bug::hole_forgotten)) {
    orders_.emplace_back(Fill{number, std::exchange(holes, {}), has_values(step)});
  } else if (has_stripes(step) && !std::exchange(step.are_stripes_ended, true)) {
    ask(number, step, true);
  } else if (setup_.syncs_last && !std::exchange(step.is_synced, true)) {
    orders_.emplace_back(Sync{number});
  } else {
    complete(number);
  }
}

void Coordinator::look(std::int64_t number, Step& step) {
  auto questions = coverage_.ask(number, std::exchange(step.unsure, {}), step.sum.variables,
                                 std::exchange(step.puts, {}));
  orders_.emplace_back(Look{number, std::make_shared<std::vector<Question>>(std::move(questions))});
}

void Coordinator::looked(std::int64_t number, const std::vector<Question>& answered,
                         const Outcome& outcome) {
  const auto found = steps_.find(number);
  if (found == steps_.end()) {
    return;
  }
  Step& step = found->second;
  step.failure = in_file(outcome.ok() ? coverage_.learn(number, answered, step.unput) : outcome,
                         setup_.file_name, ", step " + std::to_string(catalogue_.number(number)));
  if (step.failure.ok() && !is_lost(number)) {
    whole(number, step);
  } else {
    complete(number);
  }
}

std::string Coordinator::name_of(std::int64_t step) const {
  return "file \"" + setup_.file_name + "\", step " + std::to_string(catalogue_.number(step));
}

void Coordinator::complete(std::int64_t step) {
  steps_[step].is_complete = true;
  if (!steps_[step].failure.ok()) {
    holds_commits_ = false;  // members may wait to hear of it, and steps settle in order
  }
  advance();
}

// A failure of earlier steps than the one before is told like that one: the story of the other
// tells that these steps are not lost.
void Coordinator::failed(const Outcome& outcome, std::int64_t from_step) {
  from_step = std::max({from_step, next_, last_in_commit_ + 1});
  if (is_lost(from_step)) {
    return;
  }
  loss_ = {outcome, from_step};
  // A program that is told of one step must not take the next ones for committed.
  loss_.cause.story +=
      " (steps from " + std::to_string(catalogue_.number(from_step)) + " on are not committed)";
  orders_.emplace_back(Fail{loss_.cause, from_step});
  advance();
}

void Coordinator::hold_commits(bool hold) {
  holds_commits_ = hold;
  advance();
}

// This is the one place where a step waits for the steps of other files that come first. If one of
// those failed, this step fails too, because the other file lacks that time.
bool Coordinator::is_its_turn(std::int64_t number, Step& step) const {
  auto& open = step.sum.predecessors;
  while (step.failure.ok() && !open.empty() && !has_bug(Bug::predecessor_forgotten)) {
    const auto verdict = others_.verdict(open.back());
    if (!verdict) {
      return false;
    }
    if (!verdict->ok()) {
      step.failure = {verdict->code, name_of(number) + " comes after steps of file \"" +
                                         open.back().name + "\": " + verdict->story};
    }
    open.pop_back();
  }
  return true;
}

// Steps settle one after the other. A lost step is dropped after all members have closed the file.
void Coordinator::advance() {
  if (busy_ != Busy::no) {
    return;
  }
  const auto next = steps_.find(next_);
  if (next != steps_.end() && !is_lost(next_) && next->second.is_complete) {
    if (!is_its_turn(next_, next->second)) {
      return;
    }
    if (!next->second.failure.ok()) {
      drop(next_);
    } else if (!holds_commits_ || are_all_complete()) {
      commit();
    }
    return;
  }
  if (!ended_ || (next_ < *ended_ && !is_lost(next_))) {
    return;
  }
  const auto half_ended = setup_.file_per_step ? ends_.half_ended(next_) : std::nullopt;
  if (!steps_.empty()) {
    drop(next_);            // also a step that only some members have ended
  } else if (half_ended) {  // its file exists
    drop(*half_ended);
  } else {
    end_file();
  }
}

// True if all members have closed the file, and all of its steps that are not lost are complete.
bool Coordinator::are_all_complete() const {
  std::int64_t step = next_;
  while (ended_ && step < *ended_ && !is_lost(step)) {
    const auto found = steps_.find(step);
    if (found == steps_.end() || !found->second.is_complete) {
      return false;
    }
    ++step;
  }
  return ended_.has_value();
}

void Coordinator::commit() {
  busy_ = Busy::commits;
  Commit commit{next_, next_, {}, false};
  const auto add = [&](std::int64_t number, Step& step) {
    commit.last = number;
    commit.has_values = has_values(step);
    auto sums = by_variable(std::exchange(step.sum.sums, {}));
    for (const auto& [variable, cover] : step.sum.variables) {
      commit.contents.push_back({number, variable, std::move(sums[variable])});
    }
  };
  add(next_, steps_[next_]);
  for (auto step = steps_.find(next_ + 1);
       setup_.joins_commits && step != steps_.end() && step->first == commit.last + 1 &&
       (step->second.is_complete || has_bug(Bug::incomplete_step_joins)) && !is_lost(step->first) &&
       is_its_turn(step->first, step->second) && step->second.failure.ok();
       ++step) {
    add(step->first, step->second);
  }
  last_in_commit_ = commit.last;
  orders_.emplace_back(std::move(commit));
}

void Coordinator::committed(const Outcome& outcome) {
  busy_ = Busy::no;
  const std::int64_t last = std::exchange(last_in_commit_, -1);
  if (!outcome.ok()) {
    for (auto step = steps_.find(next_); step != steps_.end() && step->first <= last; ++step) {
      step->second.failure = outcome;
    }
  } else {
    committed_ += last - next_ + 1;
    while (next_ <= last) {
      settle(next_, {});
    }
  }
  advance();
}

void Coordinator::drop(std::int64_t step) {
  busy_ = Busy::drops;
  Step& dropping = steps_[step];
  if (is_lost(step)) {
    dropping.failure = loss_.cause;
  }
  next_ = std::max(next_, step);
  orders_.emplace_back(Drop{step});
}

void Coordinator::dropped() {
  busy_ = Busy::no;
  settle(next_, Outcome{steps_[next_].failure});
  advance();
}

void Coordinator::settle(std::int64_t step, const Outcome& outcome) {
  steps_.erase(step);
  said_.erase(step);
  next_ = step + 1;
  orders_.emplace_back(Settle{step, outcome});
  const auto next = steps_.find(next_);
  if (next != steps_.end() && std::exchange(next->second.waits_for_turn, false) &&
      !is_lost(next_)) {
    whole(next_, next->second);
  }
}

void Coordinator::end_file() {
  if (setup_.file_per_step) {
    busy_ = Busy::over;
    orders_.emplace_back(Closed{loss_.cause});
    return;
  }
  busy_ = Busy::finishes;
  const bool needs_none = *ended_ == 0 && loss_.cause.ok();
  orders_.emplace_back(Finish{*ended_, committed_ > 0 || needs_none, !loss_.cause.ok()});
}

void Coordinator::finished(const Outcome& outcome) {
  busy_ = Busy::over;
  orders_.emplace_back(Closed{outcome.ok() ? loss_.cause : outcome});
}

}  // namespace iocomp::steps
