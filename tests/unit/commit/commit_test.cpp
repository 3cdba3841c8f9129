// SPDX-License-Identifier: BSD-3-Clause
#include "commit/commit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/path.h"
#include "commit/owner.h"
#include "commit/read_manifest.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

constexpr const char* no_mount = "this process may not mount a tmpfs";

struct Failure {
  ErrorCode code = ErrorCode::ok;
  std::string story;
};

template <typename Action>
Failure failure_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string job_of(const std::string& process) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::string{host.data()} + '-' + process;
}

class Commit : public testing::Test {
 protected:
  [[nodiscard]] TargetNames names(const std::string& path = "out.bin") const {
    return target_names(Path{folder_ / path}, -1, job_of(std::to_string(::getpid())));
  }

  TemporaryFolder folder_;
};

TEST_F(Commit, PreparesWhereNothingIsInTheWayAndLeavesNothing) {
  prepare_target(names(), false);
  EXPECT_EQ(files_in(folder_ / ""), 0);
}

TEST_F(Commit, RefusesAnExistingTargetUnlessItMayBeReplaced) {
  write_text(names().target.text(), "old");
  const Failure failure = failure_of([this] { prepare_target(names(), false); });
  EXPECT_EQ(failure.code, ErrorCode::target_exists);
  EXPECT_TRUE(contains(failure.story, names().target.text())) << failure.story;
  EXPECT_TRUE(contains(failure.story, "existing = \"replace\"")) << failure.story;
  prepare_target(names(), true);
  EXPECT_EQ(text_of(names().target.text()), "old");
}

TEST_F(Commit, TheManifestOfAFileTakesNoNameOfAnother) {
  write_text(names().manifest.text(), "{\"dt\": 0.1}");
  for (const bool replace : {false, true}) {
    EXPECT_EQ(outcome_of([&] { prepare_target(names(), replace); }).code, ErrorCode::target_exists);
  }
  write_text(names().manifest.text(), "{\"iocomp_ma");  // a torn one
  EXPECT_TRUE(outcome_of([&] { prepare_target(names(), true); }).ok());
  const auto of_manifest = target_names(names().manifest, -1, "here-1");
  EXPECT_EQ(outcome_of([&] { prepare_target(of_manifest, true); }).code, ErrorCode::target_exists);
}

TEST_F(Commit, ALinkThatLeadsNowhereIsATargetThatExists) {
  std::filesystem::create_symlink(folder_ / "nowhere", names().target.text());
  EXPECT_EQ(failure_of([this] { prepare_target(names(), false); }).code, ErrorCode::target_exists);
}

TEST_F(Commit, RefusesAFolderInPlaceOfTheTargetOrItsManifest) {
  for (const std::string& path : {names().target.text(), names().manifest.text()}) {
    std::filesystem::create_directory(path);
    const Failure failure = failure_of([this] { prepare_target(names(), true); });
    EXPECT_EQ(failure.code, ErrorCode::storage_failure);
    EXPECT_TRUE(contains(failure.story, path + ": Is a directory")) << failure.story;
    std::filesystem::remove(path);
  }
}

TEST_F(Commit, TellsAMissingFolder) {
  const Failure failure = failure_of([this] { prepare_target(names("missing/out.bin"), false); });
  EXPECT_EQ(failure.code, ErrorCode::storage_failure);
  EXPECT_TRUE(contains(failure.story, folder_ / "missing: No such file or directory"))
      << failure.story;
}

TEST_F(Commit, TellsAFileInPlaceOfTheFolder) {
  write_text(folder_ / "file", "");
  const Failure failure = failure_of([this] { prepare_target(names("file/out.bin"), false); });
  EXPECT_TRUE(contains(failure.story, "Not a directory")) << failure.story;
}

TEST_F(Commit, TellsAFolderWithoutPermission) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may write everywhere";
  }
  std::filesystem::create_directory(folder_ / "closed");
  ::chmod((folder_ / "closed").c_str(), 0555);
  const Failure failure = failure_of([this] { prepare_target(names("closed/out.bin"), false); });
  EXPECT_TRUE(contains(failure.story, "Permission denied")) << failure.story;
}

TEST_F(Commit, TellsAReadOnlyDisk) {
  const Mounted disk{folder_ / "disk", ""};
  if (!disk.is_mounted() || !disk.make_read_only()) {
    GTEST_SKIP() << no_mount;
  }
  const Failure failure = failure_of([this] { prepare_target(names("disk/out.bin"), false); });
  EXPECT_EQ(failure.code, ErrorCode::storage_failure);
  EXPECT_TRUE(contains(failure.story, "Read-only file system")) << failure.story;
}

TEST_F(Commit, PublishingGivesTheFileItsName) {
  write_text(names().temporary.text(), "new");
  publish(names(), false);
  EXPECT_EQ(text_of(names().target.text()), "new");
  EXPECT_FALSE(std::filesystem::exists(names().temporary.text()));
}

TEST_F(Commit, PublishingDoesNotOverwriteATargetThatHasAppearedMeanwhile) {
  write_text(names().temporary.text(), "new");
  write_text(names().target.text(), "of somebody else");
  const Failure failure = failure_of([this] { publish(names(), false); });
  EXPECT_EQ(failure.code, ErrorCode::target_exists);
  EXPECT_TRUE(contains(failure.story, "meanwhile")) << failure.story;
  EXPECT_EQ(text_of(names().target.text()), "of somebody else");
}

// A power loss could come between the new manifest and the old one.
TEST_F(Commit, NoManifestOfAnotherFileStandsBesideATargetThatHasAppearedMeanwhile) {
  write_text(names().temporary.text(), "new");
  write_text(names().target.text(), "of somebody else");
  write_text(names().manifest.text(), "theirs");
  const std::string before = identity_of(names().manifest);
  const Failure failure = failure_of([this] { publish_described(names(), {}, {}, false); });
  EXPECT_EQ(failure.code, ErrorCode::target_exists);
  EXPECT_EQ(text_of(names().manifest.text()), "theirs");
  EXPECT_EQ(identity_of(names().manifest), before);  // not even for a moment
}

TEST_F(Commit, PublishingReplacesWhereThatIsAllowed) {
  write_text(names().temporary.text(), "new");
  write_text(names().target.text(), "old");
  publish(names(), true);
  EXPECT_EQ(text_of(names().target.text()), "new");
}

TEST_F(Commit, TheOldManifestIsInForceUntilTheNewFileHasItsName) {
  write_text(names().target.text(), "old");
  write_text(names().manifest.text(), "{\"of\": \"old\"}");
  write_text(names().temporary.text(), "new");
  ManifestHead head;
  head.replaced = text_of(names().manifest.text());
  write_manifest(names(), head, {});
  EXPECT_EQ(manifest_in_force(names().manifest), "{\"of\":\"old\"}\n");
  publish(names(), true);
  EXPECT_EQ(manifest_in_force(names().manifest), text_of(names().manifest.text()));
}

TEST_F(Commit, AReplacedFileIsDescribedByItsOwnManifestAlone) {
  write_text(names().target.text(), "old");
  write_text(names().manifest.text(), "{\"of\": \"old\"}");
  write_text(names().temporary.text(), "new");
  publish_described(names(), {}, {}, true);
  EXPECT_EQ(text_of(names().target.text()), "new");
  EXPECT_FALSE(contains(text_of(names().manifest.text()), "old"));
  EXPECT_FALSE(contains(text_of(names().manifest.text()), "replaces"));
}

TEST_F(Commit, AJobThatDiedBeforeItReplacedAFileLeavesItsManifest) {
  constexpr const char* no_process = "2147483646";
  const TargetNames dead = target_names(names().target, -1, job_of(no_process));
  for (const char* before : {"{\"of\": \"old\"}", ""}) {
    write_text(dead.target.text(), "old");
    write_text(dead.temporary.text(), "new");
    ManifestHead head;
    head.replaced = before;
    write_manifest(dead, head, {});
    clear_away(names().target, Owner{names().target, "host-1"});
    EXPECT_FALSE(std::filesystem::exists(dead.temporary.text()));
    if (*before == '\0') {
      EXPECT_FALSE(std::filesystem::exists(dead.manifest.text()));
    } else {
      EXPECT_EQ(text_of(dead.manifest.text()), "{\"of\":\"old\"}\n");
    }
  }
}

TEST_F(Commit, AFileThatAnotherJobHasReplacedIsNotDescribedAnyMore) {
  write_text(names().temporary.text(), "ours");
  publish_described(names(), {}, {}, true);
  const std::string identity = identity_of(names().target);
  check_identity(names(), identity);
  write_text(names().temporary.text(), "theirs");
  publish_described(names(), {}, {}, true);
  const std::string theirs = text_of(names().manifest.text());
  const Failure failure = failure_of([&] { check_identity(names(), identity); });
  EXPECT_EQ(failure.code, ErrorCode::target_exists);
  EXPECT_TRUE(contains(failure.story, "another job")) << failure.story;
  EXPECT_EQ(text_of(names().manifest.text()), theirs);
}

TEST_F(Commit, PublishingIntoAFolderThatVanishedIsTold) {
  const Failure failure = failure_of([this] { publish(names("gone/out.bin"), false); });
  EXPECT_EQ(failure.code, ErrorCode::storage_failure);
  EXPECT_TRUE(contains(failure.story, "No such file or directory")) << failure.story;
}

TEST_F(Commit, AbandoningRemovesTheTemporaryOnly) {
  write_text(names().temporary.text(), "new");
  write_text(names().target.text(), "old");
  abandon(names());
  abandon(names());
  EXPECT_FALSE(std::filesystem::exists(names().temporary.text()));
  EXPECT_TRUE(std::filesystem::exists(names().target.text()));
}

TEST_F(Commit, RemovingACommittedFileTakesItsManifestAlong) {
  write_text(names().target.text(), "old");
  write_text(names().manifest.text(), "{}");
  EXPECT_TRUE(remove_committed(names()));
  EXPECT_EQ(files_in(folder_ / ""), 0);
}

TEST_F(Commit, AManifestForWhichThereIsNoRoomIsToldAndLeavesTheOldOne) {
  const Mounted disk{folder_ / "disk", "size=16k"};
  if (!disk.is_mounted()) {
    GTEST_SKIP() << no_mount;
  }
  const TargetNames on_disk = names("disk/out.bin");
  write_text(on_disk.manifest.text(), "old");
  contents::Description large;
  large.attributes["text"] = {array::ElementType::uint8, true,
                              std::vector<std::byte>(100000, std::byte{'x'})};
  const Failure failure = failure_of([&] { write_manifest(on_disk, {}, large); });
  EXPECT_EQ(failure.code, ErrorCode::storage_failure);
  EXPECT_TRUE(contains(failure.story, "No space left on device")) << failure.story;
  EXPECT_EQ(text_of(on_disk.manifest.text()), "old");
  EXPECT_EQ(files_in(folder_ / "disk"), 1);
}

}  // namespace
}  // namespace iocomp::commit
