// SPDX-License-Identifier: BSD-3-Clause
// Particles: each rank has some, and their number changes in each step. Each step is a file of its
// own, which the program names, and which is closed while the program goes on.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iocomp/iocomp.hpp>
#include <string>
#include <vector>

namespace {

struct Particles {
  std::vector<double> x;  // three for each
  std::vector<std::int64_t> id;
};

/// Open the file of a step, put what this rank has, and leave the file to the library.
iocomp::Ticket write(iocomp::Session& io, int step, Particles& mine) {
  const auto n = static_cast<std::int64_t>(mine.id.size());
  iocomp::File out = io.open("particles", IOCOMP_SERIES,
                             {.settings = "path = 'particles" + std::to_string(step) + ".out'"});
  const auto x = out.define<double>("x", {0, 3});
  const auto id = out.define<std::int64_t>("id", {0});
  const auto [first, total] = iocomp::set_rows({{x, n}, {id, n}});  // waits for the others
  for (std::int64_t i = 0; i < n; ++i) {
    mine.id[static_cast<std::size_t>(i)] = 1000 * step + first[1] + i;
  }
  x.put({first[0], 0}, {n, 3}, mine.x);
  id.put({first[1]}, {n}, mine.id);
  return out.close_later();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    iocomp::Session io{MPI_COMM_WORLD};
    int rank = 0;
    MPI_Comm_rank(io.comm(), &rank);
    for (int step = 0; step < 4; ++step) {
      Particles mine;
      mine.id.resize(static_cast<std::size_t>(1 + (rank + step) % 4));
      for (std::size_t i = 0; i < mine.id.size(); ++i) {
        mine.x.insert(mine.x.end(), {1.0 * rank, static_cast<double>(i), 1.0 * step});
      }
      const iocomp::Ticket closed = write(io, step, mine);
      // Compute here, with other arrays.
      closed.wait(IOCOMP_REUSABLE);  // `mine` may end here
    }
    io.finalize();  // when all is on the disk, or tells what is not
  } catch (const iocomp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.code());
  }
  MPI_Finalize();
}
