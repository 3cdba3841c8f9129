// SPDX-License-Identifier: BSD-3-Clause
// Sub-communicators: two groups of ranks compute different things, and each writes its own file.
//   mpirun -n 4 ./example_groups_cpp
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iocomp/iocomp.hpp>
#include <string>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    iocomp::Session io{MPI_COMM_WORLD};
    int rank = 0;
    MPI_Comm_rank(io.comm(), &rank);
    const int group = rank % 2;
    MPI_Comm members = MPI_COMM_NULL;
    MPI_Comm_split(io.comm(), group, rank, &members);
    int member = 0;
    MPI_Comm_rank(members, &member);

    const std::string settings = "path = 'group" + std::to_string(group) + ".out'";
    iocomp::File out = io.open("groups", IOCOMP_SERIES, {.settings = settings, .comm = members});
    const auto u = out.define<std::int32_t>("u", {0});
    for (int step = 0; step < 2 + group; ++step) {  // a group has its own steps
      const std::array<std::int32_t, 2> values{100 * group + member, step};
      const auto rows = iocomp::set_rows({{u, 2}});  // behind the members before
      u.put(rows.first, {2}, values, IOCOMP_BUFFERED);
      out.end_step();
    }
    out.close();
    MPI_Comm_free(&members);
    io.finalize();
  } catch (const iocomp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.code());
  }
  MPI_Finalize();
}
