// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory_of_node.h"

#include <fstream>
#include <limits>
#include <string>

#include "common/ranks.h"

namespace iocomp::apps {
namespace {

double free_bytes() {
  constexpr double kib = 1024;
  std::ifstream file{"/proc/meminfo"};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) return kib * std::stod(line.substr(line.find(':') + 1));
  }
  return 0;
}

}  // namespace

MemoryOfNode memory_of_node(MPI_Comm comm, double wanted_bytes) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MemoryOfNode here{wanted_bytes, free_bytes()};
  MPI_Allreduce(MPI_IN_PLACE, &here.wanted_bytes, 1, MPI_DOUBLE, MPI_SUM, node);
  MPI_Allreduce(MPI_IN_PLACE, &here.free_bytes, 1, MPI_DOUBLE, MPI_MIN, node);
  MPI_Comm_free(&node);
  struct {
    double lacking;
    int rank;
  } worst{here.free_bytes == 0 ? -std::numeric_limits<double>::infinity()
                               : here.wanted_bytes - here.free_bytes,
          rank_in(comm)};
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  MPI_Bcast(&here, sizeof here, MPI_BYTE, worst.rank, comm);
  return here;
}

}  // namespace iocomp::apps
