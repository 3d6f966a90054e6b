//===- Matrices.cpp - What kernels of tiles call --------------------------===//
//
// Asynchronous copies, matrices out of shared memory, and their product. A unit adds
// 16 products and the sum before them in an order of its own; here either one
// after the other, each rounded, or all at once and cut off, as is reported of
// hardware. What is computed must be good in both.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Kernel.h"

#include "test/Emulator/Block.h"

#include <algorithm>
#include <cmath>
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

void hdemu_ldmatrix_sync_aligned_m8n8_x4_b16_p3(int *out, const char *row) {
  Block &block = runningBlock();
  auto offset = uint64_t(row - block.shared());
  if (offset % 16 || offset >= 1 << 20)
    block.fail("loads a row of a matrix that is not in shared memory at 16 bytes");
  const Brought &rows = block.gather(Meeting::Rows, ~0u, {uint32_t(offset)});
  uint32_t lane = block.thread() % 32;
  for (uint32_t matrix = 0; matrix < 4; ++matrix) {
    const char *from = block.shared() + rows[8 * matrix + lane / 4][0] + 4 * (lane % 4);
    block.touch(from, 4, false);
    memcpy(out + matrix, from, 4);
  }
}

/// The bf16 in the lower or the upper half of a word.
static float half(uint32_t word, uint32_t upper) {
  uint32_t bits = upper ? word & 0xffff0000u : word << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/// All terms in units of the last place of the largest, what is below them cut
/// off, and so the sum.
static float chopped(const float (&terms)[17]) {
  int top = -200;
  for (float term : terms) {
    if (!std::isfinite(term))
      return std::nanf("");
    if (term != 0)
      top = std::max(top, std::ilogb(term));
  }
  double unit = std::ldexp(1.0, top - 23), sum = 0;
  for (float term : terms)
    sum += std::trunc(double(term) / unit) * unit;
  auto rounded = float(sum);
  return std::fabs(double(rounded)) > std::fabs(sum) ? std::nextafter(rounded, 0.0f) : rounded;
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
    float terms[17] = {sums[i]}, chain = sums[i];
    for (uint32_t k = 0; k < 16; ++k) {
      uint32_t place = k % 8 / 2;
      float a = half(lanes[row % 8 * 4 + place][row / 8 + 2 * (k / 8)], k % 2);
      float b = half(lanes[column * 4 + place][4 + k / 8], k % 2);
      terms[k + 1] = a * b;
      chain = std::fma(a, b, chain);
    }
    out[i] = block.chops() && std::isfinite(chain) ? chopped(terms) : chain;
  }
}
