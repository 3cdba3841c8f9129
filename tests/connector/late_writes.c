/* SPDX-License-Identifier: BSD-3-Clause */
/* To preload: on rank IOCOMP_TEST_LATE_RANK the disk engine's threads write late, so whatever does
   not wait for them shows. With IOCOMP_TEST_FAILS their writes fail. On rank IOCOMP_TEST_SLOW_RANK
   others write even later what is long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static int is_rank(const char* variable) {
  const char* const wanted = getenv(variable);
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) {
    rank = getenv("PMI_RANK");
  }
  return wanted != NULL && rank != NULL && strcmp(wanted, rank) == 0;
}

static int is_of_engine(void) {
  char name[16] = "";
  prctl(PR_GET_NAME, name, 0, 0, 0);
  return strncmp(name, "iocomp-disk", 11) == 0;
}

static void wait_if_slow(size_t size) {
  if (size >= 65536 && !is_of_engine() && is_rank("IOCOMP_TEST_SLOW_RANK")) {
    usleep(100000);
  }
}

typedef ssize_t (*write_call)(int, const void*, size_t, off_t);
typedef ssize_t (*plain_write_call)(int, const void*, size_t);

ssize_t write(int file, const void* bytes, size_t size) {
  static plain_write_call next;
  if (next == NULL) {
    void* const found = dlsym(RTLD_NEXT, "write");
    memcpy(&next, &found, sizeof found);
  }
  wait_if_slow(size);
  return next(file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  static write_call next;
  if (next == NULL) {
    void* const found = dlsym(RTLD_NEXT, "pwrite");
    memcpy(&next, &found, sizeof found);
  }
  wait_if_slow(size);
  if (is_of_engine() && is_rank("IOCOMP_TEST_LATE_RANK")) {
    usleep(20000);
    if (getenv("IOCOMP_TEST_FAILS") != NULL) {
      errno = EIO;
      return -1;
    }
  }
  return next(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset) {
  return pwrite(file, bytes, size, offset);
}
