//===- Fibers.cpp - Threads that are switched by hand ---------------------===//
//
// The calling convention of x86-64 keeps six registers and the stack pointer
// over a call. A switch is a call, so no other register has to be saved.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Fibers.h"

#include <cstdint>
#include <sys/mman.h>

#if !defined(__x86_64__)
#error "the emulator switches threads on x86-64 only"
#endif

asm(R"(
  .text
  .globl heddle_fiber_switch
  .type heddle_fiber_switch, @function
heddle_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size heddle_fiber_switch, . - heddle_fiber_switch
)");

namespace heddle::emulator {

static constexpr size_t kPage = 4096, kStep = Stacks::kBytes + kPage;
static constexpr int kSaved = 6; // registers that a switch pops

Stacks::~Stacks() {
  if (base)
    munmap(base, count * kStep);
}

bool Stacks::reserve(size_t wanted) {
  if (wanted <= count)
    return true;
  void *fresh =
      mmap(nullptr, wanted * kStep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED)
    return false;
  if (base)
    munmap(base, count * kStep);
  base = static_cast<char *>(fresh);
  count = wanted;
  for (size_t i = 0; i < count; ++i)
    mprotect(base + i * kStep, kPage, PROT_NONE);
  return true;
}

#if !defined(__SANITIZE_ADDRESS__) && defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_unpoison_memory_region(const volatile void *, size_t);
/// A launch that failed left its frames; the sanitizer still knows them.
static void forget(char *stack) { __asan_unpoison_memory_region(stack, kStep); }
#else
static void forget(char *) {}
#endif

void *Stacks::enter(size_t index, void (*body)()) const {
  forget(base + index * kStep);
  void **top = reinterpret_cast<void **>(base + (index + 1) * kStep);
  *--top = nullptr; // where `body` would return to
  *--top = reinterpret_cast<void *>(body);
  for (int i = 0; i < kSaved; ++i)
    *--top = nullptr;
  return top;
}

} // namespace heddle::emulator
