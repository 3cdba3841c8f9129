/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten steps of an array; each rank has one row of it.   mpirun -n 4 ./example_first_array_c */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { width = 1000, steps = 10 };

static void check(int code) {
  if (code != IOCOMP_OK) {
    fprintf(stderr, "%s\n", iocomp_error());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  iocomp_session *io;
  check(iocomp_init(MPI_COMM_WORLD, NULL, &io)); /* servers, if any, serve in here */
  const MPI_Comm comm = iocomp_comm(io);         /* use this where MPI_COMM_WORLD stood */
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  double *row;
  check(iocomp_alloc(io, width * sizeof *row, (void **)&row)); /* a put from it costs least */
  iocomp_file *out;
  iocomp_var *u;
  check(iocomp_open(io, "fields", IOCOMP_SERIES, NULL, &out));
  check(iocomp_define(out, "u", IOCOMP_FLOAT64, 2, (const int64_t[]){ranks, width}, &u));
  check(iocomp_set_attribute(out, u, "units", IOCOMP_CHAR, -1, "K"));
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < width; ++i) {
      row[i] = step + 1e-3 * i;
    }
    iocomp_ticket ticket;
    check(iocomp_begin_step(out, step, 0.5 * step));
    check(iocomp_put(u, (const int64_t[]){rank, 0}, (const int64_t[]){1, width}, row, &ticket));
    check(iocomp_end_step(out));
    /* Compute here, with other arrays. */
    check(iocomp_wait(&ticket, IOCOMP_REUSABLE)); /* row may change from here on */
  }
  check(iocomp_close(out));
  check(iocomp_finalize(io));
  MPI_Finalize();
  return 0;
}
