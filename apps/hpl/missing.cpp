// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <iostream>

/// This program takes the place of hpl if its libraries were not found.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::cerr << "hpl: rank 0: built without ScaLAPACK: " IOCOMP_HPL_REASON "\n";
  MPI_Finalize();
  return 1;
}
