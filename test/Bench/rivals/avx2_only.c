// Hides AVX-512 and AMX from a program that asks the processor what it has. Preloaded (LD_PRELOAD), this library makes
// every CPUID instruction of the process fault, and answers it with the processor's own words less those bits. A rival
// that chooses its kernels by CPUID then runs those for AVX2, and can run beside `--mcpu=x86-64-v3` on one machine.
// Needs Linux and a processor that can make CPUID fault (`cpuid_fault` in /proc/cpuinfo); elsewhere the program ends
// with status 70.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { kSetCpuid = 0x1012, kCannotHide = 70 }; // ARCH_SET_CPUID of arch_prctl; an exit status

// Leaf 7: AVX512F, DQ, IFMA, PF, ER, CD, BW, VL in EBX; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ in ECX; 4VNNIW, 4FMAPS,
// VP2INTERSECT, AMX-BF16, AVX512-FP16, AMX-TILE, AMX-INT8 in EDX. Its subleaf 1: AVX-VNNI, AVX512-BF16, AMX-FP16,
// AVX-IFMA in EAX.
static const uint32_t kEbx = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31;
static const uint32_t kEcx = 1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14;
static const uint32_t kEdx = 1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25;
static const uint32_t kEax1 = 1u << 4 | 1u << 5 | 1u << 21 | 1u << 23;

static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  static int (*next)(int, const struct sigaction *, struct sigaction *);
  if (!next)
    next = dlsym(RTLD_NEXT, "sigaction");
  return next(number, action, old);
}

static void on_fault(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)registers[REG_RIP];
  (void)info;
  if (code[0] != 0x0f || code[1] != 0xa2) { // no CPUID: a fault of the program's own
    struct sigaction ends = {.sa_handler = SIG_DFL};
    real_sigaction(number, &ends, NULL);
    return;
  }
  uint32_t leaf = (uint32_t)registers[REG_RAX], subleaf = (uint32_t)registers[REG_RCX], a, b, c, d;
  syscall(SYS_arch_prctl, kSetCpuid, 1);
  __cpuid_count(leaf, subleaf, a, b, c, d);
  syscall(SYS_arch_prctl, kSetCpuid, 0);
  if (leaf == 7 && subleaf == 0)
    b &= ~kEbx, c &= ~kEcx, d &= ~kEdx;
  if (leaf == 7 && subleaf == 1)
    a &= ~kEax1;
  registers[REG_RAX] = a, registers[REG_RBX] = b, registers[REG_RCX] = c, registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

// The program keeps its other handlers; one for SIGSEGV would take the faults from us.
int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  return real_sigaction(number, number == SIGSEGV ? NULL : action, old);
}

__attribute__((constructor)) static void start(void) {
  struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (real_sigaction(SIGSEGV, &ours, NULL) != 0 || syscall(SYS_arch_prctl, kSetCpuid, 0) != 0) {
    fprintf(stderr, "avx2_only: this processor or system cannot make CPUID fault\n");
    _exit(kCannotHide);
  }
}
