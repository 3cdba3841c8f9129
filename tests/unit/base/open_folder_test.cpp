// SPDX-License-Identifier: BSD-3-Clause
#include "base/open_folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "unit/temporary_folder.h"

namespace {
// Called once, after a look at what has a name: then others may change it.
std::function<void()> after_next_look;
}  // namespace

extern "C" int fstatat(int folder, const char* name, struct stat* found, int flags) noexcept {
  static const auto look = reinterpret_cast<decltype(&::fstatat)>(::dlsym(RTLD_NEXT, "fstatat"));
  const int result = look(folder, name, found, flags);
  const int error = errno;
  if (const auto others = std::exchange(after_next_look, nullptr)) {
    others();
  }
  errno = error;
  return result;
}

namespace iocomp {
namespace {

namespace fs = std::filesystem;
using Links = OpenFolder::Links;

class OpenFolderTest : public testing::Test {
 protected:
  OpenFolderTest() {
    fs::create_directory(path("here"));
    write_text(path("private"), "private");
  }
  [[nodiscard]] std::string path(const std::string& name) const { return temporary_ / name; }
  [[nodiscard]] std::string in(const std::string& name) const { return path("here/") + name; }
  [[nodiscard]] std::string is_private() const { return text_of(path("private")); }
  static std::string story(const std::function<void()>& action) { return outcome_of(action).story; }

  // Whatever somebody may put under the name of a file of ours.
  [[nodiscard]] std::map<std::string, std::function<void(const std::string&)>> planted() const {
    return {
        {"a link to a file",
         [this](const std::string& at) { fs::create_symlink(path("private"), at); }},
        {"a link to nothing",
         [this](const std::string& at) { fs::create_symlink(path("nothing"), at); }},
        {"a link to a device", [](const std::string& at) { fs::create_symlink("/dev/zero", at); }},
        {"a pipe", [](const std::string& at) { (void)::mkfifo(at.c_str(), 0666); }},
        {"a folder",
         [this](const std::string& at) {
           fs::create_directory(at);
           fs::create_symlink(path("private"), at + "/link");
           write_text(at + "/file", "x");
         }},
        {"another name of a file",
         [this](const std::string& at) { fs::create_hard_link(path("private"), at); }}};
  }
  void plant(const std::string& what, const std::string& name) const {
    fs::remove_all(in(name));
    planted().at(what)(in(name));
  }

  TemporaryFolder temporary_;
};

TEST_F(OpenFolderTest, StaysTheSameWhateverBecomesOfItsPath) {
  const OpenFolder folder{path("here")};
  write_text(in("file"), "text");
  fs::rename(path("here"), path("there"));
  fs::create_directory(path("here"));
  EXPECT_EQ(folder.read("file"), "text");
  (void)folder.create("new", O_WRONLY);
  folder.sync();
  EXPECT_TRUE(fs::exists(path("there/new")));
  EXPECT_TRUE(fs::is_empty(path("here")));
  EXPECT_FALSE(have_the_same_numbers(folder.address(), address_of(path("here"))));
  EXPECT_TRUE(have_the_same_numbers(folder.address(), address_of(path("there"))));
}

TEST_F(OpenFolderTest, StaysTheSameWhateverTheWorkingDirectoryIs) {
  const fs::path before = fs::current_path();
  fs::current_path(path("here"));
  const Path file{"file"};
  const Path deeper{"../here/file"};
  fs::current_path(path(""));
  const Descriptor made = file.folder().create(file.name(), O_WRONLY);
  EXPECT_TRUE(fs::exists(in("file")));
  EXPECT_TRUE(deeper.is_there());
  fs::current_path(before);
  EXPECT_EQ(file.text(), "file");
  EXPECT_EQ(deeper.text(), "../here/file");
  EXPECT_EQ(fs::canonical(file.folder().address().path), fs::canonical(path("here")));
}

TEST_F(OpenFolderTest, TellsOfAFolderThatIsNotThere) {
  EXPECT_NE(story([this] {
              const OpenFolder folder{path("gone")};
            }).find("cannot open the folder " + path("gone") + ": No such file or directory"),
            std::string::npos);
  EXPECT_NE(story([this] { const OpenFolder folder{path("private")}; }).find("Not a directory"),
            std::string::npos);
  EXPECT_FALSE(OpenFolder::if_there(path("gone")));
  EXPECT_FALSE(OpenFolder::if_there(path("private")));
  EXPECT_FALSE(OpenFolder::if_there(path("private/below")));
}

TEST_F(OpenFolderTest, CreatesInPlaceOfWhateverSomebodyHasPutThere) {
  const OpenFolder folder{path("here")};
  for (const auto& [what, put] : planted()) {
    plant(what, "file");
    {
      const Descriptor file = folder.create("file", O_WRONLY);
      EXPECT_EQ(::write(file.raw(), "new", 3), 3);
    }
    EXPECT_EQ(text_of(in("file")), "new") << what;
    EXPECT_EQ(is_private(), "private") << what;
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(in("file")))) << what;
  }
}

TEST_F(OpenFolderTest, SharesAFileWithOtherProcessesAndNothingElse) {
  const OpenFolder folder{path("here")};
  const Descriptor mine = folder.create_or_share("file", O_RDWR);
  const Descriptor theirs = folder.create_or_share("file", O_RDWR);
  EXPECT_EQ(::pwrite(mine.raw(), "12", 2, 0), 2);
  EXPECT_EQ(::pwrite(theirs.raw(), "34", 2, 2), 2);
  EXPECT_EQ(text_of(in("file")), "1234");
  for (const auto& [what, put] : planted()) {
    plant(what, "file");
    (void)outcome_of([&] {
      const Descriptor file = folder.create_or_share("file", O_RDWR);
      EXPECT_EQ(::pwrite(file.raw(), "new", 3, 0), 3);
    });
    EXPECT_EQ(is_private(), "private") << what;
  }
}

// Ranks that find a pipe under the name of their file all want to remove it. None may remove the
// file that another has made by then: that one would write into a file without a name.
TEST_F(OpenFolderTest, DoesNotRemoveTheFileThatAnotherRankHasMade) {
  const OpenFolder folder{path("here")};
  plant("a pipe", "file");
  Descriptor theirs;
  after_next_look = [&] {
    fs::remove(in("file"));
    theirs = folder.create_or_share("file", O_RDWR);
  };
  const Descriptor mine = folder.create_or_share("file", O_RDWR);
  EXPECT_EQ(::pwrite(mine.raw(), "12", 2, 0), 2);
  EXPECT_EQ(::pwrite(theirs.raw(), "34", 2, 2), 2);
  EXPECT_EQ(text_of(in("file")), "1234");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
}

TEST_F(OpenFolderTest, TellsIfAFileOfAnotherRankCannotKeepItsName) {
  const OpenFolder folder{path("here")};
  plant("a pipe", "file");
  Descriptor theirs;
  after_next_look = [&] {
    fs::remove(in("file"));
    theirs = folder.create_or_share("file", O_RDWR);
    after_next_look = [&] { write_text(in("file"), "a third"); };
  };
  EXPECT_NE(story([&] {
              (void)folder.create_or_share("file", O_RDWR);
            }).find("cannot keep the file that another rank has made at"),
            std::string::npos);
}

TEST_F(OpenFolderTest, OpensFilesAlone) {
  const OpenFolder folder{path("here")};
  for (const int access : {O_RDONLY, O_WRONLY, O_RDWR}) {
    for (const Links links : {Links::as_they_are, Links::followed}) {
      plant("a pipe", "file");
      EXPECT_NE(story([&] { (void)folder.open("file", access, links); }).find("it is a pipe"),
                std::string::npos)
          << access;
      plant("a folder", "file");
      EXPECT_NE(story([&] { (void)folder.open("file", access, links); }).find("it is a folder"),
                std::string::npos)
          << access;
    }
    plant("a link to a file", "file");
    EXPECT_NE(story([&] { (void)folder.open("file", access); }).find("it is a link"),
              std::string::npos);
    plant("a link to a device", "file");
    EXPECT_NE(
        story([&] { (void)folder.open("file", access, Links::followed); }).find("it is a device"),
        std::string::npos);
    plant("another name of a file", "file");
    EXPECT_NE(story([&] { (void)folder.open_own("file", access); }).find("2 names"),
              std::string::npos);
  }
  EXPECT_FALSE(folder.open_if_there("nothing", O_RDWR));
  EXPECT_EQ(story([&] { (void)folder.open("nothing", O_RDWR); }),
            "cannot open " + in("nothing") + ": No such file or directory");
}

TEST_F(OpenFolderTest, WritesThroughALinkOfItsOwnUserAlone) {
  const OpenFolder folder{path("here")};
  fs::create_symlink("../private", in("file"));
  EXPECT_TRUE(folder.open("file", O_RDWR, Links::of_owner).is_open());
  if (::geteuid() == 0) {
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(::lchown(in("file").c_str(), nobody, nobody), 0);
    EXPECT_NE(story([&] { (void)folder.open("file", O_RDWR, Links::of_owner); }).find("a link"),
              std::string::npos);
  }
  EXPECT_EQ(folder.read("file"), "private");
}

TEST_F(OpenFolderTest, ReadsNoMoreThanATextMayHave) {
  const OpenFolder folder{path("here")};
  write_text(in("file"), std::string(100000, 'x'));
  EXPECT_EQ(folder.read("file", 100000).value().size(), 100000U);
  EXPECT_NE(story([&] { (void)folder.read("file", 99999); }).find("it has more than"),
            std::string::npos);
  ASSERT_EQ(::truncate(in("file").c_str(), 1L << 40), 0);
  EXPECT_NE(story([&] { (void)folder.read("file"); }).find("more than 1 GiB"), std::string::npos);
}

TEST_F(OpenFolderTest, RemovesAFolderWithAllThatIsInIt) {
  const OpenFolder folder{path("here")};
  for (const auto& [what, put] : planted()) {
    plant(what, "file");
    EXPECT_EQ(folder.remove("file"), 0) << what;
    EXPECT_FALSE(fs::exists(fs::symlink_status(in("file")))) << what;
    EXPECT_EQ(is_private(), "private") << what;
  }
  EXPECT_EQ(folder.remove("file"), 0);
}

TEST_F(OpenFolderTest, RenamesAsIsAsked) {
  const OpenFolder folder{path("here")};
  write_text(in("one"), "1");
  write_text(in("two"), "2");
  EXPECT_EQ(folder.rename_first("one", "two"), EEXIST);
  EXPECT_EQ(folder.exchange("one", "two"), 0);
  EXPECT_EQ(text_of(in("one")), "2");
  EXPECT_EQ(folder.rename("one", "two"), 0);
  EXPECT_EQ(text_of(in("two")), "2");
  EXPECT_EQ(folder.rename_first("two", "three"), 0);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"three"});
  EXPECT_EQ(folder.unlink("two"), ENOENT);
}

TEST_F(OpenFolderTest, ChangesNothingThatOthersHaveTakenOver) {
  write_text(in("file"), "theirs");
  fs::create_directory(in("folder"));
  write_text(in("folder/file"), "theirs");
  bool is_taken_over = false;
  OpenFolder folder{path("here")};
  folder.fence([&] { return is_taken_over; });
  const OpenFolder inside = folder.folder("folder");
  EXPECT_NO_THROW(folder.check_fence("file"));
  EXPECT_EQ(inside.rename("file", "own"), 0);
  is_taken_over = true;
  for (const auto& [name, change] : std::map<std::string, std::function<void()>>{
           {"create", [&] { (void)folder.create("file", O_WRONLY); }},
           {"create_first", [&] { (void)folder.create_first("new", O_WRONLY); }},
           {"create_or_share", [&] { (void)folder.create_or_share("file", O_WRONLY); }},
           {"open", [&] { (void)folder.open("file", O_WRONLY); }},
           {"open_if_there", [&] { (void)folder.open_if_there("file", O_RDWR); }},
           {"open_own", [&] { (void)folder.open_own("file", O_RDWR); }},
           {"check_fence", [&] { folder.check_fence("file"); }}}) {
    EXPECT_NE(story(change).find("Operation canceled"), std::string::npos) << name;
  }
  for (const int error :
       {folder.rename("file", "new"), folder.rename_first("file", "new"),
        folder.exchange("file", "folder"), folder.unlink("file"), folder.remove("file"),
        folder.remove("folder"), folder.make_folder("new"), inside.unlink("own")}) {
    EXPECT_EQ(error, ECANCELED);
  }
  EXPECT_EQ(folder.read("file"), "theirs");
  EXPECT_EQ(inside.read("own"), "theirs");
  EXPECT_FALSE(folder.has("new"));
}

TEST_F(OpenFolderTest, WhatIsOpenCanBeOpenedOnceMoreWithoutItsName) {
  const OpenFolder folder{path("here")};
  const Descriptor file = folder.create("file", O_RDWR);
  plant("a link to a file", "file");
  const Descriptor again = open_again(file, O_RDWR);
  EXPECT_EQ(::pwrite(again.raw(), "new", 3, 0), 3);
  char bytes[3] = {};
  EXPECT_EQ(::pread(file.raw(), bytes, 3, 0), 3);
  EXPECT_EQ(std::string(bytes, 3), "new");
  EXPECT_EQ(is_private(), "private");
}

TEST_F(OpenFolderTest, SaysThatPermissionIsMissing) {
  const OpenFolder folder{path("here")};
  ::chmod(path("here").c_str(), 0500);
  const uid_t before = ::geteuid();
  constexpr uid_t nobody = 65534;  // root may write everywhere
  if (before == 0 && ::seteuid(nobody) != 0) {
    GTEST_SKIP() << "cannot give up the rights of root: " << std::strerror(errno);
  }
  const std::string told = story([&] { (void)folder.create("file", O_WRONLY); });
  ASSERT_EQ(::seteuid(before), 0);
  EXPECT_EQ(told, "cannot create " + in("file") + ": Permission denied");
}

TEST_F(OpenFolderTest, KnowsTheTopOfItsFileSystem) {
  const OpenFolder folder{path("here")};
  const auto top = folder.top().address();
  EXPECT_EQ(top.device, folder.address().device);
  EXPECT_TRUE(have_the_same_numbers(top, OpenFolder{"/"}.address()) ||
              OpenFolder{"/"}.address().device != top.device);
}

TEST_F(OpenFolderTest, KnowsWhatIsNotThereWithoutAFreeDescriptor) {
  write_text(in("file"), "text");
  const OpenFolder folder{path("here")};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string missing = story([&] { EXPECT_FALSE(folder.read("missing")); });
  const std::string there = story([&] { (void)folder.read("file"); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(missing, "");
  EXPECT_EQ(there, "cannot open " + in("file") + ": Too many open files");
}

// A rank that has not come to the folder of its file must not crash, whatever it does with it.
TEST(Path, WithoutAFolderIsAnErrorWhereverItIsUsed) {
  const Path none;
  EXPECT_EQ(none.text(), "");
  EXPECT_THROW((void)none.folder(), Error);
  EXPECT_THROW((void)none.is_there(), Error);
  EXPECT_THROW((void)(none + ".json").folder(), Error);
  EXPECT_THROW((void)none.beside("x").is_there(), Error);
}

// Open MPI waits for a semaphore which has the last part of a file's name, and which all jobs
// share.
TEST(OwnName, LeadsToTheFileAndHasALastPartOfItsOwn) {
  const TemporaryFolder folder;
  const Descriptor file{::open((folder / "file").c_str(), O_CREAT | O_RDWR, 0600)};
  std::string gone;
  {
    const OwnName one{file};
    const OwnName other{file};
    gone = name_of(one);
    const auto last = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };
    EXPECT_NE(last(name_of(one)), last(name_of(other)));
    EXPECT_NE(last(name_of(one)), last(name_of(file)));
    ASSERT_EQ(::unlink((folder / "file").c_str()), 0);
    struct stat meant{};
    struct stat found{};
    ASSERT_EQ(::fstat(file.raw(), &meant), 0);
    ASSERT_EQ(::stat(name_of(one).c_str(), &found), 0);
    EXPECT_EQ(found.st_ino, meant.st_ino);
  }
  EXPECT_EQ(::access(gone.c_str(), F_OK), -1);
}

}  // namespace
}  // namespace iocomp
