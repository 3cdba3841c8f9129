// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <vector>

#include "mpi/wait.h"

namespace iocomp::client {

/// Messages of any length between ranks. Each rank knows only what it sends.
class ExchangeMessages {
 public:
  /// @param what  the ranks wait for, for messages.
  ExchangeMessages(MPI_Comm comm, const mpi::WaitPolicy& policy, const char* what)
      : comm_{comm}, policy_{policy}, what_{what} {}
  ExchangeMessages(const ExchangeMessages&) = delete;
  ExchangeMessages& operator=(const ExchangeMessages&) = delete;

  /// Send each rank its message. Collective over the ranks. To be called once.
  /// @return the messages that came, by rank. @throws Error{timed_out}: then MPI may still use this
  /// object.
  [[nodiscard]] std::map<int, std::vector<std::byte>> pass(
      std::map<int, std::vector<std::byte>> messages);

 private:
  MPI_Comm comm_;
  const mpi::WaitPolicy& policy_;
  const char* what_;
  std::map<int, std::vector<std::byte>> sent_;
  std::map<int, std::vector<std::byte>> received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace iocomp::client
