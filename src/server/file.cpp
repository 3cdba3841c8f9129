#include "server/file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
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

constexpr std::int64_t slice_bytes = std::int64_t{8}
                                     << 20;  // of an MPI write between two rounds of receiving

}  // namespace

storage::FormatOptions format_options(const config::FileSettings& settings) {
  return {.library_path = !settings.raw,
          .alignment_bytes = settings.alignment_bytes,
          .hints = settings.hints};
}

storage::Publication::Identity identity(const std::string& name,
                                        const config::FileSettings& settings,
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
      failure_ = {opened.code, "file \"" + name_ + "\", server " +
                                   std::to_string(context_.place.number) + ": " + opened.story};
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
  if (!failure_.ok()) {
    begun->variable.type = array::ElementType::uint8;
    fail_piece(*begun, failure_);
  } else {
    // A rank that has made other definitions is found out by the lead, but its blocks may be here
    // before the lead's word.
    const Outcome fits = outcome_of([&] {
      begun->variable = catalogue_.variable(piece.variable, piece.step);
      (void)array::make_box(begun->variable.shape, piece.box.start.data(), piece.box.count.data());
    });
    if (!fits.ok() || piece.element_bytes != begun->element_bytes() ||
        piece.box.dimensions != begun->variable.shape.dimensions) {
      fail_piece(*begun,
                 {ErrorCode::inconsistent_calls,
                  told(*begun, "the ranks do not make the same definitions in the same order")});
    }
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
  if (format_.offsets_by_layout() && is_plain() && !settings_.file_per_step) {
    place.ready = true;  // else the lead prepares the physical file of the step first
  }
  if (place.ready) {
    write(std::move(chunk));
    return;
  }
  if (!std::exchange(place.asked, true)) {
    context_.post.to_server(
        0, protocol::encode(
               key_, Kind::want_place,
               protocol::StepNote{piece.step, piece.variable.id, catalogue_.events(), {}}));
  }
  place.waiting.push_back(std::move(chunk));
}

std::int64_t File::offset(const Piece& piece, const Room& room) const {
  return format_.offsets_by_layout() ? catalogue_.layout().offset(piece.variable.id, piece.step)
                                     : room.offset;
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
      context_.post.flush();  // before what stands for the bytes is gone: this server may end
    }
    held->free_memory();
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
    const std::int64_t now =
        std::min(chunk.count, std::max<std::int64_t>(1, slice_bytes / element));
    const auto bytes = chunk.bytes.first(static_cast<std::size_t>(now * element));
    const double begin = now_seconds();
    if (piece.failure.ok()) {
      const std::int64_t where = offset(piece, room(piece.step, piece.variable.id));
      const Outcome outcome = outcome_of([&] {
        (void)output(number);  // the descriptor that will be fsynced is held open from before the
                               // first write
        writing.format->write({piece.step, piece.variable, where}, {piece.box, chunk.first, now},
                              bytes);
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
    done.free_memory();
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

}  // namespace iocomp::server
