/* SPDX-License-Identifier: BSD-3-Clause */
/* Particles: each rank has some, and their number changes in each step. Each step is a file of its
 * own, which the program names, and which is closed while the program goes on. */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps = 4, most = 4 };

static void check(int code) {
  if (code != IOCOMP_OK) {
    fprintf(stderr, "%s\n", iocomp_error());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
}

/* Open the file of a step, put what this rank has, and leave the file to the library. */
static void write_particles(iocomp_session *io, int step, int64_t n, const double (*x)[3],
                            int64_t *id, iocomp_ticket *closed) {
  char settings[64];
  snprintf(settings, sizeof settings, "path = \"particles%d.out\"", step);
  const iocomp_open_options options = {.size = sizeof options, .settings = settings};
  iocomp_file *out;
  check(iocomp_open(io, "particles", IOCOMP_SERIES, &options, &out));
  iocomp_var *vars[2];
  check(iocomp_define(out, "x", IOCOMP_FLOAT64, 2, (const int64_t[]){0, 3}, &vars[0]));
  check(iocomp_define(out, "id", IOCOMP_INT64, 1, (const int64_t[]){0}, &vars[1]));

  int64_t first[2];
  int64_t total[2];
  check(iocomp_set_rows(2, vars, (const int64_t[]){n, n}, first, total)); /* waits for the others */
  for (int64_t i = 0; i < n; ++i) {
    id[i] = 1000 * step + first[1] + i;
  }
  check(iocomp_put(vars[0], (const int64_t[]){first[0], 0}, (const int64_t[]){n, 3}, x, NULL));
  check(iocomp_put(vars[1], &first[1], &n, id, NULL));
  check(iocomp_close_later(out, closed));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  iocomp_session *io;
  check(iocomp_init(MPI_COMM_WORLD, NULL, &io));
  int rank = 0;
  MPI_Comm_rank(iocomp_comm(io), &rank);

  double x[most][3];
  int64_t id[most];
  for (int step = 0; step < steps; ++step) {
    const int64_t n = 1 + (rank + step) % most;
    for (int64_t i = 0; i < n; ++i) {
      x[i][0] = rank;
      x[i][1] = (double)i;
      x[i][2] = step;
    }
    iocomp_ticket closed;
    write_particles(io, step, n, (const double(*)[3])x, id, &closed);
    /* Compute here, with other arrays. */
    check(iocomp_wait(&closed, IOCOMP_REUSABLE)); /* x and id may change from here on */
  }
  check(iocomp_finalize(io)); /* when all is on the disk, or tells what is not */
  MPI_Finalize();
  return 0;
}
