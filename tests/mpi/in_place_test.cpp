// SPDX-License-Identifier: BSD-3-Clause
// Memory of iocomp_alloc is written by a server where it lies, O_DIRECT where that pays.
#include <gtest/gtest.h>
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t elements = std::int64_t{1} << 18;  // 2 MiB

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

// Puts one array per step, computes on, and looks at the file and at the trace.
void write_and_check(const std::filesystem::path& folder) {
  const std::string path = (folder / "out.bin").string();
  const std::string trace = (folder / "trace.json").string();
  const std::string settings =
      "server.end = 'return'\ntransport.kind = \"shared\"\ntest.way = \"in-place\"\n[trace]\n" +
      ("json = \"" + trace + "\"\nlines = \"start\"\n") + "[files.out]\npath = \"" + path + "\"\n";
  iocomp_session* session = nullptr;
  ASSERT_EQ(iocomp_init(MPI_COMM_WORLD, settings.c_str(), &session), 0) << iocomp_error();
  if (iocomp_role(session) == IOCOMP_SERVER) {
    ASSERT_EQ(iocomp_finalize(session), 0);
    return;
  }
  void* memory = nullptr;
  ASSERT_EQ(iocomp_alloc(session, elements * sizeof(std::int64_t), &memory), 0);
  auto* const values = static_cast<std::int64_t*>(memory);
  iocomp_file* file = nullptr;
  iocomp_var* variable = nullptr;
  ASSERT_EQ(iocomp_open(session, "out", IOCOMP_SERIES, nullptr, &file), 0) << iocomp_error();
  ASSERT_EQ(iocomp_define(file, "u", IOCOMP_INT64, 1, &elements, &variable), 0);
  const std::int64_t start = 0;
  std::string expected;
  for (std::int64_t step = 0; step < 3; ++step) {
    for (std::int64_t i = 0; i < elements; ++i) {
      values[i] = i * 3 + step;
    }
    expected.append(static_cast<const char*>(memory), elements * sizeof(std::int64_t));
    iocomp_ticket ticket{};
    ASSERT_EQ(iocomp_put(variable, &start, &elements, memory, &ticket), 0) << iocomp_error();
    ASSERT_EQ(iocomp_end_step(file), 0);
    ASSERT_EQ(iocomp_wait(&ticket, IOCOMP_REUSABLE), 0) << iocomp_error();
  }
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();
  ASSERT_EQ(iocomp_free(session, memory), 0);
  EXPECT_NE(iocomp_free(session, memory), 0);
  ASSERT_EQ(iocomp_finalize(session), 0);
  EXPECT_TRUE(text_of(path) == expected);
  const std::string counted = text_of(trace);
  EXPECT_NE(counted.find("\"in_place_bytes\": " + std::to_string(expected.size())),
            std::string::npos)
      << counted;
  EXPECT_NE(counted.find("\"pulled_bytes\": 0.0"), std::string::npos) << counted;
}

TEST(InPlace, ServersWriteFromAllocatedMemory) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::array<char, 64> name{"/tmp/iocomp_in_place_XXXXXX"};
  if (rank == 0 && mkdtemp(name.data()) == nullptr) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  write_and_check(name.data());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::filesystem::remove_all(name.data());
  }
}

}  // namespace
