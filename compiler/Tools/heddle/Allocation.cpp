//===- Allocation.cpp - memory that the system does not give --------------===//
//
// `new` ends the process by a handler (Exit.cpp). MLIR and LLVM also call malloc, and use what it gives without a look:
// the linker leads these calls here (--wrap), so that one that fails ends the process in the same way.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Exit.h"
#include <new>

/// Before every other constructor: those of tables allocate.
__attribute__((constructor(101))) static void beFirst() { std::set_new_handler(heddle::endWithoutMemory); }

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
}
