// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "base/path.h"
#include "commit/commit.h"

namespace iocomp::commit {
namespace {

// Names are made of names: no folder is looked at.
TargetNames names_of(const std::string& name, std::int64_t step) {
  return target_names(Path{nullptr, name}, step, "node-17");
}

std::string target(const std::string& name, std::int64_t step) {
  return names_of(name, step).target.name();
}

TEST(TargetNames, ASeriesKeepsItsPath) {
  const TargetNames names = names_of("fields.h5", -1);
  EXPECT_EQ(names.target.name(), "fields.h5");
  EXPECT_EQ(names.temporary.name(), ".fields.h5.iocomp-node-17");
  EXPECT_EQ(names.manifest.name(), "fields.h5.json");
}

TEST(TargetNames, AStepGoesBeforeTheExtension) {
  EXPECT_EQ(target("ckpt.h5", 3), "ckpt.000003.h5");
  EXPECT_EQ(target("ckpt.h5", 12345678), "ckpt.12345678.h5");
  EXPECT_EQ(target("ckpt", 0), "ckpt.000000");
  EXPECT_EQ(target(".hidden", 1), ".hidden.000001");
  EXPECT_EQ(target("ckpt.v2.bin", 1), "ckpt.v2.000001.bin");
}

TEST(TargetNames, TemporaryAndManifestOfAStepAreItsOwn) {
  const TargetNames names = names_of("ckpt.bin", 3);
  EXPECT_EQ(names.temporary.name(), ".ckpt.000003.bin.iocomp-node-17");
  EXPECT_EQ(names.manifest.name(), "ckpt.000003.bin.json");
}

TEST(TargetNames, TheStepIsFoundInANameAgain) {
  for (const std::int64_t step : {0, 3, 999999, 12345678}) {
    for (const std::string plain : {"ckpt.h5", "ckpt", ".hidden", "ckpt.v2.bin"}) {
      EXPECT_EQ(step_in_name(target(plain, step), plain), step);
    }
  }
  EXPECT_FALSE(step_in_name("ckpt.h5", "ckpt.h5"));
  EXPECT_FALSE(step_in_name("ckpt.3.h5", "ckpt.h5"));
  EXPECT_FALSE(step_in_name("ckpt.0000003.h5", "ckpt.h5"));
  EXPECT_FALSE(step_in_name("ckpt.000003.h5.json", "ckpt.h5"));
  EXPECT_FALSE(step_in_name("ckpt.+00003.h5", "ckpt.h5"));
  EXPECT_FALSE(step_in_name("dkpt.000003.h5", "ckpt.h5"));
}

TEST(TargetNames, ThePlainNameIsFoundInThatOfAStep) {
  for (const std::int64_t step : {0, 3, 999999, 12345678}) {
    for (const std::string plain : {"ckpt.h5", "ckpt", ".hidden", "ckpt.v2.bin", "a.000007.h5"}) {
      const auto found = name_of_step(target(plain, step));
      ASSERT_TRUE(found) << plain << ' ' << step;
      EXPECT_EQ(found->plain, plain);
      EXPECT_EQ(found->step, step);
    }
  }
  for (const char* name : {"", ".", "ckpt", "ckpt.h5", "ckpt.3.h5", "ckpt.0000003.h5", ".000003",
                           "000003", "ckpt.+00003.h5", ".000003.h5"}) {
    EXPECT_FALSE(name_of_step(name)) << name;
  }
}

}  // namespace
}  // namespace iocomp::commit
