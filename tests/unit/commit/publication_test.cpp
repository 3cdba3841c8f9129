// SPDX-License-Identifier: BSD-3-Clause
#include "commit/publication.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/earlier_steps.h"
#include "commit/file_terms.h"
#include "commit/kept_file.h"
#include "commit/read_manifest.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "formats/registry.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

class PublicationOfASeries : public testing::Test {
 protected:
  PublicationOfASeries() {
    contents::Event event;
    event.what = contents::Event::What::define;
    event.name = "u";
    event.shape = {1, {4}};
    catalogue_.apply(event);
  }

  void commit(std::int64_t step) { commit(step, publication_); }
  void commit(std::int64_t step, Publication& publication) {
    contents_.add(step, 0, 32 * step);
    publication.commit_step(step, contents_, catalogue_)();
  }
  void set_attribute(std::int64_t step) {
    contents::Event event;
    event.what = contents::Event::What::attribute;
    event.step = step;
    event.name = "note";
    event.attribute.is_text = true;
    event.attribute.values = {std::byte{'x'}};
    catalogue_.apply(event);
  }
  // The identity of a later job that goes on from this step.
  [[nodiscard]] Publication::Identity going_on(std::int64_t after) const {
    return {.name = "out",
            .path = folder_ / "out.bin",
            .job = "here-2",
            .held = std::make_shared<const OpenFolder>(folder_ / ""),
            .existing = config::Existing::go_on,
            .after = after};
  }
  // A manifest is replaced by a file of its own, or grows.
  [[nodiscard]] std::string manifest() const {
    const Path path = publication_.names(-1).manifest;
    return identity_of(path) + ", " + std::to_string(text_of(path.text()).size()) + " bytes";
  }

  TemporaryFolder folder_;
  const formats::Format& format_ = formats::format("posix");
  contents::Catalogue catalogue_{format_.traits().rules, 1, true};
  contents::Contents contents_;
  Publication publication_{{.name = "out",
                            .path = folder_ / "out.bin",
                            .job = "here-1",
                            .held = std::make_shared<const OpenFolder>(folder_ / "")},
                           format_,
                           &catalogue_};
};

TEST_F(PublicationOfASeries, WritesNoManifestThatSaysTheSame) {
  write_text(publication_.names(-1).temporary.text(), "values");
  commit(0);
  const std::string before = manifest();
  publication_.commit_file(contents_, catalogue_)();
  EXPECT_EQ(manifest(), before);
}

TEST_F(PublicationOfASeries, ItsManifestGrowsByLinesAndEndsWithoutThem) {
  write_text(publication_.names(-1).temporary.text(), "values");
  commit(0);
  const Path path = publication_.names(-1).manifest;
  const std::string first = text_of(path.text());
  const std::string identity = identity_of(path);
  commit(1);
  EXPECT_EQ(identity_of(path), identity);
  EXPECT_EQ(text_of(path.text()).substr(0, first.size()), first);
  EXPECT_EQ(parse_manifest(text_of(path.text()), path.text()).committed_steps, 2);
  publication_.commit_file(contents_, catalogue_)();
  EXPECT_TRUE(text_of(path.text()).ends_with("\n}\n"));
  EXPECT_EQ(parse_manifest(text_of(path.text()), path.text()).committed_steps, 2);
}

TEST_F(PublicationOfASeries, AStepWithoutVariablesKeepsItsNumberAndTime) {
  write_text(publication_.names(-1).temporary.text(), "values");
  for (std::int64_t step = 0; step < 6; ++step) {  // 100, 101, 300 ... 303
    contents::Event begin;
    begin.what = contents::Event::What::begin_step;
    begin.step = step;
    begin.number = step < 2 ? 100 + step : 298 + step;
    begin.time = step == 2 || step == 5 ? 0.5 * static_cast<double>(step) : contents::unknown_time;
    catalogue_.apply(begin);
    contents_.add(step);
    if (step == 0 || step == 3) {
      commit(step);
    } else {
      publication_.commit_step(step, contents_, catalogue_)();
    }
  }
  const Path path = publication_.names(-1).manifest;
  const auto check = [&path] {
    const auto found = parse_manifest(text_of(path.text()), path.text()).inventory;
    EXPECT_EQ(found.steps, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(found.contents.size(), 2U);
    for (std::int64_t step = 0; step < 6; ++step) {
      EXPECT_EQ(found.name_of(step).number, step < 2 ? 100 + step : 298 + step);
    }
    EXPECT_EQ(found.name_of(2).time, 1);
    EXPECT_EQ(found.name_of(5).time, 2.5);
  };
  check();
  publication_.commit_file(contents_, catalogue_)();  // writes it anew
  check();
}

TEST_F(PublicationOfASeries, AFormatWhoseFilesCannotGoOnSaysSo) {
  for (const bool can : {true, false}) {
    const std::string name = can ? "posix" : "example_format";
    const TargetNames names = target_names(Path{folder_ / name}, -1, "here-1");
    ManifestHead head;
    head.format = name;
    head.steps = 1;
    write_text(names.target.text(), "values");
    write_manifest(names, head, {});
    const auto& format = formats::format(name, can ? "" : IOCOMP_EXAMPLE_MODULES);
    EXPECT_EQ(outcome_of([&] { (void)kept_of(names, format, 9); }).code,
              can ? ErrorCode::ok : ErrorCode::unsupported);
  }
}

// A program that has not found its checkpoint goes on after -1, perhaps by mistake.
TEST_F(PublicationOfASeries, WhatIsDroppedAsAWholeStaysUntilTheFirstCommit) {
  write_text(publication_.names(-1).temporary.text(), std::string(96, 'x'));
  commit(0);
  commit(1);
  publication_.commit_file(contents_, catalogue_)();
  Publication next{going_on(-1), format_, &catalogue_};
  const auto beginning = next.begin();
  EXPECT_FALSE(beginning.is_there);
  EXPECT_EQ(beginning.number, 0);
  const TargetNames names = next.names(-1);
  const auto committed_steps = [&names] {
    return parse_manifest(text_of(names.manifest.text()), names.manifest.text()).committed_steps;
  };
  EXPECT_EQ(committed_steps(), 2);
  EXPECT_EQ(text_of(names.target.text()).size(), 96U);
  write_text(names.temporary.text(), std::string(32, 'y'));
  commit(0, next);
  EXPECT_EQ(committed_steps(), 1);
  EXPECT_EQ(text_of(names.target.text()), std::string(32, 'y'));
}

TEST_F(PublicationOfASeries, FilesOfStepsThatAreAllDroppedStayUntilTheFirstCommit) {
  auto identity = going_on(INT64_MAX);
  identity.file_per_step = true;
  for (const std::int64_t after : {std::int64_t{INT64_MAX}, std::int64_t{-1}}) {
    identity.after = after;
    Publication job{identity, format_, &catalogue_};
    EXPECT_EQ(job.begin().number, 0);
    const bool is_first = after == INT64_MAX;
    for (std::int64_t step = 0; step < (is_first ? 3 : 1); ++step) {
      EXPECT_EQ(job.names(2).target.is_there(), !is_first || step > 2);
      write_text(job.names(step).temporary.text(), std::string(96, 'x'));
      commit(step, job);
    }
    EXPECT_EQ(earlier_steps(job.path()).numbers.size(), is_first ? 3U : 1U);
  }
}

// The manifest and the lock would lie beside the link, and other jobs would not see them.
TEST_F(PublicationOfASeries, ALinkIsNotContinued) {
  const TargetNames names = target_names(Path{folder_ / "link"}, -1, "here-1");
  const std::string file = folder_ / "file";
  ManifestHead head;
  head.format = "posix";
  write_manifest(names, head, {});
  std::filesystem::create_symlink("file", names.target.text());
  for (const std::string& end : {std::string{"nowhere"}, "to " + file}) {
    const auto refused = outcome_of([&] { (void)kept_of(names, formats::format("posix"), 9); });
    EXPECT_EQ(refused.code, ErrorCode::target_exists);
    EXPECT_NE(refused.story.find("a link, which leads " + end), std::string::npos) << refused.story;
    write_text(file, "values");
  }
}

TEST_F(PublicationOfASeries, WritesAttributesThatCameAfterTheLastStep) {
  write_text(publication_.names(-1).temporary.text(), "values");
  commit(0);
  const std::string before = manifest();
  set_attribute(1);
  publication_.commit_file(contents_, catalogue_)();
  EXPECT_NE(manifest(), before);
}

TEST_F(PublicationOfASeries, EndsBehindTheStepsThatAJobKeepsOfIt) {
  write_text(publication_.names(-1).temporary.text(), std::string(96, 'x'));
  for (const std::int64_t step : {0, 1, 2}) {
    commit(step);
  }
  publication_.commit_file(contents_, catalogue_)();
  Publication next{going_on(0), format_, &catalogue_};
  const auto beginning = next.begin();
  EXPECT_EQ(beginning.steps, 1);
  EXPECT_EQ(beginning.number, 1);
  EXPECT_EQ(beginning.bytes, 32);
  const TargetNames names = next.names(-1);
  EXPECT_EQ(text_of(names.target.text()).size(), 32U);
  const auto manifest = parse_manifest(text_of(names.manifest.text()), names.manifest.text());
  EXPECT_EQ(manifest.committed_steps, 1);
  EXPECT_EQ(manifest.bytes, 32);
}

TEST_F(PublicationOfASeries, TellsTheNextJobWhatItsValuesMean) {
  const auto set = [&](const char* name) {
    contents::Event event;
    event.what = contents::Event::What::attribute;
    event.variable = 0;
    event.name = name;
    event.attribute = contents::text_attribute("x");
    catalogue_.apply(event);
  };
  set(contents::scale_attribute);
  set("note");
  write_text(publication_.names(-1).temporary.text(), std::string(32, 'x'));
  commit(0);
  publication_.commit_file(contents_, catalogue_)();
  const std::map<std::string, contents::Attributes> meaning{
      {"u", {{contents::scale_attribute, contents::text_attribute("x")}}}};
  for (const std::int64_t after : {0, -1}) {
    Publication next{going_on(after), format_, &catalogue_};
    EXPECT_EQ(next.find_beginning().meaning, after < 0 ? decltype(meaning){} : meaning);
    EXPECT_EQ(next.begin().meaning, after < 0 ? decltype(meaning){} : meaning);
  }
}

TEST_F(PublicationOfASeries, NamesTheStepsThatTheLastJobHadNotCommitted) {
  log::configure(log::Level::warning, "test");
  const auto told_after = [this](std::int64_t after) {
    if (const std::string data = folder_ / "out.bin"; std::filesystem::exists(data)) {
      std::filesystem::resize_file(data, 96);  // another job has cut it
    }
    testing::internal::CaptureStderr();
    (void)Publication{going_on(after), format_, &catalogue_}.begin();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(told_after(5).find("goes on after step 5, but it has no step\n"), std::string::npos);
  write_text(publication_.names(-1).temporary.text(), std::string(96, 'x'));
  commit(0);
  EXPECT_NE(told_after(5).find("goes on after step 5, but its only step is 0\n"),
            std::string::npos);
  commit(1);
  EXPECT_NE(told_after(5).find("but steps after 1 are missing, 2 to 5\n"), std::string::npos);
  EXPECT_EQ(told_after(1), "");
  contents::Event event;
  event.what = contents::Event::What::begin_step;
  event.step = 2;
  event.number = 4;
  catalogue_.apply(event);
  commit(2);
  EXPECT_NE(told_after(11).find(
                "but steps after 4 are missing, 7 to 10, if there was one in 3 as before\n"),
            std::string::npos);
  EXPECT_EQ(told_after(6), "");
  log::configure(log::Level::silent, "");
}

TEST_F(PublicationOfASeries, APathThatNamesAFolderIsRefused) {
  EXPECT_EQ(path_in_force("out", "there/it", format_), "there/it");
  for (const char* path : {"there/", ".", "there/.."}) {
    EXPECT_EQ(outcome_of([&] { (void)path_in_force("out", path, format_); }).code,
              ErrorCode::invalid_setting)
        << path;
  }
}

// Only the format knows where such a file ends.
TEST_F(PublicationOfASeries, TheManifestOfAStepTellsHowLongItsFileIs) {
  for (const bool by_layout : {true, false}) {
    const auto& format =
        by_layout ? format_ : formats::format("example_format", IOCOMP_EXAMPLE_MODULES);
    Publication publication{{.name = "out",
                             .path = folder_ / (by_layout ? "of_layout" : "of_format"),
                             .job = "here-1",
                             .held = std::make_shared<const OpenFolder>(folder_ / ""),
                             .file_per_step = true},
                            format,
                            &catalogue_};
    const TargetNames names = publication.names(0);
    write_text(names.temporary.text(), std::string(40, 'x'));
    commit(0, publication);
    const auto manifest = parse_manifest(text_of(names.manifest.text()), names.manifest.text());
    EXPECT_EQ(manifest.bytes, by_layout ? 32 : 40);
  }
}

// Series may be called like steps, and so may files of other programs.
class PublicationOfASet : public PublicationOfASeries,
                          public testing::WithParamInterface<config::Existing> {
 protected:
  PublicationOfASet() {
    leave(19900101, true);
    leave(300, false);
    leave(1, false);
  }
  void leave(std::int64_t number, bool is_described) const {
    const auto names = target_names(Path{folder_ / "out.bin"}, number, "other-1");
    write_text(names.target.text(), "theirs");
    if (is_described) {
      write_manifest(names, {"dated", "posix", "series", 0, 2, {}, 6}, {});
    }
  }
  [[nodiscard]] bool is_theirs(std::int64_t number) const {
    return text_of(target_names(Path{folder_ / "out.bin"}, number, {}).target.text()) == "theirs";
  }
  [[nodiscard]] Publication::Identity of_set(config::Existing existing, std::int64_t after) const {
    auto identity = going_on(after);
    identity.checkpoint = true;
    identity.file_per_step = true;
    identity.existing = existing;
    identity.keep = 1;
    return identity;
  }
};

TEST_P(PublicationOfASet, LeavesFilesThatAreNoSteps) {
  for (const std::int64_t after : {protocol::everything, std::int64_t{-1}, std::int64_t{5}}) {
    contents::Catalogue catalogue{format_.traits().rules, 1, false};
    Publication set{of_set(GetParam(), after), format_, &catalogue};
    (void)set.begin();
    contents::Event define;
    define.what = contents::Event::What::define;
    define.name = "u";
    define.shape = {1, {4}};
    catalogue.apply(define);
    contents::Contents contents;
    for (const std::int64_t step : {0, 1}) {
      write_text(set.names(step).temporary.text(), std::string(32, 'x'));
      contents.add(step, 0, 0);
      set.commit_step(step, contents, catalogue)();
    }
    EXPECT_EQ(steps_in_names(Path{folder_ / "out.bin"}).back(), 300);
    EXPECT_EQ(earlier_steps(Path{folder_ / "out.bin"}).numbers.size(), 1U);
    EXPECT_TRUE(is_theirs(19900101) && is_theirs(300));
  }
}

TEST_P(PublicationOfASet, ASeriesInTheWayOfAStepIsNotReplaced) {
  leave(0, true);
  contents::Catalogue catalogue{format_.traits().rules, 1, false};
  Publication set{of_set(GetParam(), protocol::everything), format_, &catalogue};
  (void)set.begin();
  write_text(set.names(0).temporary.text(), std::string(32, 'x'));
  contents::Contents contents;
  const Outcome outcome = outcome_of([&] { set.commit_step(0, contents, catalogue)(); });
  EXPECT_EQ(outcome.code, ErrorCode::target_exists) << outcome.story;
  EXPECT_TRUE(is_theirs(0));
}

INSTANTIATE_TEST_SUITE_P(Every, PublicationOfASet,
                         testing::Values(config::Existing::replace, config::Existing::go_on));

}  // namespace
}  // namespace iocomp::commit
