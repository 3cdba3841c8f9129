// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_policy.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "topology/discover.h"

namespace iocomp::placement {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// 2 packages of 4 domains.
const topology::Node& eight_domains() {
  static const topology::Node node = topology::describe("archer2");
  return node;
}

std::vector<int> threads_on_all(int each) {
  std::vector<int> threads;
  for (int domain = 0; domain < eight_domains().numa_domains; ++domain) {
    threads.insert(threads.end(), static_cast<std::size_t>(each), domain);
  }
  return threads;
}

std::vector<SourcePart> on_each_domain(std::size_t bytes) {
  std::vector<SourcePart> parts;
  for (int domain = 0; domain < eight_domains().numa_domains; ++domain) {
    parts.push_back({domain, bytes});
  }
  return parts;
}

const std::vector<WriterPolicy>& all_policies() {
  static const std::vector<WriterPolicy> policies{
      WriterPolicy::local, WriterPolicy::pull,       WriterPolicy::push,
      WriterPolicy::relay, WriterPolicy::round_trip, WriterPolicy::round_robin};
  return policies;
}

WriterPolicy route_of(int memory, int thread, int target) noexcept {
  if (memory == thread) {
    return target == thread ? WriterPolicy::local : WriterPolicy::push;
  }
  if (target == thread) {
    return WriterPolicy::pull;
  }
  return target == memory ? WriterPolicy::round_trip : WriterPolicy::relay;
}

/// The routes that the shares take.
std::set<WriterPolicy> routes(const std::vector<Share>& shares,
                              const std::vector<SourcePart>& parts,
                              const std::vector<int>& threads) {
  std::set<WriterPolicy> found;
  for (const auto& share : shares) {
    found.insert(route_of(parts[share.part].domain, threads[share.thread], share.target));
  }
  return found;
}

std::map<std::size_t, std::size_t> bytes_by_thread(const std::vector<Share>& shares) {
  std::map<std::size_t, std::size_t> bytes;
  for (const auto& share : shares) {
    bytes[share.thread] += share.bytes;
  }
  return bytes;
}

std::set<int> domains_at_work(const std::vector<Share>& shares, const std::vector<int>& threads) {
  std::set<int> domains;
  for (const auto& share : shares) {
    domains.insert(threads[share.thread]);
  }
  return domains;
}

TEST(WriterPolicy, GivesEveryByteToOneShare) {
  const std::vector<SourcePart> parts{{3, 10 * mib + 1}, {3, 1}, {0, 7 * mib}, {6, 0}, {1, 4095}};
  const std::vector<int> threads{0, 0, 2, 5, 3};
  for (const auto policy : all_policies()) {
    std::vector<std::size_t> end(parts.size(), 0);
    for (const auto& share : divide(eight_domains(), policy, parts, threads, 4096)) {
      EXPECT_EQ(share.begin, end.at(share.part)) << name_of(policy);
      EXPECT_EQ(share.begin % 4096, 0U) << name_of(policy);
      EXPECT_GT(share.bytes, 0U) << name_of(policy);
      end[share.part] += share.bytes;
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
      EXPECT_EQ(end[part], parts[part].bytes) << name_of(policy) << " part " << part;
    }
  }
}

TEST(WriterPolicy, TakesItsOwnRouteFromBuffersOnEachDomain) {
  const auto parts = on_each_domain(8 * mib);
  const auto threads = threads_on_all(2);
  for (const auto policy : all_policies()) {
    const auto shares = divide(eight_domains(), policy, parts, threads, mib);
    if (policy != WriterPolicy::round_robin) {
      EXPECT_EQ(routes(shares, parts, threads), std::set{policy}) << name_of(policy);
    }
    for (const auto& [thread, bytes] : bytes_by_thread(shares)) {
      EXPECT_EQ(bytes, 4 * mib) << name_of(policy) << " thread " << thread;
    }
    EXPECT_EQ(bytes_by_thread(shares).size(), threads.size()) << name_of(policy);
  }
}

TEST(WriterPolicy, TakesItsOwnRouteFromBuffersOnOneDomain) {
  const std::vector<SourcePart> parts{{2, 56 * mib}};
  const auto threads = threads_on_all(2);
  for (const auto policy : all_policies()) {
    const auto shares = divide(eight_domains(), policy, parts, threads, mib);
    if (policy != WriterPolicy::round_robin) {
      EXPECT_EQ(routes(shares, parts, threads), std::set{policy}) << name_of(policy);
    }
  }
}

TEST(WriterPolicy, PullWorksOnIdleDomainsOnly) {
  const std::vector<SourcePart> parts{{2, 28 * mib}, {2, 28 * mib}};
  const auto threads = threads_on_all(2);
  const auto shares = divide(eight_domains(), WriterPolicy::pull, parts, threads, mib);
  EXPECT_EQ(domains_at_work(shares, threads), (std::set{0, 1, 3, 4, 5, 6, 7}));
  for (const auto& [thread, bytes] : bytes_by_thread(shares)) {
    EXPECT_EQ(bytes, 4 * mib) << thread;
  }
}

TEST(WriterPolicy, PushSpreadsItsTargetsOverIdleDomains) {
  const std::vector<SourcePart> parts{{2, 56 * mib}};
  const auto threads = threads_on_all(2);
  const auto shares = divide(eight_domains(), WriterPolicy::push, parts, threads, mib);
  EXPECT_EQ(domains_at_work(shares, threads), std::set{2});
  std::map<int, std::size_t> bytes;
  for (const auto& share : shares) {
    bytes[share.target] += share.bytes;
  }
  EXPECT_EQ(bytes.size(), 7U);
  for (const auto& [target, count] : bytes) {
    EXPECT_EQ(count, 8 * mib) << target;
  }
}

TEST(WriterPolicy, HelpsFromTheSamePackageWhereNobodyIsIdle) {
  const auto parts = on_each_domain(4 * mib);
  const auto threads = threads_on_all(1);
  for (const auto& share : divide(eight_domains(), WriterPolicy::pull, parts, threads, mib)) {
    EXPECT_EQ(threads[share.thread] / 4, parts[share.part].domain / 4);
  }
}

TEST(WriterPolicy, RoundRobinUsesAllThreadsForOnePart) {
  const std::vector<SourcePart> parts{{0, 16 * mib}};
  const auto threads = threads_on_all(2);
  const auto shares = divide(eight_domains(), WriterPolicy::round_robin, parts, threads, mib);
  EXPECT_EQ(bytes_by_thread(shares).size(), 16U);
  for (const auto& share : shares) {
    EXPECT_EQ(share.target, threads[share.thread]);
  }
}

TEST(WriterPolicy, SmallPartsAreDealtToThreadsInTurn) {
  const std::vector<SourcePart> parts(8, {1, 4096});
  const std::vector<int> threads{1, 1, 1, 1};
  const auto shares = divide(eight_domains(), WriterPolicy::local, parts, threads, mib);
  EXPECT_EQ(shares.size(), 8U);
  for (const auto& [thread, bytes] : bytes_by_thread(shares)) {
    EXPECT_EQ(bytes, 8192U) << thread;
  }
}

TEST(WriterPolicy, LocalTakesTheNearestThreadWhereADomainHasNone) {
  const std::vector<SourcePart> parts{{1, mib}};
  // Domain 7 is before it in a ring of all, 4 after it; only 3 is in its package.
  const std::vector<int> threads{7, 4, 3};
  const auto shares = divide(eight_domains(), WriterPolicy::local, parts, threads, mib);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(threads[shares[0].thread], 3);
  EXPECT_EQ(shares[0].target, 3);
}

TEST(WriterPolicy, TakesTheNearestPolicyWhereDomainsAreMissing) {
  const std::vector<SourcePart> parts{{0, 4 * mib}};
  const std::vector<int> two{0, 1};
  EXPECT_EQ(routes(divide(eight_domains(), WriterPolicy::relay, parts, two, mib), parts, two),
            std::set{WriterPolicy::pull});
  const std::vector<int> one{0, 0};
  for (const auto policy : all_policies()) {
    EXPECT_EQ(routes(divide(eight_domains(), policy, parts, one, mib), parts, one),
              std::set{WriterPolicy::local})
        << name_of(policy);
  }
}

TEST(WriterPolicy, RefusesWhatTheNodeDoesNotHave) {
  const std::vector<SourcePart> parts{{8, mib}};
  try {
    (void)divide(eight_domains(), WriterPolicy::local, parts, threads_on_all(1), mib);
    FAIL() << "domain 8 of 8 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(), "NUMA domain 8 of a part: archer2 has 8, from 0");
  }
  EXPECT_THROW((void)divide(eight_domains(), WriterPolicy::local, {}, {}, mib), Error);
}

TEST(WriterPolicy, AutoWithoutMeasurementsFollowsTheStudy) {
  const std::vector<SourcePart> one{{0, mib}};
  EXPECT_EQ(choose_policy(one, threads_on_all(1), {}).policy, WriterPolicy::pull);
  EXPECT_EQ(choose_policy(on_each_domain(mib), threads_on_all(1), {}).policy, WriterPolicy::local);
}

TEST(WriterPolicy, AutoTakesTheFastestThatWasMeasured) {
  const std::vector<SourcePart> one{{0, mib}};
  const std::vector<MeasuredPolicy> measured{
      {WriterPolicy::local, 4, 3.0, 2.9, 3.1},
      {WriterPolicy::pull, 4, 5.0, 4.9, 5.1},
      {WriterPolicy::pull, 16, 9.0, 8.8, 9.1},
      {WriterPolicy::round_trip, 16, 20.0, 20.0, 20.0},
  };
  const auto choice = choose_policy(one, threads_on_all(1), measured);
  EXPECT_EQ(choice.policy, WriterPolicy::pull);
  EXPECT_EQ(choice.threads, 16);
  EXPECT_EQ(choice.reason, "pull with 16 threads 9.00 GiB/s (8.80 to 9.10) is fastest");
}

TEST(WriterPolicy, AutoTakesTheSimplerOfTwoThatCannotBeToldApart) {
  const std::vector<SourcePart> one{{0, mib}};
  const std::vector<MeasuredPolicy> measured{{WriterPolicy::relay, 4, 5.2, 4.0, 5.4},
                                             {WriterPolicy::local, 4, 4.1, 4.0, 4.2},
                                             {WriterPolicy::push, 4, 3.9, 3.8, 5.9}};
  const auto choice = choose_policy(one, threads_on_all(1), measured);
  EXPECT_EQ(choice.policy, WriterPolicy::local);
  EXPECT_EQ(choice.reason,
            "local with 4 threads 4.10 GiB/s (4.00 to 4.20) is no slower than can be told from "
            "relay with 4 threads 5.20 GiB/s (4.00 to 5.40)");
}

}  // namespace
}  // namespace iocomp::placement
