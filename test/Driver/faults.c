// A library for LD_PRELOAD: the calls of FAULT_CALL fail from the FAULT_FIRST-th on, one in FAULT_EVERY. Children are
// left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static const char *wanted;
static long first, every;
static atomic_long count;

__attribute__((constructor)) static void begin(void) {
  first = atol(getenv("FAULT_FIRST") ? getenv("FAULT_FIRST") : "0");
  every = atol(getenv("FAULT_EVERY") ? getenv("FAULT_EVERY") : "0");
  wanted = getenv("FAULT_CALL");
  unsetenv("LD_PRELOAD");
}

static int fails(const char *call) {
  if (!wanted || strcmp(wanted, call) != 0)
    return 0;
  long n = atomic_fetch_add(&count, 1) + 1 - first;
  return n >= 0 && (every ? n % every == 0 : n == 0);
}

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) { return fails("malloc") ? (errno = ENOMEM, NULL) : __libc_malloc(n); }
/// Whether libc wants the memory for what a thread destroys when it ends.
static int isNote(const void *from) {
  Dl_info place;
  return wanted && !strcmp(wanted, "note") && dladdr(from, &place) && place.dli_sname &&
         !strcmp(place.dli_sname, "__cxa_thread_atexit_impl");
}
void *calloc(size_t n, size_t m) {
  if (isNote(__builtin_return_address(0)) && fails("note"))
    return errno = ENOMEM, NULL;
  return fails("calloc") ? (errno = ENOMEM, NULL) : __libc_calloc(n, m);
}
void *realloc(void *p, size_t n) { return fails("realloc") ? (errno = ENOMEM, NULL) : __libc_realloc(p, n); }

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
  if (fails("mmap"))
    return errno = ENOMEM, MAP_FAILED;
  return REAL(void *(*)(void *, size_t, int, int, int, off_t), "mmap")(at, n, protection, flags, fd, offset);
}
static int opened(const char *name, int folder, const char *path, int flags, va_list more) {
  int mode = flags & 0100 || (flags & 020000000) ? va_arg(more, int) : 0;
  if (fails("open"))
    return errno = EMFILE, -1;
  return REAL(int (*)(int, const char *, int, int), name)(folder, path, flags, mode);
}
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  return opened("openat", -100, path, flags, more);
}
int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  return opened("openat64", -100, path, flags, more);
}
int openat(int folder, const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  return opened("openat", folder, path, flags, more);
}
#define TRANSFER(name, kind, arguments, values)                                                                        \
  ssize_t name arguments {                                                                                             \
    if (fails(kind))                                                                                                   \
      return errno = EIO, -1;                                                                                          \
    return REAL(ssize_t(*) arguments, #name) values;                                                                   \
  }
TRANSFER(read, "read", (int fd, void *to, size_t n), (fd, to, n))
TRANSFER(pread, "read", (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
TRANSFER(pread64, "read", (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
TRANSFER(write, "write", (int fd, const void *from, size_t n), (fd, from, n))
TRANSFER(pwrite, "write", (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  if (fails("thread"))
    return EAGAIN;
  return REAL(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *),
              "pthread_create")(thread, attributes, body, argument);
}
pid_t fork(void) { return fails("fork") ? (errno = EAGAIN, -1) : REAL(pid_t (*)(void), "fork")(); }
pid_t vfork(void) { return fails("fork") ? (errno = EAGAIN, -1) : REAL(pid_t (*)(void), "fork")(); }
int posix_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes, char *const arguments[],
                char *const environment[]) {
  if (fails("fork"))
    return EAGAIN;
  return REAL(int (*)(pid_t *, const char *, const void *, const void *, char *const[], char *const[]),
              "posix_spawn")(pid, path, actions, attributes, arguments, environment);
}
