// SPDX-License-Identifier: BSD-3-Clause
#include "writing/library_output.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "unit/writing/fake_target.h"
#include "unit/writing/pieces.h"
#include "unit/writing/written_file.h"
#include "writing/file_writer.h"

namespace iocomp::writing {
namespace {

constexpr std::int64_t slice_elements = std::int64_t{1} << 20;

TEST(LibraryOutput, WritesALongChunkInSlices) {
  WrittenFile file{{.kind = formats::Kind::shared}};
  Asked asked;
  const auto of = int64_variable({2 * slice_elements + 5});
  const CountedPiece piece{of, array::whole(of.shape), 0};
  auto values = values_of(*piece.piece, 0, 2 * slice_elements + 5);
  file.writer->write(chunk_of(piece, 0, values));
  EXPECT_FALSE(file.writer->has_work());  // before the library has a file
  file.writer->file().created(std::make_unique<FakeSharedTarget>(asked));
  for (std::size_t slices = 1; slices <= 3; ++slices) {
    EXPECT_TRUE(file.writer->has_work());
    EXPECT_EQ(*piece.ended, 0);
    file.writer->advance();
    EXPECT_EQ(asked.writes.size(), slices);
  }
  EXPECT_FALSE(file.writer->has_work());
  EXPECT_EQ(*piece.ended, 1);
  EXPECT_EQ(asked.writes[1].first, slice_elements);
  EXPECT_EQ(asked.writes[2].count, 5);
  EXPECT_TRUE(file.writer->file().opened() != nullptr);  // for the fsync
}

TEST(LibraryOutput, WritesSmallChunksTogetherInOneTurn) {
  WrittenFile file{{.kind = formats::Kind::shared}};
  Asked asked;
  file.writer->file().created(std::make_unique<FakeSharedTarget>(asked));
  const auto of = int64_variable({10});
  const CountedPiece piece{of, array::whole(of.shape), 0};
  auto first = values_of(*piece.piece, 0, 4);
  auto rest = values_of(*piece.piece, 4, 6);
  file.writer->write(chunk_of(piece, 0, first));
  file.writer->write(chunk_of(piece, 4, rest));
  file.writer->advance();
  EXPECT_EQ(*piece.ended, 1);
  EXPECT_EQ(asked.writes.size(), 2U);
}

TEST(LibraryOutput, DoesNotWriteTheRestOfAPieceThatHasFailed) {
  WrittenFile file{{.kind = formats::Kind::shared}};
  Asked asked{.fails = true};
  file.writer->file().created(std::make_unique<FakeSharedTarget>(asked));
  const auto of = int64_variable({10});
  const CountedPiece piece{of, array::whole(of.shape), 0};
  auto first = values_of(*piece.piece, 0, 4);
  auto rest = values_of(*piece.piece, 4, 6);
  file.writer->write(chunk_of(piece, 0, first));
  file.writer->write(chunk_of(piece, 4, rest));
  file.writer->advance();
  EXPECT_EQ(*piece.ended, 1);
  EXPECT_EQ(piece.piece->failure.story, "the library says no");
  EXPECT_EQ(asked.writes.size(), 1U);
}

TEST(LibraryOutput, GivesAStripeAsSelectionsOfTheWholeVariable) {
  WrittenFile file{{.kind = formats::Kind::shared}};
  Asked asked;
  file.writer->file().created(std::make_unique<FakeSharedTarget>(asked));
  const auto of = int64_variable({64, 128});
  const std::vector<std::int64_t> start{0, 5};
  const std::vector<std::int64_t> count{64, 1};
  const CountedPiece column{of, array::make_box(of.shape, start.data(), count.data()), 0};
  file.stripes.choose(*column.piece, 0, 64 * 128);
  auto values = values_of(*column.piece, 0, 64);
  file.writer->write(chunk_of(column, 0, values));
  file.writer->write(std::move(file.stripes.withdraw_oldest().front()));
  while (file.writer->has_work()) {
    file.writer->advance();
  }
  EXPECT_EQ(*column.ended, 1);
  ASSERT_EQ(asked.writes.size(), 64U);
  EXPECT_EQ(asked.writes[2].first, 2 * 128 + 5);
  EXPECT_EQ(asked.writes[2].bytes, 8U);
}

}  // namespace
}  // namespace iocomp::writing
