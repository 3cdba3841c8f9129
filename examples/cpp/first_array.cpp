// SPDX-License-Identifier: BSD-3-Clause
// Ten steps of an array; each rank has one row of it.   mpirun -n 4 ./example_first_array_cpp
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <iocomp/iocomp.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    iocomp::Session io{MPI_COMM_WORLD};  // servers, if any, serve in here
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(io.comm(), &rank);  // io.comm() takes the place of MPI_COMM_WORLD
    MPI_Comm_size(io.comm(), &ranks);

    constexpr std::int64_t width = 1000;
    std::vector<double> row(width);
    iocomp::File out = io.open("fields", IOCOMP_SERIES);
    const auto u = out.define<double>("u", {ranks, width});
    u.set_attribute("units", "K");
    for (int step = 0; step < 10; ++step) {
      for (std::int64_t i = 0; i < width; ++i) {
        row[static_cast<std::size_t>(i)] = step + 1e-3 * static_cast<double>(i);
      }
      out.begin_step(step, 0.5 * step);
      const iocomp::Ticket ticket = u.put({rank, 0}, {1, width}, row);  // returns at once
      out.end_step();
      // Compute here, with other arrays.
      ticket.wait();  // row may change from here on
    }
    out.close();
    io.finalize();
  } catch (const iocomp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.code());
  }
  MPI_Finalize();
}
