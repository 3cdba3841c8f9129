// SPDX-License-Identifier: BSD-3-Clause
#include "formats/lustre_layout.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/path.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats {
namespace {

template <typename Number>
Number at(std::span<const std::byte> bytes, std::size_t offset) {
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// As Lustre's lustre_user.h has it: magic, pattern, 16 bytes for an object, size, count, first.
TEST(LustreLayout, IsWhatItsHeaderSays) {
  const std::vector<StripedPart> twelve{{-1, 12}};
  const std::vector<StripedPart> all{{-1, -1}};
  const auto some = lustre_layout(twelve, 1 << 20);
  EXPECT_EQ(some.size(), 32U);
  EXPECT_EQ(at<std::uint32_t>(some, 0), 0x0BD10BD0U);
  EXPECT_EQ(at<std::uint32_t>(some, 4), 1U);
  EXPECT_EQ(at<std::uint64_t>(some, 8), 0U);
  EXPECT_EQ(at<std::uint64_t>(some, 16), 0U);
  EXPECT_EQ(at<std::uint32_t>(some, 24), 1U << 20);
  EXPECT_EQ(at<std::uint16_t>(some, 28), 12U);
  EXPECT_EQ(at<std::uint16_t>(some, 30), 0xFFFFU);
  EXPECT_EQ(at<std::uint16_t>(lustre_layout(all, 1 << 20), 28), 0xFFFFU);
}

// Magic, size, generation, flags, entries; of each entry number, flags, extent, place and size of
// its layout.
TEST(LustreLayout, IsACompositeWhereAFileHasParts) {
  const std::vector<StripedPart> parts{{16 << 20, 1}, {-1, -1}};
  const auto bytes = lustre_layout(parts, 1 << 20);
  ASSERT_EQ(bytes.size(), 32U + 2 * 48U + 2 * 32U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 0), 0x0BD60BD0U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), bytes.size());
  EXPECT_EQ(at<std::uint16_t>(bytes, 14), 2U);
  EXPECT_EQ(at<std::uint64_t>(bytes, 32 + 8), 0U);
  EXPECT_EQ(at<std::uint64_t>(bytes, 32 + 16), 16U << 20);
  EXPECT_EQ(at<std::uint64_t>(bytes, 80 + 8), 16U << 20);
  EXPECT_EQ(at<std::uint64_t>(bytes, 80 + 16), ~std::uint64_t{0});
  for (const std::size_t entry : {std::size_t{32}, std::size_t{80}}) {
    const auto place = at<std::uint32_t>(bytes, entry + 24);
    EXPECT_EQ(place, entry == 32 ? 128U : 160U);
    EXPECT_EQ(at<std::uint32_t>(bytes, entry + 28), 32U);
    EXPECT_EQ(at<std::uint32_t>(bytes, place), 0x0BD10BD0U);
    EXPECT_EQ(at<std::uint16_t>(bytes, place + 28), entry == 32 ? 1U : 0xFFFFU);
  }
  EXPECT_EQ(stripe_bytes_in(bytes), 1 << 20);
}

FileSystemFacts lustre_of(int targets) {
  FileSystemFacts facts;
  facts.kind = FileSystemKind::lustre;
  facts.targets = targets;
  return facts;
}

TEST(LustreLayout, GivesAShortFileFewTargets) {
  const auto layouts = layouts_for(lustre_of(100));
  ASSERT_EQ(layouts.size(), 2U);
  const auto& parts = layouts.front();
  EXPECT_EQ(at<std::uint16_t>(parts, 14), 3U);
  EXPECT_EQ(at<std::uint16_t>(parts, 32 + 3 * 48 + 28), 1U);
  EXPECT_EQ(at<std::uint16_t>(parts, 32 + 3 * 48 + 32 + 28), 8U);
  EXPECT_EQ(at<std::uint16_t>(parts, 32 + 3 * 48 + 64 + 28), 100U);
  EXPECT_EQ(at<std::uint32_t>(layouts.back(), 0), 0x0BD10BD0U);  // where parts are not known
  EXPECT_EQ(layouts_for(lustre_of(1)).front().size(), 32U);
}

TEST(LustreLayout, IsLeftToWhoHasChosenOne) {
  auto facts = lustre_of(100);
  facts.has_layout = true;  // a composite one, whose stripes may not be told
  EXPECT_TRUE(layouts_for(facts).empty());
  EXPECT_TRUE(layouts_for({}).empty());
}

class Striped : public testing::Test {
 protected:
  int make(int result) {
    return make_striped(Path{path_}, lustre_layout(std::vector<StripedPart>{{-1, 4}}, 1 << 20),
                        [&](int file, std::span<const std::byte> layout) {
                          struct stat status{};
                          EXPECT_EQ(::fstat(file, &status), 0);
                          EXPECT_EQ(status.st_size, 0);
                          told_.assign(layout.begin(), layout.end());
                          return result;
                        });
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
  std::vector<std::byte> told_;
};

TEST_F(Striped, IsThereWithItsLayout) {
  EXPECT_EQ(make(0), 0);
  EXPECT_TRUE(std::filesystem::is_empty(path_));
  EXPECT_EQ(at<std::uint16_t>(told_, 28), 4U);
}

TEST_F(Striped, IsNotThereWhereItCouldNotBeLaidOut) {
  EXPECT_EQ(make(ENOTTY), ENOTTY);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Striped, LeavesAloneWhatIsThere) {
  std::ofstream{path_} << "old";
  EXPECT_EQ(make(0), EEXIST);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(std::filesystem::file_size(path_), 3U);
}

TEST_F(Striped, IsAFileLikeOthersOnOtherFileSystems) {
  std::ofstream{path_} << "old";
  EXPECT_TRUE(make_file(Path{path_}, O_RDWR).is_open());
  EXPECT_TRUE(std::filesystem::is_empty(path_));
  std::ofstream{path_} << "new";
  EXPECT_TRUE(make_or_share_file(Path{path_}, O_RDWR).is_open());
  EXPECT_EQ(std::filesystem::file_size(path_), 3U);
}

}  // namespace
}  // namespace iocomp::formats
