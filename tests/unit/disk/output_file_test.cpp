// SPDX-License-Identifier: BSD-3-Clause
#include "disk/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "folder.h"
#include "page.h"
#include "unit/seed.h"

namespace iocomp::disk {
namespace {

Options with(Direct direct) {
  Options options;
  options.direct = direct;
  return options;
}

bool allows_direct(const Folder& folder) {
  const std::string path = folder.file("probe");
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_DIRECT, 0600);
  const PageAligned block{page};
  const bool allowed = descriptor != -1 && ::pwrite(descriptor, block.bytes().data(), page, 0) ==
                                               static_cast<ssize_t>(page);
  ::close(descriptor);
  return allowed;
}

#define SKIP_WITHOUT_DIRECT(folder)                                                  \
  if (!allows_direct(folder)) {                                                      \
    GTEST_SKIP() << "the file system of " << (folder).path() << " refuses O_DIRECT"; \
  }

TEST(OutputFile, KeepsWhatAFileHeldBefore) {
  const Folder folder;
  std::ofstream{folder.file("f")} << "0123456789";
  const std::string text = "ab";
  OutputFile{opened(folder.file("f")), folder.file("f"), {}}.write(3,
                                                                   std::as_bytes(std::span{text}));
  std::string content;
  std::ifstream{folder.file("f")} >> content;
  EXPECT_EQ(content, "012ab56789");
}

TEST(OutputFile, CreatesWithTheModeThatTheUmaskLeaves) {
  const Folder folder;
  const mode_t before = ::umask(027);
  const OutputFile file{opened(folder.file("f")), folder.file("f"), {}};
  ::umask(before);
  struct stat status{};
  ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(OutputFile, WritesNothingWithoutComplaint) {
  const Folder folder;
  OutputFile file{opened(folder.file("f")), folder.file("f"), with(Direct::on)};
  file.write(100, {});
  file.sync();
  EXPECT_EQ(std::filesystem::file_size(file.path()), 0U);
}

TEST(OutputFile, SendsWholeBlocksPastThePageCacheAndTheRestThroughIt) {
  const Folder folder;
  SKIP_WITHOUT_DIRECT(folder);
  const PageAligned data{8 * page};
  OutputFile file{opened(folder.file("f")), folder.file("f"), with(Direct::on)};
  file.write(100, data.part(100, 5 * page));
  EXPECT_EQ(file.direct_bytes(), 4 * page);
  EXPECT_EQ(file.buffered_bytes(), page);
  file.sync();
  const auto content = content_of(file.path());
  ASSERT_EQ(content.size(), 100 + 5 * page);
  EXPECT_TRUE(same(std::span{content}.subspan(100), data.part(100, 5 * page)));
}

TEST(OutputFile, GoesThroughThePageCacheWhereMemoryAndFileAreAlignedDifferently) {
  const Folder folder;
  const PageAligned data{8 * page};
  OutputFile file{opened(folder.file("f")), folder.file("f"), with(Direct::on)};
  file.write(0, data.part(512, 4 * page));
  EXPECT_EQ(file.direct_bytes(), 0U);
  EXPECT_EQ(file.buffered_bytes(), 4 * page);
}

TEST(OutputFile, SendsShortRunsThroughThePageCacheByDefault) {
  const Folder folder;
  SKIP_WITHOUT_DIRECT(folder);
  Options options;
  options.direct_from_bytes = 4 * page;
  const PageAligned data{4 * page};
  OutputFile file{opened(folder.file("f")), folder.file("f"), options};
  file.write(0, data.part(0, 4 * page - 1));
  EXPECT_EQ(file.direct_bytes(), 0U);
  file.write(0, data.bytes());
  EXPECT_EQ(file.direct_bytes(), 4 * page);
}

TEST(OutputFile, NeverGoesPastThePageCacheWhenThatIsOff) {
  const Folder folder;
  const PageAligned data{std::size_t{2} << 20};
  OutputFile file{opened(folder.file("f")), folder.file("f"), with(Direct::off)};
  file.write(0, data.bytes());
  EXPECT_EQ(file.direct_bytes(), 0U);
  EXPECT_TRUE(same(content_of(file.path()), data.bytes()));
}

TEST(OutputFile, WritesMoreThanAFlushWindowThroughThePageCache) {
  const Folder folder;
  const PageAligned data{(std::size_t{20} << 20) + 777};
  OutputFile file{opened(folder.file("f")), folder.file("f"), with(Direct::off)};
  file.write(5, data.bytes());
  file.sync();
  const auto content = content_of(file.path());
  ASSERT_EQ(content.size(), data.bytes().size() + 5);
  EXPECT_TRUE(same(std::span{content}.subspan(5), data.bytes()));
}

TEST(OutputFile, GrowsAndNeverShrinks) {
  const Folder folder;
  OutputFile file{opened(folder.file("f")), folder.file("f"), {}};
  const std::string text = "abc";
  file.write(0, std::as_bytes(std::span{text}));
  file.grow(10'000);
  ASSERT_EQ(std::filesystem::file_size(file.path()), 10'000U);
  file.grow(500);
  file.grow(0);
  const auto content = content_of(file.path());
  ASSERT_EQ(content.size(), 10'000U);
  EXPECT_EQ(content[2], std::byte{'c'});
  EXPECT_EQ(std::ranges::count(content, std::byte{0}), 9'997);
}

TEST(OutputFile, GrowsByNothingWhereOthersHaveMadeItAsLong) {
  const Folder folder;
  OutputFile file{opened(folder.file("f")), folder.file("f"), {}};
  OutputFile other{opened(file.path()), file.path(), {}};
  const std::string text = "abc";
  other.write(0, std::as_bytes(std::span{text}));
  other.grow(5);
  for (const std::int64_t bytes : {2, 3, 4, 5}) {
    file.grow(bytes);
  }
  const auto content = content_of(file.path());
  const std::string expected{"abc\0", 5};
  EXPECT_TRUE(same(content, std::as_bytes(std::span{expected})));
}

TEST(OutputFile, ReachesOffsetsBeyond40Bits) {
  const Folder folder;
  SKIP_WITHOUT_DIRECT(folder);
  const PageAligned data{4 * page};
  OutputFile file{opened(folder.file("f")), folder.file("f"), with(Direct::on)};
  const std::int64_t offset = (std::int64_t{1} << 40) + 3 * static_cast<std::int64_t>(page);
  file.write(offset, data.bytes());
  file.write(offset - 9, data.part(page - 9, 9));
  const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<std::byte> read(4 * page + 9);
  ASSERT_EQ(::pread(descriptor, read.data(), read.size(), offset - 9), std::ssize(read));
  ::close(descriptor);
  EXPECT_TRUE(same(std::span{read}.subspan(9), data.bytes()));
  EXPECT_TRUE(same(std::span{read}.first(9), data.part(page - 9, 9)));
}

class InEveryMode : public testing::TestWithParam<Direct> {};

TEST_P(InEveryMode, RandomWritesLeaveTheBytesThatTheyShould) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  constexpr std::int64_t size = 200'000;
  const PageAligned data{size + 2 * page, seed};
  for (int round = 0; round < 20; ++round) {
    const Folder folder;
    const Options options{.direct = GetParam(),
                          .direct_from_bytes = static_cast<std::size_t>(draw(generator, 0, 30'000)),
                          .request_bytes = static_cast<std::size_t>(draw(generator, 0, 50'000)),
                          .threads = 1};
    OutputFile file{opened(folder.file("f")), folder.file("f"), options};
    std::vector<std::byte> expected(size);
    file.grow(size);
    for (int i = 0; i < 40; ++i) {
      const auto offset = static_cast<std::size_t>(draw(generator, 0, size));
      const auto count = static_cast<std::size_t>(
          draw(generator, 0,
               std::min<std::int64_t>(size - static_cast<std::int64_t>(offset),
                                      draw(generator, 1, size))));
      const bool is_aligned_alike = draw(generator, 0, 2) != 0;
      const std::size_t from =
          is_aligned_alike ? offset % page : static_cast<std::size_t>(draw(generator, 0, 2 * page));
      const auto bytes = data.part(from, count);
      file.write(static_cast<std::int64_t>(offset), bytes);
      if (count > 0) {
        std::memcpy(&expected[offset], bytes.data(), count);
      }
    }
    if (draw(generator, 0, 1) == 1) {
      file.sync();
    }
    ASSERT_TRUE(same(content_of(file.path()), expected));
  }
}

TEST_P(InEveryMode, ThreadsWriteTheirPartsOfOneFile) {
  const Folder folder;
  const PageAligned data{std::size_t{4} << 20};
  OutputFile file{opened(folder.file("f")), folder.file("f"), with(GetParam())};
  constexpr std::size_t parts = 4;
  // Borders inside pages: neighbours share them.
  const std::size_t part_bytes = data.bytes().size() / parts - 333;
  {
    std::vector<std::jthread> threads;
    for (std::size_t part = 0; part < parts; ++part) {
      threads.emplace_back([&, part] {
        file.write(static_cast<std::int64_t>(part * part_bytes),
                   data.part(part * part_bytes, part_bytes));
      });
    }
  }
  file.sync();
  EXPECT_TRUE(same(content_of(file.path()), data.part(0, parts * part_bytes)));
}

INSTANTIATE_TEST_SUITE_P(Disk, InEveryMode, every_mode, mode_name);

}  // namespace
}  // namespace iocomp::disk
