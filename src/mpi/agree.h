// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::mpi {

/// All below sleep while they wait (nonblocking collectives and naps). A wait that times out leaves
/// a collective behind that the others may still enter: the communicator is of no use from then on.

/// Meet all ranks. Collective over `comm`.
void gate(MPI_Comm comm, const WaitPolicy& policy, const char* what);

/// The outcome of the lowest rank that failed, on all ranks; `ok` when none did. Collective over
/// `comm`.
[[nodiscard]] Outcome agree(MPI_Comm comm, const Outcome& mine, const WaitPolicy& policy,
                            const char* what);

/// Element-wise maximum over all ranks, in place. Collective over `comm`.
void maximum(MPI_Comm comm, std::span<std::int64_t> values, const WaitPolicy& policy,
             const char* what);
/// Element-wise sum over all ranks, in place. Collective over `comm`.
void sum(MPI_Comm comm, std::span<std::int64_t> values, const WaitPolicy& policy, const char* what);

void maximum(MPI_Comm comm, std::span<double> values, const WaitPolicy& policy, const char* what);
void sum(MPI_Comm comm, std::span<double> values, const WaitPolicy& policy, const char* what);

/// Rank `root`'s bytes on all ranks. Collective over `comm`.
void broadcast(MPI_Comm comm, int root, std::vector<std::byte>& bytes, const WaitPolicy& policy,
               const char* what);
void broadcast(MPI_Comm comm, int root, std::string& text, const WaitPolicy& policy,
               const char* what);

/// One value of every rank, on all ranks. Collective over `comm`.
[[nodiscard]] std::vector<std::int64_t> gather_to_all(MPI_Comm comm, std::int64_t mine,
                                                      const WaitPolicy& policy, const char* what);

/// `mine[r]` is for rank r: what all ranks have for this one. Collective over `comm`.
[[nodiscard]] std::vector<std::int64_t> to_each(MPI_Comm comm, std::vector<std::int64_t> mine,
                                                const WaitPolicy& policy, const char* what);

/// The sum (or the maximum) of the values of all ranks before this one; `first` on rank 0.
/// Collective over `comm`.
[[nodiscard]] std::int64_t sum_before(MPI_Comm comm, std::int64_t mine, const WaitPolicy& policy,
                                      const char* what);
/// Computes for each value: in `before` the sum over the ranks before this one, in `all` over all
/// ranks. Both come with the values of this rank. Collective over `comm`.
void sums(MPI_Comm comm, std::span<std::int64_t> before, std::span<std::int64_t> all,
          const WaitPolicy& policy, const char* what);
[[nodiscard]] std::int64_t maximum_before(MPI_Comm comm, std::int64_t mine, std::int64_t first,
                                          const WaitPolicy& policy, const char* what);

/// The texts of all ranks, on rank `root`; elsewhere nothing. Collective over `comm`.
[[nodiscard]] std::vector<std::string> gather(MPI_Comm comm, int root, const std::string& mine,
                                              const WaitPolicy& policy, const char* what);

/// The values of all ranks, rank after rank, on rank `root`; elsewhere nothing. Collective over
/// `comm`.
template <typename Value>
[[nodiscard]] std::vector<Value> gather(MPI_Comm comm, int root, const std::vector<Value>& mine,
                                        const WaitPolicy& policy, const char* what) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const auto bytes = std::as_bytes(std::span{mine});
  const std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  std::vector<Value> all;
  for (const auto& of_rank : gather(comm, root, text, policy, what)) {
    const auto before = all.size();
    all.resize(before + of_rank.size() / sizeof(Value));
    std::ranges::copy(std::as_bytes(std::span{of_rank}),
                      std::as_writable_bytes(std::span{all}.subspan(before)).begin());
  }
  return all;
}

/// Duplicate `comm` with MPI_ERRORS_RETURN set. Collective over `comm`.
[[nodiscard]] Communicator duplicate(MPI_Comm comm, const WaitPolicy& policy, const char* what);

/// The ranks of `comm` that share memory with this one, in the same order. Collective over `comm`.
[[nodiscard]] Communicator node_of(MPI_Comm comm, const WaitPolicy& policy, const char* what);

}  // namespace iocomp::mpi
