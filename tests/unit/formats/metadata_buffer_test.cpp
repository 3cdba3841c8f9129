// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/metadata_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../seed.h"
#include "base/descriptor.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats::h5 {
namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span{text}); }

std::string read(const MetadataBuffer& buffer, std::int64_t offset, std::size_t size) {
  std::string text(size, '?');
  EXPECT_EQ(buffer.read(offset, std::as_writable_bytes(std::span{text})), 0);
  return text;
}

class Buffer : public testing::Test {
 protected:
  [[nodiscard]] Descriptor opened(int flags = O_RDWR | O_CREAT) const {
    return Descriptor{::open(path_.c_str(), flags, 0666)};
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(Buffer, KeepsEverythingUntilItIsStored) {
  MetadataBuffer buffer{opened()};
  buffer.write(2, bytes("abc"));
  EXPECT_EQ(std::filesystem::file_size(path_), 0U);
  EXPECT_EQ(read(buffer, 2, 3), "abc");
  EXPECT_EQ(buffer.store(), 0);
  EXPECT_EQ(text_of(path_), std::string("\0\0abc", 5));
  EXPECT_EQ(buffer.extend({.least = 10, .placed = 10}), 0);
  EXPECT_EQ(text_of(path_), std::string("\0\0abc\0\0\0\0\0", 10));
}

TEST_F(Buffer, StoresNoByteThatWasNotWrittenToIt) {
  write_text(path_, "0123456789");
  MetadataBuffer buffer{opened()};
  buffer.write(1, bytes("ab"));
  buffer.write(7, bytes("c"));
  write_text(path_, "others____");  // after the writes, before they are stored
  EXPECT_EQ(buffer.store(), 0);
  EXPECT_EQ(text_of(path_), "oabers_c__");
}

TEST_F(Buffer, ReadsTheFileWhereNothingWasWritten) {
  write_text(path_, "0123456789");
  MetadataBuffer buffer{opened()};
  buffer.write(3, bytes("abc"));
  EXPECT_EQ(read(buffer, 1, 12), std::string("12abc6789\0\0\0", 12));
}

TEST_F(Buffer, IsLikeAFileWhateverOverlaps) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 random{seed};
  std::string expected(64, '\0');
  MetadataBuffer buffer{opened()};
  for (int i = 0; i < 2000; ++i) {
    const auto offset = draw(random, 0, 63);
    const auto size = draw(random, 1, 64 - offset);
    const std::string text(static_cast<std::size_t>(size),
                           static_cast<char>(draw(random, 'a', 'z')));
    buffer.write(offset, bytes(text));
    std::copy(text.begin(), text.end(), expected.begin() + offset);
    ASSERT_EQ(read(buffer, 0, 64), expected);
    if (i % 97 == 0) {
      ASSERT_EQ(buffer.store(), 0);
      ASSERT_EQ(buffer.extend({.least = 64, .placed = 64}), 0);
      ASSERT_EQ(text_of(path_), expected);
    }
  }
}

TEST_F(Buffer, NeverShortensTheFile) {
  write_text(path_, "0123456789");
  MetadataBuffer buffer{opened()};
  EXPECT_EQ(buffer.store(), 0);
  EXPECT_EQ(buffer.extend({.least = 4, .placed = 6}), 0);
  EXPECT_EQ(buffer.extend({.least = 4, .durable = 10, .placed = 20}), 0);
  EXPECT_EQ(text_of(path_), "0123456789");
}

TEST_F(Buffer, TellsWhyItCannotStoreAndKeepsWhatItHas) {
  write_text(path_, "");
  MetadataBuffer buffer{opened(O_RDONLY)};
  buffer.write(0, bytes("abc"));
  EXPECT_EQ(buffer.store(), EBADF);
  EXPECT_EQ(read(buffer, 0, 3), "abc");
  EXPECT_EQ(buffer.extend({.least = 3, .placed = 3}), EINVAL);
}

}  // namespace
}  // namespace iocomp::formats::h5
