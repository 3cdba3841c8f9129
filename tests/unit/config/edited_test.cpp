// SPDX-License-Identifier: BSD-3-Clause
#include "config/edited.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace iocomp::config {
namespace {

std::string with_threads(const std::string& text) {
  return edited(text, "writing", {{"threads", "4"}, {"policy", "\"auto\""}});
}

TEST(EditedSettings, GetASectionWhereTheyHaveNone) {
  EXPECT_EQ(with_threads(""), "[writing]\npolicy = \"auto\"\nthreads = 4\n");
  EXPECT_EQ(with_threads("mode = \"sync\"  # why\n"),
            "mode = \"sync\"  # why\n[writing]\npolicy = \"auto\"\nthreads = 4\n");
}

TEST(EditedSettings, AlsoStandBeforeAllSections) {
  EXPECT_EQ(edited("", "", {{"mode", "\"sync\""}}), "mode = \"sync\"\n");
  EXPECT_EQ(edited("mode = \"async\"\n[wait]\ndeadline = 1\n", "", {{"mode", "\"sync\""}}),
            "mode = \"sync\"\n[wait]\ndeadline = 1\n");
}

TEST(EditedSettings, KeepWhatElseTheirSectionSays) {
  EXPECT_EQ(
      with_threads(
          "[writing]  # threads\n  threads=2\nbind = \"l3\"\n[placement]\npolicy = \"tail\"\n"),
      "[writing]  # threads\npolicy = \"auto\"\nthreads = 4\nbind = \"l3\"\n[placement]\n"
      "policy = \"tail\"\n");
}

TEST(EditedSettings, AreRefusedWhereAnEditWouldSayThemTwice) {
  try {
    (void)with_threads("writing.threads = 2\n");
    FAIL() << "was edited";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_setting);
    EXPECT_NE(std::string{error.what()}.find("[writing]\nthreads = 4\npolicy = \"auto\""),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW((void)with_threads("not a setting"), Error);
}

}  // namespace
}  // namespace iocomp::config
