//===- Matrices.cpp - What kernels of tiles call --------------------------===//
//
// Asynchronous copies, matrices out of shared memory, and their product.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Kernel.h"

#include "test/Emulator/Block.h"
#include "test/Emulator/Units.h"

#include <cstring>

using namespace heddle::emulator;

void hdemu_cp_async_ca_shared_global_4_s(char *to, const char *from, int bytes) {
  runningBlock().copyAsync(to, from, uint32_t(bytes), 4);
}

void hdemu_cp_async_cg_shared_global_16_s(char *to, const char *from, int bytes) {
  runningBlock().copyAsync(to, from, uint32_t(bytes), 16);
}

void hdemu_cp_async_commit_group(void) { runningBlock().endGroup(); }

void hdemu_cp_async_wait_group(int pending) { runningBlock().waitGroups(uint32_t(pending)); }

/// Where the 32 rows begin that the lanes of a warp name.
static const Brought &rowsOfMatrices(Block &block, const char *row) {
  auto offset = uint64_t(row - block.shared());
  if (offset % 16 || offset >= 1 << 20)
    block.fail("loads a row of a matrix that is not in shared memory at 16 bytes");
  return block.gather(Meeting::Rows, ~0u, {uint32_t(offset)});
}

void hdemu_ldmatrix_sync_aligned_m8n8_x4_b16_p3(int *out, const char *row) {
  Block &block = runningBlock();
  const Brought &rows = rowsOfMatrices(block, row);
  uint32_t lane = block.thread() % 32;
  for (uint32_t matrix = 0; matrix < 4; ++matrix) {
    const char *from = block.shared() + rows[8 * matrix + lane / 4][0] + 4 * (lane % 4);
    block.touch(from, 4, false);
    memcpy(out + matrix, from, 4);
  }
}

void hdemu_ldmatrix_sync_aligned_m8n8_x4_trans_b16_p3(int *out, const char *row) {
  Block &block = runningBlock();
  const Brought &rows = rowsOfMatrices(block, row);
  uint32_t lane = block.thread() % 32;
  for (uint32_t matrix = 0; matrix < 4; ++matrix)
    for (uint32_t half = 0; half < 2; ++half) {
      const char *from = block.shared() + rows[8 * matrix + 2 * (lane % 4) + half][0] + 2 * (lane / 4);
      block.touch(from, 2, false);
      memcpy(reinterpret_cast<char *>(out + matrix) + 2 * half, from, 2);
    }
}

void hdemu_mma_m16n8k16_row_col_bf16(float *out, int a0, int a1, int a2, int a3, int b0, int b1, float c0, float c1,
                                     float c2, float c3) {
  Block &block = runningBlock();
  const Brought &lanes = block.gather(
      Meeting::Product, ~0u, {uint32_t(a0), uint32_t(a1), uint32_t(a2), uint32_t(a3), uint32_t(b0), uint32_t(b1)});
  uint32_t lane = block.thread() % 32;
  const float sums[4] = {c0, c1, c2, c3};
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
    float a[kUnit], b[kUnit];
    for (uint32_t k = 0; k < kUnit; ++k) {
      uint32_t place = k % 8 / 2;
      a[k] = half(lanes[row % 8 * 4 + place][row / 8 + 2 * (k / 8)], k % 2);
      b[k] = half(lanes[column * 4 + place][4 + k / 8], k % 2);
    }
    out[i] = addProducts(sums[i], a, b, block.chops());
  }
}
