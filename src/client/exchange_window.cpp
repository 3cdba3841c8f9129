#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "array/memory_box.h"
#include "array/region.h"
#include "array/runs.h"
#include "array/scatter.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/exchange_parts.h"
#include "client/exchange_round.h"

namespace iocomp::client {
namespace {

std::vector<array::Run> runs_of(const array::Shape& shape,
                                const std::vector<std::pair<array::Region, ExchangedPart>>& parts) {
  std::vector<array::Run> runs;
  for (const auto& [region, part] : parts) {
    array::RunCursor cursor{shape, region, part.first, part.count};
    array::Run run;
    while (cursor.next(run)) {
      runs.push_back(run);
    }
  }
  return array::joined(std::move(runs));
}

}  // namespace

void ExchangeRound::put_in(const array::Region& region, const ExchangedPart& part,
                           const std::byte* bytes) {
  Window& window = *window_;
  const std::size_t element = array::size_bytes(window.variable.type);
  array::scatter({window.variable.shape, region, part.first, part.count, element, bytes},
                 target_.swaps_bytes, window.bytes, window.begin);
  window.parts.emplace_back(region, part);
  window.filled += part.count;
}

void ExchangeRound::put_in_own(const ExchangedPart& part) {
  const Outbound& own = outbound_[rank_];
  const Block& block = *own.blocks[part.piece];
  const std::size_t element = block.element_bytes();
  if (block.is_dense()) {
    put_in(block.region, part,
           block.first_value() + static_cast<std::size_t>(part.first) * element);
    return;
  }
  std::vector<std::byte> packed(static_cast<std::size_t>(part.count) * element);
  block.pack(part.first, part.count, packed.data());
  put_in(block.region, part, packed.data());
}

void ExchangeRound::write_window() {
  const Window window = *std::exchange(window_, std::nullopt);
  if (!failure_.ok()) {
    return;  // the others' blocks are taken all the same
  }
  const auto element = static_cast<std::int64_t>(array::size_bytes(window.variable.type));
  const bool is_full = !setup_.may_overlap && window.filled == window.end - window.begin;
  std::vector<array::Run> runs{{.index = window.begin, .elements = window.filled}};
  if (!is_full) {
    runs = runs_of(window.variable.shape, window.parts);
  }
  failure_ = outcome_of([&] {
    for (const auto& run : runs) {
      const std::span<const std::byte> bytes{window.bytes + (run.index - window.begin) * element,
                                             static_cast<std::size_t>(run.elements * element)};
      target_.write(window.variable, run.index, bytes);
    }
  });
}

}  // namespace iocomp::client
