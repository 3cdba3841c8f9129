#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "client/carrier.h"
#include "contents/catalogue.h"
#include "mpi/wait.h"
#include "protocol/put_messages.h"
#include "steps/coverage.h"
#include "steps/ended.h"
#include "steps/put_log.h"

namespace iocomp::client {

/// What the ranks of a synchronous file put in a step, told to one another for steps::Coverage.
class StepCoverage {
 public:
  StepCoverage(MPI_Comm comm, int compute_rank, const mpi::WaitPolicy& policy,
               const contents::Catalogue& catalogue, bool may_overlap)
      : comm_{comm},
        compute_rank_{compute_rank},
        policy_{policy},
        catalogue_{catalogue},
        coverage_{catalogue, may_overlap} {}

  /// This rank puts a block.
  void note(const Block& block);
  [[nodiscard]] bool is_empty() const noexcept { return mine_.empty(); }
  void begin_step();

  /// The variables that were put by any rank. Collective over the ranks.
  [[nodiscard]] std::vector<int> sum();
  /// What is to be filled, on rank 0. Collective. @pre sum()
  /// @throws Error{overlapping_puts}, the same on all ranks.
  [[nodiscard]] steps::Holes examine(std::int64_t step);

 private:
  [[nodiscard]] protocol::PutReport gather(const std::vector<int>& variables);

  MPI_Comm comm_;
  int compute_rank_;
  mpi::WaitPolicy policy_;
  const contents::Catalogue& catalogue_;
  steps::Coverage coverage_;  // holes are known on rank 0 only
  steps::Covers mine_;
  steps::PutLog puts_;
  steps::Covers all_;
};

}  // namespace iocomp::client
