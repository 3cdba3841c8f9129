/* SPDX-License-Identifier: BSD-3-Clause */
/* An unstructured mesh: each rank has some of its nodes, in any order, and copies of nodes of its
 * neighbours (halos), which it does not write. The first rank puts the mesh, so that
 * `iocomp describe mesh.bin` can make a file of it that ParaView opens. */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { nodes = 60, cells = nodes / 2 - 1, corners = 4, steps = 3 };

static void check(int code) {
  if (code != IOCOMP_OK) {
    fprintf(stderr, "%s\n", iocomp_error());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
}

static double points[nodes][3];
static int64_t connectivity[cells * corners]; /* the nodes of all cells */
static int64_t offsets[cells + 1];            /* where each begins, and the last one ends */
static uint8_t types[cells];

/* Two rows of nodes, and squares between them. */
static void make_mesh(void) {
  for (int node = 0; node < nodes; ++node) {
    points[node][0] = node / 2;
    points[node][1] = node % 2;
  }
  for (int cell = 0; cell < cells; ++cell) {
    const int64_t around[corners] = {0, 2, 3, 1};
    for (int i = 0; i < corners; ++i) {
      connectivity[corners * cell + i] = 2 * cell + around[i];
    }
    offsets[cell + 1] = corners * (cell + 1);
    types[cell] = 9; /* VTK's number of a quadrilateral */
  }
}

/* The mesh, and values on its nodes in each step. */
enum { parts = 4, pressure = parts, variables };
static const char *const names[] = {"points", "connectivity", "offsets", "types", "pressure"};
static const iocomp_type element[] = {IOCOMP_FLOAT64, IOCOMP_INT64, IOCOMP_INT64, IOCOMP_UINT8,
                                      IOCOMP_FLOAT64};
static const int64_t shapes[][2] = {{nodes, 3}, {corners * cells}, {cells + 1}, {cells}, {nodes}};
static const char *const dims[][2] = {
    {"node", "xyz"}, {"corner"}, {"cell_end"}, {"cell"}, {"node"}};

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
  iocomp_decomp *part; /* said once, used for each step */
  check(iocomp_decompose(io, 1, shapes[pressure], mine, map, NULL, &part));

  iocomp_file *out;
  iocomp_var *vars[variables];
  check(iocomp_open(io, "mesh", IOCOMP_SERIES, NULL, &out));
  for (int i = 0; i < variables; ++i) {
    const iocomp_definition one = {.size = sizeof one,
                                   .name = names[i],
                                   .type = element[i],
                                   .ndims = i == 0 ? 2 : 1,
                                   .shape = shapes[i],
                                   .dims = dims[i],
                                   .has_time = i == pressure};
    check(iocomp_define_with(out, &one, &vars[i]));
  }
  make_mesh();
  const void *const values_of[parts] = {points, connectivity, offsets, types};
  for (int i = 0; i < parts; ++i) {
    char attribute[32];
    snprintf(attribute, sizeof attribute, "mesh_%s", names[i]); /* it names the variable */
    check(iocomp_set_attribute(out, NULL, attribute, IOCOMP_CHAR, -1, names[i]));
    const int64_t start[2] = {0, 0};
    if (rank == 0) {
      check(iocomp_put(vars[i], start, shapes[i], values_of[i], NULL));
    }
  }
  for (int step = 0; step < steps; ++step) {
    double values[nodes + 1];
    for (int64_t i = 0; i < mine; ++i) {
      values[i] = (double)(map[i] * map[i] + step);
    }
    const iocomp_block block = {.size = sizeof block,
                                .values = values,
                                .decomp = part,
                                .flags = IOCOMP_BUFFERED}; /* copied: values ends here */
    check(iocomp_put_block(vars[pressure], &block, NULL));
    check(iocomp_end_step(out));
  }
  check(iocomp_close(out));
  check(iocomp_decomp_free(part));
  check(iocomp_finalize(io));
  MPI_Finalize();
  return 0;
}
