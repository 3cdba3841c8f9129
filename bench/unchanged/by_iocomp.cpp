// SPDX-License-Identifier: BSD-3-Clause
// The program of main.cpp as it is when it is written for iocomp: the same work and the same
// arrays, in a series of back-end hdf5. Prints the same line.
//   by_iocomp <path> <steps> <MiB per rank and step> <rounds of work per step>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iocomp/iocomp.hpp>
#include <string>
#include <vector>

#include "work.h"

namespace {

Seconds run(iocomp::Session& io, const std::string& path, long steps, std::int64_t mib,
            long rounds) {
  Seconds seconds;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(io.comm(), &rank);
  MPI_Comm_size(io.comm(), &ranks);
  const auto rows = mib * static_cast<std::int64_t>(rows_per_mib);
  const auto columns = static_cast<std::int64_t>(row);
  std::vector<double> values(static_cast<std::size_t>(rows * columns), rank);
  iocomp::File out =
      io.open("out", IOCOMP_SERIES,
              {.settings = "backend = \"hdf5\"\nexisting = \"replace\"\npath = \"" + path + '"'});
  const auto u = out.define<double>("u", {rows * ranks, columns});
  for (long step = 0; step < steps; ++step) {
    double begin = MPI_Wtime();
    values[static_cast<std::size_t>(step)] += work(rounds, static_cast<double>(step));
    seconds.computing += MPI_Wtime() - begin;
    MPI_Barrier(io.comm());
    begin = MPI_Wtime();
    // H5Dwrite lets the program change its array at once; so does a copy.
    static_cast<void>(u.put({rows * rank, 0}, {rows, columns}, values, IOCOMP_BUFFERED));
    out.end_step();
    seconds.writing += MPI_Wtime() - begin;
  }
  const double begin = MPI_Wtime();
  out.close();  // durable
  seconds.closing += MPI_Wtime() - begin;
  MPI_Barrier(io.comm());
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "%s <path> <steps> <MiB> <rounds of work>\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  {
    iocomp::Session io{MPI_COMM_WORLD};
    MPI_Barrier(io.comm());
    const double begin = MPI_Wtime();
    const Seconds seconds =
        run(io, argv[1], std::atol(argv[2]), std::atol(argv[3]), std::atol(argv[4]));
    int rank = 0;
    MPI_Comm_rank(io.comm(), &rank);
    if (rank == 0) {
      print(MPI_Wtime() - begin, seconds);
    }
    io.finalize();
  }
  MPI_Finalize();
  return 0;
}
