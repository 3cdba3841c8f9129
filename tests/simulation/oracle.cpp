// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "excuses.h"

namespace simulation {
namespace {

using iocomp::Error;
using iocomp::ErrorCode;

// A number at the beginning of a text, which is cut off there.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return number;
}

// The steps that a story names: "step 3", "steps 0 to 2", "steps from 4 on", which ends at `end`.
std::set<std::int64_t> steps_in(std::string_view story, std::int64_t end) {
  constexpr std::string_view word = "step";
  constexpr std::string_view from = "from ";
  constexpr std::string_view up_to = " to ";
  std::set<std::int64_t> steps;
  for (auto at = story.find(word); at != std::string_view::npos; at = story.find(word)) {
    story.remove_prefix(at + word.size());
    story.remove_prefix(story.starts_with('s') ? 1 : 0);
    if (!story.starts_with(' ')) {
      continue;
    }
    story.remove_prefix(1);
    const bool is_open = story.starts_with(from);
    story.remove_prefix(is_open ? from.size() : 0);
    const auto first = take_number(story);
    auto rest = story.starts_with(up_to) ? story.substr(up_to.size()) : std::string_view{};
    const auto last = is_open ? end - 1 : take_number(rest).value_or(first.value_or(0));
    for (std::int64_t step = first.value_or(0); first && step <= last; ++step) {
      steps.insert(step);
    }
  }
  return steps;
}

}  // namespace

Oracle::Oracle(const Plan& plan)
    : plan_{plan},
      told_(plan.files.size()),
      ends_(static_cast<std::size_t>(plan.ranks), std::vector<Ends>(plan.files.size())),
      failures_of_(static_cast<std::size_t>(plan.ranks), std::vector<Failures>(plan.files.size())),
      ended_(static_cast<std::size_t>(plan.ranks),
             std::vector<std::set<std::int64_t>>(plan.files.size())),
      open_(plan.files.size()),
      closes_(plan.files.size()) {}

void Oracle::know(const std::vector<Found>& before) {
  for (std::size_t file = 0; file < before.size(); ++file) {
    told_[file].before = before[file];
    told_[file].newest_attributes = before[file].newest_attributes;
  }
}

void Oracle::say(int rank, const std::string& what) const {
  if (log_) {
    log_(rank, what);
  }
}

std::optional<Error> Oracle::make(int rank, const std::function<void()>& call) const {
  call_begins_(rank);
  std::optional<Error> error;
  try {
    call();
  } catch (const Error& caught) {
    error = caught;
  }
  call_ends_(rank);
  return error;
}

int Oracle::attempt(int rank, std::size_t file, const std::string& call,
                    const std::function<void()>& body) {
  const auto error = make(rank, body);
  if (!error) {
    return 0;
  }
  failed(rank, file, call, *error);
  return static_cast<int>(error->code());
}

void Oracle::failed(int rank, std::size_t file, const std::string& call, const Error& error) {
  const std::string story = error.what();
  ++failures_;
  is_late_ = is_late_ || error.code() == ErrorCode::timed_out;
  say(rank, call + " fails: " + story);
  if (file < plan_.files.size()) {
    int& first = ends_[static_cast<std::size_t>(rank)][file].first_error;
    first = first == 0 ? static_cast<int>(error.code()) : first;
    Failures& failures = failures_of_[static_cast<std::size_t>(rank)][file];
    const std::int64_t end = std::ssize(plan_.files[file].steps);
    failures.steps.merge(steps_in(call + ' ' + story, end));
    failures.is_whole_file = failures.is_whole_file || steps_in(story, end).empty();
    if (story.find(plan_.files[file].name) == std::string::npos) {
      broken("rank " + std::to_string(rank) + ": " + call +
             " fails, and the story names no file: " + story);
    }
  }
  if (!may_fail(plan_, error.code(), can_go_on_)) {
    broken("rank " + std::to_string(rank) + ": " + call + " fails: " + story);
  }
}

// It begins behind what it keeps. Steps that had failed in an earlier job may keep their numbers.
void Oracle::opened(int /*rank*/, std::size_t file, std::int64_t first_step) {
  const PlannedFile& planned = plan_.files[file];
  told_[file].first_step = first_step;
  ++open_[file];
  std::int64_t least = 0;
  for (const auto& [step, of_job] : told_[file].before.steps) {
    const bool is_kept = planned.goes_on && step <= told_[file].before.after;
    least = is_kept ? step + 1 : least;
  }
  if (plan_.finds_damage) {
    return;  // which may have taken steps
  }
  if (first_step < least || first_step > std::ssize(planned.steps)) {
    broken(planned.name + " goes on at step " + std::to_string(first_step) + ", it has " +
           std::to_string(least));
  }
}

bool Oracle::is_held(std::size_t file) const {
  return open_[file] == count_members(plan_, plan_.files[file]);
}

void Oracle::set_attributes(std::size_t file, int version) {
  told_[file].newest_attributes = std::max(told_[file].newest_attributes, version);
  told_[file].last_attributes = version;
}

int& Oracle::end_of_put(int rank, std::size_t file, const PutName& put) {
  return ends_[static_cast<std::size_t>(rank)][file].tickets[put];
}

void Oracle::refused(std::size_t file, const PutName& put) { told_[file].refused.insert(put); }

void Oracle::is_durable(std::size_t file, const PutName& put) { told_[file].durable.insert(put); }

void Oracle::end_step(int rank, std::size_t file, std::int64_t step,
                      const std::function<void()>& end) {
  const PlannedFile& planned = plan_.files[file];
  auto& ended = ended_[static_cast<std::size_t>(rank)];
  for (std::size_t other = 0; other < plan_.files.size(); ++other) {
    if (plan_.files[other].name == planned.comes_after) {
      told_[file].predecessors[step].insert(ended[other].begin(), ended[other].end());
    }
  }
  ended[file].insert(step);
  const std::string name = "step " + std::to_string(step) + " of " + planned.name;
  if (attempt(rank, file, "end of " + name, end) == 0) {
    say(rank, "has ended " + name);
  }
}

void Oracle::wait_step(int rank, std::size_t file, std::int64_t step,
                       const std::function<void()>& wait) {
  Told& told = told_[file];
  const std::string name = "step " + std::to_string(step) + " of " + plan_.files[file].name;
  if (const auto error = make(rank, wait)) {
    failed(rank, file, "wait for " + name, *error);
    if (error->code() != ErrorCode::timed_out && error->code() != ErrorCode::invalid_argument) {
      told.failed.emplace(step, error->what());
    }
  } else {
    say(rank, "is told that " + name + " is committed");
    told.committed.insert(step);
  }
  if (told.committed.contains(step) && told.failed.contains(step) &&
      !is_in_doubt(plan_, plan_.files[file])) {
    broken(name + " is committed for one rank, and failed for another: " + told.failed.at(step));
  }
}

bool Oracle::close(int rank, std::size_t file, std::int64_t steps,
                   const std::function<void()>& wait) {
  const PlannedFile& planned = plan_.files[file];
  Told& told = told_[file];
  if (attempt(rank, file, "close of " + planned.name, wait) != 0) {
    return false;
  }
  const Failures& failures = failures_of_[static_cast<std::size_t>(rank)][file];
  const bool can_tell = tells_each_step(plan_, planned) && !failures.is_whole_file;
  for (std::int64_t step = told.first_step.value_or(0); step < steps && can_tell; ++step) {
    if (!failures.steps.contains(step)) {
      told.closed.insert(step);
    }
  }
  say(rank, "has closed " + planned.name);
  // A failure that was told before is not told again: then close may say yes.
  told.is_closed = ++closes_[file] == count_members(plan_, planned) && failures_ == 0;
  return true;
}

}  // namespace simulation
