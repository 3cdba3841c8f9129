// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/silence.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace iocomp::client {
namespace {

TEST(Silence, IsOfThoseThatHaveNotAnsweredWhenAWaitIsGivenUp) {
  Silence silence;
  std::vector<int> asked;
  const auto ask = [&asked](int server) { asked.push_back(server); };
  silence.ask(3, ask);
  EXPECT_EQ(asked, (std::vector{0, 1, 2}));
  EXPECT_TRUE(silence.servers().empty());  // they may be on their way
  silence.answered(0);
  silence.conclude();
  EXPECT_EQ(silence.servers(), (std::set{1, 2}));
}

TEST(Silence, EndsWithAnAnswer) {
  Silence silence;
  silence.ask(2, [](int) {});
  silence.conclude();
  silence.answered(1);
  EXPECT_EQ(silence.servers(), std::set{0});
  silence.answered(0);
  EXPECT_TRUE(silence.servers().empty());
}

TEST(Silence, AsksNobodyTwiceWhoOwesAnAnswer) {
  Silence silence;
  std::vector<int> asked;
  const auto ask = [&asked](int server) { asked.push_back(server); };
  silence.ask(2, ask);
  silence.answered(1);
  silence.ask(2, ask);
  EXPECT_EQ(asked, (std::vector{0, 1, 1}));
}

}  // namespace
}  // namespace iocomp::client
