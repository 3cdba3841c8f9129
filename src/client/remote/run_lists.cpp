// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/run_lists.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "array/run_list.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"

namespace iocomp::client {

std::uint64_t RunLists::known_to(int server, const std::shared_ptr<const array::RunList>& runs,
                                 std::int64_t first, std::int64_t count) {
  Known& known = known_[runs.get()];
  known.runs = runs;
  const Part part{server, first, count};
  if (const auto found = known.parts.find(part); found != known.parts.end()) {
    return found->second;
  }
  const std::uint64_t number = next_++;
  post_(server, protocol::encode(0, protocol::Kind::run_list,
                                 protocol::NumberedRuns{number, runs->part(first, count)}));
  known.parts.emplace(part, number);
  return number;
}

void RunLists::forget(const array::RunList& runs) {
  const auto found = known_.find(&runs);
  if (found == known_.end()) {
    return;
  }
  const Known known = std::move(found->second);
  known_.erase(found);
  for (const auto& [part, number] : known.parts) {
    post_(std::get<0>(part), protocol::encode(0, protocol::Kind::forget_run_list, number));
  }
}

void RunLists::forget_unused() {
  std::vector<const array::RunList*> unused;
  for (const auto& [runs, known] : known_) {
    if (known.runs.use_count() == 1) {
      unused.push_back(runs);
    }
  }
  for (const auto* runs : unused) {
    forget(*runs);
  }
}

}  // namespace iocomp::client
