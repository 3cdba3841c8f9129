// SPDX-License-Identifier: BSD-3-Clause
#include "formats/file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "base/open_folder.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats {
namespace {

std::string hint(const FileSystemAdvice& advice, const std::string& key) {
  const auto found = std::find_if(advice.hints.begin(), advice.hints.end(),
                                  [&](const auto& each) { return each.first == key; });
  return found == advice.hints.end() ? "" : found->second;
}

FileSystemFacts lustre(int targets) {
  return {.kind = FileSystemKind::lustre,
          .type = "lustre",
          .block_bytes = 4 << 20,
          .free_bytes = 1,
          .takes_direct_io = true,
          .targets = targets};
}

TEST(FileSystemAdvice, TakesAllTargetsOfLustreWithTheLockModeThatLetsAggregatorsShareAStripe) {
  const auto advice = advise(lustre(12), 768, "/scratch");
  EXPECT_TRUE(advice.is_special);
  ASSERT_EQ(advice.parts.size(), 3U);
  EXPECT_EQ(advice.parts.front().targets, 1);
  EXPECT_EQ(advice.parts.back().targets, 12);
  EXPECT_EQ(advice.parts.back().end, -1);
  EXPECT_EQ(advice.stripe_bytes, 1 << 20);
  EXPECT_EQ(advice.alignment_bytes, advice.stripe_bytes);
  EXPECT_EQ(advice.aggregators_per_stripe, 16);  // not the 64 that there would be ranks for
  EXPECT_EQ(hint(advice, "striping_factor"), "12");
  EXPECT_EQ(hint(advice, "striping_unit"), "1048576");
  EXPECT_EQ(hint(advice, "cray_cb_write_lock_mode"), "2");
  EXPECT_EQ(hint(advice, "cray_cb_nodes_multiplier"), "16");
  EXPECT_EQ(hint(advice, "romio_lustre_co_ratio"), "16");
  EXPECT_EQ(advice.command,
            "lfs setstripe -E 16M -c 1 -S 1048576 -E 1024M -c 8 -S 1048576 -E -1 -c 12 -S 1048576 "
            "/scratch");
}

TEST(FileSystemAdvice, LeavesStripesToALayoutThatSomebodyHasChosen) {
  auto facts = lustre(12);
  facts.has_layout = true;
  const auto advice = advise(facts, 768, "/scratch");
  EXPECT_EQ(hint(advice, "striping_factor"), "");
  EXPECT_EQ(hint(advice, "striping_unit"), "");
  EXPECT_EQ(hint(advice, "cray_cb_write_lock_mode"), "2");
}

TEST(FileSystemAdvice, HasOneAggregatorPerStripeWhereWritersAreFew) {
  EXPECT_EQ(advise(lustre(12), 24, "d").aggregators_per_stripe, 2);
  EXPECT_EQ(advise(lustre(12), 5, "d").aggregators_per_stripe, 1);
}

TEST(FileSystemAdvice, TakesAllTargetsWhereLustreDoesNotTellHowManyThereAre) {
  const auto advice = advise(lustre(0), 4, "d");
  EXPECT_EQ(advice.parts.size(), 3U);
  EXPECT_EQ(hint(advice, "striping_factor"), "-1");
}

TEST(FileSystemAdvice, AlignsToTheBlocksOfGpfs) {
  FileSystemFacts facts;
  facts.kind = FileSystemKind::gpfs;
  facts.block_bytes = 16 << 20;
  const auto advice = advise(facts, 64, "d");
  EXPECT_TRUE(advice.is_special);
  EXPECT_EQ(advice.alignment_bytes, 16 << 20);
  EXPECT_EQ(hint(advice, "striping_unit"), "16777216");
  EXPECT_EQ(advice.command, "");
}

TEST(FileSystemAdvice, ChoosesNothingElsewhere) {
  FileSystemFacts facts;
  facts.type = "ext4";
  facts.block_bytes = 4096;
  const auto advice = advise(facts, 64, "d");
  EXPECT_FALSE(advice.is_special);
  EXPECT_TRUE(advice.hints.empty());
  EXPECT_EQ(advice.alignment_bytes, 0);
}

TEST(DomainBytes, AreWholeStripesOfLustre) {
  FileSystemFacts facts;
  facts.kind = FileSystemKind::lustre;
  EXPECT_EQ(domain_bytes(4096, facts), 1 << 20);
  facts.stripe_bytes = 4 << 20;
  EXPECT_EQ(domain_bytes(4096, facts), 4 << 20);
  EXPECT_EQ(domain_bytes(5 << 20, facts), 8 << 20);
  EXPECT_EQ(domain_bytes(64 << 20, facts), 64 << 20);
}

TEST(DomainBytes, AreWholeBlocksOfGpfs) {
  FileSystemFacts facts;
  facts.kind = FileSystemKind::gpfs;
  facts.block_bytes = 16 << 20;
  EXPECT_EQ(domain_bytes(4096, facts), 16 << 20);
}

TEST(DomainBytes, AreTheSettingElsewhere) {
  FileSystemFacts facts;
  facts.block_bytes = 1 << 20;
  EXPECT_EQ(domain_bytes(4096, facts), 4096);
  EXPECT_EQ(domain_bytes_in(OpenFolder{""}, 12288), 12288);
}

TEST(DomainBytes, AreReadFromTheAttributeOfLustre) {
  std::array<std::uint32_t, 8> attribute{0x0BD30BD0, 1, 0, 0, 0, 0, 2 << 20, 4};
  const auto bytes = std::as_bytes(std::span{attribute});
  EXPECT_EQ(stripe_bytes_in(bytes), 2 << 20);
  EXPECT_EQ(stripe_bytes_in(bytes.first(24)), 0);
  attribute[0] = 0x0BD60BD0;  // a composite layout has several: here it is cut off
  EXPECT_EQ(stripe_bytes_in(bytes), 0);
}

TEST(DomainBytes, AreThoseOfTheLongestStripeOfACompositeLayout) {
  std::array<std::uint32_t, 8 + 2 * 12 + 8 + 8> attribute{};
  attribute[0] = 0x0BD60BD0;
  attribute[3] = 2U << 16;  // entries
  attribute[8 + 6] = 128;   // where their layouts are
  attribute[8 + 12 + 6] = 160;
  attribute[32] = 0x0BD10BD0;
  attribute[32 + 6] = 4 << 20;
  attribute[40] = 0x0BD30BD0;
  attribute[40 + 6] = 1 << 20;
  const auto bytes = std::as_bytes(std::span{attribute});
  EXPECT_EQ(stripe_bytes_in(bytes), 4 << 20);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_LE(stripe_bytes_in(bytes.first(cut)), 4 << 20);
  }
  attribute[8 + 6] = 0;  // within itself
  EXPECT_EQ(stripe_bytes_in(bytes), 1 << 20);
}

TEST(FileSystemFacts, AreThoseOfTheDirectoryAndLeaveNothingThere) {
  const TemporaryFolder folder;
  const auto facts = file_system_of(OpenFolder{folder / ""});
  EXPECT_FALSE(facts.type.empty());
  EXPECT_GT(facts.block_bytes, 0);
  EXPECT_GE(facts.free_bytes, 0);
  EXPECT_EQ(files_in(folder / ""), 0);
}

}  // namespace
}  // namespace iocomp::formats
