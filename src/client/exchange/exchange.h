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

/// Ranks that write themselves exchange blocks whose runs are short. Each *aggregator* gets all
/// that lies in its domain, one stripe at a time, and so has long runs to write. It needs memory
/// for two stripes. Ranks send from where their blocks lie if these are dense.
class Exchange {
 public:
  struct Setup {
    MPI_Comm comm = MPI_COMM_NULL;     ///< nobody else uses it meanwhile
    std::vector<int> aggregators;      ///< ranks in `comm`, ascending; none: all
    std::int64_t stripe_bytes = 0;     ///< of a stripe
    Crew* crew = nullptr;              ///< the threads that copy; null: only the caller does
    std::int64_t alignment_bytes = 1;  ///< of the borders between domains
    bool may_overlap = false;          ///< the blocks may
    mpi::WaitPolicy policy;
  };
  /// Calls for the aggregators. Both are local.
  struct Target {
    /// The offset of a variable in the file. Memory is aligned alike.
    std::function<std::int64_t(const contents::Variable&)> offset;
    /// Write elements of a variable, from `index` of its row-major order on. The bytes may be
    /// changed.
    std::function<void(const contents::Variable&, std::int64_t index, std::span<std::byte>)> write;
    /// True if the bytes of every number are reversed first.
    bool swaps_bytes = false;
  };
  using FindVariable = std::function<contents::Variable(int id)>;

  explicit Exchange(Setup setup);

  /// True if a block is better exchanged than written run by run.
  [[nodiscard]] bool takes(const Block& block) const noexcept;

  /// Write these blocks of one step; each rank gives its own. Collective over the ranks.
  /// @return the first failure of a write on this rank; others go on. @throws Error{timed_out}.
  [[nodiscard]] Outcome carry_out(const std::vector<const Block*>& blocks,
                                  const FindVariable& variable, const Target& target);

 private:
  Setup setup_;
  int rank_ = 0;
  ExchangedRuns runs_;
};

}  // namespace iocomp::client
