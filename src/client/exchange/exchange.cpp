// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/runs.h"
#include "client/carrier.h"
#include "client/exchange/exchange_round.h"
#include "contents/variable.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::client {
namespace {

// Runs of this part of a stripe are fast enough when they are written one by one.
constexpr std::int64_t runs_per_stripe = 4;

}  // namespace

Exchange::Exchange(Setup setup) : setup_{std::move(setup)} {
  mpi::check(MPI_Comm_rank(setup_.comm, &rank_));
  if (setup_.aggregators.empty()) {
    int ranks = 1;
    mpi::check(MPI_Comm_size(setup_.comm, &ranks));
    setup_.aggregators.resize(static_cast<std::size_t>(ranks));
    std::iota(setup_.aggregators.begin(), setup_.aggregators.end(), 0);
  }
}

bool Exchange::takes(const Block& block) const noexcept {
  const std::int64_t row = array::row_elements(block.variable.shape, block.region);
  const auto row_bytes = row * static_cast<std::int64_t>(block.element_bytes());
  return row < array::elements(block.region) && row_bytes * runs_per_stripe <= setup_.stripe_bytes;
}

Outcome Exchange::carry_out(const std::vector<const Block*>& blocks, const FindVariable& variable,
                            const Target& target) {
  // After a deadline MPI may still use memory of the round, so the round is left to MPI.
  auto round = std::make_unique<ExchangeRound>(setup_, rank_, runs_, variable, target);
  try {
    round->tell(blocks);
    round->move();
  } catch (...) {
    (void)round.release();
    throw;
  }
  return round->failure();
}

}  // namespace iocomp::client
