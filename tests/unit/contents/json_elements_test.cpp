// SPDX-License-Identifier: BSD-3-Clause
#include "contents/json_elements.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace iocomp::contents {
namespace {

std::string story_of(std::string_view text) {
  try {
    (void)parse_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// The library throws another exception for each of these.
TEST(ParseJson, RefusesWithAnErrorInWordsForUsers) {
  EXPECT_EQ(story_of(""), "it is not JSON from line 1, column 1 on");
  EXPECT_EQ(story_of("{\"a\": [1, 2}"), "it is not JSON from line 1, column 12 on");
  EXPECT_EQ(story_of("[1] [2]"), "it is not JSON from line 1, column 5 on");
  EXPECT_EQ(story_of("\"\xff\""), "it is not JSON from line 1, column 2 on");
  EXPECT_EQ(story_of("\"\\ud800\""), "it is not JSON from line 1, column 8 on");
  EXPECT_EQ(story_of("[8e8888]"), "it has a number that is too large");
  EXPECT_NE(story_of(std::string(100'000, '[')), "accepted");
}

}  // namespace
}  // namespace iocomp::contents
