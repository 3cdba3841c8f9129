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
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "unit/temporary_folder.h"

namespace iocomp {
namespace {

TEST(JoinedWrites, ShortAndLongOnesFollowOneAnother) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  const Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  ASSERT_TRUE(file.is_open());
  std::vector<char> expected(3, '\0');
  JoinedWrites writes{file, 3, path};
  char next = 'a';
  for (const std::size_t bytes :
       {1000U, 0U, 1U << 20U, 5U, (1U << 20U) + 1U, 7U, 600000U, 600000U}) {
    EXPECT_EQ(writes.end(), std::ssize(expected));
    expected.insert(expected.end(), bytes, next);
    writes.add(std::as_bytes(std::span{expected}.last(bytes)));
    ++next;
  }
  writes.finish();
  EXPECT_EQ(writes.end(), std::ssize(expected));
  std::ifstream stream{path, std::ios::binary};
  const std::vector<char> found{std::istreambuf_iterator<char>{stream}, {}};
  EXPECT_TRUE(std::ranges::equal(found, expected));
}

TEST(JoinedWrites, WhatCannotBeWrittenIsToldAtTheEnd) {
  const std::string path = "/dev/full";
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  ASSERT_TRUE(file.is_open());
  JoinedWrites writes{file, 0, path};
  const std::vector<std::byte> bytes(10);
  writes.add(bytes);
  EXPECT_THROW(writes.finish(), Error);
}

}  // namespace
}  // namespace iocomp
