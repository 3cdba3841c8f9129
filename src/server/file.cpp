#include "server/file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/pieces.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "disk/engine.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "formats/write_region.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/piece.h"
#include "server/stripes.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;
using protocol::Notice;

namespace {

// What the engine takes for a small plan, which it writes at once.
constexpr std::size_t gathered_at_most = std::size_t{192} << 10;

std::int64_t stripe_bytes(const Context& context, bool is_written_by_offset) {
  return is_written_by_offset
             ? Stripes::fitting(context.settings.bytes("staging.stripe"), context.arena)
             : 0;
}

}  // namespace

formats::FormatOptions format_options(const config::FileSettings& settings) {
  return {.alignment_bytes = settings.alignment_bytes,
          .hints = settings.hints,
          .engine = settings.engine,
          .engine_parameters = settings.engine_parameters,
          .grows_along_time = settings.grows_along_time,
          .chunk_bytes = settings.chunk_bytes,
          .deflate_level = settings.deflate_level,
          .shuffle = settings.shuffle,
          .one_step = settings.file_per_step};
}

commit::Publication::Identity identity(const std::string& name,
                                       const config::FileSettings& settings,
                                       const std::string& job) {
  return {.name = name,
          .path = settings.path,
          .job = job,
          .checkpoint = settings.checkpoint,
          .file_per_step = settings.file_per_step,
          .replace = settings.replace,
          .keep = settings.keep,
          .xdmf = settings.xdmf};
}

File::File(Context& context, std::uint64_t key, const protocol::Open& open,
           config::FileSettings settings, const formats::Format& format)
    : context_{context},
      key_{key},
      name_{open.name},
      settings_{std::move(settings)},
      domain_bytes_{open.domain_bytes},
      format_{format},
      whole_steps_{format.writes_whole_steps()},
      options_{format_options(settings_)},
      swaps_bytes_{formats::swaps_bytes(format, options_)},
      publication_{identity(name_, settings_, context.place.job), format},
      catalogue_{format, settings_.alignment_bytes, !settings_.file_per_step},
      stripes_{context.arena, stripe_bytes(context, is_plain() || format.offsets_by_layout()),
               !context.place.staging.empty(), swaps_bytes_} {
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
    catalogue_.apply(contents::decode_event(event.what));
  }
}

File::~File() {
  std::ranges::for_each(targets_, [this](const auto& target) { count_bytes(target.second); });
}

void File::count_bytes(const Target& target) {
  if (target.file) {
    context_.counters.add(trace::Counter::direct_bytes,
                          static_cast<double>(target.file->direct_bytes()));
    context_.counters.add(trace::Counter::buffered_bytes,
                          static_cast<double>(target.file->buffered_bytes()));
  }
}

disk::OutputFile& File::output(std::int64_t number) {
  auto& file = target(number).file;
  if (!file) {
    // The lead has created it. A server that hears of the file late must not create it anew: it may
    // be closed, and have its name, already.
    file = std::make_shared<disk::OutputFile>(publication_.names(number).temporary, context_.disk,
                                              disk::OutputFile::Opening::finds);
  }
  return *file;
}

std::shared_ptr<Piece> File::begin(int client, const protocol::Piece& piece,
                                   const array::Region& region) {
  auto begun = std::make_shared<Piece>();
  begun->client = client;
  begun->ticket = piece.ticket;
  begun->step = piece.step;
  begun->region = region;
  begun->first = piece.first;
  begun->elements_left = piece.count;
  begun->elements_to_come = piece.count;
  if (!failure_.ok()) {
    begun->variable.type = array::ElementType::uint8;
    fail_piece(*begun, failure_);
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
      stripes_.choose(*begun, domains.begin(mine), domains.begin(mine + 1));
    }
  }
  steps_[piece.step].puts.add({.variable = piece.variable,
                               .rank = piece.sender,
                               .part = {region, piece.first, piece.count}});
  context_.counters.add(trace::Counter::pieces, 1);
  return begun;
}

void File::arrived(Chunk chunk) {
  const Piece& piece = *chunk.piece;
  context_.counters.add(trace::Counter::received_bytes, static_cast<double>(chunk.bytes.size()));
  if (!piece.failure.ok() || !failure_.ok()) {
    chunk_done(chunk);
    came(chunk.piece, chunk.count);
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
  const auto held = chunk.piece;
  const std::int64_t elements = chunk.count;
  if (!piece.failure.ok()) {
    chunk_done(chunk);
  } else if (piece.is_joined()) {
    join(std::move(chunk));
  } else {
    write_alone(std::move(chunk));
  }
  came(held, elements);
}

void File::write_alone(Chunk chunk) {
  if (is_plain()) {
    write_plain(std::move(chunk));
  } else if (whole_steps_) {
    keep(std::move(chunk));
  } else {
    auto& writing = target(publication_.target_of(chunk.piece->step));
    writing.to_write.push_back({.chunk = std::move(chunk), .stripe = {}, .runs = {}});
  }
}

void File::write_plain(Chunk chunk) {
  const std::int64_t number = publication_.target_of(chunk.piece->step);
  const Outcome opened = outcome_of([&] { (void)output(number); });
  if (!opened.ok()) {
    fail_piece(*chunk.piece, {opened.code, told(*chunk.piece, opened.story)});
    chunk_done(chunk);
    return;
  }
  if (swaps_bytes_) {
    array::swap_bytes(chunk.own_bytes, static_cast<std::size_t>(chunk.piece->element_bytes()));
  }
  Target& to = target(number);
  to.gathered_bytes += chunk.bytes.size();
  to.gathered.push_back(std::move(chunk));
  // Others may follow in this round, so that a plan, its writes and its answer are shared.
  if (to.gathered_bytes > gathered_at_most) {
    submit(to);
  }
}

void File::submit_gathered() {
  for (auto& [number, target] : targets_) {
    if (!target.gathered.empty()) {
      submit(target);
    }
  }
}

void File::add_writes(const Chunk& chunk, std::vector<disk::Write>& writes) {
  const Piece& piece = *chunk.piece;
  const std::int64_t begin = offset(piece, room(piece.step, piece.variable.id));
  const std::byte* from = chunk.bytes.data();
  array::RunCursor runs{piece.variable.shape, piece.region, chunk.first, chunk.count};
  array::Run run;
  while (runs.next(run)) {
    const auto bytes = static_cast<std::size_t>(run.elements * piece.element_bytes());
    const disk::Write write{begin + run.index * piece.element_bytes(), {from, bytes}};
    const bool follows = !writes.empty() &&
                         writes.back().offset + std::ssize(writes.back().bytes) == write.offset &&
                         writes.back().bytes.data() + writes.back().bytes.size() == from;
    if (follows) {
      writes.back().bytes = {writes.back().bytes.data(), writes.back().bytes.size() + bytes};
    } else {
      writes.push_back(write);
    }
    from += bytes;
  }
}

void File::submit(Target& target) {
  // The chunks, and with them their leases, live until the plan is done.
  auto held = std::make_shared<std::vector<Chunk>>(std::exchange(target.gathered, {}));
  target.gathered_bytes = 0;
  disk::Plan plan;
  plan.file = target.file;
  for (const Chunk& chunk : *held) {
    add_writes(chunk, plan.writes);
  }
  context_.submit(std::move(plan), [this, held](const disk::Completion& completion) {
    for (Chunk& chunk : *held) {
      if (completion.code != ErrorCode::ok) {
        fail_piece(*chunk.piece, {completion.code, told(*chunk.piece, completion.story)});
        context_.post.flush();  // before what stands for the bytes is gone: this server may end
      }
      chunk.free_memory();
      chunk_done(chunk);
    }
  });
}

void File::chunk_done(const Chunk& chunk) {
  chunk.piece->elements_left -= chunk.count;
  if (chunk.piece->elements_left == 0) {
    piece_written(chunk.piece);
  }
}

}  // namespace iocomp::server
