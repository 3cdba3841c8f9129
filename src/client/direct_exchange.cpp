#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/direct_carrier.h"
#include "client/direct_output.h"
#include "client/exchange.h"
#include "client/link.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "trace/counters.h"

namespace iocomp::client {
namespace {

// Whoever writes for others tells of what.
Outcome in_variable(const contents::Variable& variable, const Outcome& outcome) {
  return outcome.ok()
             ? outcome
             : Outcome{outcome.code, "variable \"" + variable.name + "\": " + outcome.story};
}

}  // namespace

bool DirectOutput::exchanges(const Block& block) const noexcept {
  return exchange_ && exchange_->takes(block);
}

Outcome DirectOutput::exchange(std::int64_t step, const std::vector<const Block*>& blocks) {
  const Exchange::Target target{
      .offset =
          [&](const contents::Variable& variable) { return files_.offset(variable.id, step); },
      .write =
          [&](const contents::Variable& variable, std::int64_t index,
              std::span<const std::byte> bytes) {
            const Outcome outcome = in_variable(
                variable, outcome_of([&] { write_elements(step, variable, index, bytes); }));
            if (!outcome.ok()) {
              throw Error{outcome.code, outcome.story};
            }
          },
      .swaps_bytes = formats::swaps_bytes(*setup_.format, setup_.options)};
  return exchange_->carry_out(
      blocks, [&](int id) { return catalogue_.variable(id, step); }, target);
}

// @return the blocks that were exchanged: written when all ranks have agreed that nobody failed.
std::vector<const Block*> DirectCarrier::write_kept(std::int64_t step, const Put& put) {
  std::vector<const Block*> exchanged;
  for (auto& kept : kept_) {
    if (output_.exchanges(kept.block)) {
      exchanged.push_back(&kept.block);
    } else {
      write(kept.block);
    }
  }
  if (put.exchanges) {
    const Outcome outcome = output_.exchange(step, exchanged);
    if (put_failure_.ok() && !outcome.ok()) {
      put_failure_ = in_file(outcome, step);
    }
  }
  return exchanged;
}

void DirectCarrier::keep(const Block& block) {
  kept_.push_back({block, nullptr});
  link_.tickets().find(block.ticket)->kept = true;
  if (block.buffered) {
    keep_copy(kept_.back());
  }
}

// Nobody else need take part: run by run.
void DirectCarrier::write_now(std::uint64_t ticket) {
  std::erase_if(kept_, [&](const Kept& kept) {
    if (kept.block.ticket != ticket) {
      return false;
    }
    link_.tickets().find(ticket)->kept = false;
    write(kept.block);
    return true;
  });
}

}  // namespace iocomp::client
