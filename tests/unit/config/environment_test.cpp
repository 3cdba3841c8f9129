// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "surroundings.h"

namespace iocomp::config {
namespace {

class Environment : public Surroundings {};

TEST_F(Environment, SetsEveryKindOfKey) {
  set("IOCOMP_MODE", "sync");
  set("IOCOMP_STAGING_MEMORY", "64 MiB");
  set("IOCOMP_PLACEMENT_SERVERS", "1,3");
  set("IOCOMP_PLACEMENT_STRICT", "on");
  set("IOCOMP_TEST_CREDITS", "3");
  const auto settings = Settings::read({});
  EXPECT_EQ(settings.text("mode"), "sync");
  EXPECT_EQ(settings.bytes("staging.memory"), std::int64_t{64} << 20);
  EXPECT_EQ(settings.text("placement.servers"), "1,3");
  EXPECT_TRUE(settings.boolean("placement.strict"));
  EXPECT_EQ(settings.integer("test.credits"), 3);
}

TEST_F(Environment, IsNamedInTheErrorOfABadValue) {
  set("IOCOMP_PLACEMENT_POLICY", "halfs");
  EXPECT_EQ(complaint(),
            "placement.policy = \"halfs\" (environment IOCOMP_PLACEMENT_POLICY): allowed are "
            "auto, halves, spread, packed, tail; did you mean \"halves\"?");
}

TEST_F(Environment, WarnsOfAnUnknownName) {
  set("IOCOMP_STAGIN_MEMORY", "1 GiB");
  EXPECT_EQ(warning(),
            "unknown setting IOCOMP_STAGIN_MEMORY (environment): the nearest known one is "
            "IOCOMP_STAGING_MEMORY; `iocomp config` lists all; it has no effect");
}

TEST_F(Environment, WarnsOfEachNameOfOthersAndReadsOn) {
  set("IOCOMP_HOME", "/opt/iocomp");
  set("IOCOMP_MODE", "sync");
  set("IOCOMP_VERSION", "1.0");
  const auto settings = Settings::read({});
  EXPECT_EQ(settings.warnings().size(), 2U);
  EXPECT_EQ(settings.text("mode"), "sync");
}

TEST_F(Environment, NamesTheNearestKeyOfTheSameFile) {
  set("IOCOMP_FILES_MY_FIELDS_BAKEND", "hdf5");
  EXPECT_EQ(warning(),
            "unknown setting IOCOMP_FILES_MY_FIELDS_BAKEND (environment): the nearest known one "
            "is IOCOMP_FILES_MY_FIELDS_BACKEND; `iocomp config` lists all; it has no effect");
}

TEST_F(Environment, RefusesAKeyThatIsGoneAndSaysWhatServesInstead) {
  set("IOCOMP_PLACEMENT_RATIO", "4");
  EXPECT_EQ(complaint(),
            "IOCOMP_PLACEMENT_RATIO (environment) is gone: say placement.servers = \"1 per 4\" for "
            "4 compute ranks each");
}

TEST_F(Environment, RefusesAKeyOfAFileThatIsGone) {
  set("IOCOMP_FILES_FIELDS_DESCRIBE", "xdmf");
  EXPECT_EQ(complaint(),
            "IOCOMP_FILES_FIELDS_DESCRIBE (environment) is gone: the command `iocomp describe` "
            "makes a file that ParaView opens");
}

TEST_F(Environment, MayHoldNamesOfOurScriptsAndOfPackageManagers) {
  set("IOCOMP_TEST_FOLDER", "/tmp");
  set("IOCOMP_BENCH_ROUNDS", "5");
  set("IOCOMP_LIBRARY", "/opt/iocomp/lib/libiocomp.so");
  set("IOCOMP_ROOT", "/opt/iocomp");
  set("IOCOMP_DIR", "/opt/iocomp/lib/cmake");
  EXPECT_EQ(warning(), "");
}

TEST_F(Environment, SetsAllFilesWithoutAName) {
  set("IOCOMP_FILES_BACKEND", "hdf5");
  set("IOCOMP_FILES_STEPS_IN_FLIGHT", "3");
  const auto settings = Settings::read({});
  EXPECT_EQ(settings.file_text("fields", "backend"), "hdf5");
  EXPECT_EQ(settings.file_text("default", "backend"), "hdf5");
  EXPECT_EQ(settings.file_integer("fields", "steps_in_flight"), 3);
}

TEST_F(Environment, DoesNotOverrideAFileThroughTheDefaultOfAllFiles) {
  set("IOCOMP_FILES_BACKEND", "hdf5");
  const auto settings = Settings::read("files.fields.backend = 'mpiio'");
  EXPECT_EQ(settings.file_text("fields", "backend"), "mpiio");
  EXPECT_EQ(settings.file_text("other", "backend"), "hdf5");
}

TEST_F(Environment, OverridesOneFileByName) {
  set("IOCOMP_FILES_FIELDS_BACKEND", "hdf5");
  const auto settings = Settings::read("files.fields.backend = 'mpiio'");
  EXPECT_EQ(settings.file_text("fields", "backend"), "hdf5");
  EXPECT_EQ(settings.file_text("other", "backend"), "posix");
}

TEST_F(Environment, FindsFilesWhateverTheirCaseDotsAndDashes) {
  set("IOCOMP_FILES_MY_FIELDS_V2_WHEN_FULL", "error");
  const auto settings = Settings::read({});
  for (const auto* name : {"my-fields.v2", "My_Fields_V2", "MY.FIELDS.V2"}) {
    EXPECT_EQ(settings.file_text(name, "when_full"), "error") << name;
  }
  EXPECT_EQ(settings.file_text("my-fields", "when_full"), "wait");
}

TEST_F(Environment, TakesTheNameOfAFileInAnyCase) {
  set("IOCOMP_FILES_fields_BACKEND", "hdf5");
  EXPECT_EQ(Settings::read({}).file_text("fields", "backend"), "hdf5");
}

TEST_F(Environment, DoesNotTakeTheNameOfAFileForAKey) {
  set("IOCOMP_FILES_A_MODE_KIND", "series");
  const auto settings = Settings::read({});
  EXPECT_EQ(settings.file_text("a_mode", "kind"), "series");
  EXPECT_EQ(settings.file_text("a", "mode"), "inherit");
}

// Each part of the name might be a file: there are thousands, and it took hours to compare them
// all.
TEST_F(Environment, WarnsOfAVeryLongNameAtOnce) {
  set("IOCOMP_FILES_" + std::string(20000, '_') + "X", "1");
  EXPECT_TRUE(warning().starts_with("unknown setting IOCOMP_FILES___"));
}

}  // namespace
}  // namespace iocomp::config
