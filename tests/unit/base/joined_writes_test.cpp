// SPDX-License-Identifier: BSD-3-Clause
#include "base/joined_writes.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "unit/temporary_folder.h"

namespace iocomp {
namespace {

class JoinedWritesTest : public testing::TestWithParam<bool> {};

// Some follow one another, some leave holes, and some go back.
TEST_P(JoinedWritesTest, AllAreInTheirPlaces) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  const Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  ASSERT_TRUE(file.is_open());
  std::vector<char> expected(3, '\0');
  JoinedWrites writes{file, path, GetParam()};
  char next = 'a';
  for (const auto& [hole, bytes] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 1000},
                                                        {0, 0},
                                                        {0, 1U << 20U},
                                                        {5000, 5},
                                                        {0, (9U << 20U) + 1U},
                                                        {4096, 7},
                                                        {0, 600000},
                                                        {300000, 600000},
                                                        {0, 4096},
                                                        {70000, 4U << 20U}}) {
    expected.insert(expected.end(), hole, '\0');
    expected.insert(expected.end(), bytes, next);
    writes.add(std::ssize(expected) - static_cast<std::int64_t>(bytes),
               std::as_bytes(std::span{expected}.last(bytes)));
    ++next;
  }
  std::ranges::fill(std::span{expected}.first(4000), 'Z');
  writes.add(0, std::as_bytes(std::span{expected}.first(4000)));
  writes.finish();
  std::ifstream stream{path, std::ios::binary};
  const std::vector<char> found{std::istreambuf_iterator<char>{stream}, {}};
  EXPECT_TRUE(std::ranges::equal(found, expected));
}

INSTANTIATE_TEST_SUITE_P(PastTheCacheOrNot, JoinedWritesTest, testing::Bool());

TEST(JoinedWrites, WhatCannotBeWrittenIsToldAtTheEnd) {
  const std::string path = "/dev/full";
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  ASSERT_TRUE(file.is_open());
  JoinedWrites writes{file, path, true};
  const std::vector<std::byte> bytes(10);
  writes.add(0, bytes);
  EXPECT_THROW(writes.finish(), Error);
}

}  // namespace
}  // namespace iocomp
