// What nobody puts gets the fill value: when it is agreed what all ranks have put in a step, each
// writes its share of the holes, and they agree once more.
#include <cstdint>
#include <memory>
#include <utility>

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
    filling_.emplace();
    holes_.look(agreed_, put_in_step(*agreement_));
  }
  Filling& filling = *filling_;
  if (filling.stage == Filling::Stage::look && holes_.advance()) {
    filling.outcome = holes_.outcome();
    if (!filling.outcome.ok() || !holes_.has_holes()) {
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

void KernelCarrier::begin_filling() {
  filling_->stage = Filling::Stage::write;
  for (const auto& [variable, holes] : holes_.share()) {
    filling_->note(
        outcome_of([&] { fill(variable, std::make_shared<const array::RunList>(holes)); }));
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
