// SPDX-License-Identifier: BSD-3-Clause
// One step of an array; each rank has one row of it.   mpirun -n 4 ./example_one_step_cpp
#include <iocomp/iocomp.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  iocomp::Session io{MPI_COMM_WORLD};  // servers, if any, serve in here
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(io.comm(), &rank);  // use it where MPI_COMM_WORLD stood
  MPI_Comm_size(io.comm(), &ranks);
  std::vector<double> row(1000);
  row[0] = 1;
  iocomp::File out = io.open("fields", IOCOMP_SERIES);
  out.define<double>("u", {ranks, 1000}).put({rank, 0}, {1, 1000}, row);  // returns at once
  out.end_step();  // compute here: row must not change before close, or a wait
  out.close();     // returns when all of it is on the disk, or throws
  io.finalize();
  MPI_Finalize();
}
