/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a square that is cut into rows, one part with halos on each rank: mpirun -n 4 ./heat 1000
 * Started again, on any number of ranks, it goes on behind its newest checkpoint and ends with the
 * same values as a run that was not interrupted. It exits with 3 where it was told to stop before.
 */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 64, every = 100, more_to_do = 3 };
typedef double row[n + 2]; /* with a halo at each end */

static void check(int code) {
  if (code == IOCOMP_OK) return;
  fprintf(stderr, "%s\n", iocomp_error());
  MPI_Abort(MPI_COMM_WORLD, code);
}

static void exchange_halos(MPI_Comm comm, int above, int below, row *u, int64_t mine) {
  MPI_Sendrecv(u[1], n + 2, MPI_DOUBLE, above, 0, u[mine + 1], n + 2, MPI_DOUBLE, below, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(u[mine], n + 2, MPI_DOUBLE, below, 1, u[0], n + 2, MPI_DOUBLE, above, 1, comm,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  const int64_t steps = argc > 1 ? atoll(argv[1]) : 1000;
  MPI_Init(&argc, &argv);
  iocomp_session *io;
  check(iocomp_init(MPI_COMM_WORLD, "files.default.existing = 'continue'", &io));
  const MPI_Comm comm = iocomp_comm(io);
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const int64_t first = n * rank / ranks;
  const int64_t mine = n * (rank + 1) / ranks - first;
  const int64_t start[2] = {first, 0}, count[2] = {mine, n};       /* in the file */
  const int64_t memory[2] = {mine + 2, n + 2}, inside[2] = {1, 1}; /* in u */
  row *u = calloc((size_t)mine + 2, sizeof *u), *next = calloc((size_t)mine + 2, sizeof *next);
  iocomp_input *input;
  int64_t step; /* -1 where there is no checkpoint */
  check(iocomp_latest(io, "restart", NULL, &step, NULL, &input));
  if (input != NULL) {
    const iocomp_destination to = {sizeof to, start, count, u, memory, inside};
    check(iocomp_read_block(input, "u", step, &to));
    check(iocomp_close_input(input));
  }
  for (int64_t i = 1; input == NULL && i <= mine; ++i)
    for (int j = 1; j <= n / 2; ++j) u[i][j] = 1; /* one half is warm */
  iocomp_file *checkpoints, *middles;
  iocomp_var *u_var, *middle_var;
  const iocomp_open_options go_on = {.size = sizeof go_on, .after = &(int64_t){step}};
  check(iocomp_open(io, "restart", IOCOMP_CHECKPOINT, &go_on, &checkpoints));
  check(iocomp_open(io, "middle", IOCOMP_SERIES, &go_on, &middles));
  check(iocomp_after(checkpoints, "middle")); /* none is ahead of it */
  check(iocomp_define(checkpoints, "u", IOCOMP_FLOAT64, 2, (const int64_t[]){n, n}, &u_var));
  check(iocomp_define(middles, "u", IOCOMP_FLOAT64, 1, (const int64_t[]){n}, &middle_var));
  double middle[n];
  for (int stop = 0; step + 1 < steps && !stop;) {
    ++step;
    exchange_halos(comm, above, below, u, mine);
    for (int64_t i = 1; i <= mine; ++i)
      for (int j = 1; j <= n; ++j)
        next[i][j] =
            u[i][j] + 0.1 * (u[i][j - 1] + u[i][j + 1] + u[i - 1][j] + u[i + 1][j] - 4 * u[i][j]);
    check(iocomp_wait_puts(checkpoints, IOCOMP_REUSABLE)); /* then u may change */
    check(iocomp_wait_puts(middles, IOCOMP_REUSABLE));
    row *const old = u;
    u = next;
    next = old;
    check(iocomp_should_stop(io, &stop));
    if (stop || (step + 1) % every == 0 || step + 1 == steps) {
      for (int64_t i = 0; i < mine; ++i) middle[i] = u[i + 1][n / 2];
      check(iocomp_begin_step(middles, step, 0.1 * (double)step));
      check(iocomp_put(middle_var, &first, &mine, middle, NULL));
      check(iocomp_end_step(middles));
      check(iocomp_begin_step(checkpoints, step, 0.1 * (double)step));
      const iocomp_block block = {.size = sizeof block,
                                  .start = start,
                                  .count = count,
                                  .values = u,
                                  .memory_shape = memory,
                                  .memory_start = inside};
      check(iocomp_put_block(u_var, &block, NULL));
      check(iocomp_end_step(checkpoints));
    }
  }
  check(iocomp_close(middles));
  check(iocomp_close(checkpoints));
  if (rank == 0) printf("heat: %d steps are done\n", (int)step + 1);
  free(u);
  free(next);
  check(iocomp_finalize(io));
  MPI_Finalize();
  return step + 1 < steps ? more_to_do : 0;
}
