/* SPDX-License-Identifier: BSD-3-Clause */
/* The mistakes of calls.f90, in C: code and story of each. */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>

static void tell(int code) { printf("%d %s\n", code, iocomp_error()); }

int main(int argc, char **argv) {
  const int64_t shape[] = {2, 4}, negative[] = {-2, 4}, origin[] = {0, 0}, behind[] = {0, 1},
                before[] = {-1, 0}, row[] = {2, 1}, memory[] = {2, 4};
  double v[8] = {0}, time = 0;
  iocomp_session *session = NULL;
  iocomp_file *file = NULL;
  iocomp_var *u = NULL, *no_var = NULL;
  iocomp_input *input = NULL;
  const iocomp_ticket no_ticket = {0};
  int n = 0;
  MPI_Init(&argc, &argv);
  iocomp_init(MPI_COMM_WORLD, "files.default.existing = 'continue'", &session);
  tell(iocomp_open(NULL, "u", IOCOMP_SERIES, NULL, &file));
  tell(iocomp_open(session, "one/two", IOCOMP_SERIES, NULL, &file));
  tell(iocomp_open(session, "u", (iocomp_kind)7, NULL, &file));
  tell(iocomp_open_input(session, "missing", NULL, &input));
  iocomp_open(session, "u", IOCOMP_SERIES, NULL, &file);
  tell(iocomp_define(NULL, "u", IOCOMP_FLOAT64, 2, shape, &u));
  tell(iocomp_define(file, "u", (iocomp_type)99, 2, shape, &u));
  tell(iocomp_define(file, "u", IOCOMP_FLOAT64, 2, negative, &u));
  iocomp_define(file, "u", IOCOMP_FLOAT64, 2, shape, &u);
  tell(iocomp_define(file, "u", IOCOMP_FLOAT64, 2, shape, &no_var));
  tell(iocomp_put(NULL, origin, shape, v, NULL));
  tell(iocomp_put(u, behind, shape, v, NULL));
  const iocomp_block outside = {.size = sizeof outside,
                                .start = before,
                                .count = row,
                                .values = v,
                                .memory_shape = memory,
                                .memory_start = origin};
  tell(iocomp_put_block(u, &outside, NULL));
  iocomp_put(u, origin, shape, v, NULL);
  tell(iocomp_wait(&no_ticket, IOCOMP_REUSABLE));
  tell(iocomp_test(&no_ticket, IOCOMP_REUSABLE, &n));
  tell(iocomp_wait_step(file, 7));
  iocomp_close(file);
  tell(iocomp_close(NULL));
  iocomp_open_input(session, "u", NULL, &input);
  tell(iocomp_input_variable(input, "uu", -1, NULL, NULL, NULL));
  tell(iocomp_input_time(input, 3, &time));
  tell(iocomp_read(input, "u", 0, behind, shape, v));
  tell(iocomp_read(NULL, "u", 0, origin, shape, v));
  iocomp_close_input(input);
  iocomp_finalize(session);
  MPI_Finalize();
  return 0;
}
