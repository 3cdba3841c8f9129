// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange_parts.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "client/carrier.h"
#include "mpi/error.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::client {

void cut(ExchangedPart all, std::vector<ExchangedPart>& parts) {
  const writing::Piece& piece = *all.piece;
  const std::int64_t end = piece.first + piece.elements_left;
  for (all.first = piece.first; all.first < end; all.first += all.count) {
    all.stripe = (writing::index_of(piece, all.first) - piece.domain_begin) / piece.stripe_elements;
    all.count = std::min(end - all.first, writing::elements_in_stripe(piece, all.first));
    parts.push_back(all);
  }
}

bool is_before(const ExchangedPart& one, const ExchangedPart& other) {
  return std::pair{one.piece->variable.id, one.stripe} <
         std::pair{other.piece->variable.id, other.stripe};
}

void sort(std::vector<ExchangedPart>& parts) { std::ranges::stable_sort(parts, is_before); }

std::span<const std::byte> bytes_of(const ExchangedPart& part, std::vector<std::byte>& packed) {
  const Block& block = *part.block;
  if (block.is_dense()) {
    return {block.first_value() + part.first * part.piece->element_bytes(), part.bytes()};
  }
  packed.resize(part.bytes());
  block.copy_to(packed, part.first, part.count, false);
  return packed;
}

std::vector<int> take_ended(std::vector<MPI_Request>& requests) {
  std::vector<int> ended(requests.size());
  int count = 0;
  if (!requests.empty()) {
    mpi::check(MPI_Testsome(checked_cast<int>(requests.size()), requests.data(), &count,
                            ended.data(), MPI_STATUSES_IGNORE));
  }
  ended.resize(static_cast<std::size_t>(std::max(count, 0)));  // none of them was under way
  return ended;
}

}  // namespace iocomp::client
