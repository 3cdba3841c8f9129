// SPDX-License-Identifier: BSD-3-Clause
#include "commit/reports.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/bug.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "contents/catalogue.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "steps/definitions.h"
#include "steps/ends.h"

namespace iocomp::commit {

using protocol::Kind;

std::string different_folder(const FolderAddress& first, const FolderAddress& other) {
  return first.path == other.path || have_the_same_numbers(first, other)
             ? ""
             : other.path + ", not " + first.path +
                   " (a path that is not absolute begins at the working directory of the rank)";
}

std::string different_open(const protocol::Open& first, const protocol::Open& other,
                           const std::string& who) {
  const auto words = [](const protocol::Open& open) {
    return std::tie(open.name, open.options, open.kind, open.members, open.after);
  };
  if (const auto what = different_folder(first.beginning.folder, other.beginning.folder);
      !what.empty()) {
    return who + " means another folder than compute rank " + std::to_string(first.opener) + ": " +
           what;
  }
  return words(first) == words(other)
             ? ""
             : who +
                   " opened it as another kind of file, after another step or with other options "
                   "than compute rank " +
                   std::to_string(first.opener);
}

namespace {

/// Throws if so many more writers cannot have reported, because each reports once.
void check_count(std::int64_t more, std::int64_t already, int writers) {
  if (more < 1 || more > writers - already) {
    throw Error{ErrorCode::internal,
                fmt::format("{} writers report after {}, of {}", more, already, writers)};
  }
}

}  // namespace

Reports::Reports(std::uint64_t key, int writers, Pass pass, Different different)
    : key_{key}, writers_{writers}, pass_{std::move(pass)}, different_{std::move(different)} {}

void Reports::take(Kind kind, std::span<const std::byte> body, const std::string& who) {
  switch (kind) {
    case Kind::home_event:
      return event(protocol::decode<protocol::Event>(body));
    case Kind::home_step:
    case Kind::home_close:
      return ended(kind, protocol::decode<protocol::StepCounts>(body), who);
    case Kind::step_done:
    case Kind::want_place:
    case Kind::flush:
      return note(kind, protocol::decode<protocol::StepNote>(body));
    case Kind::action_done:
      return action_done(protocol::decode<protocol::ActionNote>(body));
    default:
      pass_(protocol::message(kind, key_, body));
  }
}

void Reports::event(const protocol::Event& event) {
  defined(event);
  switch (definitions_.say(event.sequence, event.caller, event.what)) {
    case steps::Definitions::Said::first:
      pass_(protocol::encode(key_, Kind::home_event, event));
      break;
    case steps::Definitions::Said::different:
      different_(definitions_.difference(event.sequence, event.caller, event.what));
      break;
    case steps::Definitions::Said::again:
      break;
  }
}

void Reports::ended(Kind kind, const protocol::StepCounts& counts, const std::string& who) {
  if (const auto sum =
          kind == Kind::home_step ? ends_->end(counts, who) : ends_->close(counts, who)) {
    definitions_.shorten(sum->step);
    pass_(protocol::encode(key_, kind, *sum));
  }
}

void Reports::defined(const protocol::Event& event) {
  const auto defined = contents::decode_event(event.what);
  if (defined.what == contents::Event::What::set_shape) {
    asked_.erase({defined.step, defined.variable});
  }
}

void Reports::action_done(const protocol::ActionNote& note) {
  const auto [found, is_first] = actions_.try_emplace(note.number, note);
  auto& sum = found->second;
  if (is_first) {
    sum.writers = 0;
  }
  check_count(note.writers, sum.writers, writers_);
  sum.writers += note.writers;
  if (sum.outcome.ok()) {
    sum.outcome = note.outcome;
  }
  if (sum.writers == writers_) {
    pass_(protocol::encode(key_, Kind::action_done, sum));
    actions_.erase(found);
  }
}

void Reports::note(Kind kind, const protocol::StepNote& note) {
  switch (kind) {
    case Kind::step_done:
      return step_done(note);
    case Kind::want_place:
      if (!asked_.emplace(note.step, note.variable).second) {
        return;
      }
      break;
    case Kind::flush:
      if (note.step <= hurried_) {
        return;
      }
      hurried_ = note.step;
      break;
    default:
      break;
  }
  pass_(protocol::encode(key_, kind, note));
}

// All writers report once before any reports again.
void Reports::step_done(const protocol::StepNote& note) {
  auto& sum = done_.try_emplace(note.step, protocol::StepNote{note.step, -1, 0, {}}).first->second;
  check_count(note.number, sum.number, writers_);
  sum.number += note.number;
  if (sum.outcome.ok()) {
    sum.outcome = note.outcome;
  }
  if (has_bug(Bug::report_missed) && writers_ > 1 && sum.number == writers_ - 1) {
    sum.number = writers_;
  }
  if (sum.number == writers_) {
    pass_(protocol::encode(key_, Kind::step_done, sum));
    done_.erase(note.step);
    asked_.erase(asked_.begin(), asked_.lower_bound({note.step, -1}));
  }
}

}  // namespace iocomp::commit
