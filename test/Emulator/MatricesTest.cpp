//===- MatricesTest.cpp - What kernels of tiles call ----------------------===//
//
// Kernels written by hand: copies that are late or early, matrices out of shared
// memory, and a product against one that is written down.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Block.h"
#include "test/Emulator/Kernel.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle::emulator;

namespace {

constexpr int kFloats = 4096;

/// Runs a kernel of one block on an arena in which float i is i / 2.
std::string run(heddle_kernel_fn kernel, const char *text, uint32_t threads, std::vector<float> &values, int64_t i = 0,
                int64_t j = 0) {
  Options options;
  EXPECT_EQ(Options::parse(text, options), "");
  Memory memory(1 << 20);
  Block block(options, memory);
  char *arena = memory.allocate(4 * kFloats);
  memory.open();
  for (int n = 0; n < kFloats; ++n)
    reinterpret_cast<float *>(arena)[n] = float(n) / 2;
  Launch launch = {};
  launch.name = "k";
  launch.function = kernel;
  launch.grid = 1;
  launch.threads = threads;
  launch.shared = 4096;
  launch.arena = arena;
  launch.i = i;
  launch.j = j;
  std::string error = block.run(launch);
  values.assign(reinterpret_cast<float *>(arena), reinterpret_cast<float *>(arena) + kFloats);
  return error;
}

#define KERNEL(name)                                                                                                   \
  void name(heddle_failure *, const int64_t *, void *const *, [[maybe_unused]] char *arena, const char *,              \
            [[maybe_unused]] int64_t i, [[maybe_unused]] int64_t j, const int64_t *)

/// Thread t copies four floats (12 bytes of them where t is odd), one group a round of two, and gives what another
/// thread copied in the first. `i` groups may be pending at the wait; with j there is no barrier behind it.
KERNEL(copies) {
  int t = hdemu_read_ptx_sreg_tid_x(), n = hdemu_read_ptx_sreg_ntid_x();
  for (int round = 0; round < 2; ++round) {
    hdemu_cp_async_cg_shared_global_16_s(hdemu_shared() + 16 * (round * n + t), arena + 16 * (round * n + t),
                                         t % 2 ? 12 : 16);
    hdemu_cp_async_commit_group();
  }
  hdemu_cp_async_wait_group(int(i));
  if (!j)
    hdemu_barrier_cta_sync_aligned_all(0);
  const char *from = hdemu_shared() + 16 * (n - 1 - t);
  hdemu_load(from, 16);
  memcpy(arena + 8192 + 16 * t, from, 16);
  hdemu_cp_async_wait_group(0);
}

TEST(Matrices, CopiesAreThereWhenTheyAreWaitedFor) {
  std::vector<float> values;
  for (const char *text : {"races", "copies=early,races", "copies=random,seed=7,order=random", "order=reverse"}) {
    ASSERT_EQ(run(copies, text, 64, values, 1), "") << text;
    for (int t = 0; t < 64; ++t)
      for (int k = 0; k < 4; ++k)
        EXPECT_EQ(values[size_t(2048 + 4 * t + k)], (63 - t) % 2 && k == 3 ? 0 : float(4 * (63 - t) + k) / 2)
            << text << t;
  }
  // Waiting for all but two waits for nothing: late copies are not there, early ones are.
  ASSERT_EQ(run(copies, "", 64, values, 2), "");
  EXPECT_TRUE(std::isnan(values[2048 + 4 * 63]));
  ASSERT_EQ(run(copies, "copies=early", 64, values, 2), "");
  EXPECT_EQ(values[2048 + 4 * 63], 0);
  // Each thread waits for its own copies only.
  std::string race = run(copies, "races", 64, values, 0, 1);
  EXPECT_NE(race.find("races"), std::string::npos) << race;
}

KERNEL(forgets) {
  int t = hdemu_read_ptx_sreg_tid_x();
  hdemu_cp_async_ca_shared_global_4_s(hdemu_shared() + 4 * t, arena + 4 * t, 4);
  hdemu_cp_async_commit_group();
}
KERNEL(crooked) { hdemu_cp_async_cg_shared_global_16_s(hdemu_shared(), arena + 4, 16); }
/// Zeros from the last float of the arena on, of which 4 bytes are there, or from 64 bytes behind it.
KERNEL(zeros) {
  hdemu_cp_async_ca_shared_global_4_s(hdemu_shared(), arena + 4 * kFloats + 16 * int(i) - 4, 0);
  hdemu_cp_async_commit_group();
  hdemu_cp_async_wait_group(0);
}
KERNEL(beyond) { hdemu_cp_async_ca_shared_global_4_s(hdemu_shared() + 4096, arena, 4); }

TEST(Matrices, CopiesThatFail) {
  std::vector<float> values;
  EXPECT_NE(run(forgets, "", 32, values).find("under way"), std::string::npos);
  EXPECT_NE(run(crooked, "", 32, values).find("do not fit"), std::string::npos);
  EXPECT_EQ(run(zeros, "", 32, values, 0), "");
  EXPECT_NE(run(zeros, "", 32, values, 4).find("in no allocation"), std::string::npos);
  EXPECT_NE(run(zeros, "copies=early", 32, values, -4096).find("in no allocation"), std::string::npos);
  EXPECT_NE(run(beyond, "copies=early", 32, values).find("do not fit"), std::string::npos);
}

/// Rows of 8 halves (16 bytes) of four matrices, row r of matrix m at 128 (3 - m) + 16 r of shared memory.
KERNEL(matrices) {
  int lane = hdemu_read_ptx_sreg_laneid(), out[4];
  memcpy(hdemu_shared() + 16 * lane, arena + 16 * lane, 16);
  hdemu_bar_warp_sync(-1);
  hdemu_ldmatrix_sync_aligned_m8n8_x4_b16_p3(out,
                                             hdemu_shared() + 128 * (3 - lane / 8) + 16 * (lane % 8) + (i ? 4 : 0));
  for (int m = 0; m < 4; ++m)
    memcpy(arena + 8192 + 4 * (32 * m + lane), out + m, 4);
}

TEST(Matrices, RowsAreDealtToLanes) {
  std::vector<float> values;
  for (const char *text : {"", "order=reverse", "order=random,seed=2"}) {
    ASSERT_EQ(run(matrices, text, 32, values), "");
    for (int m = 0; m < 4; ++m)
      for (int lane = 0; lane < 32; ++lane)
        EXPECT_EQ(values[size_t(2048 + 32 * m + lane)], float(32 * (3 - m) + lane) / 2);
  }
  EXPECT_NE(run(matrices, "", 32, values, 1).find("16 bytes"), std::string::npos);
}

/// Half (row, column) of 8 x 32 is 100 row + column; matrix m has columns 8 m .. 8 m + 7.
KERNEL(turned) {
  int lane = hdemu_read_ptx_sreg_laneid(), out[4];
  for (int n = lane; n < 256; n += 32) {
    auto half = uint16_t(100 * (n / 32) + n % 32);
    memcpy(hdemu_shared() + 2 * n, &half, 2);
  }
  hdemu_bar_warp_sync(-1);
  hdemu_ldmatrix_sync_aligned_m8n8_x4_trans_b16_p3(out, hdemu_shared() + 64 * (lane % 8) + 16 * (lane / 8));
  for (int m = 0; m < 4; ++m)
    memcpy(arena + 8192 + 4 * (32 * m + lane), out + m, 4);
}

TEST(Matrices, ColumnsAreDealtToLanesWhereTheyAreTurned) {
  std::vector<float> values;
  for (const char *text : {"", "order=reverse", "order=random,seed=2", "races"}) {
    ASSERT_EQ(run(turned, text, 32, values), "");
    for (int m = 0; m < 4; ++m)
      for (int lane = 0; lane < 32; ++lane) {
        uint16_t halves[2];
        memcpy(halves, &values[size_t(2048 + 32 * m + lane)], 4);
        for (int half = 0; half < 2; ++half)
          EXPECT_EQ(halves[half], 100 * (2 * (lane % 4) + half) + 8 * m + lane / 4) << text << m << lane;
      }
  }
}

int pairOf(float even, float odd) {
  uint32_t low, high;
  memcpy(&low, &even, 4);
  memcpy(&high, &odd, 4);
  return int(low >> 16 | (high & 0xffff0000u));
}
float left(int row, int k) { return float((5 * row + 3 * k) % 17 - 8); }
float right(int k, int column) { return float((7 * k + 2 * column) % 13 - 6) / 4; }

/// The registers are those of the PTX manual (mma.m16n8k16): groupID = lane / 4, threadID_in_group = lane % 4.
KERNEL(product) {
  int lane = hdemu_read_ptx_sreg_laneid(), group = lane / 4, in = lane % 4;
  int a[4], b[2];
  for (int r = 0; r < 4; ++r) {
    int row = group + (r % 2 ? 8 : 0), k = 2 * in + (r >= 2 ? 8 : 0);
    a[r] = pairOf(left(row, k), left(row, k + 1));
  }
  for (int r = 0; r < 2; ++r) {
    int k = 2 * in + (r ? 8 : 0);
    b[r] = pairOf(right(k, group), right(k + 1, group));
  }
  float out[4], big = i ? 16777216.0f : 0.25f;
  hdemu_mma_m16n8k16_row_col_bf16(out, a[0], a[1], a[2], a[3], b[0], b[1], big, big, big, big);
  for (int r = 0; r < 4; ++r) {
    int row = group + (r >= 2 ? 8 : 0), column = 2 * in + r % 2;
    memcpy(arena + 4 * (8 * row + column), out + r, 4);
  }
}

TEST(Matrices, UnitsMultiply) {
  std::vector<float> values;
  for (const char *text : {"", "mma=chop", "order=reverse", "order=random,seed=2"}) {
    ASSERT_EQ(run(product, text, 32, values), "");
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        float sum = 0.25f;
        for (int k = 0; k < 16; ++k)
          sum += left(row, k) * right(k, column); // exact
        EXPECT_EQ(values[size_t(8 * row + column)], sum) << text;
      }
  }
  // Beside 2^24 quarters are cut off at once, or rounded one by one.
  std::vector<float> cut;
  ASSERT_EQ(run(product, "", 32, values, 1), "");
  ASSERT_EQ(run(product, "mma=chop", 32, cut, 1), "");
  int other = 0;
  for (size_t n = 0; n < 128; ++n) {
    EXPECT_NEAR(values[n], cut[n], 32);
    other += values[n] != cut[n];
  }
  EXPECT_GT(other, 0);
}

} // namespace
