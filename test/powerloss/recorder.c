/*
 * Loaded into a process by LD_PRELOAD, records what the process does to the files under one folder: every change and every fsync, in
 * their order. Lines that the process writes to the file of marks are recorded among them.
 *
 * Environment: POWERLOSS_ROOT (absolute, no slash at its end), POWERLOSS_LOG, POWERLOSS_MARKS (both outside the root).
 * A record, little-endian: kind u8, 3 unused bytes, length of path u32, length of data u32, inode u64, offset u64; path; data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { CREATE = 1, MKDIR, WRITE, TRUNCATE, SYNC, SYNC_FOLDER, RENAME, LINK, UNLINK, MARK };
enum role { OTHER, FILE_OF_ROOT, FOLDER_OF_ROOT, MARKS };

#define MAX_DESCRIPTORS 65536
static struct {
  enum role role;
  uint64_t inode;
  char *path;
} descriptors[MAX_DESCRIPTORS];

static const char *root, *marks;
static int log_fd = -1;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name)                                  \
  static type (*real)() = NULL;                           \
  if (!real) real = (type(*)())dlsym(RTLD_NEXT, name)

/** Ends the process: a change that cannot be recorded would make every image wrong. */
static void give_up(const char *why) {
  dprintf(2, "recorder: %s (errno %d)\n", why, errno);
  abort();
}

__attribute__((constructor)) static void start(void) {
  const char *log = getenv("POWERLOSS_LOG");
  root = getenv("POWERLOSS_ROOT");
  marks = getenv("POWERLOSS_MARKS");
  if (!log || !root || !marks) give_up("POWERLOSS_ROOT, POWERLOSS_LOG and POWERLOSS_MARKS must be set");
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  log_fd = real(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_fd < 0) give_up("cannot open the log");
}

static void record(enum kind kind, const char *path, uint64_t inode, uint64_t offset, const void *data, size_t length) {
  REAL(ssize_t, "writev");
  struct __attribute__((packed)) {
    uint8_t kind, nothing[3];
    uint32_t path_length, data_length;
    uint64_t inode, offset;
  } header = {kind, {0}, path ? strlen(path) : 0, length, inode, offset};
  struct iovec parts[] = {{&header, sizeof header}, {(void *)path, header.path_length}, {(void *)data, length}};
  int before = errno;
  pthread_mutex_lock(&log_lock);
  ssize_t total = sizeof header + header.path_length + length;
  if (real(log_fd, parts, 3) != total) give_up("cannot write the log");
  pthread_mutex_unlock(&log_lock);
  errno = before;
}

/** Whether the file is SQLite's shared memory, which it creates again after a crash of the machine, so that its contents need no recording. */
static int is_shared_memory(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

static int is_ours(const char *path) {
  size_t length = root ? strlen(root) : 0;
  return length && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0) && !is_shared_memory(path);
}

static uint64_t inode_of(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 ? status.st_ino : 0;
}

static int opened(int fd, const char *path, int flags, uint64_t inode_before) {
  if (fd < 0 || !path) return fd;
  if (fd >= MAX_DESCRIPTORS) give_up("too many descriptors");
  free(descriptors[fd].path);
  descriptors[fd].path = NULL;
  descriptors[fd].role = OTHER;
  if (marks && strcmp(path, marks) == 0) {
    descriptors[fd].role = MARKS;
    return fd;
  }
  if (!is_ours(path)) return fd;
  struct stat status;
  if (fstat(fd, &status) != 0) give_up("cannot look at what was opened");
  descriptors[fd].inode = status.st_ino;
  descriptors[fd].path = strdup(path);
  descriptors[fd].role = S_ISDIR(status.st_mode) ? FOLDER_OF_ROOT : FILE_OF_ROOT;
  if (descriptors[fd].role == FOLDER_OF_ROOT) return fd;
  if (inode_before == 0) record(CREATE, path, status.st_ino, 0, NULL, 0);
  else if (flags & O_TRUNC) record(TRUNCATE, NULL, status.st_ino, 0, NULL, 0);
  return fd;
}

static enum role role_of(int fd) {
  return fd >= 0 && fd < MAX_DESCRIPTORS ? descriptors[fd].role : OTHER;
}

static void written(int fd, off_t offset, const void *data, ssize_t length) {
  if (length <= 0) return;
  if (role_of(fd) == MARKS) record(MARK, NULL, 0, 0, data, length);
  if (role_of(fd) == FILE_OF_ROOT) record(WRITE, NULL, descriptors[fd].inode, offset, data, length);
}

/** Reads back data that the kernel has written without passing them through this process. */
static void written_unseen(int fd, off_t offset, ssize_t length) {
  if (length <= 0 || role_of(fd) != FILE_OF_ROOT) return;
  char link[64], *data = malloc(length);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  FILE *file = fopen(link, "r");
  if (!data || !file || fseeko(file, offset, SEEK_SET) != 0 || fread(data, 1, length, file) != (size_t)length)
    give_up("cannot read back what was written");
  fclose(file);
  written(fd, offset, data, length);
  free(data);
}

static off_t position(int fd) { return lseek(fd, 0, SEEK_CUR); }

#define OPEN(name)                                                          \
  int name(const char *path, int flags, ...) {                              \
    REAL(int, #name);                                                       \
    va_list arguments;                                                      \
    va_start(arguments, flags);                                             \
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;          \
    va_end(arguments);                                                      \
    uint64_t before = is_ours(path) ? inode_of(path) : 0;                   \
    return opened(real(path, flags, mode), path, flags, before);            \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  REAL(int, "close");
  if (fd == log_fd) return 0;
  if (role_of(fd) != OTHER) descriptors[fd].role = OTHER;
  return real(fd);
}

ssize_t write(int fd, const void *data, size_t length) {
  REAL(ssize_t, "write");
  ssize_t done = real(fd, data, length);
  if (role_of(fd) != OTHER) written(fd, position(fd) - done, data, done);
  return done;
}

#define PWRITE(name)                                                         \
  ssize_t name(int fd, const void *data, size_t length, off_t offset) {      \
    REAL(ssize_t, #name);                                                    \
    ssize_t done = real(fd, data, length, offset);                           \
    written(fd, offset, data, done);                                         \
    return done;                                                             \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev");
  ssize_t done = real(fd, parts, count);
  if (role_of(fd) != OTHER) written_unseen(fd, position(fd) - done, done);
  return done;
}

#define PWRITEV(name)                                                           \
  ssize_t name(int fd, const struct iovec *parts, int count, off_t offset) {    \
    REAL(ssize_t, #name);                                                       \
    ssize_t done = real(fd, parts, count, offset);                              \
    written_unseen(fd, offset, done);                                           \
    return done;                                                                \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define SENDFILE(name)                                              \
  ssize_t name(int to, int from, off_t *offset, size_t length) {    \
    REAL(ssize_t, #name);                                           \
    ssize_t done = real(to, from, offset, length);                  \
    if (role_of(to) != OTHER) written_unseen(to, position(to) - done, done); \
    return done;                                                    \
  }
SENDFILE(sendfile)
SENDFILE(sendfile64)

/** libuv calls copy_file_range through syscall(). */
long syscall(long number, ...) {
  REAL(long, "syscall");
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
  va_end(arguments);
  long done = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_copy_file_range && done > 0) {
    int to = a[2];
    off_t *end = (off_t *)a[3];
    if (role_of(to) != OTHER) written_unseen(to, (end ? *end : position(to)) - done, done);
  }
  return done;
}

#define FTRUNCATE(name)                                                                        \
  int name(int fd, off_t length) {                                                             \
    REAL(int, #name);                                                                          \
    int failed = real(fd, length);                                                             \
    if (!failed && role_of(fd) == FILE_OF_ROOT)                                                \
      record(TRUNCATE, NULL, descriptors[fd].inode, length, NULL, 0);                          \
    return failed;                                                                             \
  }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

/** Recorded before the sync, because a write of another thread during it may come too late for it. */
#define SYNC_CALL(name)                                                                        \
  int name(int fd) {                                                                           \
    REAL(int, #name);                                                                          \
    if (role_of(fd) == FILE_OF_ROOT) record(SYNC, NULL, descriptors[fd].inode, 0, NULL, 0);    \
    if (role_of(fd) == FOLDER_OF_ROOT) record(SYNC_FOLDER, descriptors[fd].path, 0, 0, NULL, 0); \
    if (real(fd) == 0) return 0;                                                               \
    if (role_of(fd) != OTHER) give_up("a sync failed");                                        \
    return -1;                                                                                 \
  }
SYNC_CALL(fsync)
SYNC_CALL(fdatasync)

int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir");
  int failed = real(path, mode);
  if (!failed && is_ours(path)) record(MKDIR, path, 0, 0, NULL, 0);
  return failed;
}

int rename(const char *from, const char *to) {
  REAL(int, "rename");
  int failed = real(from, to);
  if (!failed && is_ours(from)) record(RENAME, from, 0, 0, to, strlen(to));
  return failed;
}

int link(const char *from, const char *to) {
  REAL(int, "link");
  int failed = real(from, to);
  if (!failed && is_ours(to)) record(LINK, from, 0, 0, to, strlen(to));
  return failed;
}

#define REMOVE(name)                                                          \
  int name(const char *path) {                                                \
    REAL(int, #name);                                                         \
    int failed = real(path);                                                  \
    if (!failed && is_ours(path)) record(UNLINK, path, 0, 0, NULL, 0);        \
    return failed;                                                            \
  }
REMOVE(unlink)
REMOVE(remove)

int unlinkat(int folder, const char *name, int flags) {
  REAL(int, "unlinkat");
  int failed = real(folder, name, flags);
  if (!failed && name[0] == '/' && is_ours(name)) record(UNLINK, name, 0, 0, NULL, 0);
  return failed;
}
