// SPDX-License-Identifier: BSD-3-Clause
#include "writer/output_files.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/open_folder.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/pace.h"
#include "formats/registry.h"
#include "trace/counters.h"
#include "unit/temporary_folder.h"
#include "unit/writing/fake_target.h"
#include "unit/writing/pieces.h"
#include "writing/file_writer.h"

namespace iocomp::writer {
namespace {

class AnOutput : public testing::Test {
 protected:
  OutputFiles& open(const char* format, bool file_per_step, OutputFiles::Setup setup = {}) {
    setup.format = &formats::format(format);
    commit::Publication names{{.name = "out",
                               .path = folder_ / "out.bin",
                               .job = "here-1",
                               .held = std::make_shared<const OpenFolder>(folder_ / ""),
                               .file_per_step = file_per_step},
                              *setup.format,
                              &catalogue_};
    return files_.emplace(std::move(setup), std::move(names), catalogue_, counters_);
  }
  [[nodiscard]] std::string temporary(std::int64_t target) const {
    return files_->names().names(target).temporary.text();
  }
  void begin(std::int64_t target) {
    write_text(temporary(target), "data");
    (void)files_->writer(target);
  }

  TemporaryFolder folder_;
  contents::Catalogue catalogue_{formats::format("posix").traits().rules, 1, true};
  trace::Counters counters_;
  std::optional<OutputFiles> files_;
};

TEST_F(AnOutput, APlaceThatWasToldForAnEarlierShapeDoesNotCount) {
  OutputFiles& files = open("posix", true);
  files.reshaped(0, 3, 5);
  files.note_place(0, 3, {0, {}, 5});  // its lead knew definitions 0 to 4
  EXPECT_FALSE(files.place(0, 3));
  files.note_place(0, 3, {0, {}, 6});
  EXPECT_TRUE(files.place(0, 3));

  files.note_place(0, 4, {0, {}, 5});  // the place comes first
  files.note_place(1, 4, {0, {}, 5});
  files.reshaped(0, 4, 5);
  EXPECT_FALSE(files.place(0, 4));
  EXPECT_TRUE(files.place(1, 4));
  files.note_place(0, 4, {0, {}, 6});
  files.reshaped(0, 4, 5);
  EXPECT_TRUE(files.place(0, 4));

  files.forget_places_until(3);
  EXPECT_FALSE(files.place(0, 3));
  EXPECT_TRUE(files.place(0, 4));
  files.note_place(0, 3, {0, {}, 1});
  EXPECT_TRUE(files.place(0, 3));
}

TEST_F(AnOutput, RemovesThePhysicalFilesThatNobodyCommitsFromANumberOn) {
  OutputFiles& files = open("posix", true);
  for (const std::int64_t target : {0, 1, 2}) {
    begin(target);
  }
  files.remove_uncommitted(1);
  EXPECT_TRUE(std::filesystem::exists(temporary(0)));
  EXPECT_FALSE(std::filesystem::exists(temporary(1)));
  EXPECT_FALSE(std::filesystem::exists(temporary(2)));
}

TEST_F(AnOutput, RemovesTheFileOfAllStepsOnlyWhenAllOfThemAreMeant) {
  for (const char* const format : {"posix", "mpiio"}) {  // the library removes what is its own
    OutputFiles& files = open(format, false);
    begin(-1);
    files.remove_uncommitted(0);
    EXPECT_TRUE(std::filesystem::exists(temporary(-1)));
    files.remove_uncommitted(-1);
    EXPECT_EQ(std::filesystem::exists(temporary(-1)), !files.is_plain());
  }
}

TEST_F(AnOutput, WhatALibraryWritesIsHeldBackUntilThePaceAllowsIt) {
  double now = 100;
  const auto pace = std::make_shared<disk::Pace>(8000, [&now] { return now; });
  OutputFiles& files = open("mpiio", false, {.disk = {.pace = pace}});
  begin(-1);
  writing::FileWriter& writer = files.writer(-1);
  writing::Asked asked;
  writer.file().created(std::make_unique<writing::FakeSharedTarget>(asked));
  pace->wrote(8000);
  EXPECT_FALSE(files.is_held_back());  // nothing waits
  EXPECT_EQ(files.next_work(), nullptr);

  const auto of = writing::int64_variable({10});
  const writing::CountedPiece piece{of, array::whole(of.shape), 0};
  auto values = writing::values_of(*piece.piece, 0, 10);
  writer.write(writing::chunk_of(piece, 0, values));
  EXPECT_TRUE(files.is_held_back());
  EXPECT_EQ(files.next_work(), nullptr);
  now += 2;
  EXPECT_FALSE(files.is_held_back());
  ASSERT_EQ(files.next_work(), &writer);
  writer.advance();
  EXPECT_EQ(*piece.ended, 1);
  EXPECT_FALSE(files.is_held_back());
  EXPECT_EQ(files.next_work(), nullptr);
}

}  // namespace
}  // namespace iocomp::writer
