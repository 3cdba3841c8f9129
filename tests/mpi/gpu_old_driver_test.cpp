// SPDX-License-Identifier: BSD-3-Clause
// A driver that the program loads after its first put, and that lacks functions: arrays of the CPU
// are put as before, those of the GPU are refused.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

TEST(OldDriver, IsNeededByArraysOfItsGpuAlone) {
  std::array<char, 64> folder{"/tmp/iocomp_gpu_XXXXXX"};
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string settings =
      "[files.out]\npath = \"" + std::string{folder.data()} + "/out\"\noverlap = \"any\"\n";
  iocomp_session* session = nullptr;
  ASSERT_EQ(iocomp_init(MPI_COMM_WORLD, settings.c_str(), &session), 0) << iocomp_error();
  iocomp_file* file = nullptr;
  ASSERT_EQ(iocomp_open(session, "out", IOCOMP_SERIES, nullptr, &file), 0) << iocomp_error();
  const std::int64_t count = 10;
  iocomp_var* variable = nullptr;
  ASSERT_EQ(iocomp_define(file, "u", IOCOMP_INT8, 1, &count, &variable), 0) << iocomp_error();
  // Memory at the beginning of a page is that of a GPU, says the driver.
  alignas(4096) static std::array<char, 64> values{};
  const std::int64_t start = 0;
  EXPECT_EQ(iocomp_put(variable, &start, &count, values.data(), nullptr), 0) << iocomp_error();
  ASSERT_NE(dlopen(IOCOMP_STAND_IN_OLD_CUDA, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  EXPECT_EQ(iocomp_put(variable, &start, &count, values.data() + 1, nullptr), 0) << iocomp_error();
  EXPECT_EQ(iocomp_put(variable, &start, &count, values.data(), nullptr), IOCOMP_UNSUPPORTED);
  const std::string story = iocomp_error();
  EXPECT_NE(story.find("put of \"u\" into file \"out\""), std::string::npos) << story;
  EXPECT_NE(story.find("has no function cu"), std::string::npos) << story;
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();
  ASSERT_EQ(iocomp_finalize(session), 0) << iocomp_error();
  std::filesystem::remove_all(folder.data());
}

}  // namespace
