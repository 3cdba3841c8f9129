// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace iocomp::log {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override { configure(Level::silent, ""); }
};

template <typename Body>
std::string printed_by(Body body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

TEST_F(Log, IsSilentUntilConfigured) {
  EXPECT_FALSE(enabled(Level::error));
  EXPECT_EQ(printed_by([] { error("text"); }), "");
}

TEST_F(Log, PrintsTimeLevelRankAndText) {
  configure(Level::info, "server 1");
  const std::string line = printed_by([] { warning("disk {is} slow"); });
  std::string time_as_zeros = line.substr(0, line.find(' '));
  std::ranges::replace_if(time_as_zeros, [](char c) { return c >= '0' && c <= '9'; }, '0');
  EXPECT_EQ(time_as_zeros, "0000-00-00T00:00:00.000");
  EXPECT_EQ(line.substr(line.find(' ')), " warning server 1: disk {is} slow\n");
}

TEST_F(Log, LeavesOutWhatIsBelowItsLevel) {
  configure(Level::warning, "compute 3");
  EXPECT_TRUE(enabled(Level::error));
  EXPECT_FALSE(enabled(Level::info));
  EXPECT_EQ(printed_by([] { debug("text"); }), "");
}

TEST_F(Log, KeepsTheLinesOfThreadsWhole) {
  configure(Level::debug, "server 2");
  const std::string all = printed_by([] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int n = 0; n < 50; ++n) {
          debug("abcdefghijklmnopqrstuvwxyz");
        }
      });
    }
  });
  std::istringstream lines{all};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.ends_with(" debug server 2: abcdefghijklmnopqrstuvwxyz")) << line;
  }
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace iocomp::log
