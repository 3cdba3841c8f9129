// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/run_list.h"
#include "client/remote/run_lists.h"

namespace iocomp::client {

/// The lists of runs that exchanging ranks know of one another. Each list travels once, with the
/// first exchange that needs it.
class ExchangedRuns {
 public:
  ExchangedRuns() = default;
  ExchangedRuns(const ExchangedRuns&) = delete;
  ExchangedRuns& operator=(const ExchangedRuns&) = delete;

  /// The number by which an aggregator will know elements `first` to `first + count` of a list,
  /// after it has heard the news.
  [[nodiscard]] std::uint64_t known_to(int aggregator,
                                       const std::shared_ptr<const array::RunList>& runs,
                                       std::int64_t first, std::int64_t count) {
    return told_.known_to(aggregator, runs, first, count);
  }
  /// Forget lists that nobody else holds.
  void forget_unused() { told_.forget_unused(); }

  /// The lists that an aggregator must hear of, once.
  [[nodiscard]] std::vector<std::byte> take_news(int aggregator) {
    return std::exchange(news_[aggregator], {});
  }
  /// Called on the aggregator. @throws Error{internal} if these are no news.
  void hear(int from, std::span<const std::byte> news);
  /// The list that a rank means by its number. @throws Error{internal}.
  [[nodiscard]] std::shared_ptr<const array::RunList> list(int from, std::uint64_t number) const;

 private:
  std::map<int, std::vector<std::byte>> news_;  // by rank
  RunLists told_{[this](int aggregator, const std::vector<std::byte>& message) {
    add_news(aggregator, message);
  }};
  std::map<std::pair<int, std::uint64_t>, std::shared_ptr<const array::RunList>> heard_;

  void add_news(int aggregator, const std::vector<std::byte>& message);
};

}  // namespace iocomp::client
