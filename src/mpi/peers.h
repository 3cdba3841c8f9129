// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "mpi/handle.h"

namespace iocomp::mpi {

/// The ranks, in one communicator, of some members by their index. MPI is asked for each when it is
/// first needed: there is no table of all. Copies share what is known. For one thread.
class Peers {
 public:
  Peers() = default;
  /// @param members  a group of ranks of `comm`.
  Peers(MPI_Comm comm, Group members);

  [[nodiscard]] int size() const noexcept { return known_ ? known_->size : 0; }
  /// @pre 0 <= index < size()
  [[nodiscard]] int rank(int index) const;
  /// The members. Valid as long as this lives. @pre size() > 0
  [[nodiscard]] MPI_Group members() const noexcept { return known_->members.raw(); }

 private:
  struct Known {
    Group all;
    Group members;
    int size = 0;
    std::unordered_map<int, int> ranks;
  };
  std::shared_ptr<Known> known_;
};

/// The ranks of `comm` that are not in `own` (which every rank of `comm` has: the halves of a
/// split). Collective over `comm`, blocking.
/// @param other_leader  in `comm`: rank 0 of the other half.
[[nodiscard]] Group other_half(MPI_Comm comm, MPI_Comm own, int other_leader, int tag);
[[nodiscard]] Group group_of(MPI_Comm comm);
/// The rank in `all` of each member of a group; MPI_UNDEFINED for those that have none.
[[nodiscard]] std::vector<int> ranks_of(MPI_Group group, MPI_Comm all);

}  // namespace iocomp::mpi
