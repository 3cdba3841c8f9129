// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "array/pieces.h"
#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/exchange/exchange.h"
#include "client/exchange/exchange_messages.h"
#include "client/exchange/exchange_parts.h"
#include "client/exchange/exchange_runs.h"
#include "client/exchange/exchange_sends.h"
#include "client/exchange/exchange_stripes.h"
#include "contents/variable.h"
#include "writing/piece.h"

namespace iocomp::client {

/// One exchange, of one step. Each member but `failure` is collective over the ranks. They must be
/// called in this order.
class ExchangeRound {
 public:
  ExchangeRound(const Exchange::Setup& setup, int rank, ExchangedRuns& runs,
                const Exchange::FindVariable& variable, const Exchange::Target& target);

  /// Tell the aggregators what they will get of these blocks.
  void tell(const std::vector<const Block*>& blocks);
  /// Send, receive and write.
  void move();
  [[nodiscard]] const Outcome& failure() const noexcept { return stripes_->failure(); }

 private:
  struct Outbound {  // to one aggregator
    std::vector<ExchangedPiece> pieces;
    std::vector<ExchangedPart> parts;
  };
  [[nodiscard]] const contents::Variable& variable(std::int64_t id);
  [[nodiscard]] array::Domains domains(const contents::Variable& of) const;
  [[nodiscard]] std::shared_ptr<writing::Piece> piece(const contents::Variable& of,
                                                      const array::Region& region,
                                                      const array::Piece& cut) const;
  [[nodiscard]] std::map<int, Outbound> cut(const std::vector<const Block*>& blocks);
  void hear(int from, std::span<const std::byte> message, std::vector<ExchangedPart>& parts);

  const Exchange::Setup& setup_;
  int rank_;
  int me_ = -1;  // number of this aggregator
  ExchangedRuns& runs_;
  const Exchange::FindVariable& find_variable_;
  const Exchange::Target& target_;
  std::map<std::int64_t, contents::Variable> variables_;
  ExchangeMessages messages_;
  ExchangeSends sends_;
  std::unique_ptr<ExchangeStripes> stripes_;
};

}  // namespace iocomp::client
