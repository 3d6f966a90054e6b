/*===- Floor.c - the oldest C library that a program runs on --------------===*
 *
 * A program is linked where Heddle is built, and asks for the versions of
 * symbols that the C library has there. Two of them are newer than 2.34 and
 * not needed: libevent asks for random numbers (2.36). Hidden functions of these
 * names take their places, so that a program starts on any glibc from 2.34 on
 * (test/Execution/floor.test).
 *
 *===--------------------------------------------------------------------===*/
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Declared here, since headers of an older C library lack them. */
HIDDEN void arc4random_buf(void *buffer, size_t size);
HIDDEN uint32_t arc4random(void);

/** Random bytes of the kernel. The process ends (SIGABRT) where it gives none: libevent draws keys from them. */
void arc4random_buf(void *buffer, size_t size) {
  for (char *at = buffer; size;) {
    ssize_t got = getrandom(at, size, 0);
    if (got > 0) {
      at += got;
      size -= (size_t)got;
    } else if (errno != EINTR) {
      abort();
    }
  }
}

uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof number);
  return number;
}
