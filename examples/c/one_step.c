/* SPDX-License-Identifier: BSD-3-Clause */
/* One step of an array; each rank has one row of it.   mpirun -n 4 ./example_one_step_c */
#include <iocomp/iocomp.h>

int main(int argc, char **argv) {
  iocomp_session *io;
  iocomp_file *out;
  iocomp_var *u;
  double row[1000] = {1};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  iocomp_init(MPI_COMM_WORLD, NULL, &io); /* servers, if any, serve in here */
  MPI_Comm_rank(iocomp_comm(io), &rank);  /* use it where MPI_COMM_WORLD stood */
  MPI_Comm_size(iocomp_comm(io), &ranks);
  iocomp_open(io, "fields", IOCOMP_SERIES, NULL, &out);
  iocomp_define(out, "u", IOCOMP_FLOAT64, 2, (int64_t[]){ranks, 1000}, &u);
  iocomp_put(u, (int64_t[]){rank, 0}, (int64_t[]){1, 1000}, row, NULL); /* returns at once */
  iocomp_end_step(out); /* compute here: row must not change before close, or a wait */
  iocomp_close(out);    /* returns when all of it is on the disk, or says why not */
  iocomp_finalize(io);
  MPI_Finalize();
}
