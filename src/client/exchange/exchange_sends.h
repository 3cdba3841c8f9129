// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "client/exchange/exchange_parts.h"

namespace iocomp::client {

/// Sends the parts of this rank's blocks to aggregators, a few at once, from where the blocks lie
/// if these are dense.
class ExchangeSends {
 public:
  explicit ExchangeSends(MPI_Comm comm) : comm_{comm} {}
  ExchangeSends(const ExchangeSends&) = delete;
  ExchangeSends& operator=(const ExchangeSends&) = delete;

  /// @param parts  in the order in which they travel.
  void add(int to, std::vector<ExchangedPart> parts) { outbound_[to].parts = std::move(parts); }
  /// @return true if anything moved.
  bool advance();
  [[nodiscard]] bool is_done() const;

 private:
  struct Outbound {  // to one aggregator
    std::vector<ExchangedPart> parts;
    std::size_t next = 0;
    int open = 0;  // sends under way
  };
  struct Sending {
    int to = -1;
    std::vector<std::byte> packed;  // for a block that is not dense
  };
  void send(int to, Outbound& outbound);
  bool end_sends();

  MPI_Comm comm_;
  std::map<int, Outbound> outbound_;  // by rank
  std::vector<MPI_Request> requests_;
  std::vector<Sending> sending_;  // by each
};

}  // namespace iocomp::client
