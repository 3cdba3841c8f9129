// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "topology/discover.h"

namespace iocomp::topology {
namespace {

TEST(RestrictTo, KeepsWhatIsNamed) {
  Node node = describe("pack:1 core:4 pu:2");
  restrict_to(node, {0, 2, 3});
  EXPECT_TRUE(node.cores[0].threads[0].allowed);
  EXPECT_FALSE(node.cores[0].threads[1].allowed);
  EXPECT_TRUE(node.cores[1].threads[1].allowed);
  EXPECT_FALSE(node.cores[3].threads[0].allowed);
}

TEST(RestrictTo, NeverAllowsMoreThanBefore) {
  Node node = describe("pack:1 core:4 pu:1");
  restrict_to(node, {0, 1});
  restrict_to(node, {1, 2});
  EXPECT_FALSE(node.cores[0].threads[0].allowed);
  EXPECT_TRUE(node.cores[1].threads[0].allowed);
  EXPECT_FALSE(node.cores[2].threads[0].allowed);
  EXPECT_THROW(restrict_to(node, {3}), Error);
}

TEST(RestrictTo, RefusesACpuThatTheNodeDoesNotHave) {
  Node node = describe("pack:1 core:4 pu:1");
  try {
    restrict_to(node, {0, 9});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("no CPU 9"), std::string::npos);
  }
}

}  // namespace
}  // namespace iocomp::topology
