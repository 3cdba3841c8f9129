// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* What calls_mpi.cpp has counted. All ranks of the simulation are in one process, so one of them
 * sees the counts of all. */

#ifdef __cplusplus
extern "C" {
#endif

struct smpi_counts {
  double control_sent; /* messages that are not data */
  double control_sent_bytes;
  double control_received;
  double control_received_bytes;
  double data_sent;
  double data_sent_bytes;
  double most_pending;     /* sends under way at once, since smpi_begin_measuring */
  double longest_message;  /* control, bytes, the same */
  double collectives;      /* joined */
  double collective_bytes; /* that they brought to this rank */
  int actor;               /* that is this rank, in the simulation */
};

/* Those of a rank of MPI_COMM_WORLD since the start. */
const struct smpi_counts* smpi_counts_of(int rank);
void smpi_begin_measuring(void);
/* Bytes that the library had at most from the heap on a rank. */
double smpi_heap_of(int rank);

#ifdef __cplusplus
}
#endif
