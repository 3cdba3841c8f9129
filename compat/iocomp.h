/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file iocomp.h
 * The calls of the first iocomp (2023), carried out by this one. Programs that were written for it
 * are compiled with this header and linked with libiocomp_v1; docs/coming-from-0.1.md says how. New
 * programs use iocomp/iocomp.h.
 *
 * A failure prints its story and ends the job with MPI_Abort, as in the first iocomp. `p` is the
 * same struct in all calls; the program owns it.
 */
#ifndef IOCOMP_V1_IOCOMP_H
#define IOCOMP_V1_IOCOMP_H

#include <assert.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct iocomp_params {
  double **array;          /**< of winInits: numWin arrays */
  size_t localDataSize;    /**< elements that this rank sent last */
  MPI_Comm compServerComm; /**< what iocompInit returned */
  int numWin;
  struct iocomp_v1 *state; /**< of the library */
};

/**
 * Split the ranks; servers stay in here and leave the program. Collective over `comm`.
 * @param HT        true: of each NODESIZE ranks the second half serves. false: all ranks compute,
 * and write in their calls.
 * @param ioLib     0 MPI-IO, 1 HDF5, 2 to 4 ADIOS2 with HDF5, BP4, BP5.
 * @param shared    servers take arrays through memory of the node; implies HT.
 * @param numWin    arrays that winInits makes.
 * @return the communicator of the compute ranks. It lives until MPI_Finalize.
 */
MPI_Comm iocomp_v1_init(struct iocomp_params *p, MPI_Comm comm, bool HT, int ioLib, int NODESIZE,
                        bool shared, int numWin);
MPI_Comm iocomp_v1_init_5(struct iocomp_params *p, MPI_Comm comm, bool HT, int ioLib, int NODESIZE);

/** Make p->array[0] to p->array[numWin - 1], of n doubles each. Local. */
void iocomp_v1_win_inits(struct iocomp_params *p, int n);

/** Name the file of the next send. Local. */
void iocomp_v1_pre_data_send(struct iocomp_params *p, double *data, const char *file);

/**
 * Send n doubles of this rank; the file gets those of all ranks, one rank behind the other.
 * Collective over the compute ranks. `data` stays unchanged until dataWait. Where no file was named
 * before, dataWait names it and sends. A file that no call names is called mpiio.dat, hdf5.h5,
 * adios2.h5, adios2.bp4 or adios2.bp5, by ioLib. Each send replaces it. Once a dataWait has come
 * without a name, such arrays are sent at once.
 */
void iocomp_v1_data_send(double *data, struct iocomp_params *p, MPI_Request *request, size_t n);

/** Move on. @return 1 when the array is free. Local. */
int iocomp_v1_data_send_test(struct iocomp_params *p, MPI_Request *request, double *data);
int iocomp_v1_data_send_test_2(struct iocomp_params *p, MPI_Request *request);

/** Wait, asleep, until the array is free. Collective over the compute ranks where it names the
 * file. */
void iocomp_v1_data_wait(struct iocomp_params *p, MPI_Request *request, double *data,
                         const char *file);
void iocomp_v1_data_wait_2(struct iocomp_params *p, MPI_Request *request);

/** All is written and durable when this returns. Without windows it ends iocomp. Collective over
 * the compute ranks. */
void iocomp_v1_stop_send(struct iocomp_params *p);

/** Free the arrays and end iocomp. Collective over the compute ranks. */
void iocomp_v1_win_finalise(struct iocomp_params *p);

/** States of windows, in which this iocomp has none. Data move. Local. */
void iocomp_v1_win_info(struct iocomp_params *p, double *data);

/** End the job where `ierr` is a failure of MPI. */
void iocomp_v1_error_report(int ierr, int line, const char *file);

#ifdef __cplusplus
}
#endif

/* Calls of which there were two forms: by the number of arguments. */
#define IOCOMP_V1_FOURTH(a, b, c, d, ...) d
#define IOCOMP_V1_FIFTH(a, b, c, d, e, ...) e
#define IOCOMP_V1_EIGHTH(a, b, c, d, e, f, g, h, ...) h
#define iocompInit(...) \
  IOCOMP_V1_EIGHTH(__VA_ARGS__, iocomp_v1_init, 0, iocomp_v1_init_5, 0, 0, 0, 0)(__VA_ARGS__)
#define dataSendTest(...)                                                                \
  IOCOMP_V1_FOURTH(__VA_ARGS__, iocomp_v1_data_send_test, iocomp_v1_data_send_test_2, 0, \
                   0)(__VA_ARGS__)
#define dataWait(...) \
  IOCOMP_V1_FIFTH(__VA_ARGS__, iocomp_v1_data_wait, 0, iocomp_v1_data_wait_2, 0, 0)(__VA_ARGS__)

#define winInits iocomp_v1_win_inits
#define preDataSend iocomp_v1_pre_data_send
#define dataSend iocomp_v1_data_send
#define winActivateInfo iocomp_v1_win_info
#define winTestInfo iocomp_v1_win_info
#define stopSend iocomp_v1_stop_send
#define winFinalise iocomp_v1_win_finalise
#define error_report_fn iocomp_v1_error_report
#define mpi_error_check(ierr) error_report_fn(ierr, __LINE__, __FILE__)
#define malloc_check(memory) assert((memory) != NULL)

#endif
