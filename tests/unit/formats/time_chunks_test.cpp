// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/time_chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/runs.h"
#include "contents/variable.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/chunks/record_chunks.h"
#include "formats/format.h"
#include "unit/seed.h"

namespace iocomp::formats::h5 {
namespace {

Variable bytes_of(const std::vector<std::int64_t>& extents) {
  return {0, "u", array::ElementType::uint8,
          array::make_shape(static_cast<int>(extents.size()), extents.data())};
}

FormatOptions chunks_of(std::int64_t bytes) {
  FormatOptions options;
  options.chunk_bytes = bytes;
  options.compression.method = Compression::Method::deflate;
  return options;
}

std::vector<std::int64_t> shape_of(const std::vector<std::int64_t>& extents, std::int64_t bytes) {
  return TimeChunks{bytes_of(extents), chunks_of(bytes)}.shape;
}

TEST(TimeChunks, AreWholeRecordsOrManySmallOnesOrPartsOfOne) {
  EXPECT_EQ(shape_of({100, 100}, 10000), (std::vector<std::int64_t>{1, 100, 100}));
  EXPECT_EQ(shape_of({100}, 10000), (std::vector<std::int64_t>{40, 100}));
  EXPECT_EQ(shape_of({}, 10000), (std::vector<std::int64_t>{1024}));
  EXPECT_EQ(shape_of({100, 100}, 4096), (std::vector<std::int64_t>{1, 34, 100}));
  EXPECT_EQ(shape_of({1, 100, 100}, 4096), (std::vector<std::int64_t>{1, 1, 34, 100}));
  EXPECT_EQ(shape_of({50, 100, 100}, 4096), (std::vector<std::int64_t>{1, 1, 25, 100}));
}

TEST(TimeChunks, HaveBothPartsOfComplexNumbers) {
  Variable numbers = bytes_of({100, 100});
  numbers.type = array::ElementType::complex64;
  FormatOptions options = chunks_of(40000);
  const TimeChunks whole{numbers, options};
  EXPECT_EQ(whole.shape, (std::vector<std::int64_t>{1, 50, 100}));
  EXPECT_EQ(whole.stored_bytes, 8U);
  options.splits_complex_numbers = true;
  const TimeChunks split{numbers, options};
  EXPECT_EQ(split.shape, (std::vector<std::int64_t>{1, 50, 100, 2}));
  EXPECT_EQ(split.stored_bytes, 4U);
  EXPECT_EQ(split.bytes(), whole.bytes());
}

TEST(TimeChunks, NeverCutStrings) {
  Variable texts = bytes_of({50, 100, 100});
  texts.type = array::ElementType::character;
  FormatOptions options = chunks_of(50);
  const TimeChunks characters{texts, options};
  EXPECT_EQ(characters.shape, (std::vector<std::int64_t>{1, 1, 1, 50}));
  EXPECT_EQ(characters.stored_bytes, 1U);
  options.has_strings = true;
  const TimeChunks strings{texts, options};
  EXPECT_EQ(strings.shape, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(strings.elements, 100);
  EXPECT_EQ(strings.per_record, 5000);
  EXPECT_EQ(strings.stored_bytes, 100U);
}

TEST(TimeChunks, BelowTheSlowestDimensionOnlyEqualPartsAreCut) {
  EXPECT_EQ(shape_of({3, 5000, 2}, 4096), (std::vector<std::int64_t>{1, 1, 1250, 2}));
  // A prime number of rows: rather too large a chunk than one for each row.
  EXPECT_EQ(shape_of({3, 5003, 2}, 4096), (std::vector<std::int64_t>{1, 1, 5003, 2}));
  EXPECT_EQ(shape_of({3, 101, 100, 100}, 20000), (std::vector<std::int64_t>{1, 1, 1, 100, 100}));
}

// Some shape and way of cutting it.
struct Case {
  explicit Case(std::mt19937& random) : variable{bytes_of(extents(random))} {
    variable.type = array::ElementType::float64;
    chunks.add(variable, TimeChunks{variable, chunks_of(draw(random, 4096, 20000))});
  }
  static std::vector<std::int64_t> extents(std::mt19937& random) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(draw(random, 1, 4)));
    do {
      std::ranges::generate(all, [&] { return draw(random, 1, all.size() == 1 ? 20000 : 30); });
    } while (std::accumulate(all.begin(), all.end(), std::int64_t{1}, std::multiplies<>{}) < 512);
    return all;
  }
  Variable variable;
  StepChunks chunks;
};

TEST(TimeChunks, OfARecordFollowOneAnother) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 random{seed};
  for (int repetition = 0; repetition < 60; ++repetition) {
    const Case some{random};
    const array::Shape& shape = some.variable.shape;
    const RecordChunks& chunks = some.chunks.variables().front().chunks;
    for (std::int64_t index = 0; index < array::elements(shape); ++index) {
      // The number of the chunk as HDF5 has it: by the place of the element in each dimension.
      std::int64_t chunk = 0;
      std::int64_t inner = array::elements(shape);
      for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
        const std::int64_t extent = shape.extent.at(d);
        const std::int64_t length = chunks.lengths[d];
        inner /= extent;
        chunk = chunk * ((extent + length - 1) / length) + index / inner % extent / length;
      }
      ASSERT_EQ(chunk, index / chunks.elements) << array::text(shape) << ", element " << index;
    }
  }
}

TEST(StepChunks, CutEveryPartWhereAChunkEnds) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 random{seed};
  for (int repetition = 0; repetition < 60; ++repetition) {
    const Case some{random};
    const array::Shape& shape = some.variable.shape;
    array::Box box{shape.dimensions, {}, {}};
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
      box.start.at(d) = draw(random, 0, shape.extent.at(d) - 1);
      box.count.at(d) = draw(random, 1, shape.extent.at(d) - box.start.at(d));
    }
    const std::int64_t first = draw(random, 0, array::elements(box) - 1);
    const std::int64_t count = draw(random, 1, array::elements(box) - first);
    const std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(double));
    std::vector<ChunkPart> parts;
    some.chunks.cut(some.variable.id, {box, first, count}, bytes, parts);
    std::int64_t next = first;
    const std::byte* next_byte = bytes.data();
    for (const auto& part : parts) {
      const auto& [part_box, begin, length] = part.selection;
      ASSERT_EQ(begin, next);
      ASSERT_EQ(part.bytes.data(), next_byte);
      ASSERT_EQ(part.bytes.size(), static_cast<std::size_t>(length) * sizeof(double));
      const array::Run chunk = some.chunks.elements(part.chunk);
      array::RunCursor cursor{shape, part_box, begin, length};
      for (array::Run run; cursor.next(run);) {
        ASSERT_GE(run.index, chunk.index);
        ASSERT_LE(run.index + run.elements, chunk.index + chunk.elements);
      }
      next += length;
      next_byte += part.bytes.size();
    }
    ASSERT_EQ(next, first + count);
  }
}

// Makes so many chunks of 8 KiB.
StepChunks equal_chunks(std::int64_t count) {
  StepChunks chunks;
  const Variable variable = bytes_of({count, 8192});
  chunks.add(variable, TimeChunks{variable, chunks_of(8192)});
  return chunks;
}

TEST(Owners, AreThoseWhoHaveMostUpToTheirShare) {
  EXPECT_EQ(owners(equal_chunks(6), {0, 0, 1, 1, 2, 2}, 3), (std::vector<int>{0, 0, 1, 1, 2, 2}));
  // A share and one more; the rest goes to those who have less.
  EXPECT_EQ(owners(equal_chunks(6), {1, 1, 1, 1, 1, 1}, 3), (std::vector<int>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(owners(equal_chunks(2), {2, 2}, 3), (std::vector<int>{2, 0}));
}

TEST(Rounds, HoldSoManyBytesOrOneChunk) {
  const StepChunks chunks = equal_chunks(5);
  EXPECT_EQ(rounds(chunks, {0, 0, 0, 1, 0}, 2, 16384), (std::vector<int>{0, 0, 1, 0, 1}));
  EXPECT_EQ(rounds(chunks, {0, 0, 0, 1, 0}, 2, 100), (std::vector<int>{0, 1, 2, 0, 3}));
}

}  // namespace
}  // namespace iocomp::formats::h5
