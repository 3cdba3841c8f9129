// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "surroundings.h"

namespace iocomp::config {
namespace {

class Toml : public Surroundings {};

TEST_F(Toml, GivesValuesOfEveryType) {
  const auto settings = Settings::read(R"(
    mode = "sync"
    placement = {node_size = 3, servers = [1, 3, 5]}
    staging.memory = "2 GiB"
    staging.spill_limit = 4096
    [wait]
    deadline = 1.5
    [files.default]
    guard = false
  )");
  EXPECT_EQ(settings.text("mode"), "sync");
  EXPECT_EQ(settings.integer("placement.node_size"), 3);
  EXPECT_EQ(settings.text("placement.servers"), "[1,3,5]");
  EXPECT_EQ(settings.bytes("staging.memory"), std::int64_t{2} << 30);
  EXPECT_EQ(settings.bytes("staging.spill_limit"), 4096);
  EXPECT_EQ(settings.real("wait.deadline"), 1.5);
  EXPECT_FALSE(settings.file_boolean("x", "guard"));
}

TEST_F(Toml, TakesAWholeNumberForARealOne) {
  EXPECT_EQ(Settings::read("wait.deadline = 5").real("wait.deadline"), 5.0);
}

TEST_F(Toml, TakesNumbersAndTruthInQuotesToo) {
  const auto settings = Settings::read("server.nice = '3'\nplacement.strict = 'off'");
  EXPECT_EQ(settings.integer("server.nice"), 3);
  EXPECT_FALSE(settings.boolean("placement.strict"));
}

TEST_F(Toml, NamesTheNearestKeyForAnUnknownOne) {
  write("iocomp.toml", "mode = 'sync'\n[stagin]\nmemory = '1 GiB'\n");
  EXPECT_EQ(complaint(),
            "unknown setting stagin.memory (iocomp.toml:3): the nearest known one is "
            "staging.memory; `iocomp config` lists all");
}

TEST_F(Toml, NamesTheNearestKeyOfTheSameFile) {
  EXPECT_EQ(complaint("[files.fields]\nbakend = 'hdf5'"),
            "unknown setting files.fields.bakend (program): the nearest known one is "
            "files.fields.backend; `iocomp config` lists all");
}

TEST_F(Toml, PointsFromAllFilesToTheDefaultFile) {
  EXPECT_EQ(complaint("[files]\nbackend = 'hdf5'"),
            "unknown setting files.backend (program): the nearest known one is "
            "files.default.backend; `iocomp config` lists all");
}

TEST_F(Toml, TellsWhatServesInsteadOfAKeyThatIsGone) {
  EXPECT_EQ(complaint("stop.before = '5 min'"),
            "stop.before (program) is gone: say stop.at = \"end - 10 min\"");
  EXPECT_EQ(complaint("transport.kind = 'kernel'"),
            "transport.kind = \"kernel\" (program) is gone: say placement.servers = \"none\", or "
            "nothing, as it is the default");
  EXPECT_EQ(complaint("files.x.describe = 'xdmf'"),
            "files.x.describe (program) is gone: the command `iocomp describe` makes a file that "
            "ParaView opens");
}

TEST_F(Toml, NoticesAMisspeltSectionWithoutSettings) {
  EXPECT_NE(complaint("[stagin]").find("unknown setting [stagin] (program)"), std::string::npos);
  EXPECT_EQ(complaint("[staging]\n[files]\n[files.fields]"), "");
}

TEST_F(Toml, TellsTheLineOfABadValue) {
  write("iocomp.toml", "\n[placement]\n\npolicy = 'halfs'\n");
  EXPECT_EQ(complaint(),
            "placement.policy = \"halfs\" (iocomp.toml:4): allowed are auto, halves, spread, "
            "packed, tail; did you mean \"halves\"?");
}

TEST_F(Toml, RefusesNumbersWhereTextBelongs) {
  EXPECT_EQ(complaint("[files.fields]\npath = 5"),
            "files.fields.path = \"5\" (program): allowed is a path (in TOML in quotes)");
}

TEST_F(Toml, TakesNoNumberForServersAsItMightBeARank) {
  EXPECT_EQ(
      complaint("placement.servers = 2"),
      "placement.servers = \"2\" (program): allowed is none, \"2 per node\", \"1 per 8\" (compute "
      "ranks), or ranks such as [3] or [3, 7]");
  EXPECT_EQ(complaint("placement.servers = [2]"), "");
}

TEST_F(Toml, RefusesTablesListsAndDatesAsValues) {
  EXPECT_EQ(complaint("mode = [1, 2]"), "mode = \"1,2\" (program): allowed are async, sync");
  EXPECT_NE(complaint("server.nice = 2026-11-21"), "");
  EXPECT_NE(complaint("mode = {fast = true}"), "");
  EXPECT_NE(complaint("[[files]]\nbackend = 'hdf5'"), "");
}

TEST_F(Toml, RefusesNamesThatNoFileCanHave) {
  EXPECT_EQ(complaint("[files.\"a b\"]\nbackend = 'hdf5'"),
            "the file name \"a b\" (program): allowed are letters, digits, '-', '_' and '.'");
}

TEST_F(Toml, TellsTheLineOfASyntaxError) {
  write("iocomp.toml", "mode = 'sync'\n[placement\n");
  const auto text = complaint();
  EXPECT_TRUE(text.starts_with("iocomp.toml:2: not valid TOML: ")) << text;
}

TEST_F(Toml, MayNotNameAFolderOfCode) {
  write("iocomp.toml", "storage.modules = 'here'");
  EXPECT_EQ(complaint(),
            "storage.modules = \"here\" (iocomp.toml:1): only the environment may set it: "
            "IOCOMP_STORAGE_MODULES");
  EXPECT_NE(complaint("storage.modules = 'here'"), "");
}

TEST_F(Toml, RefusesTheSameKeyTwice) { EXPECT_NE(complaint("mode = 'sync'\nmode = 'async'"), ""); }

TEST_F(Toml, RefusesCharactersThatBeginNothing) {
  for (const char* text : {"\u00ee", "s = 1\n\u00a7", "[.", "[=]", "[ \u00e9]", "[[\u00df]]"}) {
    EXPECT_NE(complaint(text), "") << text;
  }
}

// A line end with a backslash, and then such a character.
TEST_F(Toml, TakesAnyCharacterInTextOfSeveralLines) {
  const auto settings = Settings::read("files.a.path = \"\"\"a\\\n\u00a7\"\"\"");
  EXPECT_EQ(settings.file_text("a", "path"), "a\u00a7");
}

TEST_F(Toml, RefusesTablesInTablesWithoutEnd) {
  std::string deep;
  for (int level = 0; level < 300000; ++level) {
    deep += "a.";
  }
  EXPECT_EQ(complaint("mode = 'sync'\n" + deep + "a = 1"),
            "program:2: a line with more than 1000 dots");
}

}  // namespace
}  // namespace iocomp::config
