// SPDX-License-Identifier: BSD-3-Clause
#include "config/settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "surroundings.h"

namespace iocomp::config {
namespace {

class SettingsTest : public Surroundings {};

TEST_F(SettingsTest, AreTheDefaultsWhereNobodySaysAnything) {
  const auto settings = Settings::read({});
  EXPECT_EQ(settings.text("mode"), "async");
  EXPECT_EQ(settings.value("mode").origin, "default");
  EXPECT_EQ(settings.text("placement.servers"), "");
  EXPECT_EQ(settings.to_wire(), "");
}

TEST_F(SettingsTest, TakeTheFileOverTheProgramAndTheEnvironmentOverBoth) {
  const std::string program = "mode = 'sync'\nlog = 'error'\nserver.nice = 2";
  write("iocomp.toml", "log = 'info'\nserver.nice = 3\n");
  set("IOCOMP_SERVER_NICE", "4");
  const auto settings = Settings::read(program);
  EXPECT_EQ(settings.value("mode").origin, "program");
  EXPECT_EQ(settings.text("log"), "info");
  EXPECT_EQ(settings.value("log").origin, "iocomp.toml:1");
  EXPECT_EQ(settings.integer("server.nice"), 4);
  EXPECT_EQ(settings.value("server.nice").origin, "environment IOCOMP_SERVER_NICE");
}

TEST_F(SettingsTest, ComplainOfABadValueEvenWhereItIsOverridden) {
  set("IOCOMP_MODE", "async");
  EXPECT_NE(complaint("mode = 'quickly'"), "");
}

TEST_F(SettingsTest, ReadTheFileThatTheEnvironmentNames) {
  write("iocomp.toml", "mode = 'sync'\n");
  write("other.toml", "log = 'info'\n");
  set("IOCOMP_CONFIG", "other.toml");
  const auto settings = Settings::read({});
  EXPECT_EQ(settings.text("mode"), "async");
  EXPECT_EQ(settings.value("log").origin, "other.toml:1");
}

TEST_F(SettingsTest, ReadNoFileWhenItsNameIsEmpty) {
  write("iocomp.toml", "mode = 'sync'\n");
  set("IOCOMP_CONFIG", "");
  EXPECT_EQ(Settings::read({}).text("mode"), "async");
}

TEST_F(SettingsTest, ComplainOfAFileThatIsNotThere) {
  set("IOCOMP_CONFIG", "missing.toml");
  EXPECT_EQ(complaint(),
            "cannot read the settings file missing.toml (environment IOCOMP_CONFIG): No such file "
            "or directory");
}

TEST_F(SettingsTest, ComplainOfADirectoryInPlaceOfTheFile) {
  set("IOCOMP_CONFIG", ".");
  EXPECT_EQ(complaint(),
            "cannot read the settings file . (environment IOCOMP_CONFIG): cannot open .: it is a "
            "folder, not a file");
}

// A pipe or a device would let all ranks wait, or fill their memory.
TEST_F(SettingsTest, ComplainOfWhatIsNoFile) {
  ASSERT_EQ(::mkfifo("iocomp.toml", 0600), 0);
  EXPECT_EQ(complaint(),
            "cannot read the settings file iocomp.toml (in the working directory): cannot open "
            "iocomp.toml: it is a pipe, not a file");
  set("IOCOMP_CONFIG", "/dev/zero");
  EXPECT_EQ(complaint(),
            "cannot read the settings file /dev/zero (environment IOCOMP_CONFIG): cannot open "
            "/dev/zero: it is a device, not a file");
  write("large.toml", std::string((std::size_t{16} << 20) + 1, '\n'));
  set("IOCOMP_CONFIG", "large.toml");
  EXPECT_NE(complaint().find("it has more than 16 MiB"), std::string::npos) << complaint();
}

TEST_F(SettingsTest, PathsThatConcernNoFileStayWhereTheyAre) {
  auto settings = Settings::read(
      "trace.json = 'a.json'\nstaging.spill = '/b'\n"
      "files.x.path = 'c'");
  settings.resolve_paths();
  EXPECT_EQ(settings.text("trace.json"), std::filesystem::current_path().string() + "/a.json");
  EXPECT_EQ(settings.text("staging.spill"), "/b");
  EXPECT_EQ(settings.text("trace.timeline"), "");
  EXPECT_EQ(settings.file_text("x", "path"), "c");
}

TEST_F(SettingsTest, SurviveTheWayToAnotherRank) {
  set("IOCOMP_FILES_FIELDS_BACKEND", "hdf5");
  const auto sent = Settings::read("trace.json = \"a\\tb\\\\n\\n.json\"\nfiles.default.path = ''");
  const auto received = Settings::from_wire(sent.to_wire());
  EXPECT_EQ(received.to_wire(), sent.to_wire());
  EXPECT_EQ(received.text("trace.json"), "a\tb\\n\n.json");
  EXPECT_EQ(received.file_text("Fields", "backend"), "hdf5");
  EXPECT_EQ(received.value("trace.json").origin, "program");
  EXPECT_EQ(received.file_value("x", "path").origin, "program");
}

TEST_F(SettingsTest, NoticeWhenTheyWereCutOnTheWay) {
  EXPECT_THROW(static_cast<void>(Settings::from_wire("mode\tsync")), Error);
}

TEST_F(SettingsTest, DoNotAnswerForKeysOrTypesThatAreNotInTheTable) {
  const auto settings = Settings::read({});
  const auto code = [](const auto& ask) {
    try {
      ask();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::ok;
  };
  EXPECT_EQ(code([&] { static_cast<void>(settings.text("mod")); }), ErrorCode::internal);
  EXPECT_EQ(code([&] { static_cast<void>(settings.text("files.*.mode")); }), ErrorCode::internal);
  EXPECT_EQ(code([&] { static_cast<void>(settings.file_text("f", "mod")); }), ErrorCode::internal);
  EXPECT_EQ(code([&] { static_cast<void>(settings.integer("mode")); }), ErrorCode::internal);
}

TEST_F(SettingsTest, AreListedInTheOrderOfTheTable) {
  const auto listed = Settings::read({}).in_force();
  EXPECT_EQ(listed.front().first, "mode");
  EXPECT_EQ(listed.size(), all_keys().size());
  EXPECT_EQ(listed.back().first, "files.default.hints");
}

}  // namespace
}  // namespace iocomp::config
