/* SPDX-License-Identifier: BSD-3-Clause */
/* Sub-communicators: two groups of ranks compute different things, and each writes its own file. */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

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
  MPI_Comm_rank(iocomp_comm(io), &rank);
  const int group = rank % 2;
  MPI_Comm members;
  MPI_Comm_split(iocomp_comm(io), group, rank, &members);
  int member = 0;
  MPI_Comm_rank(members, &member);

  char settings[64];
  snprintf(settings, sizeof settings, "path = \"group%d.out\"", group);
  const iocomp_open_options options = {
      .size = sizeof options, .settings = settings, .comm = &members};
  iocomp_file *out;
  iocomp_var *u;
  check(iocomp_open(io, "groups", IOCOMP_SERIES, &options, &out));
  check(iocomp_define(out, "u", IOCOMP_INT32, 1, (const int64_t[]){0}, &u));
  for (int step = 0; step < 2 + group; ++step) { /* a group has its own steps */
    const int32_t values[2] = {100 * group + member, step};
    const int64_t count = 2;
    int64_t first = 0;
    check(iocomp_set_rows(1, &u, &count, &first, NULL)); /* behind the members before */
    const iocomp_block block = {.size = sizeof block,
                                .start = &first,
                                .count = &count,
                                .values = values,
                                .flags = IOCOMP_BUFFERED};
    check(iocomp_put_block(u, &block, NULL));
    check(iocomp_end_step(out));
  }
  check(iocomp_close(out));
  MPI_Comm_free(&members);
  check(iocomp_finalize(io));
  MPI_Finalize();
  return 0;
}
