// Files of formats that write whole steps: chunks keep their staging memory until their step is
// written, and pieces of the next step wait with their senders.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "formats/write_region.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/file.h"
#include "server/piece.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Notice;

void File::keep(Chunk chunk) {
  Piece& piece = *chunk.piece;
  Target& to = target(publication_.target_of(piece.step));
  const Outcome outcome = outcome_of([&] {
    if (!to.format) {
      throw Error{ErrorCode::storage_failure, "the step was given up"};
    }
    formats::write_region(*to.format, {piece.step, piece.variable, -1}, piece.region, chunk.first,
                          chunk.count, chunk.bytes);
  });
  if (!outcome.ok()) {
    fail_piece(piece, {outcome.code, told(piece, outcome.story)});
    chunk_done(chunk);
    return;
  }
  to.kept.push_back(std::move(chunk));
  const Chunk& last = to.kept.back();
  if (last.piece->elements_left == last.count) {
    to.unsynced.push_back(last.piece);
  }
  chunk_done(last);
}

void File::write_step(formats::Target& format, std::int64_t step) {
  context_.busy.begin(trace::Activity::write, now_seconds());
  const Outcome outcome = outcome_of([&] {
    const std::int64_t number = settings_.file_per_step ? 0 : step;
    format.write_step(number, contents_.describe(catalogue_, step, step));
  });
  context_.busy.end(trace::Activity::write, now_seconds());
  format.forget_step();
  target(publication_.target_of(step)).kept.clear();
  if (!outcome.ok()) {
    throw Error{outcome.code, outcome.story};
  }
  next_step_ = std::max(next_step_, step + 1);
}

// Pieces of the next step may be here already, where this one was written.
void File::settle_kept(std::int64_t step, const Outcome& outcome) {
  Target& settled = target(publication_.target_of(step));
  if (next_step_ <= step && settled.format) {
    settled.format->forget_step();
  }
  std::erase_if(settled.kept, [step](const Chunk& chunk) { return chunk.piece->step == step; });
  std::erase_if(settled.unsynced, [&](const std::shared_ptr<Piece>& piece) {
    if (piece->step != step) {
      return false;
    }
    if (piece->failure.ok() && outcome.ok()) {
      notify(*piece, Notice::About::written);
      notify(*piece, Notice::About::durable);
    } else if (piece->failure.ok()) {
      piece->failure = outcome;
      notify(*piece, Notice::About::failed, outcome);
    }
    return true;
  });
  next_step_ = std::max(next_step_, step + 1);
}

std::size_t File::kept_bytes() const {
  std::size_t bytes = 0;
  std::set<const staging::Lease*> rows;  // shared by neighbours
  const auto whole_pages = [](std::size_t asked) {
    constexpr std::size_t page = staging::Arena::page_bytes;
    return (asked + page - 1) / page * page;
  };
  for (const auto& [number, target] : targets_) {
    for (const Chunk& chunk : target.kept) {
      const auto step = steps_.find(chunk.piece->step);
      if (step != steps_.end() && step->second.reported) {
        continue;  // it is being written: its memory will be free
      }
      if (chunk.row && !rows.insert(chunk.row.get()).second) {
        continue;
      }
      bytes += whole_pages((chunk.row ? *chunk.row : chunk.lease).bytes().size());
    }
  }
  return bytes;
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

}  // namespace iocomp::server
