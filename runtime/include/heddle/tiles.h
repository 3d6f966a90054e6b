//===- tiles.h - Whether a process may use matrix registers -----*- C++ -*-===//
//
// Matrix registers (AMX) are 8 KB that the system saves of every thread that uses
// them, so Linux wants to be asked, once a process. The runtime asks before it runs
// code that needs them, the compiler before it makes such code for this machine.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TILES_H
#define HEDDLE_RUNTIME_TILES_H

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace heddle {

/// Whether all threads of this process may use them; false where the processor has none, or an old system.
inline bool mayUseTiles() {
#if defined(__x86_64__)
  constexpr long requestPermission = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, the bit of XCR0
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_TILES_H
