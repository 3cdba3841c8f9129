// SPDX-License-Identifier: BSD-3-Clause
// Some ranks write, and others read: in sessions of their own on parts of the world, one after
// another, as jobs of different sizes would.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iocomp/iocomp.hpp>
#include <random>
#include <string>
#include <vector>

#include "unit/seed.h"

namespace {

using Extents = std::vector<std::int64_t>;

const Extents shape{13, 9, 21};

struct World {
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0;
  int size = 1;
};

std::int64_t value_at(std::int64_t step, std::int64_t z, std::int64_t y, std::int64_t x) {
  return ((step * shape[0] + z) * shape[1] + y) * shape[2] + x;
}

// Row-major values of a box.
std::vector<std::int64_t> values_of(std::int64_t step, const Extents& start, const Extents& count) {
  std::vector<std::int64_t> values;
  for (std::int64_t z = start[0]; z < start[0] + count[0]; ++z) {
    for (std::int64_t y = start[1]; y < start[1] + count[1]; ++y) {
      for (std::int64_t x = start[2]; x < start[2] + count[2]; ++x) {
        values.push_back(value_at(step, z, y, x));
      }
    }
  }
  return values;
}

class Reading : public testing::TestWithParam<std::string> {
 protected:
  Reading() {
    std::array<char, 64> path{"/tmp/iocomp_read_XXXXXX"};
    if (world_.rank == 0 && mkdtemp(path.data()) == nullptr) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = path.data();
  }
  ~Reading() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_.rank == 0) {
      std::filesystem::remove_all(folder_);
    }
  }

  // Run a session on the first ranks of the world. Collective over the world.
  void with_session(int ranks, const std::string& mode,
                    const std::function<void(iocomp::Session&)>& body) {
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_.rank < ranks ? 0 : MPI_UNDEFINED, 0, &some);
    if (some != MPI_COMM_NULL) {
      iocomp::Session io{some, mode + "\nserver.end = 'return'\ntrace.lines = 'start'\n" +
                                   "[files.default]\nbackend = \"" + GetParam() +
                                   "\"\n[files.data]\npath = \"" + path_ + "\"\n"};
      if (io.role() != IOCOMP_SERVER) {
        body(io);
      }
      io.finalize();
      MPI_Comm_free(&some);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // Steps of "u", each cut along another dimension, and of the scalar "t".
  static void write(iocomp::Session& io, iocomp_kind kind, std::int64_t steps) {
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(io.comm(), &rank);
    MPI_Comm_size(io.comm(), &size);
    iocomp::File out = io.open("data", kind);
    out.set_attribute("title", "a test");
    const auto u = out.define<std::int64_t>("group/u", shape);
    const auto t = out.define<double>("t", {});
    for (std::int64_t step = 0; step < steps; ++step) {
      const auto d = static_cast<std::size_t>(step % 3);
      Extents start(3, 0);
      Extents count = shape;
      start[d] = shape[d] * rank / size;
      count[d] = shape[d] * (rank + 1) / size - start[d];
      static_cast<void>(u.put(start, count, values_of(step, start, count), IOCOMP_BUFFERED));
      if (rank == 0) {
        static_cast<void>(t.put(0.5 * static_cast<double>(step)));
      }
      out.end_step();
    }
    out.close();
  }

  static void expect_random_boxes(const iocomp::Input& in, std::mt19937_64& random) {
    const auto newest = in.steps().back();
    const Extents origin(3, 0);
    EXPECT_EQ(std::isnan(in.time(-1)), std::isnan(in.time(newest)));
    EXPECT_EQ(in.shape("group/u", -1), shape);
    EXPECT_EQ(in.read<std::int64_t>("group/u", -1, origin, shape),
              values_of(newest, origin, shape));
    for (const auto step : in.steps()) {
      EXPECT_EQ(in.read<double>("t", step), std::vector<double>{0.5 * static_cast<double>(step)});
      EXPECT_EQ(in.shape("group/u", step), shape);
      for (int box = 0; box < 10; ++box) {
        Extents start;
        Extents count;
        for (const auto extent : shape) {
          start.push_back(iocomp::draw(random, 0, extent));
          count.push_back(iocomp::draw(random, 0, extent - start.back()));
        }
        EXPECT_EQ(in.read<std::int64_t>("group/u", step, start, count),
                  values_of(step, start, count));
      }
    }
  }

  World world_;
  std::filesystem::path folder_;
  std::string path_;
};

TEST_P(Reading, AnyRanksReadAnyBoxOfWhatAnyRanksWrote) {
  // Ranks must not draw alike, or a rank that reads for another would not be found out.
  const std::uint32_t seed = iocomp::test_seed();
  SCOPED_TRACE(iocomp::seed_text(seed));
  std::mt19937_64 random{seed + static_cast<std::uint32_t>(world_.rank)};
  const std::vector<std::string> modes{"mode = \"sync\"", "placement.servers = '1 per 1'",
                                       "mode = \"async\""};
  std::size_t mode = 0;
  for (int writers = 1; writers <= world_.size; ++writers) {
    for (const auto kind : {IOCOMP_SERIES, IOCOMP_CHECKPOINT}) {
      path_ = folder_ / ("data" + std::to_string(writers) + std::to_string(kind));
      with_session(writers, modes.at(writers == 1 ? 0 : mode++ % 3),
                   [&](iocomp::Session& io) { write(io, kind, 4); });
      const int readers = world_.size + 1 - writers;
      with_session(readers, modes.at(readers == 1 ? 0 : mode++ % 3), [&](iocomp::Session& io) {
        const iocomp::Input in = io.open_input("data");
        EXPECT_EQ(in.steps(), (Extents{0, 1, 2, 3}));
        EXPECT_TRUE(in.left_out().empty());
        EXPECT_EQ(in.variables(), (std::vector<std::string>{"group/u", "t"}));
        EXPECT_EQ(in.text("title"), "a test");
        expect_random_boxes(in, random);
      });
    }
  }
}

TEST_P(Reading, FilesOfTheSameSessionOnPartsOfItsRanks) {
  path_ = folder_ / "data";
  with_session(world_.size, "mode = \"sync\"", [&](iocomp::Session& io) {
    write(io, IOCOMP_CHECKPOINT, 2);
    int rank = 0;
    MPI_Comm_rank(io.comm(), &rank);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(io.comm(), rank % 2, -rank, &part);
    std::mt19937_64 random{static_cast<std::uint64_t>(rank)};
    expect_random_boxes(io.open_input("data", {.comm = part}), random);
    MPI_Comm_free(&part);
  });
}

TEST_P(Reading, FailuresAreToldOnEveryRank) {
  path_ = folder_ / "data";
  const auto failure = [](const std::function<void()>& call) -> std::pair<int, std::string> {
    try {
      call();
    } catch (const iocomp::Error& error) {
      return {error.code(), error.what()};
    }
    return {IOCOMP_OK, {}};
  };
  with_session(world_.size, "mode = \"sync\"", [&](iocomp::Session& io) {
    EXPECT_EQ(failure([&] { static_cast<void>(io.open_input("data")); }).first, IOCOMP_NOT_FOUND);
    EXPECT_EQ(failure([&] { static_cast<void>(io.open_input("da/ta")); }).first,
              IOCOMP_INVALID_ARGUMENT);
    write(io, IOCOMP_SERIES, 2);
    const iocomp::Input in = io.open_input("data");
    std::vector<std::int64_t> one(1);
    const auto read = [&](const char* name, std::int64_t step, const Extents& start) {
      const Extents count{1, 1, 1};
      return failure([&] {
        iocomp::check(iocomp_read(in.raw(), name, step, start.data(), count.data(), one.data()));
      });
    };
    EXPECT_EQ(read("group/u", 1, {12, 8, 20}).first, IOCOMP_OK);
    const auto unknown = read("grup/u", 0, {0, 0, 0});
    EXPECT_EQ(unknown.first, IOCOMP_NOT_FOUND);
    EXPECT_NE(unknown.second.find("did you mean \"group/u\"?"), std::string::npos)
        << unknown.second;
    const auto absent = read("group/u", 7, {0, 0, 0});
    EXPECT_EQ(absent.first, IOCOMP_NOT_FOUND);
    EXPECT_NE(absent.second.find("no step 7; committed steps: 0-1"), std::string::npos)
        << absent.second;
    const auto outside = read("group/u", 1, {13, 0, 0});
    EXPECT_EQ(outside.first, IOCOMP_INVALID_ARGUMENT);
    EXPECT_NE(outside.second.find("read of \"group/u\" in step 1 of file \"data\""),
              std::string::npos)
        << outside.second;
    const Extents zero(3, 0);
    EXPECT_EQ(iocomp_read(in.raw(), "group/u", 0, zero.data(), zero.data(), nullptr), IOCOMP_OK);
    EXPECT_EQ(iocomp_read(in.raw(), "group/u", 0, zero.data(), shape.data(), nullptr),
              IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(iocomp_read(nullptr, "group/u", 0, zero.data(), zero.data(), nullptr),
              IOCOMP_INVALID_ARGUMENT);
    // A file that is shorter than its manifest says.
    MPI_Barrier(io.comm());
    if (world_.rank == 0) {
      ASSERT_EQ(::truncate(path_.c_str(), 100), 0);
    }
    MPI_Barrier(io.comm());
    const auto torn = failure([&] { static_cast<void>(io.open_input("data")); });
    EXPECT_EQ(torn.first, IOCOMP_STORAGE_FAILURE);
    EXPECT_NE(torn.second.find("is torn: it has 100 bytes"), std::string::npos) << torn.second;
  });
}

INSTANTIATE_TEST_SUITE_P(BackEnds, Reading, testing::Values(IOCOMP_TESTED_BACK_ENDS),
                         [](const auto& tested) { return tested.param; });

}  // namespace
