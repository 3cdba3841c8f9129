/* SPDX-License-Identifier: BSD-3-Clause */
/* STREAM with output, written against the calls of the first iocomp, in the three ways of its
 * client: stream_v1 sync|ht|shared <ioLib> <ranks per node> [<elements of rank 0>] Three loops of
 * copy, scale, add and triad; after each the array that it has filled goes into a file of its own,
 * B_0.dat and so on, while the next kernel computes. Rank r has r elements more than rank 0. */
#include <string.h>

#include "../include/iocomp.h"

#define LOOPS 3
#define ARRAYS 3

static const char *const names[ARRAYS] = {"A", "B", "C"};

static void file_name(char *name, int array, int loop, int library) {
  const char *const endings[5] = {"dat", "h5", "h5", "bp4", "bp5"};
  sprintf(name, "%s_%d.%s", names[array], loop, endings[library]);
}

int main(int argc, char **argv) {
  int ierr = MPI_Init(&argc, &argv);
  mpi_error_check(ierr);
  if (argc < 4) {
    return 2;
  }
  const bool shared = strcmp(argv[1], "shared") == 0;
  const bool HT = shared || strcmp(argv[1], "ht") == 0;
  const int library = atoi(argv[2]);
  const int node_size = atoi(argv[3]);

  struct iocomp_params params;
  MPI_Comm comm;
  if (shared) {
    comm = iocompInit(&params, MPI_COMM_WORLD, HT, library, node_size, shared, ARRAYS);
  } else {
    comm = iocompInit(&params, MPI_COMM_WORLD, HT, library, node_size); /* the older form */
  }
  int rank = 0;
  ierr = MPI_Comm_rank(params.compServerComm, &rank);
  mpi_error_check(ierr);
  const int n = (argc > 4 ? atoi(argv[4]) : 1000) + rank;

  double *arrays[ARRAYS];
  if (shared) {
    winInits(&params, n);
  }
  for (int k = 0; k < ARRAYS; ++k) {
    arrays[k] = shared ? params.array[k] : malloc((size_t)n * sizeof(double));
    malloc_check(arrays[k]);
  }
  double *a = arrays[0];
  double *b = arrays[1];
  double *c = arrays[2];
  for (int i = 0; i < n; ++i) {
    a[i] = rank * 100000.0 + i;
    b[i] = 0;
    c[i] = 0;
  }

  MPI_Request requests[ARRAYS];
  char file[ARRAYS][64] = {"", "", ""};
  bool is_sent[ARRAYS] = {false, false, false};
  for (int loop = 0; loop < LOOPS; ++loop) {
    const int filled[3] = {2, 1, 0}; /* copy fills C, scale B, triad A */
    for (int kernel = 0; kernel < 3; ++kernel) {
      const int k = filled[kernel];
      if (is_sent[k]) { /* before it changes */
        if (shared) {
          winTestInfo(&params, arrays[k]);
        }
        if (HT) {
          dataWait(&params, &requests[k], arrays[k], file[k]);
        } else {
          dataWait(&params, &requests[k]);
        }
      }
      for (int i = 0; i < n; ++i) {
        if (kernel == 0) {
          c[i] = a[i];
        } else if (kernel == 1) {
          b[i] = 2 * c[i];
        } else {
          a[i] = b[i] - c[i] + 1;
        }
        if (i % 300 == 0) {
          for (int other = 0; other < ARRAYS; ++other) {
            if (is_sent[other] && other != k) {
              shared ? dataSendTest(&params, &requests[other], arrays[other])
                     : dataSendTest(&params, &requests[other]);
            }
          }
        }
      }
      file_name(file[k], k, loop, library);
      if (shared) {
        winActivateInfo(&params, arrays[k]);
      }
      if (shared || !HT) { /* clients of the HT kind name the file in dataWait */
        preDataSend(&params, arrays[k], file[k]);
      }
      dataSend(arrays[k], &params, &requests[k], (size_t)n);
      is_sent[k] = true;
    }
  }
  for (int k = 0; k < ARRAYS; ++k) {
    dataWait(&params, &requests[k], arrays[k], file[k]);
  }
  stopSend(&params);
  if (shared) {
    winFinalise(&params);
  } else {
    for (int k = 0; k < ARRAYS; ++k) {
      free(arrays[k]);
    }
  }
  ierr = MPI_Barrier(comm);
  mpi_error_check(ierr);
  MPI_Finalize();
  return 0;
}
