/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The classic form of the STREAM kernels: static arrays, loops in main. Prints what apps/stream
 * --plain must reach, as JSON: the best bandwidth of each kernel in GiB/s. Compiled with the flags
 * of the kernels of stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef STREAM_ARRAY_SIZE
#define STREAM_ARRAY_SIZE 8388608
#endif

static double a[STREAM_ARRAY_SIZE];
static double b[STREAM_ARRAY_SIZE];
static double c[STREAM_ARRAY_SIZE];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void keep_best(double* best, double begin) {
  const double seconds = now() - begin;
  if (seconds < *best) *best = seconds;
}

/* stream_reference [<loops>] [--json <file>] */
int main(int argc, char** argv) {
  const double scalar = 3.0;
  const char* const names[4] = {"copy", "scale", "add", "triad"};
  const double arrays[4] = {2, 2, 3, 3};
  double best[4] = {1e30, 1e30, 1e30, 1e30};
  int loops = 20;
  FILE* out = stdout;

  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      out = fopen(argv[++i], "w");
    } else {
      loops = atoi(argv[i]);
    }
  }
  if (out == NULL || loops < 1) {
    fprintf(stderr, "usage: stream_reference [<loops>] [--json <file>]\n");
    return 2;
  }

  for (size_t j = 0; j < STREAM_ARRAY_SIZE; j++) {
    a[j] = 1.0;
    b[j] = 2.0;
    c[j] = 0.0;
  }
  for (int loop = 0; loop < loops; loop++) {
    double begin = now();
    for (size_t j = 0; j < STREAM_ARRAY_SIZE; j++) c[j] = a[j];
    keep_best(&best[0], begin);
    begin = now();
    for (size_t j = 0; j < STREAM_ARRAY_SIZE; j++) b[j] = scalar * c[j];
    keep_best(&best[1], begin);
    begin = now();
    for (size_t j = 0; j < STREAM_ARRAY_SIZE; j++) c[j] = a[j] + b[j];
    keep_best(&best[2], begin);
    begin = now();
    for (size_t j = 0; j < STREAM_ARRAY_SIZE; j++) a[j] = b[j] + scalar * c[j];
    keep_best(&best[3], begin);
  }
  fprintf(out, "{\"program\": \"stream_reference\", \"bytes_per_array\": %zu, \"checksum\": %g",
          sizeof a, a[0] + b[STREAM_ARRAY_SIZE / 2] + c[STREAM_ARRAY_SIZE - 1]);
  fprintf(out, ", \"best_bandwidth_gib_per_second\": {");
  for (int k = 0; k < 4; k++) {
    const double bytes = arrays[k] * (double)sizeof a;
    fprintf(out, "%s\"%s\": %.4f", k == 0 ? "" : ", ", names[k],
            bytes / best[k] / (1024.0 * 1024.0 * 1024.0));
  }
  fprintf(out, "}}\n");
  return fclose(out) == 0 ? 0 : 1;
}
