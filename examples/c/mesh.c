/* SPDX-License-Identifier: BSD-3-Clause */
/* An unstructured mesh: each rank has some of its nodes, in any order, and copies of nodes of its
 * neighbours (halos), which it does not write. */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { nodes = 60, steps = 3 };

static void check(int code) {
  if (code != IOCOMP_OK) {
    fprintf(stderr, "%s\n", iocomp_error());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  iocomp_session *io;
  check(iocomp_init(MPI_COMM_WORLD, NULL, &io));
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(iocomp_comm(io), &rank);
  MPI_Comm_size(iocomp_comm(io), &ranks);

  /* Nodes are dealt like cards; the last first. One halo node comes before them. */
  int64_t map[nodes + 1];
  int64_t mine = 0;
  map[mine++] = -1;
  for (int64_t node = nodes - 1; node >= 0; --node) {
    if (node % ranks == rank) {
      map[mine++] = node;
    }
  }
  const int64_t shape = nodes;
  iocomp_decomp *part; /* said once, used for each variable and step */
  check(iocomp_decomp_map(io, 1, &shape, mine, map, &part));

  iocomp_file *out;
  iocomp_var *pressure;
  check(iocomp_open(io, "mesh", IOCOMP_SERIES, &out));
  check(iocomp_define(out, "pressure", IOCOMP_FLOAT64, 1, &shape, &pressure));
  for (int step = 0; step < steps; ++step) {
    double values[nodes + 1];
    for (int64_t i = 0; i < mine; ++i) {
      values[i] = (double)(map[i] * map[i] + step);
    }
    const iocomp_block block = {.size = sizeof block,
                                .values = values,
                                .decomp = part,
                                .flags = IOCOMP_BUFFERED}; /* copied: values ends here */
    check(iocomp_put_block(pressure, &block, NULL));
    check(iocomp_end_step(out));
  }
  check(iocomp_close(out));
  check(iocomp_decomp_free(part));
  check(iocomp_finalize(io));
  MPI_Finalize();
  return 0;
}
