// SPDX-License-Identifier: BSD-3-Clause
#include "formats/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/format.h"

namespace iocomp::formats {
namespace {

std::string story_of_asking_for(std::string_view name, const std::string& folder = {}) {
  try {
    (void)format(name, folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    return error.what();
  }
  return "found";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Registry, FindsTheFormatsOfThisBuild) {
  EXPECT_EQ(format("posix").name(), "posix");
  EXPECT_EQ(format("posix").traits().kind, Kind::plain);
  EXPECT_EQ(format("mpiio").traits().kind, Kind::shared);
}

TEST(Registry, LoadsAFormatOnce) { EXPECT_EQ(&format("posix"), &format("posix")); }

TEST(Registry, SearchesTheFolderOfTheSettingFirst) {
  EXPECT_EQ(format("example_format", IOCOMP_EXAMPLE_MODULES).name(), "example_format");
}

TEST(Registry, TellsWhereItSearchedAndWhatItFoundThere) {
  const std::string story = story_of_asking_for("hdf6", "/nowhere");
  EXPECT_TRUE(contains(story, "\"hdf6\"")) << story;
  EXPECT_TRUE(contains(story, "libiocomp_format_hdf6.so")) << story;
  EXPECT_TRUE(contains(story, "/nowhere")) << story;
  EXPECT_TRUE(contains(story, "mpiio, ") && contains(story, ", posix")) << story;
}

TEST(Registry, ANameCannotLeadOutOfTheFolders) {
  EXPECT_TRUE(contains(story_of_asking_for("../x/posix"), "not installed"));
  EXPECT_TRUE(contains(story_of_asking_for(""), "not installed"));
}

TEST(Registry, RefusesTheModuleOfAnotherRelease) {
  const std::string story = story_of_asking_for("old", IOCOMP_BAD_MODULES);
  EXPECT_TRUE(contains(story, "interface version 0")) << story;
}

TEST(Registry, RefusesALibraryThatIsNoModule) {
  const std::string story = story_of_asking_for("foreign", IOCOMP_BAD_MODULES);
  EXPECT_TRUE(contains(story, "no symbol iocomp_format")) << story;
}

TEST(Registry, ListsWhatIsThereAndWhyTheRestIsNot) {
  const auto all = available_formats(IOCOMP_BAD_MODULES);
  const auto status = [&all](std::string_view name) {
    return *std::find_if(all.begin(), all.end(),
                         [name](const auto& each) { return each.name == name; });
  };
  EXPECT_TRUE(status("posix").found);
  EXPECT_NE(status("mpiio").version, "");
  EXPECT_FALSE(status("old").found);
  EXPECT_TRUE(contains(status("old").reason, "interface version"));
}

}  // namespace
}  // namespace iocomp::formats
