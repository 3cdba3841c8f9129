/* SPDX-License-Identifier: BSD-3-Clause */
/* To preload: on rank IOCOMP_TEST_LATE_RANK the disk engine's threads write late, so whatever does
   not wait for them shows. With IOCOMP_TEST_FAILS their writes fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static int is_late(void) {
  char name[16] = "";
  const char* const late = getenv("IOCOMP_TEST_LATE_RANK");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) {
    rank = getenv("PMI_RANK");
  }
  prctl(PR_GET_NAME, name, 0, 0, 0);
  return late != NULL && rank != NULL && strcmp(late, rank) == 0 &&
         strncmp(name, "iocomp-disk", 11) == 0;
}

typedef ssize_t (*write_call)(int, const void*, size_t, off_t);

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  static write_call next;
  if (next == NULL) {
    void* const found = dlsym(RTLD_NEXT, "pwrite");
    memcpy(&next, &found, sizeof found);
  }
  if (is_late()) {
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
