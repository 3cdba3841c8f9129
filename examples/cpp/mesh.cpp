// SPDX-License-Identifier: BSD-3-Clause
// An unstructured mesh: each rank has some of its nodes, in any order, and copies of nodes of its
// neighbours (halos), which it does not write. The first rank puts the mesh, so that
// `iocomp describe mesh.bin` can make a file of it that ParaView opens.
//   mpirun -n 4 ./example_mesh_cpp
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <iocomp/iocomp.hpp>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t nodes = 60;
constexpr std::int64_t cells = nodes / 2 - 1;
constexpr std::int64_t corners = 4;

// Two rows of nodes, and squares between them.
struct Mesh {
  std::vector<double> points;
  std::vector<std::int64_t> connectivity;  // the nodes of all cells
  std::vector<std::int64_t> offsets{0};    // where each begins, and the last one ends
  std::vector<std::uint8_t> types;

  Mesh() {
    for (std::int64_t node = 0; node < nodes; ++node) {
      points.insert(points.end(),
                    {static_cast<double>(node / 2), static_cast<double>(node % 2), 0.0});
    }
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      for (const std::int64_t corner : {0, 2, 3, 1}) connectivity.push_back(2 * cell + corner);
      offsets.push_back(corners * (cell + 1));
      types.push_back(9);  // VTK's number of a quadrilateral
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    iocomp::Session io{MPI_COMM_WORLD};
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(io.comm(), &rank);
    MPI_Comm_size(io.comm(), &ranks);

    std::vector<std::int64_t> map{-1};  // a halo node comes before the others
    for (std::int64_t node = nodes - 1; node >= 0; --node) {
      if (node % ranks == rank) map.push_back(node);  // dealt like cards, the last first
    }
    const auto part = io.decompose({nodes}, map);  // said once, used for each variable and step

    iocomp::File out = io.open("mesh", IOCOMP_SERIES);
    const Mesh mesh;
    const auto points = out.define<double>("points", {nodes, 3}, {"node", "xyz"});
    const auto connectivity =
        out.define<std::int64_t>("connectivity", {cells * corners}, {"corner"});
    const auto offsets = out.define<std::int64_t>("offsets", {cells + 1}, {"cell_end"});
    const auto types = out.define<std::uint8_t>("types", {cells}, {"cell"});
    for (const char* const part : {"points", "connectivity", "offsets", "types"}) {
      out.set_attribute(std::string{"mesh_"} + part, part);  // it names the variable
    }
    const auto pressure = out.define<double>("pressure", {nodes}, {"time", "node"});
    if (rank == 0) {  // once
      points.put({0, 0}, {nodes, 3}, mesh.points);
      connectivity.put({0}, {cells * corners}, mesh.connectivity);
      offsets.put({0}, {cells + 1}, mesh.offsets);
      types.put({0}, {cells}, mesh.types);
    }
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
