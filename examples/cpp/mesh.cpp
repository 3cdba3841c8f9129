// SPDX-License-Identifier: BSD-3-Clause
// An unstructured mesh: each rank has some of its nodes, in any order, and copies of nodes of its
// neighbours (halos), which it does not write.   mpirun -n 4 ./example_mesh_cpp
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <iocomp/iocomp.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    iocomp::Session io{MPI_COMM_WORLD};
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(io.comm(), &rank);
    MPI_Comm_size(io.comm(), &ranks);

    constexpr std::int64_t nodes = 60;
    std::vector<std::int64_t> map{-1};  // a halo node comes before the others
    for (std::int64_t node = nodes - 1; node >= 0; --node) {
      if (node % ranks == rank) map.push_back(node);  // dealt like cards, the last first
    }
    const auto part = io.decomp_map({nodes}, map);  // said once, used for each variable and step

    iocomp::File out = io.open("mesh", IOCOMP_SERIES);
    const auto pressure = out.define<double>("pressure", {nodes});
    for (int step = 0; step < 3; ++step) {
      std::vector<double> values;
      for (const std::int64_t node : map) {
        values.push_back(static_cast<double>(node * node + step));
      }
      pressure.put(part, values, IOCOMP_BUFFERED);  // copied: values ends here
      out.end_step();
    }
    out.close();
    io.finalize();
  } catch (const iocomp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.code());
  }
  MPI_Finalize();
}
