// SPDX-License-Identifier: BSD-3-Clause
#include "commit/series_manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/manifest.h"
#include "commit/read_manifest.h"
#include "contents/description.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

constexpr std::int64_t step_bytes = 256;

contents::Placed placed(std::int64_t step, int id, const std::string& name, std::int64_t offset) {
  const std::vector<std::int64_t> shape{4};
  return {
      step, {id, name, array::ElementType::float64, array::make_shape(1, shape.data())}, offset};
}

// Two variables at regular places.
contents::Description step_of(std::int64_t step) {
  contents::Description described;
  described.contents = {placed(step, 0, "u", step_bytes * step),
                        placed(step, 1, "v", step_bytes * step + 32)};
  described.names[step] = {.number = step, .time = 0.5 * static_cast<double>(step)};
  return described;
}

class ManifestOfASeries : public testing::Test {
 protected:
  // As `Publication` does it.
  std::shared_ptr<SeriesManifest::Text> text(bool is_last = false) {
    auto made = std::make_shared<SeriesManifest::Text>();
    made->head.name = "f";
    made->head.format = "posix";
    made->head.kind = "series";
    made->head.steps = next_;
    made->head.bytes = step_bytes * next_;
    made->steps = told_;
    made->description = attributes_;
    made->is_last = is_last;
    made->growth = manifest_.growth(told_.lines, [this](std::int64_t from) {
      contents::Description all;
      for (const auto& each : steps_) {
        if (each.contents.front().step >= from) {
          all.contents.insert(all.contents.end(), each.contents.begin(), each.contents.end());
          all.names.insert(each.names.begin(), each.names.end());
        }
      }
      return all;
    });
    return made;
  }
  void add(const contents::Description& step) {
    steps_.push_back(step);
    tell(told_, step);
    next_ = step.contents.front().step + 1;
  }
  void put(const std::shared_ptr<SeriesManifest::Text>& what) {
    const auto next = manifest_.next(names_, what);
    ASSERT_NE(next, nullptr);
    manifest_.put(names_, *next);
  }
  void begin() {
    add(step_of(0));
    const auto first = text();
    write_manifest(names_, first->head, first->description, first->steps);
    manifest_.note(names_, first);
  }
  [[nodiscard]] std::string on_disk() const { return text_of(names_.manifest.text()); }
  [[nodiscard]] Manifest read() const { return parse_manifest(on_disk(), names_.manifest.text()); }
  void expect_all_steps() const {
    const auto manifest = read();
    EXPECT_EQ(manifest.committed_steps, next_);
    EXPECT_EQ(manifest.bytes, step_bytes * next_);
    std::vector<contents::Placed> all;
    for (const auto& step : steps_) {
      all.insert(all.end(), step.contents.begin(), step.contents.end());
      const auto number = step.contents.front().step;
      EXPECT_EQ(manifest.inventory.name_of(number).time, step.names.at(number).time);
    }
    ASSERT_EQ(manifest.inventory.contents.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(manifest.inventory.contents[i].step, all[i].step);
      EXPECT_EQ(manifest.inventory.contents[i].offset, all[i].offset);
      EXPECT_EQ(manifest.inventory.contents[i].variable.name, all[i].variable.name);
    }
  }

  TemporaryFolder folder_;
  TargetNames names_ = target_names(Path{folder_ / "f.dat"}, -1, "node-1");
  SeriesManifest manifest_;
  ToldSteps told_;
  std::vector<contents::Description> steps_;
  contents::Description attributes_;
  std::int64_t next_ = 0;
};

TEST_F(ManifestOfASeries, GetsALineForEachCommitAndIsOtherwiseAsItWas) {
  begin();
  for (std::int64_t step = 1; step < 5; ++step) {
    const auto before = on_disk();
    const auto inode = inode_of(names_.manifest);
    add(step_of(step));
    put(text());
    EXPECT_EQ(on_disk().substr(0, before.size()), before);
    EXPECT_EQ(inode_of(names_.manifest), inode);
    EXPECT_NE(on_disk().find("\"more\"", before.size()), std::string::npos);  // all are alike
    expect_all_steps();
  }
  EXPECT_EQ(files_in(folder_ / ""), 1);
}

TEST_F(ManifestOfASeries, ALineListsStepsThatAreNotLikeTheLast) {
  begin();
  auto moved = step_of(1);
  moved.contents[0].offset += 8;
  std::swap(moved.contents[0], moved.contents[1]);
  add(moved);
  put(text());
  EXPECT_EQ(on_disk().find("\"more\""), std::string::npos);
  add(step_of(3));  // step 2 had nothing
  add(step_of(4));
  put(text());
  EXPECT_NE(on_disk().find(",\"xxh3\""), std::string::npos);
  expect_all_steps();
  add(step_of(5));  // continues what a line has listed
  put(text());
  EXPECT_NE(on_disk().find("\"more\""), std::string::npos);
  expect_all_steps();
}

// Those of a commit are joined into entries otherwise than among all steps.
TEST_F(ManifestOfASeries, CommitsOfSeveralStepsAtIrregularPlaces) {
  begin();
  std::mt19937 dice{1};
  for (std::int64_t step = 1; step < 600; ++step) {
    auto moved = step_of(step);
    for (auto& placed : moved.contents) {
      placed.offset += 8 * static_cast<std::int64_t>(dice() % 4 / 2);
    }
    add(moved);
    if (dice() % 3 != 0) {
      put(text());
      ASSERT_NO_FATAL_FAILURE(expect_all_steps()) << step;
      ASSERT_FALSE(HasFailure()) << step;
    }
  }
}

TEST_F(ManifestOfASeries, TheLastOneHasNoLines) {
  begin();
  add(step_of(1));
  put(text());
  put(text(true));
  EXPECT_EQ(on_disk().find("\"more\""), std::string::npos);
  EXPECT_TRUE(on_disk().ends_with("\n}\n"));
  expect_all_steps();
  EXPECT_EQ(manifest_.next(names_, text(true)), nullptr);
}

TEST_F(ManifestOfASeries, IsWrittenAnewWhereMoreThanStepsIsNew) {
  begin();
  const std::vector<std::function<void(contents::Description&)>> changes{
      [this](auto&) { attributes_.attributes["a"] = {}; },
      [this](auto&) { attributes_.of_variable = {{{"unit", {}}}}; },
      [](auto& step) {  // a variable that was in no step before
        step.contents[1].variable.id = 2;
        step.contents[1].variable.name = "w";
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto before = on_disk();
    auto next = step_of(static_cast<std::int64_t>(i) + 1);
    changes[i](next);
    add(next);
    put(text());
    EXPECT_NE(on_disk().substr(0, before.size()), before) << i;
    EXPECT_TRUE(on_disk().ends_with("\n}\n")) << i;
  }
}

TEST_F(ManifestOfASeries, ALineTellsNothingButStepsThatAreNew) {
  begin();
  const auto next_with = [this](const std::function<void(ManifestHead&)>& change) {
    const auto changed = text();
    change(changed->head);
    return manifest_.next(names_, changed);
  };
  const auto nothing = [](ManifestHead&) {};
  EXPECT_EQ(next_with(nothing), nullptr);
  EXPECT_NE(next_with([](ManifestHead& head) { head.bytes += 8; })->instead, nullptr);
  EXPECT_NE(next_with([](ManifestHead& head) { head.absent = {0}; })->instead, nullptr);
  add(step_of(1));
  EXPECT_EQ(next_with(nothing)->instead, nullptr);
  EXPECT_EQ(next_with([](ManifestHead& head) { head.absent = {0}; })->instead, nullptr);
  EXPECT_NE(next_with([](ManifestHead& head) { head.first_step = 1; })->instead, nullptr);
  EXPECT_NE(next_with([](ManifestHead& head) { head.kind = "checkpoint"; })->instead, nullptr);
}

TEST_F(ManifestOfASeries, LinesAreTakenInWhenThereAreMany) {
  begin();
  std::size_t longest = 0;
  bool was_written_anew = false;
  for (std::int64_t step = 1; step < 400; ++step) {
    auto irregular = step_of(step);
    irregular.contents[0].offset += step % 3;
    add(irregular);
    put(text());
    longest = std::max(longest, on_disk().size());
    was_written_anew = was_written_anew || on_disk().ends_with("\n}\n");
  }
  EXPECT_TRUE(was_written_anew);
  EXPECT_LT(longest, 2 * text_of(names_.manifest.text()).size());
  expect_all_steps();
}

TEST_F(ManifestOfASeries, AManifestThatSomebodyHasPutInItsPlaceGetsNoLine) {
  begin();
  write_text(folder_ / "other", on_disk());
  ASSERT_EQ(std::rename((folder_ / "other").c_str(), names_.manifest.text().c_str()), 0);
  add(step_of(1));
  put(text());
  EXPECT_TRUE(on_disk().ends_with("\n}\n"));
  expect_all_steps();
}

TEST_F(ManifestOfASeries, OfAServerThatWasGivenUpGetsNoLine) {
  begin();
  const auto before = on_disk();
  add(step_of(1));
  const auto next = manifest_.next(names_, text());
  OpenFolder folder{folder_ / "."};
  folder.fence([] { return true; });
  names_ = target_names(Path{std::make_shared<const OpenFolder>(std::move(folder)), "f.dat"}, -1,
                        "node-1");
  EXPECT_THROW(manifest_.put(names_, *next), Error);
  EXPECT_EQ(on_disk(), before);
}

// A power loss may tear what is written last; no call has said that this step is committed.
TEST_F(ManifestOfASeries, ALineThatIsTornDoesNotCount) {
  begin();
  add(step_of(1));
  put(text());
  const auto two = on_disk();
  add(step_of(2));
  put(text());
  const auto three = on_disk();
  for (auto size = two.size(); size < three.size(); ++size) {
    EXPECT_EQ(parse_manifest(three.substr(0, size), "m").committed_steps, 2) << size;
    auto with_hole = three;
    with_hole[size] = '\0';
    EXPECT_EQ(parse_manifest(with_hole, "m").committed_steps, 2) << size;
  }
  EXPECT_EQ(parse_manifest(three + std::string(700, '\0'), "m").committed_steps, 3);
}

TEST_F(ManifestOfASeries, ALineThatWasChangedIsToldWhereOthersFollow) {
  begin();
  for (std::int64_t step = 1; step < 3; ++step) {
    add(step_of(step));
    put(text());
  }
  auto changed = on_disk();
  changed[changed.find("\"more\"")] = '\'';
  EXPECT_THROW((void)parse_manifest(changed, "m"), Error);
}

TEST_F(ManifestOfASeries, LinesThatContradictThemselvesAreRefused) {
  begin();
  const auto first = on_disk();
  const std::string head = R"({"bytes": 128, "committed_steps": 2, "absent": [], )";
  for (const char* const bad :
       {R"("more": {"count": 0})", R"("more": {"count": 1})",  // without a time, unlike the others
        R"("more": {"count": 1, "time": [1], "advance": [64]})",
        R"("more": {"count": 99999999999, "time": [1], "advance": [64, 64]})", R"("more": 3)",
        R"("steps": 7)", R"("steps": [{"step": 0, "variables": []}])"}) {
    EXPECT_THROW((void)parse_manifest(first + sealed_line(head + bad), "m"), Error) << bad;
  }
  EXPECT_THROW((void)parse_manifest(R"({"iocomp_manifest": 2, "steps": [])"
                                    "\n}\n" +
                                        sealed_line(head + R"("more": {"count": 1})"),
                                    "m"),
               Error);
}

TEST_F(ManifestOfASeries, OneThatReplacesItKeepsItWithItsLines) {
  begin();
  add(step_of(1));
  put(text());
  const auto old = on_disk();
  auto head = text()->head;
  head.replaced = old;
  write_text(names_.temporary.text(), "of the new one");
  write_manifest(names_, head, {});
  const auto in_force = manifest_in_force(names_.manifest);
  ASSERT_TRUE(in_force);
  const auto kept = parse_manifest(*in_force, "m");
  EXPECT_EQ(kept.committed_steps, 2);
  EXPECT_EQ(kept.inventory.contents.size(), 4U);
}

}  // namespace
}  // namespace iocomp::commit
