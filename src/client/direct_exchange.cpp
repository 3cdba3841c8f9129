#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
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
#include "mpi/agree.h"
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

// Ranks may have put different numbers of blocks: some take part with none.
Outcome DirectOutput::write_together(std::int64_t step, const std::vector<int>& variables,
                                     const std::vector<const Block*>& blocks) {
  std::map<int, std::vector<const Block*>> of_variable;
  for (const Block* block : blocks) {
    of_variable[block->variable.id].push_back(block);
  }
  std::vector<std::int64_t> calls;
  for (const int id : variables) {
    calls.push_back(std::ssize(of_variable[id]));
  }
  mpi::maximum(setup_.comm, calls, link_.policy(), "the blocks of a step");
  auto* const target = files_.at(publication_.target_of(step)).format();
  Outcome first;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto variable = catalogue_.variable(variables[i], step);
    const auto& own = of_variable[variable.id];
    for (std::int64_t call = 0; call < calls[i]; ++call) {
      const trace::Timer timer{link_.counters(), trace::Counter::write_seconds};
      const Outcome outcome = outcome_of([&] {
        array::Box none;
        none.dimensions = variable.shape.dimensions;
        const Block* block = call < std::ssize(own) ? own[static_cast<std::size_t>(call)] : nullptr;
        std::vector<std::byte> packed;
        std::span<const std::byte> bytes;
        if (block != nullptr && block->is_dense()) {
          bytes = {block->first_value(), block->bytes()};
        } else if (block != nullptr) {
          packed.resize(block->bytes());
          block->pack(0, array::elements(block->region), packed.data());
          bytes = packed;
        }
        target->write_together({step, variable, files_.offset(variable.id, step)},
                               block != nullptr ? block->region.box : none, bytes);
      });
      first = first.ok() ? in_variable(variable, outcome) : first;
    }
  }
  // Who writes for others may read and write back the gaps, which are filled next.
  mpi::gate(setup_.comm, link_.policy(), "the blocks of a step");
  return first;
}

// @return the blocks that were exchanged: written when all ranks have agreed that nobody failed.
std::vector<const Block*> DirectCarrier::write_kept(std::int64_t step, const Put& put) {
  std::vector<const Block*> exchanged;
  for (auto& kept : kept_) {
    if (output_.is_collective() ? !kept.block.region.runs : output_.exchanges(kept.block)) {
      exchanged.push_back(&kept.block);
    } else {
      write(kept.block);
    }
  }
  if (output_.is_collective() || put.exchanges) {
    const Outcome outcome = output_.is_collective()
                                ? output_.write_together(step, put.variables, exchanged)
                                : output_.exchange(step, exchanged);
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
