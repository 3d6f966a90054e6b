/*===- NoUnwinder.c - nothing is thrown in a program ----------------------===*
 *
 * The runtime is compiled without exceptions and a program is linked without the
 * table that an unwinder needs to find its way (--eh-frame-hdr): what libstdc++
 * throws (a length that no memory has) ends the program. Hidden functions that
 * say so at once take the places of libgcc's unwinder and of the C++ library's
 * reader of unwind tables, which are 27 KB of every program.
 *
 *===--------------------------------------------------------------------===*/
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden")))

/** _URC_END_OF_STACK: nobody catches this, so __cxa_throw ends the program. */
enum { kEndOfStack = 5 };

struct _Unwind_Exception;

HIDDEN int _Unwind_RaiseException(struct _Unwind_Exception *thrown);
HIDDEN int _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *thrown);
HIDDEN void _Unwind_Resume(struct _Unwind_Exception *thrown);
HIDDEN void _Unwind_DeleteException(struct _Unwind_Exception *thrown);
HIDDEN int __gxx_personality_v0(void);

int _Unwind_RaiseException(struct _Unwind_Exception *thrown) {
  (void)thrown;
  return kEndOfStack;
}

int _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *thrown) {
  (void)thrown;
  return kEndOfStack;
}

/* Called by code behind an exception alone, which is not reached. */
void _Unwind_Resume(struct _Unwind_Exception *thrown) {
  (void)thrown;
  abort();
}

void _Unwind_DeleteException(struct _Unwind_Exception *thrown) {
  (void)thrown;
  abort();
}

int __gxx_personality_v0(void) { abort(); }
