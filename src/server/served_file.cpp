// SPDX-License-Identifier: BSD-3-Clause
#include "server/served_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "array/pieces.h"
#include "array/region.h"
#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/file_terms.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/pace.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "trace/busy.h"
#include "trace/counters.h"
#include "writer/writer_file.h"
#include "writing/file_writer.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::server {

void Hurry::note(int client, std::int64_t step, bool durable) {
  auto& written = written_.try_emplace(client, step).first->second;
  written = std::max(written, step);
  if (durable) {
    auto& until = durable_.try_emplace(client, step).first->second;
    until = std::max(until, step);
  }
}

void Hurry::settle(std::int64_t step) {
  for (Steps* const steps : {&written_, &durable_}) {
    std::erase_if(*steps, [step](const auto& entry) { return entry.second <= step; });
  }
}

bool Hurry::covers(const Steps& steps, int client, std::int64_t step) {
  const auto found = steps.find(client);
  return found != steps.end() && step <= found->second;
}

using protocol::Notice;
using writer::WriterFile;
using writing::Chunk;
using writing::Piece;

namespace {

disk::Options disk_options(const Context& context, std::uint64_t key,
                           const config::FileSettings& settings) {
  disk::Options options = context.disk_options(key);
  if (settings.may_overlap) {
    options = disk::without_direct(std::move(options));
  }
  if (settings.bandwidth > 0) {
    options.pace = std::make_shared<disk::Pace>(static_cast<double>(settings.bandwidth) /
                                                context.place.ranks.size());
  }
  return options;
}

writing::Stripes::Terms stripe_terms(const Context& context, std::uint64_t key,
                                     const config::FileSettings& settings,
                                     const formats::Traits& traits) {
  const std::int64_t bytes = traits.writes_whole_steps()
                                 ? 0
                                 : writing::Stripes::fitting(context.settings.bytes("test.stripe"),
                                                             context.arena.capacity_bytes());
  return {.file = key,
          .bytes = bytes,
          .run_bytes = writing::Stripes::long_run_bytes(bytes),
          .may_overlap = settings.may_overlap,
          .swaps_bytes = traits.swaps_bytes(),
          .crew = context.disk.crew};
}

}  // namespace

ServedFile::ServedFile(Context& context, std::uint64_t key, const protocol::Open& open,
                       config::FileSettings settings, const formats::Format& format)
    : context_{context},
      key_{key},
      settings_{std::move(settings)},
      domain_bytes_{open.domain_bytes},
      catalogue_{format.rules(commit::format_options(settings_)), settings_.alignment_bytes,
                 !settings_.file_per_step, commit::format_options(settings_).kept_bits},
      file_{writer_setup(format),
            commit::Publication{context.identity(open.name, settings_), format, &catalogue_},
            catalogue_, context.counters, *this} {
  catalogue_.begin_at(open.beginning);
  const Outcome opened = outcome_of([&] {
    auto& files = file_.files();
    files.begin_at(open.beginning);
    if (settings_.when_full == config::WhenFull::spill) {
      files.spill_to(context_.spill());
    }
    if (files.is_plain() && !settings_.file_per_step) {
      (void)files.writer(-1).file().open();  // before the first commit gives it its final name
    }
  });
  if (!opened.ok()) {
    file_.fail(opened, 0);
  }
}

WriterFile::Setup ServedFile::writer_setup(const formats::Format& format) const {
  WriterFile::Setup setup;
  setup.who = ", server " + std::to_string(context_.place.number) + " (rank " +
              std::to_string(context_.place.ranks.rank(context_.place.number)) + ')';
  setup.files.format = &format;
  setup.files.options = commit::format_options(settings_, context_.disk);
  setup.files.options.wait = context_.policy;
  setup.files.disk = disk_options(context_, key_, settings_);
  setup.files.submit = [&context = context_](disk::Plan plan, auto done) {
    context.submit(std::move(plan), std::move(done));
  };
  setup.files.stripe_memory = &context_.stripes;
  setup.files.stripes = stripe_terms(context_, key_, settings_, format.traits());
  setup.create = [this, &format](const Path& path, const formats::FormatOptions& asked) {
    auto options = asked;
    if (settings_.aggregators_per_node == 0) {
      if (format.traits().writes_whole_steps()) {
        options.aggregators = context_.place.ranks.size();  // servers are aggregators
      }
      return format.create(path, options, formats::Communicator{context_.place.servers});
    }
    const auto& openers =
        context_.openers(settings_.aggregator_order, settings_.aggregators_per_node);
    options.aggregators = openers.aggregators;
    return format.create(path, options, formats::Communicator{openers.comm.raw()});
  };
  return setup;
}

void ServedFile::apply(const protocol::Event& event) {
  const auto defined = contents::decode_event(event.what);
  if (!file_.is_lost(defined.step)) {
    catalogue_.apply(defined);
  }
}

std::shared_ptr<Piece> ServedFile::begin(int client, const protocol::Piece& piece,
                                         const array::Region& region) {
  const array::Part part{region, piece.first, piece.count};
  const auto begun = file_.begin(piece.step, part, client, piece.ticket);
  if (file_.is_lost(piece.step)) {
    begun->variable.type = array::ElementType::uint8;
    file_.refuse(*begun, file_.lost());
  } else {
    // The lead finds a rank that has made other definitions. But blocks of that rank may be here
    // before the order of the lead.
    const Outcome fits = outcome_of([&] {
      begun->variable = catalogue_.variable(piece.variable, piece.step);
      array::check_inside(begun->variable.shape, region);
    });
    if (!fits.ok() || piece.element_bytes != begun->element_bytes()) {
      file_.refuse(
          *begun,
          file_.in_piece(*begun, {ErrorCode::inconsistent_calls,
                                  "the ranks do not make the same definitions in the same order"}));
    } else {
      const auto domains = array::divide(begun->variable.shape, begun->element_bytes(),
                                         context_.place.ranks.size(), domain_bytes_);
      const int mine = context_.place.number;
      stripes().choose(*begun, domains.begin(mine), domains.begin(mine + 1));
    }
  }
  file_.note_put(piece.step, {.variable = piece.variable, .rank = piece.sender, .part = part});
  context_.counters.add(trace::Counter::pieces, 1);
  return begun;
}

std::int64_t ServedFile::elements_at_once(const Piece& piece, std::int64_t first,
                                          std::int64_t at_most) const {
  return piece.is_joined() ? std::min(at_most, writing::elements_in_stripe(piece, first)) : at_most;
}

void ServedFile::refuse(Piece& piece, std::int64_t bytes) {
  const auto& arena = context_.arena;
  const std::string cause = "no staging memory for " + format_bytes(bytes) + ": " +
                            format_bytes(static_cast<std::int64_t>(arena.used_bytes())) + " of " +
                            format_bytes(static_cast<std::int64_t>(arena.capacity_bytes())) +
                            " are in use, and when_full = \"error\"";
  file_.refuse(piece, file_.in_piece(piece, {ErrorCode::out_of_staging_memory, cause}));
}

void ServedFile::refuse_step(Piece& piece, std::int64_t bytes) {
  const auto capacity = static_cast<std::int64_t>(context_.arena.capacity_bytes());
  const std::string cause = "no staging memory for " + format_bytes(bytes) + ": the back-end " +
                            std::string{file_.files().format().name()} +
                            " writes whole steps, and what this server gets of a step must fit " +
                            "into its " + format_bytes(capacity) +
                            "; raise staging.memory, or take more servers";
  file_.refuse(piece, file_.in_piece(piece, {ErrorCode::out_of_staging_memory, cause}));
}

void ServedFile::arrived(Chunk chunk) {
  context_.counters.add(trace::Counter::received_bytes, static_cast<double>(chunk.bytes.size()));
  file_.take(std::move(chunk));
}

void ServedFile::hurry(int client, std::int64_t step, bool durable) {
  hurry_.note(client, step, durable);
  if (durable) {
    (void)file_.sync_all();
  }
}

void ServedFile::settle(std::int64_t step, const Outcome& outcome) {
  file_.settle(step, outcome);
  hurry_.settle(step);
}

void ServedFile::tell(const writer::Given& piece, WriterFile::Became became,
                      const Outcome& outcome) {
  const auto about = became == WriterFile::Became::written   ? Notice::About::written
                     : became == WriterFile::Became::durable ? Notice::About::durable
                                                             : Notice::About::failed;
  if (about == Notice::About::failed) {
    context_.counters.add(trace::Counter::failures, 1);
  }
  context_.post.notify(piece.rank, {about, key_, piece.ticket, outcome});
  if (about == Notice::About::written && hurry_.for_durable(piece.rank, piece.step)) {
    file_.sync(piece.step);
  }
}

bool ServedFile::write_slice() {
  auto* const work = file_.files().next_work();
  if (work != nullptr) {
    context_.busy.begin(trace::Activity::write, now_seconds());
    work->advance();
    context_.busy.end(trace::Activity::write, now_seconds());
  }
  return work != nullptr;
}

void ServedFile::act(const protocol::ActionNote& action) {
  const bool writes =
      file_.keeps_steps() && (action.action == protocol::Action::flush ||
                              (action.action == protocol::Action::finish && action.step >= 0));
  if (writes) {
    context_.busy.begin(trace::Activity::write, now_seconds());
  }
  const Outcome outcome = outcome_of([&] { file_.act(action); });
  if (writes) {
    context_.busy.end(trace::Activity::write, now_seconds());
  }
  outcome.throw_unless_ok();
}

}  // namespace iocomp::server
