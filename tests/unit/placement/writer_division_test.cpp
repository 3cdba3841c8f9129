// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_division.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/crew.h"
#include "placement/writer_policy.h"
#include "topology/discover.h"

namespace iocomp::placement {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t division_grain = 4 * kib;

// 8 domains, which the operating system counts from 10 on, with a thread on each; the caller is on
// the first.
WriterDivision::Setup eight(std::optional<WriterPolicy> policy, std::vector<int> memory) {
  WriterDivision::Setup setup;
  setup.node = topology::describe("pack:2 numa:4 core:2 pu:1");
  setup.node.numa_numbers = {10, 11, 12, 13, 14, 15, 16, 17};
  setup.policy = policy;
  setup.threads = {1, 2, 3, 4, 5, 6, 7};
  setup.caller = [] { return 0; };
  setup.look = [memory](std::span<const std::byte> range, std::size_t step) {
    std::vector<int> domains;
    for (std::size_t at = 0; at < range.size(); at += step) {
      domains.push_back(memory[at * memory.size() / range.size()]);
    }
    return domains;
  };
  return setup;
}

std::vector<Crew::Share> divided(const WriterDivision::Setup& setup, std::size_t bytes) {
  const std::vector<std::byte> memory(bytes);
  auto shares = WriterDivision{setup}(memory, division_grain, 32 * kib);
  std::size_t next = 0;
  for (const auto& share : shares) {
    EXPECT_EQ(share.begin, next);
    EXPECT_EQ(share.begin % division_grain, 0U);
    next += share.bytes;
  }
  EXPECT_EQ(next, bytes);
  return shares;
}

std::set<int> threads_of(const std::vector<Crew::Share>& shares) {
  std::set<int> threads;
  for (const auto& share : shares) {
    threads.insert(share.thread);
  }
  return threads;
}

TEST(WriterDivision, GivesLocalPartsToTheThreadsOfTheirDomain) {
  const auto setup = eight(WriterPolicy::local, {10, 13, 13, 17});
  for (const auto& share : divided(setup, 1024 * kib)) {
    const int expected = share.begin < 256 * kib ? 0 : share.begin < 768 * kib ? 3 : 7;
    EXPECT_EQ(share.thread, expected) << share.begin;
  }
}

TEST(WriterDivision, LetsIdleDomainsPull) {
  const auto shares = divided(eight(WriterPolicy::pull, {10, 13}), 1024 * kib);
  EXPECT_EQ(threads_of(shares), (std::set<int>{1, 2, 4, 5, 6, 7}));
}

TEST(WriterDivision, PullsByItselfWhereDomainsAreIdle) {
  EXPECT_EQ(threads_of(divided(eight({}, {10}), 1024 * kib)), (std::set<int>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(threads_of(divided(eight({}, {10, 11, 12, 13, 14, 15, 16, 17}), 1024 * kib)).size(),
            8U);
}

TEST(WriterDivision, CountsMemoryOfWhichNothingIsKnownAsTheCallers) {
  EXPECT_EQ(threads_of(divided(eight(WriterPolicy::local, {-1}), 1024 * kib)), (std::set<int>{0}));
}

TEST(WriterDivision, TakesPoliciesByTheirNames) {
  EXPECT_EQ(writer_policy_named("auto"), std::nullopt);
  EXPECT_EQ(writer_policy_named("local"), WriterPolicy::local);
  EXPECT_EQ(writer_policy_named("pull"), WriterPolicy::pull);
}

}  // namespace
}  // namespace iocomp::placement
