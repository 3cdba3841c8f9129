// SPDX-License-Identifier: BSD-3-Clause
#include "client/tickets.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace iocomp::client {

std::uint64_t TicketBook::open(Ticket ticket) {
  open_.emplace(next_, std::move(ticket));
  return next_++;
}

Ticket* TicketBook::find(std::uint64_t number) {
  const auto found = open_.find(number);
  return found == open_.end() ? nullptr : &found->second;
}

void TicketBook::settle(std::uint64_t number) {
  const auto found = open_.find(number);
  if (found != open_.end() && found->second.settled()) {
    open_.erase(found);
  }
}

void TicketBook::for_each(const std::function<void(std::uint64_t, Ticket&)>& visit) {
  for (auto& [number, ticket] : open_) {
    visit(number, ticket);
  }
}

void FailureBook::add(std::uint64_t file, std::int64_t step, const Outcome& outcome) {
  const bool is_known = std::ranges::any_of(failures_, [&](const Failure& failure) {
    const bool has_same_story = failure.outcome.story == outcome.story;
    return failure.file == file && ((has_same_story && (step == failure.step || step == no_step)) ||
                                    (failure.is_cause && step >= failure.step));
  });
  if (!is_known) {
    failures_.push_back({file, step, outcome, is_told(file, outcome.story)});
  }
}

void FailureBook::add_cause(std::uint64_t file, std::int64_t from_step, const Outcome& cause) {
  const bool was_told = is_told(file, cause.story);
  std::erase_if(failures_, [&](const Failure& failure) {
    return failure.is_untold(file) && failure.step >= from_step;
  });
  failures_.push_back({file, from_step, cause, was_told, true});
}

bool FailureBook::is_told(std::uint64_t file, const std::string& story) const {
  return std::ranges::any_of(failures_, [&](const Failure& failure) {
    return failure.told && failure.file == file && failure.outcome.story == story;
  });
}

void FailureBook::told(std::uint64_t file, const std::string& story) {
  for (auto& failure : failures_) {
    if (failure.file == file && failure.outcome.story == story) {
      failure.told = true;
    }
  }
}

void FailureBook::tell(std::uint64_t file, const Outcome& failure) {
  told(file, failure.story);
  throw Error{failure.code, failure.story};
}

Outcome FailureBook::untold(std::optional<std::uint64_t> file) const {
  const Failure* first = nullptr;
  std::set<std::pair<std::uint64_t, std::int64_t>> steps;
  for (const auto& failure : failures_) {
    if (!failure.is_untold(file)) {
      continue;
    }
    steps.emplace(failure.file, failure.step);
    if (first == nullptr || (failure.file == first->file && failure.step < first->step)) {
      first = &failure;
    }
  }
  Outcome told = first == nullptr ? Outcome{} : first->outcome;
  if (const auto more = std::ssize(steps) - 1; more > 0) {
    told.story += " (and " + std::to_string(more) +
                  (more == 1 ? " more step has failed)" : " more steps have failed)");
  }
  return told;
}

Outcome FailureBook::take_untold(std::optional<std::uint64_t> file) {
  Outcome first = untold(file);
  for (auto& failure : failures_) {
    failure.told = failure.told || failure.is_untold(file);
  }
  return first;
}

}  // namespace iocomp::client
