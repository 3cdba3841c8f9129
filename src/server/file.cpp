// SPDX-License-Identifier: BSD-3-Clause
#include "server/file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/pieces.h"
#include "array/region.h"
#include "base/bug.h"
#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/file_terms.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "trace/busy.h"
#include "trace/counters.h"
#include "writing/file_writer.h"
#include "writing/piece.h"
#include "writing/stripes.h"
#include "writing/together.h"

namespace iocomp::server {

using protocol::Kind;
using protocol::Notice;
using writing::Chunk;
using writing::Piece;
using writing::Stripe;

File::File(Context& context, std::uint64_t key, const protocol::Open& open,
           config::FileSettings settings, const formats::Format& format)
    : context_{context},
      key_{key},
      name_{open.name},
      settings_{std::move(settings)},
      domain_bytes_{open.domain_bytes},
      format_{format},
      publication_{commit::identity(name_, settings_, context.place.job, context.was_given_up),
                   format, &catalogue_},
      catalogue_{format.rules(commit::format_options(settings_)), settings_.alignment_bytes,
                 !settings_.file_per_step, commit::format_options(settings_).kept_bits},
      writers_{context, key, settings_, format, publication_} {
  catalogue_.begin_at(open.beginning);
  const Outcome opened = outcome_of([&] {
    publication_.begin_at(open.beginning);
    writers_.open();
  });
  if (!opened.ok()) {
    loss_.cause = {opened.code, "file \"" + name_ + "\", server " +
                                    std::to_string(context_.place.number) + ": " + opened.story};
  }
}

void File::apply(const protocol::Event& event) {
  const auto defined = contents::decode_event(event.what);
  if (!is_lost(defined.step)) {
    catalogue_.apply(defined);
  }
}

// Pieces: from the first word of them until all of their bytes are here.

std::shared_ptr<Piece> File::make_piece(std::int64_t step, const array::Region& region,
                                        std::int64_t first, std::int64_t count) {
  auto piece = std::make_shared<Piece>();
  piece->step = step;
  piece->region = region;
  piece->first = first;
  piece->elements_left = count;
  piece->ended = [this](const auto& ended) { piece_ended(ended); };
  piece->giver.elements_to_come = count;
  return piece;
}

std::shared_ptr<Piece> File::begin(int client, const protocol::Piece& piece,
                                   const array::Region& region) {
  auto begun = make_piece(piece.step, region, piece.first, piece.count);
  begun->giver.rank = client;
  begun->giver.ticket = piece.ticket;
  if (is_lost(piece.step)) {
    begun->variable.type = array::ElementType::uint8;
    fail_piece(*begun, loss_.cause);
  } else {
    // A rank that has made other definitions is found out by the lead, but its blocks may be here
    // before the lead's word.
    const Outcome fits = outcome_of([&] {
      begun->variable = catalogue_.variable(piece.variable, piece.step);
      array::check_inside(begun->variable.shape, region);
    });
    if (!fits.ok() || piece.element_bytes != begun->element_bytes()) {
      fail_piece(*begun,
                 {ErrorCode::inconsistent_calls,
                  told(*begun, "the ranks do not make the same definitions in the same order")});
    } else {
      const auto domains = array::divide(begun->variable.shape, begun->element_bytes(),
                                         context_.place.ranks.size(), domain_bytes_);
      const int mine = context_.place.number;
      writers_.stripes().choose(*begun, domains.begin(mine), domains.begin(mine + 1));
    }
  }
  steps_[piece.step].puts.add({.variable = piece.variable,
                               .rank = piece.sender,
                               .part = {region, piece.first, piece.count}});
  context_.counters.add(trace::Counter::pieces, 1);
  return begun;
}

std::int64_t File::elements_at_once(const Piece& piece, std::int64_t first,
                                    std::int64_t at_most) const {
  return piece.is_joined() ? std::min(at_most, writing::elements_in_stripe(piece, first)) : at_most;
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

void File::refuse_step(Piece& piece, std::int64_t bytes) {
  const auto capacity = static_cast<std::int64_t>(context_.arena.capacity_bytes());
  fail_piece(piece,
             {ErrorCode::out_of_staging_memory,
              told(piece, "no staging memory for " + format_bytes(bytes) + ": the back-end " +
                              std::string{format_.name()} +
                              " writes whole steps, and what this server gets of a step must fit " +
                              "into its " + format_bytes(capacity) +
                              "; raise staging.memory, or take more servers")});
}

void File::arrived(Chunk chunk) {
  Piece& piece = *chunk.piece;
  context_.counters.add(trace::Counter::received_bytes, static_cast<double>(chunk.bytes.size()));
  if (is_lost(piece.step)) {
    fail_piece(piece, loss_.cause);
  }
  if (!piece.failure.ok()) {
    const auto held = chunk.piece;
    const std::int64_t elements = chunk.count;
    writing::end(std::move(chunk));
    came(held, elements);
    return;
  }
  Room& place = room(piece.step, piece.variable.id);
  if (format_.traits().offsets_by_layout && is_plain() && !settings_.file_per_step) {
    place.ready = true;  // else the lead prepares the physical file of the step first
  }
  if (place.ready) {
    write(std::move(chunk));
    return;
  }
  if (!std::exchange(place.asked, true)) {
    context_.post.report(protocol::encode(
        key_, Kind::want_place,
        protocol::StepNote{piece.step, piece.variable.id, catalogue_.events(), {}}));
  }
  place.waiting.push_back(std::move(chunk));
}

void File::place(const protocol::StepNote& note) {
  Room& place = room(note.step, note.variable);
  place.ready = true;
  place.offset = note.number;
  place.failure = note.outcome;
  if (note.outcome.ok() && !is_plain()) {
    // Told to all servers, so that all can describe the same contents when they finish the file.
    contents_.add(note.step, note.variable, offset(note.variable, note.step, place));
  }
  for (auto& chunk : std::exchange(place.waiting, {})) {
    write(std::move(chunk));
  }
}

std::int64_t File::offset(int variable, std::int64_t step, const Room& room) const {
  return format_.traits().offsets_by_layout ? catalogue_.layout().offset(variable, step)
                                            : room.offset;
}

void File::write(Chunk chunk) {
  const auto piece = chunk.piece;
  const std::int64_t elements = chunk.count;
  const Room& place = room(piece->step, piece->variable.id);
  if (!place.failure.ok()) {
    fail_piece(*piece, place.failure);
  } else {
    piece->offset = offset(piece->variable.id, piece->step, place);
  }
  writers_.writer_of(piece->step).write(std::move(chunk));
  came(piece, elements);
}

void File::came(const std::shared_ptr<Piece>& piece, std::int64_t elements) {
  piece->giver.elements_to_come -= elements;
  if (piece->giver.elements_to_come == 0) {
    ++steps_[piece->step].come;
    check_stripes(piece->step);
  }
}

void File::fill(const protocol::FillOrder& order) {
  Step& step = steps_[order.step];
  step.reported = false;
  if (is_lost(order.step)) {
    // No piece may ever have come here and told of the loss.
    step.failure = step.failure.ok() ? loss_.cause : step.failure;
  } else {
    step.expected += std::ssize(order.holes);
    for (const auto& [variable, holes] : order.holes) {
      const auto piece = make_piece(order.step, std::make_shared<const array::RunList>(holes), 0,
                                    holes.elements());
      piece->variable = catalogue_.variable(variable, order.step);
      const Room& place = room(order.step, variable);
      if (!place.failure.ok()) {
        fail_piece(*piece, place.failure);
      }
      piece->offset = offset(variable, order.step, place);
      writers_.writer_of(order.step).fill(piece, catalogue_.fill(variable, order.step));
      came(piece, holes.elements());
    }
  }
  check_step(order.step);
}

// What is written: stripes, small chunks of a round, slices of MPI files, whole steps.

// Of a step that is here as a whole nothing more will come: what was not put stays a hole.
void File::check_stripes(std::int64_t number) {
  const auto step = steps_.find(number);
  if (step != steps_.end() && step->second.expected >= 0 &&
      step->second.come >= step->second.expected) {
    writers_.write(writers_.stripes().withdraw_step(number));
  }
}

void File::write_oldest_stripe() { writers_.write(writers_.stripes().withdraw_oldest()); }

bool File::write_late_stripes(double now) {
  auto late = writers_.stripes().withdraw_late(now, [this](const Stripe& stripe) {
    return std::ranges::any_of(stripe.parts, [&](const Stripe::Part& part) {
      return hurry_.for_written(part.piece->giver.rank, stripe.step);
    });
  });
  const bool any = !late.empty();
  writers_.write(std::move(late));
  return any;
}

// Those of a step that is being written do not count: their memory will be free.
std::size_t File::kept_bytes() const {
  return writers_.kept_bytes([this](std::int64_t number) {
    const auto step = steps_.find(number);
    return step == steps_.end() || !step->second.reported;
  });
}

// What became of pieces, and who is told.

std::string File::told(const Piece& piece, const std::string& cause) const {
  return "file \"" + name_ + "\", variable \"" + piece.variable.name + "\", step " +
         std::to_string(catalogue_.number(piece.step)) + ", server " +
         std::to_string(context_.place.number) + " (rank " +
         std::to_string(context_.place.ranks.rank(context_.place.number)) + "): " + cause;
}

void File::notify(const Piece& piece, Notice::About about, const Outcome& outcome) {
  if (piece.giver.rank < 0) {
    return;  // of this server itself
  }
  context_.post.notify(piece.giver.rank, {about, key_, piece.giver.ticket, outcome});
}

void File::fail_piece(Piece& piece, const Outcome& outcome) {
  if (std::exchange(piece.giver.is_told, true)) {
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

void File::piece_ended(const std::shared_ptr<Piece>& piece) {
  Step& step = steps_[piece->step];
  step.written += has_bug(Bug::piece_counted_twice) ? 2 : 1;
  if (!piece->failure.ok()) {
    fail_piece(*piece, {piece->failure.code, told(*piece, piece->failure.story)});
    ++step.synced;
  } else if (keeps_steps()) {  // its owner hears of it when the step is settled
    step.kept.push_back(piece);
    ++step.synced;
  } else {
    notify(*piece, Notice::About::written);
    const std::int64_t number = publication_.target_of(piece->step);
    writers_.add_unsynced(number, piece);
    if (hurry_.for_durable(piece->giver.rank, piece->step)) {
      request_sync(number);
    }
  }
  check_step(piece->step);
}

void File::written_by_client(protocol::OwnWritten own) {
  if (is_lost(own.step)) {
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
  hurry_.note(client, step, durable);
  if (durable) {
    for (const auto number : writers_.unsynced()) {
      request_sync(number);
    }
  }
}

void File::request_sync(std::int64_t number) {
  writing::FileWriter& writer = writers_.writer(number);
  auto pieces = writers_.take_unsynced(number);
  if (!writer.file().opened()) {  // the step was given up, and its physical file with it
    synced(pieces, {ErrorCode::storage_failure, "the step was given up"});
    return;
  }
  writer.sync(
      [this, pieces = std::move(pieces)](const Outcome& outcome) { synced(pieces, outcome); });
}

void File::synced(const Pieces& pieces, const Outcome& outcome) {
  if (!outcome.ok()) {
    context_.post.write_failure(protocol::word(key_, protocol::Note::sync_failed));
  }
  std::set<std::int64_t> touched;
  for (const auto& piece : pieces) {
    ++steps_[piece->step].synced;
    touched.insert(piece->step);
    if (outcome.ok()) {
      notify(*piece, Notice::About::durable);
    } else {
      fail_piece(*piece, {outcome.code, told(*piece, outcome.story)});
    }
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
  context_.post.report(protocol::encode(key_, report));
}

void File::check_step(std::int64_t number) {
  Step& step = steps_[number];
  if (step.expected < 0 || step.written < step.expected || step.reported) {
    return;
  }
  if (step.synced < step.written) {
    const std::int64_t physical = publication_.target_of(number);
    if (writers_.has_unsynced(physical)) {
      request_sync(physical);
    }
    return;
  }
  step.reported = true;
  if (!step.report.empty()) {
    report_puts(number, step);
  }
  context_.post.report(
      protocol::encode(key_, Kind::step_done, protocol::StepNote{number, -1, 1, step.failure}));
}

void File::settle(std::int64_t step, const Outcome& outcome) {
  if (!outcome.ok()) {
    contents_.remove_step(step);
  }
  submit_gathered();  // of a step that was given up
  writers_.stripes().settle(step, step + 1, outcome);
  writers_.drop_spilled(step, step + 1, outcome);
  if (keeps_steps()) {
    settle_kept(step, outcome);
  }
  steps_.erase(step);
  rooms_.erase(rooms_.lower_bound({step, 0}), rooms_.lower_bound({step + 1, 0}));
  if (settings_.file_per_step) {
    writers_.forget(step);
  }
  hurry_.settle(step);
}

void File::settle_kept(std::int64_t step, const Outcome& outcome) {
  writers_.writer_of(step).whole_steps()->forget(step);
  for (const auto& piece : std::exchange(steps_[step].kept, {})) {
    if (outcome.ok()) {
      notify(*piece, Notice::About::written);
      notify(*piece, Notice::About::durable);
    } else {
      notify(*piece, Notice::About::failed, outcome);
    }
  }
  next_step_ = std::max(next_step_, step + 1);
}

void File::fail(const Outcome& outcome, std::int64_t from_step) {
  if (!loss_.cause.ok()) {
    return;
  }
  loss_ = {outcome, from_step};
  // What waits for room will not get any.
  for (auto room = rooms_.lower_bound({from_step, 0}); room != rooms_.end(); ++room) {
    for (auto& chunk : std::exchange(room->second.waiting, {})) {
      fail_piece(*chunk.piece, outcome);
      writing::end(std::move(chunk));
    }
  }
  writers_.stripes().settle(from_step, std::numeric_limits<std::int64_t>::max(), outcome);
  writers_.drop_spilled(from_step, std::numeric_limits<std::int64_t>::max(), outcome);
}

formats::Target File::create(const Path& path) {
  formats::FormatOptions options = commit::format_options(settings_, context_.disk.crew);
  publication_.go_on(options);
  options.wait = context_.policy;
  if (settings_.aggregators_per_node == 0) {
    if (keeps_steps()) {
      options.aggregators = context_.place.ranks.size();  // that is what servers are
    }
    return format_.create(path, options, formats::Communicator{context_.place.servers});
  }
  const auto& openers =
      context_.openers(settings_.aggregator_order, settings_.aggregators_per_node);
  options.aggregators = openers.aggregators;
  return format_.create(path, options, formats::Communicator{openers.comm.raw()});
}

void File::act(const protocol::ActionNote& action) {
  const bool writes =
      keeps_steps() && (action.action == protocol::Action::flush ||
                        (action.action == protocol::Action::finish && action.step >= 0));
  if (writes) {
    context_.busy.begin(trace::Activity::write, now_seconds());
  }
  const Outcome outcome = outcome_of([&] {
    writing::carry_out({action.action, action.step, action.settled, publication_.steps_before()},
                       writers_.writer(action.step), contents_, catalogue_,
                       [&] { return create(publication_.data_path(action.step)); });
  });
  if (writes) {
    context_.busy.end(trace::Activity::write, now_seconds());
    if (outcome.ok()) {
      next_step_ = std::max({next_step_, action.step + 1, action.settled + 1});
    }
  }
  outcome.throw_unless_ok();
}

}  // namespace iocomp::server
