// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange_runs.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/run_list.h"
#include "base/error.h"
#include "base/wire.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"

namespace iocomp::client {

void ExchangedRuns::add_news(int aggregator, const std::vector<std::byte>& message) {
  WireWriter writer;
  writer.put_bytes(message);
  const auto framed = writer.take();
  auto& news = news_[aggregator];
  news.insert(news.end(), framed.begin(), framed.end());
}

void ExchangedRuns::hear(int from, std::span<const std::byte> news) {
  WireReader reader{news};
  while (reader.bytes_left() > 0) {
    const auto message = reader.get_bytes();
    const auto kind = protocol::check_header(message, from).kind;
    const auto body = protocol::body(message);
    if (kind == protocol::Kind::run_list) {
      auto [number, runs] = protocol::decode<protocol::NumberedRuns>(body);
      heard_[{from, number}] = std::make_shared<const array::RunList>(std::move(runs));
    } else {
      heard_.erase({from, protocol::decode<std::uint64_t>(body)});
    }
  }
}

std::shared_ptr<const array::RunList> ExchangedRuns::list(int from, std::uint64_t number) const {
  const auto found = heard_.find({from, number});
  if (found == heard_.end()) {
    throw Error{ErrorCode::internal, "a piece of rank " + std::to_string(from) +
                                         " refers to the list of runs number " +
                                         std::to_string(number) + ", which is not known here"};
  }
  return found->second;
}

}  // namespace iocomp::client
