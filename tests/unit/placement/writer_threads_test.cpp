// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_threads.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "topology/discover.h"
#include "topology/node.h"

namespace iocomp::placement {
namespace {

// Each domain has 4 cores with one hardware thread and 2 L3 caches.
topology::Node domains(int packages, int each) {
  return topology::describe("pack:" + std::to_string(packages) + " numa:" + std::to_string(each) +
                            " l3:2 core:2 pu:1");
}

std::vector<int> numbers(int first, int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::vector<int> domains_of(const std::vector<WriterThread>& threads) {
  std::vector<int> found;
  for (const auto& thread : threads) {
    found.push_back(thread.domain);
  }
  return found;
}

TEST(WriterThreads, OfAServerAloneOnItsNodeSitOnAllDomains) {
  const auto node = domains(2, 4);
  std::vector<WritingProcess> processes{{numbers(0, 1), false}};
  const auto threads = seat_writer_threads(node, processes, 0, 9, WriterBinding::domain, false);
  EXPECT_EQ(domains_of(threads), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 0}));
  EXPECT_EQ(threads[0].cpus, numbers(4, 4));
}

TEST(WriterThreads, StayOnTheDomainsThatNoOtherServerIsNearer) {
  const auto node = domains(2, 4);
  std::vector<WritingProcess> processes;
  for (int server = 0; server < 8; ++server) {
    processes.push_back({{4 * server}, false});
  }
  EXPECT_EQ(domains_of(seat_writer_threads(node, processes, 5, 3, WriterBinding::domain, false)),
            (std::vector<int>{5, 5}));
  processes.resize(2);
  processes[1].cpus = {16};  // one in each package
  EXPECT_EQ(domains_of(seat_writer_threads(node, processes, 1, 5, WriterBinding::domain, false)),
            (std::vector<int>{5, 6, 7, 4}));
}

TEST(WriterThreads, LeaveOutWhatComputeRanksAreBoundTo) {
  const auto node = domains(1, 2);  // CPUs 0 to 7
  std::vector<WritingProcess> processes{
      {{0}, true}, {{1}, true}, {{4, 5, 6, 7}, true}, {{2}, false}};
  const auto threads = seat_writer_threads(node, processes, 3, 3, WriterBinding::domain, false);
  EXPECT_EQ(domains_of(threads), (std::vector<int>{0, 0}));
  EXPECT_EQ(threads[0].cpus, (std::vector<int>{2, 3}));
  const auto shared = seat_writer_threads(node, processes, 3, 3, WriterBinding::domain, true);
  EXPECT_EQ(domains_of(shared), (std::vector<int>{1, 0}));
  EXPECT_EQ(shared[0].cpus, numbers(4, 4));
}

TEST(WriterThreads, RunWhereTheirProcessMayIfNothingIsFree) {
  const auto node = domains(1, 2);
  std::vector<WritingProcess> processes;
  for (int rank = 0; rank < 8; ++rank) {
    processes.push_back({{rank}, true});
  }
  for (const auto& thread :
       seat_writer_threads(node, processes, 6, 4, WriterBinding::domain, false)) {
    EXPECT_EQ(thread.domain, 1);
    EXPECT_TRUE(thread.cpus.empty());
  }
}

TEST(WriterThreads, OfProcessesThatAreNotBoundTakeAllDomainsInTurn) {
  const auto node = domains(1, 2);
  std::vector<WritingProcess> processes{{numbers(0, 8), true}, {numbers(0, 8), true}};
  EXPECT_EQ(domains_of(seat_writer_threads(node, processes, 0, 4, WriterBinding::domain, false)),
            (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(domains_of(seat_writer_threads(node, processes, 1, 4, WriterBinding::domain, false)),
            (std::vector<int>{0, 1, 0}));
}

TEST(WriterThreads, TakeTurnsOnTheCachesOfADomain) {
  const auto node = domains(1, 1);  // two L3 caches of CPUs 0, 1 and 2, 3
  std::vector<WritingProcess> processes{{{0}, false}};
  const auto threads = seat_writer_threads(node, processes, 0, 4, WriterBinding::l3, false);
  EXPECT_EQ(threads[0].cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(threads[1].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(threads[2].cpus, (std::vector<int>{0, 1}));
}

TEST(WriterThreads, AreNotBoundOnANodeOfOneDomainThatIsTheirs) {
  const auto node = domains(1, 1);
  std::vector<WritingProcess> processes{{numbers(0, 4), true}};
  for (const auto binding : {WriterBinding::domain, WriterBinding::none}) {
    const auto threads = seat_writer_threads(node, processes, 0, 2, binding, false);
    EXPECT_EQ(threads.size(), 1U);
    EXPECT_TRUE(threads[0].cpus.empty());
  }
}

TEST(WriterThreads, TellOnWhichDomainsOfTheSystemTheySit) {
  auto node = domains(1, 4);
  node.numa_numbers = {0, 2, 4, 6};
  const std::vector<int> own{2, 2};
  const std::vector<WriterThread> threads{{.domain = 3}, {.domain = 1}, {.domain = 3}};
  EXPECT_EQ(domains_of_threads(node, own, threads), (std::vector<int>{2, 4, 6}));
}

}  // namespace
}  // namespace iocomp::placement
