#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "array/cover.h"
#include "array/run_list.h"
#include "base/error.h"
#include "client/carrier.h"
#include "contents/catalogue.h"
#include "mpi/wait.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"

namespace iocomp::client {

/// What the ranks of a synchronous file put in a step: whether it covers variables exactly once,
/// and what is to be done about those where it does not.
class StepCoverage {
 public:
  using Holes = std::map<int, std::shared_ptr<const array::RunList>>;  // by variable

  StepCoverage(MPI_Comm comm, int compute_rank, const mpi::WaitPolicy& policy,
               const contents::Catalogue& catalogue)
      : comm_{comm}, compute_rank_{compute_rank}, policy_{policy}, catalogue_{catalogue} {}

  /// This rank puts a block.
  void note(const Block& block);
  [[nodiscard]] bool is_empty() const noexcept { return mine_.empty(); }
  void begin_step();

  /// The variables that were put by any rank. Collective over the ranks.
  [[nodiscard]] std::vector<int> sum();
  /// What is to be filled, on rank 0. Collective. @pre sum()
  /// @throws Error{overlapping_puts}, the same on all ranks.
  [[nodiscard]] Holes examine(std::int64_t step);

 private:
  struct Gaps {  // what is known of a coverage: no overlap
    array::Cover cover;
    array::Shape shape;
    std::shared_ptr<const array::RunList> holes;  // rank 0
  };
  [[nodiscard]] protocol::PutReport gather(const std::vector<int>& variables);
  [[nodiscard]] Outcome look_at(std::int64_t step, int variable, const protocol::PutReport& report);

  MPI_Comm comm_;
  int compute_rank_;
  mpi::WaitPolicy policy_;
  const contents::Catalogue& catalogue_;
  std::map<int, array::Cover> mine_;
  protocol::PutLog puts_;
  std::map<int, array::Cover> all_;
  std::map<int, Gaps> gaps_;  // by variable, as it was covered last
};

}  // namespace iocomp::client
