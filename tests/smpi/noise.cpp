// SPDX-License-Identifier: BSD-3-Clause
// A program that computes, exchanges halos and sums up, while writers take processor time from its
// ranks: docs/developers/decisions/noise.md. It prints one line of JSON. Nothing is written.
// studies/iocomp_studies/noise computes the same without messages, and test_noise.py compares both.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <simgrid/s4u.hpp>
#include <vector>

namespace s4u = simgrid::s4u;

namespace {

constexpr std::size_t halo_bytes = 1024;

/// A part of a core that a writer has for some time.
struct Loss {
  double begin = 0;
  double end = 0;
  double part = 0;
};

/// @return those of one rank, from a file with "rank begin length part" in each line
std::vector<Loss> read_losses(const char* path, int rank) {
  std::ifstream file{path};
  std::vector<Loss> own;
  int whose = 0;
  Loss one;
  while (file >> whose >> one.begin >> one.end >> one.part) {
    one.end += one.begin;
    if (whose == rank) {
      own.push_back(one);
    }
  }
  return own;
}

/// @return when computing is over that begins now and takes so long undisturbed
double end_of_computing(const std::vector<Loss>& losses, double now, double work) {
  while (true) {
    double part = 0;
    double change = std::numeric_limits<double>::infinity();
    for (const Loss& loss : losses) {
      if (loss.begin <= now && now < loss.end) {
        part += loss.part;
        change = std::min(change, loss.end);
      } else if (loss.begin > now) {
        change = std::min(change, loss.begin);
      }
    }
    const double free = 1 - std::min(part, 1 - 1e-9);
    if (now + work / free <= change) {
      return now + work / free;
    }
    work -= (change - now) * free;
    now = change;
  }
}

/// Ranks in a periodic box.
class Neighbours {
 public:
  explicit Neighbours(int ranks) : sent_(halo_bytes), received_(6, std::vector<char>(halo_bytes)) {
    std::array<int, 3> dims{};
    std::array<int, 3> periodic{1, 1, 1};
    MPI_Dims_create(ranks, 3, dims.data());
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims.data(), periodic.data(), 0, &box_);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      MPI_Cart_shift(box_, static_cast<int>(axis), 1, &all_[2 * axis], &all_[2 * axis + 1]);
    }
  }
  void exchange() {
    std::array<MPI_Request, 12> under_way{};
    const int bytes = static_cast<int>(sent_.size());
    for (std::size_t i = 0; i < 6; ++i) {
      const int tag = static_cast<int>(i);
      MPI_Irecv(received_[i].data(), bytes, MPI_BYTE, all_[i], tag, box_, &under_way[i]);
      // One sends down, and the other receives it from above.
      MPI_Isend(sent_.data(), bytes, MPI_BYTE, all_[i], tag ^ 1, box_, &under_way[6 + i]);
    }
    MPI_Waitall(12, under_way.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<char> sent_;
  std::vector<std::vector<char>> received_;
  MPI_Comm box_ = MPI_COMM_NULL;
  std::array<int, 6> all_{};
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s SECONDS_OF_COMPUTING ITERATIONS SUMS FILE_OF_LOSSES\n",
                 argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const double compute = std::atof(argv[1]);
  const int iterations = std::atoi(argv[2]);
  const int sums = std::atoi(argv[3]);
  const std::vector<Loss> losses = read_losses(argv[4], rank);
  Neighbours neighbours{ranks};
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    const double now = MPI_Wtime() - begun;
    s4u::this_actor::sleep_until(begun + end_of_computing(losses, now, compute));
    neighbours.exchange();
    for (int sum = 0; sum < sums; ++sum) {
      double all = 0;
      MPI_Allreduce(&now, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("{\"ranks\": %d, \"seconds\": %.9g}\n", ranks, MPI_Wtime() - begun);
  }
  MPI_Finalize();
  return 0;
}
