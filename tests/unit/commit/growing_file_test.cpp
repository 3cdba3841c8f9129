// SPDX-License-Identifier: BSD-3-Clause
#include "commit/growing_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/path.h"
#include "base/small_files.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

TEST(GrowingFile, WritesWhatIsNewAndNotAllAgain) {
  const TemporaryFolder folder;  // 2000 changes are made durable: some seconds
  const std::string path = folder / "text";
  std::string expected = "beginning\n";
  {
    GrowingFile file{Path{path}, "end\n"};
    EXPECT_FALSE(file.can_grow());
    file.write(expected, Path{path + ".new"});
    constexpr int steps = 2000;
    for (int step = 0; step < steps; ++step) {
      const std::string more = "step " + std::to_string(step) + '\n';
      ASSERT_TRUE(file.can_grow());
      file.append(more, Path{path + ".new"});
      expected += more;
      ASSERT_EQ(read_file(path), expected + "end\n");
    }
    // Each text twice, and an ending for every change.
    EXPECT_LE(file.bytes_written(), 2 * std::ssize(expected) + (steps + 2) * 4);
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST(GrowingFile, IsWrittenAnewWhenItWasTakenAway) {
  const TemporaryFolder folder;
  const std::string path = folder / "text";
  GrowingFile file{Path{path}, "end\n"};
  file.write("a\n", Path{path + ".new"});
  file.append("b\n", Path{path + ".new"});
  std::filesystem::remove(path);
  EXPECT_ANY_THROW(file.append("c\n", Path{path + ".new"}));
  EXPECT_FALSE(file.can_grow());
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  file.write("a\nb\nc\n", Path{path + ".new"});
  file.append("d\n", Path{path + ".new"});
  EXPECT_EQ(read_file(path), "a\nb\nc\nd\nend\n");
}

}  // namespace
}  // namespace iocomp::commit
