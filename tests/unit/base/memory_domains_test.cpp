// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory_domains.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/huge_memory.h"

// Domains of two and more are looked at in tests/smt.
namespace iocomp {
namespace {

int first_domain_with_memory() {
  int domain = 0;
  std::ifstream{"/sys/devices/system/node/has_memory"} >> domain;
  return domain;
}

TEST(MemoryDomains, TellWhereTouchedPagesLieAndWhichAreNotTouched) {
  const HugeMemory memory{4 * HugeMemory::page_bytes, "a test"};
  const int domain = first_domain_with_memory();
  const auto range = memory.bytes();
  try {
    prefer_domain(range, domain);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const auto touched = range.first(2 * HugeMemory::page_bytes);
  std::memset(touched.data(), 1, touched.size());
  EXPECT_EQ(domains_of_pages(touched), std::vector<int>(touched.size() / 4096, domain));
  const auto others = domains_of_pages(range.subspan(touched.size()));
  EXPECT_TRUE(std::ranges::all_of(others, [](int one) { return one == -1; }));
  // Pages that the range has only a part of count.
  EXPECT_EQ(domains_of_pages(range.subspan(4000, 200)).size(), 2U);
  EXPECT_TRUE(domains_of_pages(range.first(0)).empty());
}

TEST(MemoryDomains, AreTakenInTurnWhereMemoryIsSpread) {
  const HugeMemory memory{2 * HugeMemory::page_bytes, "a test"};
  const int domain = first_domain_with_memory();
  try {
    spread_over(memory.bytes(), std::vector{domain});
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  int mode = 0;
  ASSERT_EQ(syscall(SYS_get_mempolicy, &mode, nullptr, 0UL, memory.bytes().data(), MPOL_F_ADDR), 0);
  EXPECT_EQ(mode, MPOL_INTERLEAVE);
  EXPECT_THROW(spread_over(memory.bytes(), std::vector{1000}), Error);
}

TEST(MemoryDomains, SayWhichDomainTheSystemDoesNotHave) {
  constexpr int not_there = 1000;
  const HugeMemory memory{4096, "a test"};
  for (const bool of_thread : {false, true}) {
    try {
      if (of_thread) {
        const DomainPreference preference{not_there};
      } else {
        prefer_domain(memory.bytes(), not_there);
      }
      ADD_FAILURE() << "domain 1000 was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string{error.what()}.find("NUMA domain 1000"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace iocomp
