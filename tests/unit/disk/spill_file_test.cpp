// SPDX-License-Identifier: BSD-3-Clause
#include "disk/spill_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "disk/options.h"
#include "folder.h"

namespace iocomp::disk {
namespace {

constexpr std::size_t page = 4096;

template <typename Body>
std::string story_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing failed";
}

std::vector<std::byte> read_back(const SpillFile& file, const SpillFile::Part& part) {
  std::vector<std::byte> bytes(part.bytes());
  file.read(part, bytes);
  return bytes;
}

TEST(SpillFile, GivesBackWhatItWasGiven) {
  const Folder folder;
  SpillFile file{folder.path(), 64 * page, {}};
  const PageAligned data{10 * page};
  for (const auto& [first, count] :
       {std::pair{std::size_t{0}, 10 * page}, std::pair{std::size_t{3}, std::size_t{17}},
        std::pair{page - 1, page + 2}}) {
    const auto bytes = data.bytes().subspan(first, count);
    const auto part = file.write(bytes);
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->page_remainder(), first % page);
    EXPECT_TRUE(std::ranges::equal(read_back(file, *part), bytes));
  }
}

TEST(SpillFile, HasNoNameAndLeavesNothing) {
  const Folder folder;
  SpillFile file{folder.path(), 4 * page, {}};
  const PageAligned data{page};
  const auto part = file.write(data.bytes());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SpillFile, HoldsNoMoreThanItMay) {
  const Folder folder;
  SpillFile file{folder.path(), 3 * page, {}};
  const PageAligned data{2 * page};
  auto first = file.write(data.bytes());
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(file.write(data.bytes()).has_value());
  EXPECT_EQ(file.used_bytes(), 2 * page);
  first.reset();
  EXPECT_EQ(file.used_bytes(), 0U);
  EXPECT_TRUE(file.write(data.bytes()).has_value());
}

TEST(SpillFile, RangesThatAreUsedAgainHoldWhatCameLast) {
  const Folder folder;
  SpillFile file{folder.path(), 4 * page, {}};
  const PageAligned data{2 * page, 1};
  const PageAligned other{2 * page, 2};
  std::optional<SpillFile::Part> part = file.write(data.bytes());
  part.reset();
  part = file.write(other.bytes().subspan(5, page));
  ASSERT_TRUE(part.has_value());
  EXPECT_TRUE(std::ranges::equal(read_back(file, *part), other.bytes().subspan(5, page)));
}

TEST(SpillFile, SaysWhyThereCanBeNone) {
  const Folder folder;
  EXPECT_EQ(story_of([&] { SpillFile{folder.file("absent"), page, {}}; }),
            "staging.spill = \"" + folder.file("absent") + "\": cannot open the folder " +
                folder.file("absent") + ": No such file or directory");
}

}  // namespace
}  // namespace iocomp::disk
