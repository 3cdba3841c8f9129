// SPDX-License-Identifier: BSD-3-Clause
#include "client/council/file_council.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/worker.h"
#include "client/council/peer_council.h"
#include "commit/lead.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "commit/reports.h"
#include "commit/writer_reports.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "protocol/put_messages.h"
#include "steps/ends.h"
#include "steps/predecessors.h"
#include "trace/counters.h"
#include "trace/event.h"

namespace iocomp::client {

using protocol::Kind;

FileCouncil::FileCouncil(Setup setup, trace::Counters& counters, steps::Progress& progress)
    : key_{setup.lead.key},
      members_{std::move(setup.members)},
      peers_{std::move(setup.peers)},
      reports_{key_, peers_.members_from_here(),
               [this](protocol::Bytes message) { pass(std::move(message)); },
               [this, name = setup.lead.open.name](const steps::Difference& difference) {
                 different(name, difference);
               }},
      of_writers_{key_, peers_.members_from_here(),
                  [this](protocol::Bytes message) { pass(std::move(message)); }},
      counters_{counters},
      record_{counters.timeline(), setup.lead.open.name},
      jobs_{"iocomp-commit"} {
  if (peers_.member() != 0) {
    return;
  }
  lead_.emplace(
      std::move(setup.lead),
      commit::Lead::Means{
          .council = &peers_,
          .progress = &progress,
          .run = [this](commit::Publication::Job job,
                        commit::Publisher::Then then) { run(std::move(job), std::move(then)); },
          .note = [](protocol::Note, std::int64_t) {},  // nobody outlives this rank
          .failed = [this] { counters_.add(trace::Counter::failures, 1); }});
}

// A thread may do the job, so counters are left to this one.
void FileCouncil::run(commit::Publication::Job job, commit::Publisher::Then then) {
  const auto seconds = std::make_shared<double>(0);
  jobs_.run(
      [this, seconds, begin = now_seconds(), job = std::move(job)] {
        const Outcome outcome = Worker::outcome_of_job(job);
        *seconds = now_seconds() - begin;
        record_(trace::What::commit, begin, {});
        outcome.throw_unless_ok();
      },
      [this, seconds, then = std::move(then)](const Outcome& outcome) {
        counters_.add(trace::Counter::commit_seconds, *seconds);
        then(outcome);
      });
}

void FileCouncil::event(const protocol::Event& event) {
  of_writers_.defined(event);
  reports_.event(event);
}

void FileCouncil::step_ended(const protocol::StepCounts& counts) {
  reports_.step_ended(counts, "compute rank " + std::to_string(compute_rank()));
}

void FileCouncil::closed(const protocol::StepCounts& counts) {
  reports_.closed(counts, "compute rank " + std::to_string(compute_rank()));
}

void FileCouncil::step_done(std::int64_t step, const Outcome& outcome) {
  of_writers_.step_done({step, -1, 1, outcome});
}

void FileCouncil::want_place(std::int64_t step, int variable) {
  of_writers_.want_place({step, variable, 0, {}});
}

void FileCouncil::action_done(const protocol::ActionNote& note) { of_writers_.action_done(note); }

void FileCouncil::hurry(std::int64_t step) { of_writers_.hurry(step); }

void FileCouncil::different(const std::string& file_name, const steps::Difference& difference) {
  failed(difference.from_step, steps::different_calls(file_name, difference.what));
}

void FileCouncil::failed(std::int64_t from_step, const Outcome& outcome) {
  pass(protocol::encode(key_, Kind::home_failed, protocol::StepNote{from_step, -1, 0, outcome}));
}

void FileCouncil::pass(protocol::Bytes message) {
  if (lead_) {
    tell_lead(message);
  } else {
    peers_.report(std::move(message));
  }
}

bool FileCouncil::advance(const Obey& obey, const std::function<bool()>& enough) {
  bool moved = jobs_.advance();
  moved = (lead_ && lead_->advance()) || moved;
  while (!enough()) {
    const auto received = peers_.take();
    if (!received) {
      break;
    }
    const auto header = protocol::check_header(received->message, 0);
    moved = moved || header.kind != Kind::flush;  // that another member waits moves nothing
    if (received->is_order) {
      obey(header.kind, protocol::body(received->message));
    } else {
      take_report(received->from, received->message);
    }
  }
  return moved;
}

// Some reports are compared or summed on their way up, and others are passed on.
void FileCouncil::take_report(int member, const protocol::Bytes& message) {
  const auto body = protocol::body(message);
  const std::string who = "compute rank " + std::to_string(compute_rank_of(member)) +
                          (peers_.members_from(member) == 1 ? "" : " (or those that report to it)");
  switch (protocol::check_header(message, compute_rank_of(member)).kind) {
    case Kind::home_event:
      event(protocol::decode<protocol::Event>(body));
      break;
    case Kind::home_step:
      reports_.step_ended(protocol::decode<protocol::StepCounts>(body), who);
      break;
    case Kind::home_close:
      reports_.closed(protocol::decode<protocol::StepCounts>(body), who);
      break;
    case Kind::step_done:
      of_writers_.step_done(protocol::decode<protocol::StepNote>(body));
      break;
    case Kind::want_place:
      of_writers_.want_place(protocol::decode<protocol::StepNote>(body));
      break;
    case Kind::action_done:
      of_writers_.action_done(protocol::decode<protocol::ActionNote>(body));
      break;
    case Kind::flush:
      of_writers_.hurry(protocol::decode<protocol::StepNote>(body).step);
      break;
    default:
      pass(message);
  }
}

void FileCouncil::tell_lead(const protocol::Bytes& message) {
  lead_->take(protocol::check_header(message, 0).kind, protocol::body(message));
}

}  // namespace iocomp::client
