// SPDX-License-Identifier: BSD-3-Clause
#include "formats/visibility.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/path.h"
#include "formats/format.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats {
namespace {

Switch at_two(char letter) { return {2, {static_cast<std::byte>(letter)}}; }

const std::function<void()> nothing = [] {};

[[noreturn]] void fail() { throw Error{ErrorCode::storage_failure, "no more"}; }

class VisibilityTest : public testing::Test {
 protected:
  [[nodiscard]] Visibility::Write write() {
    return [this](const Switch& next) {
      written_ += static_cast<char>(next.bytes.front());
      if (writes_fail_) {
        fail();
      }
    };
  }
  std::string written_;
  bool writes_fail_ = false;
};

TEST_F(VisibilityTest, IsSetBackWhereTheRestOfACommitFails) {
  Visibility visibility;
  visibility.show(at_two('a'), write(), nothing);
  EXPECT_THROW(visibility.show(at_two('b'), write(), fail), Error);
  EXPECT_EQ(written_, "aba");
  EXPECT_FALSE(visibility.is_stuck());
  EXPECT_THROW(visibility.show(at_two('c'), write(), fail), Error);
  EXPECT_EQ(written_, "abaca");
}

TEST_F(VisibilityTest, HasNothingToSetBackBeforeTheFirstCommit) {
  Visibility visibility;
  EXPECT_THROW(visibility.show(at_two('a'), write(), fail), Error);
  EXPECT_EQ(written_, "a");
  EXPECT_FALSE(visibility.is_stuck());
}

TEST_F(VisibilityTest, GoesBackToWhatAnEarlierJobHasLeft) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  std::ofstream{path} << "..z..";
  Visibility visibility{Path{path}};
  EXPECT_THROW(visibility.show(at_two('a'), write(), fail), Error);
  EXPECT_EQ(written_, "az");
}

TEST_F(VisibilityTest, IsStuckWhereAFailureCannotBeUndone) {
  Visibility visibility;
  visibility.show(at_two('a'), write(), nothing);
  writes_fail_ = true;
  EXPECT_THROW(visibility.show(at_two('b'), write(), nothing), Error);
  EXPECT_EQ(written_, "aba");
  EXPECT_TRUE(visibility.is_stuck());
}

TEST_F(VisibilityTest, OfAFormatWithoutASwitchCarriesOutTheRestAlone) {
  Visibility visibility;
  bool is_done = false;
  visibility.show({}, write(), [&is_done] { is_done = true; });
  EXPECT_TRUE(is_done);
  EXPECT_EQ(written_, "");
}

}  // namespace
}  // namespace iocomp::formats
