// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/huge_memory.h"
#include "client/exchange/exchange.h"
#include "client/exchange/exchange_parts.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "writing/stripes.h"

namespace iocomp::client {

/// The work of an aggregator: it takes in the parts of its stripes, one stripe after the other, and
/// writes them.
class ExchangeStripes {
 public:
  /// @param parts  of all ranks for this one, itself included, in the order in which they travel.
  ExchangeStripes(const Exchange::Setup& setup, const Exchange::Target& target,
                  std::vector<ExchangedPart> parts);
  ExchangeStripes(const ExchangeStripes&) = delete;
  ExchangeStripes& operator=(const ExchangeStripes&) = delete;

  /// @return true if anything moved.
  bool advance();
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  /// The first failure of a write. Blocks of others are taken all the same.
  [[nodiscard]] const Outcome& failure() const noexcept { return failure_; }

 private:
  struct Receiving {
    ExchangedPart part;
    std::span<std::byte> bytes;
    std::vector<std::byte> own;  // instead of scratch memory, for blocks that overlap others
  };
  bool begin_stripe();
  void expect(const ExchangedPart& part, std::span<std::byte>& scratch);
  bool end_receives();
  void put_in(const ExchangedPart& part, std::span<const std::byte> bytes);
  void write(const std::vector<writing::Stripe>& stripes);

  MPI_Comm comm_;
  const Exchange::Target& target_;
  std::vector<ExchangedPart> parts_;
  std::size_t next_ = 0;  // part
  std::vector<MPI_Request> requests_;
  std::vector<Receiving> receiving_;  // by each
  std::size_t missing_ = 0;           // parts of the stripe
  bool is_done_ = false;
  HugeMemory scratch_;
  staging::Arena arena_;
  staging::ArenaStripes memory_{arena_};
  writing::Stripes stripes_;
  Outcome failure_;
};

}  // namespace iocomp::client
