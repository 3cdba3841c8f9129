#include "client/reports.h"

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "steps/definitions.h"
#include "steps/ends.h"

namespace iocomp::client {

using protocol::Kind;

Reports::Reports(std::uint64_t key, std::string file_name, int members, Pass pass)
    : key_{key},
      file_name_{std::move(file_name)},
      members_{members},
      pass_{std::move(pass)},
      ends_{members, [this](const steps::Difference& difference) { different(difference); }} {}

void Reports::different(const steps::Difference& difference) {
  const Outcome outcome = steps::different_calls(file_name_, difference.what);
  pass_(protocol::encode(key_, Kind::file_failed,
                         protocol::StepNote{difference.from_step, -1, 0, outcome}));
}

void Reports::event(const protocol::Event& event) {
  switch (definitions_.say(event.sequence, event.caller, event.what)) {
    case steps::Definitions::Said::first:
      pass_(protocol::encode(key_, Kind::event, event));
      break;
    case steps::Definitions::Said::different:
      different(definitions_.difference(event.sequence, event.caller, event.what));
      break;
    case steps::Definitions::Said::again:
      break;
  }
}

void Reports::step_ended(const protocol::StepCounts& counts, const std::string& who) {
  if (const auto sum = ends_.end(counts, who)) {
    pass_(protocol::encode(key_, Kind::end_step, *sum));
  }
}

void Reports::closed(const protocol::StepCounts& counts, const std::string& who) {
  if (const auto sum = ends_.close(counts, who)) {
    pass_(protocol::encode(key_, Kind::close, *sum));
  }
}

// All speak once before anybody speaks again.
void Reports::step_done(const protocol::StepNote& note) {
  auto& sum = done_.try_emplace(note.step, protocol::StepNote{note.step, -1, 0, {}}).first->second;
  sum.number += note.number;
  if (sum.outcome.ok()) {
    sum.outcome = note.outcome;
  }
  if (sum.number == members_) {
    pass_(protocol::encode(key_, Kind::step_done, sum));
    done_.erase(note.step);
  }
}

}  // namespace iocomp::client
