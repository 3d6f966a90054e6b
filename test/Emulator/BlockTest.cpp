//===- BlockTest.cpp - Threads of emulated kernels ------------------------===//
//
// Kernels written by hand: lanes meet, blocks run in any order, races and waits
// without end are found.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Block.h"
#include "test/Emulator/Kernel.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace heddle::emulator;

namespace {

/// A device of one MiB with one allocation of floats, which kernels get as arena.
struct Bench {
  static constexpr int kFloats = 4096;
  Options options;
  Memory memory;
  Block block;
  float *values;

  explicit Bench(const char *text = "")
      : options(parsed(text)), memory(1 << 20), block(options, memory),
        values(reinterpret_cast<float *>(memory.allocate(4 * kFloats))) {
    memory.open();
  }
  static Options parsed(const char *text) {
    Options options;
    EXPECT_EQ(Options::parse(text, options), "");
    return options;
  }
  std::string run(heddle_kernel_fn kernel, uint32_t grid, uint32_t threads, uint64_t shared = 0, int64_t i = 0,
                  int64_t j = 0) {
    Launch launch = {};
    launch.name = "k";
    launch.function = kernel;
    launch.grid = grid;
    launch.threads = threads;
    launch.shared = shared;
    launch.arena = reinterpret_cast<char *>(values);
    launch.i = i;
    launch.j = j;
    return block.run(launch);
  }
};

#define KERNEL(name)                                                                                                   \
  void name(heddle_failure *, const int64_t *, void *const *, [[maybe_unused]] char *arena, const char *,              \
            [[maybe_unused]] int64_t i, [[maybe_unused]] int64_t j, const int64_t *)

int place() { return hdemu_read_ptx_sreg_ctaid_x() * hdemu_read_ptx_sreg_ntid_x() + hdemu_read_ptx_sreg_tid_x(); }
float *floats(char *arena) { return reinterpret_cast<float *>(arena); }

/// Every warp's sum over its lanes, in the tree that kernels use.
KERNEL(sums) {
  float v = float(place());
  for (int lanes = 16; lanes; lanes /= 2)
    v += hdemu_shfl_sync_bfly_f32(-1, v, lanes, 31);
  floats(arena)[place()] = v;
}

TEST(Block, LanesMeetAtShuffles) {
  for (const char *order : {"order=forward", "order=reverse", "order=random,seed=1", "order=random,seed=2"}) {
    Bench bench(order);
    ASSERT_EQ(bench.run(sums, 3, 64), "");
    for (int t = 0; t < 3 * 64; ++t)
      EXPECT_EQ(bench.values[t], float(t / 32 * 32 * 32 + 31 * 16)) << order << t;
    EXPECT_TRUE(std::isnan(bench.values[3 * 64]));
  }
}

/// What lane (7 * lane + 3) % 32 holds, as an int and as a float.
KERNEL(gather) {
  int lane = hdemu_read_ptx_sreg_laneid();
  int from = (7 * lane + 3) % 32;
  int whole = hdemu_shfl_sync_idx_i32(-1, 100 + lane, from, 31);
  floats(arena)[lane] = float(whole) + hdemu_shfl_sync_idx_f32(-1, 0.5f * float(lane), from, 31);
}

TEST(Block, ShufflesByIndex) {
  Bench bench("order=random,seed=9");
  ASSERT_EQ(bench.run(gather, 1, 32), "");
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(bench.values[lane], float(100 + 1.5 * ((7 * lane + 3) % 32)));
}

/// The order in which threads come: each takes the next number.
KERNEL(arrive) {
  float &next = floats(arena)[Bench::kFloats - 1];
  if (std::isnan(next))
    next = 0;
  floats(arena)[place()] = next++;
}

TEST(Block, OrderOfBlocksAndThreads) {
  auto orderOf = [](const char *text) {
    Bench bench(text);
    EXPECT_EQ(bench.run(arrive, 4, 32), "");
    std::vector<int> order(4 * 32);
    for (int t = 0; t < 4 * 32; ++t)
      order[size_t(bench.values[t])] = t;
    return order;
  };
  std::vector<int> forward = orderOf(""), reverse = orderOf("order=reverse");
  for (int t = 0; t < 4 * 32; ++t) {
    EXPECT_EQ(forward[t], t);
    EXPECT_EQ(reverse[t], 4 * 32 - 1 - t);
  }
  std::set<std::vector<int>> random;
  for (const char *seed : {"1", "2", "3", "4"}) {
    std::string text = "order=random,seed=" + std::string(seed);
    random.insert(orderOf(text.c_str()));
    EXPECT_EQ(orderOf(text.c_str()), orderOf(text.c_str()));
  }
  EXPECT_EQ(random.size(), 4u);
}

/// Through shared memory: thread t gets what thread n - 1 - t brought.
KERNEL(mirror) {
  int n = hdemu_read_ptx_sreg_ntid_x(), t = hdemu_read_ptx_sreg_tid_x();
  auto *shared = reinterpret_cast<float *>(hdemu_shared());
  bool fresh = std::isnan(shared[t]);
  hdemu_barrier_cta_sync_aligned_all(0);
  hdemu_store(shared + t, 4);
  shared[t] = fresh ? float(place()) : -1;
  if (!i)
    hdemu_barrier_cta_sync_aligned_all(0);
  hdemu_load(shared + n - 1 - t, 4);
  floats(arena)[place()] = shared[n - 1 - t];
}

TEST(Block, ThreadsMeetAtBarriers) {
  for (const char *order : {"races", "order=reverse,races", "order=random,seed=3,races"}) {
    Bench bench(order);
    ASSERT_EQ(bench.run(mirror, 2, 128, 4 * 128), "");
    for (int t = 0; t < 2 * 128; ++t)
      EXPECT_EQ(bench.values[t], float(t / 128 * 128 + 127 - t % 128));
    // Without the second barrier.
    std::string race = bench.run(mirror, 2, 128, 4 * 128, 1);
    EXPECT_NE(race.find("shared memory"), std::string::npos) << race;
  }
}

/// Thread i says yes at the first of three votes, thread j at the last one; what each thread heard, as bits.
KERNEL(votes) {
  int t = hdemu_read_ptx_sreg_tid_x(), heard = 0;
  heard |= hdemu_barrier_cta_red_or_aligned_all(0, t == i) ? 1 : 0;
  heard |= hdemu_barrier_cta_red_or_aligned_all(0, false) ? 2 : 0;
  heard |= hdemu_barrier_cta_red_or_aligned_all(0, t == j) ? 4 : 0;
  floats(arena)[place()] = float(heard);
}

TEST(Block, ThreadsVoteAtBarriers) {
  for (const char *order : {"", "order=reverse", "order=random,seed=3"}) {
    Bench bench(order);
    for (auto [first, last, heard] : {std::array{127, 200, 1}, {200, 0, 4}, {3, 40, 5}, {200, 200, 0}}) {
      ASSERT_EQ(bench.run(votes, 2, 128, 0, first, last), "");
      for (int t = 0; t < 2 * 128; ++t)
        EXPECT_EQ(bench.values[t], float(heard)) << order << t;
    }
  }
}

/// Warps write every fourth word; with i, another warp's words.
KERNEL(crossing) {
  int team = place() / 32, lane = hdemu_read_ptx_sreg_laneid();
  float *mine = floats(arena) + 32 * team + lane;
  hdemu_store(mine, 4);
  *mine = 1;
  float *other = floats(arena) + (i == 1 ? 32 * (team ^ 1) + lane : i == 2 ? 32 * team + (lane ^ 1) : 32 * team + lane);
  if (j == 1)
    hdemu_bar_warp_sync(-1);
  if (j == 2)
    hdemu_shfl_sync_bfly_i32(-1, 0, 1, 31);
  hdemu_load(other, 4);
  floats(arena)[2048 + place()] = *other;
}

TEST(Block, RacesBetweenWarpsAndLanes) {
  Bench bench("races");
  // Its own word; another warp's; another lane's, with and without a sync.
  EXPECT_EQ(bench.run(crossing, 2, 32, 0, 0), "");
  std::string warps = bench.run(crossing, 2, 32, 0, 1);
  EXPECT_NE(warps.find("block 0 touched"), std::string::npos) << warps;
  EXPECT_NE(warps.find("block 1 races: it "), std::string::npos) << warps;
  EXPECT_NE(bench.run(crossing, 2, 32, 0, 1, 1), "");
  EXPECT_NE(bench.run(crossing, 1, 32, 0, 2, 0), "");
  EXPECT_EQ(bench.run(crossing, 1, 32, 0, 2, 1), "");
  // A shuffle orders registers, not memory.
  EXPECT_NE(bench.run(crossing, 1, 32, 0, 2, 2), "");
  // Another launch is another time.
  EXPECT_EQ(bench.run(crossing, 2, 32, 0, 0), "");
  // Nobody looks.
  Bench quiet;
  EXPECT_EQ(quiet.run(crossing, 2, 32, 0, 1), "");
}

/// Everyone reads word 0; then, with i, the thread of place i - 1 writes it.
KERNEL(readAll) {
  hdemu_load(arena, 4);
  if (j)
    hdemu_barrier_cta_sync_aligned_all(0);
  if (place() == i - 1)
    hdemu_store(arena, 4);
}

TEST(Block, RacesOfOneWriterWithManyReaders) {
  Bench bench("races");
  EXPECT_EQ(bench.run(readAll, 2, 64, 0, 0), "");
  for (int writer : {1, 64, 128}) {
    EXPECT_NE(bench.run(readAll, 2, 64, 0, writer), "") << writer;
    EXPECT_NE(bench.run(readAll, 1, 64, 0, 1), "");
  }
  // A barrier orders the threads of one block, not those of two.
  EXPECT_EQ(bench.run(readAll, 1, 64, 0, 64, 1), "");
  EXPECT_NE(bench.run(readAll, 2, 64, 0, 128, 1), "");
}

/// Lanes store one value to one place, which is no race.
KERNEL(together) {
  hdemu_store(arena + 4 * (place() / 32), 4);
  floats(arena)[place() / 32] = 3;
}

TEST(Block, LanesMayStoreTheSame) {
  Bench bench("races");
  EXPECT_EQ(bench.run(together, 2, 64), "");
}

KERNEL(oneLaneLeaves) {
  if (hdemu_read_ptx_sreg_laneid() != 5)
    hdemu_shfl_sync_bfly_i32(-1, 1, 1, 31);
}
KERNEL(lanesPart) {
  if (hdemu_read_ptx_sreg_laneid() < 5)
    hdemu_shfl_sync_bfly_i32(-1, 1, 1, 31);
  else
    hdemu_bar_warp_sync(-1);
}
KERNEL(oneThreadLeaves) {
  if (hdemu_read_ptx_sreg_tid_x() != 40)
    hdemu_barrier_cta_sync_aligned_all(0);
}
KERNEL(warpWaitsTwice) {
  if (hdemu_read_ptx_sreg_tid_x() < 32)
    hdemu_barrier_cta_sync_aligned_all(0);
  else if (hdemu_read_ptx_sreg_laneid() != 3)
    hdemu_bar_warp_sync(-1);
  else
    hdemu_barrier_cta_sync_aligned_all(0);
}
KERNEL(notInItsMask) { hdemu_bar_warp_sync(1); }

TEST(Block, MeetingsThatFail) {
  for (const char *order : {"order=forward", "order=reverse", "order=random,seed=5"}) {
    Bench bench(order);
    for (heddle_kernel_fn kernel : {oneLaneLeaves, lanesPart, oneThreadLeaves, warpWaitsTwice, notInItsMask}) {
      std::string text = bench.run(kernel, 1, 64);
      EXPECT_NE(text.find("kernel k: "), std::string::npos) << order;
      // What failed does no harm to the next launch.
      EXPECT_EQ(bench.run(sums, 1, 64), "");
    }
  }
}

TEST(Block, NoBlockOfHalfAWarp) {
  Bench bench;
  EXPECT_NE(bench.run(sums, 1, 48), "");
}

TEST(Options, Refuses) {
  for (const char *text : {"order", "order=up", "fail=cuInit", "fail=cuFoo:1", "seed=x", "seed=-1", "races=1", "x", ",",
                           "fail=", "copies=soon", "mma=exact"}) {
    Options options;
    EXPECT_NE(Options::parse(text, options), "") << text;
  }
  Options options;
  EXPECT_EQ(Options::parse("fail=cuMemAlloc_v2:2:3,early,sms=7", options), "");
  EXPECT_EQ(options.failing, "cuMemAlloc_v2");
  EXPECT_EQ(options.result, 2);
  EXPECT_EQ(options.skip, 3);
  EXPECT_EQ(options.multiprocessors, 7);
  EXPECT_TRUE(options.early);
}

} // namespace
