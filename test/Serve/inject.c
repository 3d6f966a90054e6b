// Makes every Nth call of one function of the system fail: INJECT="FUNCTION N ERRNO", by LD_PRELOAD. `SKIP` calls are
// let through first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

static char wanted[32];
static long nth, error, skip;
static atomic_long calls;

__attribute__((constructor)) static void begin(void) {
  const char *how = getenv("INJECT");
  if (how)
    sscanf(how, "%31s %ld %ld %ld", wanted, &nth, &error, &skip);
}

static int fails(const char *name) {
  if (!nth || strcmp(name, wanted) != 0)
    return 0;
  long call = atomic_fetch_add(&calls, 1) + 1;
  if (call <= skip || (call - skip) % nth != 0)
    return 0;
  errno = (int)error;
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define INJECTED(type, name, parameters, arguments, failure)                                                           \
  type name parameters {                                                                                               \
    static __typeof__(&name) real;                                                                                     \
    if (!real)                                                                                                         \
      real = REAL(name);                                                                                               \
    return fails(#name) ? failure : real arguments;                                                                    \
  }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
void *malloc(size_t n) { return fails("malloc") ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails("calloc") ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { return fails("realloc") ? NULL : __libc_realloc(old, n); }
INJECTED(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), -1)
INJECTED(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), -1)
INJECTED(ssize_t, readv, (int fd, const struct iovec *to, int n), (fd, to, n), -1)
INJECTED(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), -1)
INJECTED(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), -1)
INJECTED(ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags), -1)
INJECTED(int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags), -1)
INJECTED(int, epoll_ctl, (int set, int what, int fd, struct epoll_event *e), (set, what, fd, e), -1)
INJECTED(int, epoll_wait, (int set, struct epoll_event *e, int n, int wait), (set, e, n, wait), -1)
INJECTED(int, poll, (struct pollfd * fds, nfds_t n, int wait), (fds, n, wait), -1)
INJECTED(int, eventfd, (unsigned n, int flags), (n, flags), -1)
INJECTED(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*body)(void *), void *argument),
         (t, a, body, argument), (int)error)
