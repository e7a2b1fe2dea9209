/*
 * Loaded into PostgreSQL by LD_PRELOAD: whatever a process has synced takes it so many microseconds longer, as on a slower disk.
 * Environment: SLOW_SYNC_US.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int slowly(const char *name, int fd) {
  const char *text = getenv("SLOW_SYNC_US");
  long us = text ? atol(text) : 0;
  struct timespec rest = {us / 1000000, us % 1000000 * 1000};
  while (nanosleep(&rest, &rest) != 0) continue;
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return slowly("fsync", fd); }

int fdatasync(int fd) { return slowly("fdatasync", fd); }
