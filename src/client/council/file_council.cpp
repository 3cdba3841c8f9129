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
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
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
                 reports_.note(Kind::home_failed, {difference.from_step, -1, 0,
                                                   steps::different_calls(name, difference.what)});
               }},
      counters_{counters},
      record_{counters.timeline(), setup.lead.open.name},
      jobs_{"iocomp-commit"} {
  reports_.expect(peers_.members_from_here());
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

void FileCouncil::pass(protocol::Bytes message) {
  if (lead_) {
    lead_->take(protocol::check_header(message, 0).kind, protocol::body(message));
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

void FileCouncil::take_report(int member, const protocol::Bytes& message) {
  const std::string who = "compute rank " + std::to_string(compute_rank_of(member)) +
                          (peers_.members_from(member) == 1 ? "" : " (or those that report to it)");
  reports_.take(protocol::check_header(message, compute_rank_of(member)).kind,
                protocol::body(message), who);
}

}  // namespace iocomp::client
