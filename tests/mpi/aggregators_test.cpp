#include "formats/aggregators.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/order.h"
#include "formats/format.h"
#include "formats/mpi_hints.h"
#include "mpi/error.h"
#include "mpi/handle.h"

// Which ranks do aggregate is not asked of the MPI but of the system: who has written the bytes of
// a collective write. tests/mpi/CMakeLists.txt runs this with ROMIO and with Open MPI's own MPI-IO,
// tests/system/test_aggregators.py on several virtual nodes.
namespace iocomp::formats {
namespace {

constexpr int block_bytes = 1 << 16;
constexpr int blocks = 16;  // of each rank

const mpi::WaitPolicy& policy() {
  static const mpi::WaitPolicy quick{.deadline_seconds = 30};
  return quick;
}

// By this process to files and sockets; what ranks send one another through memory is not in it.
std::int64_t bytes_written_so_far() {
  std::ifstream in{"/proc/self/io"};
  std::string key;
  for (std::int64_t value = 0; in >> key >> value;) {
    if (key == "wchar:") {
      return value;
    }
  }
  return 0;
}

std::string file_name() {
  int number = getpid();
  mpi::check(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
  return "aggregators_test." + std::to_string(number);
}

// Blocks of all ranks in turn, so that the MPI has a reason to collect them.
std::int64_t bytes_written_together(const Openers& openers, int per_node) {
  FormatOptions options{.hints = {{"romio_cb_write", "enable"}}};
  options.collective = true;
  options.aggregators_per_node = per_node;
  options.aggregators = openers.aggregators;
  const MpiHints hints{options};
  const int rank = mpi::rank(openers.comm);
  const int ranks = mpi::size(openers.comm);
  const std::string name = file_name();
  MPI_File file = MPI_FILE_NULL;
  mpi::check(MPI_File_open(openers.comm.raw(), name.c_str(),
                           MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                           hints.raw(), &file));
  MPI_Datatype raw = MPI_DATATYPE_NULL;
  mpi::check(MPI_Type_vector(blocks, block_bytes, block_bytes * ranks, MPI_BYTE, &raw));
  const mpi::Datatype in_turn{raw};
  mpi::check(MPI_Type_commit(&raw));
  mpi::check(MPI_File_set_view(file, MPI_Offset{rank} * block_bytes, MPI_BYTE, in_turn.raw(),
                               "native", MPI_INFO_NULL));
  const std::vector<std::byte> values(std::size_t{blocks} * block_bytes);
  const std::int64_t before = bytes_written_so_far();
  mpi::check(MPI_File_write_at_all(file, 0, values.data(), static_cast<int>(values.size()),
                                   MPI_BYTE, MPI_STATUS_IGNORE));
  const std::int64_t written = bytes_written_so_far() - before;
  mpi::check(MPI_File_close(&file));
  return written;
}

bool is_chosen(Order order, int per_node) {
  MPI_Comm raw = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &raw));
  const mpi::Communicator node{raw};
  const int ranks = mpi::size(node);
  const auto positions = serving_positions(order, ranks, std::min(per_node, ranks));
  return std::ranges::count(positions, mpi::rank(node)) > 0;
}

void check_who_writes(Order order, int per_node) {
  const auto world = mpi::duplicate(MPI_COMM_WORLD);
  const auto opened = openers(world.raw(), order, per_node, policy(), "the other ranks");
  EXPECT_EQ(mpi::rank(world) == 0, mpi::rank(opened.comm) == 0);
  // Two ranks write for themselves in Open MPI's own MPI-IO, whatever the hints; and where most
  // aggregate, what each writes does not stand out from what others may send.
  if (mpi::size(world) < 3 || 2 * opened.aggregators > mpi::size(world)) {
    return;
  }
  const std::int64_t all = std::int64_t{blocks} * block_bytes * mpi::size(world);
  const std::int64_t written = bytes_written_together(opened, per_node);
  EXPECT_EQ(written > all / opened.aggregators * 3 / 4, is_chosen(order, per_node))
      << (order == Order::spread ? "spread" : "packed") << ", " << per_node << " per node: rank "
      << mpi::rank(world) << " wrote " << written << " of " << all << " bytes";
}

TEST(Aggregators, AreTheRanksThatWereChosen) {
  for (const int per_node : {1, 2, 3}) {
    check_who_writes(Order::spread, per_node);
    check_who_writes(Order::packed, per_node);
  }
}

TEST(Aggregators, GetEveryRankOnce) {
  for (const auto taken : {Taken::before_others, Taken::first_of_a_part}) {
    for (int ranks = 1; ranks <= 20; ++ranks) {
      for (int aggregators = 1; aggregators <= ranks; ++aggregators) {
        std::vector<int> given;
        for (int i = 0; i < ranks; ++i) {
          const bool aggregates = i < aggregators;
          given.push_back(
              rank_for(taken, aggregates, aggregates ? i : i - aggregators, aggregators, ranks));
        }
        EXPECT_EQ(given.front(), 0);
        std::ranges::sort(given);
        for (int i = 0; i < ranks; ++i) {
          EXPECT_EQ(given[static_cast<std::size_t>(i)], i) << aggregators << " of " << ranks;
        }
      }
    }
  }
}

// As Open MPI cuts 8 ranks into 3 parts, and 5 into 2.
TEST(Aggregators, AreTheFirstOfTheirParts) {
  const auto first = [](int number, int aggregators, int ranks) {
    return rank_for(Taken::first_of_a_part, true, number, aggregators, ranks);
  };
  EXPECT_EQ(first(1, 3, 8), 3);
  EXPECT_EQ(first(2, 3, 8), 6);
  EXPECT_EQ(first(1, 2, 5), 3);
}

}  // namespace
}  // namespace iocomp::formats
