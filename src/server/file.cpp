#include "server/file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/runs.h"
#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "config/file_settings.h"
#include "disk/engine.h"
#include "disk/output_file.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/piece.h"
#include "storage/catalogue.h"
#include "storage/format.h"
#include "storage/publication.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;
using protocol::Notice;

namespace {

constexpr std::int64_t slice_bytes = std::int64_t{8} << 20;  // of an MPI write between two rounds of receiving

}  // namespace

storage::FormatOptions format_options(const config::FileSettings& settings) {
  return {.library_path = !settings.raw, .alignment_bytes = settings.alignment_bytes, .hints = settings.hints};
}

storage::Publication::Identity identity(const std::string& name, const config::FileSettings& settings,
                                        const std::string& job) {
  return {.name = name,
          .path = settings.path,
          .job = job,
          .checkpoint = settings.checkpoint,
          .file_per_step = settings.file_per_step,
          .replace = settings.replace,
          .keep = settings.keep};
}

File::File(Context& context, std::uint64_t key, std::string name, config::FileSettings settings,
           const storage::Format& format)
    : context_{context},
      key_{key},
      name_{std::move(name)},
      settings_{std::move(settings)},
      format_{format},
      options_{format_options(settings_)},
      publication_{identity(name_, settings_, context.place.job), format},
      catalogue_{format, settings_.alignment_bytes, !settings_.file_per_step} {
  if (is_plain() && !settings_.file_per_step) {
    // Opened before the first commit gives the file its final name.
    const Outcome opened = outcome_of([this] { (void)output(-1); });
    if (!opened.ok()) {
      failure_ = {opened.code, "file \"" + name_ + "\", server " + std::to_string(context_.place.number) + ": " +
                                   opened.story};
    }
  }
}

void File::apply(const protocol::Event& event) {
  if (failure_.ok()) {
    catalogue_.apply(storage::decode_event(event.what));
  }
}

disk::OutputFile& File::output(std::int64_t number) {
  auto& file = target(number).file;
  if (!file) {
    file = std::make_shared<disk::OutputFile>(publication_.names(number).temporary, context_.disk);
  }
  return *file;
}

std::shared_ptr<Piece> File::begin(int client, const protocol::Piece& piece) {
  auto begun = std::make_shared<Piece>();
  begun->client = client;
  begun->ticket = piece.ticket;
  begun->step = piece.step;
  begun->box = piece.box;
  begun->elements_left = piece.count;
  if (failure_.ok()) {
    begun->variable = catalogue_.variable(piece.variable, piece.step);
  } else {
    begun->variable.type = array::ElementType::uint8;
    fail_piece(*begun, failure_);
  }
  (void)steps_[piece.step];
  context_.counters.add(trace::Counter::pieces, 1);
  return begun;
}

void File::arrived(Chunk chunk) {
  const Piece& piece = *chunk.piece;
  context_.counters.add(trace::Counter::received_bytes, static_cast<double>(chunk.bytes.size()));
  if (!piece.failure.ok() || !failure_.ok()) {
    chunk_done(chunk);
    return;
  }
  Room& place = room(piece.step, piece.variable.id);
  if (format_.offsets_by_layout() && is_plain()) {
    place.ready = true;
  }
  if (place.ready) {
    write(std::move(chunk));
    return;
  }
  if (!std::exchange(place.asked, true)) {
    context_.post.to_server(0, protocol::encode(key_, Kind::want_place,
                                                protocol::StepNote{piece.step, piece.variable.id, catalogue_.events(), {}}));
  }
  place.waiting.push_back(std::move(chunk));
}

void File::place(const protocol::StepNote& note) {
  Room& place = room(note.step, note.variable);
  place.ready = true;
  place.offset = note.number;
  place.failure = note.outcome;
  for (auto& chunk : std::exchange(place.waiting, {})) {
    write(std::move(chunk));
  }
}

std::int64_t File::offset(const Piece& piece, const Room& room) const {
  return format_.offsets_by_layout() ? catalogue_.layout().offset(piece.variable.id, piece.step) : room.offset;
}

void File::write(Chunk chunk) {
  Piece& piece = *chunk.piece;
  const Room& place = room(piece.step, piece.variable.id);
  if (!place.failure.ok()) {
    fail_piece(piece, place.failure);
  }
  if (!piece.failure.ok()) {
    chunk_done(chunk);
    return;
  }
  if (is_plain()) {
    write_plain(std::move(chunk));
  } else {
    target(publication_.target_of(piece.step)).to_write.push_back(std::move(chunk));
  }
}

void File::write_plain(Chunk chunk) {
  const Piece& piece = *chunk.piece;
  const std::int64_t number = publication_.target_of(piece.step);
  const std::int64_t begin = offset(piece, room(piece.step, piece.variable.id));
  disk::Plan plan;
  const Outcome opened = outcome_of([&] {
    (void)output(number);
    plan.file = target(number).file;
  });
  if (!opened.ok()) {
    fail_piece(*chunk.piece, {opened.code, told(piece, opened.story)});
    chunk_done(chunk);
    return;
  }
  const std::byte* from = chunk.bytes.data();
  array::RunCursor runs{piece.variable.shape, piece.box, chunk.first, chunk.count};
  array::Run run;
  while (runs.next(run)) {
    const auto bytes = static_cast<std::size_t>(run.elements * piece.element_bytes());
    plan.writes.push_back({begin + run.index * piece.element_bytes(), {from, bytes}});
    from += bytes;
  }
  // The chunk, and with it the lease, lives until the plan is done.
  auto held = std::make_shared<Chunk>(std::move(chunk));
  context_.submit(std::move(plan), [this, held](const disk::Completion& completion) {
    context_.counters.add(trace::Counter::write_seconds, completion.seconds);
    if (completion.code != ErrorCode::ok) {
      fail_piece(*held->piece, {completion.code, told(*held->piece, completion.story)});
    }
    held->lease = {};
    chunk_done(*held);
  });
}

bool File::write_slice() {
  for (auto& [number, writing] : targets_) {
    if (writing.to_write.empty() || !writing.format) {
      continue;
    }
    Chunk& chunk = writing.to_write.front();
    Piece& piece = *chunk.piece;
    const std::int64_t element = piece.element_bytes();
    const std::int64_t now = std::min(chunk.count, std::max<std::int64_t>(1, slice_bytes / element));
    const auto bytes = chunk.bytes.first(static_cast<std::size_t>(now * element));
    const double begin = now_seconds();
    if (piece.failure.ok()) {
      const std::int64_t where = offset(piece, room(piece.step, piece.variable.id));
      const Outcome outcome = outcome_of([&] {
        (void)output(number);  // the descriptor that will be fsynced is held open from before the first write
        writing.format->write({piece.step, piece.variable, where}, {piece.box, chunk.first, now}, bytes);
      });
      if (!outcome.ok()) {
        fail_piece(piece, {outcome.code, told(piece, outcome.story)});
      }
    }
    context_.counters.add(trace::Counter::write_seconds, now_seconds() - begin);
    if (now < chunk.count && piece.failure.ok()) {
      chunk.bytes = chunk.bytes.subspan(bytes.size());
      chunk.first += now;
      chunk.count -= now;
      piece.elements_left -= now;
      return true;
    }
    Chunk done = std::move(chunk);
    writing.to_write.pop_front();
    done.lease = {};
    chunk_done(done);
    return true;
  }
  return false;
}

void File::chunk_done(const Chunk& chunk) {
  chunk.piece->elements_left -= chunk.count;
  if (chunk.piece->elements_left == 0) {
    piece_written(chunk.piece);
  }
}

std::string File::told(const Piece& piece, const std::string& cause) const {
  return "file \"" + name_ + "\", variable \"" + piece.variable.name + "\", step " + std::to_string(piece.step) +
         ", server " + std::to_string(context_.place.number) + " (rank " +
         std::to_string(context_.place.server_ranks[static_cast<std::size_t>(context_.place.number)]) + "): " + cause;
}

void File::notify(const Piece& piece, Notice::About about, const Outcome& outcome) {
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
  fail_piece(piece, {ErrorCode::out_of_staging_memory,
                     told(piece, "no staging memory for " + format_bytes(bytes) + ": " +
                                     format_bytes(static_cast<std::int64_t>(context_.arena.used_bytes())) + " of " +
                                     format_bytes(static_cast<std::int64_t>(context_.arena.capacity_bytes())) +
                                     " are in use, and when_full = \"error\"")});
}

void File::piece_written(const std::shared_ptr<Piece>& piece) {
  Step& step = steps_[piece->step];
  ++step.written;
  if (piece->failure.ok()) {
    notify(*piece, Notice::About::written);
    const std::int64_t number = publication_.target_of(piece->step);
    target(number).unsynced.push_back(piece);
    if (in_a_hurry_.contains(piece->client)) {
      request_sync(number);
    }
  } else {
    ++step.synced;
  }
  check_step(piece->step);
}

void File::make_durable(int client) {
  in_a_hurry_.insert(client);
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
  auto pieces = std::make_shared<std::vector<std::shared_ptr<Piece>>>(std::exchange(syncing.unsynced, {}));
  syncing.syncing = true;
  if (!syncing.file) {  // the step was given up meanwhile, and its physical file with it
    synced(number, *pieces, {ErrorCode::storage_failure, "the step was given up"});
    return;
  }
  disk::Plan plan;
  plan.file = syncing.file;
  plan.sync = true;
  context_.submit(std::move(plan), [this, number, pieces](const disk::Completion& completion) {
    context_.counters.add(trace::Counter::sync_seconds, completion.seconds);
    synced(number, *pieces, {completion.code, completion.story});
  });
}

void File::synced(std::int64_t number, const std::vector<std::shared_ptr<Piece>>& pieces, const Outcome& outcome) {
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

void File::expect(std::int64_t step, std::int64_t pieces) {
  steps_[step].expected = pieces;
  check_step(step);
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
  context_.post.to_server(0, protocol::encode(key_, Kind::step_done, protocol::StepNote{number, -1, 0, step.failure}));
}

void File::settle(std::int64_t step, const Outcome& outcome) {
  if (!outcome.ok()) {
    contents_.remove_step(step);
  }
  steps_.erase(step);
  rooms_.erase(rooms_.lower_bound({step, 0}), rooms_.lower_bound({step + 1, 0}));
  if (settings_.file_per_step) {
    targets_.erase(step);
  }
  in_a_hurry_.clear();
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
}

void File::act(const protocol::ActionNote& action) {
  const std::int64_t number = action.action == protocol::Action::place ? publication_.target_of(action.step) : action.step;
  Target& acting = target(number);
  switch (action.action) {
    case protocol::Action::create:
      acting.format = format_.create(publication_.names(number).temporary, options_, context_.place.servers);
      (void)output(number);
      break;
    case protocol::Action::place:
      contents_.add(action.step, action.variable, -1);
      if (acting.format) {
        (void)acting.format->place(catalogue_.variable(action.variable, action.step), action.step);
      }
      break;
    case protocol::Action::flush:
      if (acting.format) {
        acting.format->flush();
      }
      break;
    case protocol::Action::finish:
      if (auto closing = std::move(acting.format)) {
        closing->finish(contents_.describe(catalogue_, number < 0 ? 0 : number, number < 0 ? INT64_MAX : number));
      }
      break;
  }
}

}  // namespace iocomp::server
