// SPDX-License-Identifier: BSD-3-Clause
// Each system call of a commit fails in turn: names and manifests are those of before or of after,
// and a power loss changes nothing of that.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/kept_file.h"
#include "commit/owner.h"
#include "commit/publication.h"
#include "commit/read_manifest.h"
#include "contents/catalogue.h"
#include "formats/registry.h"
#include "unit/failing_calls.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

constexpr const char* old_manifest = "{\"of\":\"old\"}\n";

class CommitWithFaults : public testing::Test {
 protected:
  CommitWithFaults() { calls = {}; }
  ~CommitWithFaults() override { calls = {}; }

  [[nodiscard]] TargetNames names() const {
    return target_names(Path{*folder_ / "out.bin"}, -1, "here-1");
  }
  void prepare(bool is_there) {
    folder_.emplace();
    write_text(names().temporary.text(), "new");
    if (is_there) {
      write_text(names().target.text(), "old");
      write_text(names().manifest.text(), old_manifest);
    }
  }
  [[nodiscard]] std::string target() const { return text_of(names().target.text()); }
  [[nodiscard]] bool is_there(const Path& path) const {
    return std::filesystem::exists(path.text());
  }
  // Runs differ only in the step of the action that fails. @return how many could.
  int for_each_failure(const std::function<void()>& before, const std::function<void()>& action,
                       const std::function<void(const Outcome&)>& after) {
    for (int number = 0;; ++number) {
      before();
      calls = {.until_failure = number};
      const Outcome outcome = outcome_of(action);
      const Calls made = calls;
      calls = {};
      std::string all;
      for (const auto& call : made.made) {
        all += call + '\n';
      }
      SCOPED_TRACE(all + outcome.story);
      if (!outcome.ok() || !made.has_failed) {  // else it was none that counts
        EXPECT_FALSE(made.undurable.contains("out.bin"));
        EXPECT_FALSE(made.undurable.contains("out.bin.json"));
      }
      after(outcome);
      if (!made.has_failed) {
        EXPECT_TRUE(outcome.ok());
        return number;
      }
      if (testing::Test::HasFailure()) {
        return number;
      }
    }
  }
  std::vector<std::string> calls_of(const std::function<void()>& action) {
    calls = {};
    action();
    const auto made = calls.made;
    calls = {};
    return made;
  }

  std::optional<TemporaryFolder> folder_;
};

TEST_F(CommitWithFaults, AFileThatCannotBePublishedKeepsItsTemporaryNameAndHasNoManifest) {
  const int failures = for_each_failure([this] { prepare(false); },
                                        [this] { publish_described(names(), {}, {}, false); },
                                        [this](const Outcome& outcome) {
                                          EXPECT_EQ(is_there(names().target), outcome.ok());
                                          EXPECT_EQ(is_there(names().manifest), outcome.ok());
                                          EXPECT_EQ(is_there(names().temporary), !outcome.ok());
                                          EXPECT_EQ(files_in(*folder_ / ""), outcome.ok() ? 2 : 1);
                                        });
  EXPECT_EQ(failures, 8);
}

TEST_F(CommitWithFaults, AFileThatCannotBeReplacedKeepsItsManifest) {
  const int failures = for_each_failure(
      [this] { prepare(true); }, [this] { publish_described(names(), {}, {}, true); },
      [this](const Outcome& outcome) {
        if (outcome.ok()) {
          EXPECT_EQ(target(), "new");
        }
        EXPECT_EQ(manifest_in_force(names().manifest) == old_manifest, target() == "old");
        EXPECT_EQ(is_there(names().temporary), target() == "old");
        EXPECT_EQ(files_in(*folder_ / ""), target() == "old" ? 3 : 2);
      });
  EXPECT_GE(failures, 7);
}

TEST_F(CommitWithFaults, WhatIsNamedIsDurableBefore) {
  prepare(false);
  const std::string temporary = names().temporary.name();
  const std::string manifest = temporary + ".json";
  EXPECT_EQ(calls_of([this] { publish_described(names(), {}, {}, false); }),
            (std::vector<std::string>{"write " + manifest, "sync " + manifest,
                                      "rename " + manifest + " out.bin.json", "sync folder",
                                      "rename " + temporary + " out.bin", "sync folder"}));
  write_text(names().temporary.text(), "newer");
  EXPECT_EQ(calls_of([this] { publish_described(names(), {}, {}, true); }),
            (std::vector<std::string>{"sync folder", "write " + manifest, "sync " + manifest,
                                      "rename " + manifest + " out.bin.json", "sync folder",
                                      "rename " + temporary + " out.bin", "sync folder",
                                      "write " + manifest, "sync " + manifest,
                                      "rename " + manifest + " out.bin.json", "sync folder"}));
}

TEST_F(CommitWithFaults, ARemovedFileIsGoneBeforeItsManifest) {
  prepare(true);
  EXPECT_EQ(calls_of([this] { EXPECT_TRUE(remove_committed(names())); }),
            (std::vector<std::string>{"unlink out.bin", "sync folder", "unlink out.bin.json"}));
}

TEST_F(CommitWithFaults, AFolderLosesItsNameForGoodBeforeItGoesInParts) {
  folder_.emplace();
  TargetNames names = target_names(Path{*folder_ / "out.bp"}, -1, "here-1");
  names.folder_mark = "md.idx";
  std::filesystem::create_directory(names.target.text());
  write_text(names.target.text() + "/md.idx", "index");
  write_text(names.manifest.text(), old_manifest);
  const std::string removed = names.temporary.name() + ".removed";
  const auto made = calls_of([&] { EXPECT_TRUE(remove_committed(names)); });
  ASSERT_GE(made.size(), 5U);
  EXPECT_EQ(made[0], "rename out.bp " + removed);
  EXPECT_EQ(made[1], "sync folder");
  EXPECT_EQ(made[made.size() - 2], "sync folder");
  EXPECT_EQ(made.back(), "unlink out.bp.json");
  EXPECT_EQ(files_in(*folder_ / ""), 0);
}

TEST_F(CommitWithFaults, AFileThatCannotBeRemovedKeepsItsManifest) {
  for (const int number : {0, 1}) {
    prepare(true);
    calls = {.until_failure = number};
    EXPECT_EQ(remove_committed(names()), number == 1);
    calls = {};
    EXPECT_EQ(is_there(names().target), number == 0);
    EXPECT_TRUE(is_there(names().manifest));
  }
}

TEST_F(CommitWithFaults, WhatWasToBeReplacedIsDescribedBeforeTheTemporaryGoes) {
  for (const std::string before : {old_manifest, ""}) {
    prepare(true);
    ManifestHead head;
    head.replaced = before;
    write_manifest(names(), head, {});
    const std::string temporary = names().temporary.name();
    const std::string manifest = temporary + ".json";
    using Made = std::vector<std::string>;
    EXPECT_EQ(calls_of([this] { abandon(names()); }),
              before.empty() ? (Made{"unlink out.bin.json", "sync folder", "unlink " + temporary})
                             : (Made{"write " + manifest, "sync " + manifest,
                                     "rename " + manifest + " out.bin.json", "sync folder",
                                     "unlink " + temporary}));
  }
}

TEST_F(CommitWithFaults, ATemporaryStaysWhereTheManifestCountsOnIt) {
  prepare(true);
  ManifestHead head;
  head.replaced = old_manifest;
  write_manifest(names(), head, {});
  for (int number = 0; number < 4; ++number) {
    calls = {.until_failure = number};
    abandon(names());
    calls = {};
    if (number < 3) {  // where the folder is not synced, the manifest may be the old one again
      EXPECT_TRUE(is_there(names().temporary)) << number;
      EXPECT_EQ(manifest_in_force(names().manifest), old_manifest);
      write_manifest(names(), head, {});
    }
  }
}

TEST_F(CommitWithFaults, AManifestWithoutItsFileGoesWhenTheFileIsGoneForGood) {
  prepare(true);
  write_text(names().manifest.text(), "{\"iocomp_manifest\": 2}");
  std::filesystem::remove(names().target.text());
  std::filesystem::remove(names().temporary.text());
  const std::string copy = names().target.text() + ".copy";  // of the user
  write_text(copy, text_of(names().manifest.text()));
  write_text(*folder_ / ".out.bin.iocomp-lock", "");  // of a job that crashed
  const Owner owner{names().target, "here-1"};
  calls = {.until_failure = 0};
  clear_away(names().target, owner);
  EXPECT_TRUE(calls.has_failed);
  EXPECT_TRUE(is_there(names().manifest));
  EXPECT_EQ(calls_of([&] { clear_away(names().target, owner); }),
            (std::vector<std::string>{"sync folder", "unlink out.bin.json"}));
  EXPECT_TRUE(std::filesystem::exists(copy));
}

TEST_F(CommitWithFaults, WhatOthersHaveLeftIsMadeDurableBeforeItCounts) {
  prepare(true);
  EXPECT_EQ(calls_of([this] { make_published_durable(names()); }),
            (std::vector<std::string>{"sync out.bin.json", "sync folder"}));
  for (const int number : {0, 1}) {
    calls = {.until_failure = number};
    EXPECT_FALSE(outcome_of([this] { make_published_durable(names()); }).ok());
  }
}

TEST_F(CommitWithFaults, ACutThatFailsIsTold) {
  prepare(true);
  EXPECT_EQ(calls_of([this] { cut(names().target, 2); }),
            (std::vector<std::string>{"cut out.bin", "sync out.bin"}));
  EXPECT_EQ(target(), "ol");
  for (const int number : {0, 1}) {
    calls = {.until_failure = number};
    EXPECT_EQ(outcome_of([this] { cut(names().target, 1); }).code, ErrorCode::storage_failure);
  }
}

class SeriesWithFaults : public CommitWithFaults {
 protected:
  SeriesWithFaults() {
    contents::Event event;
    event.what = contents::Event::What::define;
    event.name = "u";
    event.shape = {1, {4}};
    catalogue_.apply(event);
  }
  void begin(bool is_by_step = false) {
    prepare(false);
    contents_ = {};
    publication_.emplace(
        Publication::Identity{.name = "out",
                              .path = *folder_ / "out.bin",
                              .job = "here-1",
                              .held = std::make_shared<const OpenFolder>(*folder_ / ""),
                              .file_per_step = is_by_step,
                              .keep = is_by_step ? 1 : 0},
        format_, &catalogue_);
  }
  void commit(std::int64_t step) {
    contents_.add(step, 0, 32 * step);
    publication_->commit_step(step, contents_, catalogue_)();
  }
  [[nodiscard]] std::int64_t committed() const {
    const Path& path = publication_->names(-1).manifest;
    return parse_manifest(text_of(path.text()), path.text()).committed_steps;
  }

  const formats::Format& format_ = formats::format("posix");
  contents::Catalogue catalogue_{format_.traits().rules, 1, true};
  contents::Contents contents_;
  std::optional<Publication> publication_;
};

TEST_F(SeriesWithFaults, AStepThatCannotBeToldIsNotThere) {
  const int failures = for_each_failure(
      [this] {
        begin();
        commit(0);
      },
      [this] { commit(1); },
      [this](const Outcome& outcome) {
        EXPECT_EQ(committed(), outcome.ok() ? 2 : 1);
        EXPECT_EQ(files_in(*folder_ / ""), 2);
      });
  EXPECT_EQ(failures, 2);
}

// A crash may take that name away again.
TEST_F(SeriesWithFaults, AFileThatCouldNotBeNamedForGoodNorGetItsOldNameBackIsStuck) {
  int stuck = 0;
  for (int number = 0;; ++number) {
    begin();
    calls = {.until_failure = number, .goes_on_failing = true};
    const Outcome outcome = outcome_of([this] { commit(0); });
    const bool has_failed = calls.has_failed;
    calls = {};
    EXPECT_EQ(publication_->is_stuck(), !outcome.ok() && is_there(names().target)) << number;
    stuck += publication_->is_stuck() ? 1 : 0;
    if (!has_failed) {
      break;
    }
  }
  EXPECT_EQ(stuck, 1);
}

TEST_F(SeriesWithFaults, AfterAStepThatWasNotToldOthersAre) {
  begin();
  commit(0);
  calls = {.until_failure = 1};
  EXPECT_FALSE(outcome_of([this] { commit(1); }).ok());
  calls = {};
  commit(2);
  EXPECT_EQ(committed(), 3);
}

TEST_F(SeriesWithFaults, AnEndThatCannotBeToldLeavesTheSteps) {
  for_each_failure(
      [this] {
        begin();
        commit(0);
        commit(1);
      },
      [this] { publication_->commit_file(contents_, catalogue_)(); },
      [this](const Outcome& /*outcome*/) {
        EXPECT_EQ(committed(), 2);
        EXPECT_EQ(files_in(*folder_ / ""), 2);
      });
}

}  // namespace
}  // namespace iocomp::commit
