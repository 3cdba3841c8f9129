#include "client/direct_output.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/runs.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "formats/lustre_layout.h"
#include "formats/place.h"
#include "formats/write_region.h"
#include "mpi/agree.h"
#include "trace/counters.h"

namespace iocomp::client {
namespace {

constexpr std::size_t part_bytes = std::size_t{8}
                                   << 20;  // of strided blocks packed, and of MPI writes, at once

}  // namespace

DirectOutput::DirectOutput(Setup setup, commit::Publication& publication,
                           const contents::Catalogue& catalogue, Link& link)
    : setup_{std::move(setup)},
      publication_{publication},
      catalogue_{catalogue},
      link_{link},
      files_{*setup_.format, setup_.disk, publication, catalogue, link.counters()} {
  if (setup_.window_bytes > 0 && (is_plain() || setup_.format->offsets_by_layout())) {
    exchange_ = std::make_unique<Exchange>(Exchange::Setup{.comm = setup_.comm,
                                                           .aggregators = setup_.aggregators,
                                                           .window_bytes = setup_.window_bytes,
                                                           .alignment_bytes = setup_.domain_bytes,
                                                           .policy = link.policy()});
  }
}

bool DirectOutput::writes_at_once(const Block& block) const {
  if (!is_plain() && publication_.target_of(0) != -1) {
    return false;
  }
  return setup_.format->offsets_by_layout() || is_ahead(block.step, block.variable.id);
}

void DirectOutput::agree(const Outcome& mine, const char* what) {
  const Outcome common = mpi::agree(setup_.comm, mine, link_.policy(), what);
  if (!common.ok()) {
    throw Error{common.code, common.story};
  }
}

void DirectOutput::create(std::int64_t target) {
  const auto path = publication_.names(target).temporary;
  auto& output = files_.at(target);
  agree(outcome_of([&] {
          if (setup_.rank == 0 && setup_.format->folder_mark().empty()) {
            formats::lay_out(path);
          }
          if (has_target() && is_plain()) {
            output.target = setup_.format->create(path, setup_.options, MPI_COMM_SELF);
          }
        }),
        "the start of a file");
  // All have met just now, so a collective open does not wait for anybody who computes.
  agree(outcome_of([&] {
          if (!is_plain()) {
            output.target = setup_.format->create(path, setup_.options, setup_.openers);
          }
          if (!writes_whole_steps()) {
            (void)files_.file(target);
          }
        }),
        "the opening of a file");
}

bool DirectOutput::places_ahead(std::int64_t step) const {
  return is_plain() && !setup_.format->offsets_by_layout() && publication_.target_of(step) == -1;
}

// Not any more once the variable has another shape.
bool DirectOutput::is_ahead(std::int64_t step, int variable) const {
  const auto known = ahead_.places.find(variable);
  return step == ahead_.step && known != ahead_.places.end() &&
         known->second.first == catalogue_.variable(variable, step).shape;
}

std::int64_t DirectOutput::place_of(std::int64_t step, int variable) {
  if (setup_.format->offsets_by_layout()) {
    return catalogue_.layout().offset(variable, step);
  }
  if (is_ahead(step, variable)) {
    return ahead_.places.at(variable).second;
  }
  auto& target = files_.at(publication_.target_of(step)).target;
  return target && !writes_whole_steps() ? formats::place(*target, catalogue_, variable, step) : -1;
}

void DirectOutput::place(std::int64_t step, const std::vector<int>& variables) {
  const std::size_t count = variables.size();
  const bool goes_on = places_ahead(step);
  std::vector<std::int64_t> placed(goes_on ? 2 * count : count, -1);
  agree(outcome_of([&] {
          for (std::size_t i = 0; i < count; ++i) {
            placed[i] = place_of(step, variables[i]);
          }
        }),
        "room for the variables of a step");
  for (std::size_t i = count; i < placed.size(); ++i) {
    // What has no place ahead gets one when it is put, or its error is told.
    (void)outcome_of([&] { placed[i] = place_of(step + 1, variables[i - count]); });
  }
  if (is_plain() && !setup_.format->offsets_by_layout() && !placed.empty()) {
    mpi::maximum(setup_.comm, placed, link_.policy(), "the offsets of a step");
  }
  ahead_ = {goes_on ? step + 1 : -1, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const int variable = variables[i];
    files_.note_offset(variable, step, placed[i]);
    files_.note_contents(variable, step);
    if (goes_on && placed[count + i] >= 0) {
      files_.note_offset(variable, step + 1, placed[count + i]);
      ahead_.places.emplace(
          variable, std::pair{catalogue_.variable(variable, step + 1).shape, placed[count + i]});
    }
  }
}

void DirectOutput::write(const Block& block) {
  const trace::Timer timer{link_.counters(), trace::Counter::write_seconds};
  const std::int64_t elements = array::elements(block.region);
  const bool swaps = formats::swaps_bytes(*setup_.format, setup_.options);
  const bool copies = swaps || !block.is_dense();
  if (!copies && (is_plain() || writes_whole_steps())) {
    write_part(block, 0, elements, block.first_value());
    return;
  }
  if (writes_whole_steps()) {
    auto& packed = packed_.emplace_back(block.bytes());
    block.pack(0, elements, packed.data());
    write_part(block, 0, elements, packed.data());
    return;
  }
  const auto element = static_cast<std::int64_t>(block.element_bytes());
  const std::int64_t part = static_cast<std::int64_t>(part_bytes) / element;
  std::vector<std::byte> packed(
      copies ? static_cast<std::size_t>(std::min(part, elements) * element) : 0);
  for (std::int64_t first = 0; first < elements; first += part) {
    const std::int64_t count = std::min(part, elements - first);
    const std::byte* values = packed.data();
    if (!copies) {
      values = block.first_value() + first * element;
    } else {
      block.copy_to(std::span{packed}.first(static_cast<std::size_t>(count * element)), first,
                    count, swaps);
    }
    write_part(block, first, count, values);
  }
}

void DirectOutput::write_part(const Block& block, std::int64_t first, std::int64_t count,
                              const std::byte* packed) {
  const std::size_t element = block.element_bytes();
  const std::int64_t target = publication_.target_of(block.step);
  const std::int64_t begin = files_.offset(block.variable.id, block.step);
  if (!is_plain()) {
    formats::write_region(*files_.at(target).target, {block.step, block.variable, begin},
                          block.region, first, count,
                          {packed, static_cast<std::size_t>(count) * element});
    return;
  }
  disk::OutputFile& output = *files_.file(target);
  array::RunCursor runs{block.variable.shape, block.region, first, count};
  array::Run run;
  while (runs.next(run)) {
    const std::size_t bytes = static_cast<std::size_t>(run.elements) * element;
    output.write(begin + run.index * static_cast<std::int64_t>(element), {packed, bytes});
    packed += bytes;
  }
}

void DirectOutput::fill(std::int64_t step, int variable, const array::RunList& holes) {
  Block block;
  block.variable = catalogue_.variable(variable, step);
  block.step = step;
  auto value = catalogue_.fill(variable, step);
  if (value.empty()) {
    value.resize(block.element_bytes());
  }
  const auto most = static_cast<std::int64_t>(part_bytes / value.size());
  std::vector<std::byte> own;
  auto& values = writes_whole_steps() ? packed_.emplace_back() : own;
  for (auto left = std::min(most, holes.elements()); left > 0; --left) {
    values.insert(values.end(), value.begin(), value.end());
  }
  for (std::int64_t first = 0; first < holes.elements(); first += most) {
    const std::int64_t count = std::min(most, holes.elements() - first);
    block.region = std::make_shared<const array::RunList>(holes.part(first, count));
    block.lies_packed(values.data());
    write(block);
  }
}

void DirectOutput::sync(std::int64_t target) {
  if (files_.is_open(target)) {
    const trace::Timer timer{link_.counters(), trace::Counter::sync_seconds};
    files_.file(target)->sync();
  }
}

void DirectOutput::write_step(std::int64_t step) {
  const std::int64_t target = publication_.target_of(step);
  const Outcome mine = outcome_of([&] {
    const trace::Timer timer{link_.counters(), trace::Counter::write_seconds};
    files_.at(target).target->write_step(target < 0 ? step : 0,
                                         contents().describe(catalogue_, step, step));
  });
  forget_step(step);
  agree(mine, "the writing of a step");
}

void DirectOutput::forget_step(std::int64_t step) {
  if (auto& open = files_.at(publication_.target_of(step)).target; open && writes_whole_steps()) {
    open->forget_step();
  }
  packed_.clear();
}

void DirectOutput::flush(std::int64_t target) {
  agree(outcome_of([&] {
          if (auto& open = files_.at(target).target) {
            open->flush();
          }
        }),
        "the flush of a file");
}

void DirectOutput::finish(std::int64_t target, std::int64_t first_step, std::int64_t last_step) {
  agree(outcome_of([&] {
          if (auto closing = std::move(files_.at(target).target)) {
            closing->finish(contents().describe(catalogue_, first_step, last_step));
          }
        }),
        "the end of a file");
}

void DirectOutput::seal(std::int64_t target, std::int64_t step,
                        const std::function<commit::Publication::Job()>& job) {
  agree(outcome_of([&] {
          if (setup_.rank == 0) {
            const trace::Timer timer{link_.counters(), trace::Counter::commit_seconds};
            files_.seal(target, step, job());
          }
        }),
        "the commit of a step");
}

}  // namespace iocomp::client
