// SPDX-License-Identifier: BSD-3-Clause
#include "topology/discover.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "topology/node.h"

// hwloc 2.9 forgets 32 bytes for every synthetic text that it refuses.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhwloc"; }

namespace iocomp::topology {
namespace {

std::vector<int> cpus(const Core& core) {
  std::vector<int> numbers;
  for (const auto& thread : core.threads) {
    numbers.push_back(thread.cpu);
  }
  return numbers;
}

int allowed_threads(const Node& node) {
  int count = 0;
  for (const auto& core : node.cores) {
    count += static_cast<int>(std::ranges::count_if(core.threads, &Thread::allowed));
  }
  return count;
}

// ARCHER2 hardware documentation, as in Bhardwaj, Bartholomew, Parsons, CUG 2023: 2 packages x 64
// cores, 4 NUMA domains per package, L3 shared by 4 cores, sibling of core i is i + 128.
TEST(Archer2, HasTheNumbersOfItsDocumentation) {
  const Node node = describe("archer2");
  EXPECT_EQ(node.packages, 2);
  EXPECT_EQ(node.numa_domains, 8);
  EXPECT_EQ(node.l3_groups, 32);
  ASSERT_EQ(node.cores.size(), 128U);
  EXPECT_EQ(thread_count(node), 256U);
  for (int i = 0; i < 128; ++i) {
    const auto& core = node.cores[static_cast<std::size_t>(i)];
    EXPECT_EQ(cpus(core), (std::vector<int>{i, i + 128}));
    EXPECT_EQ(core.package, i / 64);
    EXPECT_EQ(core.numa, i / 16);
    EXPECT_EQ(core.l3, i / 4);
  }
}

TEST(Synthetic, DescribesFourThreadsPerCore) {
  const Node node = describe("pack:1 core:8 pu:4");
  EXPECT_EQ(node.cores.size(), 8U);
  EXPECT_EQ(cpus(node.cores[1]), (std::vector<int>{4, 5, 6, 7}));
}

TEST(Synthetic, DescribesAnArmNodeWithoutSiblingsOrL3) {
  const Node node = describe("pack:2 numa:1 core:40 pu:1");
  EXPECT_EQ(node.l3_groups, 0);
  EXPECT_EQ(node.cores.front().l3, -1);
  EXPECT_EQ(node.cores[40].package, 1);
  EXPECT_EQ(node.cores[40].numa, 1);
}

TEST(Synthetic, TakesHardwareThreadsForCoresWhereThereAreNone) {
  EXPECT_EQ(describe("pack:1 pu:4").cores.size(), 4U);
}

// hwloc itself falls back to the machine it runs on.
TEST(Synthetic, RefusesWhatHwlocDoesNotUnderstand) {
  for (const std::string text : {"pack:0", "nonsense", "pack:2 cor:4", "pu:2 core:4", "archer3",
                                 "pack:2 [numa] numa:2 core:2 pu:1", "pack:2 core:-1 pu:1"}) {
    try {
      static_cast<void>(describe(text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string{error.what()}.find('"' + text + '"'), std::string::npos);
      EXPECT_NE(std::string{error.what()}.find("archer2"), std::string::npos);
    }
  }
}

TEST(ThisMachine, AllowsWhatTheAffinityMaskAllows) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(allowed_threads(this_machine()), CPU_COUNT(&before));
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) {
    ++first;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Node bound = this_machine();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(allowed_threads(bound), 1);
}

TEST(ThisMachine, RefusesAWrongVariableOfHwloc) {
  setenv("HWLOC_SYNTHETIC", "pack:2 [numa] numa:2 core:2 pu:1", 1);
  EXPECT_THROW(static_cast<void>(this_machine()), Error);
  setenv("HWLOC_SYNTHETIC", "pack:3 core:2 pu:1", 1);
  EXPECT_EQ(this_machine().packages, 3);
  unsetenv("HWLOC_SYNTHETIC");
}

// desktop.xml: lstopo of "pack:1 l3:2 core:2 pu:2", CPU 3 taken out of its allowed set.
TEST(Xml, KeepsWhatWasDisallowedThere) {
  const Node node = describe(IOCOMP_TEST_FOLDER "/desktop.xml");
  EXPECT_EQ(node.cores.size(), 4U);
  EXPECT_EQ(node.l3_groups, 2);
  EXPECT_TRUE(node.cores[1].threads[0].allowed);
  EXPECT_FALSE(node.cores[1].threads[1].allowed);
}

// lone_thread.xml: lstopo of a virtual machine of "pack:2 core:2 pu:2" whose L1 caches belong to
// threads, CPU 2 offline. Its cores lie at two depths, and hwloc's list of all cores is empty.
TEST(Xml, KnowsCoresBesideOneThatHasLostAThread) {
  const Node node = describe(IOCOMP_TEST_FOLDER "/lone_thread.xml");
  ASSERT_EQ(node.cores.size(), 4U);
  EXPECT_EQ(node.cores[0].threads.size(), 2U);
  ASSERT_EQ(node.cores[1].threads.size(), 1U);
  EXPECT_EQ(node.cores[1].threads[0].cpu, 3);
  EXPECT_EQ(node.cores[1].l3, node.cores[0].l3);
  EXPECT_EQ(node.cores[2].threads.size(), 2U);
  EXPECT_NE(node.cores[2].numa, node.cores[1].numa);
}

TEST(Xml, RefusesAFileThatIsMissingOrNoTopology) {
  EXPECT_THROW(static_cast<void>(describe("no_such_file.xml")), Error);
  EXPECT_THROW(static_cast<void>(describe(IOCOMP_TEST_FOLDER "/CMakeLists.txt")), Error);
}

TEST(Synthetic, OfMoreThreadsThanAnyNodeHasIsRefusedAtOnce) {
  for (const char* text :
       {"pack:1000 core:1000 pu:1000", "1000 1000 1000", "pack:0x1000(indexes=1*1) core:99999 pu:1",
        "[numa(memory=1GB)] core:100000000 pu:1", "pack:2core:4000000000"}) {
    EXPECT_THROW(static_cast<void>(describe(text)), Error) << text;
  }
  EXPECT_EQ(describe("pack:2 l3:2(size=999999999) core:2 pu:2(indexes=2*8:8*1)").cores.size(), 8U);
}

}  // namespace
}  // namespace iocomp::topology
