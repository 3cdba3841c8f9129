/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the numbers 0 to 999 into numbers.bin, each compute rank its part of them. */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TOTAL 1000

static void check(int code, const char *call) {
  if (code != IOCOMP_OK) {
    fprintf(stderr, "%s: %s: %s\n", call, iocomp_code_name(code), iocomp_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  iocomp_session *io = NULL;
  check(iocomp_init(MPI_COMM_WORLD, NULL, &io),
        "iocomp_init"); /* servers leave the program in here */

  int rank = 0;
  int size = 1;
  MPI_Comm_rank(iocomp_comm(io), &rank);
  MPI_Comm_size(iocomp_comm(io), &size);
  const int64_t shape[1] = {TOTAL};
  const int64_t start[1] = {(int64_t)TOTAL * rank / size};
  const int64_t count[1] = {(int64_t)TOTAL * (rank + 1) / size - start[0]};
  int64_t *values = malloc((size_t)count[0] * sizeof *values);
  if (values == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int64_t i = 0; i < count[0]; ++i) {
    values[i] = start[0] + i;
  }

  iocomp_file *out = NULL;
  iocomp_var *numbers = NULL;
  iocomp_ticket ticket;
  check(iocomp_open(io, "numbers", IOCOMP_SERIES, NULL, &out), "iocomp_open");
  check(iocomp_define(out, "numbers", IOCOMP_INT64, 1, shape, &numbers), "iocomp_define");
  check(iocomp_put(numbers, start, count, values, &ticket), "iocomp_put");
  check(iocomp_end_step(out), "iocomp_end_step");
  check(iocomp_wait(&ticket, IOCOMP_REUSABLE), "iocomp_wait");
  check(iocomp_close(out), "iocomp_close");
  check(iocomp_finalize(io), "iocomp_finalize");

  free(values);
  MPI_Finalize();
  return 0;
}
