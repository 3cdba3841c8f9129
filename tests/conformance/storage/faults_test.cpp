// SPDX-License-Identifier: BSD-3-Clause
// Needs a tmpfs of its own for full and read-only disks: skipped where this process may not mount
// one.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "back_end.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "contents/variable.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

Variable one_dimension(std::int64_t extent) {
  return {0, "u", array::ElementType::float64, array::make_shape(1, &extent)};
}

// The story of what failed, or nothing.
template <typename Action>
std::string story_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::storage_failure);
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Faults : public testing::TestWithParam<BackEnd> {
 protected:
  // Makes a target the way its access wants it. All ranks of an MPI file, the lead of a plain one.
  [[nodiscard]] std::string story_of_creating(const Path& path) const {
    if (GetParam().is_plain() && rank() != 0) {
      return {};
    }
    return story_of([&] { (void)GetParam().create(path); });
  }

  [[nodiscard]] static bool has_no_target() {
    return GetParam().is_plain() && !GetParam().format().traits().has_to_place();
  }

  // Ends the step, as some formats write only then. Collective.
  static void write_whole_step(SharedFile& file) {
    if (GetParam().writes_whole_steps()) {
      file.flush();
    }
  }

  SharedFolder folder_;
};

TEST_P(Faults, AMissingFolderIsToldByName) {
  if (has_no_target()) {
    GTEST_SKIP() << "who writes a plain file creates it";
  }
  if (rank() == 0) {
    std::filesystem::create_directory(folder_ / "missing");
  }
  barrier();
  const Path path{folder_ / "missing/file"};
  barrier();
  if (rank() == 0) {
    std::filesystem::remove(folder_ / "missing");
  }
  barrier();
  const std::string story = story_of_creating(path);
  barrier();
  if (rank() == 0 || !GetParam().is_plain()) {
    EXPECT_TRUE(contains(story, path.text())) << story;
    EXPECT_TRUE(contains(story, "No such file or directory")) << story;
  }
}

TEST_P(Faults, AReadOnlyDiskIsTold) {
  if (has_no_target()) {
    GTEST_SKIP() << "who writes a plain file creates it";
  }
  const SmallDisk disk{folder_, 1 << 20, true};
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "this process may not mount a tmpfs";
  }
  const std::string story = story_of_creating(Path{disk / "file"});
  barrier();
  if (rank() == 0 || !GetParam().is_plain()) {
    EXPECT_TRUE(contains(story, "Read-only file system")) << story;
  }
}

TEST_P(Faults, ARankThatCannotOpenTheFileFailsAllAndLeavesNobodyWaiting) {
  if (GetParam().is_plain()) {
    GTEST_SKIP() << "only the lead opens a plain file";
  }
  const Path path{folder_ / "file"};
  struct rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  if (rank() == ranks() - 1) {
    const Descriptor next{::dup(0)};
    const struct rlimit no_more{static_cast<rlim_t>(next.raw()), before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &no_more);
  }
  const std::string story = story_of_creating(path);
  ::setrlimit(RLIMIT_NOFILE, &before);
  barrier();
  EXPECT_TRUE(
      contains(story, "Too many open files (on writer " + std::to_string(ranks() - 1) + ')'))
      << story;
}

TEST_P(Faults, AFullDiskIsToldWithItsCauseAndTheFileCanBeFinished) {
  if (GetParam().is_plain()) {
    GTEST_SKIP() << "plain files are not written through their target";
  }
  const SmallDisk disk{folder_, 2 << 20, false};
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "this process may not mount a tmpfs";
  }
  SharedFile file{GetParam(), disk / "file", {one_dimension(1 << 20)}};
  const std::int64_t share = (1 << 20) / ranks();
  const array::Box mine{1, {rank() * share}, {share}};
  const std::string story = story_of([&] {
    const Placed placed = file.place(0, 0);
    file.put(placed, mine, 1 << 15);
    write_whole_step(file);
  });
  EXPECT_TRUE(on_some_rank(!story.empty()));
  EXPECT_TRUE(story.empty() || contains(story, "No space left on device")) << story;
  // Whatever this says, all come back from it.
  (void)story_of([&] { file.finish_target(); });
  barrier();
}

TEST_P(Faults, AFileWhoseWriteFailedCanBeAbandoned) {
  if (GetParam().is_plain()) {
    GTEST_SKIP() << "plain files are not written through their target";
  }
  const SmallDisk disk{folder_, 2 << 20, false};
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "this process may not mount a tmpfs";
  }
  SharedFile file{GetParam(), disk / "file", {one_dimension(1 << 20)}};
  EXPECT_NE(story_of([&] {
              const Placed placed = file.place(0, 0);
              file.put(placed, {1, {rank() * 1000}, {1 << 19}});
              write_whole_step(file);
            }),
            "");
  file.abandon();
}

TEST_P(Faults, ADiskThatFillsUpBeforeTheEndLeavesNobodyWaiting) {
  if (GetParam().engine == "HDF5") {
    GTEST_SKIP() << "a second abandoned file of this process: HDF5 crashes when MPI is finalized";
  }
  if (GetParam().is_plain()) {
    GTEST_SKIP() << "plain files are not written through their target";
  }
  const SmallDisk disk{folder_, 2 << 20, false};
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "this process may not mount a tmpfs";
  }
  SharedFile file{GetParam(), disk / "file", {one_dimension(1000)}};
  const Placed placed = file.place(0, 0);
  std::string story_of_put;
  if (rank() == 0) {
    disk.fill();
    story_of_put = story_of([&] { file.put(placed, {1, {}, {1000}}); });
  }
  EXPECT_TRUE(story_of_put.empty() || contains(story_of_put, "No space left on device"))
      << story_of_put;
  barrier();
  Attribute large;
  large.values.resize(2 << 20);
  file.description().attributes["large"] = large;
  const std::string story = story_of([&] { file.finish_target(); });
  const bool has_room_checked = GetParam().name == "hdf5" || GetParam().name == "adios2";
  const bool is_told = on_some_rank(contains(story, "No space left on device"));
  EXPECT_TRUE(!has_room_checked || is_told) << story;
}

TEST_P(Faults, MetadataForWhichThereIsNoRoomAreTold) {
  const SmallDisk disk{folder_, 1 << 20, false};
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "this process may not mount a tmpfs";
  }
  if (GetParam().name != "hdf5" || !GetParam().is_plain()) {
    GTEST_SKIP() << "no metadata of its own";
  }
  SharedFile file{GetParam(), disk / "file", {one_dimension(10)}};
  (void)file.place(0, 0);
  std::string story = "not the lead";
  if (file.is_mine()) {
    disk.fill();
    story = story_of([&] { file.commit_target(); });
    EXPECT_TRUE(contains(story, "No space left on device")) << story;
    story = story_of([&] { file.finish_target(); });
    file.abandon();
  }
  EXPECT_NE(story, "");
}

INSTANTIATE_TEST_SUITE_P(Storage, Faults, testing::ValuesIn(back_ends()),
                         [](const auto& tested) { return label(tested.param); });

}  // namespace
}  // namespace iocomp::formats
