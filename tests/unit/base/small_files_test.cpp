// SPDX-License-Identifier: BSD-3-Clause
#include "base/small_files.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "unit/temporary_folder.h"

namespace iocomp {
namespace {

namespace fs = std::filesystem;

class SmallFiles : public testing::Test {
 protected:
  SmallFiles() {
    fs::create_directory(here());
    std::ofstream{here() + "/file"} << "text";
  }
  [[nodiscard]] std::string here() const { return folder_ / "here"; }
  [[nodiscard]] std::string there() const { return folder_ / "there"; }

  TemporaryFolder folder_;
};

TEST_F(SmallFiles, AnOpenFolderIsTheSameUnderAnotherName) {
  const OpenFolder folder{here() + "/file"};
  fs::rename(here(), there());
  folder.sync();
  EXPECT_TRUE(folder.has("file"));
  EXPECT_FALSE(folder.has("other"));
  EXPECT_EQ(folder.read("file"), "text");
  EXPECT_EQ(folder.read("other"), std::nullopt);
}

TEST_F(SmallFiles, AFolderThatIsGoneIsNotAnEmptyOne) {
  fs::rename(here(), there());
  EXPECT_THROW(OpenFolder{here() + "/file"}, Error);
  EXPECT_THROW((void)names_in_existing(here()), Error);
  EXPECT_TRUE(names_in(here()).empty());
}

TEST_F(SmallFiles, WritesNothingWhereTheFolderIsGone) {
  fs::rename(here(), there());
  EXPECT_THROW(write_durably(here() + "/new", here() + "/.new", "text"), Error);
  fs::rename(there(), here());
  EXPECT_EQ(names_in(here()).size(), 1U);
}

TEST_F(SmallFiles, ANewFileHasItsNameWhenItAppears) {
  const std::array<std::string_view, 2> parts{"new ", "text"};
  std::ofstream{here() + "/.new"} << "what a job has left, which is longer";
  NewFile file{here() + "/file", here() + "/.new", parts};
  EXPECT_EQ(read_file(here() + "/file"), "text");
  EXPECT_THROW(file.appear([] { throw Error{ErrorCode::storage_failure, "not now"}; }), Error);
  EXPECT_EQ(read_file(here() + "/file"), "text");
  EXPECT_EQ(names_in(here()).size(), 1U);
  NewFile{here() + "/file", here() + "/.new", parts}.appear();
  EXPECT_EQ(read_file(here() + "/file"), "new text");
  EXPECT_EQ(names_in(here()).size(), 1U);
}

TEST_F(SmallFiles, ANewFileFollowsNoLinkThatStandsInItsPlace) {
  std::ofstream{there()} << "of another";
  fs::create_symlink(there(), here() + "/.new");
  write_durably(here() + "/file", here() + "/.new", "new text");
  EXPECT_EQ(read_file(here() + "/file"), "new text");
  EXPECT_EQ(read_file(there()), "of another");
}

TEST_F(SmallFiles, ANewFileThatDoesNotAppearGoes) {
  const std::array<std::string_view, 1> parts{"text"};
  {
    NewFile file{here() + "/new", here() + "/.new", parts};
    const NewFile moved{std::move(file)};
    EXPECT_EQ(names_in(here()).size(), 2U);
  }
  EXPECT_EQ(names_in(here()).size(), 1U);
}

}  // namespace
}  // namespace iocomp
