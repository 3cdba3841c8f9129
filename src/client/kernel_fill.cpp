// What nobody puts gets the fill value: when it is agreed what all ranks have put in a step, each
// writes its share of the holes, and they agree once more.
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "array/cover.h"
#include "array/run_list.h"
#include "client/agreement.h"
#include "client/block_writer.h"
#include "client/carrier.h"
#include "client/kernel_carrier.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "writing/file_writer.h"

namespace iocomp::client {

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
  const std::int64_t offset = files_.offset(variable, agreed_);
  const auto value = catalogue_.fill(variable, agreed_);
  const auto done = [this, here = is_here_](const Outcome& outcome) {
    if (*here) {
      filling_->ended(outcome);
    }
  };
  ++filling_->writing;
  filling_->has_written = true;
  files_.writer(publication_.target_of(agreed_)).fill(piece_of(block, offset, done), value);
}

void KernelCarrier::sync_filled() {
  if (!filling_->has_written) {
    return;
  }
  ++filling_->writing;
  files_.writer(publication_.target_of(agreed_))
      .sync([this, here = is_here_](const Outcome& outcome) {
        if (*here) {
          filling_->ended(outcome);
        }
      });
}

}  // namespace iocomp::client
