// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/kept_blocks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "array/region.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"

namespace iocomp::client {

void KeptBlocks::keep(Kept kept) {
  link_.tickets().find(kept.block.ticket)->kept = true;
  if (kept.block.buffered) {
    lie_in(link_.copy_buffer(kept.block.bytes(), kept.block.page_remainder(0)), kept.block);
  }
  kept_[kept.block.step].push_back(std::move(kept));
}

void KeptBlocks::lie_in(Copy copy, Block& block) {
  block.copy_to({copy.get(), block.bytes()}, 0, array::elements(block.region), false);
  block.lies_in(std::move(copy));
  block.buffered = true;
  link_.tickets().find(block.ticket)->kept = false;
}

// Blocks may be taken from here during the wait for memory.
void KeptBlocks::copy(std::uint64_t ticket) {
  const Block& meant = *find(ticket);
  Copy copy = link_.copy_buffer(meant.bytes(), meant.page_remainder(0));
  if (const Block* block = find(ticket)) {
    auto& blocks = kept_.at(block->step);
    const auto kept =
        std::ranges::find(blocks, ticket, [](const Kept& one) { return one.block.ticket; });
    lie_in(std::move(copy), kept->block);
  }
}

const Block* KeptBlocks::find(std::uint64_t ticket) const {
  for (const auto& [step, blocks] : kept_) {
    const auto kept =
        std::ranges::find(blocks, ticket, [](const Kept& one) { return one.block.ticket; });
    if (kept != blocks.end()) {
      return &kept->block;
    }
  }
  return nullptr;
}

bool KeptBlocks::has_any(std::int64_t step,
                         const std::function<bool(const Block&)>& is_meant) const {
  const auto blocks = kept_.find(step);
  return blocks != kept_.end() && std::ranges::any_of(blocks->second, [&](const Kept& kept) {
           return is_meant(kept.block);
         });
}

std::int64_t KeptBlocks::elements(std::int64_t step) const {
  std::int64_t sum = 0;
  if (const auto blocks = kept_.find(step); blocks != kept_.end()) {
    for (const auto& kept : blocks->second) {
      sum += array::elements(kept.block.region);
    }
  }
  return sum;
}

std::vector<KeptBlocks::Kept> KeptBlocks::take(const std::function<bool(const Block&)>& is_meant) {
  std::vector<Kept> taken;
  for (auto& [step, blocks] : kept_) {
    const auto rest = std::ranges::stable_partition(
        blocks, [&](const Kept& kept) { return !is_meant(kept.block); });
    std::ranges::move(rest, std::back_inserter(taken));
    blocks.erase(rest.begin(), rest.end());
  }
  std::erase_if(kept_, [](const auto& blocks) { return blocks.second.empty(); });
  for (const auto& kept : taken) {
    if (Ticket* ticket = link_.tickets().find(kept.block.ticket)) {
      ticket->kept = false;
      link_.ledger().tell_hand_over(kept.block.ticket);
    }
  }
  return taken;
}

}  // namespace iocomp::client
