// SPDX-License-Identifier: BSD-3-Clause
#include "config/file_settings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "surroundings.h"

namespace iocomp::config {
namespace {

using Method = Compression::Method;

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
  const auto settings = Settings::read("files.y.kind = 'file_per_step'");
  EXPECT_TRUE(file_settings(settings, "y", "series").file_per_step);
  EXPECT_FALSE(file_settings(settings, "y", "series").checkpoint);
  EXPECT_TRUE(file_settings(settings, "y", "checkpoint").checkpoint);
  EXPECT_TRUE(file_settings(settings, "x", "checkpoint").file_per_step);
  EXPECT_FALSE(file_settings(settings, "x", "series").file_per_step);
}

TEST_F(FileSettingsTest, KeepAllStepsOfASeries) {
  const auto settings = Settings::read(
      "files.default.keep = 2\nfiles.y.kind = 'file_per_step'\n"
      "files.z.kind = 'series'");
  EXPECT_EQ(file_settings(settings, "x", "checkpoint").keep, 2);
  EXPECT_EQ(file_settings(settings, "y", "checkpoint").keep, 2);
  EXPECT_EQ(file_settings(settings, "x", "series").keep, 0);
  EXPECT_EQ(file_settings(settings, "y", "series").keep, 0);
  EXPECT_EQ(file_settings(settings, "z", "checkpoint").keep, 0);
}

TEST_F(FileSettingsTest, SplitTheHints) {
  const auto settings = Settings::read("files.x.hints = 'cb_nodes=4;romio_cb_write=enable'");
  const std::vector<std::pair<std::string, std::string>> expected{{"cb_nodes", "4"},
                                                                  {"romio_cb_write", "enable"}};
  EXPECT_EQ(file_settings(settings, "x", "series").hints, expected);
}

TEST_F(FileSettingsTest, HaveAnEngineAndItsParameters) {
  const auto settings =
      Settings::read("files.x.engine = 'BP4'\nfiles.x.hints = 'StatsLevel=0;NumAggregators=2'");
  const std::vector<std::pair<std::string, std::string>> expected{{"StatsLevel", "0"},
                                                                  {"NumAggregators", "2"}};
  const auto file = file_settings(settings, "x", "series");
  EXPECT_EQ(file.engine, "BP4");
  EXPECT_EQ(file.hints, expected);
  EXPECT_EQ(file_settings(settings, "y", "series").engine, "BP5");
  EXPECT_THROW(static_cast<void>(Settings::read("files.x.engine = 'BP6'")), Error);
}

TEST_F(FileSettingsTest, CompressChunksOnly) {
  const auto settings = Settings::read(
      "files.x.backend = 'hdf5'\nfiles.x.layout = 'time'\nfiles.x.compression = 'deflate:7'\n"
      "files.x.chunk = '1 MiB'\n"
      "files.y.backend = 'hdf5'\nfiles.y.compression = 'deflate'\n"
      "files.z.backend = 'netcdf'\nfiles.z.layout = 'time'\n"
      "files.n.backend = 'netcdf'\nfiles.n.compression = 'deflate'\n"
      "files.p.backend = 'posix'\nfiles.p.compression = 'deflate'");
  const auto file = file_settings(settings, "x", "series");
  EXPECT_TRUE(file.grows_along_time);
  EXPECT_EQ(file.usual.compression.method, Method::deflate);
  EXPECT_EQ(file.usual.compression.level, 7);
  EXPECT_EQ(file.usual.chunk_bytes, 1 << 20);
  EXPECT_TRUE(file.usual.compression.shuffle);
  EXPECT_FALSE(file_settings(settings, "other", "series").usual.compression.is_on());
  EXPECT_THROW(static_cast<void>(file_settings(settings, "x", "checkpoint")), Error);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "y", "series")), Error);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "z", "series")), Error);
  EXPECT_EQ(file_settings(settings, "n", "checkpoint").usual.compression.level, 4);
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
      "files.default.backend = 'netcdf'\n"
      "files.z.compression = 'zstd:12'");
  const auto zstd = file_settings(settings, "z", "series");
  EXPECT_EQ(zstd.usual.compression.method, Method::zstd);
  EXPECT_EQ(zstd.usual.compression.level, 12);
  EXPECT_FALSE(file_settings(settings, "n", "series").usual.compression.is_on());
  for (const auto* one : {"zstd:20", "deflate:10", "zstd:0", "zstd:", "zstd:x", "gzip", "",
                          "zstd:4 shuffled", "none:4", "32013,", "32013,,1", "32013,-1", "32013,x",
                          "65536", "1,4294967296", "32013 unshuffled"}) {
    const auto text = "files.x.compression = '" + std::string{one} + "'";
    EXPECT_THROW(static_cast<void>(Settings::read(text)), Error) << text;
  }
}

TEST_F(FileSettingsTest, NameFiltersOfHdf5ByTheirNumbers) {
  const auto settings = Settings::read(
      "files.default.backend = 'netcdf'\nfiles.default.compression = '32001, 0,4294967295'\n"
      "files.z.backend = 'zarr'\nfiles.p.backend = 'posix'");
  const auto usual = file_settings(settings, "n", "series").usual;
  EXPECT_EQ(usual.compression.method, Method::filter);
  EXPECT_EQ(usual.compression.filter, 32001);
  EXPECT_EQ(usual.compression.value_count, 2U);
  EXPECT_EQ(usual.compression.values[0], 0U);
  EXPECT_EQ(usual.compression.values[1], 4294967295U);
  EXPECT_FALSE(usual.compression.shuffle);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "z", "series")), Error);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "p", "checkpoint")), Error);
}

TEST_F(FileSettingsTest, CompressNoFilesOfPosix) {
  const auto settings = Settings::read(
      "files.c.compression = 'zstd'\nfiles.z.backend = 'zarr'\n"
      "files.z.compression = 'zstd'");
  EXPECT_EQ(file_settings(settings, "z", "checkpoint").usual.compression.method, Method::zstd);
  for (const char* const kind : {"series", "checkpoint"}) {
    EXPECT_THROW(static_cast<void>(file_settings(settings, "c", kind)), Error) << kind;
  }
}

TEST_F(FileSettingsTest, HaveOperatorsOfAdios2) {
  const auto settings = Settings::read(
      "files.x.backend = 'adios2'\nfiles.x.operator = 'zfp accuracy=0.01'\n"
      "files.x.variables.mask.operator = ''\n"
      "files.p.operator = 'bzip2'");
  const auto file = file_settings(settings, "x", "series");
  EXPECT_EQ(file.usual.operator_name, "zfp");
  EXPECT_EQ(file.usual.operator_parameters.at(0).second, "0.01");
  EXPECT_EQ(file.of_variable("mask").operator_name, "");
  EXPECT_THROW(static_cast<void>(file_settings(settings, "p", "series")), Error);
}

std::string refusal(const Settings& settings, const std::string& file) {
  try {
    static_cast<void>(file_settings(settings, file, "series"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_setting);
    return error.what();
  }
  return {};
}

TEST_F(FileSettingsTest, SayWhereASettingIsFromThatHoldsOverTheProgram) {
  write("iocomp.toml", "[files.default]\ncompression = 'zstd'\n");
  const auto settings = Settings::read(
      "files.x.backend = 'adios2'\nfiles.default.compression = 'none'\n"
      "files.default.operator = 'bzip2'");
  EXPECT_NE(
      refusal(settings, "x").find("files.x.compression = \"zstd\" (iocomp.toml:2): only with"),
      std::string::npos)
      << refusal(settings, "x");
}

TEST_F(FileSettingsTest, MayBeOfOneVariableAndOfThoseAPatternNames) {
  const auto settings = Settings::read(R"(
    [files.x]
    backend = "netcdf"
    compression = "deflate:2"
    [files.x.variables.u]
    compression = "zstd:12"
    chunk = "8 KiB"
    [files.x.variables."rho*"]
    compression = "zstd unshuffled"
    [files.x.variables."rho*e"]
    chunk = "16 KiB"
    [files.x.variables.rho_e]
    compression = "zstd"
    [files.default.variables.mask]
    chunk = "32 KiB"
  )");
  const auto file = file_settings(settings, "x", "series");
  EXPECT_EQ(file.usual.compression.method, Method::deflate);
  EXPECT_TRUE(file.compresses());
  EXPECT_EQ(file.of_variable("v").compression.level, 2);
  EXPECT_EQ(file.of_variable("u").compression.method, Method::zstd);
  EXPECT_EQ(file.of_variable("u").compression.level, 12);
  EXPECT_EQ(file.of_variable("u").chunk_bytes, 8 << 10);
  EXPECT_FALSE(file.of_variable("rho").compression.shuffle);
  EXPECT_EQ(file.of_variable("rho").chunk_bytes, 4 << 20);
  EXPECT_EQ(file.of_variable("rho_e").compression.method, Method::zstd);
  EXPECT_TRUE(file.of_variable("rho_e").compression.shuffle);
  EXPECT_EQ(file.of_variable("rho_e").chunk_bytes, 16 << 10);
  EXPECT_EQ(file.of_variable("mask").chunk_bytes, 32 << 10);
  EXPECT_FALSE(file_settings(settings, "y", "series").compresses());
}

TEST_F(FileSettingsTest, CompressAFileOfWhichOneVariableIsCompressed) {
  const auto settings = Settings::read(
      "files.x.backend = 'netcdf'\nfiles.x.variables.\"group/u\".compression = 'zstd'");
  const auto file = file_settings(settings, "x", "series");
  EXPECT_FALSE(file.usual.compression.is_on());
  EXPECT_TRUE(file.compresses());
  EXPECT_EQ(file.of_variable("group/u").compression.method, Method::zstd);
  EXPECT_FALSE(file.of_variable("u").compression.is_on());
}

TEST_F(FileSettingsTest, OfAVariableAreRefusedWithItsName) {
  const auto settings = Settings::read(
      "files.p.variables.u.compression = 'zstd'\n"
      "files.d.kind = 'file_per_step'\nfiles.d.variables.\"u*\".compression = 'deflate'");
  EXPECT_NE(refusal(settings, "p").find("files.p.variables.u.compression = \"zstd\" (program): "),
            std::string::npos)
      << refusal(settings, "p");
  EXPECT_NE(refusal(settings, "d").find("files.d.variables.u*.compression = \"deflate\""),
            std::string::npos)
      << refusal(settings, "d");
}

TEST_F(FileSettingsTest, OfVariablesMayComeFromEnvironmentAndOpenCall) {
  write("iocomp.toml", "[files.x.variables.v]\nround = '9 bits'\n");
  set("IOCOMP_FILES_X_VARIABLES_GROUP_U_ROUND", "5 bits");
  set("IOCOMP_FILES_VARIABLES_W_ROUND", "6 bits");
  const auto settings = Settings::read({});
  EXPECT_TRUE(settings.warnings().empty());
  const auto with = settings.with_options(
      "x",
      "variables.v.round = '10 bits'\nvariables.a.round = '11 bits'\n[variables.'group/u']\n"
      "round = '12 bits'\nchunk = '8 KiB'");
  const auto file = file_settings(with, "x", "series");
  EXPECT_EQ(file.of_variable("v").keep_bits, 9);  // the user's, over the program's
  EXPECT_EQ(file.of_variable("a").keep_bits, 11);
  EXPECT_EQ(file.of_variable("group/u").keep_bits, 5);
  EXPECT_EQ(file.of_variable("group/u").chunk_bytes, 8 << 10);
  EXPECT_EQ(file.of_variable("w").keep_bits, 6);
  EXPECT_EQ(file_settings(with, "y", "series").of_variable("w").keep_bits, 6);
  EXPECT_EQ(file_settings(with, "y", "series").of_variable("v").keep_bits, 0);
  const auto sent = Settings::from_wire(with.to_wire());
  EXPECT_EQ(file_settings(sent, "x", "series").of_variable("a").keep_bits, 11);
  EXPECT_THROW(static_cast<void>(settings.with_options("x", "[other.a]\nround = 0.1")), Error);
}

TEST_F(FileSettingsTest, TurnARelativeErrorIntoBits) {
  const auto settings = Settings::read(R"(
    files.a.round = 0.001
    files.b.round = 0.25
    files.c.round = 0.0078125
    [files.d]
    round = 0.001
    [files.d.variables]
    u.round = "4 bits"
    v.round = "none"
    "w*".round = "5 bits"
    wide.round = 0.1
  )");
  EXPECT_EQ(file_settings(settings, "a", "series").usual.keep_bits, 9);  // 2^-10 = 0.00098
  EXPECT_EQ(file_settings(settings, "b", "series").usual.keep_bits, 1);
  EXPECT_EQ(file_settings(settings, "c", "series").usual.keep_bits, 6);  // 2^-7 = 0.0078125
  const auto nearer = file_settings(settings, "d", "series");
  EXPECT_EQ(nearer.of_variable("other").keep_bits, 9);
  EXPECT_FALSE(nearer.of_variable("other").is_rounded_by_name);
  EXPECT_EQ(nearer.of_variable("u").keep_bits, 4);
  EXPECT_TRUE(nearer.of_variable("u").is_rounded_by_name);
  EXPECT_EQ(nearer.of_variable("v").keep_bits, 0);
  EXPECT_EQ(nearer.of_variable("w1").keep_bits, 5);
  EXPECT_FALSE(nearer.of_variable("w1").is_rounded_by_name);
  EXPECT_EQ(nearer.of_variable("wide").keep_bits, 3);
}

TEST_F(FileSettingsTest, TellTheUnitAndTheCalendarOfTimes) {
  const auto settings = Settings::read(
      "files.x = {time_units = 'days since 1850-01-01, noleap'}\n"
      "files.wrong.time_units = 'days since banana'\nfiles.odd.time_units = 'days since "
      "1850-01-01, lunar'");
  EXPECT_EQ(file_settings(settings, "x", "series").time_units, "days since 1850-01-01");
  EXPECT_EQ(file_settings(settings, "x", "series").calendar, "noleap");
  EXPECT_EQ(file_settings(settings, "y", "series").time_units, "");
  EXPECT_EQ(file_settings(settings, "y", "series").calendar, "");
  EXPECT_THROW(static_cast<void>(file_settings(settings, "wrong", "series")), Error);
  EXPECT_THROW(static_cast<void>(file_settings(settings, "odd", "series")), Error);
}

TEST_F(FileSettingsTest, RefuseHintsWithoutAValue) {
  const auto settings = Settings::read("files.x.hints = 'cb_nodes'");
  EXPECT_THROW(static_cast<void>(file_settings(settings, "x", "series")), Error);
}

TEST_F(FileSettingsTest, SpreadAggregatorsUnlessTheyShallBePacked) {
  const auto settings = Settings::read("files.x.aggregators = 2\nfiles.y.aggregators = '3 packed'");
  EXPECT_EQ(file_settings(settings, "x", "series").aggregators_per_node, 2);
  EXPECT_EQ(file_settings(settings, "x", "series").aggregator_order, Order::spread);
  EXPECT_EQ(file_settings(settings, "y", "series").aggregators_per_node, 3);
  EXPECT_EQ(file_settings(settings, "y", "series").aggregator_order, Order::packed);
}

}  // namespace
}  // namespace iocomp::config
