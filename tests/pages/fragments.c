/* SPDX-License-Identifier: BSD-3-Clause */
/* The fragments in C of README.md and docs/, word for word, in a program that runs. They call
 * without check() where their pages do.   mpirun -n 2 page_fragments_c 1
 */
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_rows = 2, n_columns = 4, last_step = 5 };

static int rank, ranks;

static void check(int code) {
  if (code == IOCOMP_OK) return;
  fprintf(stderr, "%s\n", iocomp_error());
  MPI_Abort(MPI_COMM_WORLD, code);
}

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(double *time) { *time += 0.5; }

/* clang-format off */
static void choose_layout(iocomp_session *io) {
  iocomp_file *out;
  const iocomp_open_options options = {
      .size = sizeof options, .settings = "backend = \"hdf5\"\nlayout = \"flat\"\npath = \"B_0.h5\""};
  iocomp_open(io, "out", IOCOMP_SERIES, &options, &out);
  iocomp_var *array;
  check(iocomp_define(out, "IntArray", IOCOMP_INT32, 1, (const int64_t[]){ranks}, &array));
  const int32_t value = rank;
  check(iocomp_put(array, (const int64_t[]){rank}, (const int64_t[]){1}, &value, NULL));
  check(iocomp_end_step(out));
  check(iocomp_close(out));
}

static void name_dimensions(iocomp_session *io) {
  iocomp_file *out;
  iocomp_var *u;
  const int64_t shape[] = {ranks, n_columns};
  check(iocomp_open(io, "planes", IOCOMP_SERIES, NULL, &out));
  const iocomp_definition u_of = {.size = sizeof u_of, .name = "u", .type = IOCOMP_FLOAT64, .ndims = 2,
                                  .shape = shape, .dims = (const char *[]){"y", "x"}, .has_time = 1};
  iocomp_define_with(out, &u_of, &u);
  const double row[n_columns] = {rank};
  check(iocomp_put(u, (const int64_t[]){rank, 0}, (const int64_t[]){1, n_columns}, row, NULL));
  check(iocomp_end_step(out));
  check(iocomp_close(out));
}

static void choose_path(iocomp_session *io, int run) {
  iocomp_file *out;
  char settings[256];
  snprintf(settings, sizeof settings, "path = \"out/run%d.h5\"\nbackend = \"hdf5\"", run);
  const iocomp_open_options options = {.size = sizeof options, .settings = settings};
  iocomp_open(io, "fields", IOCOMP_SERIES, &options, &out);
  iocomp_var *u;
  check(iocomp_define(out, "u", IOCOMP_INT32, 1, (const int64_t[]){ranks}, &u));
  check(iocomp_put(u, (const int64_t[]){rank}, (const int64_t[]){1}, &rank, NULL));
  check(iocomp_end_step(out));
  check(iocomp_close(out));
}

static void put_particles(iocomp_session *io) {
  iocomp_file *out;
  iocomp_var *x, *id;
  iocomp_ticket ticket;
  int64_t first[2], total[2];
  const int64_t n = rank + 1;
  double *positions = calloc((size_t)n, 3 * sizeof *positions);
  int64_t *numbers = calloc((size_t)n, sizeof *numbers);
  for (int64_t i = 0; i < n; ++i) numbers[i] = 10 * rank + i;
  check(iocomp_open(io, "particles", IOCOMP_SERIES, NULL, &out));
  check(iocomp_define(out, "x", IOCOMP_FLOAT64, 2, (const int64_t[]){0, 3}, &x));
  check(iocomp_define(out, "id", IOCOMP_INT64, 1, (const int64_t[]){0}, &id));
  iocomp_set_rows(2, (iocomp_var *[]){x, id}, (int64_t[]){n, n}, first, total);
  iocomp_put(x, (int64_t[]){first[0], 0}, (int64_t[]){n, 3}, positions, &ticket);
  iocomp_put(id, &first[1], &n, numbers, NULL);
  check(iocomp_end_step(out));
  check(iocomp_close(out));
  expect(total[0] == ranks * (ranks + 1) / 2, "set_rows: a wrong total");
  free(positions);
  free(numbers);
}

static void put_block(iocomp_session *io) {
  iocomp_file *out;
  iocomp_var *u_var;
  iocomp_ticket ticket;
  double u[n_rows + 2][n_columns + 2];
  const int64_t with_halos[] = {n_rows + 2, n_columns + 2}, inside[] = {1, 1};
  const int64_t start[] = {n_rows * rank, 0}, count[] = {n_rows, n_columns};
  for (int i = 0; i < n_rows + 2; ++i)
    for (int j = 0; j < n_columns + 2; ++j) u[i][j] = 10 * (n_rows * rank + i - 1) + j - 1;
  check(iocomp_open(io, "halos", IOCOMP_SERIES, NULL, &out));
  check(iocomp_define(out, "u", IOCOMP_FLOAT64, 2, (const int64_t[]){n_rows * ranks, n_columns}, &u_var));
  const iocomp_block block = {.size = sizeof block,
                              .start = start,                /* in the global array */
                              .count = count,
                              .values = u,                   /* a local array with halos ... */
                              .memory_shape = with_halos,    /* ... has these extents, */
                              .memory_start = inside,        /* and the block begins there */
                              .flags = IOCOMP_BUFFERED};     /* copied: u may change at once */
  iocomp_put_block(u_var, &block, &ticket);
  memset(u, 0, sizeof u);
  check(iocomp_end_step(out));
  check(iocomp_close(out));
}

static int64_t read_newest(iocomp_session *io) {
  const int64_t start[] = {rank, 0}, count[] = {1, n_columns};
  double values[n_columns] = {0};
  iocomp_input *in;
  int64_t step;
  double time;
  int rc = iocomp_latest(io, "restart", NULL, &step, &time, &in); /* one rank looks, all see the same */
  if (rc != IOCOMP_OK) {
    fprintf(stderr, "%s\n", iocomp_error());
  } else if (step >= 0) {
    iocomp_read(in, "u", step, start, count, values);       /* this rank's box; waits for nobody */
    iocomp_close_input(in);
  }                                                         /* else there is none yet: start afresh */
  expect(step < 0 || values[0] == 1 + rank, "read: a wrong value");
  return step;
}

static void look(iocomp_session *io, int64_t step) {
  iocomp_input *in;
  check(iocomp_open_input(io, "restart", NULL, &in));
  iocomp_type type;
  int ndims;
  const int64_t *shape;                                     /* yours until the input is closed */
  iocomp_input_variable(in, "u", step, &type, &ndims, &shape);
  expect(type == IOCOMP_FLOAT64 && ndims == 2 && shape[1] == n_columns, "look: another variable");
  check(iocomp_close_input(in));
}

static int run_until_told_to_stop(iocomp_session *io) {
  iocomp_file *restart, *fields;
  iocomp_var *u_var;
  const int64_t global[] = {ranks, n_columns}, start[] = {rank, 0}, count[] = {1, n_columns};
  double u[n_columns] = {1 + rank};
  int64_t step;                                    /* -1: nothing is committed yet */
  double time = 0.0;
  iocomp_input *input;
  check(iocomp_latest(io, "restart", NULL, &step, &time, &input));
  if (input != NULL) {
    check(iocomp_read(input, "u", step, start, count, u));      /* any number of ranks, any box */
    check(iocomp_close_input(input));
  }
  const int64_t last = step;
  const iocomp_open_options go_on = {.size = sizeof go_on, .after = &last};
  check(iocomp_open(io, "restart", IOCOMP_CHECKPOINT, &go_on, &restart));
  check(iocomp_open(io, "fields", IOCOMP_SERIES, &go_on, &fields));
  check(iocomp_define(restart, "u", IOCOMP_FLOAT64, 2, global, &u_var));      /* and those of fields */

  int stop = 0;
  for (++step; step < last_step && !stop; ++step) {
    compute(&time);                                /* puts into fields, and ends its step, where it is time */
    check(iocomp_should_stop(io, &stop));
    if (stop || step % 100 == 99) {
      check(iocomp_begin_step(restart, step, time));            /* its number, and physical time */
      const iocomp_block block = {.size = sizeof block, .start = start, .count = count, .values = u,
                                  .flags = IOCOMP_BUFFERED};    /* copied: u may change at once */
      check(iocomp_put_block(u_var, &block, NULL));
      check(iocomp_end_step(restart));
    }
  }
  check(iocomp_finalize(io));                      /* returns when all of it is on the disk */
  MPI_Finalize();
  return step < last_step ? 3 : 0;                 /* 3: there is more to do */
}
/* clang-format on */

int main(int argc, char **argv) {
  const int run = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  iocomp_session *io;
  check(iocomp_init(MPI_COMM_WORLD,
                    "files.default.existing = 'replace'\n"
                    "files.restart.existing = 'continue'\n"
                    "files.fields.existing = 'continue'\n",
                    &io));
  MPI_Comm_rank(iocomp_comm(io), &rank);
  MPI_Comm_size(iocomp_comm(io), &ranks);
  choose_layout(io);
  name_dimensions(io);
  choose_path(io, run);
  put_particles(io);
  put_block(io);
  const int64_t step = read_newest(io);
  expect(step == run - 2, "another checkpoint than the one of the run before");
  if (step >= 0) look(io, step);
  return run_until_told_to_stop(io);
}
