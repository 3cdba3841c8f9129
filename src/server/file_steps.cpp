#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/runs.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "disk/engine.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "server/file.h"
#include "server/piece.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;
using protocol::Notice;

void File::place(const protocol::StepNote& note) {
  Room& place = room(note.step, note.variable);
  place.ready = true;
  place.offset = note.number;
  place.failure = note.outcome;
  if (note.outcome.ok() && !is_plain()) {
    // Told to all servers, so that all can describe the same contents when they finish the file.
    contents_.add(note.step, note.variable,
                  format_.offsets_by_layout() ? catalogue_.layout().offset(note.variable, note.step)
                                              : note.number);
  }
  for (auto& chunk : std::exchange(place.waiting, {})) {
    write(std::move(chunk));
  }
}

std::string File::told(const Piece& piece, const std::string& cause) const {
  return "file \"" + name_ + "\", variable \"" + piece.variable.name + "\", step " +
         std::to_string(piece.step) + ", server " + std::to_string(context_.place.number) +
         " (rank " + std::to_string(context_.place.ranks.rank(context_.place.number)) +
         "): " + cause;
}

void File::notify(const Piece& piece, Notice::About about, const Outcome& outcome) {
  if (piece.client < 0) {
    return;  // of this server itself
  }
  context_.post.notify(piece.client, {about, key_, piece.ticket, outcome});
}

void File::fail_piece(Piece& piece, const Outcome& outcome) {
  if (!piece.failure.ok()) {
    return;
  }
  piece.failure = outcome;
  context_.counters.add(trace::Counter::failures, 1);
  notify(piece, Notice::About::failed, outcome);
  Step& step = steps_[piece.step];
  if (step.failure.ok()) {
    step.failure = outcome;
  }
}

void File::refuse(Piece& piece, std::int64_t bytes) {
  fail_piece(
      piece,
      {ErrorCode::out_of_staging_memory,
       told(piece, "no staging memory for " + format_bytes(bytes) + ": " +
                       format_bytes(static_cast<std::int64_t>(context_.arena.used_bytes())) +
                       " of " +
                       format_bytes(static_cast<std::int64_t>(context_.arena.capacity_bytes())) +
                       " are in use, and when_full = \"error\"")});
}

void File::piece_written(const std::shared_ptr<Piece>& piece) {
  Step& step = steps_[piece->step];
  ++step.written;
  if (whole_steps_) {  // its owner hears of it when the step is settled
    ++step.synced;
  } else if (piece->failure.ok()) {
    notify(*piece, Notice::About::written);
    const std::int64_t number = publication_.target_of(piece->step);
    target(number).unsynced.push_back(piece);
    const auto hurry = in_a_hurry_.find(piece->client);
    if (hurry != in_a_hurry_.end() && piece->step <= hurry->second) {
      request_sync(number);
    }
  } else {
    ++step.synced;
  }
  check_step(piece->step);
}

void File::written_by_client(protocol::OwnWritten own) {
  if (!failure_.ok()) {
    return;
  }
  Step& step = steps_[own.step];
  step.come += std::ssize(own.puts);
  step.written += std::ssize(own.puts);
  step.synced += std::ssize(own.puts);
  if (!own.outcome.ok() && step.failure.ok()) {
    step.failure = own.outcome;
  }
  for (const auto& put : own.puts) {
    step.puts.add(put);
  }
  check_stripes(own.step);
  check_step(own.step);
}

void File::hurry(int client, std::int64_t step, bool durable) {
  auto& early = written_early_.try_emplace(client, step).first->second;
  early = std::max(early, step);
  if (!durable) {
    return;
  }
  auto& until = in_a_hurry_.try_emplace(client, step).first->second;
  until = std::max(until, step);
  for (auto& [number, target] : targets_) {
    if (!target.unsynced.empty()) {
      request_sync(number);
    }
  }
}

void File::request_sync(std::int64_t number) {
  Target& syncing = target(number);
  if (syncing.syncing) {
    syncing.sync_again = true;
    return;
  }
  auto pieces =
      std::make_shared<std::vector<std::shared_ptr<Piece>>>(std::exchange(syncing.unsynced, {}));
  syncing.syncing = true;
  if (!syncing.file) {  // the step was given up meanwhile, and its physical file with it
    synced(number, *pieces, {ErrorCode::storage_failure, "the step was given up"});
    return;
  }
  disk::Plan plan;
  plan.file = syncing.file;
  plan.sync = true;
  context_.submit(std::move(plan), [this, number, pieces](const disk::Completion& completion) {
    synced(number, *pieces, {completion.code, completion.story});
  });
}

void File::synced(std::int64_t number, const std::vector<std::shared_ptr<Piece>>& pieces,
                  const Outcome& outcome) {
  for (const auto& piece : pieces) {
    ++steps_[piece->step].synced;
    if (outcome.ok()) {
      notify(*piece, Notice::About::durable);
    } else {
      fail_piece(*piece, {outcome.code, told(*piece, outcome.story)});
    }
  }
  Target& done = target(number);
  done.syncing = false;
  if (std::exchange(done.sync_again, false) && !done.unsynced.empty()) {
    request_sync(number);
  }
  std::set<std::int64_t> touched;
  for (const auto& piece : pieces) {
    touched.insert(piece->step);
  }
  std::for_each(touched.begin(), touched.end(), [this](std::int64_t step) { check_step(step); });
}

void File::expect(const protocol::Expectation& expectation) {
  Step& step = steps_[expectation.step];
  step.expected = expectation.pieces;
  step.report = expectation.report;
  check_stripes(expectation.step);
  check_step(expectation.step);
}

void File::report_puts(std::int64_t number, Step& step) {
  const protocol::PutReport report{number, step.puts.of(std::exchange(step.report, {}))};
  context_.post.to_server(0, protocol::encode(key_, report));
}

void File::check_step(std::int64_t number) {
  Step& step = steps_[number];
  if (step.expected < 0 || step.written < step.expected || step.reported) {
    return;
  }
  if (step.synced < step.written) {
    const std::int64_t physical = publication_.target_of(number);
    if (!target(physical).unsynced.empty()) {
      request_sync(physical);
    }
    return;
  }
  step.reported = true;
  if (!step.report.empty()) {
    report_puts(number, step);
  }
  context_.post.to_server(
      0, protocol::encode(key_, Kind::step_done, protocol::StepNote{number, -1, 0, step.failure}));
}

void File::settle(std::int64_t step, const Outcome& outcome) {
  if (!outcome.ok()) {
    contents_.remove_step(step);
  }
  submit_gathered();  // of a step that was given up
  drop(stripes_.take_step(step), outcome);
  if (whole_steps_) {
    settle_kept(step, outcome);
  }
  steps_.erase(step);
  rooms_.erase(rooms_.lower_bound({step, 0}), rooms_.lower_bound({step + 1, 0}));
  if (settings_.file_per_step) {
    count_bytes(target(step));
    targets_.erase(step);
  }
  std::erase_if(in_a_hurry_, [step](const auto& entry) { return entry.second <= step; });
  std::erase_if(written_early_, [step](const auto& entry) { return entry.second <= step; });
}

void File::fail(const Outcome& outcome) {
  if (!failure_.ok()) {
    return;
  }
  failure_ = outcome;
  // What waits for room will not get any.
  for (auto& [where, room] : rooms_) {
    for (auto& chunk : std::exchange(room.waiting, {})) {
      fail_piece(*chunk.piece, outcome);
      chunk_done(chunk);
    }
  }
  drop(stripes_.take_all(), outcome);
}

std::unique_ptr<formats::Target> File::create(const std::string& path) {
  formats::FormatOptions options = options_;
  options.deadline_seconds = context_.policy.deadline_seconds;
  if (settings_.aggregators_per_node == 0) {
    if (whole_steps_) {
      options.aggregators = context_.place.ranks.size();  // that is what servers are
    }
    return format_.create(path, options, context_.place.servers);
  }
  const auto& openers =
      context_.openers(settings_.aggregator_order, settings_.aggregators_per_node);
  options.aggregators = openers.aggregators;
  return format_.create(path, options, openers.comm.raw());
}

void File::act(const protocol::ActionNote& action) {
  const std::int64_t number =
      action.action == protocol::Action::place ? publication_.target_of(action.step) : action.step;
  Target& acting = target(number);
  switch (action.action) {
    case protocol::Action::create:
      acting.format = create(publication_.names(number).temporary);
      if (!whole_steps_) {
        (void)output(number);
      }
      break;
    case protocol::Action::place:
      if (acting.format) {
        (void)acting.format->place(catalogue_.variable(action.variable, action.step), action.step);
      }
      break;
    case protocol::Action::flush:
      if (acting.format && whole_steps_) {
        write_step(*acting.format, action.settled);
      } else if (acting.format) {
        acting.format->flush();
      }
      break;
    case protocol::Action::finish:
      if (auto closing = std::move(acting.format)) {
        if (whole_steps_ && number >= 0) {
          write_step(*closing, number);
        }
        closing->finish(contents_.describe(catalogue_, number < 0 ? 0 : number,
                                           number < 0 ? INT64_MAX : number));
      }
      break;
    case protocol::Action::discard:
      if (auto closing = std::move(acting.format)) {
        closing->forget_step();
        contents::Description kept;
        if (number < 0) {
          kept.contents = contents_.describe(catalogue_, 0, action.settled - 1).contents;
        }
        closing->finish(kept);
      }
      break;
  }
}

}  // namespace iocomp::server
