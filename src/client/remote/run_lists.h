// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "array/run_list.h"

namespace iocomp::client {

/// The lists of runs that servers know from this rank. Each travels once: the part of a
/// decomposition in a server's domain goes with the first put that needs it. Later puts give its
/// number.
class RunLists {
 public:
  using Post = std::function<void(int server, std::vector<std::byte> message)>;
  explicit RunLists(Post post) : post_{std::move(post)} {}

  /// The number by which a server knows elements `first` to `first + count` of the packed order.
  [[nodiscard]] std::uint64_t known_to(int server,
                                       const std::shared_ptr<const array::RunList>& runs,
                                       std::int64_t first, std::int64_t count);
  /// Nothing more is put with this list, so forget it.
  void forget(const array::RunList& runs);
  /// Forget also the lists that nobody else holds.
  void forget_unused();

 private:
  using Part = std::tuple<int, std::int64_t, std::int64_t>;  // server, first, count
  struct Known {
    std::shared_ptr<const array::RunList> runs;  // held, so that its address stays its own
    std::map<Part, std::uint64_t> parts;
  };
  Post post_;
  std::uint64_t next_ = 1;
  std::map<const array::RunList*, Known> known_;
};

}  // namespace iocomp::client
