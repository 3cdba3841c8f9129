// SPDX-License-Identifier: BSD-3-Clause
// Targets that are folders: how they appear, are replaced and removed.
#include "base/folder_targets.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/owner.h"
#include "commit/read_manifest.h"
#include "commit/rename_target.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

namespace fs = std::filesystem;

std::string job_name(const std::string& process) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::string{host.data()} + '-' + process;
}

template <typename Action>
ErrorCode code_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::ok;
}

class FolderTargets : public testing::Test {
 protected:
  [[nodiscard]] commit::TargetNames names() const {
    commit::TargetNames made =
        commit::target_names(Path{folder_ / "out.bp"}, -1, job_name(std::to_string(::getpid())));
    made.folder_mark = "md.idx";
    return made;
  }
  static void make_dataset(const std::string& path, const std::string& text) {
    fs::create_directory(path);
    write_text(path + "/md.idx", "index");
    write_text(path + "/data.0", text);
  }
  [[nodiscard]] std::string data() const { return text_of(names().target.text() + "/data.0"); }

  TemporaryFolder folder_;
};

TEST_F(FolderTargets, ADatasetGetsItsNameAsAWhole) {
  prepare_target(names(), false);
  make_dataset(names().temporary.text(), "new");
  publish(names(), false);
  EXPECT_EQ(data(), "new");
  EXPECT_FALSE(fs::exists(names().temporary.text()));
}

TEST_F(FolderTargets, ADatasetIsReplacedAndNothingOfTheOldOneStays) {
  make_dataset(names().target.text(), "old");
  write_text(names().target.text() + "/data.1", "old");
  EXPECT_EQ(code_of([this] { prepare_target(names(), false); }), ErrorCode::target_exists);
  prepare_target(names(), true);
  EXPECT_EQ(data(), "old") << "it stays until the commit";
  make_dataset(names().temporary.text(), "new");
  publish(names(), true);
  EXPECT_EQ(data(), "new");
  EXPECT_FALSE(fs::exists(names().target.text() + "/data.1"));
  EXPECT_EQ(files_in(folder_ / ""), 1);
}

// As a store of Zarr, with a folder for each array.
TEST_F(FolderTargets, MayHaveFoldersOfTheSameKind) {
  const std::string path = names().target.text();
  const auto is_one = [&] { return is_folder_of_a_format(Path{path}, "md.idx"); };
  make_dataset(path, "four");
  make_dataset(path + "/u", "seven..");
  fs::create_directory(path + "/v");  // begun, and not more
  EXPECT_TRUE(is_one());
  EXPECT_EQ(size_of_target(Path{path}), 5 + 4 + 5 + 7);
  make_durable(Path{path});
  fs::create_directory(path + "/u/w");
  EXPECT_FALSE(is_one());
  fs::remove(path + "/u/w");
  write_text(path + "/v/own", "of the user");
  EXPECT_FALSE(is_one());
  EXPECT_EQ(code_of([this] { prepare_target(names(), true); }), ErrorCode::storage_failure);
  fs::remove_all(path + "/v");
  fs::remove(path + "/md.idx");
  EXPECT_FALSE(is_one());
}

// A job dies between any two of its renames: manifest and dataset are of one job.
TEST_F(FolderTargets, ADeadJobLeavesTheManifestOfTheDatasetThatIsThere) {
  for (const bool is_exchanged : {false, true}) {
    const commit::TargetNames dead = [this] {
      auto made = commit::target_names(Path{folder_ / "out.bp"}, -1, "host-1");
      made.folder_mark = "md.idx";
      return made;
    }();
    make_dataset(dead.target.text(), "old");
    make_dataset(dead.temporary.text(), "new");
    ManifestHead head;
    head.name = "new";
    head.replaced = "{\"name\": \"old\"}";
    write_manifest(dead, head, {});
    if (is_exchanged) {
      ASSERT_EQ(rename_replacing(dead.target.folder(), dead.temporary.name(), dead.target.name()),
                0);
    }
    const std::string there = is_exchanged ? "new" : "old";
    const auto name_of_manifest = [&] {
      const auto text = manifest_in_force(dead.manifest).value_or("");
      return text.find("\"old\"") < text.find("\"replaces\"") ? "old" : "new";
    };
    EXPECT_EQ(data(), there);
    EXPECT_EQ(name_of_manifest(), there);
    clear_away(dead.target, Owner{dead.target, "host-2"});
    EXPECT_FALSE(fs::exists(dead.temporary.text()));
    EXPECT_EQ(data(), there);
    EXPECT_EQ(name_of_manifest(), there);
    fs::remove_all(dead.target.text());
  }
}

TEST_F(FolderTargets, AReplacementCanBeUndone) {
  for (const bool is_exchanged : {false, true}) {
    make_dataset(names().target.text(), "new");
    make_dataset(is_exchanged ? names().temporary.text()
                              : names().temporary.text() + std::string{set_aside_ending},
                 "old");
    EXPECT_EQ(
        undo_replacing(names().target.folder(), names().temporary.name(), names().target.name()),
        0);
    EXPECT_EQ(data(), "old");
    EXPECT_FALSE(fs::exists(names().temporary.text() + std::string{set_aside_ending}));
    fs::remove_all(names().temporary.text());
    fs::remove_all(names().target.text());
  }
}

TEST_F(FolderTargets, AReplacementKeepsNoOtherManifest) {
  make_dataset(names().target.text(), "old");
  write_text(names().manifest.text(), "{\"name\": \"old\"}");
  make_dataset(names().temporary.text(), "new");
  publish_described(names(), {}, {}, true);
  EXPECT_EQ(data(), "new");
  EXPECT_EQ(text_of(names().manifest.text()).find("old"), std::string::npos);
  EXPECT_EQ(text_of(names().manifest.text()).find("replaces"), std::string::npos);
  EXPECT_FALSE(fs::exists(names().temporary.text()));
}

TEST_F(FolderTargets, ADatasetReplacesAFile) {
  write_text(names().target.text(), "a file");
  prepare_target(names(), true);
  make_dataset(names().temporary.text(), "new");
  publish(names(), true);
  EXPECT_EQ(data(), "new");
  EXPECT_EQ(files_in(folder_ / ""), 1);
}

TEST_F(FolderTargets, WithoutReplaceADatasetThatAppearsMeanwhileStays) {
  prepare_target(names(), false);
  make_dataset(names().temporary.text(), "new");
  make_dataset(names().target.text(), "of somebody else");
  EXPECT_EQ(code_of([this] { publish(names(), false); }), ErrorCode::target_exists);
  EXPECT_EQ(data(), "of somebody else");
}

TEST_F(FolderTargets, AFolderThatIsNoDatasetIsNeverReplaced) {
  fs::create_directory(names().target.text());
  write_text(names().target.text() + "/thesis.tex", "years of work");
  EXPECT_EQ(code_of([this] { prepare_target(names(), true); }), ErrorCode::storage_failure);
  write_text(names().target.text() + "/md.idx", "");
  fs::create_directory(names().target.text() + "/inner");
  write_text(names().target.text() + "/inner/notes", "more work");
  EXPECT_EQ(code_of([this] { prepare_target(names(), true); }), ErrorCode::storage_failure);
  make_dataset(names().temporary.text(), "new");
  EXPECT_EQ(code_of([this] { publish(names(), true); }), ErrorCode::storage_failure);
  EXPECT_EQ(text_of(names().target.text() + "/thesis.tex"), "years of work");
}

TEST_F(FolderTargets, RemovesDatasetsThatDeadJobsHaveLeft) {
  const std::string dead = folder_ / ".out.bp.iocomp-host-1";
  make_dataset(dead, "x");
  clear_away(names().target, Owner{names().target, "host-2"});
  EXPECT_FALSE(fs::exists(dead));
}

TEST_F(FolderTargets, WhatADeadJobHasSetAsideGetsItsNameBackIfThatIsFree) {
  const std::string aside = folder_ / ".out.bp.iocomp-host-1.old";
  make_dataset(aside, "old");
  clear_away(names().target, Owner{names().target, "host-2"});
  EXPECT_EQ(data(), "old");
  make_dataset(aside, "older");
  clear_away(names().target, Owner{names().target, "host-2"});
  EXPECT_EQ(data(), "old");
  EXPECT_FALSE(fs::exists(aside));
}

TEST_F(FolderTargets, AbandoningAndRemovingLeaveNothing) {
  make_dataset(names().temporary.text(), "new");
  make_dataset(names().target.text(), "old");
  write_text(names().manifest.text(), "{}");
  abandon(names());
  EXPECT_FALSE(fs::exists(names().temporary.text()));
  EXPECT_EQ(data(), "old");
  EXPECT_TRUE(remove_committed(names()));
  EXPECT_EQ(files_in(folder_ / ""), 0);
}

// A link to nowhere is listed, and not there when it is looked at: as a file that a job renames
// between the two.
TEST_F(FolderTargets, NamesThatAreGoneCountNothing) {
  const std::string path = names().target.text();
  make_dataset(path, "four");
  make_dataset(path + "/u", "");
  fs::create_symlink("nowhere", path + "/md.idx.new");
  fs::create_symlink("nowhere", path + "/u/md.idx.new");
  EXPECT_EQ(size_of_target(Path{path}), 5 + 4 + 5);
}

TEST_F(FolderTargets, SizeAndDurabilityAreThoseOfAllFiles) {
  make_dataset(names().target.text(), "1234567");
  write_text(folder_ / "file", "123");
  EXPECT_EQ(size_of_target(names().target), 12);
  EXPECT_EQ(size_of_target(Path{folder_ / "file"}), 3);
  make_durable(names().target);
  make_durable(Path{folder_ / "file"});
  EXPECT_EQ(size_if_there(Path{folder_ / "nowhere"}), std::nullopt);
  EXPECT_EQ(code_of([this] { (void)size_of_target(Path{folder_ / "nowhere"}); }),
            ErrorCode::storage_failure);
  EXPECT_EQ(code_of([this] { make_durable(Path{folder_ / "nowhere"}); }),
            ErrorCode::storage_failure);
}

}  // namespace
}  // namespace iocomp::commit
