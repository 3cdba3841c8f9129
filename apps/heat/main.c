/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a box, in three dimensions: a small simulation that restarts from what it has written.
 *
 *   mpirun -n 4 heat --size 96 --steps 1000 --every 100
 *
 * It writes checkpoints ("restart") and the plane in the middle of the box ("plane"). Started
 * again, it goes on behind its newest checkpoint, on any number of ranks, and ends with the same
 * bytes as a run that was not interrupted. It exits with 3 where it was told to stop before the
 * last step. */
#include <getopt.h>
#include <inttypes.h>
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { dims = 3, wall = MPI_PROC_NULL, more_to_do = 3 };

/* The program's own settings; settings file and environment override them. */
static const char *const settings =
    "[files.restart]\n"
    "existing = 'continue'\n"
    "after = ['plane']\n" /* who goes on behind a checkpoint counts on the planes before it */
    "keep = 2\n"
    "[files.plane]\n"
    "existing = 'continue'\n";

struct options {
  int64_t size;  /* points of the box along each dimension */
  int64_t steps; /* in all, over all jobs */
  int64_t every; /* steps between checkpoints; planes come ten times as often */
};

struct box {
  MPI_Comm comm;
  int below[dims], above[dims]; /* neighbours */
  int64_t global[dims], start[dims], count[dims];
  int64_t memory[dims];    /* with a halo of one point on each side */
  int64_t halo[dims];      /* where the own points begin in memory */
  double *values[2];       /* now, and the step before or after */
  iocomp_ticket ticket[2]; /* of the checkpoint that is made of them ... */
  int is_lent[2];          /* ... as long as they must not change */
  MPI_Datatype face_out[dims][2], face_in[dims][2];
};

static void check(int code) {
  if (code != IOCOMP_OK) {
    fprintf(stderr, "heat: %s\n", iocomp_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static size_t points(const struct box *box) {
  return (size_t)(box->memory[0] * box->memory[1] * box->memory[2]);
}

static size_t at(const struct box *box, int64_t i, int64_t j, int64_t k) {
  return (size_t)((i * box->memory[1] + j) * box->memory[2] + k);
}

/* One layer of points, the first or the last one, own ones or those of the halo. */
static MPI_Datatype face(const struct box *box, int d, int64_t layer) {
  int size[dims], part[dims], start[dims];
  MPI_Datatype type;
  for (int e = 0; e < dims; ++e) {
    size[e] = (int)box->memory[e];
    part[e] = e == d ? 1 : (int)box->count[e];
    start[e] = e == d ? (int)layer : 1;
  }
  MPI_Type_create_subarray(dims, size, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void cut_box(struct box *box, MPI_Comm comm, const struct options *options) {
  int ranks, grid[dims] = {0, 0, 0}, periodic[dims] = {0, 0, 0}, place[dims], rank;
  MPI_Comm_size(comm, &ranks);
  MPI_Dims_create(ranks, dims, grid);
  MPI_Cart_create(comm, dims, grid, periodic, 0, &box->comm);
  MPI_Comm_rank(box->comm, &rank);
  MPI_Cart_coords(box->comm, rank, dims, place);
  for (int d = 0; d < dims; ++d) {
    box->global[d] = options->size;
    box->start[d] = options->size * place[d] / grid[d];
    box->count[d] = options->size * (place[d] + 1) / grid[d] - box->start[d];
    box->memory[d] = box->count[d] + 2;
    box->halo[d] = 1;
    MPI_Cart_shift(box->comm, d, 1, &box->below[d], &box->above[d]);
  }
  for (int d = 0; d < dims; ++d) {
    box->face_in[d][0] = face(box, d, 0);
    box->face_out[d][0] = face(box, d, 1);
    box->face_out[d][1] = face(box, d, box->count[d]);
    box->face_in[d][1] = face(box, d, box->count[d] + 1);
  }
  box->is_lent[0] = box->is_lent[1] = 0;
}

static void free_box(struct box *box, iocomp_session *io) {
  for (int d = 0; d < dims; ++d) {
    for (int side = 0; side < 2; ++side) {
      MPI_Type_free(&box->face_in[d][side]);
      MPI_Type_free(&box->face_out[d][side]);
    }
  }
  check(iocomp_free(io, box->values[0]));
  check(iocomp_free(io, box->values[1]));
  MPI_Comm_free(&box->comm);
}

/* Cold, with a warm corner; the walls stay as they are. */
static void begin(const struct box *box) {
  for (int64_t i = 0; i < box->count[0]; ++i)
    for (int64_t j = 0; j < box->count[1]; ++j)
      for (int64_t k = 0; k < box->count[2]; ++k) {
        const int64_t far = box->start[0] + i + box->start[1] + j + box->start[2] + k;
        box->values[0][at(box, i + 1, j + 1, k + 1)] = far < box->global[0] ? 1.0 : 0.0;
      }
}

static void exchange_halos(const struct box *box, double *values) {
  for (int d = 0; d < dims; ++d) {
    MPI_Sendrecv(values, 1, box->face_out[d][0], box->below[d], 0, values, 1, box->face_in[d][1],
                 box->above[d], 0, box->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(values, 1, box->face_out[d][1], box->above[d], 1, values, 1, box->face_in[d][0],
                 box->below[d], 1, box->comm, MPI_STATUS_IGNORE);
  }
}

/* Each point from its neighbours, always in the same order: so the number of ranks changes no bit.
 */
static void advance(const struct box *box, const double *from, double *to) {
  const size_t row = (size_t)box->memory[2], layer = row * (size_t)box->memory[1];
  for (int64_t i = 1; i <= box->count[0]; ++i)
    for (int64_t j = 1; j <= box->count[1]; ++j)
      for (int64_t k = 1; k <= box->count[2]; ++k) {
        const double *const u = from + at(box, i, j, k);
        to[at(box, i, j, k)] = u[0] + 0.1 * (u[-(ptrdiff_t)layer] + u[layer] + u[-(ptrdiff_t)row] +
                                             u[row] + u[-1] + u[1] - 6.0 * u[0]);
      }
}

/* Read the newest checkpoint, if there is one. @return the step that comes next. */
static int64_t restart(struct box *box, iocomp_session *io) {
  iocomp_input *input = NULL;
  int64_t step = -1;
  double time = 0.0;
  check(iocomp_latest(io, "restart", NULL, &step, &time, &input));
  if (input == NULL) {
    begin(box);
    return 0;
  }
  const iocomp_destination to = {.size = sizeof to,
                                 .start = box->start,
                                 .count = box->count,
                                 .values = box->values[0],
                                 .memory_shape = box->memory,
                                 .memory_start = box->halo};
  check(iocomp_read_block(input, "u", step, &to));
  check(iocomp_close_input(input));
  return step + 1;
}

/* The part of the middle plane that this rank has, if any. */
static void write_plane(struct box *box, iocomp_file *file, iocomp_var *plane,
                        const double *values) {
  const int64_t middle = box->global[0] / 2 - box->start[0];
  if (middle >= 0 && middle < box->count[0]) {
    const int64_t first[dims] = {middle + 1, 1, 1};
    const int64_t start[dims] = {0, box->start[1], box->start[2]};
    const int64_t count[dims] = {1, box->count[1], box->count[2]};
    const iocomp_block block = {.size = sizeof block,
                                .start = start,
                                .count = count,
                                .values = values,
                                .memory_shape = box->memory,
                                .memory_start = first,
                                .flags = IOCOMP_BUFFERED};
    check(iocomp_put_block(plane, &block, NULL));
  }
  check(iocomp_end_step(file));
}

static void write_checkpoint(struct box *box, iocomp_file *file, iocomp_var *u, int which) {
  const iocomp_block block = {.size = sizeof block,
                              .start = box->start,
                              .count = box->count,
                              .values = box->values[which],
                              .memory_shape = box->memory,
                              .memory_start = box->halo};
  check(iocomp_put_block(u, &block, &box->ticket[which]));
  box->is_lent[which] = 1;
  check(iocomp_end_step(file));
}

/* Values that a checkpoint is made of may change only when they are reusable. */
static void take_back(struct box *box, int which) {
  if (box->is_lent[which]) {
    check(iocomp_wait(&box->ticket[which], IOCOMP_REUSABLE));
    box->is_lent[which] = 0;
  }
}

static int simulate(const struct options *options, iocomp_session *io) {
  const double seconds_per_step = 0.1;
  struct box box;
  iocomp_file *restart_file, *plane_file;
  iocomp_var *u, *plane;
  cut_box(&box, iocomp_comm(io), options);
  for (int which = 0; which < 2; ++which) {
    void *memory;
    check(iocomp_alloc(io, points(&box) * sizeof(double), &memory));
    box.values[which] = memory;
  }
  const int64_t first = restart(&box, io);
  const int64_t last = first - 1;
  const iocomp_open_options go_on = {.size = sizeof go_on, .after = &last};
  check(iocomp_open(io, "restart", IOCOMP_CHECKPOINT, &go_on, &restart_file));
  check(iocomp_open(io, "plane", IOCOMP_SERIES, &go_on, &plane_file));
  check(iocomp_define(restart_file, "u", IOCOMP_FLOAT64, dims, box.global, &u));
  const int64_t plane_shape[dims] = {1, box.global[1], box.global[2]};
  check(iocomp_define(plane_file, "u", IOCOMP_FLOAT64, dims, plane_shape, &plane));

  int now = 0, stop = 0;
  int64_t step = first;
  for (; step < options->steps && !stop; ++step) {
    exchange_halos(&box, box.values[now]);
    take_back(&box, 1 - now);
    advance(&box, box.values[now], box.values[1 - now]);
    now = 1 - now;
    const double time = (double)(step + 1) * seconds_per_step;
    check(iocomp_should_stop(io, &stop));
    if ((step + 1) % (options->every < 10 ? 1 : options->every / 10) == 0) {
      check(iocomp_begin_step(plane_file, step, time));
      write_plane(&box, plane_file, plane, box.values[now]);
    }
    if (stop || (step + 1) % options->every == 0 || step + 1 == options->steps) {
      check(iocomp_begin_step(restart_file, step, time));
      write_checkpoint(&box, restart_file, u, now);
    }
  }
  check(iocomp_close(plane_file));
  check(iocomp_close(restart_file));
  int rank;
  MPI_Comm_rank(box.comm, &rank);
  if (rank == 0) {
    printf("heat: steps %" PRId64 " to %" PRId64 " of %" PRId64 "\n", first, step, options->steps);
  }
  free_box(&box, io);
  return step < options->steps ? more_to_do : 0;
}

static int64_t number(const char *text, const char *name) {
  char *end;
  const long long value = strtoll(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 1 || value > 1000000000) {
    fprintf(stderr, "heat: --%s %s: a number from 1 to 1000000000 is allowed\n", name, text);
    exit(2);
  }
  return value;
}

static struct options read_options(int argc, char **argv) {
  static const struct option known[] = {{"size", required_argument, NULL, 's'},
                                        {"steps", required_argument, NULL, 'n'},
                                        {"every", required_argument, NULL, 'e'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  struct options options = {64, 1000, 100};
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    if (option == 's') {
      options.size = number(optarg, "size");
    } else if (option == 'n') {
      options.steps = number(optarg, "steps");
    } else if (option == 'e') {
      options.every = number(optarg, "every");
    } else {
      printf(
          "heat [--size POINTS] [--steps STEPS] [--every STEPS]\n"
          "Heat in a box of POINTS^3 (64). Runs to step STEPS (1000), with a checkpoint every\n"
          "STEPS (100) steps. Started again, it goes on behind the newest checkpoint.\n");
      exit(option == 'h' ? 0 : 2);
    }
  }
  return options;
}

int main(int argc, char **argv) {
  const struct options options = read_options(argc, argv);
  iocomp_session *io;
  MPI_Init(&argc, &argv);
  check(iocomp_init(MPI_COMM_WORLD, settings, &io)); /* servers, if any, serve in here */
  const int status = simulate(&options, io);
  check(iocomp_finalize(io));
  MPI_Finalize();
  return status;
}
