//===- Kernel.cpp - What emulated kernels call ----------------------------===//
//
// Kernels are the LLVM IR that NVPTX is given, compiled for this processor with
// llvm.nvvm.X.Y written hdemu_X_Y. Atomics are instructions of LLVM and need
// nothing here. Kernels compiled to be watched call hdemu_load and hdemu_store
// before every access to global or shared memory.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Kernel.h"

#include "test/Emulator/Machine.h"

#include <cstring>

using namespace heddle::emulator;

/// Programs know heddle_emulator as a weak symbol, which takes nothing out of an
/// archive; whoever has emulated kernels gets it by this.
[[gnu::used]] static Machine *(*const theDriver)() = machine;

int hdemu_read_ptx_sreg_tid_x(void) { return int(runningBlock().thread()); }
int hdemu_read_ptx_sreg_ntid_x(void) { return int(runningBlock().launch().threads); }
int hdemu_read_ptx_sreg_ctaid_x(void) { return int(runningBlock().number()); }
int hdemu_read_ptx_sreg_nctaid_x(void) { return int(runningBlock().launch().grid); }
int hdemu_read_ptx_sreg_laneid(void) { return int(runningBlock().thread() % 32); }

/// `clamp` is 31 for whole warps, the only ones that are generated.
static uint32_t shuffle(int mask, uint32_t value, int from, int clamp) {
  if (clamp != 31 || from < 0 || from > 31)
    runningBlock().fail("shuffles from a lane outside of its warp");
  return runningBlock().meet(Meeting::Shuffle, uint32_t(mask), value, uint32_t(from));
}

int hdemu_shfl_sync_bfly_i32(int mask, int v, int lanes, int clamp) {
  return int(shuffle(mask, uint32_t(v), hdemu_read_ptx_sreg_laneid() ^ lanes, clamp));
}

int hdemu_shfl_sync_idx_i32(int mask, int v, int lane, int clamp) {
  return int(shuffle(mask, uint32_t(v), lane, clamp));
}

/// Numbers pass as their bits.
static float shuffleBits(int (*shuffled)(int, int, int, int), int mask, float v, int lane, int clamp) {
  int bits;
  memcpy(&bits, &v, 4);
  bits = shuffled(mask, bits, lane, clamp);
  memcpy(&v, &bits, 4);
  return v;
}

float hdemu_shfl_sync_bfly_f32(int mask, float v, int lanes, int clamp) {
  return shuffleBits(hdemu_shfl_sync_bfly_i32, mask, v, lanes, clamp);
}

float hdemu_shfl_sync_idx_f32(int mask, float v, int lane, int clamp) {
  return shuffleBits(hdemu_shfl_sync_idx_i32, mask, v, lane, clamp);
}

void hdemu_bar_warp_sync(int mask) {
  Block &block = runningBlock();
  block.meet(Meeting::Sync, uint32_t(mask), 0, block.thread() % 32);
}

void hdemu_barrier_cta_sync_aligned_all(int barrier) {
  if (barrier != 0)
    runningBlock().fail("waits at a barrier other than 0");
  runningBlock().barrier();
}

bool hdemu_barrier_cta_red_or_aligned_all(int barrier, bool mine) {
  if (barrier != 0)
    runningBlock().fail("waits at a barrier other than 0");
  return runningBlock().barrierOr(mine);
}

char *hdemu_shared(void) { return runningBlock().shared(); }

void hdemu_load(const void *p, int bytes) { runningBlock().touch(p, uint64_t(bytes), false); }

void hdemu_store(const void *p, int bytes) { runningBlock().touch(p, uint64_t(bytes), true); }
