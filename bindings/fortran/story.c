/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <iocomp/iocomp.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char own_story[1024];
static int just_refused; /* the call that is running has failed here */
static int is_own;       /* the last failure was found here */

void iocomp_f_flush_output(void); /* iocomp.f90 */

int refuse(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(own_story, sizeof own_story, format, values);
  va_end(values);
  just_refused = 1;
  return IOCOMP_INVALID_ARGUMENT;
}

const char *story(void) { return is_own ? own_story : iocomp_error(); }

static void stop(int code) {
  int initialized = 0;
  int finalized = 0;
  iocomp_f_flush_output();
  fprintf(stderr, "iocomp: %s: %s\n", iocomp_code_name(code), story());
  fflush(NULL);
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) {
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  exit(code);
}

void finish(int code, int *ierr) {
  if (ierr != NULL) {
    *ierr = code;
  }
  if (code != IOCOMP_OK) {
    is_own = just_refused;
    just_refused = 0;
    if (ierr == NULL) {
      stop(code);
    }
  }
}
