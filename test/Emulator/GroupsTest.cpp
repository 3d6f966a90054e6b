//===- GroupsTest.cpp - What groups of warps ask for ----------------------===//
//
// Kernels written by hand: copies in bulk and the barriers that they tell,
// products under way and settled, and each way to ask for them wrongly.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Block.h"
#include "test/Emulator/Kernel.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle::emulator;

namespace {

constexpr int kThreads = 128, kColumns = 16, kHalves = 16;
constexpr int kLeft = 64 * kHalves * 2, kRight = kColumns * kHalves * 2; ///< bytes of the sides of one unit
constexpr int kBarriers = 2 * (kLeft + kRight);                          ///< where they are in shared memory
constexpr int kOut = 16384;                                              ///< where results are in the arena

/// What a kernel does otherwise than it should.
enum Wrong : int64_t {
  Right,
  NoFence,
  NoCommit,
  NoWait,
  NoSettle,
  WrongStride,
  WrongLeading,
  WrongOrder,
  NoInitFence,
  FewBytes,
  ManyBytes,
  NoPhase,
  OddBytes,
  OtherColumns,
  Beyond,
  Generic,
  Reused,
  StaleFence,
  OneArrival,
  EarlyShow,
  OtherThreadShows,
  LateAnnounce,
  Overwritten,
  Shown,
};

uint16_t halfOf(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return uint16_t(bits >> 16);
}
float left(int round, int row, int k) { return float((5 * row + 3 * k + round) % 17 - 8); }
float right(int round, int column, int k) { return float((7 * k + 2 * column + round) % 13 - 6) / 4; }

/// Two rounds of both sides as units want them: 8 x 8 matrices, along rows first.
void fillArena(char *arena) {
  for (int round = 0; round < 2; ++round)
    for (int k = 0; k < kHalves; ++k) {
      auto *sides = reinterpret_cast<uint16_t *>(arena + round * (kLeft + kRight));
      for (int row = 0; row < 64; ++row)
        sides[(k / 8 * 64 + row) * 8 + k % 8] = halfOf(left(round, row, k));
      for (int column = 0; column < kColumns; ++column)
        sides[kLeft / 2 + (k / 8 * kColumns + column) * 8 + k % 8] = halfOf(right(round, column, k));
    }
}

std::string run(heddle_kernel_fn kernel, const char *text, std::vector<float> &values, int64_t i = Right,
                int64_t j = 0) {
  Options options;
  EXPECT_EQ(Options::parse(text, options), "");
  Memory memory(1 << 20);
  Block block(options, memory);
  char *arena = memory.allocate(32768);
  memory.open();
  fillArena(arena);
  Launch launch = {};
  launch.name = "k";
  launch.function = kernel;
  launch.grid = 2;
  launch.threads = kThreads;
  launch.shared = kBarriers + 16;
  launch.arena = arena;
  launch.i = i;
  launch.j = j;
  std::string error = block.run(launch);
  auto *out = reinterpret_cast<float *>(arena + kOut);
  values.assign(out, out + 64 * kColumns);
  return error;
}

#define KERNEL(name)                                                                                                   \
  void name(heddle_failure *, const int64_t *, void *const *, [[maybe_unused]] char *arena, const char *,              \
            [[maybe_unused]] int64_t i, [[maybe_unused]] int64_t j, const int64_t *)

void makeBarriers(int64_t wrong) {
  if (hdemu_read_ptx_sreg_tid_x() == 0) {
    hdemu_mbarrier_init_shared(hdemu_shared() + kBarriers, wrong == OneArrival ? 2 : 1);
    hdemu_mbarrier_init_shared(hdemu_shared() + kBarriers + 8, 1);
    if (wrong != NoInitFence)
      hdemu_fence_mbarrier_init_release_cluster();
  }
  hdemu_barrier_cta_sync_aligned_all(0);
}

/// Round `round` into a slot, by thread 0.
void ask(char *arena, int round, int slot, int64_t wrong) {
  if (hdemu_read_ptx_sreg_tid_x() != 0)
    return;
  char *barrier = hdemu_shared() + kBarriers + 8 * slot;
  int bytes = kLeft + kRight;
  if (wrong == LateAnnounce)
    hdemu_cp_async_bulk_global_to_shared_cluster(hdemu_shared() + slot * bytes, barrier, arena + round * bytes, bytes,
                                                 0, 0, false, false);
  hdemu_mbarrier_arrive_expect_tx_scope_cta_space_cta(barrier, bytes + (wrong == FewBytes    ? -16
                                                                        : wrong == ManyBytes ? 16
                                                                                             : 0));
  hdemu_cp_async_bulk_global_to_shared_cluster(hdemu_shared() + slot * bytes, barrier, arena + round * bytes,
                                               wrong == OddBytes ? bytes - 8 : bytes, 0, 0, false, false);
}

int64_t descriptor(const char *at, int rows, int64_t wrong) {
  auto place = int64_t(reinterpret_cast<uintptr_t>(at) & 0x3ffff) >> 4;
  int64_t leading = wrong == WrongLeading ? 8 : rows, stride = wrong == WrongStride ? rows : 8;
  return place | leading << 16 | stride << 32 | (wrong == WrongOrder ? int64_t(1) << 62 : 0);
}

/// The sums of two rounds, the second asked for when the first is under way; with `j` the rounds take turns in one
/// slot.
KERNEL(products) {
  makeBarriers(i);
  char *shared = hdemu_shared();
  ask(arena, 0, 0, i);
  if (!j)
    ask(arena, 1, 1, Right);
  float sums[kColumns / 2];
  for (float &sum : sums)
    sum = 0.25f;
  for (int round = 0; round < 2; ++round) {
    int slot = j ? 0 : round;
    if (i != NoPhase)
      hdemu_mbarrier_wait(int64_t(reinterpret_cast<uintptr_t>(shared + kBarriers + 8 * slot)), j ? round : 0);
    char *begin = shared + slot * (kLeft + kRight);
    if (i == Generic && round == 0)
      hdemu_cp_async_ca_shared_global_4_s(begin + 4 * hdemu_read_ptx_sreg_tid_x(),
                                          arena + 4 * hdemu_read_ptx_sreg_tid_x(), 4);
    if (i == Generic) {
      hdemu_cp_async_commit_group();
      hdemu_cp_async_wait_group(0);
      hdemu_barrier_cta_sync_aligned_all(0);
    }
    if (i != NoFence && !(i == StaleFence && round))
      hdemu_wgmma_fence_sync_aligned();
    bool other = i == OtherColumns && round;
    hdemu_wgmma(sums, other ? 8 : kColumns, descriptor(begin, 64, i),
                descriptor(i == Beyond ? shared + kBarriers : begin + kLeft, kColumns, i));
    if (i != NoCommit)
      hdemu_wgmma_commit_group_sync_aligned();
    if (i == StaleFence)
      hdemu_wgmma_settle(sums, kColumns / 2);
    if (j && round == 0) {
      if (i != Reused)
        hdemu_wgmma_wait_group_sync_aligned(0);
      hdemu_barrier_cta_sync_aligned_all(0);
      ask(arena, 1, 0, Right);
    }
  }
  if (i != NoWait && i != NoSettle)
    hdemu_wgmma_settle(sums, kColumns / 2);
  if (i == NoSettle)
    hdemu_wgmma_wait_group_sync_aligned(0);
  int t = hdemu_read_ptx_sreg_tid_x();
  for (int n = 0; n < kColumns / 2; ++n) {
    int row = t / 32 * 16 + t % 32 / 4 + (n & 2) * 4, column = n / 4 * 8 + t % 4 * 2 + n % 2;
    memcpy(arena + kOut + 4 * (row * kColumns + column), sums + n, 4);
  }
}

bool areRight(const std::vector<float> &values) {
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < kColumns; ++column) {
      float sum = 0.25f;
      for (int round = 0; round < 2; ++round)
        for (int k = 0; k < kHalves; ++k)
          sum += left(round, row, k) * right(round, column, k); // exact
      if (values[size_t(row * kColumns + column)] != sum)
        return false;
    }
  return true;
}

constexpr const char *kModes[] = {"",
                                  "copies=early,products=early",
                                  "copies=early",
                                  "products=early",
                                  "copies=random,products=random,order=random,seed=4",
                                  "order=reverse",
                                  "mma=chop"};

TEST(Groups, ProductsAreRightWheneverTheyAreDone) {
  std::vector<float> values;
  for (const char *text : kModes)
    for (int slots : {0, 1}) {
      ASSERT_EQ(run(products, text, values, Right, slots), "") << text << slots;
      EXPECT_TRUE(areRight(values)) << text << slots;
      // Blocks write the same to one place, which no barrier orders.
      std::string race = run(products, (std::string("races,") + text).c_str(), values, Right, slots);
      EXPECT_TRUE(race.empty() || race.find("races") == std::string::npos || race.find("shared") == std::string::npos)
          << race;
    }
}

TEST(Groups, SumsThatAreTakenTooEarlyAreNone) {
  std::vector<float> values;
  for (const char *text : kModes) {
    EXPECT_NE(run(products, text, values, NoWait).find("under way"), std::string::npos) << text;
    ASSERT_EQ(run(products, text, values, NoSettle), "") << text;
    for (float value : values)
      EXPECT_TRUE(std::isnan(value)) << text;
  }
}

TEST(Groups, FencesAndGroupsAreMissed) {
  std::vector<float> values;
  EXPECT_NE(run(products, "", values, NoFence).find("no wgmma.fence"), std::string::npos);
  EXPECT_NE(run(products, "", values, NoCommit).find("not committed"), std::string::npos);
  EXPECT_NE(run(products, "", values, Generic).find("no fence.proxy.async"), std::string::npos);
}

TEST(Groups, AFenceIsForWhatIsBehindIt) {
  std::vector<float> values;
  EXPECT_NE(run(products, "", values, StaleFence).find("no wgmma.fence"), std::string::npos);
}

TEST(Groups, DescriptorsAreRead) {
  std::vector<float> values;
  ASSERT_EQ(run(products, "", values, WrongLeading), "");
  EXPECT_FALSE(areRight(values));
  std::string stride = run(products, "", values, WrongStride);
  EXPECT_TRUE(!stride.empty() || !areRight(values));
  EXPECT_NE(run(products, "", values, WrongOrder).find("no group of warps can"), std::string::npos);
  EXPECT_NE(run(products, "", values, Beyond).find("not in shared memory"), std::string::npos);
  EXPECT_NE(run(products, "", values, OtherColumns).find("mixes"), std::string::npos);
}

TEST(Groups, ASlotIsFilledWhileItIsRead) {
  std::vector<float> values;
  ASSERT_EQ(run(products, "copies=early", values, Reused, 1), "");
  EXPECT_FALSE(areRight(values));
}

TEST(Phases, CountBytesAndArrivals) {
  std::vector<float> values;
  EXPECT_NE(run(products, "", values, OneArrival).find("wait for each other"), std::string::npos);
  EXPECT_NE(run(products, "", values, FewBytes).find("than are announced"), std::string::npos);
  EXPECT_NE(run(products, "", values, ManyBytes).find("wait for each other"), std::string::npos);
  EXPECT_NE(run(products, "", values, OddBytes).find("do not fit"), std::string::npos);
}

TEST(Phases, BytesAreAnnouncedBeforeTheyAreAskedFor) {
  std::vector<float> values;
  for (const char *text : kModes)
    EXPECT_NE(run(products, text, values, LateAnnounce).find("than are announced so far"), std::string::npos) << text;
}

/// Thread `j` copies or stores (Generic) a word to where a copy in bulk then comes; it, or all others, show what they
/// did.
KERNEL(overwrites) {
  makeBarriers(Right);
  int t = hdemu_read_ptx_sreg_tid_x();
  char *there = hdemu_shared() + kLeft;
  if (t == j && i == Generic)
    hdemu_store(there, 4);
  else if (t == j)
    hdemu_cp_async_ca_shared_global_4_s(there, arena, 4);
  hdemu_cp_async_commit_group();
  hdemu_cp_async_wait_group(0);
  if (i == Shown || (i == OtherThreadShows && t != j))
    hdemu_fence_proxy_async();
  hdemu_barrier_cta_sync_aligned_all(0);
  ask(arena, 0, 0, Right);
  hdemu_mbarrier_wait(int64_t(reinterpret_cast<uintptr_t>(hdemu_shared() + kBarriers)), 0);
}

TEST(Phases, CopiesInBulkComeBehindWhatThreadsHaveShown) {
  std::vector<float> values;
  for (const char *text : kModes)
    for (int thread : {0, 127}) {
      EXPECT_EQ(run(overwrites, text, values, Shown, thread), "") << text;
      for (Wrong wrong : {Overwritten, OtherThreadShows})
        EXPECT_NE(run(overwrites, text, values, wrong, thread).find("over what threads wrote"), std::string::npos)
            << text;
    }
  EXPECT_EQ(run(overwrites, "", values, Overwritten, -1), "");
  // Plain stores are seen where races are watched.
  EXPECT_NE(run(overwrites, "races", values, Generic, 5).find("over what threads wrote"), std::string::npos);
}

TEST(Phases, AreWaitedFor) {
  std::vector<float> values;
  EXPECT_NE(run(products, "", values, NoPhase).find("copies in bulk are under way"), std::string::npos);
  EXPECT_NE(run(products, "", values, NoInitFence).find("no fence"), std::string::npos);
}

/// The right side of a round where a line has 8 columns of one k.
void turn(char *arena) {
  auto *side = reinterpret_cast<uint16_t *>(arena);
  for (int k = 0; k < kHalves; ++k)
    for (int column = 0; column < kColumns; ++column)
      side[(column / 8 * kHalves + k) * 8 + column % 8] = halfOf(right(0, column, k));
}

/// The sums of one round: threads hold the left side, and copy the right one, which units see when it is shown.
KERNEL(held) {
  int t = hdemu_read_ptx_sreg_tid_x();
  char *shared = hdemu_shared();
  if (t == 0)
    turn(arena + kLeft);
  hdemu_barrier_cta_sync_aligned_all(0);
  hdemu_cp_async_ca_shared_global_4_s(shared + 4 * t, arena + kLeft + 4 * t, 4);
  hdemu_cp_async_commit_group();
  if (i == EarlyShow)
    hdemu_fence_proxy_async();
  hdemu_cp_async_wait_group(0);
  if (i != EarlyShow && i != Generic && !(i == OtherThreadShows && t % 2))
    hdemu_fence_proxy_async();
  hdemu_barrier_cta_sync_aligned_all(0);
  int words[4];
  for (int w = 0; w < 4; ++w) {
    int row = t / 32 * 16 + t % 32 / 4 + (w & 1) * 8, k = w / 2 * 8 + t % 4 * 2;
    words[w] = int(halfOf(left(0, row, k)) | uint32_t(halfOf(left(0, row, k + 1))) << 16);
  }
  float sums[kColumns / 2];
  for (float &sum : sums)
    sum = 0.25f;
  int64_t right = int64_t(reinterpret_cast<uintptr_t>(shared) & 0x3ffff) >> 4 | int64_t(8) << 16 |
                  int64_t(i == WrongStride ? 8 : kHalves) << 32;
  if (i != NoFence)
    hdemu_wgmma_fence_sync_aligned();
  hdemu_wgmma_held(sums, kColumns, words[0], words[1], words[2], words[3], right);
  hdemu_wgmma_commit_group_sync_aligned();
  hdemu_wgmma_settle(sums, kColumns / 2);
  for (int n = 0; n < kColumns / 2; ++n) {
    int row = t / 32 * 16 + t % 32 / 4 + (n & 2) * 4, column = n / 4 * 8 + t % 4 * 2 + n % 2;
    memcpy(arena + kOut + 4 * (row * kColumns + column), sums + n, 4);
  }
}

bool isRound(const std::vector<float> &values) {
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < kColumns; ++column) {
      float sum = 0.25f;
      for (int k = 0; k < kHalves; ++k)
        sum += left(0, row, k) * right(0, column, k); // exact
      if (values[size_t(row * kColumns + column)] != sum)
        return false;
    }
  return true;
}

TEST(Groups, ThreadsHoldTheLeftSide) {
  std::vector<float> values;
  for (const char *text : kModes) {
    ASSERT_EQ(run(held, text, values), "") << text;
    EXPECT_TRUE(isRound(values)) << text;
  }
  ASSERT_EQ(run(held, "", values, WrongStride), "");
  EXPECT_FALSE(isRound(values));
  EXPECT_NE(run(held, "", values, NoFence).find("no wgmma.fence"), std::string::npos);
}

TEST(Groups, WhatIsCopiedIsShownToUnits) {
  std::vector<float> values;
  for (const char *text : kModes)
    for (Wrong wrong : {Generic, EarlyShow, OtherThreadShows})
      EXPECT_NE(run(held, text, values, wrong).find("no fence.proxy.async"), std::string::npos) << text << wrong;
}

} // namespace
