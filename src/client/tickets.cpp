// SPDX-License-Identifier: BSD-3-Clause
#include "client/tickets.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
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

void FailureBook::add(std::uint64_t file, const Outcome& outcome) {
  const bool known = std::any_of(failures_.begin(), failures_.end(), [&](const Failure& failure) {
    return failure.file == file && failure.outcome.story == outcome.story;
  });
  if (!known) {
    failures_.push_back({file, outcome, false});
  }
}

void FailureBook::add_cause(std::uint64_t file, const Outcome& cause) {
  const auto is_later = [file](const Failure& failure) {
    return failure.file == file && !failure.told;
  };
  const auto later = std::ranges::find_if(failures_, is_later);
  std::vector<Failure> rest{std::make_move_iterator(later),
                            std::make_move_iterator(failures_.end())};
  failures_.erase(later, failures_.end());
  add(file, cause);
  for (const auto& failure : rest) {
    const bool is_cause = failure.file == file && failure.outcome.story == cause.story;
    if (!is_cause) {
      failures_.push_back(failure);
    }
  }
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

Outcome FailureBook::take_untold(std::uint64_t file) {
  Outcome first;
  for (auto& failure : failures_) {
    if (failure.file == file && !std::exchange(failure.told, true) && first.ok()) {
      first = failure.outcome;
    }
  }
  return first;
}

Outcome FailureBook::untold(std::uint64_t file) const {
  const auto first = std::ranges::find_if(
      failures_, [file](const Failure& failure) { return failure.file == file && !failure.told; });
  return first == failures_.end() ? Outcome{} : first->outcome;
}

Outcome FailureBook::take_any_untold() {
  Outcome first;
  int more = 0;
  for (auto& failure : failures_) {
    if (!std::exchange(failure.told, true)) {
      if (first.ok()) {
        first = failure.outcome;
      } else {
        ++more;
      }
    }
  }
  if (more > 0) {
    first.story += " (and " + std::to_string(more) + " more failures that nobody asked for)";
  }
  return first;
}

}  // namespace iocomp::client
