// SPDX-License-Identifier: BSD-3-Clause
#include "base/small_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

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

}  // namespace
}  // namespace iocomp
