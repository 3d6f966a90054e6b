//===- Allocation.cpp - memory that the system does not give --------------===//
//
// `new` ends the process by a handler (Exit.cpp). MLIR and LLVM also call malloc, and use what it gives without a look:
// the linker leads these calls here (--wrap), so that one that fails ends the process in the same way. So it does with
// what a thread is to destroy when it ends, MLIR's caches among it: glibc aborts where it has no memory to note that.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Exit.h"
#include <cstdlib>
#include <new>
#include <pthread.h>

/// Before every other constructor: those of tables allocate.
__attribute__((constructor(101))) static void beFirst() { std::set_new_handler(heddle::endWithoutMemory); }

namespace {
/// Something that a thread destroys when it ends, the newest first.
struct Ending {
  void (*destroy)(void *);
  void *object;
  Ending *before;
};
thread_local Ending *newest = nullptr;
pthread_key_t endings;
} // namespace

static void endThread(void *) {
  while (Ending *one = newest) {
    newest = one->before;
    one->destroy(one->object);
    delete one;
  }
}

static void prepareEndings() {
  auto endProcess = [] { endThread(nullptr); };
  if (pthread_key_create(&endings, endThread) != 0 || std::atexit(endProcess) != 0)
    heddle::endWithoutMemory();
}

extern "C" {
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes) {
  void *memory = __real_malloc(bytes);
  if (!memory && bytes)
    heddle::endWithoutMemory();
  return memory;
}

void *__wrap_calloc(size_t count, size_t bytes) {
  void *memory = __real_calloc(count, bytes);
  if (!memory && count && bytes)
    heddle::endWithoutMemory();
  return memory;
}

void *__wrap_realloc(void *old, size_t bytes) {
  void *memory = __real_realloc(old, bytes);
  if (!memory && bytes)
    heddle::endWithoutMemory();
  return memory;
}

int __wrap___cxa_thread_atexit(void (*destroy)(void *), void *object, void *) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepareEndings);
  if (!newest && pthread_setspecific(endings, &newest) != 0) // asks for `endThread`
    heddle::endWithoutMemory();
  newest = new Ending{destroy, object, newest};
  return 0;
}
}
