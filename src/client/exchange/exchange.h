// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/crew.h"
#include "client/carrier.h"
#include "client/exchange/exchange_runs.h"
#include "contents/variable.h"
#include "mpi/wait.h"

namespace iocomp::client {

/// Blocks whose runs are short change hands between ranks that write themselves: each of the
/// *aggregators* gets all that lies in its domain, a stripe of it at a time, and has long runs to
/// write. An aggregator needs memory for two stripes; ranks send from where their blocks lie if
/// these are dense.
class Exchange {
 public:
  struct Setup {
    MPI_Comm comm = MPI_COMM_NULL;     ///< used by nobody else meanwhile
    std::vector<int> aggregators;      ///< ranks in `comm`, ascending; none: all
    std::int64_t stripe_bytes = 0;     ///< of a stripe
    Crew* crew = nullptr;              ///< the threads that copy; null: the caller alone
    std::int64_t alignment_bytes = 1;  ///< of the borders between domains
    bool may_overlap = false;          ///< the blocks
    mpi::WaitPolicy policy;
  };
  /// What the aggregators do. Both are local.
  struct Target {
    /// Where a variable begins in the file: memory is aligned alike.
    std::function<std::int64_t(const contents::Variable&)> offset;
    /// Write elements of a variable from `index` of its row-major order on. They may be changed.
    std::function<void(const contents::Variable&, std::int64_t index, std::span<std::byte>)> write;
    /// Whether the bytes of every number are reversed before.
    bool swaps_bytes = false;
  };
  using FindVariable = std::function<contents::Variable(int id)>;

  explicit Exchange(Setup setup);

  /// Whether a block is better exchanged than written run by run.
  [[nodiscard]] bool takes(const Block& block) const noexcept;

  /// Have these blocks of one step written, each rank its own. Collective over the ranks.
  /// @return the first failure of a write on this rank; the others go on. @throws Error{timed_out}.
  [[nodiscard]] Outcome carry_out(const std::vector<const Block*>& blocks,
                                  const FindVariable& variable, const Target& target);

 private:
  Setup setup_;
  int rank_ = 0;
  ExchangedRuns runs_;
};

}  // namespace iocomp::client
