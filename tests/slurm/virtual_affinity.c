/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into daemons and programs: CPU masks for a machine that is not there. The mask of a
 * thread is the file of its number in $VIRTUAL_AFFINITY; one without a file has its parent's, and
 * all CPUs ($VIRTUAL_CPUS) where nobody set any. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { mask_bytes = 128 };

static int cpus(void) {
  const char* text = getenv("VIRTUAL_CPUS");
  return text != NULL ? atoi(text) : 256;
}

static void mask_file(char* path, size_t room, int thread, const char* ending) {
  const char* folder = getenv("VIRTUAL_AFFINITY");
  (void)snprintf(path, room, "%s/%d%s", folder != NULL ? folder : "/dev/shm", thread, ending);
}

/* The number after `name` in the status of a process or thread; 0 if it has ended. */
static int status_number(int thread, const char* name) {
  char line[256];
  (void)snprintf(line, sizeof line, "/proc/%d/status", thread);
  FILE* file = fopen(line, "re");
  if (file == NULL) {
    return 0;
  }
  int number = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) {
      number = atoi(line + strlen(name));
      break;
    }
  }
  (void)fclose(file);
  return number;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* wanted) {
  unsigned char mask[mask_bytes] = {0};
  memcpy(mask, wanted, size < mask_bytes ? size : mask_bytes);
  int any = 0;
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    any |= mask[cpu / 8] >> (cpu % 8) & 1;
  }
  if (any == 0) {
    errno = EINVAL; /* as the kernel does for CPUs that it has not */
    return -1;
  }
  const int thread = pid != 0 ? pid : gettid();
  char path[256];
  char half_written[256];
  char ending[32];
  (void)snprintf(ending, sizeof ending, ".by%d", gettid());
  mask_file(path, sizeof path, thread, "");
  mask_file(half_written, sizeof half_written, thread, ending);
  const int file = open(half_written, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    return -1;
  }
  const int whole = write(file, mask, mask_bytes) == mask_bytes;
  return close(file) == 0 && whole ? rename(half_written, path) : -1;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* found) {
  if (size * 8 < (size_t)cpus()) {
    errno = EINVAL;
    return -1;
  }
  unsigned char mask[mask_bytes] = {0};
  int known = 0;
  for (int thread = pid != 0 ? pid : gettid(); thread > 1 && !known;) {
    char path[256];
    mask_file(path, sizeof path, thread, "");
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      known = read(file, mask, mask_bytes) == mask_bytes;
      (void)close(file);
    }
    const int process = status_number(thread, "Tgid:");
    thread = process != thread ? process : status_number(thread, "PPid:");
  }
  for (int cpu = 0; !known && cpu < cpus(); ++cpu) {
    mask[cpu / 8] |= (unsigned char)(1 << (cpu % 8));
  }
  memset(found, 0, size);
  memcpy(found, mask, size < mask_bytes ? size : mask_bytes);
  return 0;
}
