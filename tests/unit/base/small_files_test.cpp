// SPDX-License-Identifier: BSD-3-Clause
#include "base/small_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/path.h"
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

TEST_F(SmallFiles, AFolderThatIsNotThereHasNoNamesAndNoFiles) {
  fs::rename(here(), there());
  EXPECT_TRUE(names_in(here()).empty());
  EXPECT_EQ(read_file(here() + "/file"), std::nullopt);
  EXPECT_FALSE(find_file(here() + "/file"));
}

TEST_F(SmallFiles, MakesFoldersThatAreNotThere) {
  make_folders(here() + "/one/two");
  make_folders(here() + "/one/two");
  EXPECT_TRUE(fs::is_directory(here() + "/one/two"));
  EXPECT_THROW(make_folders(here() + "/file/two"), Error);
}

TEST_F(SmallFiles, WritesAFileInPlaceOfAFileAlone) {
  write_file(here() + "/file", "new");
  EXPECT_EQ(read_file(here() + "/file"), "new");
  ASSERT_EQ(::mkfifo((here() + "/pipe").c_str(), 0666), 0);
  EXPECT_THROW(write_file(here() + "/pipe", "new"), Error);
  EXPECT_TRUE(fs::is_fifo(here() + "/pipe"));
  std::ofstream{there()} << "longer than that";
  fs::create_symlink(there(), here() + "/link");
  write_file(here() + "/link", "new");
  EXPECT_EQ(read_file(there()), "new");
}

TEST_F(SmallFiles, ANewFileHasItsNameWhenItAppears) {
  const std::array<std::string_view, 2> parts{"new ", "text"};
  std::ofstream{here() + "/.new"} << "what a job has left, which is longer";
  fs::create_directory(here() + "/folder");
  EXPECT_THROW((NewFile{Path{here() + "/folder"}, Path{here() + "/.new"}, parts}.appear()), Error);
  EXPECT_EQ(names_in(here()).size(), 2U);
  fs::remove(here() + "/folder");
  NewFile{Path{here() + "/file"}, Path{here() + "/.new"}, parts}.appear();
  EXPECT_EQ(read_file(here() + "/file"), "new text");
  EXPECT_EQ(names_in(here()).size(), 1U);
}

TEST_F(SmallFiles, ANewFileFollowsNoLinkThatStandsInItsPlace) {
  std::ofstream{there()} << "of another";
  fs::create_symlink(there(), here() + "/.new");
  write_durably(Path{here() + "/file"}, Path{here() + "/.new"}, "new text");
  EXPECT_EQ(read_file(here() + "/file"), "new text");
  EXPECT_EQ(read_file(there()), "of another");
}

TEST_F(SmallFiles, ANewFileThatDoesNotAppearGoes) {
  const std::array<std::string_view, 1> parts{"text"};
  {
    NewFile file{Path{here() + "/new"}, Path{here() + "/.new"}, parts};
    const NewFile moved{std::move(file)};
    EXPECT_EQ(names_in(here()).size(), 2U);
  }
  EXPECT_EQ(names_in(here()).size(), 1U);
}

}  // namespace
}  // namespace iocomp
