// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "surroundings.h"

namespace iocomp::config {
namespace {

class Files : public Surroundings {};

Value listed(const Settings& settings, const std::string& key) {
  const auto all = settings.in_force();
  const auto found = std::ranges::find(all, key, [](const auto& entry) { return entry.first; });
  return found == all.end() ? Value{"not listed", ""} : found->second;
}

TEST_F(Files, FallBackToTheDefaultFileAndThenToTheTable) {
  const auto settings = Settings::read(R"(
    files.default.backend = "hdf5"
    files.default.alignment = "1 MiB"
    files.fields.backend = "mpiio"
  )");
  EXPECT_EQ(settings.file_text("fields", "backend"), "mpiio");
  EXPECT_EQ(settings.file_bytes("fields", "alignment"), 1 << 20);
  EXPECT_EQ(settings.file_text("other", "backend"), "hdf5");
  EXPECT_EQ(settings.file_text("other", "when_full"), "wait");
  EXPECT_EQ(settings.file_text("other", "existing"), "refuse");
}

TEST_F(Files, MayHaveDotsInTheNameOfTheFile) {
  const auto settings = Settings::read("files.\"a.b\".keep = 2\n[files.c.d]\nkeep = 3");
  EXPECT_EQ(settings.file_integer("a.b", "keep"), 2);
  EXPECT_EQ(settings.file_integer("c.d", "keep"), 3);
  EXPECT_EQ(settings.file_integer("c", "keep"), 0);
}

TEST_F(Files, AreListedForTheDefaultAndForEveryFileThatIsNamed) {
  write("iocomp.toml", "[files.fields]\nbackend = 'hdf5'\n");
  set("IOCOMP_FILES_FIELDS_KEEP", "4");
  set("IOCOMP_FILES_RESTART_KEEP", "5");
  const auto settings = Settings::read({});
  EXPECT_EQ(listed(settings, "files.default.backend").text, "posix");
  EXPECT_EQ(listed(settings, "files.fields.backend").origin, "iocomp.toml:2");
  EXPECT_EQ(listed(settings, "files.fields.keep").text, "4");
  EXPECT_EQ(listed(settings, "files.fields.keep").origin, "environment IOCOMP_FILES_FIELDS_KEEP");
  EXPECT_EQ(listed(settings, "files.fields.mode").origin, "default");
  EXPECT_EQ(listed(settings, "files.restart.keep").text, "5");
  EXPECT_EQ(listed(settings, "files.$FIELDS.keep").text, "not listed");
  EXPECT_EQ(listed(settings, "files.FIELDS.keep").text, "not listed");
}

TEST_F(Files, AreListedWithWhatIsSaidOfTheirVariables) {
  write("iocomp.toml", "[files.fields.variables.u]\nround = '7 bits'\n");
  set("IOCOMP_FILES_FIELDS_VARIABLES_RHO_CHUNK", "1 MiB");
  set("IOCOMP_FILES_VARIABLES_V_ROUND", "0.1");
  const auto settings = Settings::read({});
  EXPECT_EQ(listed(settings, "files.fields.variables.u.round").origin, "iocomp.toml:2");
  EXPECT_EQ(listed(settings, "files.fields.variables.RHO.chunk").text, "1 MiB");
  EXPECT_EQ(listed(settings, "files.default.variables.V.round").text, "0.1");
  EXPECT_EQ(listed(settings, "files.fields.variables.u.chunk").text, "not listed");
}

TEST_F(Files, RefuseOfAVariableWhatIsOfTheWholeFile) {
  EXPECT_NE(complaint("[files.x.variables.u]\nbackend = 'hdf5'")
                .find("unknown setting files.x.variables.u.backend (program): what can be set of "
                      "one variable is chunk, compression, "),
            std::string::npos)
      << complaint("[files.x.variables.u]\nbackend = 'hdf5'");
  EXPECT_NE(
      complaint("[files.x.variables]\nchunk = '1 MiB'").find("as in files.x.variables.u.chunk"),
      std::string::npos)
      << complaint("[files.x.variables]\nchunk = '1 MiB'");
  EXPECT_EQ(complaint("[files.x.variables.u]\nround = '53 bits'"),
            "files.x.variables.u.round = \"53 bits\" (program): allowed is none, \"10 bits\", or a "
            "relative error up to 0.25");
  EXPECT_EQ(complaint("[files.x.variables.u]\nkeep_bits = 10"),
            "files.x.variables.u.keep_bits (program) is gone: say round = \"10 bits\"");
  EXPECT_NE(complaint("[files.x.variables.\"\"]\nround = 0.1"), "");
}

TEST_F(Files, CanBeListedForOneFile) {
  set("IOCOMP_FILES_KEEP", "4");
  const auto settings = Settings::read({}).file_in_force("fields");
  ASSERT_FALSE(settings.empty());
  EXPECT_EQ(settings.front().first, "files.fields.backend");
  const auto keep = std::ranges::find(settings, "files.fields.keep",
                                      [](const auto& entry) { return entry.first; });
  ASSERT_NE(keep, settings.end());
  EXPECT_EQ(keep->second.text, "4");
}

}  // namespace
}  // namespace iocomp::config
