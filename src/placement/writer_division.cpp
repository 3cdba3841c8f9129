// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_division.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/crew.h"
#include "placement/writer_policy.h"

namespace iocomp::placement {
namespace {

// Each look costs some microseconds for each page that is asked for.
constexpr std::size_t most_looks = 32;

// Neighbours on the same domain are one part.
std::vector<SourcePart> parts_of(std::span<const int> domains, std::size_t step,
                                 std::size_t bytes) {
  std::vector<SourcePart> parts;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const std::size_t here = std::min(step, bytes - i * step);
    if (parts.empty() || parts.back().domain != domains[i]) {
      parts.push_back({.domain = domains[i], .bytes = 0});
    }
    parts.back().bytes += here;
  }
  return parts;
}

}  // namespace

std::vector<Crew::Share> WriterDivision::operator()(std::span<const std::byte> memory,
                                                    std::size_t grain,
                                                    std::size_t least_bytes) const {
  const auto rounded_up = [grain](std::size_t bytes) {
    return (bytes + grain - 1) / grain * grain;
  };
  const std::size_t step = rounded_up(std::max(memory.size() / most_looks, least_bytes));
  std::vector<int> threads{setup_.caller()};
  threads.insert(threads.end(), setup_.threads.begin(), setup_.threads.end());

  std::vector<int> domains = setup_.look(memory, step);
  const auto& numbers = setup_.node.numa_numbers;
  for (int& domain : domains) {
    const auto found = std::ranges::find(numbers, domain);
    domain = found == numbers.end() ? threads.front() : static_cast<int>(found - numbers.begin());
  }
  const auto parts = parts_of(domains, step, memory.size());
  const WriterPolicy automatic =
      leaves_idle(parts, threads) ? AutomaticPolicies{}.idle : AutomaticPolicies{}.busy;

  std::vector<Crew::Share> shares;
  std::vector<std::size_t> begins;
  std::size_t begin = 0;
  for (const auto& part : parts) {
    begins.push_back(begin);
    begin += part.bytes;
  }
  for (const Share& share : divide(setup_.node, setup_.policy.value_or(automatic), parts, threads,
                                   rounded_up(least_bytes))) {
    shares.push_back({.begin = begins[share.part] + share.begin,
                      .bytes = share.bytes,
                      .thread = static_cast<int>(share.thread)});
  }
  return shares;
}

std::optional<WriterPolicy> writer_policy_named(const std::string& name) {
  for (const auto policy : {WriterPolicy::local, WriterPolicy::pull}) {
    if (name == name_of(policy)) {
      return policy;
    }
  }
  return std::nullopt;
}

}  // namespace iocomp::placement
