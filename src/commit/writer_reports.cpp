// SPDX-License-Identifier: BSD-3-Clause
#include "commit/writer_reports.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/bug.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "protocol/header.h"
#include "protocol/messages.h"

namespace iocomp::commit {

using protocol::Kind;

namespace {

/// Throws if so many more writers cannot have reported, because each reports once.
void check_count(std::int64_t more, std::int64_t already, int writers) {
  if (more < 1 || more > writers - already) {
    throw Error{ErrorCode::internal,
                fmt::format("{} writers report after {}, of {}", more, already, writers)};
  }
}

}  // namespace

// All writers report once before any reports again.
void WriterReports::step_done(const protocol::StepNote& note) {
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

void WriterReports::action_done(const protocol::ActionNote& note) {
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

void WriterReports::want_place(const protocol::StepNote& note) {
  if (asked_.emplace(note.step, note.variable).second) {
    pass_(protocol::encode(key_, Kind::want_place, note));
  }
}

void WriterReports::defined(const protocol::Event& event) {
  const auto defined = contents::decode_event(event.what);
  if (defined.what == contents::Event::What::set_shape) {
    asked_.erase({defined.step, defined.variable});
  }
}

void WriterReports::hurry(std::int64_t step) {
  if (step > hurried_) {
    hurried_ = step;
    pass_(protocol::encode(key_, Kind::flush, protocol::StepNote{step, -1, 0, {}}));
  }
}

}  // namespace iocomp::commit
