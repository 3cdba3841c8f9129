// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>
#include <vector>

#include "mpi/wait_policy.h"

namespace iocomp::mpi {

/// Leave requests that nobody waits for any more to MPI, with the memory that they use. MPI may go
/// on with them whenever it is called, so their communicator is not freed while one of them is open
/// (see CommunicatorKind::free).
void leave_to_mpi(MPI_Comm comm, const std::vector<MPI_Request>& requests,
                  std::shared_ptr<const void> memory) noexcept;

/// True if a request that was left to MPI is still open on this communicator.
[[nodiscard]] bool has_open_requests(MPI_Comm comm) noexcept;

/// Completes requests with MPI_Test and naps, never in a blocking call.
/// @throws Error{timed_out} naming `what`.
void wait_for_all(std::vector<MPI_Request>& requests, const WaitPolicy& policy, const char* what);

/// Requests of one communicator, and the memory that they use. Both are left to MPI where this ends
/// before them, as a wait has given up.
template <typename Memory>
class UnderWay {
 public:
  explicit UnderWay(MPI_Comm comm, Memory memory = {})
      : comm_{comm}, memory_{std::make_shared<Memory>(std::move(memory))} {}
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { leave_to_mpi(comm_, requests_, std::move(memory_)); }

  [[nodiscard]] Memory& memory() noexcept { return *memory_; }
  [[nodiscard]] std::vector<MPI_Request>& requests() noexcept { return requests_; }
  /// The place of one more request.
  [[nodiscard]] MPI_Request* next() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  /// See wait_for_all.
  void wait(const WaitPolicy& policy, const char* what) { wait_for_all(requests_, policy, what); }

 private:
  MPI_Comm comm_;
  std::shared_ptr<Memory> memory_;
  std::vector<MPI_Request> requests_;
};

}  // namespace iocomp::mpi
