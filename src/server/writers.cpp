// SPDX-License-Identifier: BSD-3-Clause
#include "server/writers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "disk/pace.h"
#include "formats/format.h"
#include "server/context.h"
#include "trace/busy.h"
#include "writing/file_writer.h"
#include "writing/stripes.h"

namespace iocomp::server {
namespace {

writing::Stripes::Terms stripe_terms(const Context& context, std::uint64_t key,
                                     const config::FileSettings& settings,
                                     const formats::Traits& traits) {
  const std::int64_t bytes =
      traits.writes_whole_steps()
          ? 0
          : writing::Stripes::fitting(context.settings.bytes("staging.stripe"),
                                      context.arena.capacity_bytes());
  return {.file = key,
          .bytes = bytes,
          .run_bytes = writing::Stripes::long_run_bytes(bytes),
          .may_overlap = settings.may_overlap,
          .swaps_bytes = traits.swaps_bytes(),
          .crew = context.disk.crew};
}

disk::Options disk_options(const Context& context, const config::FileSettings& settings) {
  disk::Options options = settings.may_overlap ? disk::without_direct(context.disk) : context.disk;
  if (settings.bandwidth > 0) {
    options.pace = std::make_shared<disk::Pace>(static_cast<double>(settings.bandwidth) /
                                                context.place.ranks.size());
  }
  return options;
}

}  // namespace

Writers::Writers(Context& context, std::uint64_t key, const config::FileSettings& settings,
                 const formats::Format& format, const commit::Publication& publication)
    : context_{context},
      settings_{settings},
      traits_{format.traits()},
      publication_{publication},
      stripes_{context.stripes, stripe_terms(context, key, settings, traits_)},
      disk_{disk_options(context, settings)} {}

void Writers::open() {
  if (settings_.when_full == config::WhenFull::spill) {
    spill_ = &context_.spill();
  }
  if (traits_.is_plain() && !settings_.file_per_step) {
    (void)writer(-1).file().open();
  }
}

Writers::Target& Writers::target(std::int64_t number) {
  Target& target = targets_[number];
  if (!target.writer) {
    // The lead has created it. A server that hears of the file late must not create it anew: it may
    // be closed, and have its name, already.
    target.writer = std::make_unique<writing::FileWriter>(writing::FileWriter::Setup{
        .path = publication_.data_path(number),
        .name = publication_.name(),
        .opening = publication_.opening(),
        .disk = disk_,
        .kind = traits_.kind,
        .swaps_bytes = traits_.swaps_bytes(),
        .submit = [&context = context_](disk::Plan plan,
                                        auto done) { context.submit(std::move(plan), done); },
        .counters = &context_.counters,
        .stripes = &stripes_,
        .spill = spill_});
  }
  return target;
}

Writers::Pieces Writers::take_unsynced(std::int64_t number) {
  return std::exchange(target(number).unsynced, {});
}

bool Writers::has_unsynced(std::int64_t number) const {
  const auto found = targets_.find(number);
  return found != targets_.end() && !found->second.unsynced.empty();
}

std::vector<std::int64_t> Writers::unsynced() const {
  std::vector<std::int64_t> numbers;
  for (const auto& [number, target] : targets_) {
    if (!target.unsynced.empty()) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

void Writers::write(std::vector<writing::Stripe> stripes) {
  for (auto& stripe : stripes) {
    writer_of(stripe.step).write(std::move(stripe));
  }
}

bool Writers::take_back() {
  bool any = false;
  for (auto& [number, target] : targets_) {
    any = target.writer->take_back() || any;
  }
  return any;
}

void Writers::drop_spilled(std::int64_t first, std::int64_t end, const Outcome& outcome) {
  for (auto& [number, target] : targets_) {
    target.writer->drop_spilled(first, end, outcome);
  }
}

void Writers::submit() {
  for (auto& [number, target] : targets_) {
    target.writer->submit();
  }
}

bool Writers::is_held_back() const {
  return disk_.pace && !disk_.pace->is_ready() &&
         std::ranges::any_of(targets_,
                             [](const auto& entry) { return entry.second.writer->has_work(); });
}

bool Writers::write_slice() {
  if (is_held_back()) {
    return false;
  }
  return std::ranges::any_of(targets_, [this](auto& entry) {
    writing::FileWriter& writer = *entry.second.writer;
    if (!writer.has_work()) {
      return false;
    }
    context_.busy.begin(trace::Activity::write, now_seconds());
    writer.advance();
    context_.busy.end(trace::Activity::write, now_seconds());
    return true;
  });
}

std::size_t Writers::kept_bytes(const std::function<bool(std::int64_t step)>& counts) const {
  std::size_t bytes = 0;
  for (const auto& [number, target] : targets_) {
    if (const auto* const steps = target.writer->whole_steps()) {
      bytes += steps->kept_bytes(counts);
    }
  }
  return bytes;
}

}  // namespace iocomp::server
