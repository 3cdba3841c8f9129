// What nobody puts gets the fill value: when it is agreed what all ranks have put in a step, each
// writes its share of the holes, and they agree once more.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/cover.h"
#include "array/run_list.h"
#include "client/agreement.h"
#include "client/carrier.h"
#include "client/kernel_carrier.h"
#include "client/kernel_writer.h"
#include "commit/publication.h"
#include "contents/catalogue.h"

namespace iocomp::client {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 10;  // of fill values held

std::vector<std::byte> repeated(const std::vector<std::byte>& value, std::int64_t times,
                                bool swapped) {
  std::vector<std::byte> all(static_cast<std::size_t>(times) * value.size());
  for (std::size_t at = 0; at < all.size(); at += value.size()) {
    std::memcpy(all.data() + at, value.data(), value.size());
  }
  if (swapped) {
    array::swap_bytes(all, value.size());
  }
  return all;
}

}  // namespace

// @return whether the holes of the step that is agreed on are filled, if there are any to fill.
bool KernelCarrier::is_filled() {
  if (!filling_) {
    auto variables = variables_to_look_at(agreed_, *agreement_);
    if (variables.empty()) {
      return true;
    }
    filling_.emplace();
    holes_.look(agreed_, std::move(variables));
  }
  Filling& filling = *filling_;
  if (filling.stage == Filling::Stage::look && holes_.advance()) {
    filling.outcome = holes_.outcome();
    if (!filling.outcome.ok()) {
      return true;  // the same on all ranks
    }
    begin_filling();
  }
  if (filling.stage == Filling::Stage::write && filling.writing == 0) {
    filling.stage = Filling::Stage::sync;
    sync_filled();
  }
  if (filling.stage == Filling::Stage::sync && filling.writing == 0) {
    filling.stage = Filling::Stage::agree;
    auto mine = ended_step(agreed_);
    mine.flags.clear();
    mine.outcome = filling.outcome;
    filling.agreement = std::make_unique<Agreement>(setup_.circle, setup_.members, std::move(mine));
  }
  if (filling.stage != Filling::Stage::agree || !filling.agreement->advance()) {
    return false;
  }
  filling.outcome = filling.agreement->outcome();
  return true;
}

// Those of which something was put, and not everything once, and that have a fill value; or more
// than there is. Other holes read as 0, and which of other puts overlap is not known: no rank knows
// those of another. The same on all ranks.
std::map<int, array::Cover> KernelCarrier::variables_to_look_at(std::int64_t step,
                                                                const Agreement& agreement) const {
  std::map<int, array::Cover> found;
  for (const auto& [variable, put] : put_in_step(agreement)) {
    const array::Cover all = array::cover_of_all(catalogue_.variable(variable, step).shape);
    const bool overlaps = put.elements >= all.elements && !setup_.may_overlap;
    if (put.elements > 0 && put != all && (overlaps || !catalogue_.fill(variable, step).empty())) {
      found.emplace(variable, put);
    }
  }
  return found;
}

void KernelCarrier::begin_filling() {
  filling_->stage = Filling::Stage::write;
  for (const auto& [variable, holes] : holes_.shares()) {
    filling_->note(outcome_of([&] { fill(variable, holes); }));
  }
}

void KernelCarrier::fill(int variable, const std::shared_ptr<const array::RunList>& holes) {
  Block block;
  block.variable = catalogue_.variable(variable, agreed_);
  block.step = agreed_;
  block.region = holes;
  const auto value = catalogue_.fill(variable, agreed_);
  const std::int64_t most =
      std::min(static_cast<std::int64_t>(most_bytes / value.size()), holes->elements());
  const auto bytes = std::make_shared<const std::vector<std::byte>>(
      repeated(value, most, formats::swaps_bytes(*setup_.format, setup_.options)));
  const auto& file = files_.file(publication_.target_of(agreed_));
  const std::int64_t offset = files_.offset(variable, agreed_);
  for (std::int64_t first = 0; first < holes->elements(); first += most) {
    const std::int64_t count = std::min(most, holes->elements() - first);
    ++filling_->writing;
    filling_->has_written = true;
    writer_.write_part(block, first, count,
                       std::span{*bytes}.first(static_cast<std::size_t>(count) * value.size()),
                       file, offset, [this, here = is_here_, bytes](const Outcome& outcome) {
                         if (*here) {
                           filling_->ended(outcome);
                         }
                       });
  }
}

void KernelCarrier::sync_filled() {
  if (!filling_->has_written) {
    return;
  }
  ++filling_->writing;
  writer_.sync(files_.file(publication_.target_of(agreed_)),
               [this, here = is_here_](const Outcome& outcome) {
                 if (*here) {
                   filling_->ended(outcome);
                 }
               });
}

}  // namespace iocomp::client
