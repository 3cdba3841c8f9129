/* SPDX-License-Identifier: BSD-3-Clause */
#include <iocomp/iocomp.h>
#include <time.h>

double c_now_seconds(void);
int c_put(iocomp_var *const *var, const double *values, int64_t count, iocomp_ticket *ticket,
          double *seconds);

double c_now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One put from C: its seconds. The module's derived types hold the handles of C. */
int c_put(iocomp_var *const *var, const double *values, int64_t count, iocomp_ticket *ticket,
          double *seconds) {
  const int64_t start = 0;
  const double begin = c_now_seconds();
  const int code = iocomp_put(*var, &start, &count, values, ticket);
  *seconds = c_now_seconds() - begin;
  return code;
}
