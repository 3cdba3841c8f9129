// SPDX-License-Identifier: BSD-3-Clause
#include "config/file_settings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "surroundings.h"

namespace iocomp::config {
namespace {

class FileSettingsTest : public Surroundings {};

TEST_F(FileSettingsTest, InheritTheModeUnlessTheFileSaysOne) {
  const auto settings = Settings::read("mode = 'sync'\nfiles.fields.mode = 'async'");
  EXPECT_FALSE(file_settings(settings, "fields", "series").synchronous);
  EXPECT_TRUE(file_settings(settings, "other", "series").synchronous);
}

TEST_F(FileSettingsTest, LetTheSettingOverrideTheKindOfTheProgram) {
  const auto settings = Settings::read("files.fields.kind = 'checkpoint'");
  EXPECT_TRUE(file_settings(settings, "fields", "series").checkpoint);
  EXPECT_FALSE(file_settings(settings, "other", "series").checkpoint);
  EXPECT_TRUE(file_settings(settings, "other", "checkpoint").checkpoint);
}

TEST_F(FileSettingsTest, GiveEachStepOfACheckpointAFileOfItsOwn) {
  const auto settings = Settings::read({});
  EXPECT_TRUE(file_settings(settings, "x", "checkpoint").file_per_step);
  EXPECT_FALSE(file_settings(settings, "x", "series").file_per_step);
}

TEST_F(FileSettingsTest, SplitTheHints) {
  const auto settings = Settings::read("files.x.hints = 'cb_nodes=4;romio_cb_write=enable'");
  const std::vector<std::pair<std::string, std::string>> expected{{"cb_nodes", "4"},
                                                                  {"romio_cb_write", "enable"}};
  EXPECT_EQ(file_settings(settings, "x", "series").hints, expected);
}

TEST_F(FileSettingsTest, HaveAnEngineAndItsParameters) {
  const auto settings = Settings::read(
      "files.x.engine = 'BP4'\nfiles.x.engine_parameters = 'StatsLevel=0;NumAggregators=2'");
  const std::vector<std::pair<std::string, std::string>> expected{{"StatsLevel", "0"},
                                                                  {"NumAggregators", "2"}};
  const auto file = file_settings(settings, "x", "series");
  EXPECT_EQ(file.engine, "BP4");
  EXPECT_EQ(file.engine_parameters, expected);
  EXPECT_EQ(file_settings(settings, "y", "series").engine, "BP5");
  EXPECT_THROW(static_cast<void>(Settings::read("files.x.engine = 'BP6'")), Error);
}

TEST_F(FileSettingsTest, CompressChunksOnly) {
  const auto settings = Settings::read(
      "files.x.backend = 'hdf5'\nfiles.x.layout = 'time'\nfiles.x.compression = 'deflate'\n"
      "files.x.compression_level = 7\nfiles.x.chunk = '1 MiB'\n"
      "files.y.backend = 'hdf5'\nfiles.y.compression = 'deflate'\n"
      "files.z.backend = 'netcdf'\nfiles.z.layout = 'time'\n"
      "files.n.backend = 'netcdf'\nfiles.n.compression = 'deflate'\n"
      "files.p.backend = 'posix'\nfiles.p.compression = 'deflate'");
  const auto file = file_settings(settings, "x", "series");
  EXPECT_TRUE(file.grows_along_time);
  EXPECT_EQ(file.compression, "deflate");
  EXPECT_EQ(file.compression_level, 7);
  EXPECT_EQ(file.chunk_bytes, 1 << 20);
  EXPECT_TRUE(file.shuffle);
  EXPECT_EQ(file_settings(settings, "other", "series").compression, "");
  EXPECT_THROW(static_cast<void>(file_settings(settings, "x", "checkpoint")), Error);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "y", "series")), Error);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "z", "series")), Error);
  EXPECT_EQ(file_settings(settings, "n", "checkpoint").compression_level, 4);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "p", "series")), Error);
}

TEST_F(FileSettingsTest, LieFlatInHdf5Alone) {
  const auto settings = Settings::read(
      "files.x.backend = 'hdf5'\nfiles.x.layout = 'flat'\n"
      "files.n.backend = 'netcdf'\nfiles.n.layout = 'flat'\n"
      "files.c.backend = 'hdf5'\nfiles.c.layout = 'flat'\nfiles.c.compression = 'deflate'");
  EXPECT_TRUE(file_settings(settings, "x", "series").is_flat);
  EXPECT_TRUE(file_settings(settings, "x", "checkpoint").is_flat);
  EXPECT_FALSE(file_settings(settings, "x", "series").grows_along_time);
  EXPECT_FALSE(file_settings(settings, "y", "series").is_flat);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "n", "series")), Error);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "c", "series")), Error);
}

TEST_F(FileSettingsTest, HaveLevelsOfTheirMethod) {
  const auto settings = Settings::read(
      "writing.threads = 3\nfiles.default.backend = 'netcdf'\n"
      "files.default.compression_level = 12\n"
      "files.z.compression = 'zstd'\nfiles.d.compression = 'deflate'");
  const auto zstd = file_settings(settings, "z", "series");
  EXPECT_EQ(zstd.compression, "zstd");
  EXPECT_EQ(zstd.compression_level, 12);
  EXPECT_EQ(zstd.compression_threads, 3);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "d", "series")), Error);
  EXPECT_EQ(file_settings(settings, "n", "series").compression, "");
  EXPECT_THROW(static_cast<void>(Settings::read("files.x.compression_level = 20")), Error);
}

TEST_F(FileSettingsTest, DescribeWhereTheyAreAsked) {
  const auto settings = Settings::read("files.x.describe = 'xdmf'");
  EXPECT_TRUE(file_settings(settings, "x", "series").xdmf);
  EXPECT_FALSE(file_settings(settings, "y", "series").xdmf);
}

TEST_F(FileSettingsTest, RefuseHintsWithoutAValue) {
  const auto settings = Settings::read("files.x.hints = 'cb_nodes'");
  EXPECT_THROW(static_cast<void>(file_settings(settings, "x", "series")), Error);
}

TEST_F(FileSettingsTest, SpreadAggregatorsUnlessTheyShallBePacked) {
  const auto settings =
      Settings::read("files.x.aggregators = 2\nfiles.y.aggregator_order = 'packed'");
  EXPECT_EQ(file_settings(settings, "x", "series").aggregators_per_node, 2);
  EXPECT_EQ(file_settings(settings, "x", "series").aggregator_order, Order::spread);
  EXPECT_EQ(file_settings(settings, "y", "series").aggregators_per_node, 0);
  EXPECT_EQ(file_settings(settings, "y", "series").aggregator_order, Order::packed);
}

}  // namespace
}  // namespace iocomp::config
